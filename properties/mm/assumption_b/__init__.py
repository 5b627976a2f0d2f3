"""Assumption B: the label margin shrinks as attention leaves the selected tokens.

"Let Gamma = 1/||v(alpha)|| and define s_i = S(K_i p). For all p, solving v-SVM with x_i^p := X_i^T
s_i results in a label margin of at most Gamma - nu max_i (1 - s_i,alpha_i), for some nu > 0."

The label margin m(p) is the largest min_i Y_i v^T x_i^p over heads v of norm at most 1. Call an
input idle if its multiplier is 0 in all multipliers of v(alpha). Without v(alpha) there is no
Gamma, and B is taken as false. The literal readings evaluate two conditions that B needs; both are
decided in rationals. First, m is below Gamma at every other choice beta of tokens that attention
can reach (p(beta) exists). Second, if p(alpha) exists, no idle input can be the slowest to
saturate. That is, let a prompt have margins of at least 1 in the inputs that are not idle, and of
at least 0 in the idle ones. Then all its margins are at least 1. Otherwise B fails for every nu >
0. Along such a prompt times R, heads turn towards the idle inputs at no cost of first order, so
Gamma - m(p) is of a higher order than max_i (1 - s_i,alpha_i). `literal-2` falls on the published
inputs {0, (1, 1)}, {0, (1, -1)} and {0, (0.5, 1.5)}, whose third one does not support v(alpha) =
(0, 1). Along p = (3, -0.9) R the first two saturate faster, and the label margin is that of
attention on the selected tokens.

More is in `symbolic/mm/assumption_b.py`.
"""

import numpy as np

from attsvm.theory import Reading, Records, Statement, changed
from properties.mm import SOURCE
from properties.mm._support import token_selections as cases
from properties.mm._support.attended import PARALLEL, TANGENT, Attended, Doubted, attended, doubted
from properties.mm._support.max_margin import V_EXISTS
from properties.mm._support.token_selections import Selection
from properties.mm.assumption_b import conclusion

ASSUMPTION = Statement(
    "mm/assumption-b",
    rests_on=("mm/v-svm",),
    source=SOURCE,
    place="Joint convergence of regularized path on v and p, Assumption B",
    printed="Let Gamma = 1/||v(alpha)|| and define s_i = S(K_i p). For all p, solving v-SVM with "
    "x_i^p := X_i^T s_i results in a label margin of at most Gamma - nu max_i (1 - s_i,alpha_i), "
    "for some nu > 0",
    variables=Records(Selection, cases.separable(), cases.larger, lets=cases.SELECTED),
    conclusion=conclusion.shrinks,
    cost=3,
    readings={
        "literal-1": Reading(
            "refuted, certified",
            fairness="strained",
            under=(),
            variables=Records(
                Selection, cases.separable() | cases.relaxable(), lets=cases.SELECTED
            ),
            examples=(
                conclusion.HEAVY,
                conclusion.LONGER,
                conclusion.IDLE,
                *cases.PUBLISHED,
                cases.OPPOSED,
            ),
            siblings={"m(beta) < Gamma/2": changed(share="0.5")},
        ),
        "literal-2": Reading(
            "refuted, certified",
            fairness="strained",
            under=(conclusion.OPTIMAL,),
            variables=Records(
                Selection, cases.separable() | cases.relaxable(), lets=cases.SELECTED
            ),
            examples=(conclusion.LONGER, conclusion.IDLE, *cases.PUBLISHED),
            siblings={
                "without the condition on idle inputs": changed(
                    idlers="any", examples=[conclusion.LONGER]
                )
            },
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.mm.mean_choices:prove",
            under=(),
            variables=Records(Attended, attended(), lets=cases.SELECTED),
            conclusion=conclusion.bounded,
            tight=True,
            examples=(
                Attended(PARALLEL, np.zeros(1), np.ones(1)),
                Attended(cases.PUBLISHED[0], np.zeros(2), np.array([0.0, 1.0])),
                Attended(conclusion.HEAVY, np.array([-2.0]), -np.ones(1)),
                Attended(conclusion.ORIGIN, np.zeros(1), np.ones(1)),
            ),
            siblings={
                "twice nu": changed(share=2),
                "the sum over inputs in place of the largest": changed(
                    over="sum",
                    examples=[
                        Attended(conclusion.FOLDED, np.array([-2.0, 0.0]), np.array([-1.0, 0.0]))
                    ],
                ),
            },
        ),
        "sharp-1": Reading(
            "holds",
            strength="exact",
            proof="symbolic.mm.best_nu:prove_exactly",
            under=(V_EXISTS, conclusion.REACHED),
            variables=Records(Doubted, doubted(), lets=cases.SELECTED),
            conclusion=conclusion.decided,
            cost=6,
            examples=(
                Doubted(PARALLEL, np.zeros(1), np.ones(1), 1.0),
                Doubted(PARALLEL, np.zeros(1), np.ones(1), 0.75),
                Doubted(conclusion.IDLE, np.array([64.0, -64.0]), np.array([1.0, 0.0]), 0.125),
                Doubted(TANGENT, np.array([64.0, -62.0]), np.array([1.0, 0.125]), 0.125),
                Doubted(conclusion.LONGER, np.zeros(2), np.zeros(2), 0.125),
                Doubted(conclusion.OF_NOTHING, np.zeros(1), np.zeros(1), 2.0),
                Doubted(conclusion.ASLANT, np.zeros(2), np.zeros(2), 0.25),
                Doubted(conclusion.ASLANT, np.zeros(2), np.zeros(2), 0.375),
                Doubted(conclusion.SQUARE, np.zeros(2), np.zeros(2), 0.25),
            ),
            siblings={
                "twice nu": changed(share=2),
                "nu/2 as the largest number that will do": changed(best="0.5"),
                "nu without the idle inputs": changed(over="counted"),
                "any multipliers in place of the largest": changed(
                    weights=False,
                    examples=[Doubted(conclusion.EQUALS, np.zeros(3), np.zeros(3), 0.15625)],
                ),
            },
        ),
        "sharp-2": Reading(
            "holds",
            strength="exact",
            proof="symbolic.mm.assumption_b:prove_void",
            under=(V_EXISTS, conclusion.SATURATED),
            variables=Records(
                Selection,
                cases.separable() | cases.relaxable(),
                cases.larger,
                lets=cases.SELECTED,
            ),
            conclusion=conclusion.void,
            examples=(cases.PUBLISHED[0], cases.SEPARATED),
            siblings={"p'(alpha) = 1.05 p(alpha)": changed(share="1.05")},
        ),
    },
    violating={
        V_EXISTS: [cases.OPPOSED, Doubted(conclusion.ORIGIN, np.zeros(1), np.ones(1), 1.0)],
        conclusion.SATURATED: [cases.PUBLISHED[1]],
        conclusion.REACHED: [Doubted(conclusion.HIDDEN, np.zeros(3), np.zeros(3), 0.125)],
    },
)
