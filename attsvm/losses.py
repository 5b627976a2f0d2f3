"""Losses of one real number, with derivatives, constants and a log-domain slope."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

import numpy as np

from attsvm._types import Array, Float, Numeric
from attsvm.errors import DataError

Vector: TypeAlias = 'Float[Array, "*b"]'


@dataclass(frozen=True, slots=True)
class Loss:
    """A loss l: R -> R applied to <softmax, scores>.

    Attributes:
        name: its name in files and on the command line.
        value: l.
        slope: l'.
        curvature: l''.
        log_slope: log |l'|, accurate even if l' itself underflows; -inf if l' = 0.
        drop: l(best - deficit) - l(best) for a deficit >= 0, without cancellation.
        direction: -1 if l decreases, 1 if it increases, 0 otherwise.
        lipschitz: sup |l'| over the reals (infinite if unbounded).
        smoothness: sup |l''| over the reals (infinite if unbounded).
    """

    name: str
    value: Callable[[Vector], Vector] = field(repr=False)
    slope: Callable[[Vector], Vector] = field(repr=False)
    curvature: Callable[[Vector], Vector] = field(repr=False)
    log_slope: Callable[[Vector], Vector] = field(repr=False)
    drop: Callable[[Vector, Vector], Vector] = field(repr=False)
    direction: int
    lipschitz: float
    smoothness: float


_N = TypeVar("_N", bound="Numeric")
"""A kind of numbers."""


def logistic(u: Vector) -> Vector:
    """Return the logistic function g(u) = 1 / (1 + exp(-u))."""
    e = np.exp(-np.abs(u))
    return np.where(u >= 0, 1.0, e) / (1.0 + e)


def slope_kernel(e: _N) -> _N:
    """Return g' as a function of e = exp(-|u|), for numbers and symbols alike."""
    return e / (1 + e) ** 2


def curvature_kernel(e: _N) -> _N:
    """Return |g''| as a function of e = exp(-|u|), for numbers and symbols alike."""
    return e * (1 - e) / (1 + e) ** 3


def curvature_constant(root: Callable[[int], _N]) -> _N:
    """Return 1/(6 sqrt 3) as a number of the kind that `root` returns."""
    return 1 / (6 * root(3))


def logistic_slope(u: Vector) -> Vector:
    """Return g'(u) = g(u) (1 - g(u)), at most 1/4, accurate in both tails."""
    slope: Array = slope_kernel(np.exp(-np.abs(u)))
    return slope


def logistic_curvature(u: Vector) -> Vector:
    """Return g''(u) = g'(u) (1 - 2 g(u)), of absolute value at most 1/(6 sqrt 3)."""
    curvature: Array = -np.sign(u) * curvature_kernel(np.exp(-np.abs(u)))
    return curvature


def log_logistic(u: Vector) -> Vector:
    """Return log g(u), accurate in both tails."""
    return -np.logaddexp(0.0, -u)


def _log(u: Vector) -> Vector:
    with np.errstate(divide="ignore"):  # -inf where a slope is 0
        result: Array = np.log(u)
    return result


def _logistic_drop(best: Vector, deficit: Vector) -> Vector:
    """Return g(best) - g(best - deficit) = g(best) g(deficit - best) (1 - exp(-deficit))."""
    drop: Array = logistic(best) * logistic(deficit - best) * -np.expm1(-deficit)
    return drop


def _log_drop(best: Vector, deficit: Vector) -> Vector:
    """Return the increase of log(1 + exp(-u)) when u falls from best to best - deficit."""
    rise = np.expm1(np.minimum(deficit, 30.0))
    near = np.log1p(logistic(-best) * rise)
    far = np.logaddexp(0.0, deficit - best) - np.logaddexp(0.0, -best)
    grown: Array = np.where(deficit <= 30.0, near, far)
    return grown


LOGISTIC_CURVATURE: float = curvature_constant(math.sqrt)
"""sup |g''|, the best Lipschitz constant of g'."""

LOGISTIC = Loss(
    "logistic",
    logistic,
    logistic_slope,
    logistic_curvature,
    lambda u: log_logistic(u) + log_logistic(-u),
    lambda best, deficit: -_logistic_drop(best, deficit),
    direction=1,
    lipschitz=0.25,
    smoothness=LOGISTIC_CURVATURE,
)
"""The logistic function itself, which increases."""

SIGMOID_LOSS = Loss(
    "logistic-loss",
    lambda u: logistic(-u),
    lambda u: -logistic_slope(u),
    lambda u: -logistic_curvature(u),
    LOGISTIC.log_slope,
    _logistic_drop,
    direction=-1,
    lipschitz=0.25,
    smoothness=LOGISTIC_CURVATURE,
)
"""The sigmoid loss 1/(1 + exp(u)), decreasing: the probability of the wrong class.

It is not the logistic loss log(1 + exp(-u)) of most texts, which is `LOG_LOSS`. Files and claims
name it `logistic-loss`.
"""

LOGISTIC_LOSS = SIGMOID_LOSS
"""An older name of `SIGMOID_LOSS`, which is 1/(1 + exp(u))."""

LOG_LOSS = Loss(
    "log-loss",
    lambda u: np.logaddexp(0.0, -u),
    lambda u: -logistic(-u),
    logistic_slope,
    lambda u: log_logistic(-u),
    _log_drop,
    direction=-1,
    lipschitz=1.0,
    smoothness=0.25,
)
"""The log loss log(1 + exp(-u)), which most texts also call logistic loss."""

EXPONENTIAL = Loss(
    "exponential",
    lambda u: np.exp(-u),
    lambda u: -np.exp(-u),
    lambda u: np.exp(-u),
    lambda u: -u,
    lambda best, deficit: np.exp(-best) * np.expm1(deficit),
    direction=-1,
    lipschitz=math.inf,
    smoothness=math.inf,
)
"""exp(-u)."""

CORRELATION = Loss(
    "correlation",
    lambda u: -u,
    lambda u: -np.ones_like(u),
    lambda u: np.zeros_like(u),
    lambda u: np.zeros_like(u),
    lambda best, deficit: deficit + 0.0 * best,
    direction=-1,
    lipschitz=1.0,
    smoothness=0.0,
)
"""-u: the negative of the score itself."""

SQUARED = Loss(
    "squared",
    lambda u: (1.0 - u) ** 2,
    lambda u: -2.0 * (1.0 - u),
    lambda u: 2.0 * np.ones_like(u),
    lambda u: _log(2.0 * np.abs(1.0 - u)),
    lambda best, deficit: deficit * (2.0 * (1.0 - best) + deficit),
    direction=0,
    lipschitz=math.inf,
    smoothness=2.0,
)
"""(1 - u)^2: decreasing only below 1."""

CUBIC = Loss(
    "cubic",
    lambda u: -u * u * u,
    lambda u: -3.0 * u * u,
    lambda u: -6.0 * u,
    lambda u: math.log(3.0) + 2.0 * _log(np.abs(u)),
    lambda best, deficit: deficit * ((2.0 * deficit - 3.0 * best) ** 2 + 3.0 * best**2) / 4.0,
    direction=-1,
    lipschitz=math.inf,
    smoothness=math.inf,
)
"""-u^3: decreasing, with slope 0 at 0; convex below 0 and concave above."""

LOSSES: dict[str, Loss] = {
    loss.name: loss
    for loss in (LOGISTIC, SIGMOID_LOSS, LOG_LOSS, EXPONENTIAL, CORRELATION, SQUARED, CUBIC)
}
"""All losses by name."""

_NAMES = {"sigmoid-loss": SIGMOID_LOSS.name}
"""Second names of losses."""


def ensure_loss(loss: object) -> Loss:
    """Return the loss, or the loss of that name.

    Raises:
        DataError: the argument is neither a loss nor the name of one.
    """
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str) and _NAMES.get(loss, loss) in LOSSES:
        return LOSSES[_NAMES.get(loss, loss)]
    raise DataError(
        "the loss is not known",
        value=loss if isinstance(loss, str) else type(loss).__name__,
        remedy=f"Use a Loss of attsvm.losses, or one of {', '.join(sorted({*LOSSES, *_NAMES}))}; "
        "log-loss is log(1 + exp(-u)), sigmoid-loss and logistic-loss are 1/(1 + exp(u)).",
    )
