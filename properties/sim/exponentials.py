"""Bounds one to three of section 3.3: exponentials of logits, their sums alpha, and 1 / alpha."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb
from hypothesis import strategies as st
from jaxtyping import Float

from attsvm._types import Array
from attsvm.attention import kron_block, vec
from attsvm.errors import DataError
from attsvm.exact import norm, rationals
from attsvm.exact.numbers import Vector, product, transpose
from attsvm.strategies import arrays, sizes
from attsvm.theory import Slack
from properties.sim.basics import (
    InBall,
    Points,
    distance,
    exact_distance,
    exact_logits,
    exact_total,
    length,
    powers,
    rounding,
    same_total,
)

__all__ = [
    "Blocks",
    "at_the_edge",
    "blocks",
    "changes",
    "domain_factor",
    "inverse_ball",
    "inverse_factor",
    "inverse_slack",
    "joined",
    "lagrange",
    "length_ball",
    "length_slack",
    "placed",
    "sum_factor",
    "sum_slack",
    "surely_constant",
]


@dataclass(frozen=True, slots=True)
class Blocks:
    """The factors of A_{l0} = A1 kron A2 and two matrices X and Y; the block is the first one."""

    A1: Float[Array, "n d"]
    A2: Float[Array, "n d"]
    X: Float[Array, "d d"]
    Y: Float[Array, "d d"]

    def __post_init__(self) -> None:
        n, d = self.A1.shape
        square = self.X.shape == self.Y.shape == (d, d)
        if self.A2.shape != (n, d) or not square or 0 in (n, d):
            raise DataError("the factors and the matrices do not fit", value=self.A1.shape)

    def points(self, *, whole: bool) -> Points:
        """The whole matrix, or its first block, at vec(X) and vec(Y)."""
        A = np.kron(self.A1, self.A2) if whole else kron_block(self.A1, self.A2, 0)
        return Points(A, vec(self.X), vec(self.Y))

    def exact_logits(self) -> tuple[list[Vector], list[Vector]]:
        """The rows of A1 X A2^T and of A1 Y A2^T: block by block, by the tensor trick."""
        A1, A2 = rationals(self.A1), transpose(rationals(self.A2))
        X, Y = (product(product(A1, rationals(M)), A2) for M in (self.X, self.Y))
        return X, Y


@st.composite
def blocks(draw: st.DrawFn) -> Blocks:
    """Factors of all small sizes."""
    n, d = draw(sizes(1, 3)), draw(sizes(1, 2))
    return Blocks(
        draw(arrays(n, d)), draw(arrays(n, d)), draw(arrays(d, d)) / 2, draw(arrays(d, d)) / 2
    )


def placed(A: list[list[float]], x: list[float], y: list[float], R: float) -> InBall:
    """Two points and a radius from lists."""
    return InBall(Points(np.array(A), np.array(x), np.array(y)), R)


def joined(rows: list[Vector]) -> Vector:
    """All rows as one."""
    return [entry for row in rows for entry in row]


def changes(s: Vector, t: Vector) -> list[arb]:
    """exp(s) - exp(t), exactly 0 where the logits agree."""
    return [arb(a).exp() - arb(b).exp() if a != b else arb(0) for a, b in zip(s, t, strict=True)]


def surely_constant(s: Vector, t: Vector) -> bool:
    """Whether exp(s) - exp(t) is one number for all entries, by Lindemann and Weierstrass."""
    return s == t or (len(set(s)) == 1 and len(set(t)) == 1)


def length_slack(case: InBall, factor: float, exponent: float) -> Slack:
    """||exp(A x) - exp(A y)|| <= factor exp(exponent) ||x - y||, divided by the exponential."""
    u, v = powers(case.at, exponent)
    left = length(u - v)
    relative = rounding(case.at) + 1e-15 * abs(exponent)
    error = relative * length(u + v) + 1e-300
    right = factor * distance(case.at)
    if not math.isfinite(left + right + error):
        return Slack.unknown("the exponentials overflow")
    return Slack.at_most(left, right, error + 1e-12 * right)


def length_ball(case: InBall, factor: arb, exponent: arb) -> arb:
    """The same as a ball."""
    left = norm(changes(*exact_logits(case.at))) / arb(exponent).exp()
    return arb(factor * exact_distance(case.at) - left)


def sum_factor(n: Any, root: Any) -> Any:
    """Sqrt n, by a root of floats or of symbols."""
    return root(n)


def lagrange(n: Any, squares: Any, whole: Any) -> Any:
    """N sum w^2 - (sum w)^2, the left side of Lagrange's identity."""
    return n * squares - whole * whole


def inverse_factor(beta: Any, power: int = 2) -> Any:
    """beta^-2, the constant of 1/alpha from beta on."""
    return beta**-power


def domain_factor(n: Any, R: Any, root: Any, exp: Any) -> Any:
    """exp(2 R / sqrt n) / n^2, the same where the n logits have a length of at most R."""
    return exp(2 * R / root(n)) / n**2


def sum_slack(left_at: Points, right_at: Points, share: float) -> Slack:
    """|sum of u - v| <= share sqrt(n) ||u - v||, n the rows on the left."""
    u, v = powers(left_at)
    p, q = powers(right_at)
    factor = share * sum_factor(len(u), math.sqrt)
    left, right = abs(float((u - v).sum())), factor * length(p - q)
    relative = rounding(right_at) + rounding(left_at)
    held = factor * length(p + q)
    error = relative * (float((u + v).sum()) + held)
    if not math.isfinite(left + right + error):
        return Slack.unknown("the exponentials overflow")
    return Slack.at_most(left, right, error + 1e-300)


def inverse_slack(left_at: Points, right_at: Points, factor: float) -> Slack:
    """|1/alpha(x) - 1/alpha(y)| <= factor |alpha(x) - alpha(y)|."""
    a, b = (float(u.sum()) for u in powers(left_at))
    p, q = (float(u.sum()) for u in powers(right_at))
    if not (0 < a < math.inf and 0 < b < math.inf and p + q < math.inf):
        return Slack.unknown("the exponentials overflow")
    left, right = abs(1 / a - 1 / b), factor * abs(p - q)
    error = rounding(left_at) * (1 / a + 1 / b) + rounding(right_at) * factor * (p + q)
    if not math.isfinite(left + right + error):
        return Slack.unknown("the constant overflows")
    return Slack.at_most(left, right, 2 * error + 1e-13 * right + 1e-300)


def inverse_ball(left: tuple[Vector, Vector], right: tuple[Vector, Vector], factor: arb) -> arb:
    """The same as a ball, from the logits of either side."""

    def moved(s: Vector, t: Vector, power: int) -> arb:
        if same_total(s, t):
            return arb(0)
        return abs(exact_total(s) ** power - exact_total(t) ** power)

    return factor * moved(*right, 1) - moved(*left, -1)


def at_the_edge(generator: np.random.Generator, *, logits: bool = True) -> InBall:
    """One token with logits near the largest that the radius allows, up to two of logit 0."""
    n, R = int(generator.integers(1, 4)), float(generator.integers(4, 33)) / 4
    a = float(generator.integers(1, int(4 * R) + 1)) / 4 if logits else R
    A = np.zeros((n, 1))
    A[0, 0] = a
    x = np.array([np.nextafter(R / a, 0.0) if logits else R])
    return InBall(Points(A, x, x - 2.0 ** -int(generator.integers(4, 12)) / a), R)
