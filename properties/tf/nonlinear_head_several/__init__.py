"""A nonlinear head may keep several tokens of an input.

"In a nutshell: Nonlinearity is key to selecting >1 token from input seqs." "Claim: GD with MLP
should select >1 tokens." The risk sees h of the attention output, a mixture of the tokens. The
number of tokens it asks for depends on whether a mixture is better than every token. Below h stands
for Y_i h, and its shape is h(x) = sum_k b_k phi(<a_k, x>).

"Key" says that a linear head does not do it. This falls for tied tokens (`literal-1`; for descent
see `tf/linear-head-one-token`). It also says that a nonlinear one does, which falls for ReLU with b
> 0 (`literal-2`). Not nonlinearity matters, but the curvature of the head. Convex heads, ReLU and
linear ones among them, ask for one token as linear ones do, up to ties (`amended-1`). For a concave
head token a is best if h rises towards no other token: <h'(x_a), x_t - x_a> <= 0 for all t
(`amended-2`). For smooth h this is also necessary. The same holds for each mean of several tokens,
and tokens with a weight in a best mean are kept (`sharp-3`). Under any smooth head, a token from
which h rises towards another one is not best (`sharp-1`, for small e). Take one input of two tokens
such that h rises from each towards the other. Descent by small steps then keeps both: it raises s_2
if <h'(output), x_2 - x_1> > 0, hence if s_2 is below g/beta (`sharp-2`), and s_1 likewise.
`tf/generalised-svm` (sharp-3 to sharp-5) says what descent keeps under such heads and others, by
any steps, and how fast.
"""

from dataclasses import replace

from attsvm.primitives.heads import ACTIVATIONS, named
from attsvm.theory import (
    Choice,
    Defined,
    Hypothesis,
    Integer,
    Matrix,
    Reading,
    Statement,
    Vector,
    changed,
)
from properties._support.risk_formulas import CONVEX_PHI, SEVERAL, SMOOTH_PHI
from properties._support.suppositions import RISING_UNITS
from properties.tf import SOURCE
from properties.tf.nonlinear_head_several.conclusion import (
    APART,
    BENT_UP,
    LOW,
    THREE,
    TIED,
    below_tangent,
    between,
    exactly_best,
    example,
    gains,
    mixed,
    returns,
)

PAIR, UP_TO_FIVE = {"T": Integer(2, 2)}, {"T": Integer(2, 5)}
KINKED = replace(ACTIVATIONS["relu"], bend=lambda m: m.exact(0))
"""ReLU, with phi'' = 0 beside its kink."""
BENT = {"phi": Choice({**ACTIVATIONS, "relu": KINKED})}
KINK = {"phi": Choice({"relu": KINKED})}

LINEAR = Hypothesis("phi is the identity", lambda m, v: named(m, v, "identity"))
RELU = Hypothesis("phi is ReLU", lambda m, v: named(m, v, "relu"))
TURNED = example([[1], [-3]], [[1]], [-1], "relu")
KINKS = {
    "phi may have a kink": changed(drop=[SMOOTH_PHI], variables=KINK, examples=[TURNED]),
}

RISING = Hypothesis(
    "every b_k >= 0",
    lambda m, v: m.at_least(m.min(v.b), m.exact(0)),
    implies=(RISING_UNITS,),
)
FALLING = Hypothesis("every b_k <= 0", lambda m, v: m.at_most(m.max(v.b), m.exact(0)))

STATEMENT = Statement(
    "tf/nonlinear-head-several",
    source=SOURCE,
    place="Can the theory account for MLP layers?",
    printed="Nonlinearity is key to selecting >1 token from input seqs",
    variables={
        "T": Integer(1, 5),
        "d": Integer(1, 4),
        "K": Integer(1, 3),
        "X": Matrix("T", "d"),
        "A": Matrix("K", "d"),
        "b": Vector("K"),
        "a": Vector("T", (0, 2)),
        "phi": Choice(ACTIVATIONS),
        "s": Defined(lambda m, v: m.softmax(v.a)),
    },
    conclusion=mixed,
    cost=4,
    readings={
        "literal-1": Reading(
            "refuted, certified",
            fairness="degenerate",
            read={"key": "needed"},
            constants={"strict": True},
            under=(LINEAR, SEVERAL),
            variables=UP_TO_FIVE,
            examples=(TIED,),
            siblings={"a head that is not linear": changed(drop=[LINEAR], examples=[APART])},
        ),
        "literal-2": Reading(
            "refuted, certified",
            fairness="strained",
            read={"key": "sufficient, as that of ReLU"},
            under=(RELU,),
            variables=PAIR,
            conclusion=between,
            examples=(BENT_UP,),
            siblings={
                "h(x) > max_t h(x_t) + |h(x_2) - h(x_1)|": changed(
                    lead=1, examples=[example([[2], [0]], [[1]], [1], "relu")]
                )
            },
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.tf.mixtures:prove_convex",
            under=(CONVEX_PHI, RISING),
            examples=(TIED, BENT_UP),
            siblings={
                "phi need not be convex": changed(
                    drop=[CONVEX_PHI],
                    examples=[example([[4, 0], [0, 4]], [[1, 0], [0, 1]], [1, 1], "logistic")],
                ),
                "b_k of any sign": changed(drop=[RISING], examples=[APART]),
                "less than its largest value": changed(strict=True, examples=[TIED]),
            },
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.tf.mixtures:prove_concave",
            under=(CONVEX_PHI, FALLING),
            conclusion=below_tangent,
            tight=True,
            examples=(APART,),
            siblings={
                "b_k of any sign": changed(drop=[FALLING], examples=[LOW]),
                "phi need not be convex": changed(
                    drop=[CONVEX_PHI], examples=[example([[8], [0]], [[1]], [-1], "logistic")]
                ),
            },
        ),
        "sharp-1": Reading(
            "proved",
            proof="symbolic.tf.smooth_heads:prove_gains",
            under=(SMOOTH_PHI,),
            variables={**UP_TO_FIVE, **BENT},
            conclusion=gains,
            tight=True,
            examples=(APART,),
            siblings=KINKS,
        ),
        "sharp-2": Reading(
            "proved",
            proof="symbolic.tf.smooth_heads:prove_returns",
            under=(SMOOTH_PHI,),
            variables={**UP_TO_FIVE, **BENT},
            conclusion=returns,
            tight=True,
            examples=(APART,),
            siblings=KINKS,
        ),
        "sharp-3": Reading(
            "proved",
            strength="better",
            proof="symbolic.tf.smooth_heads:prove_exactly",
            under=(CONVEX_PHI, SMOOTH_PHI, FALLING),
            variables={**BENT, "w": Vector("T")},
            conclusion=exactly_best,
            examples=({**APART, "w": [1, 0]}, {**APART, "w": [1, 1]}, THREE),
            siblings={
                "e max(0, g_t) in place of e max(0, g_t)/2": changed(
                    share=2, examples=[{**APART, "w": [1, 0]}]
                ),
                "the slope at x_1 for that at x": changed(
                    slope="x_1", examples=[{**APART, "w": [1, 1]}]
                ),
                "b_k of any sign": changed(drop=[FALLING], examples=[{**LOW, "w": [1, 0]}]),
                "phi need not be convex": changed(
                    drop=[CONVEX_PHI],
                    examples=[{**example([[8], [0]], [[1]], [-1], "logistic"), "w": [1, 0]}],
                ),
                "phi may have a kink": changed(
                    drop=[SMOOTH_PHI],
                    variables=KINK,
                    examples=[{**TURNED, "w": [1, 0]}],
                ),
            },
        ),
    },
)
