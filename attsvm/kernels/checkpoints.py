"""Iterates kept when their norm passes a goal, for many data sets side by side, compiled."""

from __future__ import annotations

from attsvm._types import Array
from attsvm.kernels import compiled


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
    size[:] = constant
    for y in range(rows):
        for x in range(columns):
            for b in range(L):
                size[b] += W[y, x, b] * (W[y, x, b] + 2.0 * start[y, x, b])
    keep(W, goals, k, size, passed, taken, out)


@compiled
def keep(
    W: Array, goals: Array, k: int, size: Array, passed: Array, taken: Array, out: Array
) -> None:
    """Keep the lanes whose squared norm `size` passes their next goal."""
    for b in range(W.shape[2]):
        while passed[b] < len(goals) and size[b] >= goals[passed[b]] ** 2:
            taken[passed[b], b] = k
            out[passed[b], :, :, b] = W[:, :, b]
            passed[b] += 1


@compiled
def product_size(K: Array, Q: Array, rest_K: Array, rest_Q: Array, size: Array) -> None:
    """||K Q^T||^2 = <K^T K, Q^T Q>; `rest_K`, `rest_Q` (r, r, L) are what other coordinates add."""
    size[:] = 0.0
    for b in range(K.shape[2]):
        for s in range(K.shape[1]):
            for t in range(K.shape[1]):
                left, right = rest_K[s, t, b], rest_Q[s, t, b]
                for x in range(len(K)):
                    left += K[x, s, b] * K[x, t, b]
                for y in range(len(Q)):
                    right += Q[y, s, b] * Q[y, t, b]
                size[b] += left * right
