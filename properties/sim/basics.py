"""Two points under softmax attention: what the seven bounds of section 3.3 measure, and where.

u = exp(A x), alpha = <u, 1> and f = u / alpha at x, the same at y; A is the block A_{l0,j0} with
n rows. Floats come with a bound on their rounding; the exact side works on the logits, which are
rational. Whether exponentials of rationals agree is decided by the theorem of Lindemann and
Weierstrass: exponentials of different rationals are linearly independent over the rationals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb, ctx, fmpq
from hypothesis import strategies as st
from jaxtyping import Float

from attsvm._types import Array
from attsvm.attention import softmax
from attsvm.errors import DataError
from attsvm.exact import dot, norm, rational, rationals
from attsvm.exact import softmax as exact_softmax
from attsvm.exact.numbers import Vector, gram, is_positive_semidefinite, subtract
from properties.strategies import arrays, sizes

__all__ = [
    "Domain",
    "InBall",
    "Points",
    "alpha_at_least",
    "bounded_logits",
    "bounded_matrix",
    "distance",
    "domain",
    "domains",
    "exact_distance",
    "exact_logits",
    "exact_shift",
    "exact_total",
    "in_ball",
    "just_below",
    "length",
    "nearby",
    "points",
    "powers",
    "rounding",
    "same_total",
    "shift",
    "spectral",
]


@dataclass(frozen=True, slots=True)
class Points:
    """A matrix A and two points x and y."""

    A: Float[Array, "n D"]
    x: Float[Array, " D"]
    y: Float[Array, " D"]

    def __post_init__(self) -> None:
        fits = self.A.ndim == 2 and self.x.shape == self.y.shape == self.A.shape[1:]
        if not fits or 0 in self.A.shape:
            raise DataError("the matrix and the points do not fit together", value=self.A.shape)


@dataclass(frozen=True, slots=True)
class InBall:
    """Two points, and a radius R."""

    at: Points
    R: float


@dataclass(frozen=True, slots=True)
class Domain:
    """Two points, a radius R and a lower bound beta of alpha."""

    at: Points
    R: float
    beta: float


def exact_logits(case: Points) -> tuple[Vector, Vector]:
    """A x and A y in rationals."""
    rows, x, y = rationals(case.A), rationals(case.x), rationals(case.y)
    return [dot(row, x) for row in rows], [dot(row, y) for row in rows]


def spectral(A: Array) -> float:
    """||A|| in floats."""
    return float(np.linalg.norm(A, 2)) if np.isfinite(A).all() else math.inf


def length(v: Array) -> float:
    """||v||, also where squares underflow."""
    return math.hypot(*v.tolist())


def distance(case: Points) -> float:
    """||x - y||."""
    return length(case.x - case.y)


def exact_distance(case: Points) -> arb:
    """||x - y|| as a ball."""
    return norm(subtract(rationals(case.x), rationals(case.y)))


def rounding(case: Points) -> float:
    """Relative rounding error of any entry of u and of f, and of alpha.

    Logits of size S carry an error of (D + 1) eps S, exponentials a relative one of that, sums
    n eps; the constant 16 covers the operations between.
    """
    logit = max(float((np.abs(case.A) @ np.abs(v)).max()) for v in (case.x, case.y))
    n, D = case.A.shape
    return float(np.finfo(float).eps * 16 * (n + D + (D + 1) * logit))


def powers(case: Points, level: float = 0.0) -> tuple[Array, Array]:
    """exp(A x - level) and exp(A y - level)."""
    with np.errstate(over="ignore"):
        return np.exp(case.A @ case.x - level), np.exp(case.A @ case.y - level)


def exact_total(logits: Vector) -> arb:
    """Sum of the exponentials."""
    return sum((arb(s).exp() for s in logits), arb(0))


def same_total(s: Vector, t: Vector) -> bool:
    """Whether the exponentials of two vectors of logits have the same sum."""
    return sorted(s) == sorted(t)


def shift(case: Points, kind: str) -> tuple[float, float]:
    """How far f moves from x to y, with a bound on the rounding error.

    Args:
        case: the points.
        kind: "vector" for ||f - g||, "entry" for the largest |f_t - g_t|, which is the spectral
            norm of diag(f) - diag(g); "outer" and "outer-frobenius" for ||f f^T - g g^T||.
    """
    f, g = softmax(case.A @ case.x), softmax(case.A @ case.y)
    error = 8 * rounding(case) + 1e-300
    if kind == "vector":
        return float(np.linalg.norm(f - g)), error
    if kind == "entry":
        return float(np.abs(f - g).max()), error
    order = {"outer": 2, "outer-frobenius": "fro"}[kind]
    moved = np.outer(f, f) - np.outer(g, g)
    if not np.isfinite(moved).all():
        return math.nan, math.inf
    return float(np.linalg.norm(moved, order)), error * len(f)  # type: ignore[call-overload]


def exact_shift(case: Points, kind: str) -> arb:
    """The same as a ball; f f^T - g g^T = (p q^T + q p^T)/2 for p = f - g, q = f + g."""
    s, t = exact_logits(case)
    if len(set(subtract(s, t))) == 1:  # a common constant moves no weight
        return arb(0)
    f, g = exact_softmax(s), exact_softmax(t)
    p = subtract(f, g)
    if kind == "vector":
        return norm(p)
    if kind == "entry":
        top = arb(0)
        for x in p:
            top = top.max(abs(x))
        return top
    q = [a + b for a, b in zip(f, g, strict=True)]
    along, across = dot(p, q), norm(p) * norm(q)
    if kind == "outer":
        return arb((abs(along) + across) / 2)
    return arb(((across**2 + along**2) / 2).sqrt())


def bounded_logits(case: Points, R: float) -> bool:
    """||A x|| <= R and ||A y|| <= R, in rationals."""
    level = rational(R) ** 2
    return R >= 0 and all(bool(dot(s, s) <= level) for s in exact_logits(case))


def bounded_matrix(A: Array, R: float) -> bool:
    """||A|| <= R: R^2 I minus the smaller of A A^T and A^T A is positive semidefinite."""
    level = rational(R) ** 2
    rows = gram(rationals(A))
    return R >= 0 and is_positive_semidefinite(
        [
            [(level if j == k else fmpq(0)) - x for k, x in enumerate(row)]
            for j, row in enumerate(rows)
        ]
    )


def alpha_at_least(logits: Vector, beta: float) -> bool:
    """0 < beta <= sum of the exponentials; they are equal for zero logits only, where it is n."""
    level = rational(beta)
    if level <= 0:
        return False
    if all(s == 0 for s in logits):
        return bool(len(logits) >= level)
    for bits in (64, 256, 1024, 4096):
        with ctx.workprec(bits):
            above = exact_total(logits) - level
            if above > 0 or above < 0:
                return bool(above > 0)
    return False  # not established


@st.composite
def points(draw: st.DrawFn, *matrix_powers: int) -> Points:
    """Points near and far apart, one token and zero included; A times a power of two given."""
    n, D = draw(sizes(1, 4)), draw(sizes(1, 3))
    x, step = draw(arrays(D)), draw(arrays(D))
    y = x + step * 2.0 ** draw(st.sampled_from([0, -3, -6]))
    return Points(draw(arrays(n, D)) * 2.0 ** draw(st.sampled_from(matrix_powers or (0,))), x, y)


def in_ball(case: Points, least: float, *, logits: bool = True) -> InBall:
    """A radius R in eighths, at least `least`, that just holds ||A|| and the images, or points."""
    held = [case.A @ case.x, case.A @ case.y] if logits else [case.x, case.y]
    largest = max(spectral(case.A), *(float(np.linalg.norm(v)) for v in held))
    return InBall(case, max(least, math.ceil(8 * largest * (1 - 1e-12)) / 8))


def domains(least: float, found: Sequence[int] = (0, -2)) -> st.SearchStrategy[Domain]:
    """Points in a ball that just holds them, beta just below alpha."""
    return points(*found).map(lambda case: domain(case, least))


def domain(case: Points, least: float) -> Domain:
    """The domain that just holds two points."""
    return Domain(case, in_ball(case, least).R, just_below(case))


def just_below(case: Points) -> float:
    """The least alpha, rounded down to ten bits."""
    least = min(float(u.sum()) for u in powers(case))
    mantissa, exponent = math.frexp(least)
    return math.ldexp(math.floor(mantissa * 1024 * (1 - 1e-12) + 1e-9), exponent - 10)


def nearby(generator: np.random.Generator) -> Points:
    """Two to four tokens with small logits at neighbouring points: where softmax is steepest."""
    n, D = int(generator.integers(2, 5)), int(generator.integers(1, 3))
    x = generator.integers(-32, 33, size=D) / 32
    y = x + generator.choice([-1.0, 1.0], size=D) / 256
    return Points(generator.choice([-1.0, 0.0, 1.0], size=(n, D)), x, y)
