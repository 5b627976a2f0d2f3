"""Instances of part 2 of theorem 3.14: data on which descent turns away, and pairs of inputs."""

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.exact import ExactData
from attsvm.primitives import descent_letters as letters
from attsvm.primitives.descent import Descent
from attsvm.primitives.hypotheses import EQUAL_RIVALS, SEVERAL_TOKENS, UNIQUE, rivals_equal
from attsvm.strategies import arrays, composite, numbers, sizes
from attsvm.theory import Hypothesis
from properties._support.published_data import one_input
from properties._support.small_runs import TWO_TOKENS

OPPOSED = Descent.of([[[1], [0]]] * 2, [[1], [-1]], scores=[[1, 0]] * 2)
FAR_START = replace(TWO_TOKENS, start=np.array([[-24.0]]))
OUTNUMBERED = Descent.of(
    [[[3, 0], [0, 0]], [[3, 0], [0, 0]], [[-4, -1], [0, 0]]], [[1, 0]] * 3, scores=[[0.25, 0]] * 3
)
"""Two equal inputs move the third one to its worse token."""
THREE_EACH = Descent.of(
    [[[0, 0], [2, 1], [5, 1]], [[0, 0], [-3, -2], [0, -1]]],
    [[1, 0]] * 2,
    scores=[[0.25, 0.0, 0.0]] * 2,
)
REJOINED = Descent.of([[[1, 0], [0, 0]], [[-2, 1], [0, 0]]], [[1, 0]] * 2, scores=[[0.25, 0.0]] * 2)
UNEVEN = Descent.of(
    [[[1, 0], [0, 0]], [[-2, 1], [0, 0]]], [[1, 0]] * 2, scores=[[1.0, 0.0], [0.25, 0.0]]
)
RETURNING = replace(
    Descent.of([[[5, 0], [0, 0]], [[-4, 1], [0, 0]]], [[1, 0]] * 2, scores=[[8, 0]] * 2), step=512.0
)
"""From zero the second margin falls at first; the second step loses the first input for ever."""
FAR_APART = replace(REJOINED, start=np.array([[16.0, 0.0], [0.0, 0.0]]))
PUBLISHED = Descent(one_input(), np.zeros((2, 2)))
SAME_RIVALS = Descent.of([[[1], [0], [0]]], [[1]], scores=[[1, 0, 0]])


@composite
def pairs(draw: st.DrawFn) -> Descent:
    """Draw two inputs of two tokens with the same two scores and one query or two, from zero."""
    d, low = draw(sizes(1, 3)), draw(numbers())
    scores = [[low + draw(sizes(1, 16)) / 4, low]] * 2
    X, Z = draw(arrays(2, 2, d)), np.eye(1, d).repeat(2, 0)
    if draw(st.booleans()):
        Z = Z + draw(arrays(2, d))
    return Descent(AttentionData.of(X, Z, scores=scores), np.zeros((d, d)))


def scores_shared(run: Descent) -> bool:
    """Return whether each input has one token of a high score, and all others share a lower one.

    Both scores are the same for all inputs.
    """
    exact = ExactData.of(run.data)
    return exact.unique and len({frozenset(row) for row in exact.gamma}) == 1 and rivals_equal(run)


SAME = Hypothesis(
    "optimal tokens share a score, all others another one",
    scores_shared,
    says="each input has one token of a highest score and all others of one lower score, and these "
    "two scores are the same for all inputs",
    implies=(UNIQUE,),
    proposition=letters.scores_shared,
)
PAIRS = Hypothesis(
    "there are two inputs, of two tokens each",
    lambda run: run.data.n == 2 and all(len(x) == 2 for x in ExactData.of(run.data).X),
    says="there are two inputs, of two tokens each",
    implies=(
        SEVERAL_TOKENS,
        EQUAL_RIVALS,
    ),
    proposition=letters.two_pairs,
)
