"""Strategies shared by the claims: dyadic numbers that shrink to small integers.

Arrays are drawn as bytes and looked up in one table that is sorted by simplicity, so an array
costs one draw, shrinks to zeros and ones, and is exact in binary. What is asked for within draws
is built once, as building a strategy costs more than a draw.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from hypothesis import strategies as st

from attsvm.data import AttentionData

__all__ = [
    "GRID",
    "arrays",
    "attention_data",
    "numbers",
    "scaled",
    "separable_data",
    "sizes",
    "starts",
]


def _grid() -> Any:
    """256 dyadic values up to 4 in size, simple ones first and more often."""
    entries: list[float] = [0.0] * 28
    for size, weight in ((1.0, 20), (2.0, 12), (3.0, 6), (0.5, 8), (1.5, 5), (2.5, 3), (4.0, 2)):
        entries += [size] * weight + [-size] * weight
    for denominator in (4, 8):
        for k in range(1, 4 * denominator, 2):
            entries += [k / denominator, -k / denominator]
    fill = [s * k / 32 for k in range(1, 128, 2) for s in (1, -1)]
    return np.array((entries + fill)[:256])


GRID = _grid()
"""Byte to number."""


@functools.cache
def arrays(*shape: int) -> st.SearchStrategy[Any]:
    """Arrays of that shape with entries of the grid."""
    size = int(np.prod(shape))
    return st.binary(min_size=size, max_size=size).map(
        lambda raw: GRID[np.frombuffer(raw, dtype=np.uint8)].reshape(shape)
    )


@functools.cache
def numbers() -> st.SearchStrategy[float]:
    """One number of the grid."""
    return arrays(1).map(lambda a: float(a[0]))


@functools.cache
def scaled(*powers: int) -> st.SearchStrategy[float]:
    """A number of the grid times 2 to one of the powers, the first being the simplest."""
    return st.tuples(numbers(), st.sampled_from(powers)).map(lambda p: p[0] * 2.0 ** p[1])


@functools.cache
def sizes(low: int, high: int) -> st.SearchStrategy[int]:
    """A size."""
    return st.integers(low, high)


@st.composite
def attention_data(
    draw: st.DrawFn,
    *,
    n: tuple[int, int] = (1, 3),
    T: tuple[int, int] = (1, 4),
    d: tuple[int, int] = (1, 3),
) -> AttentionData:
    """Data sets with scores or with labels and head, of all small sizes, ties included."""
    shape = draw(sizes(*n)), draw(sizes(*T)), draw(sizes(*d))
    X, Z = draw(arrays(*shape)), draw(arrays(shape[0], shape[2]))
    if draw(st.booleans()):
        y = np.where(draw(arrays(shape[0])) < 0, -1.0, 1.0)
        return AttentionData(X, Z, y=y, v=draw(arrays(shape[2])))
    return AttentionData(X, Z, scores=draw(arrays(*shape[:2])))


@functools.cache
def starts(d: int, *powers: int) -> st.SearchStrategy[Any]:
    """Starts (d, d): zero, small and large by the powers of two given."""
    return st.tuples(arrays(d, d), st.sampled_from(powers or (0,))).map(
        lambda p: p[0] * 2.0 ** p[1]
    )


@st.composite
def separable_data(
    draw: st.DrawFn,
    *,
    n: tuple[int, int] = (1, 3),
    T: tuple[int, int] = (2, 4),
    d: tuple[int, int] = (1, 3),
) -> AttentionData:
    """Data whose scores are the logits of a drawn matrix: separable where the best are unique."""
    shape = draw(sizes(*n)), draw(sizes(*T)), draw(sizes(*d))
    X, Z = draw(arrays(*shape)), draw(arrays(shape[0], shape[2]))
    W = draw(arrays(shape[2], shape[2]))
    return AttentionData(X, Z, scores=np.einsum("ntr,rc,nc->nt", X, W, Z))
