"""Small runs from zero, each of which violates exactly one hypothesis of the readings on training.

At X = 0 attention is uniform. In `NO_QUERY` and `ALL_TIED` the gradient is zero at every X. In
`TIED_ASIDE` the first input has no gradient, so that w, the first column of X, follows (1, 0), the
solution for the second input alone, and not (1, 1), that for both. So it does in `TIED_APART`,
where the margin of the first input falls for ever, although w = (1, 2) meets both constraints.
`TIED_CROWD` adds the token (0, 0): its margin under X^mm, which has w = (1/2, 3/2), is 7/2, but in
the limit of the run it is a support vector. In `PASSED_OVER` the run moves away from the worst
token and settles at the second-best one.
"""

from attsvm.primitives.descent import Descent

NO_QUERY = Descent.of([[[1], [0]]], [[0]], scores=[[1, 0]])
"""There is no X^mm."""
ALL_TIED = Descent.of([[[1], [0]]], [[1]], scores=[[0, 0]])
"""No input has two different scores; X^mm = 1 for the first token."""
TIED_ASIDE = Descent.of(
    [[[0, 1], [0, 0]], [[1, 0], [0, 0]]], [[1, 0], [1, 0]], scores=[[0, 0], [1, 0]]
)
"""Optimal tokens of the first input are tied; inputs are aligned."""
TIED_APART = Descent.of(
    [[[-1, 1], [0, 0]], [[1, 0], [0, 0]]], [[1, 0], [1, 0]], scores=[[0, 0], [1, 0]]
)
"""Optimal tokens of the first input are tied; the risk gap is below the threshold."""
TIED_CROWD = Descent.of(
    [[[-1, 1], [0, 0], [0, 0]], [[1, 2], [-1, 2], [0, 0]]],
    [[1, 0], [1, 0]],
    scores=[[0, 0, 0], [1, 0, 0]],
    mask=[[True, True, False], [True, True, True]],
)
"""The same with a token that is no support vector."""
PASSED_OVER = Descent.of([[[4], [0], [3]]], [[1]], scores=[[1, 0, -3]])
"""The risk gap of the start is above the threshold; X^mm = 1."""
