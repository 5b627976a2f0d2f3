"""Lemma 2: the training risk lies strictly above its value at the optimal tokens.

"Suppose l is strictly decreasing and smooth. Then, training risk obeys L(W) > L_* := (1/n) sum_i
l(Y_i v^T x_i,opt)."

L(W) = (1/n) sum_i l(<softmax(X_i W z_i), gamma_i>), with the scores gamma_it = Y_i v^T x_it of the
tokens x_it, the rows of X_i, for labels Y_i in {-1, 1}. opt is a token of largest score. Free
scores are the same with one more dimension: the score is a further coordinate, v picks it out, and
W and z_i are 0 there. No token is absent; the sentence does not speak of masks.

Proof of amended: with best = max_t gamma_it, the score that input i attends to is best - delta_i
for delta_i = sum_t s_t (best - gamma_it) >= 0. Softmax is positive, so delta_i > 0 if two scores
differ, and then l(best - delta_i) > l(best). Without two different scores every delta_i is 0 and
L(W) = L_* for every W, so this condition is also necessary. Smoothness is not needed, nor are
labels of size 1. Strict decrease is needed: a loss that is flat from 1 on has the same value at all
scores above 1.
"""

from attsvm.theory import Reading, Statement, changed
from attsvm.theory.types import Comparison, Namespace, Number, Values
from properties._support.risk_formulas import (
    BEYOND,
    DECREASING,
    FLAT,
    LABELS,
    ONE_KEY,
    PUBLISHED,
    SMALLEST,
    SMOOTH,
    TIED,
    TWO_OPTIMAL,
    TWO_SCORES,
    VARIABLES,
    ZERO_QUERY,
    family,
    risk_gap,
    worst_gap,
)
from properties.tf import SOURCE

LISTED = (DECREASING, SMOOTH, LABELS)


def above(m: Namespace, v: Values, share: Number) -> Comparison:
    """Return that the excess risk exceeds a share of its largest possible value."""
    return m.below(share * worst_gap(m, v), risk_gap(m, v))


OTHERS = {
    "increasing loss": changed(
        drop=[DECREASING],
        variables=family("logistic"),
        examples=[{**published, "loss": "logistic"} for published in PUBLISHED],
    ),
    "above the risk at the worst tokens": changed(share=1, examples=PUBLISHED),
    "halfway to the worst tokens": changed(share="0.5"),
}

LEMMA = Statement(
    "tf/lemma-2",
    rests_on=("tf/softmax-range", "tf/definition-1"),
    source=SOURCE,
    place="Lemma 2",
    printed="Suppose l is strictly decreasing and smooth. Then, training risk obeys "
    "L(W) > L_* := (1/n) sum_i l(Y_i v^T x_i,opt)",
    variables=VARIABLES,
    conclusion=above,
    readings={
        "literal": Reading(
            "refuted",
            fairness="degenerate",
            constants={"share": 0},
            under=LISTED,
            examples=(SMALLEST, TIED),
            siblings=OTHERS,
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.tf.lemma_2:prove",
            constants={"share": 0},
            under=(DECREASING, TWO_SCORES),
            examples=(*PUBLISHED, ZERO_QUERY, ONE_KEY, TWO_OPTIMAL),
            siblings={
                **OTHERS,
                "a loss that turns upwards": changed(
                    drop=[DECREASING], variables=family("squared"), examples=[BEYOND]
                ),
                "a loss that is flat from 1 on": changed(
                    drop=[DECREASING], variables=family("squared-hinge"), examples=[FLAT]
                ),
                "scores may all be tied": changed(drop=[TWO_SCORES], examples=[TIED]),
            },
        ),
    },
)
