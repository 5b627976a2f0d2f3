"""Small runs from zero that miss exactly one hypothesis of the readings on training.

With X = 0 attention is uniform. `NO_QUERY`, `ALL_TIED`: the gradient is zero at every X.
`TIED_ASIDE`: the first input pulls nothing, so that w = (1, 0) of the second one is followed and
not the (1, 1) of both. `TIED_APART`: likewise, and the margin of the first falls for ever, though
(1, 2) meets both. `TIED_CROWD`: likewise, with the token (0, 0), which has margin 7/2 under
X^mm = (1/2, 3/2), at the margin of the run's own limit. `PASSED_OVER`: pulled away from its worst
token, the run settles at the second best one.
"""

from attsvm.primitives.descent_runs import Run

NO_QUERY = Run.of([[[1], [0]]], [[0]], scores=[[1, 0]])
"""There is no X^mm."""
ALL_TIED = Run.of([[[1], [0]]], [[1]], scores=[[0, 0]])
"""No input has two different scores; X^mm = 1 for the first token."""
TIED_ASIDE = Run.of([[[0, 1], [0, 0]], [[1, 0], [0, 0]]], [[1, 0], [1, 0]], scores=[[0, 0], [1, 0]])
"""Optimal tokens of the first input are tied; inputs do not pull against each other."""
TIED_APART = Run.of(
    [[[-1, 1], [0, 0]], [[1, 0], [0, 0]]], [[1, 0], [1, 0]], scores=[[0, 0], [1, 0]]
)
"""Optimal tokens of the first input are tied; the risk gap is below the threshold."""
TIED_CROWD = Run.of(
    [[[-1, 1], [0, 0], [0, 0]], [[1, 2], [-1, 2], [0, 0]]],
    [[1, 0], [1, 0]],
    scores=[[0, 0, 0], [1, 0, 0]],
    mask=[[True, True, False], [True, True, True]],
)
"""The same with a token that is no support vector."""
PASSED_OVER = Run.of([[[4], [0], [3]]], [[1]], scores=[[1, 0, -3]])
"""The risk gap of the start is above the threshold; X^mm = 1."""
