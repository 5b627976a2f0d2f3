"""The probability that no word of sentences of two words has two successors, for any vocabulary.

On `sim/often-unsolvable:sharp`, with the letters of `sim.often_unsolvable.pair_letters`. Let c_k(s)
be the probability that k sentences are exactly the pairs of the set s. The last of k + 1 sentences
is a pair q of s, and the others are s or s - q. So c_(k+1)(s) = sum_q p_q (c_k(s) + c_k(s - q))
over the pairs q of s. The sum of (-1)^|s - t| a(t)^k over the parts t of s satisfies the same
recursion, because parts without q cancel. For the product: a set has at most one pair of each word,
so that the exp(a(t) z) with these signs add up to it.
"""

import sympy as sp

from attsvm.errors import present
from attsvm.theory import ensure_zero
from attsvm.theory.declaration.proof import simplified
from attsvm.theory.proof.facts import Fact, K, eq, gt
from attsvm.theory.proof.lemmas import EXPONENTIAL_OF_SUM
from attsvm.theory.proof.linked import linked, setting
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    cases,
    cite,
    conclude,
    cut,
    decide,
    exchange,
    induction,
    inside,
    one_of_sum,
    picked,
    scale,
    square,
)
from attsvm.theory.proof.terms import EXP, Letter, Term, as_term, same, total
from properties.sim.often_unsolvable import pair_letters as letters
from properties.sim.often_unsolvable.pair_letters import (
    CHANCE,
    EARLY,
    EMPTY,
    IN,
    LESS,
    NEW,
    POWER,
    PRODUCT,
    SIGN,
    WORDS,
    P,
    other,
    power,
    q,
    rest,
    s,
    sum_of,
    t,
    z,
)

HOLE = Letter("hole")


def _all_zero(term: Term, closed: Fact) -> Fact:
    """Return that a term is 0 for each set, as the sum of its squares is."""
    return decide(eq(term, 0), one_of_sum(square(term), s), closed)


def _signs(turns: Fact, leaves: Fact, some: Fact, either: Fact, itself: Fact) -> Fact:
    """Return that signs of all parts add up to 0, or to 1 for the empty set.

    Let the set s have the pair q. A part t with q has the sign of t - q in s - q. A part t without
    q has minus the sign of t in s - q. So the signs cancel.

    Args:
        turns: the sign of a part in the set without a pair.
        leaves: that each part of s - q is t - q for exactly one part t of s with q.
        some: that a set that is not empty has a pair.
        either: that a set is empty or not.
        itself: that the empty set is the only part of itself.
    """
    has, signs, left = SIGN(s, t) * IN(t, q), total(SIGN(s, t), t), LESS(t, q)
    spread = add_up(scale(picked(as_term(1), rest, left), has), t)
    both = spread, exchange(has * same(rest, left), t, rest)
    parts = *(scale(fact, IN(s, q)) for fact in both), add_up(turns, t), add_up(leaves, rest)
    each = add_up(decide(eq(IN(s, q) * signs, 0), *parts, degree=1), q)
    empty = EMPTY(s)
    condition, goal = gt(empty, 0), eq(signs, empty)
    yes, no = assume(condition), assume(condition.denied())
    none = decide(eq(empty, 0), either, no)
    only = add_up(itself, t), scale(picked(as_term(1), t, s), empty)
    full = decide(eq(empty, 1), either, yes)
    own = decide(goal, *only, scale(full, signs), degree=1)
    return cases(own, decide(goal, each, cut(some, no), none), condition)


def _chances(turns: Fact, parts: Fact, signs: Fact, drawn: tuple[Fact, ...]) -> Fact:
    """Return that c_k(s) is the sum of (-1)^|s - t| a(t)^k, by induction on k.

    Args:
        turns: the sign of a part in the set without a pair.
        parts: that pairs of a part are pairs of the set.
        signs: that signs of all parts add up to 0, or to 1 for the empty set.
        drawn: the other facts of `letters.DRAWN`.
    """
    none, last, first, grows = drawn
    gap = CHANCE(K, s) - total(SIGN(s, t) * POWER(K, t), t)
    claim = eq(total(gap**2, s), 0)
    begins = add_up(scale(first, SIGN(s, t)), t)
    begin = decide(
        eq(CHANCE(0, s) - total(SIGN(s, t) * POWER(0, t), t), 0), begins, none, signs, degree=1
    )
    start = add_up(_squared(begin), s)
    known = _all_zero(gap, assume(claim))
    without = at(known, {s: LESS(s, q)})
    chosen = IN(s, q) * P(q)
    lost = add_up(scale(turns, P(q) * POWER(K, t)), t)
    own = add_up(scale(parts, P(q) * POWER(K, t)), t)
    body = SIGN(s, t) * IN(t, q) * P(q) * POWER(K, t)
    each = decide(
        eq(chosen * (CHANCE(K, s) + CHANCE(K, LESS(s, q))), total(body, t)),
        *(scale(known, chosen), scale(without, chosen), lost, own),
        degree=1,
    )
    more = add_up(scale(grows, SIGN(s, t)), t)
    after = decide(
        eq(CHANCE(K.term + 1, s) - total(SIGN(s, t) * POWER(K.term + 1, t), t), 0),
        *(last, add_up(each, q), exchange(body, q, t), more),
        degree=1,
    )
    whole = induction(claim, start, add_up(_squared(after), s))
    return _all_zero(gap, whole)


def _squared(fact: Fact) -> Fact:
    """Return that the square of a term that is 0 is 0."""
    return scale(fact, fact.proposition.term)


def _of_set(one: Term) -> Term:
    """Return sum_t (-1)^|s - t| exp(a(t) z), the product of exp(p z) - 1 over the pairs of s."""
    return total(SIGN(one, t) * power(t.term), t)


def _grown(either: Fact, without: Fact) -> Fact:
    """Return that exp(a(t) z) is exp(p_q z) exp(a(t - q) z) if t has the pair q.

    Args:
        either: that a pair is in a set or not.
        without: the pairs of a set without q.
    """
    one, condition, own = IN(t, q), gt(IN(t, q), 0), P(q) * z.term
    yes, no = assume(condition), assume(condition.denied())
    either, without = (at(fact, {s: t}) for fact in (either, without))
    less = sum_of(LESS(t, q))
    parts = add_up(scale(without, P(other)), other), picked(IN(t, other) * P(other), other, q)
    apart = decide(eq(sum_of(t.term), less + one * P(q)), *parts, degree=1)
    alone = decide(eq(one, 1), either, yes)
    same_ = decide(
        eq(sum_of(t.term) * z.term, less * z.term + own),
        *(scale(apart, z.term), scale(alone, own)),
        degree=1,
    )
    equal = inside(same_, sum_of(t.term) * z.term, less * z.term + own, EXP(HOLE), HOLE)
    (law,) = cite(EXPONENTIAL_OF_SUM, (), less * z.term, own)
    gap = power(t.term) - EXP(own) * power(LESS(t, q))
    goal = eq(one * gap, 0)
    grown = decide(goal, scale(decide(eq(gap, 0), equal, law, degree=1), one))
    return cases(grown, decide(goal, scale(decide(eq(one, 0), either, no), gap)), condition)


def _factor(grown: Fact, turns: Fact, leaves: Fact) -> Fact:
    """Return that the product of a set with the pair q is exp(p_q z) - 1 times that without it.

    Args:
        grown: the exponential of a part that has q.
        turns: the sign of a part in the set without a pair.
        leaves: that each part of s - q is t - q for exactly one part t of s with q.
    """
    raised, has = EXP(P(q) * z.term), SIGN(s, t) * IN(t, q)
    chosen, left = IN(s, q), LESS(t, q)
    with_q = scale(add_up(scale(grown, SIGN(s, t)), t), chosen)
    spread = add_up(scale(picked(power(rest.term), rest, left), has), t)
    turned = exchange(has * same(rest, left) * power(rest.term), t, rest)
    kept = add_up(scale(leaves, power(rest.term)), rest)
    lacking = add_up(scale(turns, power(t.term)), t)
    goal = eq(chosen * (_of_set(s.term) - (raised - 1) * _of_set(LESS(s, q))), 0)
    parts = *(scale(fact, chosen * raised) for fact in (spread, turned)), scale(kept, raised)
    return decide(goal, with_q, *parts, lacking, degree=1)


def _first(facts: tuple[Fact, ...]) -> Fact:
    """Return that the product of the empty set is 1, as a sum over the sets that are empty."""
    early, either, single, none, itself = facts
    empty, condition, whole = EMPTY(s), gt(EMPTY(s), 0), sum_of(s.term) * z.term
    yes, no = assume(condition), assume(condition.denied())
    lacks = add_up(scale(decide(eq(IN(s, q), 0), none, yes), P(q) * z.term), q)
    equal = inside(lacks, whole, as_term(0), EXP(HOLE), HOLE)
    gone = scale(decide(eq(empty, 0), either, no), power(s.term) - 1)
    unit = cases(scale(equal, empty), gone, condition)
    parts = add_up(scale(itself, power(t.term)), t), scale(picked(power(t.term), t, s), empty)
    own = decide(eq(empty * _of_set(s.term), empty), *parts, unit, degree=1)
    begins = add_up(scale(early, _of_set(s.term)), s)
    return decide(
        eq(total(EARLY(0, s) * _of_set(s.term), s), 1), begins, add_up(own, s), single, degree=1
    )


def _product(factor: Fact, facts: tuple[Fact, ...]) -> Fact:
    """Return that the product of V factors is the sum of the products of all sets, by induction."""
    none, next_, early, more, once, *empty, all_ = facts
    whole = total(EARLY(K, s) * _of_set(s.term), s)
    claim, raised = eq(PRODUCT(K, z), whole), EXP(P(q) * z.term) - 1
    first = _first((early, *empty))
    start = decide(claim.at({K: as_term(0)}), none, first, degree=1)
    known, left = assume(claim), LESS(s, q)
    with_more = add_up(scale(more, _of_set(s.term)), s)
    chosen = NEW(K, q) * EARLY(K, left)
    each = add_up(add_up(scale(factor, chosen), q), s)
    body = chosen * IN(s, q) * raised * _of_set(left)
    swapped = exchange(body, s, q)
    # a pair of the new word joins each set without one
    own = EARLY(K, rest) * _of_set(rest.term)
    spread = add_up(scale(picked(own, rest, left), IN(s, q)), s)
    turned = exchange(IN(s, q) * same(rest, left) * own, s, rest)
    joined = add_up(scale(once, _of_set(rest.term)), rest)
    factors = NEW(K, q) * raised
    of_pair = decide(
        eq(factors * total(IN(s, q) * EARLY(K, left) * _of_set(left), s), factors * whole),
        *(scale(spread, factors), scale(turned, factors), scale(joined, raised)),
        degree=1,
    )
    grows = scale(known, 1 + total(factors, q))
    step = decide(
        claim.at({K: K.term + 1}),
        *(next_, with_more, each, swapped, add_up(of_pair, q), grows),
        degree=1,
    )
    every = at(induction(claim, start, step), {K: WORDS})
    ends = add_up(scale(all_, _of_set(s.term)), s)
    return decide(eq(PRODUCT(WORDS, z), total(_of_set(s.term), s)), every, ends, degree=1)


@linked
def prove() -> str:
    """Prove the probability, and the product multiplied out, for any words and sentences."""
    a, k, number = sp.Symbol("a"), sp.Symbol("k", integer=True, nonnegative=True), sp.Symbol("z")
    ensure_zero(
        sp.diff(a**k * sp.exp(a * number), number) - a ** (k + 1) * sp.exp(a * number),
        "the k-th derivative of exp(a z) is a^k exp(a z): k! times the coefficient of z^k is a^k",
        normal=simplified,
    )
    claim = present(letters.series(), "a claim")
    either, without, parts, turns, leaves = (setting(letters.SETS, words) for words in letters.SETS)
    some, *drawn = (setting(letters.DRAWN, words) for words in letters.DRAWN)
    multiplied = tuple(setting(letters.MULTIPLIED, words) for words in letters.MULTIPLIED)
    *_, empty, _, _, itself, _ = multiplied
    signs = _signs(turns, leaves, some, empty, itself)
    conclude(add_up(_chances(turns, parts, signs, tuple(drawn)), s), claim.sequents[0])
    factor = _factor(_grown(either, without), turns, leaves)
    conclude(_product(factor, multiplied), claim.sequents[1])
    return "for any vocabulary, any weights and any m"
