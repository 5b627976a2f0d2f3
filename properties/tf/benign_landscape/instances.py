"""Data sets with points W of the landscape, stationary or not, searches and hypotheses."""

from dataclasses import replace

import numpy as np
from flint import fmpq_mat
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.exact import ExactData
from attsvm.primitives import run_programs
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.primitives.descent import Descent
from attsvm.primitives.hypotheses import feasible
from attsvm.primitives.losses import SLOPED as LOSSES
from attsvm.primitives.steps import flattened, headed
from attsvm.strategies import arrays, composite, sizes
from attsvm.strategies.data import attention_data
from attsvm.theory import Hypothesis, Records, concludes, stated
from attsvm.theory.types import Comparison, Namespace
from properties._support import token_choices as choices
from properties._support import token_letters as letters
from properties.tf._support import descent_instances as cases
from properties.tf.benign_landscape import parts

REST = cases.from_zero([[[1, 0, 0], [0, 0, 0], [-2, 0, 0]]], scores=[[1.0, -4.0, 0.0]])
"""Separable, with a dimension for each token, and stationary at 0."""
REST_ELSEWHERE = replace(REST, start=np.diag([1.0, 0.0, 0.0]))
FINITE = cases.from_zero([[[0], [-1], [-6], [-8]]], scores=[[10.0, -14.0, 9.0, -5.0]])
"""Separable, with a strict minimum at 0."""
BESIDE = replace(
    cases.from_zero(
        [[[1], [0], [-2], [0]], [[0], [-1], [-6], [-8]]],
        scores=[[1.0, -4.0, 0.0, 0.0], [10.0, -14.0, 9.0, -5.0]],
        mask=[[True, True, True, False], [True] * 4],
    ),
    loss="correlation",
)
"""The first input is that of `REST` on a line. The second one has the same query and outweighs
it."""
BYSTANDER = cases.from_zero([[[1, 0], [0, 0], [-2, 0], [0, 1]]], scores=[[1.0, -4.0, 0.0, 5.0]])
"""Two parts: the first three tokens, and the last one, which scores more than they can at rest."""
LEVEL = cases.from_zero([[[1, 0], [0, 0], [-2, 0], [0, 1]]], scores=[[3.0, -2.0, 2.0, 1.0]])
"""The same parts; the last token has the score at which the others rest."""
FALLING = cases.from_zero([[[0], [-1], [-6], [-8]]], scores=[[100.0, -6.0, -4.0, -5.0]])
"""The tokens and the order of scores of `FINITE`, but no stationary point."""
PEAK = cases.from_zero(
    [[[1, 1], [-1, 1], [-1, -1], [1, -1], [0, 0]]], scores=[[-1.0, -1.0, -1.0, -1.0, 4.0]]
)
"""A square and its centre: two dependencies in the plane, and a strict minimum at 0."""
WITHIN = cases.from_zero([[[0], [1], [-1]]], scores=[[2.0, -1.0, -1.0]])
"""The best token lies between the others: a strict minimum at 0."""
IN_ORDER = cases.from_zero([[[0], [1], [2], [4]]], scores=[[0.0, 1.0, 2.0, 8.0]])
"""Two affine dependencies; scores rise along the line."""
IN_TURN = cases.from_zero([[[0, 0], [2, 0], [2, 2], [0, 2]]], scores=[[0.0, 1.0, 2.0, 3.0]])
"""Each level splits the corners of a square by another line; scores rise along no direction."""
SHARED_TOKEN = cases.wide(cases.SHARED_TOKEN, 6)
"""With labels and a head, each query the input's first token, a dimension for each token, and at
rest at W = 0."""
FACING = AttentionData.of(
    [[[1, 0, 0, 0], [0, 0, 0, 0]]] * 2,
    [[1, 0, 0, 0], [-1, 0, 0, 0]],
    y=[1, 1],
    v=[1, 0, 0, 0],
)
"""Equal inputs with opposite queries: what raises one margin lowers the other."""
EQUAL = AttentionData.of([[[1, 0], [1, 0]]], [[1, 0]], scores=[[1, 0]])
TWICE = AttentionData.of([[[1], [0]], [[1], [0]]], [[1], [-1]], scores=[[1, 0], [1, 0]])


def dependencies(case: AttentionData | Descent, i: int) -> int:
    """Return the number of affine dependencies of the tokens of input i."""
    data = case if isinstance(case, AttentionData) else case.data
    return len(parts.dependencies(ExactData.of(data).X[i]))


def own_query(case: Descent) -> bool:
    """Return whether the query of the first input is no combination of the other queries."""
    Z = ExactData.of(case.data).Z
    return int(fmpq_mat(Z).rank()) > (int(fmpq_mat(Z[1:]).rank()) if Z[1:] else 0)


def separable(case: Descent) -> bool:
    """Return whether the Att-SVM of the first input by itself has a solution."""
    return feasible(choices.input_of(case.data, 0))


@concludes(letters.all_solvable)
@stated(
    "the Att-SVM has a solution for every choice of tokens as the optimal ones",
    checked=lambda m, data: run_programs.solvable_for(m, data, choices.every(data)),
)
def solvable(m: Namespace, data: AttentionData) -> Comparison:
    flags = [int(exact_att_svm(data, alpha) is not None) for alpha in choices.every(data)]
    return m.equal(m.values(flags), m.values([1] * len(flags)))


@composite
def points(draw: st.DrawFn) -> Descent:
    """Draw small data at W = 0 or elsewhere; half are stationary at 0 or have scores in order.

    With scores c_t + mean, where sum_t c_t = 0 and sum_t c_t x_t = 0, the gradient is 0 at W = 0.
    Scores that are linear in the tokens are in order along a direction.
    """
    data = draw(attention_data(n=(1, 2), T=(2, 4), d=(1, 3)))
    scores = np.array(data.gamma)
    if draw(st.booleans()):
        scores[0] = data.X[0] @ draw(arrays(data.d))
    if data.n == 1 and draw(st.booleans()):
        scores = np.zeros((1, data.T))
        for b in parts.dependencies(ExactData.of(data).X[0]):
            scores[0] += float(draw(sizes(-2, 2))) * np.array([float(x) for x in b])
    moved = AttentionData(data.X, data.Z, scores=scores)
    start = np.zeros((data.d, data.d)) if draw(st.booleans()) else draw(arrays(data.d, data.d))
    return Descent(moved, start, draw(st.sampled_from(LOSSES)))


AFFINE = Hypothesis(
    "tokens of each input are affinely independent",
    lambda case: all(dependencies(case, i) == 0 for i in range(case.n)),
    proposition=letters.affinely_independent,
)
SCORES = Hypothesis(
    "the first input has two different scores",
    lambda case: len(set(ExactData.of(case.data).gamma[0])) > 1,
    proposition=letters.two_scores,
)
OWN = Hypothesis(
    "the first query is no combination of the others",
    own_query,
    proposition=letters.own_query,
)
FEW = Hypothesis(
    "tokens of the first input have one affine dependency at most",
    lambda case: dependencies(case, 0) <= 1,
)
SEPARABLE = Hypothesis("the first input has an Att-SVM of its own", separable)

DATA = Records(
    AttentionData, st.one_of(choices.on_axes(), attention_data(n=(1, 2), T=(1, 3), d=(1, 4)))
)
POINTS = Records(Descent, st.one_of(points(), cases.descents()), fixed=("step",))
HEADED = Records(Descent, flattened(headed(st.one_of(points(), cases.descents()))), fixed=("step",))
