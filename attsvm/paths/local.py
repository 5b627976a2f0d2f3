"""The gap to the risk L_sel of the tokens that a point selects, in logarithms.

L_sel is the risk if the selected tokens get all attention. A run that does not select the optimal
tokens ends on a plateau of log(L - L_*), as its risk tends to L_sel and rounding hides further
steps. They remain visible in log |L - L_sel|. Scores above those of the selected tokens make
deficits negative, so every value is a sign and a logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from attsvm._types import Array, Float
from attsvm.attention import signed_sum
from attsvm.paths.drops import curvature_ratio, log_drop
from attsvm.paths.objective import GapObjective, Jet

_ROUNDS = 50
"""Maximum number of times that the search changes between the two objectives."""

_SETTLED = 1e-11
"""Maximum residual at which the search ends."""

_SEEN = math.log(1e-6)
"""Minimum log attention of a selected token: the best-scoring such token of each input."""


@dataclass(frozen=True, slots=True, eq=False)
class LocalGap:
    """The function sign * log |L - L_sel| on the side L > L_sel (sign 1) or L < L_sel (sign -1).

    Both increase with L. Points on the other side have the value -inf if their risk is lower, and
    inf if it is higher. So a descent ends as soon as it falls below L_sel.

    Attributes:
        whole: the objective with the same margins.
        base: scores of the selected tokens.
        delta: their score minus that of every token of the input.
        sign: the side.
    """

    whole: GapObjective
    base: Float[Array, " i"]
    delta: Float[Array, "i T"]
    sign: int

    @classmethod
    def at(cls, whole: GapObjective, margins: Float[Array, " m"]) -> LocalGap | None:
        """Return the gap for the tokens that are selected at these margins.

        None if L = L_sel, or if l' vanishes at an optimal token.
        """
        attended = whole.log_attention(margins) >= _SEEN
        lost = np.where(attended, whole.delta, np.inf).min(axis=1)
        result = cls(whole, whole.best - lost, whole.delta - lost[:, None], 1)
        sign = result.signed(margins)[0]
        if sign == 0.0 or not np.allclose(whole.order, 1.0):
            return None
        return cls(whole, result.base, result.delta, int(sign))

    def signed(self, margins: Float[Array, " m"]) -> tuple[float, float]:
        """Return sign and logarithm of L - L_sel."""
        sign, size, _ = self._gap(self.whole.log_attention(margins))
        return sign, size

    def value(self, margins: Float[Array, " m"]) -> float:
        """Return the value of the function; see the class."""
        sign, size = self.signed(margins)
        return self.sign * size if sign == self.sign else -self.sign * math.inf

    def jet(self, margins: Float[Array, " m"]) -> Jet:
        """Return the value with gradient and Hessian in the margins."""
        log_s = self.whole.log_attention(margins)
        _, size, u = self._gap(log_s)
        g, H = derivatives(self.whole, log_s, u, size)
        return Jet(self.sign * size, g, H - self.sign * np.outer(g, g))

    def _gap(self, log_s: Array) -> tuple[float, float, Array]:
        """Return sign and logarithm of the gap, and the mean scores."""
        side, x = signed_sum(self.delta, log_s)
        x = np.maximum(x, -1e9)
        D = np.exp(np.minimum(x, 700.0))
        # a rise by D from the base is a drop by D from above it
        top = np.where(side < 0.0, self.base + D, self.base)
        values = log_drop(self.whole.loss, top, x, np.ones_like(x))
        sign, size = signed_sum(side, values)
        return float(sign), float(size) - math.log(self.whole.count), self.base - side * D


def local_value(whole: GapObjective, margins: Float[Array, " m"]) -> float:
    """Return log(L - L_sel); NaN if L <= L_sel, or l' vanishes at an optimal token."""
    gap = LocalGap.at(whole, margins)
    return gap.value(margins) if gap is not None and gap.sign > 0 else math.nan


def derivatives(
    whole: GapObjective, log_s: Float[Array, "i T"], u: Float[Array, " i"], log_unit: float
) -> tuple[Float[Array, " m"], Float[Array, "m m"]]:
    """Return gradient and Hessian of L in the margins, divided by e^log_unit.

    `log_s` is the log attention, `u` the mean scores <s, gamma> of the inputs.

    With kappa = s * (delta - D) a deficit has gradient -kappa and Hessian diag(kappa) - kappa s^T -
    s kappa^T.
    """
    apart = whole.delta[:, :, None] - whole.delta[:, None, :]
    side, log_above = signed_sum(apart, log_s[:, None, :])
    log_kappa = log_s + log_above
    slope = whole.loss.log_slope(u) - math.log(whole.count) - log_unit
    negative = side * np.exp(np.minimum(slope[:, None] + log_kappa, 300.0))
    s, kappa = np.exp(log_s), side * np.exp(log_kappa)
    bent = curvature_ratio(whole.loss, u)[:, None] * kappa
    blocks = negative[:, :, None] * (bent - s)[:, None, :] - s[:, :, None] * negative[:, None, :]
    diagonal = np.arange(s.shape[1])
    blocks[:, diagonal, diagonal] += negative
    return whole.spread(-negative, blocks)


def of_margins(
    gap: GapObjective | LocalGap, A: Float[Array, "m k"]
) -> tuple[Callable[[Array], Jet], Callable[[Array], float]]:
    """Return jet and value of a function of margins as functions of x, with margins A x."""

    def jet(x: Array) -> Jet:
        result = gap.jet(A @ x)
        return Jet(result.value, A.T @ result.gradient, A.T @ result.hessian @ A)

    return jet, lambda x: gap.value(A @ x)


def settled(
    whole: GapObjective,
    y: Array,
    margins: Callable[[Array], Array],
    descend: Callable[[GapObjective | LocalGap, Array], Array],
    residual: Callable[[Array], float],
) -> Array:
    """Return a point reached by descents on log(L - L_*) and, on a plateau, on the local gap.

    The risk decreases from one descent to the next. The search ends if the residual is at rounding
    level, or if neither descent moves the point.
    """
    y = descend(whole, y)
    for _ in range(_ROUNDS):
        if residual(y) <= _SETTLED or (local := LocalGap.at(whole, margins(y))) is None:
            break
        after = descend(local, y)
        if local.value(margins(after)) == -math.inf or local.sign < 0:
            after = descend(whole, after)
        if np.array_equal(after, y):
            break  # further descents would not move it either
        y = after
    return y
