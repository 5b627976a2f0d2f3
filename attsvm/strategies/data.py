"""Hypothesis strategies for data sets and for starting points of training."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from attsvm._dyadic import arrays, composite, sizes
from attsvm._types import Array
from attsvm.data import AttentionData


@composite
def attention_data(
    draw: st.DrawFn,
    *,
    n: tuple[int, int] = (1, 3),
    T: tuple[int, int] = (1, 4),
    d: tuple[int, int] = (1, 3),
) -> AttentionData:
    """Draw a small data set with scores, or with labels and head.

    All small sizes and ties occur.
    """
    shape = draw(sizes(*n)), draw(sizes(*T)), draw(sizes(*d))
    X, Z = draw(arrays(*shape)), draw(arrays(shape[0], shape[2]))
    if draw(st.booleans()):
        y = np.where(draw(arrays(shape[0])) < 0, -1.0, 1.0)
        return AttentionData(X, Z, y=y, v=draw(arrays(shape[2])))
    return AttentionData(X, Z, scores=draw(arrays(*shape[:2])))


@functools.cache
def starts(d: int, *powers: int) -> st.SearchStrategy[Any]:
    """Return a strategy of starts (d, d): zero, or scaled by one of the powers of two."""
    return st.tuples(arrays(d, d), st.sampled_from(powers or (0,))).map(
        lambda p: p[0] * 2.0 ** p[1]
    )


@composite
def separable_data(
    draw: st.DrawFn,
    *,
    n: tuple[int, int] = (1, 3),
    T: tuple[int, int] = (2, 4),
    d: tuple[int, int] = (1, 3),
) -> AttentionData:
    """Draw data whose scores are the logits of a drawn matrix.

    They are separable if optimal tokens are unique.
    """
    shape = draw(sizes(*n)), draw(sizes(*T)), draw(sizes(*d))
    X, Z = draw(arrays(*shape)), draw(arrays(shape[0], shape[2]))
    W = draw(arrays(shape[2], shape[2]))
    return AttentionData(X, Z, scores=np.einsum("ntr,rc,nc->nt", X, W, Z))


@composite
def ragged(
    draw: st.DrawFn,
    data: st.SearchStrategy[AttentionData],
    keep: Callable[[AttentionData], Array] | None = None,
) -> AttentionData:
    """Draw data of the strategy; every third time some tokens are masked, so that lengths differ.

    The tokens (n, T) to keep are never masked: by default the first one of highest score of each
    input.
    """
    drawn = draw(data)
    if draw(sizes(0, 2)) < 2:
        return drawn
    lost = np.array([draw(st.integers(0, 2**drawn.T - 1)) for _ in range(drawn.n)])
    gone = (lost[:, None] >> np.arange(drawn.T)) % 2 == 1
    kept = (keep or _best)(drawn)
    return dataclasses.replace(drawn, mask=drawn.present & (kept | ~gone))


def ragged_larger(
    generator: np.random.Generator, data: AttentionData, keep: Array | None = None
) -> AttentionData:
    """Return the data with random tokens masked, in one call of three.

    The tokens `keep` (n, T) are never masked: by default the first one of highest score of each
    input.
    """
    gone = (generator.random(data.present.shape) < 0.25) & (generator.random() < 1 / 3)
    kept = _best(data) if keep is None else keep
    return dataclasses.replace(data, mask=data.present & (kept | ~gone))


def _best(data: AttentionData) -> Array:
    """Return the first token of highest score of each input, as a mask (n, T)."""
    best = np.where(data.present, data.gamma, -np.inf).argmax(axis=1)
    result: Array = np.arange(data.T) == best[:, None]
    return result
