"""Definition 3.6: the loss, and the direction in which descent on it moves attention.

g is the logistic function of definition 3.5; the definition breaks off at "Then,". "Given a
prediction head v_i ..., the score of a token ... is gamma_{l0 t} = B_{l0} v_i^T A_it. The optimal
token ... opt in argmax_{t in [T]} gamma" (definition 3.9). Three letters are not introduced there.
T is read as the number n of tokens, the factor B_{l0} in R^{n x V} as the label b, and v_i as
column i0 of the values y; so gamma_t = b h_t.

A has n rows (tokens) and D columns, and f = softmax(A x). The expected score is u = b <f, h>, and F
is the weight of all tokens of largest score.

Along -grad g(u) the change of u is -g'(u) ||grad u||^2. So with tokens 1 and 0 of scores 1 and 0,
both u and F decrease at x = 0. A decreasing loss such as g(-u) or log(1 + exp(-u)), or ascent on g,
increases u if grad u is not 0. F need not increase even then: tokens 1, 3, 0 with scores 2, 1, 0 at
x = 0 make x grow, away from the worst token and towards the second best. F does not decrease if all
rivals have the same score, as in part 2 of assumption 3.10: u is then an affine function of F.
Proofs: `symbolic.sim.definition_3_6`.
"""

from attsvm.theory import Hypothesis, Reading, Statement, Vector, changed
from properties.sim import SOURCE
from properties.sim._support.entry import POINT
from properties.sim.definition_3_6.conclusion import drift, rivals_alike

TWO_TOKENS = {"A": [[1], [0]], "x": [0], "h": [1, 0], "b": 1}
ONE_TOKEN = {"A": [[1]], "x": [0], "h": [1], "b": 1}
PASSED = {"A": [[1], [3], [0]], "x": [0], "h": [2, 1, 0], "b": 1}


INCREASING, DECREASING = 1, -1
ALIKE = Hypothesis("all rivals of the optimal tokens score the same", rivals_alike)

DEFINITION = Statement(
    "sim/definition-3.6",
    rests_on=("sim/definition-3.3",),
    source=SOURCE,
    place="Definition 3.6 with definitions 3.5 and 3.9",
    printed="L(x, y)_{l0,j0,i0} := g(<f(x)_{l0,j0}, h(y)_{l0,i0}> b_{l0,j0,i0})",
    variables=POINT,
    hypotheses=(ALIKE,),
    conclusion=drift,
    readings={
        "literal-1": Reading(
            "refuted",
            fairness="strained",
            constants={"sign": INCREASING, "quantity": "score"},
            under=(),
            examples=(TWO_TOKENS,),
            siblings={
                "the weight of the optimal tokens does not fall": changed(quantity="weight"),
                "the weight of the optimal tokens does not fall on the decreasing loss": changed(
                    quantity="weight", sign=DECREASING, examples=[PASSED]
                ),
            },
        ),
        "literal-2": Reading(
            "refuted",
            fairness="strained",
            constants={"sign": INCREASING, "quantity": "weight"},
            under=(),
            examples=(TWO_TOKENS,),
            siblings={
                "the expected score does not fall": changed(quantity="score"),
                "the weight of the optimal tokens does not fall on the decreasing loss": changed(
                    sign=DECREASING, examples=[PASSED]
                ),
            },
        ),
        "amended-1": Reading(
            "refuted",
            constants={"sign": DECREASING, "quantity": "weight"},
            under=(),
            examples=(TWO_TOKENS, PASSED),
            siblings={
                "with the increasing loss": changed(sign=INCREASING),
                "the expected score does not fall on the increasing loss": changed(
                    sign=INCREASING, quantity="score"
                ),
            },
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.sim.definition_3_6:prove",
            constants={"sign": DECREASING, "quantity": "score"},
            under=(),
            examples=(TWO_TOKENS, ONE_TOKEN, PASSED),
            siblings={
                "the weight of the optimal tokens": changed(quantity="weight", examples=[PASSED]),
                "strictly below 0 in place of at most 0": changed(strict=True),
            },
        ),
        "amended-3": Reading(
            "proved",
            proof="symbolic.sim.definition_3_6:prove_equal_rivals",
            constants={"sign": DECREASING, "quantity": "weight"},
            variables={"h": Vector("n", levels=2)},
            examples=(TWO_TOKENS, ONE_TOKEN),
            siblings={
                "rivals of any scores": changed(
                    drop=[ALIKE],
                    variables={"h": Vector("n")},
                    examples=[PASSED],
                ),
                "strictly below 0 in place of at most 0": changed(strict=True),
            },
        ),
    },
)
