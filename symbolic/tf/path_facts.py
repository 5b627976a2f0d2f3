"""Minimisers over growing balls have margins of about rho, by linked facts.

The letters are those of `properties.tf._support.path_letters`. Let V have margins of at least 1,
and let W(k) have no larger risk than rho V, where rho tends to infinity. For input i let x_i be the
best score less the attended one.

1. The loss exceeds l(best) by at least b_i x_i and at most a_i x_i, with b_i > 0 (`secants`). Near
   the best score the slope differs from that at the best score by at most half. Farther away l is
   at least its value near the best score, and at most its value at the lowest score.
2. At rho V attention to a rival is at most exp(-rho), so that n (L - L_*) is at most G exp(-rho).
3. At W(k) attention s_j to a rival is at most G exp(-rho)/(b_i lead_j). So the attention to the
   optimal token is at least 1/2 in the end, and exp(-m_j) is at most a constant times exp(-rho).
"""

from dataclasses import dataclass

from attsvm.primitives.descent_letters import (
    BEST,
    FALL,
    FALLS,
    HIGH,
    LOSS,
    LOW,
    NUMBER,
    OWNER,
    SETTING,
    X,
    bound,
    i,
    j,
    lead,
    margin,
    off,
    risk,
    x,
    y,
)
from attsvm.primitives.loss_hypotheses import DECREASING_LOSS, SMOOTH_LOSS
from attsvm.theory.proof.facts import Fact, K, eq, ev, ge, gt, note
from attsvm.theory.proof.lemmas import (
    CONTINUITY,
    EXPONENTIAL,
    EXPONENTIAL_OF_SUM,
    RECIPROCAL,
    RISES,
)
from attsvm.theory.proof.linked import setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    by_definition,
    cases,
    cite,
    cut,
    decide,
    define,
    one_of_sum,
    positive,
    scale,
)
from attsvm.theory.proof.terms import EXP, INV, Function, Term, as_term, total
from properties.tf._support.path_letters import RADII, RADIUS
from symbolic.attention_facts import OWN, THEIRS, Attention, r
from symbolic.facts import outgrows, power, powers_rise, product, tangent
from symbolic.growth_rates import ordered

OFF = off.term


@dataclass(frozen=True, slots=True)
class Secants:
    """Bounds of the loss gap of an input, at any matrix X."""

    low: Function  # low, high: functions of an input
    high: Function
    low_positive: Fact  # the first one is positive
    high_sign: Fact  # the second one is at least 0
    at_least: Fact  # at_least, at_most: the loss gap of input i, by multiples of x_i
    at_most: Fact


def secants(a: Attention, falls: Fact) -> Secants:
    """Prove that the loss gap of an input is at least b_i x_i and at most a_i x_i."""
    slope = setting(SETTING, "fall is the negative slope of the loss")
    (smooth,), (never,) = suppose(SMOOTH_LOSS), suppose(DECREASING_LOSS)
    steep, best, extent = FALL(BEST(i)), BEST(i), BEST(i) - LOW
    half = decide(gt(steep / 2, 0), falls)
    bent = cite(CONTINUITY, [smooth, half], "near", FALL, x, best, steep / 2)
    some, upper, lower = bent
    d = some.proposition.term
    top = LOSS(LOW) - LOSS(best)
    unit, inverse = cite(RECIPROCAL, [some], d)
    # between y and the best score, if y is near it
    condition, under, over = ge(y, best - d), assume(ge(best, y)), assume(ge(y, LOW))
    close, far = assume(condition), assume(condition.denied())
    above = decide(ge(x, best - d), assume(ge(x, y)), close)
    beyond = decide(ge(best + d, x), assume(ge(best, x)), some)
    steeper = decide(ge(FALL(x), steep / 2), cut(lower, above, beyond))
    flatter = decide(ge(3 * steep / 2, FALL(x)), cut(upper, above, beyond))
    ends = y.term, best
    facts = [slope, under, steeper]
    (least,) = cite(RISES, facts, -LOSS(x) - steep / 2 * x.term, x, FALLS, *ends)
    facts = [slope, under, flatter]
    (most,) = cite(RISES, facts, LOSS(x) + 3 * steep / 2 * x.term, x, FALLS, *ends)
    # farther away, by the loss at best - d and at the lowest score
    wide = setting(SETTING, "no best score is below the lowest")
    fraction, part = cite(RECIPROCAL, [decide(gt(d + extent, 0), some, wide)], d + extent)
    low, low_is = define("b", (i,), steep / 2 * d * INV(d + extent))
    high, high_is = define("a", (i,), 3 * steep / 2 + top * INV(d))
    near = decide(gt(steep / 2 * d, 0), half, some)
    low_positive = decide(gt(low(i), 0), low_is, near, part)
    parts = [scale(low_is, d + extent), scale(fraction, steep / 2 * d)]
    whole = decide(eq(low(i) * (d + extent), steep / 2 * d), *parts)
    edge, gap, room = best - d, LOSS(y) - LOSS(best), best - y.term
    least_there = cut(at(least, {y: edge}), decide(ge(0, 0)), decide(ge(best, edge), some))
    inside = decide(ge(HIGH, edge), a.best_high, some)
    falls_ = cut(at(never, {x: y, y: edge}), decide(ge(edge, y), far), over, inside)
    goal = ge(gap, low(i) * room)
    parts = [falls_, least_there, whole, product(low_positive, over), product(low_positive, some)]
    at_least = cases(
        decide(goal, least, low_is, product(half, wide, part), scale(fraction, steep), under),
        decide(goal, *parts, degree=1),
        condition,
    )
    down = cut(at(never, {x: LOW, y: best}), wide, decide(ge(0, 0)), a.best_high)
    high_sign = decide(ge(high(i), 0), high_is, down, inverse, half)
    goal = ge(high(i) * room, gap)
    scaled = scale(high_is, room)
    parts = [most, scaled, product(down, inverse, under)]
    close_ = decide(goal, *parts, degree=1)
    down_ = cut(
        at(never, {x: LOW}), over, decide(ge(0, 0)), decide(ge(HIGH, y), under, a.best_high)
    )
    further = decide(ge(room - d, 0), far)
    parts = [down_, scaled, product(half, under), product(down, inverse, further), scale(unit, top)]
    far_ = decide(goal, *parts, degree=1)
    at_most = cases(close_, far_, condition)
    u = {y: a.u(i, X)}
    at_least, at_most = (
        cut(at(fact, u), a.below_best, a.above_lowest) for fact in (at_least, at_most)
    )
    return Secants(low, high, low_positive, high_sign, at_least, at_most)


@dataclass(frozen=True, slots=True)
class Radii:
    """The radii R(k)."""

    sign: Fact  # R(k) is at least 0
    far: Fact  # it exceeds every bound in the end


def radii() -> Radii:
    """Return radii that are given, and that tend to infinity."""
    sign, far = (setting(RADII, words) for words in RADII)
    return Radii(decide(ge(RADIUS(K), 0), sign), far)


@dataclass(frozen=True, slots=True)
class Scale:
    """The radius R(k) in units of a norm N > 0."""

    rho: Term  # R(k)/N
    forward: Fact  # it is at least 0
    whole: Fact  # rho N is R(k)
    grows: Fact  # it exceeds every bound in the end


def scaled(size: Fact, radii: Radii) -> Scale:
    """Prove that R(k)/N tends to infinity, for a term N that is positive."""
    N, R = size.proposition.term, RADIUS(K)
    unit, inverse = cite(RECIPROCAL, [size], N)
    rho, rho_is = define("rho", (K,), R * INV(N))
    whole = decide(eq(rho(K) * N, R), scale(rho_is, N), scale(unit, R))
    forward = decide(ge(rho(K), 0), rho_is, radii.sign, inverse)
    far = at(
        radii.far, {bound: bound.term * N}, decide(gt(bound.term * N, 0), positive(bound), size)
    )
    return Scale(rho(K), forward, whole, decide(ev(gt(rho(K), bound)), far, whole, size))


def total_losses(a: Attention, cheaper: Fact, ours: Term, moved: Term) -> Fact:
    """Return that the losses of all inputs at a matrix add up to no more than at another one.

    Args:
        a: attention at any matrix X.
        cheaper: the risk at the other matrix, perhaps plus some number, is at least that at the
            first. Then n times this number is added to the losses at the other matrix.
        ours: the first matrix.
        moved: the other one.
    """
    unit, _ = cite(RECIPROCAL, [a.input], NUMBER)
    losses = total(LOSS(a.u(i, X)), i)
    mean = scale(by_definition(eq(risk(X.term), losses / NUMBER), [a.means[0]]), NUMBER)
    mean = decide(eq(NUMBER * risk(X.term), losses), mean, scale(unit, losses))
    own, theirs = (at(mean, {X: point}) for point in (ours, moved))
    more = NUMBER * (cheaper.proposition.term - risk(moved) + risk(ours))
    return decide(
        ge(total(LOSS(a.u(i, moved)), i) + more, total(LOSS(a.u(i, ours)), i)),
        *(own, theirs, cheaper, a.input),
    )


@dataclass(frozen=True, slots=True)
class Costs:
    """Losses of all inputs by attention to rivals."""

    behind: Fact  # best - u is the sum of attention times leads, at any X
    not_behind: Fact  # no lead is negative
    G: Term  # the sum of the a_i times the leads
    is_sum: Fact  # its definition
    sign: Fact  # it is at least 0
    price: Fact  # b_i times the lead is positive, for a rival of input i


def costs(a: Attention, s: Secants) -> Costs:
    """Prove that best - u is the sum of attention times leads, and signs."""
    behind = decide(
        eq(BEST(i) - a.u(i, X), total(a.s(j, X) * lead(j.term), j, THEIRS)),
        *(a.mean, scale(a.one, BEST(i))),
    )
    not_behind = decide(ge(lead(j.term), 0), a.lower)
    leads = total(lead(r.term), r, THEIRS)
    G, G_is = define("G", (), total(s.high(i) * leads, i))
    sign = add_up(product(s.high_sign, add_up(at(not_behind, {j: r}), r, THEIRS)), i)
    price = decide(gt(s.low(OWN) * lead(j.term), 0), at(s.low_positive, {i: OWN}), a.lower)
    return Costs(behind, not_behind, G(), G_is, decide(ge(G(), 0), G_is, sign), price)


def cost_at(a: Attention, s: Secants, g: Costs, far: Fact, moved: Term, rho: Term) -> Fact:
    """Prove that losses add up to at most G exp(-rho) more than the least at a matrix.

    Args:
        a: attention at any matrix X.
        s: bounds of the loss gaps.
        g: losses by attention.
        far: the margins of the matrix are at least rho.
        moved: the matrix.
        rho: the bound of margins.
    """
    there, e = {X: moved}, EXP(-rho)
    few = powers_rise(-margin(j.term, moved), -rho, far)
    whole = decide(ge(1, a.s_o(i, X)), a.one, add_up(a.s_positive, j, THEIRS))
    parts = [at(a.means[2], there), few, at(whole, {**there, i: OWN}), at(a.power, there)]
    share = decide(ge(e, a.s(j, moved)), *parts)
    leads = total(lead(r.term), r, THEIRS)
    short = add_up(
        decide(ge(e * lead(j.term), a.s(j, moved) * lead(j.term)), share, a.lower), j, THEIRS
    )
    short = decide(ge(e * leads, BEST(i) - a.u(i, moved)), at(g.behind, there), short)
    each = decide(
        ge(s.high(i) * e * leads, LOSS(a.u(i, moved)) - LOSS(BEST(i))),
        *(at(s.at_most, there), s.high_sign, short),
    )
    losses = total(LOSS(a.u(i, moved)) - LOSS(BEST(i)), i)
    return decide(ge(g.G * e, losses), add_up(each, i), scale(g.is_sum, e))


def lost_at(a: Attention, s: Secants, g: Costs, ours: Term) -> Fact:
    """Prove that losses add up to at least b_i lead_j s_j more than the least, for every rival."""
    at_ours, u = {X: ours}, a.u(i, ours)
    parts = [at(s.at_least, at_ours), product(s.low_positive, at(a.below_best, at_ours))]
    each = at(one_of_sum(decide(ge(LOSS(u) - LOSS(BEST(i)), 0), *parts), i), {i: OWN})
    left = one_of_sum(product(at(a.s_positive, at_ours), g.not_behind), j, OWNER)
    mine = {**at_ours, i: OWN}
    lost = ge(BEST(OWN) - a.u(OWN, ours), a.s(j, ours) * lead(j.term))
    left = product(at(s.low_positive, {i: OWN}), decide(lost, at(g.behind, mine), left))
    losses = total(LOSS(u) - LOSS(BEST(i)), i)
    goal = ge(losses, s.low(OWN) * lead(j.term) * a.s(j, ours))
    return decide(goal, each, left, at(s.at_least, mine), degree=1)


def margins(
    a: Attention,
    s: Secants,
    g: Costs,
    sized: Scale,
    far: Fact,
    cheaper: Fact,
    ours: Term,
    moved: Term,
) -> Fact:
    """Prove that every margin of W(k) is at least (1 - off) rho in the end, for every off > 0.

    Args:
        a: attention at any matrix X.
        s: bounds of the loss gaps.
        g: losses by attention.
        sized: rho, which tends to infinity.
        far: the margins of another matrix are at least rho.
        cheaper: the risk at W(k) is at most that at this matrix.
        ours: W(k).
        moved: the other matrix.
    """
    rho, grows, G, at_ours = sized.rho, sized.grows, g.G, {X: ours}
    e, E, price = EXP(-rho), EXP(-margin(j.term, ours)), s.low(OWN) * lead(j.term)
    parts = cost_at(a, s, g, far, moved, rho), total_losses(a, cheaper, ours, moved)
    left = decide(ge(G * e, price * a.s(j, ours)), lost_at(a, s, g, ours), *parts, degree=1)
    unit, inverse = cite(RECIPROCAL, [g.price], price)
    left = decide(
        ge(G * e * INV(price), a.s(j, ours)),
        *(left, inverse, scale(unit, a.s(j, ours))),
    )
    # in the end the optimal token has half of the attention
    rest = total(INV(price), j, THEIRS)
    attended = add_up(left, j, THEIRS)
    attended = decide(ge(a.s_o(i, ours), 1 - G * e * rest), attended, at(a.one, at_ours))
    count = decide(gt(2 * G * rest + 1, 0), g.sign, add_up(inverse, j, THEIRS))
    small = tangent(as_term(0), -rho)
    late = at(grows, {bound: count.proposition.term}, count)
    late = decide(ev(ge(1, 2 * e * G * rest)), late, small, power(-rho))
    half = decide(ev(ge(2 * a.s_o(i, ours), 1)), attended, late)
    odds = decide(
        ev(ge(2 * G * e * INV(price), E)),
        *(at(half, {i: OWN}), left, at(a.means[2], at_ours), power(-margin(j.term, ours))),
    )
    # exp(off rho) is above each constant in the end
    many = 2 * G * INV(price)
    enough = decide(gt(many + 1, 0), g.sign, inverse)
    late = outgrows(grows, bound, positive(off), enough)
    (law,), line = (
        cite(EXPONENTIAL_OF_SUM, (), OFF * rho, -rho),
        cite(EXPONENTIAL, (), OFF * rho)[1],
    )
    late = decide(ev(ge(EXP(OFF * rho), many)), late, line)
    less = decide(ev(ge(EXP(OFF * rho - rho), E)), odds, late, law, power(-rho))
    result = ordered(-margin(j.term, ours), OFF * rho - rho, less)
    return note("every margin of W(k) is at least (1 - off) rho in the end", result)
