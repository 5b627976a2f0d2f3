"""The constants of softmax and of linear attention under the squared loss."""

from collections.abc import Mapping
from fractions import Fraction

from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Values
from properties.sim._support import stability as logistic
from properties.sim._support.entry import on_line
from properties.sim._support.entry_loss import squared_gradient, squared_loss


def linear_loss(m: Namespace, A: Numbers, x: Numbers, h: Numbers, b: Number) -> Numbers:
    """Return M(x) = (<A x, h> - b)^2, the loss with linear attention."""
    return m.square(m.dot(A @ x, h) - b)


ENTRY = {"loss": squared_loss, "gradient": squared_gradient, "linear": linear_loss}


def compared(
    m: Namespace,
    v: Values,
    of: str,
    data: str = "norms",
    share: Number = 1,
    attention: str = "softmax",
) -> Comparison:
    """Return that the loss or its gradient changes at most as linear attention allows.

    The bound is `share` times the Lipschitz constant with linear attention.
    """
    size = logistic.score_norm(m, v, "norms" if data == "norms" else "same")
    if of == "gradient":
        constant = 2 * m.square(size)
    else:
        farthest = m.largest(v.h) if data == "reached" else v.R * m.norm(v.h)
        constant = 2 * size * (farthest + m.abs(v.b))
    return m.at_most(
        logistic.change(m, v, of, attention, ENTRY), share * constant * m.norm(v.x - v.y)
    )


def steep(m: Namespace, v: Values) -> Comparison:
    """Return that 4 ||A^T h||^2 >= diam(A)^2 (w^2/4 + 0.1925 (2 r - w) w)."""
    w, r = m.oscillation(v.h), m.largest(v.h - v.b)
    bend = w * w / 4 + m.exact("0.1925") * (2 * r - w) * w
    weighted = v.A.T @ v.h
    return m.at_least(4 * m.dot(weighted, weighted), m.square(m.diameter(v.A)) * bend)


SIGNS = {"-1": -1, "1": 1}

CONSTANT_LINEAR = on_line([1, 0], x=0, y=1, h=[0, 1], b=0)
"""A^T h = 0: linear attention is constant."""

FAR_LABEL = on_line([1, -1], **logistic.NEAR, h=[1, -1], b=-65_536, R=4)
"""Two tokens of nearly equal attention and a label that is much larger than ||h||."""

AT_THE_EDGE = on_line([1], x=4, y=4 - Fraction(1, 256), h=[1], b=-4, R=4)
"""A point at which linear attention is steepest; softmax does not move a single token."""

NO_REACH = on_line([1, -1], x=Fraction(1, 4), y=Fraction(3, 8), h=[1, 0], b=0, R=Fraction(1, 16))
"""R is so small that the loss with softmax attention changes faster than linear attention
allows."""

LONE_LABEL = on_line([1, 0], x=0, y=1, h=[1, 0], b=32)

BENT_AT = Fraction(-71, 128)
"""Point at which the gradient of the tokens 1 and -1 with the head (10, -7) has its largest
curvature for large labels."""


def bent(size: Fraction) -> Mapping[str, object]:
    """Return an instance of these tokens and this head, around `BENT_AT`, with the label -size."""
    return on_line([1, -1], **logistic.around(BENT_AT), h=[10, -7], b=-size)


BARELY_WIDE = on_line([Fraction(3, 2), Fraction(-1, 2)], **logistic.NEAR, h=[0, -2], b=-4096)
"""||A^T h|| = osc(h) diam(A)/4 = 1, and a label that is much larger than ||h||."""

BARELY_STEEP = on_line([14, 12], x=Fraction(21, 32), y=Fraction(85, 128), h=[2, 0], b=-1000)
"""4 ||A^T h||^2 = 3136, just above the bound of 3087; two tokens of probabilities (1 +- 1/sqrt
3)/2."""
