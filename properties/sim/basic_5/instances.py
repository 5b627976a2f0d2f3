"""Instances of fact 5: short logits, and a block of tokens."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from properties.sim._support.attention import on_line

VALUES = {"h": [1, -1], "b": 0}
EIGHTH = Fraction(1, 8)
SHORT_LOGITS = on_line([EIGHTH, -EIGHTH], x=0, y=1, z=[0, 0], R=Fraction(1, 4), beta=2)


def block(tokens: Sequence[Any], X: int, Y: Any, **values: Any) -> dict[str, Any]:
    """A block of tokens of R^1 under the query 1, with R = 4 and beta = 2."""
    points = {"a": [1], "tokens": [[token] for token in tokens], "X": [[X]], "Y": [[Y]]}
    return {**points, "R": 4, "beta": 2, **values}
