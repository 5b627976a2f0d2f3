"""Definition 3.8: Att-SVM is a convex programme and defines X^mm.

The formula is lost in print ("we defined the Att-SVM as the following:" is followed by the next
section). X^mm is read from assumption 3.10, definition 4.1 and tf's Att-SVM: the least ||X||_F
with <A_it, X> >= 1 for A_it = (x_opt - x_t) z_i^T, t != opt_i, scores by definition 3.9.

Optimal tokens are unique, as the text says "the optimal token"; tied ones ask 0 >= 1 of each other.

literal-2 fails for a query 0, which asks 0 >= 1; without one, for two inputs of opposite labels
that ask X >= 1 and -X >= 1. The certificate is Farkas's: weights that are not negative and sum the
A_it to 0. amended: v u^T gives token t the margin (gamma_opt - gamma_t) y_i u^T z_i; divided by the
least of them it is feasible. So one input with z != 0 is always enough, and so are equal labels
with one shared query.

sharp-1: with multipliers w >= 0, X^mm = sum_j w_j A_j and <V, X^mm> = sum_j w_j <A_j, V> >=
sum_j w_j = ||X^mm||^2 for every feasible V, with equality where V has margin 1 wherever w_j > 0.
A second minimiser would be at distance 0. sharp-2: <sum_j s_j A_j, X^mm> >= 1 for shares s, with
equality at s = w / sum_j w_j, where the sum is X^mm/||X^mm||^2.
"""

from functools import partial

import numpy as np

from attsvm.data import AttentionData
from attsvm.exact import ExactData, dot, rationals
from attsvm.primitives.att_svm import (
    att_svm,
    constraints,
    exact_constraints,
    flat,
    of_rivals,
    pythagoras,
)
from attsvm.primitives.hypotheses import UNIQUE
from attsvm.theory import Hypothesis, Reading, Records, Statement, changed, stated
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Relation
from properties._support.published_data import one_input
from properties.sim import SOURCE
from properties.sim.definition_3_8.instances import (
    Classified,
    Pointed,
    Shared,
    anywhere,
    classified,
    classified_larger,
    classifies,
    headed,
    pointed,
    pointed_larger,
    shared,
    shared_larger,
)

climbed = partial(Records, climbed=True)


ONE_TOKEN = AttentionData.of([[[1.0]]], [[0.0]], scores=[[0.0]])
CANCELLING = Shared(
    AttentionData.of([[[1], [0], [-1]]], [[1]], scores=[[1, 0, -1]]), np.array([[0.0, 2.0, -1.0]])
)
TIED = Classified(
    AttentionData.of([[[1, 0], [0, 0]], [[0, 0], [1, 0]]], [[1, 0], [1, 0]], y=[1, 1], v=[0, 1]),
    np.array([1.0, 0.0]),
)
"""Both tokens of each input score 0, and the first ones ask for opposite margins."""


def meet(case: Pointed) -> bool:
    """All matrices meet the constraints of the optimal tokens."""
    exact = ExactData.of(case.data)
    A = exact_constraints(exact).values()
    return all(dot(a, flat(V)) >= 1 for V in rationals(case.points) for a in A)


def are_shares(case: Shared) -> bool:
    """No share is negative, and those of constrained tokens are not all 0."""
    exact = ExactData.of(case.data)
    constrained = [case.shares[token] for token in exact_constraints(exact)]
    return not (case.shares < 0).any() and any(constrained)


CONSTRAINTS = "A_j = (x_opt - x_t) z^T for each token t but the best of its input"


@stated(
    "t U + (1 - t) V with t = $weight meets all constraints and has $formula",
    r"\|t U + (1 - t) V\|^2 \le $lesser",
    {
        "lesser": {
            False: r"t \|U\|^2 + (1 - t) \|V\|^2",
            True: r"\min\left(\|U\|^2, \|V\|^2\right)",
        }
    },
)
def convex(m: Namespace, case: Pointed, weight: str = "0.5", lesser: bool = False) -> Relation:
    """A combination of U and V meets the constraints; its squared norm is at most a mean."""
    A, points = constraints(m, case.data), m.values(case.points)
    U, V = m.vec(points[0]), m.vec(points[1])
    t = m.exact(weight) if isinstance(weight, str) else weight
    shorter = shorter_mean(m, U, V, t, lesser)
    least = m.at_least(m.min(A @ (t * U + (1 - t) * V)), 1) if len(A) else shorter
    return m.all_of(least, shorter)


def shorter_mean(
    m: Namespace, U: Numbers, V: Numbers, t: Number, lesser: bool = False
) -> Comparison:
    """||t U + (1 - t) V||^2 is at most the mean of ||U||^2 and ||V||^2, or the lesser one."""
    point, squares = t * U + (1 - t) * V, (U @ U, V @ V)
    mean = m.minimum(*squares) if lesser else t * squares[0] + (1 - t) * squares[1]
    return m.at_most(point @ point, mean)


@stated(
    "",
    "$by > $least",
    {"by": {"best": r"\frac{1}{\|X^{mm}\|}", "sum": r"\min_j \langle A_j, \sum_k A_k\rangle"}},
    where="1/||X^mm|| = 0 stands for no X^mm",
)
def exists(m: Namespace, data: AttentionData, by: str = "best", least: Number = 0) -> Comparison:
    """1/||X^mm||, or the least margin of the sum of the A_j, is above a bound."""
    svm = att_svm(m, data)
    found = svm.margin
    if by == "sum" and len(svm.rows):
        found = m.min(svm.rows @ m.sums(svm.rows.T))
    return m.below(least - found, m.exact(0))  # a difference, whose slope a climb can follow


@stated(
    "X^mm exists and $formula",
    r"\min_j \langle A_j, v u^\top\rangle \le $share \frac{\|u\| \|v\|}{\|X^{mm}\|}",
    where=f"{CONSTRAINTS}, and scores are y_i <v, x_it> with labels y_i of 1 or -1 and a head v",
)
def bounded(m: Namespace, case: Classified, share: Number = 1) -> Relation:
    """X^mm exists, and the least margin of v u^T is at most ||u|| ||v|| / ||X^mm||."""
    svm = att_svm(m, case.data)
    u, v = m.values(case.u), m.values(case.data.v)
    defined = m.above(svm.margin, 0)
    if not len(svm.rows):
        return defined
    least = m.min(svm.rows @ m.vec(m.outer(v, u)))
    return m.all_of(defined, m.at_most(least, share * (m.norm(u) * m.norm(v) * svm.margin)))


@stated("", r"\|V - X^{mm}\|^$power \le \|V\|^$power - \|X^{mm}\|^$power")
def nearer(m: Namespace, case: Pointed, power: int = 2) -> Comparison:
    """||V - X^mm||^2 <= ||V||^2 - ||X^mm||^2, or with norms that are not squared."""
    V, X = m.vec(m.values(case.points)[0]), att_svm(m, case.data).vector
    return pythagoras(m, V, X, power=power)


@stated(
    "",
    r"\frac{\sum_j s_j}{\|X^{mm}\|} \le \left\|\sum_j s_j A_j\right\|",
    where=f"{CONSTRAINTS}, and 1/||X^mm|| = 0 stands for no X^mm",
)
def hull(m: Namespace, case: Shared) -> Comparison:
    """For shares s, not yet divided by their sum, sum_j s_j <= ||sum_j s_j A_j|| ||X^mm||."""
    svm, s = att_svm(m, case.data), of_rivals(m, case.data, case.shares)
    return m.at_most(m.sum(s) * svm.margin, m.norm(s @ svm.rows))


MEET = Hypothesis(
    "the matrices meet all constraints", meet, says="the matrices below meet all constraints"
)
SHARES = Hypothesis(
    "shares are not negative, nor all zero", are_shares, says="no s_j is negative and some is not 0"
)
CLASSIFIES = Hypothesis(
    "u classifies the queries by their labels",
    classifies,
    says="u^T z_i has the sign of the label of input i for every i",
)

DEFINITION = Statement(
    "sim/definition-3.8",
    source=SOURCE,
    place="Definition 3.8",
    printed="we defined the Att-SVM as the following: [the formula is missing]",
    variables=climbed(Pointed, pointed(), pointed_larger),
    conclusion=nearer,
    cost=2,
    readings={
        "literal-1": Reading(
            "proved",
            proof="symbolic.sim.programmes:prove_convex",
            variables=climbed(Pointed, pointed(2), lambda generator: pointed_larger(generator, 2)),
            conclusion=convex,
            under=(MEET,),
            examples=(Pointed(ONE_TOKEN, np.ones((2, 1, 1))),),
            siblings={
                "beyond the first matrix": changed(weight=2),
                "norm at most the lesser one": changed(lesser=True),
                "matrices anywhere": changed(drop=[MEET], variables=climbed(Pointed, anywhere(2))),
            },
        ),
        "literal-2": Reading(
            "refuted",
            variables=climbed(AttentionData, headed().map(lambda case: case.data)),
            conclusion=exists,
            under=(UNIQUE,),
            examples=(
                AttentionData.of([[[1], [0]]], [[0]], y=[1], v=[1]),
                AttentionData.of([[[1], [0]]] * 2, [[1], [1]], y=[1, -1], v=[1]),
            ),
            siblings={
                "the sum of the constraint matrices separates": changed(by="sum"),
                "1/||X^mm||_F is above 1/64": changed(least="1/64"),
                "optimal tokens may be tied": changed(drop=[UNIQUE]),
            },
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.sim.programmes:prove_classified",
            variables=climbed(Classified, classified(), classified_larger),
            conclusion=bounded,
            under=(UNIQUE, CLASSIFIES),
            siblings={
                "95% of the bound": changed(share="0.95"),
                "99.9% of the bound": changed(share="0.999"),
                "tied optimal tokens": changed(drop=[UNIQUE], examples=[TIED]),
                "any u": changed(drop=[CLASSIFIES], variables=climbed(Classified, headed())),
            },
        ),
        "sharp-1": Reading(
            "proved",
            proof="symbolic.sim.programmes:prove_nearer",
            under=(MEET,),
            tight=True,
            examples=(
                Pointed(ONE_TOKEN, np.ones((1, 1, 1))),
                Pointed(one_input(), np.array([[[0.0, 0.0], [1.0, 0.0]]])),
            ),
            siblings={
                "norms not squared": changed(power=1),
                "V anywhere": changed(drop=[MEET], variables=climbed(Pointed, anywhere())),
            },
        ),
        "sharp-2": Reading(
            "proved",
            proof="symbolic.sim.programmes:prove_hull",
            variables=climbed(Shared, shared(), shared_larger),
            conclusion=hull,
            under=(SHARES,),
            tight=True,
            examples=(Shared(one_input(), np.ones((1, 3))),),
            siblings={
                "shares of any sign": changed(
                    drop=[SHARES],
                    variables=climbed(Shared, shared(signed=True)),
                    examples=[CANCELLING],
                )
            },
        ),
    },
)
