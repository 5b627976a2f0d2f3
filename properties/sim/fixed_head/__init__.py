"""A fixed prediction head does not affect the analysis.

The objective is logistic(Att(X) H, B) with H in R^{d x V}, B in R^{n x V}. The readings take one
entry of it, g(b (f^T M H)_v) with f = softmax(A x), values M = A_3 Y and v = 0. To ignore H leaves
Att(X) itself: then column v of M scores the tokens, and not column v of M H.

With one value 1, one value 0, d = V = 1 and H = -1 the second token is optimal with the head, and
the first one without it. With keys 1, 0 and x = 0 the gradients are opposite: for query 1 the
programme has X^mm = -1 with the head and +1 without. A permutation of two values does the same, so
no positivity of H helps. literal-3: Att(X) is n x d and B is n x V. amended-1: the head can be
absorbed, not ignored. Every statement about h(y) holds with h = A_3 (Y H) e_v in its place.
amended-2: all scores are multiplied by c.

Proofs: (f^T M) H = f^T (M H) and M (c e_v) = c M e_v (`symbolic.sim.fixed_head`).
"""

from attsvm.theory import (
    Hypothesis,
    Integer,
    Matrix,
    Meeting,
    Reading,
    Real,
    Statement,
    Vector,
    changed,
)
from properties.sim import SOURCE
from properties.sim.fixed_head.conclusion import absorbed, same_size, same_way, still_optimal
from properties.sim.fixed_head.instances import COLUMN, FLIPPED, SWAPPED, WIDE, multiple, raised

POSITIVE_HEADS = changed(positive=True, examples=[SWAPPED])


MULTIPLE = Hypothesis(
    "H e_v is a multiple of e_v", lambda m, v: m.equal(v.H[1:, 0], 0 * v.H[1:, 0])
)
POSITIVE = Hypothesis(
    "the factor of e_v in H e_v is positive", lambda m, v: m.above(v.H[0, 0], m.exact(0))
)

HEAD = Statement(
    "sim/fixed-head",
    rests_on=("sim/definition-3.3",),
    source=SOURCE,
    place="Section 1, prediction head",
    printed="As H is a fixed linear prediction head that does not impact our analysis, we will "
    "ignore that in the theoretical analysis of our paper.",
    variables={
        "n": Integer(1, 4, beyond=True),
        "D": Integer(1, 3, beyond=True),
        "d": Integer(1, 3, beyond=True),
        "V": Integer(1, 3, beyond=True),
        "A": Matrix("n", "D"),
        "x": Vector("D"),
        "M": Matrix("n", "d"),
        "H": Matrix("d", "V"),
        "b": Real((0, 1, -1)),
    },
    hypotheses=(
        MULTIPLE,
        POSITIVE,
    ),
    conclusion=still_optimal,
    readings={
        "literal-1": Reading(
            "refuted",
            read={
                "does not impact our analysis": "that the gradients with and without H are at no "
                "obtuse angle"
            },
            under=(),
            conclusion=same_way,
            examples=(FLIPPED,),
            siblings={
                "heads of positive entries": POSITIVE_HEADS,
                "<grad L(x), grad L'(x)> >= ||grad L'(x)||^2/2": changed(
                    least="0.5", examples=[SWAPPED]
                ),
            },
        ),
        "literal-2": Reading(
            "refuted",
            read={"does not impact our analysis": "that optimal tokens stay so"},
            under=(),
            examples=(FLIPPED,),
            siblings={
                "heads of positive entries": POSITIVE_HEADS,
                "some optimal token is among the two best without H": changed(rank=2),
            },
        ),
        "literal-3": Reading(
            "refuted",
            fairness="strained",
            read={"we will ignore that": "that Att(X) takes the place of Att(X) H"},
            under=(),
            variables=dict.fromkeys(("A", "x", "M", "H", "b")),
            conclusion=same_size,
            examples=({"n": 1, "D": 1, "d": 1, "V": 2},),
            siblings={
                "a row of the logits is as long as a row of B": changed(of="tokens"),
                "a row of A is as long as a row of B": changed(of="keys"),
            },
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.sim.fixed_head:prove",
            under=(),
            conclusion=absorbed,
            examples=(FLIPPED, SWAPPED, WIDE),
            siblings={
                "the head left out": changed(head="ignored"),
                "the mean column of Y H": changed(head="mean"),
            },
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.sim.fixed_head:prove_multiple",
            constants={"each": True},
            variables={
                **dict.fromkeys(("D", "A", "x")),
                "H": Meeting(POSITIVE, Meeting(MULTIPLE, Matrix("d", "V"), multiple), raised),
            },
            examples=({"M": COLUMN, "H": [[1]], "b": 1},),
        ),
    },
)
