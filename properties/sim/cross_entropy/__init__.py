"""Section 1: cross-entropy over V classes, the loss of language models.

The paper's theorems give each token one score, as for two classes. Read: they hold for more
classes. One position has tokens t, the rows of A, and attends with f = softmax(A x). Token t has
the score G_tc for class c, where G are the values times the head H. M_tc = G_ty - G_tc is its
margin for the label y against another class c, of which there are C = V - 1. So the loss is L(x) =
log(1 + sum_c exp(-<f, M_c>)), with M_c the margins against class c.

There are no optimal tokens any more. Two tokens, one of which has the label beat one class and the
other one another class, are better together than either alone (`literal`). With D = 1 and these two
the loss is least at x = 0: descent from 0 stays there, and selects neither.

No output has less loss than one with the largest margin of any token against each class (`sharp`).
This bound is approached if one token has all these margins and gets all attention (`SELECTED`).
Without such a token the loss stays away from the bound. Such a token is optimal, and bounds the
loss from below (`amended-1`). For two classes there always is one.

The gradient is -A^T (diag(f) - f f^T) M p with the probabilities p_c = exp(-<f, M_c>)/(1 + sum_e
exp(-<f, M_e>)) of the other classes (`amended-2`): M p takes the place of b h in lemma 3.11.

Descent from zero may select a worse token (`amended-3`); in a basin it selects the best one
(`amended-4`). `steps` says why.
"""

from attsvm.theory import Integer, Matrix, Meeting, Reading, Statement, Vector, changed
from properties.sim import SOURCE
from properties.sim.cross_entropy import conclusion as cases
from properties.sim.cross_entropy.hypotheses import WINS
from properties.sim.cross_entropy.steps import PRINTED
from properties.sim.cross_entropy.steps import STEPS as STEPS  # more readings of this statement

TOGETHER = {"A": [[1], [0]], "x": [0], "M": [[4, 0], [0, 4]]}
ONE_TOKEN = {"A": [[1]], "x": [1], "M": [[1]]}
SELECTED = {"A": [[1], [0]], "x": [16], "M": [[1, 2], [0, 1]]}
"""Attention is nearly all on the first of two tokens, which has the best margins."""
BY_CLASS = Matrix("n", "C")

LOSS = Statement(
    "sim/cross-entropy",
    rests_on=("sim/definition-3.9", "sim/lemma-3.11"),
    source=SOURCE,
    place="Section 1",
    printed=PRINTED,
    variables={
        "n": Integer(1, 4),
        "D": Integer(1, 3),
        "C": Integer(1, 4),
        "A": Matrix("n", "D"),
        "x": Vector("D"),
        "M": BY_CLASS,
    },
    conclusion=cases.above_token,
    readings={
        "literal": Reading(
            "refuted",
            fairness="strained",
            read={"cross entropy loss": "that the best token bounds this loss from below, too"},
            examples=(TOGETHER,),
            siblings={"half of it": changed(share="0.5")},
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.sim.cross_entropy:prove_token",
            under=(WINS,),
            variables={"M": Meeting(WINS, BY_CLASS, cases.lifted)},
            tight=True,
            examples=(SELECTED, ONE_TOKEN),
        ),
        "amended-2": Reading(
            "holds",
            conclusion=cases.derivative,
            examples=(TOGETHER, ONE_TOKEN),
            siblings={
                "second term left out": changed(second=0),
                "without the class of the label": changed(own=0),
            },
        ),
        "sharp": Reading(
            "proved",
            proof="symbolic.sim.cross_entropy:prove_margins",
            conclusion=cases.above_margins,
            tight=True,
            examples=(SELECTED, TOGETHER, ONE_TOKEN),
        ),
    },
)
