"""One entry of two other losses than g at two points: log(1 + exp(-b m)) and (m - b)^2.

m = <softmax(A x), h> throughout; the losses go by their names in `attsvm.losses`.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from flint import arb, arb_series

from attsvm._types import Array
from attsvm.attention import softmax
from attsvm.exact import norm
from attsvm.exact.numbers import Vector, dot, subtract
from attsvm.losses import LOG_LOSS
from attsvm.risk import covariance
from properties.sim.basics import softmax_rounding
from properties.sim.entries import EntryPair, ExactPair, exact_pair

__all__ = ["Name", "exact_outer_change", "outer_change", "reach"]

Name = Literal["log-loss", "squared"]


def reach(case: EntryPair) -> float:
    """Max |h - b|."""
    return float(np.abs(case.h - case.b).max())


def outer_change(case: EntryPair, loss: Name) -> tuple[float, float]:
    """||grad L(x) - grad L(y)|| and a bound on its rounding error.

    With s the relative error of softmax as in `softmax_rounding`, m is off by s max |h| and the
    covariance by 3 s max |h|, of size 2 max |h| at most; the slope of the log-loss by
    s |b| (1 + |b| max |h|), of size |b|, that of the square by 2 s (max |h| + |b|), of that size.
    """
    left, right = (_gradient(case, x, loss) for x in (case.x, case.y))
    s = softmax_rounding(case.A, case.x, case.y)
    size, b = float(np.abs(case.h).max()), abs(case.b)
    if loss == "log-loss":
        each = s * size * b * (5.0 + 2.0 * b * size)
    else:
        each = s * size * 10.0 * (size + b)
    error = each * 2 * math.sqrt(case.x.size) * float(np.abs(case.A).sum()) + 1e-300
    return math.hypot(*(left - right).tolist()), error


def _gradient(case: EntryPair, x: Array, loss: Name) -> Array:
    f = softmax(case.A @ x)
    m = float(f @ case.h)
    if loss == "squared":
        slope = 2.0 * (m - case.b)
    else:
        slope = case.b * float(LOG_LOSS.slope(np.array([case.b * m]))[0])
    gradient: Array = case.A.T @ (slope * covariance(f, case.h))
    return gradient


def exact_outer_change(case: EntryPair, loss: Name) -> arb:
    """The same change as a ball: the first coefficients of power series along each axis."""
    e = exact_pair(case)
    if len(set(e.moved)) == 1 or len(set(e.h)) == 1 or (loss == "log-loss" and e.b == 0):
        return arb(0)
    return norm(subtract(_exact_gradient(e, e.x, loss), _exact_gradient(e, e.y, loss)))


def _exact_gradient(e: ExactPair, x: Vector, loss: Name) -> list[arb]:
    gradient = []
    start = [dot(row, x) for row in e.A]
    top = max(start)
    for j in range(len(x)):
        powers = [
            arb_series([arb(a - top), arb(row[j])], 2).exp()
            for a, row in zip(start, e.A, strict=True)
        ]
        total, weighted = powers[0] * 0, powers[0] * 0
        for power, h in zip(powers, e.h, strict=True):
            total, weighted = total + power, weighted + power * arb(h)
        mean = weighted / total
        if loss == "squared":
            value = (mean - arb(e.b)) ** 2
        else:
            value = 1 + (-mean * arb(e.b)).exp()
            # a ball too wide for the logarithm: undecided at this precision
            value = value.log() if value[0] > 0 else arb_series([arb("nan"), arb("nan")], 2)
        gradient.append(value[1])
    return gradient
