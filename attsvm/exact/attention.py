"""Softmax attention, the risk and its gradient as balls; no code is shared with the float side."""

from typing import Any

from flint import arb, arb_mat, fmpq

from attsvm.exact.losses import loss_drop, loss_slope
from attsvm.exact.numbers import ExactData, Matrix, Number, Vector, dot


def softmax(scores: Vector) -> list[arb]:
    """Return the softmax of a vector; a single entry gives exactly 1."""
    if len(scores) == 1:
        return [arb(1)]
    top = max(scores, key=lambda score: arb(score).mid())
    powers = [arb(score - top).exp() for score in scores]
    total = sum(powers, arb(0))
    return [power / total for power in powers]


def logits(tokens: Matrix, W: Matrix, z: Vector) -> Vector:
    """Return the logits x_t^T W z of one input."""
    projected = [dot(row, z) for row in W]
    return [dot(x, projected) for x in tokens]


def deficit(data: ExactData, i: int, s: list[arb]) -> Number:
    """Return sum_t s_t (gamma_opt - gamma_t); exactly 0 if all scores of the input are equal."""
    best = max(data.gamma[i])
    total: Any = fmpq(0)
    for weight, g in zip(s, data.gamma[i], strict=True):
        if g != best:
            total = total + weight * (best - g)
    return total


def risk_gap(data: ExactData, W: Matrix, loss: str) -> arb:
    """Return L(W) - L_*, where L_* is the risk of optimal tokens; 0 if all tokens are optimal."""
    total = arb(0)
    for i, tokens in enumerate(data.X):
        s = softmax(logits(tokens, W, data.Z[i]))
        total += loss_drop(loss, max(data.gamma[i]), deficit(data, i, s))
    return total / len(data.X)


def gradient(data: ExactData, W: Matrix, loss: str) -> Matrix:
    """Return the gradient of L(W) (d, e): sum_i l'(u_i)/n sum_t s_t (gamma_t - u_i) x_t z^T."""
    balls, total = arb_mat(W), arb_mat(len(W), len(data.Z[0]))
    for i, (tokens, z, gamma) in enumerate(zip(data.X, data.Z, data.gamma, strict=True)):
        X, query = arb_mat(tokens), arb_mat([z])
        s, best = softmax((X * (balls * query.transpose())).entries()), max(gamma)
        missing = deficit(data, i, s)
        slope = loss_slope(loss, arb(best) - missing) / len(data.X)
        weights = [slope * w * (missing - (best - g)) for w, g in zip(s, gamma, strict=True)]
        total += (arb_mat([weights]) * X).transpose() * query
    result: Matrix = total.tolist()
    return result
