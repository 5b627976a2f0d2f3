"""The least value of the squared loss, and gains of descent on it along a direction.

Formulas with their hypotheses, and the variables of gains.
"""

from collections.abc import Mapping

import numpy as np

from attsvm.theory import Hypothesis, Integer, Matrix, Meeting, Real, Vector, definition, gradient
from attsvm.theory.declaration.variables import Variable
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Values
from properties.sim._support.entry_loss import squared_loss
from properties.sim._support.rivals import MARGINS, attended, separated


def best_token(m: Namespace, v: Values, share: Number = 1) -> Comparison:
    """Return that the loss is at least a share of that of the best token."""
    least = m.min(m.square(v.h - v.b))
    return m.at_most(share * least, squared_loss(m, v.A, v.x, v.h, v.b))


@definition(r"L({x})")
def two_scores(m: Namespace, v: Values, x: Numbers) -> Number:
    """Return (beta - gap (1 - s) - b)^2."""
    return m.square(v.beta - v.gap * (1 - attended(m, v.B, x)) - v.b)


def gains(m: Namespace, v: Values, share: Number = 1) -> Comparison:
    """Return that -<grad L, V> is at least a share of 2 gap^2 s (1 - s)^2."""
    s = attended(m, v.B, v.x)
    gain = -m.dot(gradient(m, lambda m, x: two_scores(m, v, x), v.x), v.V)
    return m.at_most(share * (2 * v.gap * v.gap * s * m.square(1 - s)), gain)


NOT_BELOW = Hypothesis(
    "b >= every score",
    lambda m, v: m.at_least(v.b, m.max(v.h)),
    says="the target b is at least every score h_t",
)
BEYOND = Hypothesis(
    "b >= beta", lambda m, v: m.at_least(v.b, v.beta), says="the target b is at least beta"
)
NEAREST = Hypothesis(
    "2 b >= 2 beta - gap",
    lambda m, v: m.at_least(2 * v.b, 2 * v.beta - v.gap),
    says="the target b is at least as near to beta as to beta - gap",
)
LESS = Hypothesis(
    "gap >= 0",
    lambda m, v: m.at_least(v.gap, m.exact(0)),
    says="the best token has the score beta, and all rivals have beta - gap with gap >= 0",
)

OF_NEARER = (MARGINS, LESS, NEAREST)
OF_BEST = (MARGINS, BEYOND, LESS)
"""Hypotheses of gains, for a target that is nearer to the best token or is not below its score."""

RIVALS: Mapping[str, Variable | None] = {
    "R": Integer(1, 4),
    "D": Integer(1, 3),
    "V": Vector("D"),
    "B": Meeting(MARGINS, Matrix("R", "D"), separated),
    "x": Vector("D"),
    "beta": Real((0, 1)),
    "gap": Meeting(LESS, Real((0, 1)), lambda gap, _: np.maximum(gap, 0)),
    "b": Real((0, 1, 3)),
    "n": None,
    "A": None,
    "h": None,
}
