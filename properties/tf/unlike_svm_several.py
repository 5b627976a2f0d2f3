"""Key differences from prior works: "Att-SVM is different from vanilla SVM", for several inputs.

For several inputs that share a query z, with u = W z, (Att-SVM) asks <o_i - x_it, u> >= 1 for the
optimal token o_i and every other token x_it of its input. The vanilla SVM asks for one threshold
that is below all optimal tokens and above all others (`tf/unlike-svm`).

The sentence is true: of the inputs 1, 0 and 3, 2 the first tokens are optimal for the head 1 and
labels 1. (Att-SVM) has the solution u = 1. But 2 lies half-way between 1 and 3, so no u and no
threshold has 2 on one side and both 1 and 3 on the other. The same is true if the query is the
first token, as in the talk, for the inputs -1, 1, 0 and -1, 3, 2.
"""

from attsvm.theory import Hypothesis, Integer, Reading, Statement, Vector, changed
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Values
from properties.tf import SOURCE


def between(v: Values, eighths: Number = 4) -> Numbers:
    """Return the token that is that many eighths of o, the rest being of q."""
    return (eighths * v.o + (8 - eighths) * v.q) / 8


def below(m: Namespace, v: Values, eighths: Number = 4) -> Comparison:
    """Return that q is below this token."""
    return m.below(m.dot(v.q, v.u), m.dot(between(v, eighths), v.u))


FIRST = Hypothesis(
    "<o, u> > <(o + q)/2, u>", lambda m, v: m.above(m.dot(v.o - between(v), v.u), m.exact(0))
)
BEYOND = Hypothesis(
    "<o, u> > <(9 o - q)/8, u>",
    lambda m, v: m.above(m.dot(v.o - between(v, 9), v.u), m.exact(0)),
)

TURNED = {"u": [1], "o": [1], "q": [3]}

SEVERAL = Statement(
    "tf/unlike-svm-several",
    rests_on=("tf/unlike-svm",),
    source=SOURCE,
    place="Key differences from prior works, several inputs",
    printed="Att-SVM is different from vanilla SVM",
    variables={"D": Integer(1, 3), "u": Vector("D"), "o": Vector("D"), "q": Vector("D")},
    hypotheses=(FIRST,),
    conclusion=below,
    readings={
        "literal": Reading(
            "proved",
            read={
                "different": "that (Att-SVM) separates tokens that no threshold does, such as the "
                "inputs 1, 0 and 3, 2 of one query z: the token (o + q)/2 of an input is below one "
                "of the optimal tokens o and q of two inputs at most, by u = W z"
            },
            proof="symbolic.tf.unlike_svm_several:prove",
            examples=({**TURNED, "u": [-1]},),
            siblings={
                "a token beyond both": changed(
                    eighths=9, drop=[FIRST], under=[BEYOND], examples=[TURNED]
                )
            },
        ),
    },
)
