"""Hypothesis strategies of data sets and of starting points of training."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.strategies.dyadic import arrays, sizes


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
