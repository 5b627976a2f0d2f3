"""Selections on which the readings are checked first."""

import numpy as np

from properties.mm._support.token_selections import select

OF_NOTHING = select([[[1.0], [0.0]]], [1], [0])
"""Under no head has the other token a label margin above 0."""
LONGER = select([[[1.0, 0.0], [0.5, 2.0]]], [1], [0])
"""The optimal token of v(alpha) = (1, 0) is the shorter one: attention on the other is better."""
IDLE = select([[[1.0, 0.0], [0.0, 0.0]], [[2.0, 1.0], [1.0, 0.0]]], [1, 1], [0, 0])
"""The second input does not support v(alpha) = (1, 0)."""
ORIGIN = select([[[0.0], [1.0]]], [1], [0])
HEAVY = select([[[2.0], [-3.0]]], [1], [0])
FOLDED = select([[[2, 1], [-1, -0.5]], [[2, -1], [-1, 0.5]]], [1, 1], [0, 0])
"""The label margin of the other tokens, under the opposite head, is half of Gamma."""
EQUALS = select([[[1, 0, 0], [0.75, 0.25, 0]], [[1, 0, 0], [0.75, 0, 0.25]]], [1, 1], [0, 0])
"""Either multiplier may be 1, and the best nu is Gamma - gamma, above a half of 1/4."""
ASLANT = select([[[1, 1], [0, 0.25]], [[1, -1], [0.5, 0]]], [1, 1], [0, 0])
"""Little attention to (0.5, 0) costs less of it than all: nu is 1/4, and Gamma - gamma is 1/2."""
SQUARE = select([[[2, 2], [1, -1], [-1, 1], [-1, -1]]], [1], [0])
"""Attention can reach every choice of one token, but not every mean of them."""
HIDDEN = select(
    [[[0, 1 / 64, 2], [1 / 64, 0, 0], [-1 / 64, 0, 0], [0, 0, 2.25]]], [1], [0],
    np.diag([64.0, 64.0, 0.0]),
)  # fmt: skip
"""The key of the longest token is midway between two others: its attention is at most half theirs.

That is at most a third of 1 - s for s the attention to alpha, so that the last coordinate of the
attended token is at most 2 - (5/4) (1 - s), while the others are at most 1/64: B holds.
"""
