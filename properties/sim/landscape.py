"""Before assumption 3.10: it guarantees "a benign optimization landscape".

The two assumptions "guarantee that the attention layer possess a benign optimization landscape".
Read: a decreasing loss l has no stationary point. Part 1, all tokens support vectors, is
`tf/all-support-no-stationary`. Part 2 is here: all rivals of an optimal token have the same score.

There are m inputs. B_it is the row of rival t less that of the optimal token, and the rivals score
less by gap_i > 0. With the attention s_i to the optimal token, the output is u_i = best_i - gap_i
(1 - s_i). By the chain rule -grad L is the gradient of F = sum_i c_i u_i with the weights c_i =
|l'(u_i)|/m of the point x; so one statement with any weights c_i > 0 is about every loss with l' <
0.

Part 2 does not ask that the Att-SVM has a solution. Two inputs that pull in opposite directions
have a stationary point at which they balance (`literal`). If V meets the constraints B_it V <= -1,
as X^mm does, then <grad F, V> is at least the sum of c_i gap_i s_i (1 - s_i) > 0 at every x, with
equality at margins of 1 (`amended`). So there is no stationary point, and the norm diverges.

That is all that the landscape does: descent may still select other tokens, as the loss has valleys
that lead to infinity (`sim/theorem-3.14-part-2`).
"""

import numpy as np

from attsvm.theory import (
    Hypothesis,
    Integer,
    Meeting,
    Reading,
    Statement,
    Tensor,
    Vector,
    changed,
    definition,
    gradient,
)
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Values
from properties.sim import SOURCE
from properties.sim._support.rivals import attended, separated


@definition(r"F({x})")
def outputs(m: Namespace, v: Values, x: Numbers) -> Number:
    """Return -sum_i c_i gap_i (1 - s_i), with the attention s_i to the optimal token of input i."""
    inputs = zip(v.B, v.gap, v.c, strict=True)
    return -m.sum(m.array([c * gap * (1 - attended(m, B, x)) for B, gap, c in inputs]))


def moves(m: Namespace, v: Values, least: Number = 0) -> Comparison:
    """Return that the size of the gradient is above a bound."""
    return m.below(least, m.norm(gradient(m, lambda m, x: outputs(m, v, x), v.x)))


@definition("G")
def slopes(m: Namespace, v: Values) -> Number:
    """Return the sum of c_i gap_i s_i (1 - s_i) over the inputs."""
    parts = []
    for B, gap, c in zip(v.B, v.gap, v.c, strict=True):
        s = attended(m, B, v.x)
        parts.append(c * gap * s * (1 - s))
    return m.sum(m.array(parts))


def gains(m: Namespace, v: Values, share: Number = 1) -> Comparison:
    """Return that <grad F, V> is at least a share of the sum of these slopes."""
    gain = m.dot(gradient(m, lambda m, x: outputs(m, v, x), v.x), v.V)
    return m.at_most(share * slopes(m, v), gain)


LESS = Hypothesis(
    "gap > 0",
    lambda m, v: m.above(m.min(v.gap), m.exact(0)),
    says="all rivals in input i score less than the optimal token, by gap_i > 0",
)
WEIGHTS = Hypothesis(
    "c > 0", lambda m, v: m.above(m.min(v.c), m.exact(0)), says="all weights c_i are above 0"
)
MARGINS = Hypothesis(
    "B_it V <= -1 for all i and t",
    lambda m, v: m.at_most(m.max(v.B @ v.V), m.exact(-1)),
    says="B_it V <= -1 for the row B_it of every rival, less that of the optimal token",
)
ROWS = Tensor(("m", "R", "D"))

OPPOSED = {"B": [[[1]], [[-1]]], "x": [0], "gap": [1, 1], "c": [1, 1]}
SHARED = {"B": [[[-1]], [[-1]]], "V": [1], "x": [0], "gap": [1, 2], "c": [1, 1]}

LANDSCAPE = Statement(
    "sim/landscape",
    rests_on=("tf/all-support-no-stationary",),
    source=SOURCE,
    place="Section 3.2, before assumption 3.10",
    printed="Next, we state two assumptions that is of significant importance to guarantee that "
    "the attention layer possess a benign optimization landscape",
    variables={
        "m": Integer(1, 3),
        "R": Integer(1, 3),
        "D": Integer(1, 3),
        "V": Vector("D"),
        "B": Meeting(MARGINS, ROWS, separated),
        "x": Vector("D"),
        "gap": Meeting(LESS, Vector("m"), lambda gap, _: np.maximum(gap, 0.125)),
        "c": Meeting(WEIGHTS, Vector("m"), lambda c, _: np.maximum(c, 0.125)),
    },
    conclusion=gains,
    readings={
        "literal": Reading(
            "refuted",
            fairness="strained",
            read={"benign": "without stationary points, under part 2 of assumption 3.10"},
            conclusion=moves,
            under=(LESS, WEIGHTS),
            variables={"V": None, "B": ROWS},
            examples=(OPPOSED,),
            siblings={"a gradient above 1/64": changed(least="1/64")},
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.sim.landscape:prove",
            under=(MARGINS, LESS, WEIGHTS),
            tight=True,
            examples=(SHARED,),
        ),
    },
)
