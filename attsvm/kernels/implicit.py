"""Implicit steps along the curve of descent, by Newton's method in the log domain, compiled.

Far out the curve is stiff: what is off the slow path decays within a length that does not grow
with the norm, so that explicit steps stay short while the path itself is almost straight.
"""

from __future__ import annotations

import numpy as np

from attsvm._types import Array
from attsvm.kernels import compiled
from attsvm.kernels.derivative import Linear, linear, solve
from attsvm.kernels.field import Field, Room, add, copy, direction, inner

STAGE = 1.0 - np.sqrt(0.5)
"""Place of the first stage, and weight of the direction at a stage's own end (Alexander 1977)."""

_THIRD = 1.0 / (6.0 * STAGE * (1.0 - STAGE))
_LAST = 0.5 - 1.0 / (6.0 * (1.0 - STAGE))
_ANGLE = 1e-6  # between a stage and the exact direction at its end


@compiled
def _stage(
    field: Field, room: Room, b: Array, step: float, small: float, point: Array, g: Array
) -> tuple[float, int, Linear]:
    """Solve point = b + step g(point) from a guess; log ||gradient||, NaN where Newton failed."""
    residual, change, last = np.empty(b.shape), np.empty(b.shape), np.inf
    log_size = direction(field, room, point, True, g)
    system = linear(field, room, point, g, step)
    for k in range(1, 9):
        for x in range(b.shape[0]):
            for y in range(b.shape[1]):
                residual[x, y] = b[x, y] + step * g[x, y] - point[x, y]
        if last <= small:
            # the equation itself, by the exact direction
            right = np.sqrt(inner(residual, residual)) <= _ANGLE * step
            return log_size if right else np.nan, k, system
        if k > 1:
            system = linear(field, room, point, g, step)
        solve(field, room.M, system, residual, change)
        size = np.sqrt(inner(change, change))
        if not (size <= 0.5 * last and size <= step):
            break
        last = size
        add(point, 1.0, change)
        log_size = direction(field, room, point, True, g)
        if log_size == -np.inf:
            break
    return np.nan, 8, system


@compiled
def _chosen(field: Field, room: Room, scores: Array) -> None:
    """Scores of the leading tokens at the point that was last looked at."""
    n, T = field.gamma.shape
    for i in range(n):
        lead = 0
        for t in range(1, T):
            if room.A[i, t] > room.A[i, lead]:
                lead = t
        scores[i] = field.gamma[i, lead]


@compiled
def attempt(
    field: Field,
    room: Room,
    y0: Array,
    g0: Array,
    h: float,
    small: float,
    y1: Array,
    g1: Array,
) -> tuple[float, float, float, int]:
    """One implicit step of length h of second order from y0, where the direction is g0.

    y1 and the direction there are written. Returns an estimate of the local error, infinite where
    Newton's method failed or where an input changed to a leading token of another score, the log
    sizes of the gradient at the first stage and at the end, and how many directions were taken.
    """
    n, step = len(field.gamma), STAGE * h
    before, after = np.empty(n), np.empty(n)
    direction(field, room, y0, True, g1)
    _chosen(field, room, before)
    k1, k2, b = np.zeros(y0.shape), np.zeros(y0.shape), np.zeros(y0.shape)
    copy(y0, y1)
    add(y1, step, g0)
    log_middle, taken, _ = _stage(field, room, y0, step, small, y1, g1)
    if np.isnan(log_middle):
        return np.inf, log_middle, log_middle, taken + 1
    copy(y0, b)
    add(k1, 1.0 / step, y1)
    add(k1, -1.0 / step, y0)
    add(b, h - step, k1)
    copy(b, y1)
    add(y1, step, k1)
    log_end, more, system = _stage(field, room, b, step, small, y1, g1)
    taken += more + 1
    _chosen(field, room, after)
    for i in range(n):
        if np.isnan(log_end) or before[i] != after[i]:
            return np.inf, log_middle, log_end, taken
    # against the quadrature of third order, damped as the stage is
    add(k2, 1.0 / step, y1)
    add(k2, -1.0 / step, b)
    b[:] = 0.0
    add(b, h * (1.0 - _THIRD - _LAST), g0)
    add(b, h * (_THIRD + STAGE - 1.0), k1)
    add(b, h * (_LAST - STAGE), k2)
    solve(field, room.M, system, b, k1)
    return np.sqrt(inner(k1, k1)), log_middle, log_end, taken
