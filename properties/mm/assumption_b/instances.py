"""Selections with prompts and heads that show where Assumption B fails, and searches for more."""

import numpy as np

from attsvm.theory import Records
from properties.mm._support.attended import PARALLEL, TANGENT, Attended, Doubted, attended, doubted
from properties.mm._support.token_selections import (
    OPPOSED,
    PUBLISHED,
    SELECTED,
    SEPARATED,
    Selection,
    larger,
    relaxable,
    select,
    separable,
)

SEPARABLE = Records(Selection, separable(), larger, lets=SELECTED)
RELAXABLE = Records(Selection, separable() | relaxable(), lets=SELECTED)
RELAXABLE_LARGER = Records(Selection, separable() | relaxable(), larger, lets=SELECTED)
ATTENDED = Records(Attended, attended(), lets=SELECTED)
DOUBTED = Records(Doubted, doubted(), lets=SELECTED)

OF_NOTHING = select([[[1.0], [0.0]]], [1], [0])
"""Under no head does the other token have a label margin above 0."""
LONGER = select([[[1.0, 0.0], [0.5, 2.0]]], [1], [0])
"""The token of alpha, for which v(alpha) = (1, 0), is the shorter one: attention on the other is
better."""
IDLE = select([[[1.0, 0.0], [0.0, 0.0]], [[2.0, 1.0], [1.0, 0.0]]], [1, 1], [0, 0])
"""The second input does not support v(alpha) = (1, 0)."""
ORIGIN = select([[[0.0], [1.0]]], [1], [0])
HEAVY = select([[[2.0], [-3.0]]], [1], [0])
FOLDED = select([[[2, 1], [-1, -0.5]], [[2, -1], [-1, 0.5]]], [1, 1], [0, 0])
"""The label margin of the other tokens, under the opposite head, is half of Gamma."""
EQUALS = select([[[1, 0, 0], [0.75, 0.25, 0]], [[1, 0, 0], [0.75, 0, 0.25]]], [1, 1], [0, 0])
"""Either multiplier may be 1, and the best nu is Gamma - gamma, above a half of 1/4."""
ASLANT = select([[[1, 1], [0, 0.25]], [[1, -1], [0.5, 0]]], [1, 1], [0, 0])
"""A little attention to (0.5, 0) costs less per unit than all of it: nu is 1/4, Gamma - gamma is
1/2."""
SQUARE = select([[[2, 2], [1, -1], [-1, 1], [-1, -1]]], [1], [0])
"""Attention can reach every choice of one token, but not every mean of them."""
HIDDEN = select(
    [[[0, 1 / 64, 2], [1 / 64, 0, 0], [-1 / 64, 0, 0], [0, 0, 2.25]]], [1], [0],
    np.diag([64.0, 64.0, 0.0]),
)  # fmt: skip
"""The key of the longest token is midway between two others: its attention is at most half theirs.

So it is at most a third of 1 - s, where s is the attention to alpha. Hence the last coordinate of
the attended token is at most 2 - (5/4) (1 - s), and the other coordinates are at most 1/64: B
holds."""

# instances of a conclusion, by its name

SHRINKING = (HEAVY, LONGER, IDLE, *PUBLISHED, OPPOSED)
SHRINKING_OPTIMAL = (LONGER, IDLE, *PUBLISHED)
BOUNDED = (
    Attended(PARALLEL, np.zeros(1), np.ones(1)),
    Attended(PUBLISHED[0], np.zeros(2), np.array([0.0, 1.0])),
    Attended(HEAVY, np.array([-2.0]), -np.ones(1)),
    Attended(ORIGIN, np.zeros(1), np.ones(1)),
)
BOUNDED_BY_LARGEST = Attended(FOLDED, np.array([-2.0, 0.0]), np.array([-1.0, 0.0]))
DECIDED = (
    Doubted(PARALLEL, np.zeros(1), np.ones(1), 1.0),
    Doubted(PARALLEL, np.zeros(1), np.ones(1), 0.75),
    Doubted(IDLE, np.array([64.0, -64.0]), np.array([1.0, 0.0]), 0.125),
    Doubted(TANGENT, np.array([64.0, -62.0]), np.array([1.0, 0.125]), 0.125),
    Doubted(LONGER, np.zeros(2), np.zeros(2), 0.125),
    Doubted(OF_NOTHING, np.zeros(1), np.zeros(1), 2.0),
    Doubted(ASLANT, np.zeros(2), np.zeros(2), 0.25),
    Doubted(ASLANT, np.zeros(2), np.zeros(2), 0.375),
    Doubted(SQUARE, np.zeros(2), np.zeros(2), 0.25),
)
DECIDED_BY_LARGEST = Doubted(EQUALS, np.zeros(3), np.zeros(3), 0.15625)
VOID = (PUBLISHED[0], SEPARATED)

# instances that violate a hypothesis

UNSOLVED = [OPPOSED, Doubted(ORIGIN, np.zeros(1), np.ones(1), 1.0)]
UNSATURATED = [PUBLISHED[1]]
UNREACHED = [Doubted(HIDDEN, np.zeros(3), np.zeros(3), 0.125)]
