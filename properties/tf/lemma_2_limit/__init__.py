"""After lemma 2: the optimal loss is approached, and only if the norm tends to infinity.

"Question: Can we ever achieve the optimal loss L_*? Answer: Yes, if softmax selects optimal tokens.
But we have to let ||W||_F -> infinity." L is the training risk and L_* its value at the optimal
tokens, those of the best score of their input; x_it are its tokens, z_i its query.

"Yes" needs a W that separates: (x_i,o - x_it)^T W z_i > 0 for all tokens t of input i with a lower
score, and for one of its optimal tokens o. The query 0 admits none. So literal-1 falls, in which
"if softmax selects" is read as the way to L_*, not as a condition on the data. The norm is needed
only if two scores of an input differ (literal-2, as in lemma 2).

Let M be the least-norm W for which these are at least 1, over all choices of o among tied optimal
tokens. Let N = ||M||_F and x = ||W||_F / N, or x = 0 if no W separates. No W of that norm has all
of them above x. So in some input a token t of lower score has odds of at least exp(-x) against each
of the k optimal tokens. These therefore lack a weight of at least 1 / (1 + k exp(x)). The attended
score lacks this share of the gap from the best to the next score (`sharp-1`). So without separation
the risk gap is at least min_i [l(best - next / (1 + k)) - l(best)] / n at every W. Conversely, at W
= x M each of the r tokens of lower score has odds of at most exp(-x), so the weight off the optimal
tokens is at most r / (r + exp(x)) (`sharp-2`). Both bounds tend to 0 with exp(-x). If l' < 0 at the
best scores, the risk gap along W^mm, and at the best W of its norm, is exp(-||W|| / ||W^mm||) up to
constant factors. Both bounds are attained by one input of two tokens.
"""

from dataclasses import replace

from attsvm.primitives.hypotheses import LINEAR_HEAD, TWO_SCORES
from attsvm.primitives.loss_hypotheses import STRICT_LOSS, STRICTLY_DECREASING
from attsvm.primitives.losses import LOSSES
from attsvm.primitives.steps import headed
from attsvm.theory import Hypothesis, Reading, Records, Statement, changed
from properties.tf import SOURCE
from properties.tf.lemma_2_limit import letters
from properties.tf.lemma_2_limit.conclusion import (
    above,
    approached,
    from_above,
    from_below,
    reached,
    separable,
)
from properties.tf.lemma_2_limit.points import (
    BOTH_TIED,
    FAINT,
    ONE_TOKEN,
    OPPOSED,
    PAIR,
    PUBLISHED,
    SPREAD,
    ZERO_QUERY,
    Point,
    points,
)


def decreasing(case: Point) -> bool:
    """Return whether the loss is strictly decreasing."""
    return LOSSES[case.loss].strictly_decreasing


SEPARATED = Hypothesis(
    "the scores of some input differ, and some W separates",
    separable,
    says="the scores of some input differ, and some W separates an optimal token of each input "
    "from those of lower score",
    proposition=letters.separated,
)

LIMIT = Statement(
    "tf/lemma-2-limit",
    rests_on=("tf/lemma-2",),
    source=SOURCE,
    place="Intuition, after lemma 2",
    printed="Can we ever achieve the optimal loss L_*? Yes, if softmax selects optimal tokens. "
    "But we have to let ||W||_F -> infinity",
    variables=Records(Point, points()),
    conclusion=approached,
    cost=3,
    violating={
        STRICTLY_DECREASING: [replace(SPREAD, loss="logistic")],
        TWO_SCORES: [ONE_TOKEN],
        SEPARATED: [ZERO_QUERY],
    },
    readings={
        "literal-1": Reading(
            "refuted, certified",
            fairness="degenerate",
            read={"if softmax selects optimal tokens": "how, not where, L_* is achieved"},
            under=(LINEAR_HEAD, STRICT_LOSS),
            variables=Records(Point, headed(points())),
            conclusion=reached,
            examples=(ZERO_QUERY, OPPOSED),
            siblings={
                "by a margin above a thousandth of a token": changed(
                    share="1/1000", examples=[FAINT]
                )
            },
        ),
        "literal-2": Reading(
            "refuted, certified",
            fairness="degenerate",
            under=(LINEAR_HEAD, STRICT_LOSS),
            variables=Records(Point, headed(points())),
            conclusion=above,
            examples=(ONE_TOKEN,),
            siblings={"a quarter of the way to the worst tokens": changed(share="1/4")},
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.tf.lemma_2_limit:prove",
            under=(STRICTLY_DECREASING, TWO_SCORES),
            examples=(PAIR, ZERO_QUERY, OPPOSED, BOTH_TIED, PUBLISHED),
            siblings={"twice the exponent": changed(faster=2, examples=[PAIR])},
        ),
        "sharp-1": Reading(
            "proved",
            proof="symbolic.tf.lemma_2_limit:prove_below",
            under=(STRICTLY_DECREASING, TWO_SCORES),
            conclusion=from_below,
            tight=True,
            examples=(PAIR, ZERO_QUERY, OPPOSED, BOTH_TIED),
            siblings={"1/2 of the exponent": changed(faster=2, examples=[PAIR])},
        ),
        "sharp-2": Reading(
            "proved",
            proof="symbolic.tf.lemma_2_limit:prove_above",
            under=(STRICTLY_DECREASING, SEPARATED),
            conclusion=from_above,
            tight=True,
            examples=(PAIR, SPREAD, BOTH_TIED, PUBLISHED),
            siblings={"twice the exponent": changed(faster=2, examples=[PAIR])},
        ),
    },
)
