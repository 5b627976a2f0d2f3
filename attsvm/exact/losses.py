"""Losses by name, their derivatives and their growth, as balls."""

from __future__ import annotations

from flint import arb, fmpq

from attsvm.errors import DataError
from attsvm.exact.numbers import Number

__all__ = ["logistic_slope", "loss_curvature", "loss_drop", "loss_slope", "loss_value"]


def _unknown(loss: str) -> DataError:
    return DataError("this loss has no exact form", value=loss, remedy="Use one of LOSSES.")


def loss_value(loss: str, u: Number) -> arb:
    """l(u).

    Raises:
        DataError: a loss without an exact form here.
    """
    x = arb(u)
    if loss == "logistic":
        return 1 / (1 + (-x).exp())
    if loss == "logistic-loss":
        return 1 / (1 + x.exp())
    if loss == "log-loss":
        return (-x).exp().log1p()
    if loss == "exponential":
        return (-x).exp()
    if loss == "correlation":
        return -x
    if loss == "squared":
        return (1 - x) * (1 - x)  # a power of a ball about 0 is no number
    raise _unknown(loss)


def logistic_slope(u: Number) -> arb:
    """g'(u) of the logistic function g, as 1 / (2 + e^u + e^-u), which falls with |u|."""
    x = arb(u)
    most, least = (1 / (2 + e + 1 / e) for e in (x.abs_lower().exp(), x.abs_upper().exp()))
    return most.union(least)


def loss_slope(loss: str, u: Number) -> arb:
    """l'(u).

    Raises:
        DataError: a loss without an exact form here.
    """
    x = arb(u)
    if loss == "logistic":
        return logistic_slope(x)
    if loss == "logistic-loss":
        return -logistic_slope(x)
    if loss == "log-loss":
        return -1 / (1 + x.exp())
    if loss == "exponential":
        return -(-x).exp()
    if loss == "correlation":
        return arb(-1)
    if loss == "squared":
        return 2 * (x - 1)
    raise _unknown(loss)


def loss_curvature(loss: str, u: Number) -> arb:
    """l''(u); g'' of the logistic function is -tanh(u/2) g'(u).

    Raises:
        DataError: a loss without an exact form here.
    """
    x = arb(u)
    if loss == "logistic":
        return -(x / 2).tanh() * logistic_slope(x)
    if loss == "logistic-loss":
        return (x / 2).tanh() * logistic_slope(x)
    if loss == "log-loss":
        return logistic_slope(x)
    if loss == "exponential":
        return (-x).exp()
    if loss == "correlation":
        return arb(0)
    if loss == "squared":
        return arb(2)
    raise _unknown(loss)


def loss_drop(loss: str, best: Number, deficit: Number) -> arb:
    """l(best - deficit) - l(best) without cancellation; exactly 0 where the deficit is 0.

    Raises:
        DataError: a loss without an exact form here.
    """
    if isinstance(deficit, fmpq) and deficit == 0:
        return arb(0)
    g, x = arb(best), arb(deficit)
    rise = x.expm1()  # e^deficit - 1
    if loss == "logistic":
        return -(rise * (-g).exp()) / ((1 + (x - g).exp()) * (1 + (-g).exp()))
    if loss == "logistic-loss":
        return (rise * (-g).exp()) / ((1 + (x - g).exp()) * (1 + (-g).exp()))
    if loss == "log-loss":
        return (rise * (-g).exp() / (1 + (-g).exp())).log1p()
    if loss == "exponential":
        return (-g).exp() * rise
    if loss == "correlation":
        return x
    if loss == "squared":
        return x * (2 * (1 - g) + x)
    raise _unknown(loss)
