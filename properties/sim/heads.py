"""One entry of the loss behind a prediction head: g(b (Att(X) H)_{j0, v}), and the same without it.

Att(X) is row f^T M with values M = A_3 Y in R^{n x d}; H in R^{d x V}. With the head the scores of
the tokens are b M H e_v; "ignoring" it leaves b M e_v, column v of the values (definition 3.4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, fmpq
from hypothesis import strategies as st
from jaxtyping import Float

from attsvm._types import Array
from attsvm.errors import DataError
from attsvm.exact import dot, entry_gradient, rational, rationals
from attsvm.exact import softmax as exact_softmax
from attsvm.exact.attention import logistic_slope as exact_slope
from attsvm.exact.numbers import Vector, product
from attsvm.losses import logistic_slope
from attsvm.risk import covariance
from attsvm.strategies import arrays, scaled, sizes
from attsvm.theory import Slack
from properties.sim.attentions import attend
from properties.sim.entries import Entry, rounding

__all__ = [
    "Headed",
    "best_with_head",
    "closed_form",
    "derivative",
    "exact_best",
    "exact_inner",
    "exact_residual",
    "gradient",
    "headed",
    "inner",
    "noise",
    "score",
    "scores",
    "values",
]

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True)
class Headed:
    """Keys A = A_{j0}, weights x, values M = A_3 Y, a head H, and the label b of column 0."""

    A: Float[Array, "n D"]
    x: Float[Array, " D"]
    M: Float[Array, "n d"]
    H: Float[Array, "d V"]
    b: float

    def __post_init__(self) -> None:
        n, D = self.A.shape
        fits = self.x.shape == (D,) and len(self.M) == n and self.M.shape[1] == len(self.H)
        if not (fits and n and D and self.H.size):
            raise DataError("a head does not fit the values", value=self.H.shape)


@st.composite
def headed(draw: st.DrawFn) -> Headed:
    """Entries of all small sizes behind a head of any size."""
    n, D = draw(sizes(1, 4)), draw(sizes(1, 3))
    d, V = draw(sizes(1, 3)), draw(sizes(1, 3))
    b = draw(scaled(0, 1, -1))
    return Headed(draw(arrays(n, D)), draw(arrays(D)), draw(arrays(n, d)), draw(arrays(d, V)), b)


def absorbed(case: Headed) -> Entry:
    """The entry of the loss with the head taken into the values: h = A_3 (Y H) e_v."""
    return Entry(case.A, case.x, case.M @ case.H[:, 0], case.b)


def ignored(case: Headed) -> Entry:
    """The entry of the loss with the head left out: h = A_3 Y e_v."""
    return Entry(case.A, case.x, case.M[:, 0], case.b)


def gradient(entry: Entry) -> Float[Array, " D"]:
    """The closed form of lemma 3.11, b inside g as well."""
    f = attend(entry.A @ entry.x)
    return closed_form(entry, f, float(logistic_slope(np.array([entry.b * (f @ entry.h)]))[0]))


def closed_form(entry: Entry, f: Array, slope: Any) -> Array:
    """The gradient where g' is the slope and f the attention; numbers and symbols alike."""
    result: Array = entry.A.T @ (entry.b * slope * covariance(f, entry.h))
    return result


def score(case: Headed, f: Array) -> Any:
    """The score b (f^T M) H e_v, the head after attention; numbers and symbols alike."""
    return case.b * ((f @ case.M) @ case.H)[0]


def scores(case: Headed, *, head: bool) -> Array:
    """The scores b M H e_v of the tokens, or b M e_v; numbers and symbols alike."""
    result: Array = case.b * (case.M @ case.H[:, 0] if head else case.M[:, 0])
    return result


def derivative(case: Headed) -> Float[Array, " D"]:
    """Gradient of g(b (f^T M) H e_v) by the complex step: head after attention, no closed form."""
    step, found = 1e-100, []
    for i in range(case.x.size):
        x = case.x.astype(complex)
        x[i] += 1j * step
        logits = case.A @ x
        powers = np.exp(logits - logits.real.max())
        u = score(case, powers / powers.sum())
        e = np.exp(-u) if u.real >= 0 else np.exp(u)
        found.append((1 / (1 + e) if u.real >= 0 else e / (1 + e)).imag / step)
    return np.array(found)


def exact_scores(case: Headed, *, head: bool) -> Vector:
    """The scores b M H e_v, or b M e_v, in rationals."""
    M, H, b = rationals(case.M), rationals(case.H), rational(case.b)
    column = product(M, [[row[0]] for row in H]) if head else [[row[0]] for row in M]
    return [b * row[0] for row in column]


def exact_gradient(case: Headed, gamma: Vector) -> list[arb | fmpq]:
    """Gradient of g(<f, gamma>) as balls; a rational 0 where all scores are equal."""
    A, x = rationals(case.A), rationals(case.x)
    if len(set(gamma)) == 1:
        return [fmpq(0)] * len(x)
    f = exact_softmax([dot(row, x) for row in A])
    u = dot(f, gamma)
    pull = [p * (g - u) for p, g in zip(f, gamma, strict=True)]
    return [exact_slope(u) * dot(pull, [row[i] for row in A]) for i in range(len(x))]


def with_head(case: Headed, positive: bool) -> Headed:
    """The same with the absolute values of the head."""
    return Headed(case.A, case.x, case.M, np.abs(case.H), case.b) if positive else case


def noise(case: Headed, entry: Entry) -> float:
    """Bound on the rounding error of an entry of the gradient, the product with the head in it."""
    reach = float((np.abs(case.M) @ np.abs(case.H)).max()) + float(np.abs(case.M).max())
    wider = Entry(entry.A, entry.x, np.full(len(entry.h), reach), entry.b)
    return len(case.H) * rounding(wider)


def inner(case: Headed, positive: bool, least: float) -> Slack:
    """<grad with head, grad without> minus least ||grad without||^2."""
    case = with_head(case, positive)
    mine, other = gradient(absorbed(case)), gradient(ignored(case))
    errors = noise(case, absorbed(case)), noise(case, ignored(case))
    sizes = float(np.abs(mine).sum()), float(np.abs(other).sum())
    error = errors[0] * sizes[1] + errors[1] * (sizes[0] + 2 * sizes[1])
    error += 4 * len(mine) * (errors[0] + errors[1]) * errors[1]
    return Slack(float(mine @ other - least * (other @ other)), error + 1e-300)


def exact_inner(case: Headed, positive: bool, least: float) -> arb | fmpq:
    """<grad with head, grad without> minus least ||grad without||^2, as a ball."""
    case = with_head(case, positive)
    mine = exact_gradient(case, exact_scores(case, head=True))
    other = exact_gradient(case, exact_scores(case, head=False))
    found: arb | fmpq = dot(mine, other) - rational(least) * dot(other, other)
    return found


def best_with_head(case: Headed, positive: bool, rank: int) -> Slack:
    """A score without the head of a token that is optimal with it, minus the best one of all.

    With rank 2 minus the second best one. Which token counts is for `exact_best` to say: those
    that rounding may have tied, and all their scores, are within the error.
    """
    case = with_head(case, positive)
    mine, other = scores(case, head=True), scores(case, head=False)
    error = 4 * EPS * len(case.H) * abs(case.b) * (np.abs(case.M) @ np.abs(case.H)).max()
    chosen = other[mine >= mine.max() - 2 * error]
    level = np.sort(other)[-min(rank, len(other))]
    low, high = float(chosen.min() - level), float(chosen.max() - level)
    return Slack((low + high) / 2, (high - low) / 2 + 4 * EPS * float(np.abs(other).max()) + 1e-300)


def exact_best(case: Headed, positive: bool, rank: int, each: bool) -> fmpq:
    """The same in rationals, of the worst of the tied tokens, or the best of them."""
    case = with_head(case, positive)
    mine, other = exact_scores(case, head=True), exact_scores(case, head=False)
    chosen = [g for m, g in zip(mine, other, strict=True) if m == max(mine)]
    taken = min(chosen) if each else max(chosen)
    return fmpq(taken - sorted(other)[-min(rank, len(other))])


def values(case: Headed, taken: str) -> Entry:
    """The entry of the loss with h = A_3 (Y H) e_v, with Y e_v, or with the mean column of Y H."""
    if taken == "mean":
        return Entry(case.A, case.x, case.M @ case.H.mean(axis=1), case.b)
    return absorbed(case) if taken == "column" else ignored(case)


def exact_residual(case: Headed, taken: str) -> arb:
    """Minus the largest residual: head after attention in balls, against power series."""
    M, H, b = rationals(case.M), rationals(case.H), rational(case.b)
    A, x = rationals(case.A), rationals(case.x)
    true = exact_gradient(case, exact_scores(case, head=True))
    weights = {"column": [row[0] for row in H], "ignored": [fmpq(i == 0) for i in range(len(H))]}
    weights["mean"] = [sum(row, fmpq(0)) / len(row) for row in H]
    h = [dot(row, weights[taken]) for row in M]
    worst = arb(0)
    for mine, other in zip(true, entry_gradient(A, x, h, b), strict=True):
        worst = worst.max(abs(arb(mine - other)))
    return -worst
