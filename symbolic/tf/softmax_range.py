"""The range of softmax: bounds of the odds (1 - S_1)/S_1 = sum_{u > 1} exp(v_u - v_1), for any T.

S is the softmax of T numbers v.
"""

from collections.abc import Callable
from dataclasses import dataclass

from attsvm.theory import Statement
from attsvm.theory.proof.facts import Fact, eq, ge, gt
from attsvm.theory.proof.lemmas import EXPONENTIAL_OF_SUM, RECIPROCAL
from attsvm.theory.proof.linked import conclusion_of, linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    at,
    attained,
    beyond,
    bounds,
    cite,
    conclude,
    decide,
    inside,
    one_of_sum,
    scale,
    split,
    square,
)
from attsvm.theory.proof.terms import (
    EXP,
    INV,
    SQRT,
    Letter,
    Term,
    after_first,
    as_term,
    first_of,
    most,
    substituted,
    total,
)
from properties._support.risk_formulas import SEVERAL
from properties.tf.softmax_range import RANGE
from symbolic.facts import (
    cauchy,
    end,
    formula_of,
    index,
    letters_in,
    power,
    powers_rise,
    product,
    root,
    softmax,
    some_of,
    squares,
    tangent,
)

OTHERS, AFTER = after_first(index("t", "T").sort)
t, u, HOLE = index("t", "T"), Letter("u", OTHERS), Letter("hole")
FIRST = first_of(t.sort)
"""The first index, and another one, u."""


@linked
def prove_inside() -> str:
    """Prove that entries are above 0, below 1, and add up to 1.

    Each is at least the least one, c > 0, so that 1 is at least any one plus (T - 1) c.
    """
    v = letters_in(RANGE, "amended-1")
    some = some_of(RANGE, "amended-1", "T")
    (several,) = suppose(SEVERAL, formula_of(RANGE, "amended-1"))
    weights = softmax(v.v.entry((t.term,)), t, some)
    one, s = weights.one(t), weights.weight
    positive = bounds(weights.positive, "least", s, t, some)
    each = one_of_sum(beyond("least", s, t), t)
    below = bounds(decide(gt(1, s), each, several, positive, one), "most", s, t, some)
    end(RANGE, "amended-1", by=[one, positive, below])
    return "for any T >= 2 and all real v"


@dataclass(frozen=True, slots=True)
class Odds:
    """The odds (1 - S_1)/S_1 of the first of T >= 2 logits."""

    first: Term  # first, other: the first logit, and that of another index u
    other: Term
    sum: Term  # the sum over u of exp(other - first), a term
    equal: Fact  # the term of the formula, sum_u S_u over S_1, is this sum
    number: Term  # T - 1, a term
    count: Fact  # the sum over u of 1 is T - 1
    axis: tuple[Fact, Fact]  # the facts on the first index and the others


def odds_of(statement: Statement, reading: str, logit: Callable[[Term], Term]) -> Odds:
    """Return facts on the odds of the first logit, which is a function of the index."""
    settings = conclusion_of(formula_of(statement, reading)).setting
    start = setting(settings, "the first index of the axis T has the position 0")
    later = setting(settings, "the other indices of the axis T have later positions")
    first, other, n = logit(FIRST), logit(AFTER(u)), total(1, t) - 1
    count = decide(eq(total(1, u), n), split(as_term(1), t, start, later))
    whole, own = total(EXP(logit(t.term)), t), EXP(first)
    parts = split(EXP(logit(t.term)), t, start, later)
    positive = decide(gt(whole, 0), parts, power(first), add_up(power(other), u))
    whole_unit, _ = cite(RECIPROCAL, [positive], whole)
    own_unit, _ = cite(RECIPROCAL, [power(first)], own)
    (law,) = cite(EXPONENTIAL_OF_SUM, (), other - first, first)
    rest, ratios = total(EXP(other), u), total(EXP(other - first), u)
    equal = decide(
        eq(rest * INV(whole) * INV(own * INV(whole)), ratios),
        *(scale(whole_unit, rest * INV(own)), scale(add_up(law, u), INV(own))),
        scale(own_unit, ratios),
        degree=1,
    )
    return Odds(first, other, ratios, equal, n, count, (start, later))


def mean_odds(odds: Odds, a: Term, mean: Fact) -> Fact:
    """Return that the odds are at least (T - 1) exp(a).

    Args:
        odds: the odds.
        a: a number.
        mean: the sum over u of other - first is T - 1 times this number.
    """
    each = add_up(tangent(odds.other - odds.first, a), u)
    return decide(
        ge(odds.sum, odds.number * EXP(a)),
        *(each, scale(mean, EXP(a)), scale(odds.count, EXP(a) * (1 - a))),
        degree=1,
    )


def _logits(reading: str) -> Callable[[Term], Term]:
    v = letters_in(RANGE, reading)

    def logit(place: Term) -> Term:
        entry: Term = v.v.entry((place,))
        return entry

    return logit


@linked
def prove_lead() -> str:
    """Prove that exp(-lead) <= (1 - S_1)/S_1 <= (T - 1) exp(-lead), lead = v_1 - max of others."""
    reading = "amended-2"
    odds = odds_of(RANGE, reading, _logits(reading))
    first, other, largest = odds.first, odds.other, most(odds.other, u)
    (two,) = suppose(SEVERAL, formula_of(RANGE, reading))
    some = decide(gt(total(1, u), 0), odds.count, two)
    pick, reached = attained("largest", largest, some)
    each = at(one_of_sum(power(other - first), u), {u: pick()})
    same = inside(reached, substituted(other, {u: pick()}), largest, EXP(HOLE.term - first), HOLE)
    above = decide(ge(largest - first, other - first), beyond("most", other, u))
    high = add_up(powers_rise(other - first, largest - first, above), u)
    high = decide(
        ge(odds.number * EXP(largest - first), odds.sum),
        *(high, scale(odds.count, EXP(largest - first))),
    )
    low_, high_ = conclusion_of(formula_of(RANGE, reading)).sequents
    conclude(decide(low_.proposition, each, same, odds.equal), low_)
    conclude(decide(high_.proposition, high, odds.equal), high_)
    return "for any T >= 2 and all real v"


@linked
def prove_least() -> str:
    """Prove that the odds are at least (T - 1) exp(-||v|| sqrt(T/(T - 1))).

    By the tangent of exp at a, the mean of the v_u - v_1, they are at least (T - 1) exp(a).
    """
    reading = "sharp-1"
    logit = _logits(reading)
    odds = odds_of(RANGE, reading, logit)
    n, first, others = odds.number, odds.first, total(odds.other, u)
    a, T = (others - n * first) * INV(n), total(1, t)
    (two,) = suppose(SEVERAL, formula_of(RANGE, reading))
    some = decide(gt(n, 0), two)
    unit, _ = cite(RECIPROCAL, [some], n)
    mean = decide(
        eq(total(odds.other - first, u), n * a),
        *(scale(unit, others - n * first), scale(odds.count, first)),
        degree=1,
    )
    low = mean_odds(odds, a, mean)
    # a^2 is at most ||v||^2 T/(T - 1)
    squares_ = split(logit(t.term) ** 2, t, *odds.axis)
    size = cauchy(as_term(1), odds.other, u)
    spread = decide(
        ge(n * T * total(logit(t.term) ** 2, t), (others - n * first) ** 2),
        *(scale(squares_, n * T), scale(odds.count, T * total(odds.other**2, u))),
        *(product(some, square(others + first)), some, size),
    )
    s = INV(n) * T * total(logit(t.term) ** 2, t)
    bound = decide(
        ge(s, a**2), square(INV(n)), spread, scale(unit, INV(n) * T * total(logit(t.term) ** 2, t))
    )
    root_, root_square = root(s, decide(ge(s, 0), bound, square(a)))
    order = decide(ge(a, -SQRT(s)), bound, root_, root_square)
    (goal,) = conclusion_of(formula_of(RANGE, reading)).sequents
    conclude(decide(goal.proposition, low, some, powers_rise(-SQRT(s), a, order), odds.equal), goal)
    return "for any T >= 2 and all real v"


@linked
def prove_most() -> str:
    """Prove that the odds are at most (T - 1) exp(sqrt 2 ||v||), as no v_u - v_1 is larger."""
    reading = "sharp-2"
    logit = _logits(reading)
    odds = odds_of(RANGE, reading, logit)
    apart, s = odds.other - odds.first, 2 * total(logit(t.term) ** 2, t)
    each = one_of_sum(square(odds.other), u)
    root_, root_square = root(s, decide(ge(s, 0), squares(logit(t.term), t)))
    order = decide(
        ge(SQRT(s), apart),
        *(split(logit(t.term) ** 2, t, *odds.axis), each, square(odds.other + odds.first), root_),
        root_square,
    )
    high = add_up(powers_rise(apart, SQRT(s), order), u)
    (goal,) = conclusion_of(formula_of(RANGE, reading)).sequents
    counted = scale(odds.count, EXP(SQRT(s)))
    conclude(decide(goal.proposition, high, counted, odds.equal, degree=1), goal)
    return "for any T >= 2 and all real v"
