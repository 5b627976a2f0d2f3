"""Data of the statement on tokens of low score, and runs that need these tokens."""

from dataclasses import replace

from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.primitives.descent import Descent
from attsvm.strategies.data import separable_data
from properties.sim._support.redundant_tokens import redundant_data

SUPPORT = AttentionData.of([[[2], [0], [1]]], [[1]], scores=[[2, 1, 0]])
"""The token of least score is the support vector."""
ENDS_THERE = Descent.of([[[0], [1], [-1]]], [[1]], scores=[[1, 0, -1]])
PUSHED = Descent.of([[[-1], [4], [0], [3]]], [[1]], scores=[[1, 0, -3, -4]])
"""The token of least score pushes the run to the best one."""
BEST_PUSHES = Descent.of([[[4], [0], [3]]], [[1]], scores=[[-1, 0, 3]])
"""Without the optimal token the run on the printed loss turns round."""
BETWEEN = Descent.of([[[11], [0], [12]]], [[1]], scores=[[4, 3.75, 3.625]])
"""Without the second token the run on the printed loss ends in another direction."""
PROTECTED = replace(
    Descent.of(
        [[[1, 0], [0, 0], [-4, 0]], [[-3, 1], [0, 0], [-1, 0]]],
        [[1, 0]] * 2,
        [[2, 0], [11, 0]],
        scores=[[1, 0, -1]] * 2,
    ),
    step=256.0,
)
"""In the basin; without the last tokens L_X is less, and the steps leap out of it."""
SEPARABLE = st.one_of(separable_data(), redundant_data())
