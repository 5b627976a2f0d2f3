"""Data sets with tokens at the margin and beyond it, and tokens to leave out of them."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.primitives.descent import Descent
from attsvm.strategies import arrays, composite, sizes
from attsvm.strategies.data import starts
from attsvm.strategies.separable_data import (
    preferring,
    separated,
    separated_larger,
    with_redundant_tokens,
)

EQUAL = AttentionData.of([[[1], [0], [0]]], [[1]], scores=[[1, 0, 0]])
"""The constraints of equal tokens are equal."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A data set and the tokens (n, T) that are left out; optimal ones stay."""

    data: AttentionData
    dropped: Array

    def __post_init__(self) -> None:
        if self.dropped.shape != self.data.X.shape[:2]:
            raise DataError("the mask of dropped tokens does not fit", value=self.dropped.shape)


def _with_redundant_tokens(
    X: Array, Z: Array, chosen: Array, by: Array, factor: Array, shift: Array, scores: Array
) -> AttentionData:
    """Return data with one more token an input, made from that `by` places after the chosen one."""
    wide = with_redundant_tokens(X, chosen, (chosen + by) % X.shape[1], factor, shift)
    return AttentionData(wide, np.pad(Z, ((0, 0), (0, 1))), scores=preferring(chosen, scores))


@composite
def redundant_data(draw: st.DrawFn, factors: tuple[float, ...] = (2.0, 1.0, 1.5)) -> AttentionData:
    """Draw separable data with tokens at the margin, and at least one beyond it."""
    X, Z, chosen, _ = draw(separated())
    n, T = X.shape[:2]
    factor, shift = (
        np.array([draw(st.sampled_from(values)) for _ in range(n)]) for values in (factors, (1, 0))
    )
    factor[0] = max(factors)
    by = np.array([draw(sizes(1, T - 1)) for _ in range(n)])
    return _with_redundant_tokens(X, Z, chosen, by, factor, shift, draw(arrays(n, T + 1)))


def redundant_larger(generator: np.random.Generator) -> AttentionData:
    """Return redundant data at larger sizes."""
    X, Z, chosen, _ = separated_larger(generator)
    n, T = X.shape[:2]
    factor, shift = np.full(n, 1.0), np.asarray(generator.integers(0, 2, size=n))
    factor[0] = 2.0
    scores = generator.integers(-8, 9, size=(n, T + 1)) / 4
    return _with_redundant_tokens(X, Z, chosen, np.ones(n, dtype=np.int64), factor, shift, scores)


def redundant_gaussian(generator: np.random.Generator) -> AttentionData:
    """Return three inputs of four Gaussian tokens in R^8 and one that is no support vector."""
    data = all_support_larger(generator)
    chosen, by = np.zeros(3, dtype=np.int64), generator.integers(1, 4, size=3)
    factor = generator.choice([1.5, 2.0, 3.0], size=3)
    scores = generator.integers(-8, 9, size=(3, 5)) / 4
    return _with_redundant_tokens(data.X, data.Z, chosen, by, factor, np.ones(3), scores)


@composite
def redundant_runs(draw: st.DrawFn) -> Descent:
    """Draw redundant data and any start; no added token is a support vector."""
    data = draw(redundant_data((2.0, 1.5, 3.0)))
    return Descent(data, draw(starts(data.d, 0, 2)))


@composite
def all_support(draw: st.DrawFn) -> AttentionData:
    """Draw tokens along separate axes and a shared one: mostly all tokens are support vectors."""
    n, T = draw(sizes(1, 2)), draw(sizes(2, 4))
    D, Z = draw(arrays(n, T, T)) / 8, np.eye(n, T) + draw(arrays(n, T)) / 8
    D[..., 0] += draw(arrays(n, 1))
    for t in range(1, T):
        D[:, t, t] += draw(st.sampled_from([1.0, 2.0, 0.5]))
    D[:, 0] = 0.0
    scores = preferring(np.zeros(n, dtype=np.int64), draw(arrays(n, T)))
    return AttentionData(draw(arrays(n, 1, T)) - D, Z, scores=scores)


def all_support_larger(generator: np.random.Generator) -> AttentionData:
    """Return three inputs of four Gaussian tokens in R^8, rounded to 1/16."""
    X, Z = (np.round(generator.normal(size=s) * 16) / 16 for s in ((3, 4, 8), (3, 8)))
    return AttentionData(X, Z, scores=np.eye(1, 4) * np.ones((3, 1)))


@composite
def thinned(draw: st.DrawFn) -> Dropped:
    """Draw data of `all_support` with one more token an input, and any tokens to leave out.

    The further token lies at the margin or beyond it.
    """
    data = draw(all_support())
    factor = np.full(data.n, draw(st.sampled_from([1.0, 2.0])))
    by = np.full(data.n, draw(sizes(1, data.T - 1)))
    shift = np.full(data.n, draw(st.sampled_from([1.0, 0.0])))
    return _thinned(data, by, factor, shift, draw(arrays(data.n, data.T + 1)) > 0)


def thinned_larger(generator: np.random.Generator) -> Dropped:
    """Return data with dropped tokens at larger sizes."""
    data = all_support_larger(generator)
    factor, shift = (generator.choice(two, size=data.n) for two in ([1.0, 2.0], [1.0, 0.0]))
    dropped = generator.random((data.n, data.T + 1)) < generator.random()
    return _thinned(data, np.ones(data.n, dtype=np.int64), factor, shift, dropped)


def _thinned(
    data: AttentionData, by: Array, factor: Array, shift: Array, dropped: Array
) -> Dropped:
    chosen = np.zeros(data.n, dtype=np.int64)
    scores = np.zeros((data.n, data.T + 1))
    return Dropped(
        _with_redundant_tokens(data.X, data.Z, chosen, by, factor, shift, scores), dropped
    )
