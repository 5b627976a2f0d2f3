"""The condition that descent does not lower the expected score, or the weight of optimal tokens."""

from attsvm.theory import definition, gradient, stated
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Values


@definition(r"u({x})")
def score(m: Namespace, A: Numbers, x: Numbers, h: Numbers, b: Number) -> Numbers:
    """Return the expected score."""
    return b * m.dot(m.softmax(A @ x), h)


@definition("o")
def optimal(m: Namespace, h: Number, b: Number) -> Numbers:
    """Return 1 for each token of largest score, 0 for the others."""
    return m.is_zero(m.max(b * h) - b * h)


@definition(r"F({x})")
def weight(m: Namespace, A: Numbers, x: Numbers, h: Numbers, b: Number) -> Number:
    """Return the attention on the optimal tokens."""
    return m.dot(m.softmax(A @ x), optimal(m, h, b))


def gradients(m: Namespace, v: Values, sign: int, quantity: str) -> tuple[Numbers, Numbers]:
    """Return the gradient of the loss g(sign u) and that of the score or the weight."""
    other = {"score": score, "weight": weight}[quantity]
    return (
        gradient(m, lambda m, x: m.logistic(sign * score(m, v.A, x, v.h, v.b)), v.x),
        gradient(m, lambda m, x: other(m, v.A, x, v.h, v.b), v.x),
    )


@stated(
    "$quantity does not fall along -grad_x g($sign), that is $formula",
    symbols={
        "quantity": {"score": "the expected score u", "weight": "the weight F of optimal tokens"},
        "sign": {1: "u", -1: "-u"},
    },
)
def drift(m: Namespace, v: Values, sign: int, quantity: str, strict: bool = False) -> Comparison:
    """The quantity does not decrease along -grad g(sign u); with `strict` it increases."""
    descended, other = gradients(m, v, sign, quantity)
    compared = m.below if strict else m.at_most
    return compared(m.dot(descended, other), m.exact(0))


def rivals_alike(m: Namespace, v: Values) -> Comparison:
    """Return that all tokens that are not optimal have the same score."""
    rival = 1 - optimal(m, v.h, v.b)
    pairs = m.outer(rival * v.b * v.h, rival)
    return m.equal(pairs, pairs.T)
