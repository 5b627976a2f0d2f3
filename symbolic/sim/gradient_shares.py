"""Shares of rivals in the gradient along a run from the basin, by linked facts.

The share of rival j is p_j over 2 P, as the coefficient of an optimal token is the sum of those of
its rivals. The margin m_j is about m ln k with m = <A_j, V>, and the least margin about ln k. So
the share is about k^-(m - 1). On `sim/token-sparsity`, readings amended-2 and sharp-3.
"""

from dataclasses import dataclass

from attsvm.errors import present
from attsvm.primitives.descent_letters import (
    BEST,
    FALL,
    GAMMA,
    LN_K,
    NUMBER,
    OTHER,
    OWNER,
    A,
    V,
    bound,
    fades,
    falls_like,
    i,
    j,
    off,
)
from attsvm.theory.proof.facts import Fact, K, eq, ev, ge, gt
from attsvm.theory.proof.lemmas import EXPONENTIAL_OF_SUM, LENGTH, RECIPROCAL, SIZE
from attsvm.theory.proof.linked import Said, linked, setting
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    by_definition,
    cases,
    cite,
    decide,
    inside,
    positive,
    regroup,
    scale,
)
from attsvm.theory.proof.terms import ABS, EXP, INV, Letter, Term, as_term, total
from symbolic.attention_facts import HERE, MARGIN, OWN, THEIRS, r
from symbolic.basin_facts import Converged
from symbolic.facts import against, outgrows, power, product, tangent
from symbolic.growth_rates import OFF, Clock, N, Rates, Y, end, part, rates

STEEP, THEIR_MARGIN = A(j) @ V, A(r) @ HERE
"""The margin m of rival j under V, and the margin of another rival under W."""


def risen(low: Term, high: Term, order: Fact) -> Fact:
    """Return that exp(high) >= exp(low) in the end, as high >= low in the end."""
    return decide(ev(ge(EXP(high), EXP(low))), order, tangent(high, low), power(low))


def outgrown(low: Term, high: Term, order: Fact, factor: Fact, clock_: Clock) -> Fact:
    """Return that exp(high) >= factor exp(low) in the end.

    Args:
        low: the exponent on the right.
        high: the exponent on the left.
        order: high >= low + off/2 ln k in the end.
        factor: the factor is positive.
        clock_: facts on ln k.
    """
    whole, half = factor.proposition.term, OFF / 2
    long = outgrows(clock_.long, bound, decide(gt(half, 0), positive(off)), factor)
    far = risen(low + half * LN_K, high, order)
    more = tangent(low + half * LN_K, low)
    return decide(ev(ge(EXP(high), whole * EXP(low))), far, more, long, power(low))


@dataclass(frozen=True, slots=True)
class Margins:
    """Margins and ln k in the end, with a number t of the rival j, and m = <A_j, V>."""

    rates: Rates  # the rates of the norm
    t: Term  # t, some, below_one: the number; it is positive and below 1
    some: Fact
    below_one: Fact
    room: Fact  # off >= 6 t + 6 t m
    long: Fact  # ln k > 0
    wide: Fact  # N ln k > 0
    ahead: Fact  # m - t > 0
    most: Fact  # y <= (1 + t) N ln k
    least: Fact  # y >= (1 - t - t^2) N ln k


def margin_rates(limits: Rates) -> Margins:
    """Return the number t of a rival, and bounds of the norm by it."""
    g = limits.run.growth
    some_m = decide(gt(12 * STEEP, 0), g.margins)
    number = part("t", [j, off], 12 * STEEP, some_m)
    t, some, below_one = number.t, number.some, number.below_one(some_m)
    more = product(some, decide(ge(STEEP - 1, 0), g.margins)), product(positive(off), some)
    room = decide(ge(OFF, 6 * t + 6 * t * STEEP), number.whole, *more)
    long = at(limits.clock.long, {bound: 1}, decide(gt(1, 0)))
    long = decide(ev(gt(LN_K, 0)), long)
    wide = decide(ev(gt(N * LN_K, 0)), long, g.V_positive)
    ahead = decide(gt(STEEP - t, 0), g.margins, below_one)
    least, most = (at(one, {off: t}, some) for one in (limits.least, limits.most))
    least = decide(ev(ge(Y, (1 - t - t**2) * N * LN_K)), least, most, some)
    return Margins(limits, t, some, below_one, room, long, wide, ahead, most, least)


def at_least(m: Margins) -> Fact:
    """Prove that m_j >= (m - 3 t m) ln k in the end."""
    t, g = m.t, m.rates.run.growth
    low = (STEEP - t) * (1 - t - t**2)
    bent = decide(ge(low, STEEP - 3 * t * STEEP), g.margins, m.some, m.below_one, degree=3)
    follows = at(m.rates.follows, {off: t}, m.some)
    return decide(
        ev(ge(MARGIN, (STEEP - 3 * t * STEEP) * LN_K)),
        *(follows, m.least, m.ahead, bent, m.wide, g.V_positive),
    )


def at_most(m: Margins) -> Fact:
    """Prove that m_j <= (m + 3 t m) ln k in the end."""
    t, g, D, whole = m.t, m.rates.run.growth, m.rates.deviation, N * LN_K
    length, _ = cite(LENGTH, (), D)
    lag = decide(
        ev(ge((STEEP + OFF) * Y, N * MARGIN)), m.rates.near, against(A(j), D), g.longest_up, length
    )
    lag, high = at(lag, {off: t}, m.some), (STEEP + t) * (1 + t)
    bent = decide(ge(STEEP + 3 * t * STEEP, high), g.margins, m.some, m.below_one)
    fact = decide(
        ev(ge((STEEP + 3 * t * STEEP) * whole, N * MARGIN)),
        *(lag, m.most, m.ahead, m.some, bent, m.wide),
    )
    return decide(ev(ge((STEEP + 3 * t * STEEP) * LN_K, MARGIN)), fact, g.V_positive)


def of_all(m: Margins) -> Fact:
    """Prove that m_r >= (1 - 3 t) ln k in the end for all rivals r, with the number t of j."""
    t, g, whole, low = m.t, m.rates.run.growth, N * LN_K, (1 - m.t) * (1 - m.t - m.t**2)
    fact = at(at(m.rates.follows, {j: r}), {off: t}, m.some)
    fact = decide(ev(ge(N * THEIR_MARGIN, (1 - t) * Y)), fact, at(g.margins, {j: r}), g.y_norm)
    fact = decide(ev(ge(N * THEIR_MARGIN, low * whole)), fact, m.least, m.below_one)
    bent = decide(ge(low, 1 - 3 * t), m.some, degree=3)
    fact = decide(ev(ge(N * THEIR_MARGIN, (1 - 3 * t) * whole)), fact, bent, m.wide)
    return decide(ev(ge(THEIR_MARGIN, (1 - 3 * t) * LN_K)), fact, g.V_positive)


def sizes(run: Converged) -> tuple[Term, Term, Fact, Fact]:
    """Return the sizes of the coefficients in the gradient.

    Returns:
        The size for rival j, the sum of all sizes, and the facts that these are p_j and 2 P.
    """
    a, c, p, n = run.attention, run.coefficients, run.step.p(j, K), INV(NUMBER)
    u, s_o, hole = a.u(i, K), a.s_o(i, K), Letter("hole")
    term = FALL(a.u(OWN, K)) * a.s(j, K) * (a.u(OWN, K) - GAMMA(j)) * n
    optimal = FALL(u) * s_o * (BEST(i) - u) * n
    size = decide(
        eq(ABS(term), p),
        *cite(SIZE, (), p),
        *(c.positive, inside(run.step.p_is, p, term, ABS(hole), hole)),
    )
    own = total(p, j, THEIRS)
    own_is = decide(
        eq(own, optimal),
        *(add_up(run.step.p_is, j, THEIRS), scale(a.one, FALL(u) * n * u)),
        scale(a.mean, FALL(u) * n),
        degree=1,
    )
    whole = decide(
        eq(ABS(optimal), own),
        *cite(SIZE, (), own),
        *(add_up(c.positive, j, THEIRS), inside(own_is, own, optimal, ABS(hole), hole)),
    )
    every = total(ABS(term), j) + total(ABS(optimal), i)
    both = decide(
        eq(every, 2 * run.growth.P),
        *(add_up(size, j), add_up(whole, i), regroup(p, j, OWNER), run.growth.P_is),
    )
    return ABS(term), every, size, both


@dataclass(frozen=True, slots=True)
class Shares:
    """The shares of rivals in the gradient."""

    rates: Rates  # the rates of the norm
    own: Term  # own, whole: the size of the coefficient of rival j, and the sum of all sizes
    whole: Term
    own_is: Fact  # own_is, whole_is: the size is p_j, and the sum is 2 P
    whole_is: Fact
    some: Fact  # the sum is positive
    unit: Fact  # unit, over: c times 1/c is 1, and 1/c > 0
    over: Fact


def shares() -> Shares:
    """Return the sizes of the coefficients in the gradient along a run from the basin."""
    limits = rates()
    own, whole, own_is, whole_is = sizes(limits.run)
    some = decide(gt(whole, 0), whole_is, limits.run.growth.P_positive)
    c = limits.run.coefficients
    unit, over = cite(RECIPROCAL, [c.low_positive], c.low)
    return Shares(limits, own, whole, own_is, whole_is, some, unit, over)


def above(s: Shares, m: Margins) -> Fact:
    """Prove that the share is at most exp(-(m - 1 - off) ln k) in the end.

    The reason is that p_j <= C exp(x) and P >= c exp(-(1 + t) ln k), with x = -(m - 3 t m) ln k.
    """
    run, t, p = s.rates.run, m.t, s.rates.run.step.p(j, K)
    c, P = run.coefficients, run.growth.P
    x, fall, last = -(STEEP - 3 * t * STEEP) * LN_K, -(STEEP - 1 - OFF) * LN_K, -(1 + t) * LN_K
    small = risen(-MARGIN, x, at_least(m))
    small = decide(ev(ge(c.high * EXP(x), p)), c.at_most, small, c.high_positive)
    lowest = run.pull.lowest
    near = decide(ev(ge((1 + t) * LN_K, lowest)), m.most, run.pull.reached, run.growth.V_positive)
    heavy = risen(last, -lowest, near)
    heavy = decide(ev(ge(P, c.low * EXP(last))), run.pull.heavy, heavy, c.low_positive)
    order = decide(ev(ge(fall + last, x + OFF / 2 * LN_K)), m.room, m.long, m.some)
    ratio = decide(gt(c.high / c.low, 0), c.high_positive, s.over)
    far = outgrown(x, fall + last, order, ratio, s.rates.clock)
    one = scale(s.unit, c.high * EXP(x))
    far = decide(ev(ge(c.low * EXP(fall + last), c.high * EXP(x))), far, c.low_positive, one)
    (law,) = cite(EXPONENTIAL_OF_SUM, (), fall, last)
    fact = decide(ev(ge(EXP(fall) * P, p)), far, scale(law, c.low), small, heavy, power(fall))
    whole = scale(s.whole_is, EXP(fall))
    return decide(
        ev(ge(EXP(fall) * s.whole, s.own)),
        *(fact, s.own_is, whole, power(fall), run.growth.P_positive),
    )


def below(s: Shares, m: Margins) -> Fact:
    """Prove that the share is at least exp(-(m - 1 + off) ln k) in the end.

    The reason is that p_j >= c exp(x) with x = -(m + 3 t m) ln k, and P is at most
    C exp(-(1 - 3 t) ln k) times the number of rivals.
    """
    run, t, p, rivals = s.rates.run, m.t, s.rates.run.step.p(j, K), total(1, j)
    c, P = run.coefficients, run.growth.P
    x, fall = -(STEEP + 3 * t * STEEP) * LN_K, -(STEEP - 1 + OFF) * LN_K
    last, many = -(1 - 3 * t) * LN_K, rivals * c.high
    large = risen(x, -MARGIN, at_most(m))
    large = decide(ev(ge(p, c.low * EXP(x))), c.at_least, large, c.low_positive)
    each, theirs = risen(-THEIR_MARGIN, last, of_all(m)), run.step.p(r, K)
    at_most_ = at(c.at_most, {j: r})
    each = decide(ev(ge(c.high * EXP(last), theirs)), at_most_, each, c.high_positive)
    order = decide(ev(ge(x, fall + last + OFF / 2 * LN_K)), m.room, m.long)
    some = decide(gt(many, 0), c.several, c.high_positive)
    ratio = decide(gt(2 * many / c.low, 0), some, s.over)
    far = outgrown(fall + last, x, order, ratio, s.rates.clock)
    top = 2 * many * EXP(fall + last)
    far = decide(ev(ge(c.low * EXP(x), top)), far, c.low_positive, scale(s.unit, top))
    (law,) = cite(EXPONENTIAL_OF_SUM, (), fall, last)
    fact = decide(
        ev(ge(p, 2 * EXP(fall) * P)),
        *(far, scale(law, 2 * many), large, add_up(each, r), run.growth.P_is, power(fall)),
    )
    whole = scale(s.whole_is, EXP(fall))
    return decide(ev(ge(s.own, EXP(fall) * s.whole)), fact, s.own_is, whole)


def end_spelled(claim: Said | None, parts: Shares, *by: Fact) -> str:
    """Conclude a claim about attention by facts about u, s_o and s."""
    means, sequents = parts.rates.run.attention.means, present(claim, "what is shown").sequents
    facts = zip(sequents, by, strict=True)
    return end(claim, *(by_definition(x.proposition, means, fact) for x, fact in facts))


@linked
def prove_shares() -> str:
    """Prove that the share of a rival in the gradient falls like k^-(m - 1), m = <A_j, V>."""
    parts = shares()
    m = margin_rates(parts.rates)
    return end_spelled(falls_like(), parts, parts.some, below(parts, m), above(parts, m))


@linked
def prove_fading() -> str:
    """Prove that the common share of all rivals of margins above 1 tends to 0."""
    parts = shares()
    claim, rivals, fall = present(fades(), "what is shown"), total(1, j), (STEEP - 1) / 2 * LN_K
    run, own, whole = parts.rates.run, parts.own, parts.whole
    far, some = gt(STEEP, 1), positive(off)
    other, not_other = (
        setting(claim.setting, one) for one in ("OTHER is 1 if a margin is above 1", "else it is 0")
    )
    unit, over = cite(RECIPROCAL, [run.coefficients.several], rivals)
    one, inverse = cite(RECIPROCAL, [some], OFF)
    # with (m - 1)/2 for off the share is at most exp(-h) for h = (m - 1)/2 ln k
    half = decide(gt((STEEP - 1) / 2, 0), assume(far))
    small = at(above(parts, margin_rates(parts.rates)), {off: (STEEP - 1) / 2}, half)
    many = decide(gt(rivals / OFF, 0), run.coefficients.several, inverse)
    long, less = outgrows(parts.rates.clock.long, bound, half, many), tangent(as_term(0), -fall)
    less = decide(ev(ge(1, EXP(-fall) * rivals / OFF)), less, long, power(-fall))
    less = decide(ev(ge(OFF, EXP(-fall) * rivals)), less, some, scale(one, EXP(-fall) * rivals))
    less = decide(ev(ge(OFF / rivals, EXP(-fall))), less, over, scale(unit, EXP(-fall)))
    goal = ev(ge(OFF / rivals * whole, OTHER(j) * own))
    yes = decide(goal, less, small, parts.some, scale(other, own))
    rest = decide(gt(OFF / rivals, 0), some, over)
    no = decide(goal, rest, parts.some, scale(not_other, own))
    each = add_up(cases(yes, no, far), j)
    share = decide(ev(ge(OFF * whole, total(OTHER(j) * own, j))), each, scale(unit, OFF * whole))
    return end_spelled(claim, parts, parts.some, share)
