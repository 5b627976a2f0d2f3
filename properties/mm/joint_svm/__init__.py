"""Joint v- and p-SVMs: margins of p(alpha) relaxed to 0 if an input does not support v.

    p(alpha) = argmin ||p|| s.t. p^T (k_i,alpha_i - k_it) >= 1 for i in S, >= 0 for i not in S;
    S is the set of indices that x_i,alpha_i is a support vector when solving v-SVM.

Inputs, keys and alpha are those of `mm/v-svm` and `mm/p-svm`; D_it = k_i,alpha_i - k_it. S is the
set of inputs of tight margin, Y_i v(alpha)^T x_i,alpha_i = 1, unless stated otherwise.

Neither programme need have a solution: tokens 1 and 1 of one input have no p(alpha). The relaxed
programme can have a solution although the p-SVM has none (RESCUED). "Support vector" can mean an
input of tight margin, one of positive multiplier, or one whose multiplier is positive in every dual
solution. If an input of the last kind is removed, v(alpha) changes. On the published inputs {0,
(1,1)}, {0, (1,-1)} and {0, (0.5,1)} with labels 1, -1 and 1 all margins of v = (0, 1) are tight,
but the multipliers (1/2, 1/2, 0) and (0, 1/3, 2/3) both prove it optimal. So S is {1, 2, 3}, {1,
2}, {2, 3} or {2}, and p(alpha) is (4/3, 1/3), (1, 0), (4/3, 1/3) or (2/3, -1/3): three directions.
If two inputs select one token under one label, no input is of the last kind. S is then empty, and
p(alpha) = 0 has no direction (TWICE).

In `amended` C = conv{D_it: i in S} + cone{D_it: i not in S} has distance 1/||p(alpha)|| from 0.
`sharp-1` is Pythagoras' inequality: relaxing enlarges the feasible set, whose point nearest to 0 is
p(alpha). In `sharp-2` the solution p_S for S alone meets the other constraints, and is shortest
among all that meet those of S. It solves the whole p-SVM only if all its margins are at least 1.
"""

from hypothesis import strategies as st

from attsvm.theory import Reading, Records, Statement, changed
from properties.mm import SOURCE
from properties.mm._support import max_margin as svm
from properties.mm._support import token_selections as cases
from properties.mm._support.max_margin import V_EXISTS
from properties.mm._support.token_selections import Selection
from properties.mm.joint_svm import conclusion

OTHERS = {
    "the right side times 1.05": changed(share="1.05"),
    "p(alpha) without relaxation": changed(against="plain"),
}

PROGRAMMES = Statement(
    "mm/joint-svm",
    rests_on=("mm/p-svm", "mm/v-svm"),
    source=SOURCE,
    place="Attention SVMs, joint v and p-SVMs",
    printed="p(alpha) = argmin ||p|| s.t. p^T (k_i,alpha_i - k_it) >= 1 for i in S, >= 0 for i "
    "not in S; S is the set of indices that x_i,alpha_i is a support vector when solving v-SVM",
    variables=Records(Selection, cases.relaxable(), cases.larger, lets=cases.SELECTED),
    conclusion=conclusion.both_exist,
    cost=3,
    readings={
        "literal-1": Reading(
            "refuted, certified",
            fairness="strained",
            read={"support vector": "an input of tight margin"},
            under=(),
            variables=Records(Selection, cases.selections(), lets=cases.SELECTED),
            examples=(
                cases.ONE_TOKEN,
                *cases.PUBLISHED,
                cases.RESCUED,
                cases.DUPLICATE,
                cases.OPPOSED,
            ),
            siblings=svm.above_nearest(cases.NARROW),
        ),
        "literal-2": Reading(
            "refuted, certified",
            fairness="strained",
            read={
                "support vector": "an input of tight margin, or one whose multiplier is positive "
                "in all multipliers of v(alpha)"
            },
            under=(),
            variables=Records(Selection, cases.relaxable(), lets=cases.SELECTED),
            conclusion=conclusion.unambiguous,
            examples=(cases.ONE_TOKEN, cases.PUBLISHED[1], cases.PUBLISHED[0], cases.TWICE),
            siblings=OTHERS,
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.mm.programmes:prove_off_hull",
            under=(V_EXISTS,),
            variables=Records(
                Selection,
                st.one_of(cases.selections(), cases.relaxable(duplicates=True)),
                cases.larger,
                lets=cases.SELECTED,
            ),
            conclusion=conclusion.exists_off_hull,
            examples=(cases.ONE_TOKEN, *cases.PUBLISHED, cases.RESCUED, cases.DUPLICATE),
            siblings={
                **svm.OTHER_DISTANCES,
                "the shortest difference in place of C": changed(of="row"),
            },
        ),
        "sharp-1": Reading(
            "proved",
            proof="symbolic.mm.programmes:prove_shorter",
            under=(V_EXISTS, conclusion.P_EXISTS),
            conclusion=conclusion.shorter,
            tight=True,
            examples=(cases.ONE_TOKEN, *cases.PUBLISHED, cases.ORTHOGONAL),
            siblings={"twice the left side": changed(share=2)},
        ),
        "sharp-2": Reading(
            "proved",
            strength="exact",
            proof="symbolic.mm.programmes:prove_of_support",
            under=(V_EXISTS, conclusion.RANKS),
            variables=Records(
                Selection,
                cases.relaxable(duplicates=True),
                cases.larger,
                lets=cases.SELECTED,
            ),
            conclusion=conclusion.by_support,
            examples=(cases.ONE_TOKEN, *cases.PUBLISHED, cases.RESCUED),
            siblings={
                **OTHERS,
                "p_S may rank another token first": changed(
                    drop=[conclusion.RANKS],
                    under=[conclusion.S_EXISTS],
                ),
            },
        ),
    },
    violating={V_EXISTS: [cases.OPPOSED], conclusion.P_EXISTS: [cases.RESCUED]},
)
