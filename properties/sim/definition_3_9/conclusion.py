"""Conclusions about the loss of an entry beside that of its best and worst tokens; instances."""

from attsvm.theory import definition
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Values
from properties.sim._support.entry import on_line
from properties.sim._support.entry_loss import loss as printed_loss


def bounded(m: Namespace, v: Values, share: Number = 0) -> Comparison:
    """Return that L is at least g(best), less a share of g(best) - g(worst)."""
    best, worst = (m.logistic(score) for score in (m.max(v.gamma), m.min(v.gamma)))
    least = (1 - share) * best + share * worst
    return m.at_most(least, printed_loss(m, v.A, v.x, v.h, v.b))


@definition("opt")
def chosen(m: Namespace, v: Values) -> Numbers:
    """Return equal weights of the tokens that are optimal by the values of another input."""
    scores = v.b * v.k
    tied = m.is_zero(m.max(scores) - scores)
    return tied / m.sum(tied)


def by_another_input(m: Namespace, v: Values, share: Number = 1) -> Comparison:
    """Return that g(-b <f, h>) is at least a share of g(-b h_opt), with opt of another input."""
    output = m.dot(m.softmax(v.A @ v.x), v.gamma)
    return m.at_most(share * m.logistic(-m.dot(chosen(m, v), v.gamma)), m.logistic(-output))


@definition(r"\left(l(b \langle f, h\rangle) - l(best)\right)")
def excess(m: Namespace, v: Values) -> Numbers:
    """Return the loss at b <f, h> less that at the best score, with f = softmax(A x)."""
    best = m.max(v.gamma)
    return v.loss.drop(m, best, m.dot(m.softmax(v.A @ v.x), best - v.gamma))


@definition(r"\left(l(worst) - l(best)\right)")
def largest(m: Namespace, v: Values) -> Numbers:
    """Return l(worst) - l(best), with the worst and the best score of the input."""
    return v.loss.drop(m, m.max(v.gamma), m.oscillation(v.gamma))


def not_below(m: Namespace, v: Values, share: Number = 0) -> Comparison:
    """Return that the excess loss is at least a share of its largest possible value."""
    return m.at_least(excess(m, v), share * largest(m, v))


def above(m: Namespace, v: Values, share: Number = 0) -> Comparison:
    """Return that the excess loss is above a share of its largest possible value."""
    return m.below(share * largest(m, v), excess(m, v))


BOTH = on_line([1, 0], x=0, h=[1, 0], b=1)
"""Two tokens of the scores 1 and 0, which get equal attention."""
LOWEST = on_line([1, 0], x=-16, h=[1, 0], b=1)
TIED = on_line([1, 0], x=1, h=[1, 1], b=1)
BEYOND = on_line([1, 0], x=0, h=[3, 1], b=1)
"""(1 - u)^2 is less at the scores between 1 and 3 than at the best one, 3."""
