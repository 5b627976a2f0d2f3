"""The direction of descent and that of the regularisation path.

"So far: Regularization path selects optimal token opt_i from input sequence X_i. Q: Does GD follow
regularization path for self-attention?" Read: the question is answered with yes. The path W_R has
the least risk of all W with ||W|| <= R. If optimal tokens are unique, the Att-SVM is feasible and
l' < 0, its direction tends to that of W^mm (`tf/theorem-2:amended-1`).

From W_0 = 0 descent need not have this direction in the end (`literal`): one input with the tokens
(1, 0), (4, -4), (2, 0), of which the first is the query, the head (-3, -2) and the loss -u. From
the basin it has (`amended-1`).

Descent follows the path itself in one case. Let one input have two tokens, with a = x_opt - x_t
times the query as a vector. The risk falls in <a, W> alone. So of all W no longer than c a, c >= 0,
c a has the least risk; and the gradient there is a multiple of a. So descent from 0 is on the path
at every step, and no other direction is (`amended-2`, for the output s = 1/(1 + exp(-<a, W>))).
"""

from collections.abc import Mapping

import numpy as np

from attsvm._types import Array
from attsvm.primitives.descent import Descent
from attsvm.primitives.hypotheses import BASIN, EXISTS, LINEAR_HEAD, UNIQUE, ZERO_START
from attsvm.primitives.loss_hypotheses import SLOPED_LOSS
from attsvm.primitives.steps import ANY, SHORT, headed, stepped
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
    gradient,
)
from attsvm.theory.types import Namespace, Number, Numbers, Relation, Values
from properties.tf import SOURCE
from properties.tf._support import descent_instances as cases

PRINTED = "Does GD follow regularization path for self-attention?"
PLACE = "Gradient descent theory"
LIMIT = "W^mm, to which it tends in direction by tf/theorem-2:amended-1"

FOLLOWS = Statement(
    "tf/path-and-descent",
    rests_on=("tf/theorem-2",),
    source=SOURCE,
    place=PLACE,
    printed=PRINTED,
    variables=stepped(Descent, cases.descents()),
    conclusion=cases.DIRECTION,
    cost=8,
    violating=cases.VIOLATING,
    readings={
        "literal": Reading(
            "refuted",
            fairness="strained",
            read={
                "Does GD follow": "that descent from 0 and the path have one direction",
                "regularization path": LIMIT,
            },
            under=(LINEAR_HEAD, UNIQUE, EXISTS, SLOPED_LOSS, ZERO_START),
            variables=stepped(
                Descent, headed(cases.descents().map(cases.at_zero)), fixed=("start",), steps=ANY
            ),
            examples=(cases.PASSED, cases.OWN_TOKEN),
            siblings=cases.WRONG,
        ),
        "amended-1": Reading(
            "proved",
            read={"regularization path": LIMIT},
            proof="symbolic.basins:prove",
            under=(UNIQUE, EXISTS, SLOPED_LOSS, BASIN, SHORT),
            variables=stepped(Descent, cases.descents(), cases.started_right),
            siblings=cases.WRONG,
        ),
    },
)


@definition("s({W})")
def attended(m: Namespace, a: Numbers, W: Numbers) -> Number:
    """Return 1/(1 + exp(-<a, W>)), the attention to the optimal one of two tokens."""
    return 1 / (1 + m.exp(-m.dot(a, W)))


def on_path(m: Namespace, v: Values, factor: Number = 1, share: Number = 1) -> Relation:
    """Return that c a has the most attention of all W that are no longer, and moves along a."""
    at = v.c * v.a
    best = m.at_most(attended(m, v.a, factor * v.W), attended(m, v.a, at))
    s = attended(m, v.a, at)
    slope = gradient(m, lambda m, x: attended(m, v.a, x), at)
    return m.all_of(best, m.equal(slope, share * (s * (1 - s) * v.a)))


def shortened(W: Array, known: Mapping[str, Array]) -> Array:
    """Return W, divided until it is no longer than c a."""
    a, c = known["a"], known["c"]
    bound, square = c * c * (a * a).sum(0), (W * W).sum(0)
    ratio = np.sqrt(bound / np.where(square > bound, square, 1.0))
    return W * np.where(square > bound, ratio / 1.0625, 1.0)


NO_LONGER = Hypothesis(
    "||W|| <= ||c a||",
    lambda m, v: m.at_most(m.dot(v.W, v.W), v.c * v.c * m.dot(v.a, v.a)),
)
FORWARD = Hypothesis("c is at least 0", lambda m, v: m.at_least(v.c, m.exact(0)))
CROSS = {"a": [1, 0], "c": 1, "W": [0, 1]}

RAY = Statement(
    "tf/path-and-descent",
    source=SOURCE,
    place=PLACE,
    printed=PRINTED,
    variables={
        "D": Integer(1, 4),
        "a": Vector("D"),
        "c": Meeting(FORWARD, Real(), lambda c, _: abs(c)),
        "W": Meeting(NO_LONGER, Vector("D"), shortened),
    },
    hypotheses=(NO_LONGER, FORWARD),
    conclusion=on_path,
    readings={
        "amended-2": Reading(
            "proved",
            proof="symbolic.tf.path_and_descent:prove",
            examples=(CROSS,),
            siblings={
                "of all W up to 9/8 as long": changed(
                    factor="9/8", examples=[{**CROSS, "W": [1, 0]}]
                ),
                "half the slope": changed(share="0.5"),
            },
        ),
    },
)
