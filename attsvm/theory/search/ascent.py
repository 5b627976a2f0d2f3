"""Batched ascent in torch: rows climb side by side, none knows of the others.

An objective maps positions (rows, m) to values (rows,) and gradients (rows, m); both methods take
values and gradients that are no numbers for rows that do not move.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

_MEMORY = (0.9, 0.999)
"""What Adam keeps of the means of gradients and of their squares at every step."""

_PAIRS = 10
"""Steps that L-BFGS remembers."""

_GAIN = 1e-4
"""The share of the gain that the gradient promises with which a step of L-BFGS is accepted."""


class Adam:
    """Adam on gradients of length 1, with a step length for every row.

    Attributes:
        length: of the next step of each row, in units of the positions (rows, 1).
    """

    def __init__(self, length: Any) -> None:
        self.length = length
        self._mean = self._square = 0.0 * length
        self._age = 0.0 * length

    def step(self, slope: Any, share: float) -> Any:
        """The move of every row, a share of its length for each entry at most, nearly."""
        slope = slope / slope.abs().amax(1, keepdim=True).clamp(min=1e-300)
        self._age = self._age + 1
        self._mean = _MEMORY[0] * self._mean + (1 - _MEMORY[0]) * slope
        self._square = _MEMORY[1] * self._square + (1 - _MEMORY[1]) * slope**2
        mean = self._mean / (1 - _MEMORY[0] ** self._age)
        size = (self._square / (1 - _MEMORY[1] ** self._age)).sqrt()
        return share * self.length * mean / (size + 1e-12)

    def restart(self, rows: Any, factor: float) -> None:
        """Let rows (a mask) forget their steps and take shorter ones."""
        some = rows[:, None]
        self.length = self.length.where(~some, factor * self.length)
        self._mean = self._mean * ~some
        self._square = self._square * ~some
        self._age = self._age * ~some


def lbfgs(objective: Callable[[Any], tuple[Any, Any]], u: Any, steps: int, length: float) -> Any:
    """Quasi-Newton steps, each row with a step of its own that shrinks until it gains.

    Args:
        objective: what to maximise.
        u: where to start.
        steps: evaluations.
        length: of the first step.

    Returns:
        The positions reached; no row is lower than it started.
    """
    value, slope = objective(u)
    pairs: deque[tuple[Any, Any, Any]] = deque(maxlen=_PAIRS)
    stride = 0.0 * slope[:, :1] + 1.0
    unit = length / _norm(slope)
    for _ in range(steps):
        way = _newton(slope, pairs, unit)
        trial = u + stride * way
        found, there = objective(trial)
        promised = (stride * slope * way).sum(1)
        gains = ((found > value + _GAIN * promised) & (promised > 0))[:, None]
        moved, turned = (stride * way) * gains, (slope - there) * gains
        bent = (moved * turned).sum(1, keepdim=True)
        usable = bent > 1e-12 * _norm(moved) * _norm(turned)
        unit = unit.where(~usable, bent / (turned * turned).sum(1, keepdim=True))
        pairs.append((moved, turned, (1.0 / bent).where(usable, 0.0 * bent)))
        u, slope = trial.where(gains, u), there.where(gains, slope)
        value = found.where(gains[:, 0], value)
        stride = (0.0 * stride + 1.0).where(gains, stride / 4)
    return u


def _newton(slope: Any, pairs: deque[tuple[Any, Any, Any]], unit: Any) -> Any:
    """The quasi-Newton direction of ascent by the two-loop recursion."""
    way, shares = slope, []
    for moved, turned, weight in reversed(pairs):
        shares.append(weight * (moved * way).sum(1, keepdim=True))
        way = way - shares[-1] * turned
    way = unit * way
    for (moved, turned, weight), share in zip(pairs, reversed(shares), strict=True):
        way = way + moved * (share - weight * (turned * way).sum(1, keepdim=True))
    return way


def _norm(rows: Any) -> Any:
    return (rows * rows).sum(1, keepdim=True).sqrt().clamp(min=1e-300)
