"""Three losses of attention that is normalised, their comparisons, hypotheses and instances."""

from fractions import Fraction

from attsvm.theory import Hypothesis, definition
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Relation, Values
from properties.sim._support.entry import on_line
from properties.sim._support.entry_loss import loss, loss_change
from properties.sim._support.stability import score_norm


@definition(r"M({x})")
def divided(m: Namespace, A: Numbers, x: Numbers, h: Numbers, b: Number) -> Numbers:
    """Return g(b <A x, h>/<A x, 1>), the loss with exp left out of the paper's attention."""
    return m.logistic(b * (m.dot(A @ x, h) / m.sum(A @ x)))


@definition(r"\varphi({s})")
def feature(m: Namespace, s: Numbers) -> Numbers:
    """Return max(s, 0) + exp(min(s, 0)), that is elu(s) + 1, of each entry."""
    return (m.abs(s) + s) / 2 + m.exp((s - m.abs(s)) / 2)


@definition(r"P({x})")
def featured(m: Namespace, A: Numbers, x: Numbers, h: Numbers, b: Number) -> Numbers:
    """Return g(b <phi(A) phi(x), h>/<phi(A) phi(x), 1>), the loss with positive features."""
    weights = feature(m, A) @ feature(m, x)
    return m.logistic(b * (m.dot(weights, h) / m.sum(weights)))


@definition(r"\delta")
def independence(m: Namespace, A: Numbers, h: Numbers) -> Number:
    """Return the Gram determinant of A^T h and A^T 1: 0 if they are linearly dependent, else above 0."""  # noqa: E501
    first, second = A.T @ h, A.T @ (0 * h + 1)
    return m.dot(first, first) * m.dot(second, second) - m.square(m.dot(first, second))


def constant_together(m: Namespace, v: Values, most: Number) -> Relation:
    """Return that A^T h and A^T 1 are independent, or L changes by at most `most` ||x - y||."""
    small = m.at_most(loss_change(m, v), most * m.norm(v.x - v.y))
    return m.any_of(m.above(independence(m, v.A, v.h), m.exact(0)), small)


def unbounded(m: Namespace, v: Values, share: Number = 1) -> Comparison:
    """Return that M changes by more than |C| ||c x - c y|| from c y to c x."""
    at_x, at_y = (divided(m, v.A, v.c * point, v.h, v.b) for point in (v.x, v.y))
    return m.below(m.abs(v.C) * m.norm(v.c * v.x - v.c * v.y), share * m.abs(at_x - at_y))


def near_zero(m: Namespace, v: Values) -> Number:
    """Return the factor that brings x and y close enough to 0."""
    return loss_change(m, v, divided) / (m.abs(v.C) * m.norm(v.x - v.y) + 1)


def compared(
    m: Namespace, v: Values, data: str, attention: str = "softmax", share: Number = 1
) -> Comparison:
    """Return that a loss changes at most as positive features allow over data of these sizes."""
    if data == "diameter":
        size = m.oscillation(v.h) * m.diameter(v.A) / 32
    else:
        size = score_norm(m, v, data) / 16
    left = loss_change(m, v, loss if attention == "softmax" else featured)
    return m.at_most(left, share * (m.abs(v.b) * size) * m.norm(v.x - v.y))


SUMS = Hypothesis(
    "<A x, 1>, <A y, 1> > 0",
    lambda m, v: m.all_of(*(m.above(m.sum(v.A @ point), m.exact(0)) for point in (v.x, v.y))),
)
MOVES = Hypothesis(
    "M(x) and M(y) differ", lambda m, v: m.above(loss_change(m, v, divided), m.exact(0))
)

DEFINED = Hypothesis(
    "A^T 1 is not 0",
    lambda m, v: m.above(m.norm(v.A.T @ (0 * v.h + 1)), m.exact(0)),
    says="A^T 1 is not 0, so that M is defined at some x",
)

ON_A_LINE = on_line([1, 0], x=1, y=2, h=[0, 1], b=1)
"""D = 1: M is 1/2 wherever it is defined."""
MIDDLE = {"A": [[1, 0], [0, 1], [1, 1]], "x": [1, 0], "y": [0, 2], "h": [1, 1, 0], "b": 1}
"""A^T h = (1, 1) and A^T 1 = (2, 2), so <A x, h>/<A x, 1> is 1/2; softmax attention moves."""
CROSSED = {"A": [[1, 0], [0, 1]], "x": [1, 0], "y": [0, 1], "h": [0, 1], "b": 1, "C": 100}
BESIDE_POLE = {"A": [[1, 0], [0, -1]], "x": [2, 1], "y": [3, 1], "h": [1, 0], "b": 1, "C": 1}
"""Both sums are positive, and one logit is not."""

STEP = Fraction(1, 256)
KEYS = {"A": [[0, -STEP], [-STEP, 0]], "h": [1, -1], "b": STEP}
BALANCED = {**KEYS, "x": [-STEP, -2 * STEP], "y": [-2 * STEP, -STEP]}
"""Two keys close to each other and a small label, at which both bounds are approached."""
APART = {"A": [[1, 0], [0, 1]], "x": [-STEP, STEP], "y": [STEP, -STEP], "h": [1, -1], "b": STEP}
