"""Softmax attention, the risk and one entry of sim's loss as balls, apart from the float code."""

from __future__ import annotations

from typing import Any

from flint import arb, arb_series, fmpq

from attsvm.exact.losses import loss_drop, loss_slope, loss_value
from attsvm.exact.numbers import ExactData, Matrix, Number, Vector, dot

__all__ = [
    "deficit",
    "entry_gradient",
    "entry_loss",
    "logits",
    "loss_drop",
    "loss_slope",
    "risk",
    "risk_gap",
    "softmax",
]


def softmax(scores: Vector) -> list[arb]:
    """Softmax of a vector; one entry gives exactly 1."""
    if len(scores) == 1:
        return [arb(1)]
    top = scores[0]
    for score in scores[1:]:
        top = score if _mid(score) > _mid(top) else top
    powers = [arb(score - top).exp() for score in scores]
    total = sum(powers, arb(0))
    return [power / total for power in powers]


def _mid(value: Number) -> arb:
    return arb(value).mid()


def logits(tokens: Matrix, W: Matrix, z: Vector) -> Vector:
    """Logits x_t^T W z of one input."""
    projected = [dot(row, z) for row in W]
    return [dot(x, projected) for x in tokens]


def deficit(data: ExactData, i: int, s: list[arb]) -> Number:
    """sum_t s_t (gamma_opt - gamma_t); exactly 0 where all scores of the input are equal."""
    best = max(data.gamma[i])
    total: Any = fmpq(0)
    for weight, g in zip(s, data.gamma[i], strict=True):
        if g != best:
            total = total + weight * (best - g)
    return total


def risk(data: ExactData, W: Matrix, loss: str) -> arb:
    """L(W), the mean loss of <softmax(X_i W z_i), gamma_i> (tf, W-ERM)."""
    total = arb(0)
    for tokens, z, gamma in zip(data.X, data.Z, data.gamma, strict=True):
        total += loss_value(loss, dot(softmax(logits(tokens, W, z)), gamma))
    return total / len(data.X)


def risk_gap(data: ExactData, W: Matrix, loss: str) -> arb:
    """L(W) - L_*, exactly 0 where every input has only optimal tokens."""
    total = arb(0)
    for i, tokens in enumerate(data.X):
        s = softmax(logits(tokens, W, data.Z[i]))
        total += loss_drop(loss, max(data.gamma[i]), deficit(data, i, s))
    return total / len(data.X)


def entry_loss(A: Matrix, x: Vector, h: Vector, b: Number) -> arb:
    """g(b <softmax(A x), h>), one entry of the loss of sim's definition 3.6."""
    s = softmax([dot(row, x) for row in A])
    u = arb(b) * dot(s, h)
    value: arb = 1 / (1 + (-u).exp())
    return value


def entry_gradient(A: Matrix, x: Vector, h: Vector, b: Number) -> list[arb]:
    """Gradient of `entry_loss` in x by power series: the first coefficient along each axis.

    No formula for the gradient is used, so it can judge one.
    """
    gradient = []
    start = [dot(row, x) for row in A]
    top = max((_mid(value) for value in start), default=arb(0))
    for j in range(len(x)):
        powers = [
            arb_series([arb(value) - top, arb(row[j])], 2).exp()
            for value, row in zip(start, A, strict=True)
        ]
        total, weighted = powers[0] * 0, powers[0] * 0
        for power, value in zip(powers, h, strict=True):
            total = total + power
            weighted = weighted + power * arb(value)
        u = weighted / total * arb(b)
        denominator = 1 + (-u).exp()
        # a ball of u too wide to divide by: undecided at this precision
        wide = not denominator[0] > 0
        gradient.append(arb("nan") if wide else (1 / denominator)[1])
    return gradient
