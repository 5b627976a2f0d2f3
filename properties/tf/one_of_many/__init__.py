"""Key differences from prior works: descent can converge to one of many SVMs.

"Complex problem geometry: SGD can converge to one of many SVMs." No SGD is defined in the talk;
read as gradient descent.

One input has the tokens x, y and 0, the label 1 and the head v. Their scores are X = <v, x>, Y =
<v, y> and 0. Let X > Y > 0, so x is optimal. With p = W z the logits are <x, p>, <y, p> and 0. If
l' < 0, a step moves p by a positive multiple of grad u, where u is the output. Write a = ||x||^2, r
= <x, y>, E = e^<x, p> and F = e^<y, p>. Up to one positive factor <grad u, x> is
E a (X + (X - Y) F) - r F ((X - Y) E - Y), and <grad u, y> is
E r (X + (X - Y) F) - ||y||^2 F ((X - Y) E - Y).

- Where u >= Y, every step raises the margins of x over both other tokens (`literal-1`, r <= 0).
- Where F >= 1 and E is small, every step raises <y, p> and lowers <x, p> (`literal-2`, r <= -a/2).

Steps of any size stay in these sets. In the first, u > Y is the basin, so W_k tends in direction to
the Att-SVM. In the second p tends in direction to y, and y/||y||^2 is the Local-SVM of y: over x it
has the margin 1 - r/||y||^2 > 1. An instance has the tokens (-3, 2), (3, 1), 0 and the head (0, 1),
so the scores 2, 1, 0. From p = (1, 2) descent selects x, from p = (1, 0) it selects y.
`tf/local-convergence` is the general theorem.

`sharp` has starts of the second kind with u >= Y - delta, for every delta > 0. So no larger
threshold than that of the basin, which is l(Y) here, serves all tokens of these scores.
"""

from attsvm.theory import Hypothesis, Integer, Meeting, Reading, Real, Statement, Vector, changed
from attsvm.theory.types import Comparison, Namespace, Number, Values
from properties.tf import SOURCE
from properties.tf.one_of_many.conclusion import (
    enough,
    fallen,
    first_wins,
    near_threshold,
    output,
    ranked,
    risen,
    second_wins,
    turned,
)


def scores(m: Namespace, v: Values) -> tuple[Number, Number]:
    """Return the scores X and Y of the tokens x and y."""
    return m.dot(v.v, v.x), m.dot(v.v, v.y)


def far_behind(m: Namespace, v: Values) -> Comparison:
    """Return that (5 X - 3 Y) exp(<x, p>) < Y."""
    X, Y = scores(m, v)
    return m.below((5 * X - 3 * Y) * m.exp(m.dot(v.x, v.p)), Y)


RANKED = Hypothesis(
    "0 < <v, y> < <v, x>",
    lambda m, v: m.all_of(m.above(m.dot(v.v, v.y), 0), m.above(m.dot(v.v, v.x - v.y), 0)),
    says="the scores of the tokens x, y and 0 are <v, x> > <v, y> > 0",
)
OBTUSE = Hypothesis("<x, y> <= 0", lambda m, v: m.at_most(m.dot(v.x, v.y), 0))
OPPOSED = Hypothesis(
    "2 <x, y> <= -||x||^2",
    lambda m, v: m.at_most(2 * m.dot(v.x, v.y) + m.dot(v.x, v.x), 0),
    implies=(OBTUSE,),
)
IN_BASIN = Hypothesis(
    "u(p) >= <v, y>",
    lambda m, v: m.at_least(output(m, v, v.p), m.dot(v.v, v.y)),
    says="the output at p is at least <v, y>",
)
AHEAD = Hypothesis("<y, p> >= 0", lambda m, v: m.at_least(m.dot(v.y, v.p), 0))
BEHIND = Hypothesis("(5 <v, x> - 3 <v, y>) exp(<x, p>) < <v, y>", far_behind)
CLOSE = Hypothesis(
    "<v, y> <= delta exp(<y, p>)",
    lambda m, v: m.at_most(m.dot(v.v, v.y), v.delta * m.exp(m.dot(v.y, v.p))),
)

TOKENS = {"v": [0, 1], "x": [-3, 2], "y": [3, 1]}
BEST = {**TOKENS, "p": [1, 2]}
SECOND = {**TOKENS, "p": [1, 0]}
CENTRE = {**TOKENS, "p": [0, 0]}
THIRD = {**TOKENS, "p": [-0.75, -2.75]}
"""Attention goes to the third token."""
LONG = {**TOKENS, "p": [8, -4], "delta": 2.0**-28}
"""A start far along y: delta is less than twice what the output is below the second score."""
ACUTE = {"v": [2, 1], "x": [1, 0], "y": [8, -15], "p": [1, 0.25]}
APART = {"v": [2, 1], "x": [1, 0], "y": [0, 1], "p": [-3, 1]}

MANY = Statement(
    "tf/one-of-many",
    rests_on=("tf/local-convergence",),
    source=SOURCE,
    place="Key differences from prior works",
    printed="Complex problem geometry: SGD can converge to one of many SVMs",
    variables={
        "d": Integer(2, 4),
        "x": Vector("d"),
        "y": Meeting(OPPOSED, Vector("d"), turned),
        "v": Meeting(RANKED, Vector("d"), ranked),
        "p": Meeting(BEHIND, Vector("d", (0, 2)), fallen),
    },
    conclusion=second_wins,
    readings={
        "literal-1": Reading(
            "proved",
            read={
                "one of many": "that from some starts every step raises the margins of x, so that "
                "descent selects this token"
            },
            proof="symbolic.tf.one_of_many:prove_first",
            conclusion=first_wins,
            under=(RANKED, OBTUSE, IN_BASIN),
            variables={
                "y": Meeting(OBTUSE, Vector("d"), turned),
                "p": Meeting(IN_BASIN, Vector("d", (0, 2)), risen),
            },
            examples=(BEST,),
            siblings={
                "tokens may have an acute angle": changed(drop=[OBTUSE], examples=[ACUTE]),
                "from a lower output": changed(drop=[IN_BASIN], examples=[SECOND]),
            },
        ),
        "literal-2": Reading(
            "proved",
            read={
                "one of many": "that from other starts every step raises the logit of y and lowers "
                "that of x, so that descent selects y"
            },
            proof="symbolic.tf.one_of_many:prove_second",
            under=(RANKED, OPPOSED, AHEAD, BEHIND),
            examples=(SECOND,),
            siblings={
                "tokens may be orthogonal": changed(drop=[OPPOSED], examples=[APART]),
                "y may be behind 0": changed(drop=[AHEAD], examples=[THIRD]),
                "x may be near": changed(drop=[BEHIND], examples=[CENTRE]),
            },
        ),
        "sharp": Reading(
            "proved",
            strength="better",
            proof="symbolic.tf.one_of_many:prove_threshold",
            conclusion=near_threshold,
            under=(RANKED, OPPOSED, AHEAD, BEHIND, CLOSE),
            variables={"delta": Meeting(CLOSE, Real((-3, 0)), enough)},
            examples=(LONG,),
            siblings={"by half of delta": changed(share="0.5")},
        ),
    },
)
