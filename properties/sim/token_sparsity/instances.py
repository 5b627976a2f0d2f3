"""Runs and data of the statement on token sparsity."""

from dataclasses import replace

from attsvm.data import AttentionData
from attsvm.primitives.descent import Descent
from attsvm.primitives.steps import stepped
from attsvm.theory import Records
from properties.sim._support import redundant_tokens as tokens
from properties.sim.token_sparsity import gradient_shares as shares

FROM_ZERO, FROM_BASIN = (
    Descent.of([[[1], [0], [-1]]], [[1]], [[X]], scores=[[1, 0, -1]]) for X in (0, 8)
)
LEAPING = replace(
    Descent.of(
        [[[1.0, 0.0], [0.0, 0.0]], [[-3.0, 1.0], [0.0, 0.0]], [[0.5, 2.0], [0.0, 0.0]]],
        [[1, 0]] * 3,
        [[2, 0], [11, 0]],
        scores=[[1, 0]] * 3,
    ),
    step=1024.0,
)
"""The start is in the basin; after the first step one input selects its worse token for ever."""
THREE = FROM_ZERO.data
TWO_INPUTS = Descent.of([[[1], [0]], [[2], [0]]], [[1], [1]], scores=[[1, 0]] * 2)
ONE_KEY = Descent.of([[[1], [1]]], [[1]], [[0]], scores=[[1, 0]])
"""Two equal tokens: every X is in the basin, and there is no X^mm."""
TIED = AttentionData.of([[[0, 0], [-1, 0], [-3, -1]]], [[1, 0]], scores=[[1, 1, 0]])
"""The last token has margin 3 under X^mm, whose first column is (1, 0)."""
ORTHOGONAL = AttentionData.of(
    [[[0, 0], [-1, 0]], [[0, 0], [0, -1]]], [[1, 0], [1, 0]], scores=[[1, 0], [1, 0]]
)
"""Both multipliers are 1, and the constraints are orthogonal."""


IN_BASIN = stepped(Descent, shares.redundant_basin(), shares.basin_larger)
PROGRAMMES = Records(AttentionData, tokens.redundant_data(), tokens.redundant_larger)
