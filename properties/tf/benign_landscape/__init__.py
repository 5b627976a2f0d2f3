"""A benign landscape: when the Att-SVM is feasible, and the risk has no stationary point.

"Importantly, we show that over-parameterization catalyzes global convergence by ensuring the
feasibility of the SVM problem and by guaranteeing a benign optimization landscape devoid of
stationary points." (abstract) Over-parameterised is not defined; here it says d >= n T, a dimension
for each token.

Neither part holds for every such data set: two equal tokens or a query 0 leave no W^mm, and tokens
1, 0, -2 along one axis of R^3 with scores 1, -4, 0, which are separable, have the gradient 0 at W =
0 for every loss. What large dimensions give to almost all data are independent queries and affinely
independent tokens, from d >= max(n, T - 1) on. Then every Local-SVM has a solution (`amended-1`),
as some M gives each rival the margin 1. For the landscape one input is enough (`amended-2`), if its
query is no combination of the others'. At a stationary W its tokens satisfy sum_t c_t x_t = 0 and
sum_t c_t = 0, c_t = s_t (gamma_t - u), which has the sign of gamma_t - u: the hulls of the tokens
that score above u and of those below meet. So there is no such W where at each level these two
hulls are apart, as they are for affinely independent tokens, for scores that rise along some
direction, and for one best token that has an Att-SVM with rivals of one score. For one dependency
of all tokens it is all that is needed (`sharp-2`), for more of them not, nor does the order of
scores tell: tokens 0, -1, -6, -8 have stationary points with scores 10, -14, 9, -5 (`FINITE`), and
none with 100, -6, -4, -5 (`FALLING`).

More is said in `symbolic/tf/benign_landscape.py`.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from flint import fmpq_mat
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.exact import ExactData
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.primitives.descent import Descent
from attsvm.primitives.hypotheses import feasible
from attsvm.primitives.loss_hypotheses import FALLING_LOSS, SLOPED_LOSS, STRICT_LOSS
from attsvm.primitives.losses import SLOPED as LOSSES
from attsvm.primitives.steps import flattened
from attsvm.strategies import arrays, composite, sizes
from attsvm.strategies.data import attention_data
from attsvm.theory import Hypothesis, Measured, Reading, Records, Statement, changed, stated
from attsvm.theory.types import Comparison, Namespace
from properties.tf import SOURCE
from properties.tf._support import descent_instances as cases
from properties.tf._support import token_choices as choices
from properties.tf._support.descent_instances import not_stationary
from properties.tf._support.token_choices import LARGE
from properties.tf.benign_landscape import minima, parts, stationary_points

PRINTED = (
    "over-parameterization catalyzes global convergence by ensuring the feasibility of the SVM "
    "problem and by guaranteeing a benign optimization landscape devoid of stationary points"
)
REST = cases.from_zero([[[1, 0, 0], [0, 0, 0], [-2, 0, 0]]], scores=[[1.0, -4.0, 0.0]])
"""Separable, with a dimension a token, and stationary at 0."""
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
"""The first input is that of `REST` on a line; the second, of the same query, outweighs it."""
BYSTANDER = cases.from_zero([[[1, 0], [0, 0], [-2, 0], [0, 1]]], scores=[[1.0, -4.0, 0.0, 5.0]])
"""The scores set the parts of the dependency apart, and those of the last token are beyond both."""
LEVEL = cases.from_zero([[[1, 0], [0, 0], [-2, 0], [0, 1]]], scores=[[3.0, -2.0, 2.0, 1.0]])
"""The same parts, where the last token has the score at which the other ones rest."""
FALLING = cases.from_zero([[[0], [-1], [-6], [-8]]], scores=[[100.0, -6.0, -4.0, -5.0]])
"""The tokens and the order of scores of `FINITE`, and no stationary point."""
PEAK = cases.from_zero(
    [[[1, 1], [-1, 1], [-1, -1], [1, -1], [0, 0]]], scores=[[-1.0, -1.0, -1.0, -1.0, 4.0]]
)
"""A square and its centre: two dependencies in the plane, and a strict minimum at 0."""
WIDE = np.diag([1.0, 0.0, 0.0])
WITHIN = cases.from_zero([[[0], [1], [-1]]], scores=[[2.0, -1.0, -1.0]])
"""The best token lies between the others: a strict minimum at 0."""
IN_ORDER = cases.from_zero([[[0], [1], [2], [4]]], scores=[[0.0, 1.0, 2.0, 8.0]])
"""Two affine dependencies; scores rise along the line."""
IN_TURN = cases.from_zero([[[0, 0], [2, 0], [2, 2], [0, 2]]], scores=[[0.0, 1.0, 2.0, 3.0]])
"""Each level splits the corners of a square by another line; no direction has all in order."""
EQUAL = AttentionData.of([[[1, 0], [1, 0]]], [[1, 0]], scores=[[1, 0]])
TWICE = AttentionData.of([[[1], [0]], [[1], [0]]], [[1], [-1]], scores=[[1, 0], [1, 0]])


def dependencies(case: Any, i: int) -> int:
    """How many affine dependencies the tokens of input i have."""
    return len(parts.dependencies(ExactData.of(getattr(case, "data", case)).X[i]))


def queries_independent(case: Any) -> bool:
    """The queries are linearly independent."""
    Z = ExactData.of(getattr(case, "data", case)).Z
    return int(fmpq_mat(Z).rank()) == len(Z)


def own_query(case: Descent) -> bool:
    """The query of the first input is no combination of those of the others."""
    Z = ExactData.of(case.data).Z
    return int(fmpq_mat(Z).rank()) > (int(fmpq_mat(Z[1:]).rank()) if Z[1:] else 0)


def separable(case: Descent) -> bool:
    """The Att-SVM of the first input by itself has a solution."""
    return feasible(choices.input_of(case.data, 0))


@stated("the Att-SVM has a solution for every choice of tokens as the optimal ones")
def solvable(m: Namespace, data: AttentionData) -> Comparison:
    found = [int(exact_att_svm(data, alpha) is not None) for alpha in choices.every(data)]
    return m.equal(m.values(found), m.values([1] * len(found)))


@composite
def points(draw: st.DrawFn) -> Descent:
    """Small data at 0 and elsewhere; half of them stationary at 0, or in order, by their scores.

    With scores c_t + mean, sum_t c_t = sum_t c_t x_t = 0, the gradient is 0 at W = 0.
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


PARTS = (
    "parts are the least into which the m_t equal tokens of an input, taken as one with their mean "
    "score, fall such that each affine dependency is a sum of dependencies within parts; a part "
    "rests at u if u is its only score, or sum_t b_t ln(b_t/(m_t (gamma_t - u))) = 0 for its only "
    "dependency b or -b, with scores above u for b_t > 0 and below u for b_t < 0, or u is the mean "
    "of its scores with weights m_t y^k_t for tokens x + k_t v and y > 0 with sum_{s < t} m_s m_t "
    "(k_t - k_s) (gamma_t - gamma_s) y^(k_s + k_t) = 0"
)
MINIMUM = Measured(
    "W is no local minimum of L, as $formula",
    minima.rounded(minima.descends),
    minima.descends,
    strict=True,
    notation=r"\left\|\nabla L(W)\right\| > 0 \text{ or } \lambda_{\min}(\nabla^2 L(W)) < 0",
)
EXISTENCE = Measured(
    "$formula exactly if in each input all parts rest at one score",
    minima.rounded(stationary_points.stationary_exactly_where_at_rest),
    stationary_points.stationary_exactly_where_at_rest,
    strict=True,
    notation=r"\nabla L(W) = 0 \text{ for some } W",
    where=PARTS,
)
LEAST = Measured(
    "$formula exactly if in each input all parts rest at one score, $largest of theirs",
    minima.rounded(stationary_points.least_exactly_where_largest),
    stationary_points.least_exactly_where_largest,
    strict=True,
    notation=r"L \text{ has a local minimum}",
    where=PARTS,
    symbols={"largest": {True: "a local maximum", False: "one"}},
)

QUERIES = Hypothesis("queries are independent", queries_independent)
AFFINE = Hypothesis(
    "tokens of each input are affinely independent",
    lambda case: all(dependencies(case, i) == 0 for i in range(case.n)),
)

FEASIBILITY = Statement(
    "tf/benign-landscape",
    rests_on=("tf/all-support-no-stationary", "tf/overparameterisation"),
    source=SOURCE,
    place="Abstract",
    printed=PRINTED,
    variables=Records(
        AttentionData, st.one_of(choices.on_axes(), attention_data(n=(1, 2), T=(1, 3), d=(1, 4)))
    ),
    conclusion=solvable,
    cost=2,
    violating={QUERIES: [TWICE], AFFINE: [EQUAL]},
    readings={
        "literal-1": Reading(
            "refuted, certified",
            read={"over-parameterization": "a dimension for each token, d >= n T"},
            under=(LARGE,),
            examples=(EQUAL,),
            siblings={"of fewer dimensions": changed(drop=[LARGE], examples=[TWICE])},
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.tf.benign_landscape:prove_feasible",
            under=(QUERIES, AFFINE),
        ),
    },
)

INPUTS = Records(
    Descent, st.one_of(stationary_points.inputs(), points()), fixed=("step",), climbed=True
)

SCORES = Hypothesis(
    "the first input has two different scores",
    lambda case: len(set(ExactData.of(case.data).gamma[0])) > 1,
)
OWN = Hypothesis("the first query is no combination of the others", own_query)
APART = Hypothesis(
    "tokens that score above any level can be separated from those below",
    stationary_points.levels_apart,
    says="tokens of the first input that score above any level can be separated from those below",
)
FEW = Hypothesis(
    "tokens of the first input have one affine dependency at most",
    lambda case: dependencies(case, 0) <= 1,
)
SEPARABLE = Hypothesis("the first input has an Att-SVM of its own", separable)
KNOWN = Hypothesis(
    "parts of each input have one score each, or one affine dependency, or are on a line",
    stationary_points.parts_known,
)

LANDSCAPE = Statement(
    "tf/benign-landscape",
    source=SOURCE,
    place="Abstract",
    printed=PRINTED,
    variables=Records(
        Descent, st.one_of(points(), cases.descents()), fixed=("step",), climbed=True
    ),
    conclusion=not_stationary,
    cost=3,
    violating={
        FALLING_LOSS: [cases.FLAT],
        SLOPED_LOSS: [cases.FLAT],
        SCORES: [cases.TIED],
        OWN: [BESIDE, cases.OPPOSED],
        APART: [REST],
        FEW: [FINITE],
        SEPARABLE: [WITHIN],
        QUERIES: [cases.OPPOSED],
        KNOWN: [PEAK],
    },
    readings={
        "literal-2": Reading(
            "refuted, certified",
            read={"over-parameterization": "a dimension for each token, d >= n T"},
            under=(LARGE, STRICT_LOSS),
            variables=Records(
                Descent,
                flattened(st.one_of(points(), cases.descents())),
                fixed=("step",),
                climbed=True,
            ),
            examples=(REST,),
            siblings={"of fewer dimensions": changed(drop=[LARGE], examples=[cases.OPPOSED])},
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.tf.benign_landscape:prove_no_stationary_point",
            under=(FALLING_LOSS, SCORES, OWN, APART),
            examples=(IN_ORDER, IN_TURN),
        ),
        "sharp-1": Reading(
            "proved",
            proof="symbolic.tf.benign_landscape:prove_no_minimum",
            under=(SLOPED_LOSS, SCORES, OWN, FEW, SEPARABLE),
            conclusion=MINIMUM,
            examples=(REST,),
        ),
        "sharp-2": Reading(
            "proved",
            proof="symbolic.tf.parts_at_rest:prove_where_stationary",
            under=(FALLING_LOSS, QUERIES, KNOWN),
            variables=INPUTS,
            conclusion=EXISTENCE,
            examples=(REST, WITHIN, cases.TIED, BYSTANDER, LEVEL, FINITE, FALLING),
        ),
        "sharp-3": Reading(
            "proved",
            proof="symbolic.tf.parts_at_rest:prove_where_least",
            under=(FALLING_LOSS, QUERIES, KNOWN),
            variables=INPUTS,
            conclusion=LEAST,
            examples=(REST, WITHIN, cases.TIED, LEVEL, FINITE, FALLING),
            siblings={
                "wherever they rest": changed(largest=False, examples=[replace(REST, start=WIDE)])
            },
        ),
    },
)
