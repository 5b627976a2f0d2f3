"""Slack: the value of a conclusion, with a bound for the error of its evaluation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

_SURE = 1e-3
"""Maximum error, as a share of the right side, at which the ratio is left over right as it is.

With a larger error the ratio is a lower bound.
"""


@dataclass(frozen=True, slots=True)
class Slack:
    """A real number whose sign says whether the conclusion is true.

    Attributes:
        value: the slack in floats: right side minus left side, or error minus residual.
        error: a bound on |value - true slack|; for an equality, on the residual's rounding.
        kind: `inequality` (at least 0), `strict` (above 0), `equality` (value is error minus
            residual), `unknown` (the evaluation gave no answer, for instance because a run was too
            short).
        ratio: left side over right side if both are positive; 1 is tight.
        note: the reason why the slack is unknown.
    """

    value: float
    error: float
    kind: Literal["inequality", "strict", "equality", "unknown"] = "inequality"
    ratio: float | None = None
    note: str = ""

    @classmethod
    def at_most(cls, left: float, right: float, error: float) -> Slack:
        """Return the slack of the conclusion left <= right."""
        return cls(right - left, error, "inequality", _ratio(left, right, error))

    @classmethod
    def below(cls, left: float, right: float, error: float) -> Slack:
        """Return the slack of the conclusion left < right."""
        return cls(right - left, error, "strict", _ratio(left, right, error))

    @classmethod
    def equal(cls, residual: float, error: float) -> Slack:
        """Return the slack of the conclusion that a residual is 0, up to an error of rounding."""
        return cls(error - abs(residual), error, "equality")

    @classmethod
    def unknown(cls, note: str) -> Slack:
        """Return a slack without an answer on this instance."""
        return cls(0.0, math.inf, "unknown", note=note)

    @property
    def broken(self) -> bool:
        """Whether value or error is unusable: NaN, a negative error, or an infinite tolerance."""
        lost = math.isnan(self.value) or math.isnan(self.error) or not self.error >= 0.0
        return lost or (self.kind == "equality" and math.isinf(self.error))

    @property
    def holds(self) -> bool:
        """Whether the conclusion is true on this instance beyond the evaluation's own error."""
        if self.kind == "equality":
            return self.value >= 0.0
        if self.kind == "strict":
            return self.value - self.error > 0.0
        return self.kind == "inequality" and self.value - self.error >= 0.0

    @property
    def violated(self) -> bool:
        """Whether the conclusion is false on this instance beyond the evaluation's own error."""
        if self.kind == "equality":
            return self.value < 0.0
        return self.kind != "unknown" and self.value + self.error < 0.0

    @property
    def height(self) -> float:
        """How close the instance is to violation: above 1, floats see a violation.

        This is the ratio of the two sides. Without a ratio it is minus the slack, plus 1 if the
        slack is negative.
        """
        if self.ratio is not None:
            return self.ratio
        return 1.0 - self.value if self.value < 0.0 else -self.value

    @property
    def document(self) -> dict[str, str]:
        """The slack as texts by field, as files store it."""
        return {"value": repr(self.value), "error": repr(self.error), "kind": self.kind}

    @property
    def range(self) -> tuple[float, float]:
        """An interval that holds the true slack."""
        if self.kind == "equality":
            return self.value - 2.0 * self.error, min(self.value, 0.0)
        return self.value - self.error, self.value + self.error


def _ratio(left: float, right: float, error: float) -> float | None:
    """Return left over right side; if the error is large, return a lower bound of the ratio."""
    if right > 0.0 and left >= 0.0 and math.isfinite(left) and math.isfinite(right):
        return left / right if error <= _SURE * right else max(left - error, 0.0) / right
    return None
