"""Small runs that tell readings on training apart; most violate exactly one hypothesis.

At X = 0 attention is uniform. In `NO_QUERY` and `ALL_TIED` the gradient is zero at every X. In
`TIED_ASIDE` the first input has no gradient. So w, the first column of X, follows (1, 0), the
solution for the second input alone, and not (1, 1), the solution for both. The same holds in
`TIED_APART`; there the margin of the first input decreases for ever, although w = (1, 2) meets both
constraints. `TIED_CROWD` adds the token (0, 0). Its margin under X^mm, which has w = (1/2, 3/2), is
7/2, but in the limit of the run it is a support vector. In `PASSED_OVER` the run moves away from
the worst token and settles at the second-best one.

`NOT_ALIGNED` meets both parts of assumption 3.10 and starts from zero. Tokens (1/2, 0), (-1/2, 0)
and (-2, 1), 0, labels 1, head (4, 9) give the scores 2, -2 and 1, 0. With z = (1, 0) only the first
column w of X matters. Input 1 asks for w . (1, 0) >= 1, input 2 for w . (-2, 1) >= 1, so X^mm has w
= (1, 3). The first input has the larger score gap. Its negative gradient moves w along (1, 0),
which lowers the second margin twice as fast as it raises the first. So the second input comes to
select its worse token, and w follows (1, 0) for ever.
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
"""As `TIED_APART`, with a token that is no support vector."""
PASSED_OVER = Descent.of([[[4], [0], [3]]], [[1]], scores=[[1, 0, -3]])
"""The risk gap of the start is above the threshold; X^mm = 1."""
TWO_TOKENS = Descent.of([[[1], [0]]], [[1]], scores=[[1, 0]])
ONE_TOKEN = Descent.of([[[1]]], [[1]], scores=[[1]])
NOT_ALIGNED = Descent.of(
    [[[0.5, 0.0], [-0.5, 0.0]], [[-2.0, 1.0], [0.0, 0.0]]], [[1, 0], [1, 0]], y=[1, 1], v=[4, 9]
)
ONE_DRAGGED = Descent.of([[[1, 0], [0, 3], [0, 1], [0, 0]]], [[1, 0]], scores=[[2, 1, 0, -2]])
"""All tokens of the one input are support vectors, and X^mm has w = (1, 0). The run selects the
second token."""
NOT_TIGHT = Descent.of([[[1], [0], [-1]]], [[1]], scores=[[1, 0, 0]])
"""The last token has margin 2 under X^mm = 1."""
TIED_BESIDE = Descent.of([[[1], [0]]] * 2, [[1]] * 2, scores=[[1, 0], [0, 0]])
"""The tokens of the second input are tied, so it has no gradient; all margins under X^mm are 1."""
THREE_SCORES = Descent.of([[[1], [0], [0]]], [[1]], scores=[[2, 1, 0]])
UNEVEN_SCORES, UNEVEN = (
    Descent.of([[[1, 0], [0, 0], [1, -2]]], [[1, 0]], [[8, 0], [4, 0]], scores=[[3, 1, last]])
    for last in (0, 1)
)
