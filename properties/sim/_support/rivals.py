"""Rivals of a best token that a direction V separates from it."""

from collections.abc import Mapping

import numpy as np

from attsvm._types import Array
from attsvm.theory import Hypothesis, definition
from attsvm.theory.types import Namespace, Number, Numbers


@definition("s")
def attended(m: Namespace, B: Numbers, x: Numbers) -> Number:
    """Return 1/(1 + sum_t exp(B_t x)), the attention to the best token."""
    return 1 / (1 + m.sum(m.exp(B @ x)))


def separated(B: Array, known: Mapping[str, Array]) -> Array:
    """Return rows, moved along V until each has a product with V of at most -1.

    The last axis of V, if it has two, is for a batch; rows have further axes before these.
    """
    V = known["V"]
    lead = B.ndim - V.ndim
    ahead = V[(None,) * lead]
    square, along = (V * V).sum(0), (B * ahead).sum(lead)
    step = np.where((along > -1) & (square > 0), along + 1.125, 0.0)
    return B - np.expand_dims(step / np.where(square > 0, square, 1.0), lead) * ahead


MARGINS = Hypothesis(
    "B_t V <= -1 for every rival t",
    lambda m, v: m.at_most(m.max(v.B @ v.V), m.exact(-1)),
    says="B_t V <= -1 for every row B_t, the row of a rival less that of the best token",
)
