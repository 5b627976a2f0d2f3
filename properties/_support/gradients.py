"""The gradient of the risk as a primitive of formulas, in any arithmetic.

With the attention s_i of input i, u_i = <s_i, gamma_i> and A_it = (x_opt - x_t) z_i^T for the first
optimal token,

    -grad L(W) = sum_it c_it A_it,   c_it = -l'(u_i) s_it (u_i - gamma_it) / n.

The c_it of an input sum to 0, so that -c_i,opt = -l'(u_i) s_opt sum_t s_t (gamma_opt - gamma_t) / n
is the sum of the others: what a step along -grad L gains along any matrix under which all rivals
have margin 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from attsvm.exact import ExactData
from attsvm.theory import gradient
from properties._support import torch_objectives
from properties._support.losses import LOSSES

__all__ = ["NegativeGradient", "inputs", "loss_slope", "negative_gradient"]


@dataclass(frozen=True, slots=True)
class NegativeGradient:
    """-grad L at one matrix.

    Attributes:
        matrix: -grad L.
        toward: -sum_i c_i,opt.
    """

    matrix: Any
    toward: Any


def inputs(m: Any, data: Any) -> Iterator[tuple[Any, Any, Any, int]]:
    """Tokens, query, scores and the first optimal token of each input, without absent tokens."""
    exact = ExactData.of(data)
    for X, z, gamma, optimal in zip(exact.X, exact.Z, exact.gamma, exact.optimal, strict=True):
        yield m.values(X), m.values(z), m.values(gamma), optimal[0]


def loss_slope(m: Any, loss: str, u: Any) -> Any:
    """l'(u), by the rules of calculus."""
    return gradient(m, lambda k, x: LOSSES[loss].value(k, x[0]), m.array([u]))[0]


def negative_gradient(m: Any, data: Any, W: Any, loss: str) -> NegativeGradient:
    """-grad L(W) of a loss by its name, W as a field of a record.

    A part of it that is 0 because scores are tied is exactly 0.
    """
    if m.name == "tensors":
        return _in_torch(m, data, W, loss)
    W = m.values(W)
    matrix, toward = 0 * W, m.exact(0)
    for X, z, gamma, best in inputs(m, data):
        s = m.softmax(X @ (W @ z))
        leads = [m.dot(s, level - gamma) for level in gamma]  # gamma_it - u_i
        slope = loss_slope(m, loss, gamma[best] - leads[best])
        pulls = m.array([slope * p * lead / data.n for p, lead in zip(s, leads, strict=True)])
        matrix = matrix + m.outer((X[best] - X).T @ pulls, z)
        toward = toward - pulls[best]
    return NegativeGradient(matrix, toward)


def _in_torch(m: Any, data: Any, W: Any, loss: str) -> NegativeGradient:
    """The same for a climb."""
    s, u = torch_objectives.attended(data, W)
    _, counted = torch_objectives.constraints(data)
    gamma, best = torch_objectives.scores(data), ~counted.reshape(s.shape)
    of_best = (s * (gamma - u[..., None]) * best).sum(-1)
    toward = (-torch_objectives.loss_slope(loss, u) * of_best).mean(-1)
    return NegativeGradient(m.values(torch_objectives.pull(data, W, loss)), m.values(toward))
