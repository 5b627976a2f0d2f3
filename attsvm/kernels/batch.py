"""Many Att-SVMs of one shape in one compiled loop."""

from __future__ import annotations

import numpy as np

from attsvm._types import Array
from attsvm.kernels import compiled
from attsvm.kernels.least_norm import (
    FAILED,
    UNBOUNDED,
    figures,
    least_norm,
    rows,
)


@compiled
def solve_many(
    X: Array,
    Z: Array,
    present: Array,
    which: Array,
    targets: Array,
    largest: float,
    smallest: float,
) -> tuple[Array, Array, Array, Array, Array]:
    """Problem b selects targets[b] in data set which[b].

    Returns W (B, d, d), margins (B, n, T), weights (B, n, T), how each ended (B), and the figures
    (B, 6): square of the norm, sum of the weights, sum of ||weights_j A_j||, largest shortfall,
    least weight and the least margin that rounding leaves certain. Rows whose size leaves
    [smallest, largest] end a problem as FAILED.
    """
    B = len(which)
    n, T, d = X.shape[1:]
    W = np.zeros((B, d, d))
    margins = np.full((B, n, T), np.inf)
    weights = np.zeros((B, n, T))
    ended = np.full(B, FAILED)
    numbers = np.zeros((B, 6))
    for b in range(B):
        D, rows_Z, _, _, inputs, tokens = rows(
            X[which[b]], Z[which[b]], targets[b], present[which[b]]
        )
        m = len(D)
        if m == 0:
            continue
        bound, equal = np.ones(m), np.zeros(m, dtype=np.bool_)
        w = np.zeros(m)
        status = -1
        for j in range(m):
            size_D, size_Z = np.abs(D[j]).max(), np.abs(rows_Z[j]).max()
            if size_D == 0.0 or size_Z == 0.0:
                w[:] = 0.0
                w[j] = 1.0
                status = UNBOUNDED
                break
            if max(size_D, size_Z) > largest or min(size_D, size_Z) < smallest:
                status = FAILED
        if status == FAILED:
            continue
        if status != UNBOUNDED:
            w, status, _ = least_norm(D, rows_Z, bound, equal, 20 * m + 100)
        if status == UNBOUNDED:
            w = w / w.sum()
        solution, reached, square, linear, summed, shortfall, least, certain = figures(
            D, rows_Z, bound, equal, w
        )
        ended[b] = status
        numbers[b, 0], numbers[b, 1], numbers[b, 2] = square, linear, summed
        numbers[b, 3], numbers[b, 4] = shortfall, least
        numbers[b, 5] = certain
        W[b] = solution
        for j in range(m):
            margins[b, inputs[j], tokens[j]] = reached[j]
            weights[b, inputs[j], tokens[j]] = w[j]
    return W, margins, weights, ended, numbers
