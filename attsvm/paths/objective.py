"""log(L - L_*) as a function of margins, with gradient and Hessian, for margins of any size.

With m_it = logit_opt - logit_it and delta_it = gamma_opt - gamma_it, the deficit of an input is D_i
= sum_t delta_it e^-m_it / sum_u e^-m_iu, and L - L_* = (1/n) sum_i drop_i(D_i). All values are
logarithms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from attsvm._types import Array, Bool, Float, Int
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.losses import Loss
from attsvm.paths.drops import ensure_decreasing, log_drop, log_drop_jet, orders
from attsvm.tokens import optimal_tokens


@dataclass(frozen=True, slots=True)
class Jet:
    """A value with gradient and Hessian."""

    value: float
    gradient: Float[Array, " k"]
    hessian: Float[Array, "k k"]


@dataclass(frozen=True, slots=True, eq=False)
class GapObjective:
    """log(L - L_*) of the inputs that have two different scores.

    Attributes:
        loss: a decreasing loss.
        count: the number n of all inputs, over which the risk is a mean.
        best: best scores.
        log_delta: log of the score gaps; -inf for tokens as good as the best.
        delta: the score gaps.
        present: the mask of present tokens.
        order: for each input, the power of the deficit with which its drop vanishes.
        input, token: for each margin m_j, its input and its token; all tokens but the reference,
            the first optimal one, have a margin.
        rows: the indices of these inputs in the data set.
    """

    loss: Loss
    count: int
    best: Float[Array, " i"]
    log_delta: Float[Array, "i T"]
    delta: Float[Array, "i T"]
    present: Bool[Array, "i T"]
    order: Float[Array, " i"]
    input: Int[Array, " m"]
    token: Int[Array, " m"]
    rows: Int[Array, " i"]

    @classmethod
    def of(cls, data: AttentionData, loss: object) -> GapObjective:
        """Return the objective of a data set.

        Raises:
            DataError: the loss does not decrease, or the risk is constant.
        """
        decreasing = ensure_decreasing(loss)
        result = optimal_tokens(data)
        gamma, present = data.gamma, data.present
        best = gamma[np.arange(data.n), result.index]
        delta = np.where(present, best[:, None] - gamma, 0.0)
        for i, tied in enumerate(result.ties):
            delta[i, list(tied)] = 0.0
        rows = np.flatnonzero((delta > 0.0).any(axis=1))
        if rows.size == 0:
            raise DataError(
                "no input has two tokens of different scores: the risk is the same everywhere",
                value=data.gamma.tolist(),
                remedy="Every W is a minimiser; there is nothing to follow.",
            )
        delta, present, best = delta[rows], present[rows], best[rows]
        free = present.copy()
        free[np.arange(len(rows)), result.index[rows]] = False
        inputs, tokens = np.nonzero(free)
        with np.errstate(divide="ignore"):
            log_delta = np.log(delta)
        return cls(
            loss=decreasing,
            count=data.n,
            best=best,
            log_delta=log_delta,
            delta=delta,
            present=present,
            order=orders(decreasing, best),
            input=inputs,
            token=tokens,
            rows=rows,
        )

    def value(self, margins: Float[Array, " m"]) -> float:
        """Return log(L - L_*)."""
        x = self._weights(margins)[2]
        return _log_sum(log_drop(self.loss, self.best, x, self.order)) - math.log(self.count)

    def jet(self, margins: Float[Array, " m"]) -> Jet:
        """Return the value with gradient and Hessian in the margins."""
        log_s, log_a, x = self._weights(margins)
        values, rate, bend = log_drop_jet(self.loss, self.best, x, self.order)
        share = np.exp(values - values.max())
        share /= share.sum()
        s, a = np.exp(log_s), np.exp(log_a)
        # delta_t - D as a sum of differences: no cancellation if a bad token leads
        above = ((self.delta[:, :, None] - self.delta[:, None, :]) * s[:, None, :]).sum(axis=2)
        safe = np.where(self.delta > 0.0, self.delta, 1.0)
        slope = np.where(self.delta > 0.0, -a * above / safe, s)
        load = share * rate
        whole = load[:, None] * slope
        outer = slope[:, :, None] * slope[:, None, :]
        second = s[:, :, None] * s[:, None, :] - a[:, :, None] * a[:, None, :]
        diagonal = np.arange(s.shape[1])
        second[:, diagonal, diagonal] += a - s
        blocks = load[:, None, None] * (second + (1.0 + bend)[:, None, None] * outer)
        gradient, hessian = self.spread(whole, blocks)
        return Jet(
            value=_log_sum(values) - math.log(self.count),
            gradient=gradient,
            hessian=hessian - np.outer(gradient, gradient),
        )

    def spread(
        self, table: Float[Array, "i T"], blocks: Float[Array, "i T T"]
    ) -> tuple[Float[Array, " m"], Float[Array, "m m"]]:
        """Return a gradient and a Hessian by token, reordered as those in the margins."""
        pairs = np.where(
            self.input[:, None] == self.input[None, :],
            blocks[self.input[:, None], self.token[:, None], self.token[None, :]],
            0.0,
        )
        return table[self.input, self.token], pairs

    def log_attention(self, margins: Float[Array, " m"]) -> Float[Array, "i T"]:
        """Return the log softmax of each input."""
        table = np.where(self.present, 0.0, np.inf)
        table[self.input, self.token] = margins
        log_s = table.min(axis=1, keepdims=True) - table
        result: Array = log_s - np.log(np.exp(log_s).sum(axis=1, keepdims=True))
        return result

    def _weights(self, margins: Array) -> tuple[Array, Array, Array]:
        """Return log attention, the log shares in the deficit, and the log deficits."""
        log_s = self.log_attention(margins)
        log_a = self.log_delta + log_s
        peak = log_a.max(axis=1, keepdims=True)
        x = peak + np.log(np.exp(log_a - peak).sum(axis=1, keepdims=True))
        return log_s, log_a - x, x[:, 0]


def _log_sum(values: Array) -> float:
    top = float(values.max())
    return top + math.log(float(np.exp(values - top).sum()))


def differences(
    data: AttentionData, objective: GapObjective
) -> tuple[Float[Array, "m d"], Float[Array, "m e"]]:
    """Return D_j = x_opt - x_t and z_j of the margins m_j = D_j^T W z_j of an objective."""
    index = optimal_tokens(data).index
    where = objective.rows[objective.input]
    D: Array = data.X[where, index[where]] - data.X[where, objective.token]
    return D, data.Z[where]
