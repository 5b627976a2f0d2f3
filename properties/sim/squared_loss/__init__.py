"""Section 1: the l2 loss (<softmax(A x), h> - b)^2, and whether the theory holds for it.

Optimal tokens, Att-SVM and theorem 3.14 are stated for the logistic function alone. Read: they are
meant for "the regression task such as sentiment analysis" with the l2 loss, too.

b is the target, and the optimal token has the score nearest to it. If b lies between two scores, a
mixture of tokens has less loss than any token (`literal-1`): its score is b, at a finite x. Beyond
this x descent turns back (`literal-2`), so the norm does not diverge and there is no max-margin
direction. If b is not below the best score (or, with other signs, not above the worst one), the
loss decreases on all scores, and the best token bounds it from below (`amended-1`).

Let all rivals of the best token, of score beta, have the same score, less by `gap`, as in part 2 of
assumption 3.10. B_t is the row of rival t less that of the best token, and V has B_t V <= -1 for
all t, as X^mm. With the attention s to the best token and b not below its score, -<grad L, V> >= 2
gap^2 s (1 - s)^2 (`amended-2`), with equality at margins of 1 and b = beta. So L has no stationary
point, and the norm diverges. For b = beta the bound is of second order in 1 - s. Losses with a
negative slope at the best score have one of first order. So has the l2 loss for b above all scores:
descent converges from the basin (`amended-3`, with b = 1).
"""

from attsvm.theory import Reading, Statement, changed
from properties.sim import SOURCE
from properties.sim._support.entry import POINT, on_line
from properties.sim.squared_loss import conclusion
from properties.sim.squared_loss.runs import PRINTED
from properties.sim.squared_loss.runs import RUNS as RUNS  # a reading on runs

INSIDE = on_line([1, -1], x=0, h=[1, -1], b=0)
"""The target is the mean of both scores."""
EDGE = on_line([1, 0], x=0, h=[1, 0], b=1)
PAST = {"B": [[-1]], "x": [1], "V": [1], "beta": 1, "gap": 2, "b": 0}
"""Attention to the better of the scores 1 and -1 exceeds 1/2, so the output is above b = 0."""
BETWEEN = {**PAST, "x": [2], "b": 0.5}
"""The target lies between both scores, nearer to the better one."""
REACHED = {**PAST, "b": 1}

LOSS = Statement(
    "sim/squared-loss",
    rests_on=("sim/definition-3.9", "sim/l2-objective"),
    source=SOURCE,
    place="Section 1",
    printed=PRINTED,
    variables=POINT,
    conclusion=conclusion.best_token,
    readings={
        "literal-1": Reading(
            "refuted",
            fairness="strained",
            read={"l2 loss": "that an optimal token bounds this loss from below, too"},
            examples=(INSIDE,),
            siblings={"half of it": changed(share="0.5")},
        ),
        "literal-2": Reading(
            "refuted",
            fairness="strained",
            read={"l2 loss": "that descent on it moves along X^mm, whatever the target is"},
            constants={"share": 0},
            conclusion=conclusion.gains,
            under=conclusion.OF_NEARER,
            variables=conclusion.RIVALS,
            examples=(PAST, BETWEEN),
            siblings={"by half of 2 gap^2 s (1 - s)^2": changed(share="0.5")},
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.sim.squared_loss:prove_bound",
            under=(conclusion.NOT_BELOW,),
            tight=True,
            examples=(EDGE,),
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.sim.squared_loss:prove_gain",
            conclusion=conclusion.gains,
            under=conclusion.OF_BEST,
            variables=conclusion.RIVALS,
            tight=True,
            examples=(REACHED,),
        ),
    },
)
