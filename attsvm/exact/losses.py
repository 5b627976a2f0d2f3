"""First and second derivatives of losses, and differences of their values, as balls."""

from collections.abc import Callable

from flint import arb, fmpq

from attsvm.errors import DataError
from attsvm.exact.numbers import Number


def logistic_slope(u: Number) -> arb:
    """Return g'(u) = 1 / (2 + e^u + e^-u) of the logistic function g.

    It decreases in |u|, so values at both ends of |u| enclose it.
    """
    x = arb(u)
    most, least = (1 / (2 + e + 1 / e) for e in (x.abs_lower().exp(), x.abs_upper().exp()))
    return most.union(least)


def _logistic_curvature(u: arb) -> arb:
    """Return g''(u), as -g'(u) tanh(u/2)."""
    return -logistic_slope(u) * (u / 2).tanh()


def _logistic_drop(g: arb, x: arb) -> arb:
    return x.expm1() * (-g).exp() / ((1 + (x - g).exp()) * (1 + (-g).exp()))


_FORMULAS: dict[str, tuple[Callable[..., arb], ...]] = {
    "logistic": (
        logistic_slope,
        lambda g, x: -_logistic_drop(g, x),
        _logistic_curvature,
    ),
    "logistic-loss": (
        lambda x: -logistic_slope(x),
        _logistic_drop,
        lambda x: -_logistic_curvature(x),
    ),
    "log-loss": (
        lambda x: -1 / (1 + x.exp()),
        lambda g, x: (x.expm1() * (-g).exp() / (1 + (-g).exp())).log1p(),
        logistic_slope,
    ),
    "exponential": (
        lambda x: -(-x).exp(),
        lambda g, x: (-g).exp() * x.expm1(),
        lambda x: (-x).exp(),
    ),
    "correlation": (lambda x: arb(-1), lambda g, x: x, lambda x: arb(0)),
    "squared": (
        lambda x: 2 * (x - 1),
        lambda g, x: x * (2 * (1 - g) + x),
        lambda x: arb(2),
    ),
    "cubic": (
        lambda x: -3 * x * x,
        lambda g, x: x * ((2 * x - 3 * g) * (2 * x - 3 * g) + 3 * g * g) / 4,
        lambda x: -6 * x,
    ),
}
"""By loss: l'(x), l(g - x) - l(g) without cancellation, and l''(x)."""


def _formula(loss: str, place: int) -> Callable[..., arb]:
    if loss not in _FORMULAS:
        raise DataError("this loss has no exact form", value=loss, remedy="Use one of LOSSES.")
    return _FORMULAS[loss][place]


def loss_slope(loss: str, u: Number) -> arb:
    """Return l'(u).

    Raises:
        DataError: the loss has no exact form here.
    """
    return _formula(loss, 0)(arb(u))


def loss_curvature(loss: str, u: Number) -> arb:
    """Return l''(u).

    Raises:
        DataError: the loss has no exact form here.
    """
    return _formula(loss, 2)(arb(u))


def loss_drop(loss: str, best: Number, deficit: Number) -> arb:
    """Return l(best - deficit) - l(best) without cancellation; exactly 0 if the deficit is 0."""
    if isinstance(deficit, fmpq) and deficit == 0:
        return arb(0)
    return _formula(loss, 1)(arb(best), arb(deficit))
