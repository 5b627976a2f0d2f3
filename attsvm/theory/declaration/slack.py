"""Slack: what a conclusion returns, with a bound for the error of its own evaluation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

_SURE = 1e-3
"""An error below this part of the right side leaves the ratio as it is."""


@dataclass(frozen=True, slots=True)
class Slack:
    """A real number that is at least 0 exactly where the conclusion holds.

    Attributes:
        value: the slack as floats see it.
        error: bound on |value - true slack|; for an equality, on the true residual's rounding.
        kind: `inequality` (at least 0), `strict` (above 0), `equality` (value is error minus
            residual), `unknown` (the evaluation came to no answer, for instance because a run
            was too short).
        ratio: left side over right side where both are positive: 1 is tight.
        note: why the slack is unknown.
    """

    value: float
    error: float
    kind: Literal["inequality", "strict", "equality", "unknown"] = "inequality"
    ratio: float | None = None
    note: str = ""

    @classmethod
    def at_most(cls, left: float, right: float, error: float) -> Slack:
        """The conclusion left <= right."""
        return cls(right - left, error, "inequality", _ratio(left, right, error))

    @classmethod
    def below(cls, left: float, right: float, error: float) -> Slack:
        """The conclusion left < right."""
        return cls(right - left, error, "strict", _ratio(left, right, error))

    @classmethod
    def equal(cls, residual: float, error: float) -> Slack:
        """The conclusion that a residual, given by its size, is zero but for rounding."""
        return cls(error - abs(residual), error, "equality")

    @classmethod
    def unknown(cls, note: str) -> Slack:
        """No answer on this instance."""
        return cls(0.0, math.inf, "unknown", note=note)

    @property
    def broken(self) -> bool:
        """Whether value or error is no number that a check may rely on."""
        lost = math.isnan(self.value) or math.isnan(self.error) or not self.error >= 0.0
        return lost or (self.kind == "equality" and math.isinf(self.error))

    @property
    def holds(self) -> bool:
        """Whether the conclusion holds on this instance beyond the evaluation's own error."""
        if self.kind == "equality":
            return self.value >= 0.0
        if self.kind == "strict":
            return self.value - self.error > 0.0
        return self.kind == "inequality" and self.value - self.error >= 0.0

    @property
    def violated(self) -> bool:
        """Whether the conclusion fails on this instance beyond the evaluation's own error."""
        if self.kind == "equality":
            return self.value < 0.0
        return self.kind != "unknown" and self.value + self.error < 0.0

    @property
    def height(self) -> float:
        """How close to violation: the ratio of the two sides, minus the slack where there is none.

        Where the slack is negative 1 is added: above 1 there is a violation, as far as floats can
        tell.
        """
        if self.ratio is not None:
            return self.ratio
        return 1.0 - self.value if self.value < 0.0 else -self.value

    @property
    def document(self) -> dict[str, str]:
        """The slack as a file holds it."""
        return {"value": repr(self.value), "error": repr(self.error), "kind": self.kind}

    @property
    def range(self) -> tuple[float, float]:
        """Where the true slack lies."""
        if self.kind == "equality":
            return self.value - 2.0 * self.error, min(self.value, 0.0)
        return self.value - self.error, self.value + self.error


def _ratio(left: float, right: float, error: float) -> float | None:
    """Left over right side; where these are made of rounding, what is sure of it."""
    if right > 0.0 and left >= 0.0 and math.isfinite(left) and math.isfinite(right):
        return left / right if error <= _SURE * right else max(left - error, 0.0) / right
    return None
