"""Runs and data with tokens that are no support vectors, and siblings with a hypothesis dropped."""

from dataclasses import replace

import numpy as np
from flint import arb
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.primitives.descent import Descent
from attsvm.primitives.hypotheses import BASIN, FEASIBLE, UNIQUE
from attsvm.primitives.steps import ANY, SHORT, stepped
from attsvm.strategies import arrays, composite
from attsvm.theory import Hypothesis, Records, changed
from properties._support.small_runs import NO_QUERY, PASSED_OVER, TIED_CROWD
from properties.sim._support import redundant_tokens as tokens
from properties.sim._support.redundant_tokens import (
    Dropped,
    redundant_data,
    redundant_gaussian,
    redundant_larger,
)


@composite
def redundant_basin(draw: st.DrawFn) -> Descent:
    """Draw data with tokens beyond the margin, started along X^mm."""
    data = draw(redundant_data((2.0, 1.5, 3.0)))
    return _along(data, draw(st.sampled_from([8, 6, 12])), draw(arrays(data.d, data.d)))


def basin_larger(generator: np.random.Generator) -> Descent:
    """Return a run in the basin at larger sizes."""
    data = redundant_gaussian(generator)
    return _along(data, 12, generator.integers(-4, 5, size=(data.d, data.d)) / 4)


def _along(data: AttentionData, factor: int, noise: Array) -> Descent:
    svm = exact_att_svm(data)
    X = np.zeros((data.d, data.d))
    if svm is not None:
        X = np.array([[float(arb(factor * 64 * x)) for x in row] for row in svm.W])
    return Descent(data, np.round(X) / 64 + noise / 8)


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


MISLED = PASSED_OVER
"""The run ends at the second-best token, which is no support vector."""
THINNED = (
    *(Dropped(data, np.array([[False, True, False]])) for data in (TIED, tokens.EQUAL)),
    Dropped(ORTHOGONAL, np.array([[False, False], [False, True]])),
)
ALL_SUPPORT = (tokens.EQUAL, TIED)
OUTSIDE: dict[Hypothesis, list[object]] = {
    FEASIBLE: [Dropped(NO_QUERY.data, np.array([[False, True]])), ONE_KEY, ONE_KEY.data],
    SHORT: [LEAPING],
}
"""Instances that violate a hypothesis, by hypothesis."""

DROPPED_HYPOTHESES = {
    "any start": changed(
        drop=[BASIN], variables=stepped(Descent, tokens.redundant_runs()), examples=[PASSED_OVER]
    ),
    "tied optimal tokens": changed(drop=[UNIQUE], examples=[TIED_CROWD]),
}

ANYWHERE = stepped(Descent, tokens.redundant_runs(), steps=ANY)
IN_BASIN = stepped(Descent, redundant_basin(), basin_larger)
PROGRAMMES = Records(AttentionData, redundant_data(), redundant_larger)
WITH_DROPPED = Records(Dropped, tokens.thinned(), tokens.thinned_larger)
OF_SUPPORT = Records(AttentionData, tokens.all_support(), tokens.all_support_larger)
