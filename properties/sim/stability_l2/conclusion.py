"""The constants of softmax and of linear attention under the squared loss."""

from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Values
from properties.sim._support import stability as logistic
from properties.sim._support.entry_loss import squared_gradient, squared_loss


def linear_loss(m: Namespace, A: Numbers, x: Numbers, h: Numbers, b: Number) -> Numbers:
    """M(x)."""
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
    """The change of the loss or of its gradient against a share of linear attention's constant."""
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
    """4 ||A^T h||^2 >= diam(A)^2 (w^2/4 + 0.1925 (2 r - w) w)."""
    w, r = m.oscillation(v.h), m.largest(v.h - v.b)
    bend = w * w / 4 + m.exact("0.1925") * (2 * r - w) * w
    weighted = v.A.T @ v.h
    return m.at_least(4 * m.dot(weighted, weighted), m.square(m.diameter(v.A)) * bend)
