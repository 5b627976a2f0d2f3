"""Key differences from prior works: "Att-SVM is different from vanilla SVM".

The vanilla SVM is read as the one that separates optimal tokens from all others by u with a
threshold: <o_i, u> + b >= 1 and <x_it, u> + b <= -1. Let all inputs share one query z, and u = W z.
Then (Att-SVM) asks <o_i - x_it, u> >= 1.

For one input they are one programme. If u meets the constraints of (Att-SVM), then 2 u with b = 1 -
2 <o, u> has the optimal token at 1 and the others at -1 or less (`literal`, `amended-1`). Half of
a vanilla solution meets (Att-SVM) (`amended-2`). So the solution of (Att-SVM) is half of the
vanilla one.

For several inputs (Att-SVM) gives each input a threshold of its own. Half of a vanilla solution
still meets it (`amended-2`), so its solution is at most half as long. The converse fails: there the
sentence is true, as `tf/unlike-svm-several` says.
"""

from attsvm.theory import (
    Hypothesis,
    Integer,
    Matrix,
    Meeting,
    Reading,
    Real,
    Statement,
    Tensor,
    Vector,
    changed,
)
from properties.tf import SOURCE
from properties.tf.unlike_svm.conclusion import (
    above_threshold,
    below_optimal,
    below_threshold,
    half,
    others_below,
    others_not_below,
)

ATT = Hypothesis(
    "<o - x_t, u> >= 1 for all t",
    lambda m, v: m.at_least(m.min(m.dot(v.o, v.u) - v.x @ v.u), m.exact(1)),
    says="<o - x_t, u> >= 1 for the optimal token o and every other token x_t",
)
OPTIMAL = Hypothesis(
    "<o_i, u> + b >= 1 for all i",
    lambda m, v: m.at_least(m.min(v.o @ v.u + v.b), m.exact(1)),
    says="<o_i, u> + b >= 1 for the optimal token o_i of every input i",
)
OTHERS = Hypothesis(
    "<x_it, u> + b <= -1 for all i and t",
    lambda m, v: m.at_most(m.max(v.x @ v.u + v.b), m.exact(-1)),
    says="<x_it, u> + b <= -1 for every other token x_it",
)

PAIR = {"u": [1], "o": [1], "x": [[0]]}
SIDES = {"u": [1], "b": 0, "o": [[1], [1]], "x": [[[-1]], [[-1]]]}

SVM = Statement(
    "tf/unlike-svm",
    rests_on=("sim/definition-3.8",),
    source=SOURCE,
    place="Key differences from prior works",
    printed="Att-SVM is different from vanilla SVM",
    variables={
        "R": Integer(1, 4),
        "D": Integer(1, 3),
        "u": Vector("D"),
        "b": Real((0, 1)),
        "o": Vector("D"),
        "x": Meeting(ATT, Matrix("R", "D"), below_optimal),
    },
    conclusion=others_below,
    readings={
        "literal": Reading(
            "refuted",
            fairness="strained",
            read={"different": "that for one input no u of (Att-SVM) is half of a vanilla one"},
            conclusion=others_not_below,
            under=(ATT,),
            variables={"b": None},
            examples=(PAIR,),
            siblings={"a quarter of a vanilla one": changed(scale=4)},
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.tf.unlike_svm:prove_one_input",
            under=(ATT,),
            variables={"b": None},
            examples=(PAIR,),
            siblings={
                "3/2 u": changed(scale="3/2", examples=[PAIR]),
                "others at -9/8": changed(bound="-9/8", examples=[PAIR]),
            },
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.tf.unlike_svm:prove_half",
            conclusion=half,
            under=(OPTIMAL, OTHERS),
            variables={
                "n": Integer(1, 3),
                "o": Meeting(OPTIMAL, Matrix("n", "D"), above_threshold),
                "x": Meeting(OTHERS, Tensor(("n", "R", "D")), below_threshold),
            },
            tight=True,
            examples=(SIDES,),
        ),
    },
)
