"""The curve of gradient flow by arc length, compiled: steps of controlled error to any norm."""

from __future__ import annotations

import numpy as np

from attsvm._types import Array
from attsvm.kernels import compiled, inlined, separate
from attsvm.kernels.descent import combine, copy, inner, scale
from attsvm.kernels.field import Field, Room, direction, norms_at, room
from attsvm.kernels.implicit import STAGE, attempt

_FINEST = 1e-9  # minimum length of a step, in units of `unit_at`
_TURN, _FAR_TURN = 0.7, 0.99  # minimum cosine of directions at the ends: explicit, implicit steps
_BEND = 0.03  # intended bend of log(dt/ds) along an explicit step, see `_bend`
_DAMPED = 1.5  # maximum length of an explicit step over the decay length of deviations
_SHARE = 0.01  # unit of length of implicit steps for (K, Q), as a share of their norm
_PATIENCE = 32  # number of explicit steps after implicit ones turned out too short


@separate
def _explicit(
    field: Field, room: Room, y0: Array, g0: Array, h: float, y1: Array, g1: Array
) -> tuple[float, float, float, int]:
    """Make one explicit step of length h and order 3, by the pair of Bogacki and Shampine (1989).

    It evaluates three directions. The last one, at the end of the step, is the first direction of
    the next step. The end is written to y1 and its direction to g1.

    Returns:
        An error estimate (infinite at gradient zero), the logarithms of the gradient's norm at 3/4
        of the step and at its end, and the number of evaluated directions, 3.
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
    """Make one step, implicit if `far`; return what `attempt` and `_explicit` return."""
    if far:
        return attempt(field, room, y0, g0, h, small, y1, g1)
    return _explicit(field, room, y0, g0, h, y1, g1)


@compiled
def _stiffness(
    field: Field, room: Room, y: Array, g: Array, reach: float, mode: Array, trial: Array
) -> float:
    """Return ||J mode|| of the derivative J of the direction, by a difference over `reach`.

    `mode`, of norm 1, is replaced by J mode over its norm. Repeated along a curve this is the power
    method: it tends to the fastest rate at which deviations from the slow path decay.
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


@separate
def _seed(mode: Array) -> None:
    """Write a matrix of norm 1 that is orthogonal to no special direction."""
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
    """Return b such that log(dt/ds) at the place x in [0, 1] of a step is linear plus b x (1 - x).

    The arguments are log ||gradient||, minus log(dt/ds), at x = 0, 3/4 and 1.
    """
    return (0.25 * log0 + 0.75 * log1 - log_late) / 0.1875


@separate
def _spent(far: bool, h: float, log0: float, log_within: float, log1: float) -> float:
    """Return the log of the time of the flow along a step, the integral of ds / ||gradient||.

    Implicit steps treat the logarithm as linear on both sides of the first stage. Explicit steps
    treat it as quadratic, to first order in the bend, which is measured at 3/4 of the step.
    """
    if far:
        early = np.log(STAGE * h) - log0 + _linear_time(log0 - log_within)
        late = np.log((1.0 - STAGE) * h) - log_within + _linear_time(log_within - log1)
        return _log_sum(early, late)
    fall = log0 - log1
    bend = min(max(_bend(log0, log_within, log1), -1.0), 1.0)
    mean = 1.0 / 6.0  # mean of x (1 - x) under the weight exp(fall x)
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
    """Return the unit of length of steps at a point whose variables have norm `size`.

    A step of this length changes a logit difference by at most about 1. For (K, Q) it is not longer
    than their norm.
    """
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
    """Find the length at which a step from y first reaches the norm `goal`, by the secant rule.

    `point` is the end of the full step of length h. It is replaced by the end of the shorter step,
    whose norm is at least `goal`, and equal to it up to rounding.

    Returns:
        The number of evaluated directions, and the log of the time of the shorter step.
    """
    # The secant rule keeps a bracket. If the same end moves twice in a row, the value at the other
    # end is halved (the Illinois rule): otherwise that end could stay, and convergence be linear.
    low, high, below, above = 0.0, h, min(norm0 - goal, 0.0), norm1 - goal
    trial, directions, side = np.empty(y.shape), 0, 0
    for _ in range(40):
        if above <= 2.0**-49 * goal or high - low <= 2.0**-50 * h:
            break
        length = high - above * (high - low) / (above - below)
        error, log_within, log_end, more = _advance(
            field, room, far, y, g, length, small, trial, point_g
        )
        directions += more
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
    return directions, spent


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
    """Step along the curve from y, in place; write the first point of each of `norms` to `out`.

    - The estimated local error of a step is at most `tolerance` units; see `unit_at`.
    - The direction turns by at most 46 degrees in an explicit step, and 8 in an implicit one.
    - If an explicit step of 1e-9 units exceeds one of these limits, a point without a gradient is
      near, and the run ends. It also ends after about `limit` evaluated directions.
    - Implicit steps are tried if explicit ones stay below a fiftieth of the norm.

    For each point, `counts` receives the number of directions evaluated so far and `times` the log
    of the time of the flow. `errors` receives the limit of the local error at its step.

    Returns:
        The number of norms reached.
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
        error, log_within, log_ahead, directions = _advance(
            field, work, far, y, g, h, small, ahead, ahead_g
        )
        used += directions
        straight = inner(g, ahead_g) >= (_FAR_TURN if far else _TURN)
        # The estimate has order h^3, so this factor would bring it to 0.73 of what is allowed.
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
                # An implicit step costs several times an explicit one. Return to explicit steps,
                # each time for twice as long, so that changing back and forth costs little.
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
            directions, late = _meet(
                field, work, far, y, g, h, small, goal, old, norm, point, point_g,
                _spent(far, h, log_size, log_within, log_ahead), log_size,
            )  # fmt: skip
            used += directions
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
            # An explicit step much longer than the decay length of deviations makes them grow,
            # which the error estimate only shows when it is too late. Every other step measures it.
            if wait % 2:
                rate = _stiffness(field, work, y, g, 1e-4 * u, mode, point)
                stable = _DAMPED / rate if rate > 0.0 else np.inf
                used += 1
            near = min(near, stable)
    return passed
