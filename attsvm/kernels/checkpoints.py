"""Iterates kept when their norm passes a goal, for many data sets side by side, compiled."""

from __future__ import annotations

import numpy as np

from attsvm._types import Array
from attsvm.kernels import compiled


@compiled
def lane(array: Array, b: int) -> Array:
    """One lane of (., ., L), contiguous."""
    rows, columns, _ = array.shape
    copy = np.empty((rows, columns))
    for i in range(rows):
        for j in range(columns):
            copy[i, j] = array[i, j, b]
    return copy


@compiled
def put(copy: Array, array: Array, b: int) -> None:
    """The same back into its lane."""
    for i in range(len(copy)):
        for j in range(copy.shape[1]):
            array[i, j, b] = copy[i, j]


@compiled
def pass_goals(
    W: Array,
    start: Array,
    constant: Array,
    goals: Array,
    k: int,
    size: Array,
    passed: Array,
    taken: Array,
    out: Array,
) -> None:
    """Keep the lanes whose norm ||start + W|| passes their next goal for the first time.

    `start` is what of the start lies in these coordinates, `constant` its squared norm in full.
    """
    rows, columns, L = W.shape
    for b in range(L):
        size[b] = constant[b]
    for y in range(rows):
        for x in range(columns):
            w, s = W[y, x], start[y, x]
            for b in range(L):
                size[b] += w[b] * (w[b] + 2.0 * s[b])
    keep(W, goals, k, size, passed, taken, out)


@compiled
def keep(
    W: Array, goals: Array, k: int, size: Array, passed: Array, taken: Array, out: Array
) -> None:
    """Keep the lanes whose squared norm `size` passes their next goal."""
    for b in range(W.shape[2]):
        while passed[b] < len(goals) and size[b] >= goals[passed[b]] ** 2:
            taken[passed[b], b] = k
            put(lane(W, b), out[passed[b]], b)
            passed[b] += 1


@compiled
def product_size(K: Array, Q: Array, rest_K: Array, rest_Q: Array, size: Array) -> None:
    """||K Q^T||^2 = <K^T K, Q^T Q>; `rest_K`, `rest_Q` (r, r, L) are what other coordinates add."""
    rank, L = K.shape[1], K.shape[2]
    for b in range(L):
        size[b] = 0.0
        for s in range(rank):
            for t in range(rank):
                left, right = rest_K[s, t, b], rest_Q[s, t, b]
                for x in range(len(K)):
                    left += K[x, s, b] * K[x, t, b]
                for y in range(len(Q)):
                    right += Q[y, s, b] * Q[y, t, b]
                size[b] += left * right
