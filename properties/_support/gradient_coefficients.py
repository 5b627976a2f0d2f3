"""Descent as pulls along the constraints, in the log domain, with its rounding, and in balls.

With A_it = (x_opt - x_t) z_i^T, s_i the attention of input i and u_i = <s_i, gamma_i>,

    -grad L(W) = sum_it c_it A_it,   c_it = -l'(u_i) s_it (u_i - gamma_it) / n.

The c_it of an input sum to 0, so that -c_i,opt = |l'| s_opt sum_t s_t (gamma_opt - gamma_t) / n for
a decreasing loss is also the sum of the others. The first optimal token counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, fmpq

from attsvm._types import Array
from attsvm.attention import log_softmax, logits_of_w
from attsvm.data import AttentionData
from attsvm.exact import ExactData, dot, softmax
from attsvm.exact.attention import logits, loss_slope
from attsvm.exact.numbers import Matrix, Vector, combine, subtract
from attsvm.losses import LOSSES

__all__ = ["Pulls", "Push", "log_pulls", "pulls", "pushes"]

EPS = float(np.finfo(np.float64).eps)
_WIDE = 1e-3


@dataclass(frozen=True, slots=True)
class Pulls:
    """The pulls at one matrix, in floats.

    Attributes:
        c: pulls (n, T), 0 at absent tokens.
        error: bounds of their rounding, infinite where logits are too large to tell.
        A: the constraint matrices (n, T, d, d), 0 at the optimal token.
        best: the first optimal token of each input.
    """

    c: Array
    error: Array
    A: Array
    best: Array

    @property
    def descent(self) -> Array:
        """-grad L."""
        total: Array = np.einsum("nt,ntde->de", self.c, self.A)
        return total

    @property
    def lost(self) -> float:
        """Bound of the rounding of `descent`, in the Frobenius norm."""
        sizes = np.linalg.norm(self.A, axis=(2, 3))
        return float(((self.error + 8 * EPS * (self.c.size + 4) * np.abs(self.c)) * sizes).sum())

    @property
    def toward(self) -> float:
        """-sum_i c_i,opt: what descent gains along any matrix that gives all rivals margin 1."""
        return -float(self.c[np.arange(len(self.best)), self.best].sum())

    @property
    def toward_error(self) -> float:
        """Bound of its rounding."""
        of_best = self.error[np.arange(len(self.best)), self.best]
        return float(of_best.sum()) + 2 * EPS * len(self.best) * abs(self.toward)


def pulls(data: AttentionData, W: Array, loss: str) -> Pulls:
    """The pulls of a loss, by its name, at W."""
    gamma, used, present = data.gamma, LOSSES[loss], data.present
    log_s = log_softmax(logits_of_w(data.X, data.Z, W), data.mask)
    s = np.exp(log_s)
    difference = gamma[:, None, :] - gamma[:, :, None]  # score of the second less the first
    u = (s * np.where(present, gamma, 0.0)).sum(axis=1)
    bracket = np.where(present[:, None, :], s[:, None, :] * difference, 0.0).sum(axis=2)
    c = np.where(present, -used.slope(u)[:, None] * s * bracket / data.n, 0.0)
    # |gamma| <= G, known within `rounded`; |l'| and |l''| of every loss here on [-G, G]
    G = float(np.abs(gamma[present]).max())
    steep, bent = min(used.lipschitz, 2 * np.exp(G)), min(used.smoothness, 2 * np.exp(G))
    longest = np.linalg.norm(data.X, axis=2).max(axis=1)
    reach = float((longest * np.linalg.norm(data.Z, axis=1)).max())
    relative = 16 * EPS * (data.T + 8 + (data.d + 4) * reach * float(np.linalg.norm(W)))
    rounded = 0.0
    if data.v is not None:
        rounded = 2 * EPS * (data.d + 2) * float(np.linalg.norm(data.v))
        rounded *= float(longest.max())
    by_size = 4 * (steep + bent * G) * (relative * G + rounded)
    error = np.where(present, s * by_size + 1e-300, 0.0)
    if not relative < _WIDE:
        error = np.where(present, np.inf, 0.0)
    best = np.where(present, gamma, -np.inf).argmax(axis=1)
    gap = data.X[np.arange(data.n), best][:, None, :] - data.X
    A = np.where(present[..., None], gap, 0.0)[..., None] * data.Z[:, None, None, :]
    return Pulls(c, error, A, best)


def log_pulls(data: AttentionData, W: Array, loss: str) -> Array:
    """The logarithms of |c_it| (n, T), also where the pulls underflow; -inf at absent tokens."""
    gamma = np.where(data.present, data.gamma, 0.0)
    log_s = log_softmax(logits_of_w(data.X, data.Z, W), data.mask)
    difference = gamma[:, None, :] - gamma[:, :, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = log_s[:, None, :] + np.log(np.abs(difference))
        top = inner.max(axis=2)
        top = np.where(np.isfinite(top), top, 0.0)
        bracket = (np.sign(difference) * np.exp(inner - top[..., None])).sum(axis=2)
        u = (np.exp(log_s) * gamma).sum(axis=1)
        sizes: Array = LOSSES[loss].log_slope(u)[:, None] - np.log(data.n) + log_s + top
        sizes = sizes + np.log(np.abs(bracket))
    return np.where(data.present, sizes, -np.inf)


@dataclass(frozen=True, slots=True)
class Push:
    """A part of -grad L, factor times sum_j weight_j A_j, by exact values.

    Attributes:
        factor: a real number that all weights share, as a ball.
        matrix: sum_j weight_j A_j, row by row, in rationals.
        toward: sum_j weight_j, so that the sum over all parts of factor * toward is the sum of
            c_it over all t but the optimal one, -sum_i c_i,opt.
    """

    factor: arb
    matrix: Vector
    toward: fmpq


def pushes(data: ExactData, W: Matrix, loss: str) -> list[Push]:
    """-grad L at W as a sum of few parts, pulls of one value taken together.

    Pulls whose exact values are seen to agree share a factor: those of tokens that are alike, in
    inputs that are alike, and, where all logits of an input are equal, rational multiples of
    l'(mean score). So what cancels for such a reason cancels exactly.
    """
    factors: dict[Any, arb] = {}
    matrices: dict[Any, Vector] = {}
    towards: dict[Any, fmpq] = {}
    for i, (tokens, z, gamma) in enumerate(zip(data.X, data.Z, data.gamma, strict=True)):
        best = data.optimal[i][0]
        values = logits(tokens, W, z)
        for t, x in enumerate(tokens):
            if t == best:
                continue
            key, factor, weight = _pull(values, gamma, best, t, loss, len(data.X))
            if weight == 0:
                continue
            A = [a * b for a in subtract(tokens[best], x) for b in z]
            before = matrices.get(key, [fmpq(0)] * len(A))
            factors[key] = factor
            matrices[key] = combine([fmpq(1), weight], [before, A])
            towards[key] = towards.get(key, fmpq(0)) + weight
    return [Push(factors[key], matrices[key], towards[key]) for key in factors]


def _pull(
    values: Vector, gamma: Vector, best: int, t: int, loss: str, n: int
) -> tuple[Any, arb, fmpq]:
    """A name, a factor and a rational weight with c_it = factor * weight."""
    if len(set(gamma)) == 1:
        return None, arb(1), fmpq(0)
    constant = loss == "correlation"  # its slope is the same everywhere
    if len(set(values)) == 1:
        mean = sum(gamma, fmpq(0)) / len(gamma)
        weight = (mean - gamma[t]) / (len(gamma) * n)
        return fmpq(0) if constant else mean, -loss_slope(loss, mean), weight
    level = gamma[best] if constant else fmpq(0)
    alike = [(a - values[best], g - level) for a, g in zip(values, gamma, strict=True)]
    s = softmax(values)
    slope = -loss_slope(loss, dot(s, gamma))
    factor = slope * s[t] * dot(s, [g - gamma[t] for g in gamma]) / n
    return (tuple(sorted(alike)), alike[t]), factor, fmpq(1)
