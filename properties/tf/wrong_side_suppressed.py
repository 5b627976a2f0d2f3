"""Contributions: attention induces sparsity, as softmax suppresses tokens on the wrong side.

"Non-optimal tokens that fall on the wrong side of the SVM decision boundary are suppressed by the
softmax function, while optimal tokens receive nonzero probability."

An input has the optimal token x_o and R others x_t. Attention under c W^mm, c >= 0, depends on the
margins M_t = (x_o - x_t)^T W^mm z alone, which the constraints of (Att-SVM) make at least 1. (W^mm
has no threshold; the tokens on its wrong side are those whose logit is lower, all but x_o.) The
weights are exp(-c M_t)/(1 + sum_s exp(-c M_s)), and 1/(1 + sum_s exp(-c M_s)) for x_o.

If "suppressed" is read as the opposite of "nonzero", the sentence is false: softmax is positive at
every finite c (`literal`, see `tf/softmax-range`). As the norm grows it is true: the weight of
another token is at most 1/(1 + e^c) (`amended-1`), and that of x_o at least 1/(1 + R e^-c)
(`amended-2`). Both are attained by margins of 1. W^mm itself has c = 1, and may leave x_o less than
half of the attention if R >= 3.

If descent selects other tokens than the optimal ones, the latter are suppressed:
`tf/local-convergence`.
"""

import numpy as np

from attsvm.theory import (
    Hypothesis,
    Integer,
    Meeting,
    Reading,
    Real,
    Statement,
    Vector,
    changed,
    definition,
)
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Values
from properties.tf import SOURCE


@definition(r"s_o")
def attended(m: Namespace, M: Numbers, c: Number) -> Number:
    """Return 1/(1 + sum_t exp(-c M_t)), the attention to the optimal token."""
    return 1 / (1 + m.sum(m.exp(-(c * M))))


def suppressed(m: Namespace, v: Values, share: Number = 1) -> Comparison:
    """Return that no other token has more than a share of the weight 1/(1 + e^c)."""
    other = m.max(m.exp(-(v.c * v.M)) * attended(m, v.M, v.c))
    return m.at_most(other, share * (m.exp(-v.c) / (1 + m.exp(-v.c))))


def selected(m: Namespace, v: Values) -> Comparison:
    """Return that the optimal token has at least the weight 1/(1 + R e^-c)."""
    return m.at_most(1 / (1 + v.R * m.exp(-v.c)), attended(m, v.M, v.c))


SEPARATED = Hypothesis(
    "M_t >= 1",
    lambda m, v: m.at_least(m.min(v.M), m.exact(1)),
    says="every token t but the optimal one has a margin M_t = (x_o - x_t)^T W^mm z >= 1",
)
GROWN = Hypothesis(
    "c >= 0", lambda m, v: m.at_least(v.c, m.exact(0)), says="W = c W^mm with c >= 0"
)

TIGHT = {"M": [1], "c": 1}
THREE = {"M": [1, 1, 1], "c": 1}

SUPPRESSED = Statement(
    "tf/wrong-side-suppressed",
    rests_on=("tf/softmax-range",),
    source=SOURCE,
    place="Contributions",
    printed="Non-optimal tokens that fall on the wrong side of the SVM decision boundary are "
    "suppressed by the softmax function, while optimal tokens receive nonzero probability",
    variables={
        "R": Integer(1, 5),
        "M": Meeting(SEPARATED, Vector("R"), lambda M, _: np.maximum(M, 1)),
        "c": Meeting(GROWN, Real((0, 2)), lambda c, _: np.maximum(c, 0)),
    },
    hypotheses=(SEPARATED, GROWN),
    conclusion=suppressed,
    readings={
        "literal": Reading(
            "refuted",
            fairness="strained",
            read={"suppressed": "left without any weight by c W^mm, M being the margins of W^mm"},
            constants={"share": 0},
            examples=(TIGHT,),
            siblings={"half of 1/(1 + e^c)": changed(share="0.5")},
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.tf.wrong_side_suppressed:prove_suppressed",
            tight=True,
            examples=(TIGHT, THREE),
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.tf.wrong_side_suppressed:prove_selected",
            conclusion=selected,
            tight=True,
            examples=(TIGHT, THREE),
        ),
    },
)
