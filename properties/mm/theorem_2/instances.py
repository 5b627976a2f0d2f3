"""Tokens and keys on which the readings are checked first."""

import numpy as np

from properties.mm._support.attended import TANGENT
from properties.mm._support.token_selections import Selection, select

MIXED = select([[[2.0, 0.0], [0.0, 1.0]]], [1], [0])
UNBALANCED = select([[[1.0, 1.0], [0.0, 0.125]], [[1.0, -2.0], [0.0, 0.0]]], [1, 1], [0, 0])
"""v(alpha) is (1, 0), the sum of the labelled tokens (2, -1)."""
LOPSIDED = select([[[1.0, 1.0], [0.0, 2.0]], [[1.0, -2.0], [0.0, -4.0]]], [1, 1], [0, 0])
"""The same selected tokens; (1, 1) and (0, -4) have the smaller label margin, the longer sum."""
ACROSS = select([[[1.0, 0.0], [0.0, 0.5]]], [1], [0])
SLOW = Selection(TANGENT.X, TANGENT.y, TANGENT.alpha, np.array([[1.0, -0.75], [0.0, -1.0]]))
"""The keys of the tight idle input differ by (1/4, -1): p is (1, 1/4 - b) for a logit margin b."""
MIXED_FOR_EVER = select([[[2.0, 0.0], [0.0, 1.0]]], [1], [0], np.zeros((2, 2)))
"""Attention is 1/2 at each prompt: v_r/r tends to (2, 1)/sqrt 5."""
RIVALLED = select([[[1.0, 0.0], [0.0, 1.0]]], [1], [0])
"""Both tokens have the label margin 1."""
HIGHER = select(
    [[[1.0, 0.0], [0.0, 0.0]], [[3.0, 0.0], [2.0, 1.0]]], [1, 1], [0, 0], [[1.0, 2.0], [0.0, -1.0]]
)
"""Rows of the p-SVM are (1, 0) and (-1, 1). The second input does not support v(alpha) = (1, 0),
under which its other token scores 2: where r is much larger than R that is enough, and nothing
keeps p_R from turning to (1, 0), while p_tau is (1, 1) for tau >= 1/2."""
INDISTINCT = select(
    [[[1.0, 0.0], [-0.5, 0.5]], [[2.0, 0.0], [-4.0, 1.0]]],
    [1, 1],
    [0, 0],
    [[1.0, 6.0], [0.0, 0.0]],
)
"""The second input has two tokens of one key, and does not support v(alpha) = (1, 0): with their
mean, (-1, 1/2), the other token of the first input has the larger label margin."""
