"""Abstract: "the SVM formulation of p is influenced by the support vector geometry of v".

True, on the published data: inputs 0, (1, 1) and 0, (1, -1) of labels 1 and -1, and a third one 0,
(1/2, s) of label 1, with the second tokens selected and W = I. For s >= 1 v(alpha) = (0, 1) has the
label margins 1, 1 and s. So the third input is a support vector exactly if s = 1.

For s = 1 the joint p-SVM asks for a logit margin of 1 in all inputs, and p(alpha) = (4/3, 1/3). For
s > 1 it asks for 0 in the third one, and p(alpha) = (1, 0), whatever s is. Without this influence,
that is with margins of 1, the shortest p would be (2 + 2 s, 1)/(1 + 2 s) (`literal`). So p(alpha)
jumps as the input leaves the margin of v. In general the relaxed programme has the shorter
solution (`mm/joint-svm:sharp-1`).
"""

from collections.abc import Mapping

import numpy as np

from attsvm._types import Array
from attsvm.theory import Hypothesis, Meeting, Reading, Real, Statement, changed
from attsvm.theory.types import Comparison, Namespace, Values
from properties.mm import SOURCE


def longer(m: Namespace, v: Values) -> Comparison:
    """Return that (p, q) is no shorter than (2 + 2 s, 1)/(1 + 2 s)."""
    least = m.square(2 + 2 * v.s) + 1
    return m.at_most(least, m.square(1 + 2 * v.s) * (v.p * v.p + v.q * v.q))


def far_enough(p: Array, known: Mapping[str, Array]) -> Array:
    """Return p, raised until both margins are at least 1."""
    q, s = known["q"], known["s"]
    return np.maximum(p, np.maximum(q + 1, 2 - 2 * s * q))


SECOND = Hypothesis(
    "p - q >= 1",
    lambda m, v: m.at_least(v.p - v.q, m.exact(1)),
    says="(p, q) has the logit margin p - q >= 1 in the second input",
)
THIRD = Hypothesis(
    "p/2 + s q >= 1",
    lambda m, v: m.at_least(v.p / 2 + v.s * v.q, m.exact(1)),
    says="it has the logit margin p/2 + s q >= 1 in the third input, as if that supported v",
)
UP = Hypothesis("s >= 1", lambda m, v: m.at_least(v.s, m.exact(1)))

RELAXED = {"p": 1, "q": 0, "s": 1.5}
ALONE = {"p": 0.5, "q": 0.75, "s": 1}
STRICT = {"p": 1.25, "q": 0.25, "s": 1.5}

GEOMETRY = Statement(
    "mm/support-geometry",
    rests_on=("mm/joint-svm",),
    source=SOURCE,
    place="Abstract",
    printed="the SVM formulation of p is influenced by the support vector geometry of v",
    variables={
        "s": Meeting(UP, Real(), lambda s, _: 1 + abs(s)),
        "q": Real(),
        "p": Meeting(THIRD, Real(), far_enough),
    },
    conclusion=longer,
    readings={
        "literal": Reading(
            "proved",
            read={
                "influenced": "that the third of the inputs 0, (1, 1) and 0, (1, -1) and 0, (1/2, "
                "s), of labels 1, -1, 1, makes p(alpha) at least so long if it counts as a support "
                "vector of v(alpha) = (0, 1), which it is for s = 1 alone; if not, p(alpha) is "
                "(1, 0), which is shorter"
            },
            proof="symbolic.mm.support_geometry:prove",
            under=(UP, SECOND, THIRD),
            tight=True,
            examples=(STRICT,),
            siblings={
                "the third input supports v no more": changed(drop=[THIRD], examples=[RELAXED]),
                "without the second input": changed(drop=[SECOND], examples=[ALONE]),
            },
        ),
    },
)
