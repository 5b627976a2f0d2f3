"""A nonlinear head may keep several tokens of an input.

"In a nutshell: Nonlinearity is key to selecting >1 token from input seqs." "Claim: GD with MLP
should select >1 tokens." The risk sees h of the attention output, a mixture of the tokens. What it
asks for is decided by whether a mixture is better than every token. Below h stands for Y_i h, and
its shape is h(x) = sum_k b_k phi(<a_k, x>).

"Key" says that a linear head does not do it, which falls for tied tokens (`literal-1`; for descent
see `tf/linear-head-one-token`), and that a nonlinear one does, which falls for ReLU with b > 0
(`literal-2`). It is not nonlinearity that matters but which way the head bends. Convex heads, ReLU
and linear ones among them, ask for one token as linear ones do, up to ties (`amended-1`). Of a
concave head token a is best where h rises towards no other, <h'(x_a), x_t - x_a> <= 0 for all t
(`amended-2`), and only there where h is smooth; so it is of each mean of any number of tokens, and
those with a weight in it are what is kept (`sharp-3`). Of any smooth head, concave or not, a
token from which h rises towards another one is not best (`sharp-1`, for small e). On one input of
two tokens from each of which h rises towards the other descent by small steps keeps both: it raises
s_2 where <h'(output), x_2 - x_1> > 0, hence where s_2 is below g/beta (`sharp-2`), and s_1
likewise. What descent keeps under such heads
and others, by any steps and how fast, is in `tf/generalised-svm` (sharp-3 to sharp-5).
"""

from typing import Any

from attsvm.primitives.heads import ACTIVATIONS, bending, change, derivative_along, head
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
    stated,
)
from attsvm.theory.types import Comparison, Namespace, Nested, Number, Numbers, Relation, Values
from properties._support.formulas import CONVEX_PHI, SEVERAL
from properties.tf import SOURCE


def _flag(m: Namespace, holds: bool) -> Comparison:
    return m.equal(m.exact(int(holds)), m.exact(1))


def output(m: Namespace, v: Values) -> Numbers:
    """The attention output, the mean of the tokens with the weights s."""
    return v.s @ v.X


def moved(m: Namespace, v: Values) -> Numbers:
    """The attention output minus x_1."""
    return v.s @ (v.X - v.X[0])


def best(m: Namespace, v: Values) -> Number:
    """The largest value of h at a token."""
    return m.max(m.array([head(m, v, x) for x in v.X]))


HEAD = "h(x) = sum_k b_k phi(<a_k, x>) and x^att = X^T s"


@stated(
    "",
    r"h(x^{att}) $strict \max_t h(x_t)",
    {"strict": {True: "<", False: r"\le"}},
    where=HEAD,
)
def mixed(m: Namespace, v: Values, strict: bool = False) -> Comparison:
    compare = m.below if strict else m.at_most
    return compare(head(m, v, output(m, v)), best(m, v))


@stated(
    "some x between x_1 and x_2 has $formula",
    r"h(x) > \max_t h(x_t) $lead",
    {"lead": {0: "", 1: "+ |h(x_2) - h(x_1)|"}},
    where=HEAD,
)
def between(m: Namespace, v: Values, lead: Number = 0) -> Comparison:
    """On a line h is linear between the points where some <a_k, x> is 0.

    So the best point is an end or one of these.
    """
    first, along = v.X[0], v.X[1] - v.X[0]
    found = []
    for a in v.A:
        fall = a @ along
        share = -(a @ first) / (fall + m.is_zero(fall))
        share = m.minimum(m.maximum(share, m.exact(0)), m.exact(1))
        found.append(head(m, v, first + share * along))
    more = lead * m.abs(head(m, v, v.X[1]) - head(m, v, first))
    return m.above(m.max(m.array(found)), best(m, v) + more)


@stated(
    "",
    r"h(x^{att}) - h(x_1) \le $share (1 - s_1) \max_t \langle h'(x_1), x_t - x_1\rangle",
    where=HEAD,
)
def below_tangent(m: Namespace, v: Values, share: Number = 1) -> Comparison:
    slopes = m.array(
        [derivative_along(m, v, v.X[0], x - v.X[0]) for x in v.X]
    )  # 0 of the first one itself
    gain = change(m, v, v.X[0], moved(m, v))
    return m.at_most(gain, share * (1 - v.s[0]) * m.max(slopes))


@stated(
    "",
    r"e \langle h'(x_1), D\rangle - [h(x_1 + e D) - h(x_1)] \le $share \frac{\beta e^2}{2}",
    where=f"{HEAD}, e = s_2, D = x_2 - x_1, and beta = c sum_k |b_k| <a_k, D>^2 for |phi''| <= c",
)
def gains(m: Namespace, v: Values, share: Number = 1) -> Comparison:
    along, e = v.X[1] - v.X[0], v.s[1]
    gain = change(m, v, v.X[0], e * along)
    bend = bending(m, v, along, along) * m.square(e) / 2
    return m.at_most(e * derivative_along(m, v, v.X[0], along) - gain, share * bend)


@stated(
    "",
    r"\langle h'(x_1), D\rangle - \langle h'(x^{att}), D\rangle \le $share c \sum_k |b_k| "
    r"|\langle a_k, o\rangle| |\langle a_k, D\rangle|",
    where=f"{HEAD}, D = x_2 - x_1, o = x^att - x_1, and |phi''| <= c",
)
def returns(m: Namespace, v: Values, share: Number = 1) -> Comparison:
    along, o = v.X[1] - v.X[0], moved(m, v)
    lost = derivative_along(m, v, v.X[0], along) - derivative_along(m, v, v.X[0] + o, along)
    return m.at_most(lost, share * bending(m, v, along, o))


def mean_of_some(m: Namespace, v: Values) -> Numbers:
    """The mean x of tokens with weights in proportion to max(w_t, 0); x_1 where these are all 0."""
    weights = m.array([m.maximum(w, m.exact(0)) for w in v.w])
    total = m.sum(weights)
    return v.X[0] + weights @ (v.X - v.X[0]) / (total + m.is_zero(total))


@stated(
    "for g_t = $slope and every t $formula",
    r"h(x^{att}) - h(x) \le \sum_t s_t g_t \text{ and } $share \frac{e \max(0, g_t)}{2} \le h((1 - "
    r"e) x + e x_t) - h(x)",
    {"slope": {"x": "<h'(x), x_t - x>", "x_1": "<h'(x_1), x_t - x>"}},
    where=f"{HEAD}, x is the mean of tokens of weights in proportion to max(w_t, 0), e = min(1, "
    "max(0, g_t)/beta_t), and beta_t = c sum_k |b_k| <a_k, x_t - x>^2 for |phi''| <= c",
)
def exactly_best(m: Namespace, v: Values, share: Number = 1, slope: str = "x") -> Relation:
    """At (1 - e) x + e x_t, e = min(1, g_t/beta_t), h is at least h(x) + e g_t/2."""
    x = mean_of_some(m, v)
    at = x if slope == "x" else v.X[0]
    slopes = m.array([derivative_along(m, v, at, token - x) for token in v.X])
    parts = [m.at_most(change(m, v, x, v.s @ (v.X - x)), m.dot(v.s, slopes))]
    for token, slope_there in zip(v.X, slopes, strict=True):
        along, g = token - x, m.maximum(slope_there, m.exact(0))
        beta = bending(m, v, along, along)
        e = m.minimum(g / (beta + m.is_zero(beta)), m.exact(1))
        parts.append(m.at_most(share * e * g / 2, change(m, v, x, e * along)))
    return m.all_of(*parts)


def example(X: Nested, A: Nested, b: Nested, phi: str, a: Any = None) -> dict[str, Any]:
    """Tokens X, a head, and logits, 0 where they are not given."""
    return {"X": X, "A": A, "b": b, "phi": phi, "a": [0] * len(X) if a is None else a}


TIED = example([[1], [0]], [[0]], [1], "identity")
BENT_UP = example([[1], [0]], [[1]], [1], "relu")
APART = example([[1], [-1]], [[1]], [-1], "square")
"""h(x) = -x^2: the mean of both tokens is the best point."""
THREE = {
    **example([[2, -1], [-1, 2], [-1, -1], [0, 0]], [[1, 0], [0, 1]], [-1, -1], "square"),
    "w": [1, 1, 1, 0],
}
"""h(x) = -|x|^2: the mean of the corners of a triangle is best, as is the token 0 alone."""
LOW = example([[0], [1]], [[1], [0]], [1, 0], "square")

PAIR, UP_TO_FIVE = {"T": Integer(2, 2)}, {"T": Integer(2, 5)}
SMOOTH = {"phi": Choice({name: phi for name, phi in ACTIVATIONS.items() if phi.bend})}


LINEAR = Hypothesis("phi is the identity", lambda m, v: _flag(m, v.phi is ACTIVATIONS["identity"]))
RELU = Hypothesis("phi is ReLU", lambda m, v: _flag(m, v.phi is ACTIVATIONS["relu"]))
RISING = Hypothesis("every b_k >= 0", lambda m, v: m.at_least(m.min(v.b), m.exact(0)))
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
            read={"key": "needed"},
            constants={"strict": True},
            under=(LINEAR, SEVERAL),
            variables=UP_TO_FIVE,
            examples=(TIED,),
            siblings={"of any head": changed(drop=[LINEAR], examples=[APART])},
        ),
        "literal-2": Reading(
            "refuted, certified",
            read={"key": "sufficient, as that of ReLU"},
            under=(RELU,),
            variables=PAIR,
            conclusion=between,
            examples=(BENT_UP,),
            siblings={
                "better by the difference of both": changed(
                    lead=1, examples=[example([[2], [0]], [[1]], [1], "relu")]
                )
            },
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.tf.nonlinear_head_several:prove_convex",
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
            proof="symbolic.tf.nonlinear_head_several:prove_concave",
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
            proof="symbolic.tf.nonlinear_head_several:prove_smooth",
            under=(),
            variables={**UP_TO_FIVE, **SMOOTH},
            conclusion=gains,
            tight=True,
            examples=(APART,),
        ),
        "sharp-2": Reading(
            "proved",
            proof="symbolic.tf.nonlinear_head_several:prove_smooth",
            under=(),
            variables={**UP_TO_FIVE, **SMOOTH},
            conclusion=returns,
            tight=True,
            examples=(APART,),
        ),
        "sharp-3": Reading(
            "proved",
            proof="symbolic.tf.nonlinear_head_several:prove_exactly",
            under=(CONVEX_PHI, FALLING),
            variables={**SMOOTH, "w": Vector("T")},
            conclusion=exactly_best,
            examples=({**APART, "w": [1, 0]}, {**APART, "w": [1, 1]}, THREE),
            siblings={
                "a gain of e g_t": changed(share=2, examples=[{**APART, "w": [1, 0]}]),
                "the slope at x_1 for that at x": changed(
                    slope="x_1", examples=[{**APART, "w": [1, 1]}]
                ),
                "b_k of any sign": changed(drop=[FALLING], examples=[{**LOW, "w": [1, 0]}]),
                "phi need not be convex": changed(
                    drop=[CONVEX_PHI],
                    examples=[{**example([[8], [0]], [[1]], [-1], "logistic"), "w": [1, 0]}],
                ),
            },
        ),
    },
)
