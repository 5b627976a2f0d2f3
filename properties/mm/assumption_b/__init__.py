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

from attsvm.theory import Reading, Statement, changed
from properties.mm import SOURCE
from properties.mm._support.max_margin import V_EXISTS
from properties.mm.assumption_b import conclusion, instances

ASSUMPTION = Statement(
    "mm/assumption-b",
    rests_on=("mm/v-svm",),
    source=SOURCE,
    place="Joint convergence of regularized path on v and p, Assumption B",
    printed="Let Gamma = 1/||v(alpha)|| and define s_i = S(K_i p). For all p, solving v-SVM with "
    "x_i^p := X_i^T s_i results in a label margin of at most Gamma - nu max_i (1 - s_i,alpha_i), "
    "for some nu > 0",
    variables=instances.SEPARABLE,
    conclusion=conclusion.shrinks,
    cost=3,
    readings={
        "literal-1": Reading(
            "refuted, certified",
            fairness="strained",
            under=(),
            variables=instances.RELAXABLE,
            examples=instances.SHRINKING,
            siblings={"m(beta) < Gamma/2": changed(share="0.5")},
        ),
        "literal-2": Reading(
            "refuted, certified",
            fairness="strained",
            under=(conclusion.OPTIMAL,),
            variables=instances.RELAXABLE,
            examples=instances.SHRINKING_OPTIMAL,
            siblings={
                "without the condition on idle inputs": changed(
                    idlers="any", examples=[instances.LONGER]
                )
            },
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.mm.mean_choices:prove",
            under=(),
            variables=instances.ATTENDED,
            conclusion=conclusion.bounded,
            tight=True,
            examples=instances.BOUNDED,
            siblings={
                "twice nu": changed(share=2),
                "the sum over inputs in place of the largest": changed(
                    over="sum",
                    examples=[instances.BOUNDED_BY_LARGEST],
                ),
            },
        ),
        "sharp-1": Reading(
            "holds",
            strength="exact",
            proof="symbolic.mm.best_nu:prove_exactly",
            under=(V_EXISTS, conclusion.REACHED),
            variables=instances.DOUBTED,
            conclusion=conclusion.decided,
            cost=6,
            examples=instances.DECIDED,
            siblings={
                "twice nu": changed(share=2),
                "nu/2 as the largest number that will do": changed(best="0.5"),
                "nu without the idle inputs": changed(over="counted"),
                "any multipliers in place of the largest": changed(
                    weights=False,
                    examples=[instances.DECIDED_BY_LARGEST],
                ),
            },
        ),
        "sharp-2": Reading(
            "proved",
            strength="exact",
            proof="symbolic.mm.programmes:prove_void",
            under=(V_EXISTS, conclusion.SATURATED),
            variables=instances.RELAXABLE_LARGER,
            conclusion=conclusion.void,
            examples=instances.VOID,
            siblings={"p'(alpha) = 1.05 p(alpha)": changed(share="1.05")},
        ),
    },
    violating={
        V_EXISTS: instances.UNSOLVED,
        conclusion.SATURATED: instances.UNSATURATED,
        conclusion.REACHED: instances.UNREACHED,
    },
)
