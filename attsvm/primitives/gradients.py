"""The gradient of the risk as a primitive of formulas, in any arithmetic.

With the attention s_i of input i, u_i = <s_i, gamma_i> and A_it = (x_opt - x_t) z_i^T for the first
optimal token,

  -grad L(W) = sum_it c_it A_it,   c_it = -l'(u_i) s_it (u_i - gamma_it) / n.

The c_it of an input sum to 0. Hence the sum over the other tokens is -c_i,opt = -l'(u_i) s_opt
sum_t s_t (gamma_opt - gamma_t) / n. A step along -grad L gains this amount in the direction of any
matrix under which all rivals have margin 1.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq

from attsvm._types import Array
from attsvm.attention import log_softmax, logits_of_w
from attsvm.data import AttentionData
from attsvm.exact import ExactData, dot, rationals
from attsvm.exact.attention import logits
from attsvm.exact.numbers import Vector, combine, subtract
from attsvm.losses import LOSSES as FLOAT_LOSSES
from attsvm.primitives.losses import LOSSES
from attsvm.theory import gradient
from attsvm.theory.types import Namespace, Number, Numbers


@dataclass(frozen=True, slots=True)
class Part:
    """A part of -grad L, factor times sum_j weight_j A_j.

    Attributes:
        factor: a number of one arithmetic, shared by all weights.
        matrix: sum_j weight_j A_j, row by row, in rationals.
        toward: sum_j weight_j.
    """

    factor: Number
    matrix: Vector
    toward: fmpq


@dataclass(frozen=True, slots=True)
class NegativeGradient:
    """-grad L at one matrix.

    Attributes:
        matrix: -grad L.
        toward: -sum_i c_i,opt.
        parts: the parts whose sums are `matrix` and `toward`; empty in text.
    """

    matrix: Numbers
    toward: Number
    parts: tuple[Part, ...] = ()

    def along(self, m: Namespace, direction: Any) -> Number:
        """Return <-grad L, direction> for a direction in rationals, row by row."""
        if m.name == "text":
            return m.dot(self.matrix, m.values(direction))
        return _sum(m, self.parts, lambda part: dot(part.matrix, direction))


def negative_gradient(m: Namespace, data: Any, W: Any, loss: str) -> NegativeGradient:
    """Return -grad L(W) of a named loss; W is a field of a record.

    Coefficients with equal exact values share a factor: those of equal tokens, of equal inputs and,
    if all logits of an input are equal, rational multiples of l'(mean score). Terms that cancel for
    one of these reasons therefore cancel exactly, also in balls.
    """
    if m.name == "text":
        slope = m.symbol(r"\nabla L", "the gradient of the risk at that matrix")
        text = "the sum of -l'(u_i) s_opt s_t (gamma_opt - gamma_t) / n over all inputs and tokens"
        return NegativeGradient(-slope, m.symbol("D", text))
    parts = _parts(m, data, W, loss)
    matrix = m.values([[0] * data.d] * data.d)
    for part in parts:
        rows = [part.matrix[k : k + data.d] for k in range(0, data.d**2, data.d)]
        matrix = matrix + part.factor * m.values(rows)
    return NegativeGradient(matrix, _sum(m, parts, lambda part: part.toward), parts)


def _parts(m: Namespace, data: AttentionData, W: Array, loss: str) -> tuple[Part, ...]:
    exact, start = ExactData.of(data), rationals(W)
    constant = loss == "correlation"  # l' is the same everywhere
    results: dict[object, Part] = {}
    for tokens, z, gamma, tied in zip(exact.X, exact.Z, exact.gamma, exact.optimal, strict=True):
        if len(set(gamma)) == 1:
            continue
        best, values, mean = tied[0], logits(tokens, start, z), sum(gamma, fmpq(0)) / len(gamma)
        level = gamma[best] if constant else 0
        alike = [(a - values[best], g - level) for a, g in zip(values, gamma, strict=True)]
        for t, x in enumerate(tokens):
            if t == best:
                continue
            if len(set(values)) == 1:
                key, weight = 0 if constant else mean, (mean - gamma[t]) / (len(gamma) * data.n)
            else:
                key, weight = (tuple(sorted(alike)), alike[t]), fmpq(1, data.n)
            A = [a * b for a in subtract(tokens[best], x) for b in z]
            part = results.get(key)
            if part is None:
                part = Part(_factor(m, values, gamma, t, loss), [fmpq(0)] * len(A), fmpq(0))
            matrix = combine([fmpq(1), weight], [part.matrix, A])
            results[key] = Part(part.factor, matrix, part.toward + weight)
    return tuple(results.values())


def _factor(m: Namespace, values: Vector, gamma: Vector, t: int, loss: str) -> Numbers:
    """Return -l'(u), times s_t (u - gamma_t) if the logits differ."""
    s = m.softmax(m.values(values))
    slope = -loss_slope(m, loss, s @ m.values(gamma))
    if len(set(values)) == 1:
        return slope
    return slope * s[t] * (s @ m.values([g - gamma[t] for g in gamma]))


def _sum(m: Namespace, parts: tuple[Part, ...], of: Callable[[Part], fmpq]) -> Number:
    """Return the sum over all parts of the factor times a rational of the part."""
    total = m.exact(0)
    for part in parts:
        total = total + part.factor * m.values(of(part))
    return total


def loss_slope(m: Namespace, loss: str, u: Number) -> Any:
    """Return l'(u), by the rules of calculus."""
    return gradient(m, lambda k, x: LOSSES[loss].value(k, x[0]), m.array([u]))[0]


def log_coefficients(data: AttentionData, W: Array, loss: str) -> Array:
    """Return ln |c_it| (n, T) in floats, even if c_it underflows; -inf at absent tokens."""
    gamma = np.where(data.present, data.gamma, 0.0)
    log_s = log_softmax(logits_of_w(data.X, data.Z, W), data.mask)
    difference = gamma[:, None, :] - gamma[:, :, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = log_s[:, None, :] + np.log(np.abs(difference))
        top = inner.max(axis=2)
        top = np.where(np.isfinite(top), top, 0.0)
        bracket = (np.sign(difference) * np.exp(inner - top[..., None])).sum(axis=2)
        u = (np.exp(log_s) * gamma).sum(axis=1)
        sizes: Array = FLOAT_LOSSES[loss].log_slope(u)[:, None] - np.log(data.n) + log_s + top
        sizes = sizes + np.log(np.abs(bracket))
    return np.where(data.present, sizes, -np.inf)
