"""Key differences from prior works: the risk is not convex, because of softmax.

"Nonconvex loss l + nonlinear softmax." The slides ask of l that it decreases strictly and smoothly,
so that l may well be convex. The risk is not convex even for the loss -u, which is linear: softmax
is enough. Let one input have two tokens, with scores `gap` apart, and let the better one be ahead
by the logit x. Up to a constant the risk is L(x) = -gap exp(x)/(1 + exp(x)). At the middle -a of -2
a and 0 it is above the mean of both values (`literal`), by gap (1 - y)^3/(4 (1 + y)(1 + y^2)) with
y = exp(-a). For any strictly decreasing loss L is bounded and not constant in x, so not convex.
"""

from attsvm.theory import Hypothesis, Meeting, Reading, Real, Statement, changed, definition
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Values
from properties.tf import SOURCE


@definition("L({x})")
def risk(m: Namespace, v: Values, x: Numbers) -> Number:
    """Return the risk at a margin x for the loss -u, plus the lower score."""
    return -v.gap * m.exp(x) / (1 + m.exp(x))


def above(m: Namespace, v: Values, side: Number = 1, share: Number = 0) -> Comparison:
    """Return that the risk at -a exceeds the mean of those at 0 and -2 a, by a share of gap."""
    x = side * v.a
    mean = (risk(m, v, 0 * v.a) + risk(m, v, -2 * x)) / 2
    return m.below(mean + share * v.gap, risk(m, v, -x))


AHEAD = Hypothesis("a > 0", lambda m, v: m.above(v.a, m.exact(0)))
APART = Hypothesis("the gap is above 0", lambda m, v: m.above(v.gap, m.exact(0)))

RISK = Statement(
    "tf/nonconvex-risk",
    source=SOURCE,
    place="Key differences from prior works",
    printed="Nonconvex loss l + nonlinear softmax",
    variables={
        "a": Meeting(AHEAD, Real(), lambda a, _: abs(a) + 0.125),
        "gap": Meeting(APART, Real(), lambda g, _: abs(g) + 0.125),
    },
    conclusion=above,
    readings={
        "literal": Reading(
            "proved",
            read={
                "Nonconvex loss": "that for the loss -u the risk of an input of two tokens, in the "
                "margin x of the better one, is not convex"
            },
            proof="symbolic.tf.nonconvex_risk:prove",
            under=(AHEAD, APART),
            examples=({"a": 1, "gap": 1},),
            siblings={
                "at margins above 0": changed(side=-1, examples=[{"a": 1, "gap": 1}]),
                "by a fifth of the gap": changed(share="1/5"),
            },
        ),
    },
)
