"""Two points under softmax attention: lengths, norms decided in rationals, drawn points."""

from __future__ import annotations

import functools
import math
from typing import Protocol

import numpy as np
from flint import fmpq
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.exact import dot, rational, rationals
from attsvm.exact.numbers import gram, is_positive_semidefinite
from attsvm.strategies import arrays, sizes

__all__ = [
    "bounded_image",
    "bounded_matrix",
    "distance",
    "is_block",
    "length",
    "moves",
    "softmax_rounding",
    "spectral",
]


class _Apart(Protocol):
    """Whatever has two points."""

    @property
    def x(self) -> Array: ...

    @property
    def y(self) -> Array: ...


def spectral(A: Array) -> float:
    """||A|| in floats."""
    return float(np.linalg.norm(A, 2)) if np.isfinite(A).all() else math.inf


def length(v: Array) -> float:
    """||v||, also where squares underflow."""
    return math.hypot(*v.tolist())


def distance(case: _Apart) -> float:
    """||x - y||."""
    return length(case.x - case.y)


def softmax_rounding(A: Array, *at: Array) -> float:
    """Relative rounding error of any entry of exp(A x), of their sum, and of softmax(A x).

    Logits of size S carry an error of (D + 1) eps S, exponentials a relative one of that, sums
    n eps; the constant 16 covers the operations between.
    """
    logit = max(float((np.abs(A) @ np.abs(x)).max()) for x in at)
    n, D = A.shape
    return float(np.finfo(float).eps * 16 * (n + D + (D + 1) * logit))


def bounded_image(A: Array, x: Array, R: float) -> bool:
    """||A x|| <= R, in rationals."""
    at = rationals(x)
    image = [dot(row, at) for row in rationals(A)]
    return R >= 0 and bool(dot(image, image) <= rational(R) ** 2)


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
