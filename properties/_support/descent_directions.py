"""The direction of descent at a matrix as a formula: few pulls along rational matrices.

With A_it = (x_opt - x_t) z_i^T, s_i the attention of input i and u_i = <s_i, gamma_i>,

    -grad L(W) = sum_it c_it A_it,   c_it = -l'(u_i) s_it (u_i - gamma_it) / n.

The c_it of an input sum to 0, so that -c_i,opt = |l'| s_opt sum_t s_t (gamma_opt - gamma_t) / n for
a decreasing loss is also the sum of the others. The first optimal token counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flint import fmpq

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.exact import ExactData, rationals
from attsvm.exact.attention import logits
from attsvm.exact.numbers import Vector, combine, dot, subtract

__all__ = ["Push", "descent_direction", "gained", "pushes"]

SLOPES = {
    "logistic": lambda m, u: m.logistic_slope(u),
    "logistic-loss": lambda m, u: -m.logistic_slope(u),
}
"""l'(u) of losses by name."""


@dataclass(frozen=True, slots=True)
class Push:
    """A part of -grad L, factor times sum_j weight_j A_j.

    Attributes:
        factor: a number of one arithmetic that all weights share.
        matrix: sum_j weight_j A_j, row by row, in rationals.
        toward: sum_j weight_j, so that the sum over all parts of factor * toward is the sum of
            c_it over all t but the optimal one, -sum_i c_i,opt.
    """

    factor: Any
    matrix: Vector
    toward: fmpq


def pushes(m: Any, data: AttentionData, W: Array, loss: str) -> list[Push]:
    """-grad L at W as a sum of few parts, pulls of one value taken together.

    Pulls whose exact values are seen to agree share a factor: those of tokens that are alike, in
    inputs that are alike, and, where all logits of an input are equal, rational multiples of
    l'(mean score). So what cancels for such a reason cancels exactly, also in balls.
    """
    exact, start = ExactData.of(data), rationals(W)
    found: dict[Any, Push] = {}
    for tokens, z, gamma, tied in zip(exact.X, exact.Z, exact.gamma, exact.optimal, strict=True):
        if len(set(gamma)) == 1:
            continue
        best, values = tied[0], logits(tokens, start, z)
        alike = [(a - values[best], g) for a, g in zip(values, gamma, strict=True)]
        for t, x in enumerate(tokens):
            if t == best:
                continue
            A = [a * b for a in subtract(tokens[best], x) for b in z]
            if len(set(values)) == 1:
                mean = sum(gamma, fmpq(0)) / len(gamma)
                key, weight = mean, (mean - gamma[t]) / (len(gamma) * data.n)
            else:
                key, weight = (tuple(sorted(alike)), alike[t]), fmpq(1, data.n)
            before = found.get(key)
            if before is None:
                before = Push(_factor(m, values, gamma, t, loss), [fmpq(0)] * len(A), fmpq(0))
            matrix = combine([fmpq(1), weight], [before.matrix, A])
            found[key] = Push(before.factor, matrix, before.toward + weight)
    return list(found.values())


def _factor(m: Any, values: Vector, gamma: Vector, t: int, loss: str) -> Any:
    """-l'(u), times s_t (u - gamma_t) where logits differ."""
    s = m.softmax(m.values(values))
    slope = -SLOPES[loss](m, s @ m.values(gamma))
    if len(set(values)) == 1:
        return slope
    return slope * s[t] * (s @ m.values([g - gamma[t] for g in gamma]))


def gained(m: Any, parts: list[Push], direction: Vector) -> Any:
    """<-grad L, direction>, of a direction in rationals."""
    total = m.exact(0)
    for part in parts:
        total = total + part.factor * m.values(dot(part.matrix, direction))
    return total


def descent_direction(m: Any, data: AttentionData, W: Array, loss: str) -> Any:
    """-grad L at W, row by row."""
    total = m.values([0] * data.d**2)
    for part in pushes(m, data, W, loss):
        total = total + part.factor * m.values(part.matrix)
    return total
