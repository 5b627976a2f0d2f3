"""Figures of a point, computed from the point alone: residuals, bounds and angles."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from attsvm._types import Array, Float
from attsvm.errors import DataError
from attsvm.paths.drops import log_drop
from attsvm.paths.objective import GapObjective

SPHERE = 1e-9
"""Relative tolerance within which a norm counts as equal to the radius."""

AGREE = 1e-9
"""Tolerance for equal values of log(L - L_*), relative to their absolute value if that is above
1."""


_ROUNDS, _POINTS = 10, 65
"""Number of rounds of a search in an interval, and number of points that are compared in each."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """The result of one start.

    Attributes:
        start: name of the start; "NAME, followed" is the result of NAME at the previous radius.
        value: log(L - L_*) at the result; log L on the joint path.
        residual: first-order residual at the result.
        local: log(L - L_sel), where L_sel is the risk if the attended tokens get all attention;
            NaN if L <= L_sel.
    """

    start: str
    value: float
    residual: float
    local: float

    def agrees(self, value: float) -> bool:
        """Return whether `self.value` equals `value` up to `AGREE`."""
        return abs(self.value - value) <= AGREE * max(1.0, abs(value))


def ensure_radii(name: str, radii: object) -> list[float]:
    """Return the radii as floats.

    Raises:
        DataError: there are none, or they are not finite, negative, or not increasing.
    """
    try:
        values = [float(R) for R in radii]  # type: ignore[attr-defined]
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must be numbers", value=radii, remedy="Give a list.") from error
    if not values:
        raise DataError(f"{name} is empty", remedy="Give at least one radius.")
    for R in values:
        if not (math.isfinite(R) and R >= 0.0):
            raise DataError(f"{name} must be finite and at least 0", value=R)
    if any(b <= a for a, b in itertools.pairwise(values)):
        raise DataError(f"{name} must increase", value=values, remedy="Sort them, each once.")
    return values


def on_sphere(y: Array, radius: float) -> bool:
    """Return whether the constraint ||y|| <= radius is active."""
    return float(np.linalg.norm(y)) >= radius * (1.0 - SPHERE)


def angle_between(a: Array, b: Array) -> float:
    """Return the angle of two arrays, accurate even if tiny; NaN if one is zero."""
    sizes = float(np.linalg.norm(a)), float(np.linalg.norm(b))
    if not (sizes[0] > 0.0 and sizes[1] > 0.0):
        return math.nan
    u, v = a / sizes[0], b / sizes[1]
    return 2.0 * math.atan2(float(np.linalg.norm(u - v)), float(np.linalg.norm(u + v)))


def stationarity(y: Array, negative_gradient: Array, radius: float, unit: float = 1.0) -> float:
    """Return the first-order residual of min F over ||y|| <= radius, from -grad F up to a factor.

    On the sphere -grad F must be a nonnegative multiple of y: the residual is twice the sine of
    half their angle, and 2 if only the multiplier's sign is wrong. Inside, grad F must vanish: the
    residual is the norm of -grad F divided by `unit`. With the matrix
    of `normalised_gradient`, the residual is therefore relative to the largest term, so that a
    plateau does not count as a minimiser. The residual is 0 for the ball of radius 0, and if grad F
    is exactly zero.
    """
    size = float(np.linalg.norm(negative_gradient))
    if radius == 0.0 or size == 0.0:
        return 0.0
    if on_sphere(y, radius):
        return 2.0 * math.sin(0.5 * angle_between(negative_gradient, y))
    return size / unit


def _is_bounded(objective: GapObjective) -> bool:
    """Return whether optimal tokens are unique and |l'| has no minimum inside an interval.

    `lower_bound` needs both: |l'| is then least at one of the ends of any interval.
    """
    known = objective.loss.name in ("log-loss", "logistic-loss", "exponential", "correlation")
    others = objective.present.sum(axis=1) - (objective.delta > 0.0).sum(axis=1)
    return known and bool((others == 1).all())


def lower_bound(
    objective: GapObjective,
    D: Float[Array, "m d"],
    Z: Float[Array, "m e"],
    margins: Float[Array, " m"],
    radius: float,
    *,
    nuclear: bool = False,
) -> float:
    """Return a lower bound of log(L(W) - L_*) for every W of norm at most `radius`, up to rounding.

    Let E_i = sum_t e^-m_it and eps > 0. First suppose that all E_i <= eps. Then drop_i(D_i) >= b_i
    D_i, where b_i is the least |l'| at deficits up to that of eps. Moreover D_i >= sum_t delta_it
    e^-m_it / (1 + eps). By weak duality, for every p of sum one and W of norm at most R,

      log sum_j c_j e^-m_j >= sum_j p_j (log c_j - log p_j) - R ||sum_j p_j A_j||_dual.

    p is computed from `margins`; the bound is tight at a minimiser. Now suppose that some E_i >
    eps. Then D_i >= min_t delta_it eps / (1 + eps). The bound is the smaller of the two, for the
    eps at which they are equal. It is minus infinity if optimal tokens are tied, or if the loss is
    not the log-loss, the logistic loss, the exponential or the correlation.
    """
    if not _is_bounded(objective):
        return -math.inf
    delta = objective.delta[objective.input, objective.token]
    best, order = objective.best, objective.order
    least = np.where(objective.delta > 0.0, objective.delta, np.inf).min(axis=1)
    most = objective.delta.max(axis=1)
    log_c = np.log(delta) + objective.loss.log_slope(best)[objective.input]
    log_p = log_c - margins
    log_p = log_p - log_p.max()
    log_p = log_p - math.log(float(np.exp(log_p).sum()))
    p = np.exp(log_p)
    combined = (D * p[:, None]).T @ Z
    size = np.linalg.norm(combined, 2) if nuclear else np.linalg.norm(combined)
    fixed = float(p @ (np.log(delta) - log_p)) - radius * float(size)

    log_least, end = np.log(least), objective.loss.log_slope(best)

    def both(x: Array) -> tuple[Array, Array]:
        part = (x - np.logaddexp(0.0, x))[:, None]
        second = log_drop(objective.loss, best, log_least + part, order).min(axis=1)
        other = objective.loss.log_slope(best - most * np.exp(part))
        slopes = np.minimum(end, other)[:, objective.input]
        return fixed + slopes @ p - np.logaddexp(0.0, x), second

    low, high = -2.0 * abs(fixed) - 200.0, 50.0
    for _ in range(_ROUNDS):
        eps = np.linspace(low, high, _POINTS)
        first, second = both(eps)
        k = max(int(np.count_nonzero(second < first)), 1)  # the second rises, the first falls
        low, high = float(eps[k - 1]), float(eps[min(k, _POINTS - 1)])
    return float(np.minimum(*both(np.array([low, high]))).max()) - math.log(objective.count)
