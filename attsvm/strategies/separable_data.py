"""Data sets that are built such that known matrices separate the chosen tokens exactly."""

import numpy as np
from hypothesis import strategies as st

from attsvm._dyadic import composite
from attsvm._types import Array
from attsvm.strategies import arrays, sizes


def around(
    points: Array, Z: Array, D: Array, extra: Array, chosen: Array, kept: Array
) -> tuple[Array, Array, Array]:
    """Return tokens, queries and points that each separate the chosen tokens by at least 1.

    The points' first rows become (1, 0, ..) and the queries' first entries 1. Then <A_j, V> = D_j1
    + (D_j2, ..) . (V z)_2.., and D_j1 is set so that the least margin is 1 + extra_j. All numbers
    are dyadic and exact.
    """
    points, Z, D = points.copy(), Z.copy(), D.copy()
    points[:, 0] = np.eye(1, Z.shape[1])
    Z[:, 0] = 1.0
    projected = np.einsum("kcd,nd->knc", points, Z)
    rest = np.einsum("ntc,knc->knt", D[..., 1:], projected[..., 1:])
    D[..., 0] = 1.0 + extra - rest.min(axis=0)
    D[np.arange(len(D)), chosen] = 0.0
    return kept[:, None, :] - D, Z, points


@composite
def separated(draw: st.DrawFn, k: int = 1) -> tuple[Array, Array, Array, Array]:
    """Draw tokens, queries, chosen tokens, and k points that separate these, of small sizes."""
    n, T, d = draw(sizes(1, 3)), draw(sizes(2, 4)), draw(sizes(1, 3))
    chosen = np.array([draw(sizes(0, T - 1)) for _ in range(n)])
    extra, kept = np.maximum(draw(arrays(n, T)), 0.0), draw(arrays(n, d))
    points, Z, D = draw(arrays(k, d, d)), draw(arrays(n, d)), draw(arrays(n, T, d))
    X, Z, points = around(points, Z, D, extra, chosen, kept)
    return X, Z, chosen, points


def separated_larger(
    generator: np.random.Generator, k: int = 1
) -> tuple[Array, Array, Array, Array]:
    """Return larger data of the kind of `separated`: up to 4 inputs of 5 tokens in R^4."""
    n, T, d = (int(generator.integers(2, top + 1)) for top in (4, 5, 4))

    def dyadic(*shape: int) -> Array:
        return np.asarray(generator.integers(-32, 33, size=shape) / 16)

    chosen, extra = generator.integers(0, T, size=n), np.maximum(dyadic(n, T), 0.0)
    points, Z, D, kept = dyadic(k, d, d), dyadic(n, d), dyadic(n, T, d), dyadic(n, d)
    X, Z, points = around(points, Z, D, extra, chosen, kept)
    return X, Z, chosen, points


def with_redundant_tokens(
    X: Array, chosen: Array, source: Array, factor: Array, shift: Array
) -> Array:
    """Return inputs with one more token, x_opt - factor (x_opt - x_source), on a new axis.

    The solution has no component along the new axis, so that the token's margin is `factor` times
    that of its source. With a factor above 1 it is never a support vector. With factor 1 it is a
    support vector if its source is one, and its multiplier is 0 if it is shifted. The queries need
    one more entry, which is 0.
    """
    n, T, d = X.shape
    rows, wide = np.arange(n), np.zeros((n, T + 1, d + 1))
    wide[:, :T, :d] = X
    wide[:, T, :d] = X[rows, chosen] - factor[:, None] * (X[rows, chosen] - X[rows, source])
    wide[:, T, d] = shift
    return wide


def preferring(chosen: Array, scores: Array) -> Array:
    """Return scores 1 for the chosen tokens, and -|scores| for all others."""
    scores = -np.abs(scores)
    scores[np.arange(len(chosen)), chosen] = 1.0
    return scores
