"""Formulas that compare the loss of attention with that of the optimal token."""

from typing import Any

from attsvm.theory import definition
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Relation, Values


def attention(m: Namespace, v: Values) -> Numbers:
    """Return weights proportional to the squares of w, and equal ones if w is 0: any of sum 1."""
    square = m.square(v.w)
    share = square + m.is_zero(m.sum(square))
    return share / m.sum(share)


def optimal(m: Namespace, v: Values) -> Numbers:
    """Return 1 for each optimal token and 0 for the others."""
    return m.is_zero(m.max(v.gamma) - v.gamma)


@definition("w_{{off}}")
def off(m: Namespace, v: Values) -> Number:
    """Return the weight off the optimal tokens."""
    return m.dot(v.s, 1 - optimal(m, v))


@definition(r"\left(l(\langle s, \gamma\rangle) - l(best)\right)")
def drop(m: Namespace, v: Values) -> Any:
    """Return the loss at the attended score <s, gamma> less that at the best score."""
    best = m.max(v.gamma)
    return v.loss.drop(m, best, m.dot(v.s, best - v.gamma))


def few(m: Namespace, v: Values, most: Number) -> Comparison:
    """Return that at most `most` tokens are optimal; at least one always is."""
    return m.at_most(m.sum(optimal(m, v)), most)


def least(m: Namespace, v: Values, more: Number) -> Comparison:
    """Return that the excess loss is at least `more` times the weight off the best score."""
    return m.at_most(more * off(m, v), drop(m, v))


def only(m: Namespace, v: Values, most: Number) -> Relation:
    """Return that the excess loss is positive if the weight off the best score exceeds `most`."""
    return m.any_of(m.at_most(off(m, v), most), m.below(m.exact(0), drop(m, v)))


@definition("next")
def next_gap(m: Namespace, v: Values) -> Number:
    """Return the gap from the best score to the next one."""
    best = m.max(v.gamma)
    gaps = best - v.gamma
    return m.min(gaps + (m.max(gaps) + 1) * optimal(m, v))


@definition(r"\left(l(best - w_{{off}} \, {gap}) - l(best)\right)")
def lost(m: Namespace, v: Values, gap: Number) -> Number:
    """Return the excess loss if the weight w off the best score loses a gap."""
    return v.loss.drop(m, m.max(v.gamma), off(m, v) * gap)


def between(m: Namespace, v: Values, share: Number) -> Relation:
    """Return that the excess loss lies between those for the least and for the largest gap."""
    low, high = (lost(m, v, gap) for gap in (next_gap(m, v), m.oscillation(v.gamma)))
    return m.all_of(m.at_most(low, share * drop(m, v)), m.at_most(drop(m, v), share * high))
