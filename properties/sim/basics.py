"""Two points under softmax attention: what the seven bounds of section 3.3 measure, and where.

u = exp(A x), alpha = <u, 1> and f = u / alpha at x, the same at y; A has n rows. The paper's A is a
block A_{l0,j0} of A_1 kron A_2 with d^2 columns. Readings that stand do so for any matrix, with
any number of columns; printed ones that fall do so with such a block (`is_block`). Floats come
with a bound on their rounding; the exact side works on the logits, which are rational. Whether
exponentials of rationals agree is decided by the theorem of Lindemann and Weierstrass: exponentials
of different rationals are linearly independent over the rationals.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

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
from attsvm.strategies import arrays, sizes

__all__ = [
    "Domain",
    "InBall",
    "Points",
    "alpha_at_least",
    "bounded_image",
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
    "is_block",
    "just_below",
    "length",
    "moves",
    "nearby",
    "nearby_domain",
    "points",
    "powers",
    "rounding",
    "same_total",
    "shift",
    "softmax_rounding",
    "spectral",
]


class _Apart(Protocol):
    """Whatever has two points."""

    @property
    def x(self) -> Array: ...

    @property
    def y(self) -> Array: ...


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


def distance(case: _Apart) -> float:
    """||x - y||."""
    return length(case.x - case.y)


def exact_distance(case: Points) -> arb:
    """||x - y|| as a ball."""
    return norm(subtract(rationals(case.x), rationals(case.y)))


def softmax_rounding(A: Array, *at: Array) -> float:
    """Relative rounding error of any entry of exp(A x), of their sum, and of softmax(A x).

    Logits of size S carry an error of (D + 1) eps S, exponentials a relative one of that, sums
    n eps; the constant 16 covers the operations between.
    """
    logit = max(float((np.abs(A) @ np.abs(x)).max()) for x in at)
    n, D = A.shape
    return float(np.finfo(float).eps * 16 * (n + D + (D + 1) * logit))


def rounding(case: Points) -> float:
    """Relative rounding error of any entry of u and of f, and of alpha."""
    return softmax_rounding(case.A, case.x, case.y)


def power(logits: Any, level: Any, exp: Any) -> Any:
    """exp(logits - level), the exponential that of floats or of symbols."""
    return exp(logits - level)


def powers(case: Points, level: float = 0.0) -> tuple[Array, Array]:
    """exp(A x - level) and exp(A y - level)."""
    with np.errstate(over="ignore"):
        return power(case.A @ case.x, level, np.exp), power(case.A @ case.y, level, np.exp)


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
    return arb(norm([across, along]) / arb(2).sqrt())


def bounded_image(A: Array, x: Array, R: float) -> bool:
    """||A x|| <= R, in rationals."""
    at = rationals(x)
    image = [dot(row, at) for row in rationals(A)]
    return R >= 0 and bool(dot(image, image) <= rational(R) ** 2)


def bounded_logits(case: Points, R: float) -> bool:
    """||A x|| <= R and ||A y|| <= R, in rationals."""
    return all(bounded_image(case.A, x, R) for x in (case.x, case.y))


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


def is_block(A: Array) -> bool:
    """Whether A is a block of some A_1 kron A_2, in rationals: d^2 columns, rows a kron r_t.

    So it is where the matrices d x d that the rows are, side by side, have rank one at most.
    """
    d = math.isqrt(A.shape[1])
    if d * d != A.shape[1]:
        return False
    rows = rationals(A)
    wide = [[row[d * i + j] for row in rows for j in range(d)] for i in range(d)]
    pivot = next(((i, j) for i, w in enumerate(wide) for j, v in enumerate(w) if v != 0), (0, 0))
    top, column = wide[pivot[0]], pivot[1]
    return all(w[j] * top[column] == w[column] * top[j] for w in wide for j in range(len(top)))


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


@functools.cache
@st.composite
def moves(draw: st.DrawFn, moving: bool, blocks: bool = False) -> tuple[Array, Array, Array]:
    """A, x and y, the points near and far apart; one token and zero included.

    Args:
        draw: Hypothesis's.
        moving: two tokens at least, and A (x - y) not constant, so that some weight moves; what is
            drawn otherwise is mended by ones.
        blocks: A is a block of a Kronecker product, one or four columns; up to three otherwise.
    """
    n, D = draw(sizes(2 if moving else 1, 4)), draw(sizes(1, 2 if blocks else 3))
    left = draw(arrays(D)) if blocks else np.ones(1)
    shape = len(left), D
    rows, x, step = draw(arrays(n, D)), draw(arrays(*shape)), draw(arrays(*shape))
    if moving:
        if not left.any():
            left[0] = 1.0
        if not (left @ step).any():
            step[np.flatnonzero(left)[0], 0] += 1.0
        along = left @ step
        if np.ptp(rows @ along) == 0.0:
            rows[0, np.flatnonzero(along)[0]] += 1.0
    y = x + step * 2.0 ** draw(st.sampled_from([0, -3, -6]))
    return np.kron(left[None], rows), x.ravel(), y.ravel()


@st.composite
def points(
    draw: st.DrawFn, *matrix_powers: int, moving: bool | None = None, blocks: bool = False
) -> Points:
    """A and two points by `moves`, half of them moving; A times a power of two given."""
    A, x, y = draw(moves(draw(st.booleans()) if moving is None else moving, blocks))
    return Points(A * 2.0 ** draw(st.sampled_from(matrix_powers or (0,))), x, y)


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


def nearby_domain(generator: np.random.Generator) -> Domain:
    """The same in the domain with R >= 4 that just holds them."""
    return domain(nearby(generator), 4.0)
