"""Many least-norm programmes of one shape in one compiled loop."""

from __future__ import annotations

import numpy as np

from attsvm._types import Array
from attsvm.kernels import compiled, compiled_for_many
from attsvm.kernels.descent import copy
from attsvm.kernels.least_norm import (
    FAILED,
    SOLVED,
    UNBOUNDED,
    figures,
    largest_entry,
    least_norm,
    rows,
    write,
)


@compiled_for_many
def solve_many(
    X: Array,
    Z: Array,
    present: Array,
    which: Array,
    targets: Array,
    largest: float,
    smallest: float,
) -> tuple[Array, Array, Array, Array, Array]:
    """Solve the hard-margin programme of data set which[b] and tokens targets[b], for each b.

    A problem fails if the largest entry of a row lies outside [smallest, largest]. A problem
    without constraints counts as failed too.

    Returns:
        W (B, d, d), margins (B, n, T), weights (B, n, T), the status (B), and the figures (B, 6):
        square of the norm, sum of the weights, sum of ||weights_j A_j||, largest shortfall, least
        weight, and the least margin that is certain despite rounding. For an UNBOUNDED problem the
        weights are Farkas multipliers of sum 1.
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
            size_D, size_Z = largest_entry(D[j]), largest_entry(rows_Z[j])
            if size_D == 0.0 or size_Z == 0.0:
                # the constraint is 0 >= 1: its unit vector is a Farkas certificate
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
        copy(solution, W[b])
        for x, number in enumerate((square, linear, summed, shortfall, least, certain)):
            numbers[b, x] = number
        for j in range(m):
            margins[b, inputs[j], tokens[j]] = reached[j]
            weights[b, inputs[j], tokens[j]] = w[j]
    return W, margins, weights, ended, numbers


@compiled
def least_points(
    A: Array, counted: Array, bound: Array, largest: float, smallest: float
) -> tuple[Array, Array]:
    """Find for each b the p of least norm with <A[b, j], p> >= bound[b, j] for all counted j.

    Bounds must be at least 0. A problem fails if the largest entry of a row lies outside [smallest,
    largest].

    Returns:
        Multipliers (B, J), with p_b = sum_j multiplier_bj A[b, j], and the status (B). If there is
        no such p, the multipliers are a Farkas certificate.
    """
    B, J, _ = A.shape
    weights = np.zeros((B, J))
    ended = np.full(B, SOLVED)
    one = np.ones((J, 1))
    equal = np.zeros(J, dtype=np.bool_)
    used = np.empty(J, dtype=np.int64)
    for b in range(B):
        m, demanded = 0, False
        for j in range(J):
            size = largest_entry(A[b, j])
            if not counted[b, j] or (size == 0.0 and bound[b, j] == 0.0):
                continue
            if size == 0.0:  # the constraint is 0 >= bound > 0
                weights[b, :] = 0.0
                weights[b, j] = 1.0
                ended[b] = UNBOUNDED
                break
            if not smallest <= size <= largest:
                ended[b] = FAILED
            used[m] = j
            m += 1
            demanded |= bound[b, j] > 0.0
        if ended[b] == SOLVED and demanded:
            rows, right = np.empty((m, A.shape[2])), np.empty(m)
            for k in range(m):
                write(A[b, used[k]], rows[k])
                right[k] = bound[b, used[k]]
            w, ended[b], _ = least_norm(rows, one[:m], right, equal[:m], 20 * m + 100)
            for k in range(m):
                weights[b, used[k]] = w[k]
    return weights, ended
