"""The cost of attention beside the best tokens of an input: facts for any number of tokens.

The gaps are g_t = best - gamma_t >= 0, and attention s_t >= 0 adds up to 1. The deficit of the
attended score is sum_t s_t g_t.
"""

from dataclasses import dataclass

from attsvm.theory.proof.facts import Fact, eq, ge, gt
from attsvm.theory.proof.lemmas import INDICATOR, RECIPROCAL
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    beyond,
    bounds,
    cases,
    cite,
    cut,
    decide,
    inside,
    one_of_sum,
    scale,
)
from attsvm.theory.proof.terms import INV, IS_ZERO, REAL, Function, Letter, Term, least, most, total
from symbolic.facts import index, product, softmax


def best_gap(score: Term, t: Letter) -> Fact:
    """Return that no score is above the best one."""
    return beyond("most", score, t)


def falls(decreases: Fact, loss: Function, low: Term, high: Term, order: Fact) -> Fact:
    """Return that l(low) >= l(high), as high >= low.

    Args:
        decreases: that l(a) >= l(b), or l(a) > l(b), if b > a.
        loss: the function l.
        low: the smaller number.
        high: the larger one.
        order: that it is at least the smaller one.
    """
    goal, condition = ge(loss(low), loss(high)), gt(high, low)
    yes, no = assume(condition), assume(condition.denied())
    below = cut(at(decreases, {Letter("a"): low, Letter("b"): high}), yes)
    hole = Letter("hole")
    same = inside(decide(eq(low, high), order, no), low, high, loss(hole), hole)
    return cases(decide(goal, below), decide(goal, same), condition)


def deficit_positive(gap: Fact, weight: Fact, t: Letter) -> Fact:
    """Return that the deficit is at least 0, as gaps and weights are."""
    return add_up(product(weight, gap), t)


def off_bound(gap: Fact, weight: Fact, t: Letter, bound: Fact, sign: int) -> Fact:
    """Return that the deficit is at least w c, w the weight off the best tokens; sign -1: at most.

    Args:
        gap: that each gap is at least 0.
        weight: that each weight is at least 0.
        t: the index.
        bound: that each gap is at least c, or at most; perhaps if it is above 0.
        sign: 1 for a lower bound, -1 for an upper one.
    """
    g, s = gap.proposition.term, weight.proposition.term
    c, condition = g - sign * bound.proposition.term, gt(g, 0)
    yes, no = assume(condition), assume(condition.denied())
    zero = decide(eq(g, 0), gap, no)
    at_zero, at_positive, *_ = cite(INDICATOR, (), g)
    one, none = cut(at_zero, zero), cut(at_positive, yes)
    if bound.assumptions:
        bound = cut(bound, yes)
    goal = ge(sign * s * (g - (1 - IS_ZERO(g)) * c), 0)
    far = decide(goal, weight, bound, scale(none, s * c))
    return add_up(cases(far, decide(goal, scale(one, s * c), scale(zero, s)), condition), t)


def next_below(gap: Fact, t: Letter, more: Term) -> Fact:
    """Return that the least of g_t + [g_t = 0] more is at most each gap above 0, if it is."""
    g = gap.proposition.term
    raised = g + IS_ZERO(g) * more
    none = cut(cite(INDICATOR, (), g)[1], assume(gt(g, 0)))
    return decide(ge(g, least(raised, t)), beyond("least", raised, t), scale(none, more))


def next_positive(gap: Fact, t: Letter, more: Fact, some: Fact) -> Fact:
    """Return that the least of g_t + [g_t = 0] more is above 0, as more is and there is a t."""
    g, added = gap.proposition.term, more.proposition.term
    raised, condition = g + IS_ZERO(g) * added, gt(g, 0)
    yes, no = assume(condition), assume(condition.denied())
    at_zero, *_, indicator, _ = cite(INDICATOR, (), g)
    one = cut(at_zero, decide(eq(g, 0), gap, no))
    far = decide(gt(raised, 0), yes, indicator, more)
    near = decide(gt(raised, 0), scale(one, added), gap, more)
    return bounds(cases(far, near, condition), "least", raised, t, some)


LOSS = Function("loss", (REAL,))
i, t = index("i", "n"), index("t", "T")


@dataclass(frozen=True, slots=True)
class Input:
    """Attention in an input i of several, by softmax."""

    score: Term  # gamma_it
    best: Term  # the best score
    weight: Term  # the attention to token t
    deficit: Term  # best minus the attended score
    gap: Fact  # that no score is above the best one
    weight_positive: Fact  # that attention is positive

    def short(self) -> Fact:
        """Return that the deficit is at least 0."""
        return add_up(product(self.weight_positive, self.gap), t)


def attends(score: Term, logit: Term, some: Fact) -> Input:
    """Return attention in an input, which has a token."""
    weights, best = softmax(logit, t, some), most(score, t)
    gap = best_gap(score, t)
    deficit = total(weights.weight * (best - score), t)
    return Input(score, best, weights.weight, deficit, gap, weights.positive)


def mean_above(drop: Fact, some: Fact) -> Fact:
    """Return that the mean of drops is at least 0, as each is."""
    _, inverse = cite(RECIPROCAL, [some], total(1, i))
    return product(add_up(drop, i), inverse)


def mean_positive(drop: Fact, positive: Fact, pick: Term, some: Fact) -> Fact:
    """Return that the mean of drops, none of which is negative, is above 0, as one of them is."""
    _, inverse = cite(RECIPROCAL, [some], total(1, i))
    whole = decide(
        gt(total(drop.proposition.term, i), 0), at(one_of_sum(drop, i), {i: pick}), positive
    )
    return decide(gt(whole.proposition.term * INV(total(1, i)), 0), whole, inverse)
