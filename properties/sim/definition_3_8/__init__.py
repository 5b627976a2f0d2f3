"""Definition 3.8: Att-SVM is a convex programme and defines X^mm.

The formula is missing in print. X^mm is read from assumption 3.10, definition 4.1 and tf's Att-SVM:
the least ||X||_F with <A_it, X> >= 1 for A_it = (x_opt - x_t) z_i^T, t != opt_i, scores by
definition 3.9. Optimal tokens are unique: the text says "the optimal token".

literal-2 fails for a query 0, which asks 0 >= 1, and for inputs that ask X >= 1 and -X >= 1. The
certificate is Farkas's: weights w >= 0, not all 0, such that the sum of w_it A_it is 0. amended:
v u^T gives token t the margin (gamma_opt - gamma_t) y_i u^T z_i; divided by the smallest of these
it is feasible. So inputs of equal labels with one shared query other than 0 have an X^mm.

sharp-1: with multipliers w >= 0, X^mm = sum_j w_j A_j and <V, X^mm> = sum_j w_j <A_j, V> >= sum_j
w_j = ||X^mm||^2 for every feasible V, with equality if V has margin 1 for every w_j > 0. A second
minimiser would be at distance 0. sharp-2: <sum_j s_j A_j, X^mm> >= 1 for shares s of sum 1.
Equality holds at s = w / sum_j w_j; the sum is then X^mm/||X^mm||^2.
"""

import numpy as np

from attsvm.data import AttentionData
from attsvm.primitives import programme_letters as letters
from attsvm.primitives.hypotheses import UNIQUE
from attsvm.theory import Hypothesis, Reading, Records, Statement, changed
from properties._support.published_data import one_input
from properties.sim import SOURCE
from properties.sim.definition_3_8.conclusion import bounded, convex, exists, hull, nearer
from properties.sim.definition_3_8.instances import (
    CANCELLING,
    ONE_TOKEN,
    TIED,
    Classified,
    Pointed,
    Shared,
    anywhere,
    are_shares,
    classified,
    classified_larger,
    classifies,
    headed,
    meet,
    pointed,
    pointed_larger,
    shared,
    shared_larger,
)

MEET = Hypothesis(
    "the matrices meet all constraints",
    meet,
    proposition=letters.points_meet,
    says="U and V give optimal tokens logits larger by at least 1 than those of other tokens",
)
SHARES = Hypothesis(
    "shares are not negative, nor all zero",
    are_shares,
    proposition=letters.shares,
    says="the numbers s_j are at least 0, and some is not 0",
)
CLASSIFIES = Hypothesis(
    "u classifies the queries by their labels",
    classifies,
    proposition=letters.classified,
    says="u^T z_i has the sign of the label of input i for every i",
)

DEFINITION = Statement(
    "sim/definition-3.8",
    source=SOURCE,
    place="Definition 3.8",
    printed="we defined the Att-SVM as the following: [the formula is missing]",
    variables=Records(Pointed, pointed(), pointed_larger),
    conclusion=nearer,
    cost=2,
    readings={
        "literal-1": Reading(
            "proved",
            proof="symbolic.sim.programme_facts:prove_convex",
            variables=Records(Pointed, pointed(2), lambda generator: pointed_larger(generator, 2)),
            conclusion=convex,
            under=(MEET,),
            examples=(Pointed(ONE_TOKEN, np.ones((2, 1, 1))),),
            siblings={
                "t = 2": changed(weight=2),
                "at most min(||U||^2, ||V||^2)": changed(lesser=True),
                "U and V that violate constraints": changed(
                    drop=[MEET], variables=Records(Pointed, anywhere(2))
                ),
            },
        ),
        "literal-2": Reading(
            "refuted",
            fairness="strained",
            variables=Records(AttentionData, headed().map(lambda case: case.data)),
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
            proof="symbolic.sim.programme_facts:prove_classified",
            variables=Records(Classified, classified(), classified_larger),
            conclusion=bounded,
            under=(UNIQUE, CLASSIFIES),
            siblings={
                "95% of the bound": changed(share="0.95"),
                "99.9% of the bound": changed(share="0.999"),
                "tied optimal tokens": changed(drop=[UNIQUE], examples=[TIED]),
                "any u": changed(drop=[CLASSIFIES], variables=Records(Classified, headed())),
            },
        ),
        "sharp-1": Reading(
            "proved",
            proof="symbolic.sim.programme_facts:prove_nearer",
            under=(MEET,),
            tight=True,
            examples=(
                Pointed(ONE_TOKEN, np.ones((1, 1, 1))),
                Pointed(one_input(), np.array([[[0.0, 0.0], [1.0, 0.0]]])),
            ),
            siblings={
                "norms not squared": changed(power=1),
                "V anywhere": changed(drop=[MEET], variables=Records(Pointed, anywhere())),
            },
        ),
        "sharp-2": Reading(
            "proved",
            proof="symbolic.sim.programme_facts:prove_hull",
            variables=Records(Shared, shared(), shared_larger),
            conclusion=hull,
            under=(SHARES,),
            tight=True,
            examples=(Shared(one_input(), np.ones((1, 3))),),
            siblings={
                "shares of any sign": changed(
                    drop=[SHARES],
                    variables=Records(Shared, shared(signed=True)),
                    examples=[CANCELLING],
                )
            },
        ),
    },
)
