"""The curve of descent by arc length, compiled: steps of controlled error to any norm."""

from __future__ import annotations

import numpy as np

from attsvm._types import Array
from attsvm.kernels import compiled, inlined
from attsvm.kernels.descent import combine, copy, inner, scale
from attsvm.kernels.field import Field, Room, direction, norms_at, room
from attsvm.kernels.implicit import STAGE, attempt

_FINEST = 1e-9  # shortest step, in units
_TURN, _FAR_TURN = 0.7, 0.99  # least cosine between the ends of a step, explicit and implicit
_BEND = 0.03  # of the log of time along an explicit step, see `_bend`
_DAMPED = 1.5  # length of an explicit step over that in which what is off the path decays
_SHARE = 0.01  # of the norm of (K, Q), their unit in implicit steps
_PATIENCE = 32  # explicit steps after an implicit one that did not pay


@compiled
def _explicit(
    field: Field, room: Room, y0: Array, g0: Array, h: float, y1: Array, g1: Array
) -> tuple[float, float, float, int]:
    """Make one step of length h of third order, by three directions.

    The pair is that of Bogacki and Shampine (1989); its last direction is the first one of the next
    step.

    Returns:
        An error estimate, the log sizes at 3/4 and at the end, and the number of directions, 3.
    """
    g2, g3 = np.empty(y0.shape), np.empty(y0.shape)
    combine(1.0, y0, 0.5 * h, g0, y1)
    log_half = direction(field, room, y1, False, g2)
    combine(1.0, y0, 0.75 * h, g2, y1)
    log_late = direction(field, room, y1, False, g3)
    for j in range(y0.shape[0]):
        for k in range(y0.shape[1]):
            y1[j, k] = y0[j, k] + h / 9.0 * (2.0 * g0[j, k] + 3.0 * g2[j, k] + 4.0 * g3[j, k])
    log_end = direction(field, room, y1, False, g1)
    square = 0.0
    for j in range(y0.shape[0]):
        for k in range(y0.shape[1]):
            off = g0[j, k] * -5.0 + g2[j, k] * 6.0 + g3[j, k] * 8.0 - g1[j, k] * 9.0
            square += off * off
    lost = min(log_half, log_late, log_end) == -np.inf
    return np.inf if lost else h / 72.0 * np.sqrt(square), log_late, log_end, 3


@inlined
def _advance(
    field: Field,
    room: Room,
    far: bool,
    y0: Array,
    g0: Array,
    h: float,
    small: float,
    y1: Array,
    g1: Array,
) -> tuple[float, float, float, int]:
    """Make one step; return error estimate, log sizes within and at the end, directions."""
    if far:
        return attempt(field, room, y0, g0, h, small, y1, g1)
    return _explicit(field, room, y0, g0, h, y1, g1)


@compiled
def _stiffness(
    field: Field, room: Room, y: Array, g: Array, reach: float, mode: Array, trial: Array
) -> float:
    """Return ||J mode|| of the derivative J of the direction, by a difference over `reach`.

    `mode`, a unit matrix, becomes J mode over its size. Over the steps of a curve this is the power
    method for the decay rate of deviations from the slow path.
    """
    combine(1.0, y, reach, mode, trial)
    if direction(field, room, trial, False, mode) == -np.inf:
        _seed(mode)
        return 0.0
    combine(1.0, mode, -1.0, g, mode)
    size = np.sqrt(inner(mode, mode))
    if size > 0.0:
        scale(1.0 / size, mode)
    else:
        _seed(mode)
    return size / reach


@compiled
def _seed(mode: Array) -> None:
    """Write a unit matrix in no special direction."""
    for j in range(mode.shape[0]):
        for k in range(mode.shape[1]):
            mode[j, k] = np.sin(1.0 + j * mode.shape[1] + k)
    scale(1.0 / np.sqrt(inner(mode, mode)), mode)


@compiled
def _linear_time(fall: float) -> float:
    """Return the logarithm of the integral of exp(fall x) over [0, 1]."""
    if abs(fall) < 1e-8:
        return 0.5 * fall
    if fall > 0.0:
        return fall + np.log(-np.expm1(-fall) / fall)
    return np.log(np.expm1(fall) / fall)


@compiled
def _bend(log0: float, log_late: float, log1: float) -> float:
    """Return the b for which log(dt/ds) along a step is linear plus b x (1 - x), from 3/4."""
    return (0.25 * log0 + 0.75 * log1 - log_late) / 0.1875


@compiled
def _spent(far: bool, h: float, log0: float, log_within: float, log1: float) -> float:
    """Return the log of the time of a step, the integral of ds / ||gradient||.

    Implicit steps treat the logarithm as linear on both sides of the first stage. Explicit steps
    treat it as quadratic, to first order in the bend, which is measured at 3/4 of the step.
    """
    if far:
        early = np.log(STAGE * h) - log0 + _linear_time(log0 - log_within)
        late = np.log((1.0 - STAGE) * h) - log_within + _linear_time(log_within - log1)
        return _log_sum(early, late)
    fall = log0 - log1
    bend = min(max(_bend(log0, log_within, log1), -1.0), 1.0)
    mean = 1.0 / 6.0  # of x (1 - x) under the weight exp(fall x)
    if abs(fall) > 0.05:
        down = np.exp(-abs(fall))
        size = abs(fall)
        mean = ((size - 2.0) + (size + 2.0) * down) / (size**2 * (1.0 - down))
    return np.log(h) - log0 + _linear_time(fall) + np.log1p(bend * mean)


@compiled
def _log_sum(a: float, b: float) -> float:
    """Return log(exp(a) + exp(b))."""
    top = max(a, b)
    return top if top == -np.inf else top + np.log(np.exp(a - top) + np.exp(b - top))


@compiled
def unit_at(field: Field, unit: float, size: float) -> float:
    """Return the length that moves a margin by at most one, or the size of small (K, Q)."""
    return unit if not field.both else min(unit / size, size)


@inlined
def _meet(
    field: Field,
    room: Room,
    far: bool,
    y: Array,
    g: Array,
    h: float,
    small: float,
    goal: float,
    norm0: float,
    norm1: float,
    point: Array,
    point_g: Array,
    spent: float,
    log_size: float,
) -> tuple[int, float]:
    """Find the length at which a step from y first meets a norm, by the secant rule.

    `point` is the end of the full step of length h, and becomes the end of the shorter step, which
    meets the norm from above up to rounding.

    Returns:
        The number of directions and the log of the time of the shorter step.
    """
    low, high, below, above = 0.0, h, min(norm0 - goal, 0.0), norm1 - goal
    trial, taken, side = np.empty(y.shape), 0, 0
    for _ in range(40):
        if above <= 2.0**-49 * goal or high - low <= 2.0**-50 * h:
            break
        length = high - above * (high - low) / (above - below)
        error, log_within, log_end, more = _advance(
            field, room, far, y, g, length, small, trial, point_g
        )
        taken += more
        if not error < np.inf:
            break
        value = norms_at(field, trial)[0] - goal
        if value < 0.0:
            low, below = length, value
            above = 0.5 * above if side < 0 else above
            side = -1
        else:
            high, above = length, value
            below = 0.5 * below if side > 0 else below
            side = 1
            copy(trial, point)
            spent = _spent(far, length, log_size, log_within, log_end)
    return taken, spent


@compiled
def follow(
    field: Field,
    y: Array,
    norms: Array,
    unit: float,
    tolerance: float,
    limit: int,
    out: Array,
    counts: Array,
    times: Array,
    errors: Array,
) -> int:
    """Step along the curve from y, in place; write the first points of each of `norms` to `out`.

    - The local error of a step, `errors` for the step that met a norm, is at most `tolerance`
      units.
    - The direction turns by at most 45 degrees.
    - If a step of 1e-9 units exceeds one of these limits, a point without a gradient is near, and
      the run ends.
    - Implicit steps are tried if explicit ones stay below a fiftieth of the norm.

    Returns:
        The number of norms passed.
    """
    work, shape = room(field), y.shape
    g, ahead, ahead_g = np.empty(shape), np.empty(shape), np.empty(shape)
    point, point_g, mode = np.empty(shape), np.empty(shape), np.empty(shape)
    _seed(mode)
    log_size = direction(field, work, y, False, g)
    norm, size = norms_at(field, y)
    first, log_time, used, passed = norm, -np.inf, 1, 0
    near = unit_at(field, unit, size) * tolerance ** (1.0 / 3.0)
    stable, distant, wait, patience, far = np.inf, 0.0, 0, _PATIENCE, False
    most = np.inf
    while passed < len(norms) and used < limit and log_size > -np.inf:
        u = unit_at(field, unit, size)
        finest = max(_FINEST * u, 256.0 * 2.0**-52 * size)
        if not far:
            near = min(near, max(4.0 * u, 0.1 * size))
            if wait <= 0 and near < 0.02 * size and size > 50.0 * u:
                far, distant, most = True, 0.1 * size, np.inf
        h = min(distant, 0.5 * size) if far else near
        allowed = tolerance * (max(u, _SHARE * size) if far and field.both else u)
        small = 1e-4 * allowed + 1e-15 * h * size / u
        error, log_within, log_ahead, taken = _advance(
            field, work, far, y, g, h, small, ahead, ahead_g
        )
        used += taken
        straight = inner(g, ahead_g) >= (_FAR_TURN if far else _TURN)
        factor = 0.9 * (allowed / error) ** (1.0 / 3.0) if error > 0.0 else 4.0
        if not far:
            bend = abs(_bend(log_size, log_within, log_ahead))
            factor = min(factor, np.sqrt(_BEND / bend) if bend > 0.0 else 4.0)
            straight &= bend <= 2.0 * _BEND or h <= 1e-3 * u
        if not (error <= allowed and straight and log_ahead > -np.inf):
            factor = min(max(factor, 0.2), 0.5)
            if far and error == np.inf:
                factor, most = 0.5, 0.8 * h
            if far:
                distant *= factor
                if distant < 10.0 * near:
                    far, wait, patience = False, patience, 2 * patience
            elif h <= finest:
                break
            else:
                near = max(factor * h, finest)
            continue
        old = norm
        norm, size = norms_at(field, ahead)
        while passed < len(norms) and norm >= norms[passed] and norm > first:
            goal = max(norms[passed], first) * (1.0 + 2.0**-49)
            copy(ahead, point)
            taken, late = _meet(
                field, work, far, y, g, h, small, goal, old, norm, point, point_g,
                _spent(far, h, log_size, log_within, log_ahead), log_size,
            )  # fmt: skip
            used += taken
            copy(point, out[passed])
            counts[passed], times[passed] = used, _log_sum(log_time, late)
            errors[passed] = allowed
            passed += 1
        log_time = _log_sum(log_time, _spent(far, h, log_size, log_within, log_ahead))
        copy(ahead, y)
        copy(ahead_g, g)
        log_size = log_ahead
        factor = min(max(factor, 0.2), 4.0)
        if far:
            most = max(1.05 * most, h)
            distant, patience = min(factor * h, most), _PATIENCE
        else:
            near = factor * h
            wait -= 1
            if wait % 2:
                rate = _stiffness(field, work, y, g, 1e-4 * u, mode, point)
                stable = _DAMPED / rate if rate > 0.0 else np.inf
                used += 1
            near = min(near, stable)
    return passed
