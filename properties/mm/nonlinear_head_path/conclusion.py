"""Bounds of the risk of nonlinear heads beside that of the selected tokens, as formulas."""

from collections.abc import Iterator
from types import SimpleNamespace

from attsvm.primitives.heads import change, derivative_along, head, linear
from attsvm.theory import Hypothesis, stated
from attsvm.theory.types import Comparison, Namespace, Number, Relation, Values
from properties._support.suppositions import RISING_UNITS, UNIQUE_OPTIMUM


def inputs(m: Namespace, v: Values) -> Iterator[SimpleNamespace]:
    """Yield each input with its head and the value of the head at the first token."""
    for X, b, s in zip(v.X, v.b, v.s, strict=True):
        own = SimpleNamespace(phi=v.phi, A=v.A, b=b, X=X, s=s)
        own.best = head(m, own, X[0])
        yield own


def gap(m: Namespace, v: Values) -> Number:
    """Return n (L(p) - L_*), with L_* the risk at the first tokens."""
    moved = ((own, own.s @ (own.X - own.X[0])) for own in inputs(m, v))
    drops = (v.loss.drop(m, own.best, -change(m, own, own.X[0], by)) for own, by in moved)
    return m.sum(m.array([*drops]))


def off(m: Namespace, own: Values) -> Number:
    """Return the attention q of an input to tokens other than the first."""
    return m.sum(m.array([m.exact(0), *own.s[1:]]))


def falls(m: Namespace, own: Values) -> list[Number]:
    """Return by how much h is lower at each other token than at the first one."""
    return [-change(m, own, own.X[0], x - own.X[0]) for x in own.X[1:]]


def slopes(m: Namespace, own: Values) -> list[Number]:
    """Return the slopes with which h falls from the first token towards the others."""
    return [-derivative_along(m, own, own.X[0], x - own.X[0]) for x in own.X[1:]]


def least(m: Namespace, v: Values, share: Number = 1, steep: bool = False) -> Number:
    """Return sum_i [l(best - d_i q_i) - l(best)], d_i the least gap of h.

    If `steep`, d_i is the least of its gaps and slopes. The gaps are multiplied by `share`.
    """
    drops = [m.exact(0)]
    for own in inputs(m, v):
        gaps = falls(m, own) + (slopes(m, own) if steep else [])
        if gaps:  # else there is no other token
            drops.append(v.loss.drop(m, own.best, share * m.min(m.array(gaps)) * off(m, own)))
    return m.sum(m.array(drops))


def most(m: Namespace, v: Values, share: Number = 1) -> Number:
    """Return sum_i [l(best - D_i q_i) - l(best)], D_i `share` times the largest gap or slope."""
    drops = [m.exact(0)]
    for own in inputs(m, v):
        gaps = falls(m, own) + slopes(m, own)
        if gaps:
            drops.append(v.loss.drop(m, own.best, share * m.max(m.array(gaps)) * off(m, own)))
    return m.sum(m.array(drops))


HEADS = (
    "h_i(x) = sum_k b_ik phi(<a_k, x>) with b_ik in place of Y_i b_k, L(p) is the mean of "
    "l(h_i(X_i^T s_i)), s_i = softmax(X_i W^T p) is the attention"
)


@stated(
    "",
    r"n (L(p) - L_*) \ge $share \sum_i [l(h_i - d_i q_i) - l(h_i)]",
    where=f"{HEADS}, L_* is the risk at the first tokens, h_i without an argument is its value at "
    "the first token of input i, d_i the least gap to another token, and q_i the attention to the "
    "others",
)
def no_better(m: Namespace, v: Values, share: Number = 0) -> Comparison:
    none = isinstance(share, int) and share == 0  # then inputs may have one token
    return m.at_most(m.exact(0) if none else share * least(m, v), gap(m, v))


@stated(
    "",
    r"\sum_i [l(h_i - $low d_i q_i) - l(h_i)] \le n (L(p) - L_*) \le \sum_i [l(h_i - $high "
    r"D_i q_i) - l(h_i)] \text{ and } 0 < L(p) - L_*",
    where=f"{HEADS}, L_* is the risk at the first tokens, h_i without an argument is its value at "
    "the first token x_1, d_i and D_i are the least and the largest of the gaps h_i(x_1) - "
    "h_i(x_t) and the slopes <h_i'(x_1), x_1 - x_t>, and q_i is the attention to the other tokens",
)
def between(m: Namespace, v: Values, low: Number = 1, high: Number = 1) -> Relation:
    return m.all_of(
        m.at_most(least(m, v, low, steep=True), gap(m, v)),
        m.below(m.exact(0), gap(m, v)),
        m.at_most(gap(m, v), most(m, v, high)),
    )


def leads(m: Namespace, v: Values) -> Relation:
    """Return that the first token of each input alone has the largest value of its head, which falls there."""  # noqa: E501
    gaps = [x for own in inputs(m, v) for x in falls(m, own) + slopes(m, own)]
    return m.all_of(*(m.above(x, m.exact(0)) for x in gaps or [m.exact(1)]))


def best(m: Namespace, v: Values) -> Relation:
    """Return that no token of an input has a larger value of its head than the first one."""
    gaps = [x for own in inputs(m, v) for x in falls(m, own)]
    return m.all_of(*(m.at_least(x, m.exact(0)) for x in gaps or [m.exact(0)]))


def one_sign(m: Namespace, v: Values) -> Relation:
    """Return that each input has no b_ik below 0 or none above it, or phi is the identity."""
    zero = m.exact(0)
    rows = (m.any_of(m.at_least(m.min(b), zero), m.at_most(m.max(b), zero)) for b in v.b)
    return m.any_of(m.all_of(*rows), linear(m, v))


def rising(m: Namespace, v: Values) -> Relation:
    """Return that no b_ik is negative, or phi is the identity."""
    return m.any_of(m.at_least(m.min(m.vec(v.b)), m.exact(0)), linear(m, v))


RISING = Hypothesis("every Y_i b_k >= 0, or phi is linear", rising, implies=(RISING_UNITS,))
BEST = Hypothesis("the first token of each input is a best one", best)
SIGN = Hypothesis(
    "of each input all Y_i b_k are >= 0, or all are <= 0, or phi is linear",
    one_sign,
    implies=(RISING_UNITS,),
)
STEEP = Hypothesis(
    "the head of each input is less at other tokens than at the first and falls towards them",
    leads,
    says="h_i(x_1) > h_i(x_t) and <h_i'(x_1), x_1 - x_t> > 0 for every other token t of each "
    "input i",
    implies=(BEST, UNIQUE_OPTIMUM),
)
