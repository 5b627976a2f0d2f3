"""The least value of the squared loss, and gains of descent on it along a direction."""

from attsvm.theory import definition, gradient
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Values
from properties.sim._support.entry_loss import squared_loss
from properties.sim._support.rivals import attended


def best_token(m: Namespace, v: Values, share: Number = 1) -> Comparison:
    """Return that the loss is at least a share of that of the best token."""
    least = m.min(m.square(v.h - v.b))
    return m.at_most(share * least, squared_loss(m, v.A, v.x, v.h, v.b))


@definition(r"L({x})")
def two_scores(m: Namespace, v: Values, x: Numbers) -> Number:
    """Return (beta - gap (1 - s) - b)^2."""
    return m.square(v.beta - v.gap * (1 - attended(m, v.B, x)) - v.b)


def gains(m: Namespace, v: Values, share: Number = 1) -> Comparison:
    """Return that -<grad L, V> is at least a share of 2 gap^2 s (1 - s)^2."""
    s = attended(m, v.B, v.x)
    gain = -m.dot(gradient(m, lambda m, x: two_scores(m, v, x), v.x), v.V)
    return m.at_most(share * (2 * v.gap * v.gap * s * m.square(1 - s)), gain)
