"""Damped Newton steps on a Euclidean ball, for functions that are smooth and not convex."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from attsvm._types import Array, Float
from attsvm.paths.objective import Jet


def minimise_on_ball(
    jet: Callable[[Array], Jet],
    value: Callable[[Array], float],
    start: Float[Array, " k"],
    radius: float,
    tolerance: float = 1e-13,
    steps: int = 400,
) -> Float[Array, " k"]:
    """Return a point of {||y|| <= radius} from which no damped Newton step descends.

    On the sphere, gradient and Hessian are those of the Lagrangian on the tangent space. If -grad
    points inward, the point leaves the sphere. A value of -inf ends the search. Nothing about the
    result is guaranteed: the caller computes its residual.

    Args:
        jet: returns the function with gradient and Hessian.
        value: returns the function alone.
        start: the start; it is scaled onto the ball if it lies outside.
        radius: radius of the ball.
        tolerance: relative size of the gradient at which the search ends.
        steps: maximum number of steps.
    """
    y = start * (radius / size if (size := _length(start)) > radius else 1.0)
    result, damping = jet(y), 1e-3
    for _ in range(steps):
        unit = y / radius
        g, radial = result.gradient, float(result.gradient @ unit)
        outer = _length(y) >= radius * (1.0 - 1e-12) and radial <= 0.0
        H = result.hessian
        if outer:
            # With the multiplier m = -radial / radius >= 0, the Lagrangian has the Hessian H + m I.
            # Project it on the tangent space, and give the direction of y the curvature 1: the
            # matrix then stays definite in that direction, and steps stay tangent.
            g = g - radial * unit
            Hu = H @ unit
            across = unit[:, None] * Hu
            H = H - across - across.T
            H = H + (float(unit @ Hu) + 1.0 + radial / radius) * (unit[:, None] * unit)
            np.einsum("kk->k", H)[:] -= radial / radius
        size = _length(g)
        if not size > tolerance * max(-radial, 0.0 if outer else 1.0 / radius):
            break
        scale = max(float(np.abs(np.diag(H)).max()), size / radius, -radial / radius, 1e-300)
        moved = False
        while damping < 1e12:
            step = _solve(H, damping * scale, g)
            if step is not None:
                trial = y + step
                length = _length(trial)
                if outer or length > radius:
                    trial = trial * (radius / length)
                change = value(trial) - result.value
                predicted = float(g @ step + 0.5 * step @ (H @ step))
                # Near a minimum, values no longer resolve the predicted decrease: accept the step.
                noise = 1e-14 * (1.0 + abs(result.value))
                if change < 0.0 or (abs(predicted) <= noise and change <= 4.0 * noise):
                    moved = True
                    break
            damping = max(damping * 8.0, 1e-12)
        if not moved or change == -math.inf:
            y = trial if moved else y
            break
        # Beyond the resolution of values, continue as long as steps halve the gradient.
        after = jet(trial)
        if -predicted <= noise and not _tangent(after, trial, radius, outer) < 0.5 * size:
            if change < 0.0:
                y = trial
            break
        if change <= 0.5 * predicted:
            damping = damping / 16.0 if damping > 1e-15 else 0.0
        y, result = trial, after
    return y


def _tangent(jet: Jet, y: Array, radius: float, outer: bool) -> float:
    g = jet.gradient
    if outer:
        unit = y / radius
        g = g - float(g @ unit) * unit
    return _length(g)


def _length(x: Array) -> float:
    return math.sqrt(x @ x)


def _solve(H: Array, shift: float, g: Array) -> Array | None:
    from scipy.linalg.lapack import dposv

    shifted = H.copy()
    shifted.reshape(-1)[:: len(H) + 1] += shift
    _, step, failed = dposv(shifted, -g, lower=1)
    if failed or not np.abs(step).max() < 1e100:  # no curvature
        return None
    result: Array = step
    return result
