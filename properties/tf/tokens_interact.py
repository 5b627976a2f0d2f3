"""Why attention, and transformer: tokens interact, and self-attention is the only interaction.

"Tokens explicitly interact! (in contrast to traditional neural nets)" and "Self-attention is the
only interaction between tokens. Layer norm and MLP work independent per token." Layer norm and MLP
are functions of one token, by definition. So what a token becomes depends on other tokens through
attention alone. Read: through attention it does depend on them.

Let a token x attend to itself and to y, with a value head v and p = Q K^T x, so that the logits are
<x, p> and <y, p>. Softmax works on the logits of one query at a time. The output is <v, x> plus s
<v, y - x> with the attention s > 0 to y. So it is not that of x alone as soon as <v, x> and <v, y>
differ (`literal`), and it is no farther from <v, x> than <v, y> is (`sharp`).
"""

from attsvm.theory import Hypothesis, Integer, Near, Reading, Statement, Vector, changed, definition
from attsvm.theory.types import Comparison, Namespace, Number, Values
from properties.tf import SOURCE


@definition("u")
def output(m: Namespace, v: Values) -> Number:
    """Return the value of x after attention to x and y."""
    own, other = m.exp(m.dot(v.x, v.p)), m.exp(m.dot(v.y, v.p))
    return (own * m.dot(v.v, v.x) + other * m.dot(v.v, v.y)) / (own + other)


def depends(m: Namespace, v: Values, least: Number = 0) -> Comparison:
    """Return that the output is not that of x alone."""
    return m.below(m.exact(0) + least, m.square(output(m, v) - m.dot(v.v, v.x)))


def within(m: Namespace, v: Values, share: Number = 1) -> Comparison:
    """Return that the output is no farther from <v, x> than <v, y> is."""
    gap = m.dot(v.v, v.y - v.x)
    return m.at_most(m.square(output(m, v) - m.dot(v.v, v.x)), share * m.square(gap))


DIFFER = Hypothesis(
    "<v, x> and <v, y> differ",
    lambda m, v: m.above(m.square(m.dot(v.v, v.y - v.x)), m.exact(0)),
)
EVEN = {"x": [0], "y": [1], "v": [1], "p": [0]}
NEARLY_ALL = {"x": [0], "y": [1], "v": [1], "p": [16]}

INTERACT = Statement(
    "tf/tokens-interact",
    source=SOURCE,
    place="Why attention; transformer",
    printed="Tokens explicitly interact! - Self-attention is the only interaction between tokens",
    variables={
        "d": Integer(1, 4),
        "x": Vector("d"),
        "y": Near("x", ("d",)),
        "v": Vector("d"),
        "p": Vector("d"),
    },
    conclusion=depends,
    readings={
        "literal": Reading(
            "proved",
            read={"interact": "that the output at x is not that of x alone, if the values differ"},
            proof="symbolic.tf.tokens_interact:prove",
            under=(DIFFER,),
            examples=(EVEN,),
            siblings={"by more than 1/2": changed(least="0.25", examples=[EVEN])},
        ),
        "sharp": Reading(
            "proved",
            proof="symbolic.tf.tokens_interact:prove_within",
            conclusion=within,
            tight=True,
            examples=(NEARLY_ALL,),
        ),
    },
)
