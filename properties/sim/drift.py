"""What a small step of descent on one entry of the loss does to its attention, exactly too.

With tokens a_t, f = softmax(A x), scores gamma = b h and u = <f, gamma>, the gradient of u is
p = sum_t f_t (gamma_t - u) a_t. Along +-p, as the loss decreases or increases in u,

    du = +-|l'(u)| ||p||^2,    dF = +-|l'(u)| sum_{o best} f_o (a_o - mean a) . p

for the weight F of the tokens of best score. Both are |l'| times sums of exponentials of rationals
over a power of sum_t exp(l_t). Exponentials of different rationals are independent over the
rationals (Lindemann and Weierstrass), so such a sum is 0 exactly where all its coefficients are.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from flint import arb, fmpq

from attsvm._types import Array
from attsvm.attention import softmax
from attsvm.exact import dot, rational, rationals
from attsvm.exact.attention import logistic_slope as exact_slope
from attsvm.exact.numbers import Matrix, Vector, subtract
from attsvm.losses import logistic_slope
from attsvm.risk import covariance
from attsvm.theory import Slack
from properties.sim.entries import Entry

__all__ = ["Exponentials", "attend", "drift", "exact_gain", "gain", "levelled", "pull"]

EPS = float(np.finfo(np.float64).eps)
attend: Callable[[Array], Array] = inspect.unwrap(softmax)
"""The package's softmax; tests check that it gets floats, which proofs, on symbols, do without."""


@dataclass(frozen=True, slots=True)
class Exponentials:
    """sum_k c_k exp(r_k) with rational c_k, not 0, and different rational r_k."""

    terms: tuple[tuple[fmpq, fmpq], ...]

    @classmethod
    def of(cls, terms: list[tuple[fmpq, fmpq]]) -> Exponentials:
        """From pairs (r, c), collected by r."""
        found: dict[tuple[int, int], fmpq] = {}
        for r, c in terms:
            key = int(r.p), int(r.q)
            found[key] = found.get(key, fmpq(0)) + c
        return cls(tuple((fmpq(*key), c) for key, c in sorted(found.items()) if c != 0))

    def times(self, other: Exponentials) -> list[tuple[fmpq, fmpq]]:
        """The terms of the product."""
        return [(r + s, c * e) for (r, c), (s, e) in product(self.terms, other.terms)]

    def ball(self) -> fmpq | arb:
        """The value; 0 exactly where it is 0."""
        if not self.terms:
            return fmpq(0)
        return sum((c * arb(r).exp() for r, c in self.terms), arb(0))


def best_tokens(case: Entry) -> list[int]:
    """The tokens of best score b h_t, all of them."""
    scores = [rational(case.b) * h for h in rationals(case.h)]
    return [t for t, score in enumerate(scores) if score == max(scores)]


def pull(A: Array, f: Array, scores: Array) -> Array:
    """Gradient in x of <f, scores>, f = softmax(A x); numbers and symbols alike."""
    result: Array = A.T @ covariance(f, scores)
    return result


def drift(sign: Any, slope: Any, pulled: Array, other: Array) -> Any:
    """Change of a quantity of gradient `other` along -grad of g(-sign u), `pulled` that of u."""
    return sign * slope * (pulled @ other)


def gain(case: Entry, of: str, sign: float) -> Slack:
    """Du or dF along the drift, at least 0; sign -1 for descent on g(u), +1 on g(-u)."""
    f = attend(case.A @ case.x)
    mine = pull(case.A, f, case.b * case.h)
    slope = float(logistic_slope(np.array([case.b * (f @ case.h)]))[0])
    if of == "score":
        other = mine
    else:
        best = np.zeros(len(f))
        best[best_tokens(case)] = 1.0
        other = pull(case.A, f, best)
    n, D = case.A.shape
    logit = float((np.abs(case.A) @ np.abs(case.x)).max())
    scale = float(np.abs(case.A).max())
    reach = abs(case.b) * float(np.abs(case.h).max())
    relative = 16 * EPS * (n + D + (D + 1) * logit) * (1.0 + reach)
    largest = scale * reach, scale * (reach if of == "score" else 1.0)
    error = relative * slope * D * 4.0 * largest[0] * largest[1]
    return Slack(float(drift(sign, slope, mine, other)), error + 1e-300)


def exact_gain(case: Entry, of: str, sign: float) -> arb | fmpq:
    """The same: a rational 0 where it is 0, else a ball."""
    A, x, h, b = rationals(case.A), rationals(case.x), rationals(case.h), rational(case.b)
    levels = [dot(row, x) for row in A]
    tokens = list(range(len(A)))
    top = max(levels)
    levels = [level - top for level in levels]
    mine = _pairs(A, levels, h, list(combinations(tokens, 2)), b)
    if of == "score":
        other = mine
    else:
        best = best_tokens(case)
        rest = [t for t in tokens if t not in best]
        flags = [fmpq(t in best) for t in tokens]
        other = _pairs(A, levels, flags, list(product(best, rest)), fmpq(1))
    terms = [term for p, q in zip(mine, other, strict=True) for term in p.times(q)]
    inner = Exponentials.of(terms).ball()
    if isinstance(inner, fmpq):
        return inner
    powers = [arb(level).exp() for level in levels]
    total = sum(powers, arb(0))
    u = b * dot(powers, h) / total
    return rational(sign) * exact_slope(u) * inner / total**4


def _pairs(
    A: Matrix, levels: Vector, h: Vector, pairs: list[tuple[int, int]], b: fmpq
) -> list[Exponentials]:
    """B sum over pairs of exp(l_t + l_s) (h_t - h_s)(a_t - a_s), axis by axis."""
    gaps = [(levels[t] + levels[s], b * (h[t] - h[s]), subtract(A[t], A[s])) for t, s in pairs]
    return [
        Exponentials.of([(level, rise * gap[i]) for level, rise, gap in gaps])
        for i in range(len(A[0]))
    ]


def levelled(case: Entry) -> Entry:
    """The same tokens with two scores: that of the best ones, and 0 for all others."""
    best = case.b * case.h == (case.b * case.h).max()
    return Entry(case.A, case.x, np.where(best, case.h, 0.0), case.b)
