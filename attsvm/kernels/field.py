"""The unit direction of descent as a vector field on W or on (K, Q), compiled.

A point is the change of W since its start (q, p) if `both` is false; otherwise it is K (p, r) above
Q (q, r), with W = Q K^T. Tokens and queries are stored as in `kernels.descent`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attsvm._types import Array
from attsvm.kernels import compiled, separate
from attsvm.kernels.descent import (
    TINY,
    attend,
    copy,
    factors,
    inner,
    log_negative_gradient,
    negative_gradient,
    product,
    scale,
)
from attsvm.kernels.least_norm import largest_entry


class Field(NamedTuple):
    """One data set, and the parts of the start that descent does not move.

    Attributes:
        X, rows, Z, gamma, base: as in `kernels.descent`.
        loss: code number of the loss.
        both: whether points are (K, Q).
        start: for W, the start in the coordinates of points (q, p).
        constant: for W, the squared norm of the start; for (K, Q), the squared norm of the
            coordinates of K and Q that do not move.
        gram_k, gram_q: for (K, Q), the Gram matrices (r, r) of these coordinates.
    """

    X: Array
    rows: Array
    Z: Array
    gamma: Array
    base: Array
    loss: int
    both: bool
    start: Array
    constant: float
    gram_k: Array
    gram_q: Array


class Room(NamedTuple):
    """Arrays that evaluations write to.

    Attributes:
        W: the product Q K^T, for (K, Q).
        M: -grad L in W, up to a positive factor.
        A: logits (n, T).
        sizes, top: log sizes of the weights and the log of the largest effect, as in
            `log_negative_gradient`.
        h, c: memory of `negative_gradient`.
    """

    W: Array
    M: Array
    A: Array
    sizes: Array
    top: Array
    h: Array
    c: Array


@compiled
def room(field: Field) -> Room:
    """Return new arrays for a field."""
    n, p, T = field.X.shape
    q = field.Z.shape[1]
    return Room(
        np.empty((q, p)), np.empty((q, p)), np.empty((n, T)), np.empty((n, T)), np.empty(1),
        np.empty(p), np.empty(T),
    )  # fmt: skip


@separate
def direction(field: Field, room: Room, point: Array, logs: bool, g: Array) -> float:
    """Write the unit direction of descent to g, and return log ||gradient||.

    At gradient zero, g is 0 and the result -inf. `logs` asks for evaluation by logarithms, which is
    used in any case if the gradient is about to underflow.
    """
    p = field.X.shape[1]
    W = point
    if field.both:
        W = room.W
        product(point[p:], point[:p], W)
    log_scale, square = 0.0, 0.0
    if logs:
        for i in range(len(field.Z)):
            attend(field.X[i], field.Z[i], W, field.base[i], room.A[i], room.h)
    else:
        square = negative_gradient(
            field.X, field.rows, field.Z, field.gamma, field.base, W, field.loss, room.M, room.A,
            room.h, room.c,
        )  # fmt: skip
    if not square > TINY:
        log_scale = log_negative_gradient(
            field.X, field.Z, field.gamma, field.loss, room.M, room.A, room.sizes
        )
        room.top[0] = log_scale
    if field.both:
        factors(room.M, point[:p], point[p:], g[:p], g[p:])
    else:
        copy(room.M, g)
    top = largest_entry(g)
    if not (top > 0.0 and log_scale > -np.inf):
        g[:] = 0.0
        return -np.inf
    scale(1.0 / top, g)
    size = np.sqrt(inner(g, g))
    scale(1.0 / size, g)
    return log_scale + np.log(top) + np.log(size)


@separate
def norms_at(field: Field, point: Array) -> tuple[float, float]:
    """Return ||W||, and the norm of the variables: ||W|| again, or that of K and Q together."""
    own = inner(point, point)
    if not field.both:
        size = np.sqrt(max(field.constant + 2.0 * inner(field.start, point) + own, 0.0))
        return size, size
    p, r = field.X.shape[1], point.shape[1]
    grams = np.empty((2, r, r))
    copy(field.gram_k, grams[0])
    copy(field.gram_q, grams[1])
    for x in range(len(point)):
        gram, row = grams[int(x >= p)], point[x]
        for a in range(r):
            for b in range(r):
                gram[a, b] += row[a] * row[b]
    square = inner(grams[0], grams[1])
    return np.sqrt(max(square, 0.0)), np.sqrt(field.constant + own)
