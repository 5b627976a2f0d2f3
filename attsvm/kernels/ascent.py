"""Passes over the rows of a large programme, sorted into runs of rows that share a query."""

from __future__ import annotations

import numpy as np

from attsvm._types import Array
from attsvm.kernels import compiled, compiled_for_many
from attsvm.kernels.least_norm import write


@compiled_for_many
def sum_runs(D: Array, ends: Array, w: Array) -> Array:
    """Return sum_j w_j D_j over each run; run i holds the rows from ends[i] to ends[i + 1]."""
    n, d = len(ends) - 1, D.shape[1]
    sums = np.zeros((n, d))
    for i in range(n):
        for j in range(ends[i], ends[i + 1]):
            if w[j] != 0.0:
                for k in range(d):
                    sums[i, k] += w[j] * D[j, k]
    return sums


@compiled_for_many
def pair_runs(D: Array, ends: Array, V: Array) -> Array:
    """Return the inner product of each row with the vector of its run."""
    products = np.empty(D.shape[0])
    for i in range(len(ends) - 1):
        start, end = ends[i], ends[i + 1]
        write(np.dot(D[start:end], V[i]), products[start:end])
    return products


@compiled_for_many
def ascend(
    D: Array, ends: Array, V: Array, c: Array, equal: Array, u: Array, y: Array,
    rate: float, momentum: float, sums: Array,
) -> float:  # fmt: skip
    """Take a projected gradient step from y along c - G y, and return sum_j (y - new) (new - u).

    A positive result means that the momentum new - u points against the step new - y: the caller
    then drops the momentum. `V` has one vector for each run; entry j of G y is the inner product of
    D_j with the vector of its run. `u` is overwritten by the new point, `y` by the next
    extrapolated point, and `sums` by sum_j y_j D_j over each run. Entries without `equal` are
    projected to u >= 0. Rows are read from memory once.
    """
    downwards = 0.0
    for i in range(len(ends) - 1):
        start, end = ends[i], ends[i + 1]
        image = np.dot(D[start:end], V[i])
        sums[i, :] = 0.0
        for j in range(start, end):
            value = y[j] + rate * (c[j] - image[j - start])
            if value < 0.0 and not equal[j]:
                value = 0.0
            moved = value - u[j]
            downwards += (y[j] - value) * moved
            u[j] = value
            y[j] = value + momentum * moved
            if y[j] != 0.0:
                for k in range(D.shape[1]):
                    sums[i, k] += y[j] * D[j, k]
    return downwards


@compiled
def _sink(heap: Array, place: int, size: int) -> None:
    """Restore the heap of `size` entries, the largest first, after a smaller entry at `place`."""
    value = heap[place]
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= value:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = value


@compiled_for_many
def cap_groups(u: Array, order: Array, starts: Array, caps: Array) -> None:
    """Replace u by the nearest point with u >= 0 and group sums of at most `caps`.

    Group g holds the entries order[starts[g]], ..., order[starts[g + 1] - 1]. In a group that is
    too large all entries lose the same amount, and end at 0 if they have less. The amount follows
    from the largest entries, which are taken from a heap.
    """
    for g in range(len(starts) - 1):
        start, end = starts[g], starts[g + 1]
        total = 0.0
        for k in range(start, end):
            j = order[k]
            u[j] = max(u[j], 0.0)
            total += u[j]
        if total <= caps[g]:
            continue
        size = end - start
        heap = np.empty(size)
        for k in range(size):
            heap[k] = u[order[start + k]]
        for k in range(size // 2 - 1, -1, -1):
            _sink(heap, k, size)
        # If the k + 1 largest entries stay positive, each loses (their sum - cap) / (k + 1). That
        # is consistent as long as the smallest of them exceeds its loss, and the last consistent k
        # gives the projection.
        summed, loss = 0.0, 0.0
        for k in range(size):
            summed += heap[0]
            if (summed - caps[g]) / (k + 1) >= heap[0]:
                break
            loss = (summed - caps[g]) / (k + 1)
            heap[0] = heap[size - k - 1]
            _sink(heap, 0, size - k - 1)
        for k in range(start, end):
            u[order[k]] = max(u[order[k]] - loss, 0.0)
