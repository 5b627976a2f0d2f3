"""Implicit steps along the curve of descent, by Newton's method in the log domain, compiled.

At large norms the curve is stiff: deviations from the slow path decay within a length that does not
grow with the norm. Explicit steps would stay short although the path itself is almost straight.
"""

from __future__ import annotations

import numpy as np

from attsvm._types import Array
from attsvm.kernels import compiled, separate
from attsvm.kernels.derivative import Linear, linear, solve
from attsvm.kernels.descent import combine, inner, leading
from attsvm.kernels.field import Field, Room, direction

STAGE = 1.0 - np.sqrt(0.5)
"""Place of the first stage in a step of length 1, and the diagonal coefficient (Alexander 1977)."""

_THIRD = 1.0 / (6.0 * STAGE * (1.0 - STAGE))
_LAST = 0.5 - 1.0 / (6.0 * (1.0 - STAGE))
_CHORD = 0.2  # maximum ratio of successive Newton changes; above it the derivative is renewed
_ANGLE = 1e-6  # maximum residual of a stage over its length


@separate
def _stage(
    field: Field,
    room: Room,
    b: Array,
    step: float,
    small: float,
    point: Array,
    g: Array,
    system: Linear,
) -> tuple[float, int, Linear]:
    """Solve point = b + step g(point) by Newton's method, starting at `point`.

    `system` is that of an earlier point. It is used as long as successive changes shrink by
    `_CHORD`; then the derivative at the current point replaces it.

    Returns:
        log ||gradient|| at the solution (NaN if Newton's method failed), the number of evaluated
        directions, and the last system.
    """
    change, residual, last, fresh = np.empty(b.shape), np.empty(b.shape), np.inf, False
    log_size = direction(field, room, point, True, g)
    for k in range(1, 17):
        combine(1.0, b, step, g, residual)
        combine(1.0, residual, -1.0, point, residual)
        if last <= small:
            # small changes prove nothing with an old derivative: check the equation itself
            right = np.sqrt(inner(residual, residual)) <= _ANGLE * step
            return log_size if right else np.nan, k, system
        solve(field, system, residual, change)
        size = np.sqrt(inner(change, change))
        falls = size <= _CHORD * last
        if not falls:
            system = linear(field, room, point, g, step)
            solve(field, system, residual, change)
            size = np.sqrt(inner(change, change))
        if not (size <= step and (falls or not fresh or size <= 0.5 * last)):
            break
        fresh = not falls
        last = size
        combine(1.0, point, 1.0, change, point)
        log_size = direction(field, room, point, True, g)
        if log_size == -np.inf:
            break
    return np.nan, 16, system


@separate
def _chosen(field: Field, room: Room) -> Array:
    """Return the scores of the leading tokens at the last evaluated point."""
    scores = np.empty(len(field.gamma))
    for i in range(len(scores)):
        scores[i] = field.gamma[i, leading(room.A[i])]
    return scores


@compiled
def _same(a: Array, b: Array) -> bool:
    """Return whether all entries are equal."""
    same = True
    for i in range(len(a)):
        same &= a[i] == b[i]
    return same


@separate
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
    """Make one implicit step of length h and order 2 from y0 with direction g0.

    The end is written to y1 and its direction to g1. `small` is the norm of a Newton change at
    which a stage ends.

    Returns:
        An estimate of the local error, log ||gradient|| at the first stage and at the end, and the
        number of evaluated directions. The error is infinite if Newton's method failed, or if an
        input changed to a leading token of another score.
    """
    step, rate = STAGE * h, 1.0 / (STAGE * h)
    # The method is an SDIRK pair: both stages solve y - step * direction(y) = known with one
    # coefficient `step`, so that both use systems of one form. A stage near the slow path damps
    # deviations like 1/(1 + step * rate): a long step stays stable, where an explicit one grows.
    direction(field, room, y0, True, g1)
    before = _chosen(field, room)
    combine(1.0, y0, step, g0, y1)
    system = linear(field, room, y0, g1, step)
    log_middle, directions, system = _stage(field, room, y0, step, small, y1, g1, system)
    if np.isnan(log_middle):
        return np.inf, log_middle, log_middle, directions + 1
    k1, k2, b = np.empty(y0.shape), np.empty(y0.shape), np.empty(y0.shape)
    combine(rate, y1, -rate, y0, k1)
    combine(1.0, y0, h - step, k1, b)
    combine(1.0, b, step, k1, y1)
    log_end, more, system = _stage(field, room, b, step, small, y1, g1, system)
    directions += more + 1
    if np.isnan(log_end) or not _same(before, _chosen(field, room)):
        return np.inf, log_middle, log_end, directions
    # The error is the difference from a quadrature of third order through g0, k1 and k2. In the
    # stiff directions this difference is far larger than the error of the step, which the stage
    # has damped, so `solve` damps it by the same factor. Without that no long step would pass.
    combine(rate, y1, -rate, b, k2)
    w0, w1, w2 = 1.0 - _THIRD - _LAST, _THIRD + STAGE - 1.0, _LAST - STAGE
    combine(h * w0, g0, h * w1, k1, b)
    combine(1.0, b, h * w2, k2, b)
    solve(field, system, b, k1)
    return np.sqrt(inner(k1, k1)), log_middle, log_end, directions
