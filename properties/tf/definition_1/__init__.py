"""Definition 1: the optimal token has the largest score, and minimises the training loss.

"Suppose l is decreasing: W should maximize inner sum ... we can define optimal token which
minimizes the training loss L(W). Definition 1 (Optimal token). Given v, the optimal token for X_i
is the index opt_i in argmax_t Y_i v^T x_it."

gamma_t = Y_i v^T x_it are the scores of one input, whose label Y_i in {-1, 1} is made part of v. s
is its attention, so its part of the loss is l(<s, gamma>). The loss is a sum over inputs, so one
input is enough. s may be any weights that attention has or tends to: `tf/softmax-range` and
`tf/lemma-2-limit` say whether some W gives them.

"The" optimal token need not be unique: tokens may be tied, as all are for v = 0 (literal-1). All of
them are optimal (literal-2): for every decreasing loss, strictly or not, no s has a loss below
l(best). The converse fails for losses that are flat somewhere (literal-3): the hinge max(0, 1 - u)
is least for tokens of score 1 and of score 2. For strictly decreasing losses the least value is
attained exactly by the s with no weight off the optimal tokens (amended).

sharp: with w the weight off the optimal tokens, best - <s, gamma> is at least w times the gap from
the best to the next score. It is at most w times the gap from the best to the worst score. So l(<s,
gamma>) tends to l(best) exactly if w tends to 0, for strictly decreasing continuous losses.
"""

from attsvm.primitives.losses import LOSSES
from attsvm.theory import Choice, Defined, Integer, Reading, Statement, Tensor, Vector, changed
from properties._support.risk_formulas import DECREASES, DECREASING, family
from properties.tf import SOURCE
from properties.tf.definition_1.conclusion import attention, between, few, least, only

TIED = {"X": [[1], [1]], "v": [1], "w": [1, 0], "loss": "log-loss"}
APART = {"X": [[2], [1]], "v": [1], "w": [1, 1], "loss": "log-loss"}
HINGED = {**APART, "w": [0, 1], "loss": "hinge"}
FLAT = {**APART, "w": [0, 1], "loss": "squared-hinge"}
PROOF = "symbolic.tf.definition_1:prove"

DEFINITION = Statement(
    "tf/definition-1",
    source=SOURCE,
    place="Intuition, definition 1",
    printed="Suppose l is decreasing: W should maximize inner sum ... we can define optimal token "
    "which minimizes the training loss L(W). Definition 1 (Optimal token). Given v, the optimal "
    "token for X_i is the index opt_i in argmax_t Y_i v^T x_it",
    variables={
        "T": Integer(1, 5),
        "d": Integer(1, 3),
        "X": Tensor(("T", "d"), levels=3),
        "v": Vector("d"),
        "w": Vector("T"),
        "loss": Choice(LOSSES),
        "gamma": Defined(lambda m, v: v.X @ v.v),
        "s": Defined(attention),
    },
    conclusion=only,
    readings={
        "literal-1": Reading(
            "refuted, certified",
            fairness="strained",
            under=(),
            variables={"w": None, "loss": None, "s": None},
            conclusion=few,
            constants={"most": 1},
            examples=({key: TIED[key] for key in ("X", "v")},),
            siblings={"at most two tokens are optimal": changed(most=2)},
        ),
        "literal-2": Reading(
            "proved",
            proof=PROOF,
            constants={"more": 0},
            under=(DECREASES,),
            conclusion=least,
            examples=(TIED, APART, HINGED),
            siblings={
                "a loss that turns upwards": changed(
                    drop=[DECREASES],
                    variables=family("squared"),
                    examples=[{**APART, "loss": "squared"}],
                ),
                "a thousandth of the weight off the optimal tokens more": changed(
                    more="0.001", examples=[HINGED]
                ),
            },
        ),
        "literal-3": Reading(
            "refuted, certified",
            fairness="strained",
            constants={"most": 0},
            under=(DECREASES,),
            examples=(HINGED, FLAT),
            siblings={"no weight above 1/4 off them": changed(most="1/4")},
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.tf.definition_1:prove_only",
            constants={"most": 0},
            under=(DECREASING,),
            examples=(TIED, APART),
            siblings={
                "increasing loss": changed(
                    drop=[DECREASING],
                    variables=family("logistic"),
                    examples=[{**APART, "loss": "logistic"}],
                )
            },
        ),
        "sharp": Reading(
            "proved",
            strength="least",
            proof=PROOF,
            constants={"share": 1},
            under=(DECREASES,),
            conclusion=between,
            examples=(APART,),
            siblings={"99.9% of both bounds": changed(share="0.999")},
        ),
    },
)
