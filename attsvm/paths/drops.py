"""The increase of a loss when its argument falls below the best score, with derivatives.

It is drop(D) = l(best - D) - l(best). All functions take log D, so that deficits of size exp(-1e4)
and best scores of 1e4 lose no accuracy.
"""

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from attsvm._types import Array, Float
from attsvm.errors import DataError
from attsvm.losses import (
    CORRELATION,
    EXPONENTIAL,
    LOG_LOSS,
    LOGISTIC_LOSS,
    Loss,
    log_logistic,
    logistic,
    logistic_slope,
)

_TINY = -60.0 * math.log(10.0)
_SMALL = 1e-10

Vector: TypeAlias = 'Float[Array, "*#b n"]'


def ensure_decreasing(loss: object) -> Loss:
    """Return the loss if it decreases.

    Raises:
        DataError: the argument is not a loss, or the loss does not decrease everywhere.
    """
    if not isinstance(loss, Loss):
        raise DataError("loss must be a Loss", value=loss, remedy="Use one of attsvm.losses.")
    if loss.direction >= 0:
        raise DataError(
            "the optimal tokens minimise the risk of a decreasing loss alone",
            value=loss.name,
            remedy="Use log-loss, logistic-loss, exponential or correlation.",
        )
    return loss


def _log_expm1(x: Vector) -> Vector:
    """Return log(e^D - 1) for D = e^x."""
    D = np.exp(np.minimum(x, 700.0))
    middle = np.log(np.expm1(np.minimum(np.maximum(D, _SMALL), 30.0)))
    grown: Array = np.where(D < _SMALL, x + D / 2.0, np.where(D > 30.0, D, middle))
    return grown


def _log_of_log_loss(best: Vector, x: Vector) -> Vector:
    """Return log log(1 + e^t) with e^t = g(-best) (e^D - 1)."""
    t = log_logistic(-best) + _log_expm1(x)
    grown: Array = np.where(t < -36.0, t, np.log(np.logaddexp(0.0, np.maximum(t, -36.0))))
    return grown


def _log_of_logistic_loss(best: Vector, x: Vector) -> Vector:
    D = np.exp(np.minimum(x, 700.0))
    fall = np.where(D < _SMALL, x - D / 2.0, np.log(-np.expm1(-np.maximum(D, _SMALL))))
    grown: Array = log_logistic(best) + log_logistic(D - best) + fall
    return grown


_KNOWN: dict[str, tuple[Loss, Callable[[Vector, Vector], Vector], Callable[[Vector], Vector]]] = {
    "log-loss": (LOG_LOSS, _log_of_log_loss, logistic),
    "logistic-loss": (LOGISTIC_LOSS, _log_of_logistic_loss, lambda u: np.tanh(u / 2.0)),
    "exponential": (EXPONENTIAL, lambda best, x: _log_expm1(x) - best, np.ones_like),
    "correlation": (CORRELATION, lambda best, x: x + 0.0 * best, np.zeros_like),
}
"""By name, a loss of this package with functions log drop(best, log D) and l'' / |l'|(u)."""


def orders(loss: Loss, best: Vector) -> Vector:
    """Return the power of D with which drop(D) vanishes; it is 1 if l' < 0."""
    if _is_known(loss):
        return np.ones_like(best)
    small = [np.log(loss.drop(best, np.full_like(best, 10.0**e))) for e in (-60, -63)]
    order: Array = (small[0] - small[1]) / (3.0 * math.log(10.0))
    return order


def log_drop(loss: Loss, best: Vector, x: Vector, order: Vector) -> Vector:
    """Return log drop at D = e^x.

    Losses outside this package are extrapolated below 1e-60 by the power `order`.
    """
    if _is_known(loss):
        return _KNOWN[loss.name][1](best, x)
    near = np.maximum(x, _TINY)
    with np.errstate(divide="ignore", invalid="ignore"):
        value: Array = np.log(loss.drop(best, np.exp(near))) + order * (x - near)
    return value


def log_drop_jet(
    loss: Loss, best: Vector, x: Vector, order: Vector
) -> tuple[Vector, Vector, Vector]:
    """Return log drop at D = e^x, its derivative in x, and D drop'' / drop'; see `log_drop`."""
    value = log_drop(loss, best, x, order)
    if _is_known(loss):
        D = np.exp(np.minimum(x, 700.0))
        u = best - D
        return value, np.exp(x + loss.log_slope(u) - value), D * curvature_ratio(loss, u)
    near = np.maximum(x, _TINY)
    D = np.exp(near)
    u = best - D
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.exp(near + loss.log_slope(u) - np.log(loss.drop(best, D)))
        bend = D * curvature_ratio(loss, u)
    tiny = x < _TINY
    return value, np.where(tiny, order, rate), np.where(tiny, order - 1.0, bend)


def curvature_ratio(loss: Loss, u: Vector) -> Vector:
    """Return the ratio l'' / |l'|; 0 if both underflow for a loss that is not of this package."""
    if _is_known(loss):
        return _KNOWN[loss.name][2](u)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(loss.curvature(u) / -loss.slope(u), posinf=0.0, neginf=0.0)


def _is_known(loss: Loss) -> bool:
    return loss.name in _KNOWN and _KNOWN[loss.name][0] is loss


def _log_log_loss(u: Array) -> tuple[Array, Array, Array]:
    """Return log log(1 + e^-u) with two derivatives."""
    far = u > 30.0
    near = np.where(far, 30.0, u)
    value = np.logaddexp(0.0, -near)
    slope = -logistic(-near) / value
    curved = logistic_slope(near) / value - slope**2
    tail = np.exp(-np.maximum(u, 30.0)) / 2.0
    return (
        np.where(far, -u - tail, np.log(value)),
        np.where(far, tail - 1.0, slope),
        np.where(far, -tail, curved),
    )


def _log_exponential(u: Array) -> tuple[Array, Array, Array]:
    return -u, -np.ones_like(u), np.zeros_like(u)


def _log_logistic_loss(u: Array) -> tuple[Array, Array, Array]:
    return -np.logaddexp(0.0, u), -logistic(u), -logistic_slope(u)


LOG_VALUES: dict[str, tuple[Loss, Callable[[Array], tuple[Array, Array, Array]]]] = {
    "log-loss": (LOG_LOSS, _log_log_loss),
    "exponential": (EXPONENTIAL, _log_exponential),
    "logistic-loss": (LOGISTIC_LOSS, _log_logistic_loss),
}
"""By name, losses of infimum 0 with a function for log l and its first two derivatives."""
