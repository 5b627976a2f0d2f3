"""From the basin of the optimal tokens descent converges to V in direction: the linked proof.

Letters are those of `attsvm.primitives.descent_letters`. For input i, `u` is its output, `s_o` the
attention to its optimal token, and `s` that to a rival. A start in the basin keeps the following.

1. u stays above the second-best score by a constant, and s_o above another (`kept`).
2. -grad L = sum_j p_j A_j with c exp(-m_j) <= p_j <= C exp(-m_j), c > 0 (`coefficients`).
3. <W, V> grows by e P at least, P = sum_j p_j, and ||W|| tends to infinity (`diverges`).
4. ||W|| grows by dS = e P/||V|| times a factor that tends to 1. So ||W|| <= (1 + off) S + slack
   and <W, V> >= ||V|| S + <W_0, V> in the end (`turns`).
"""

from dataclasses import dataclass

from attsvm.primitives.descent_letters import (
    BEST,
    DOWN,
    FALL,
    FALLS,
    FLAT,
    GAMMA,
    GAP,
    GRADIENT,
    HIGH,
    INFIMUM,
    LOSS,
    LOW,
    MULTIPLE,
    NUMBER,
    OWNER,
    PROPER,
    RANGE,
    RATE,
    RISING,
    RIVAL,
    SETTING,
    SMOOTHNESS,
    STEEP,
    UP,
    A,
    M,
    V,
    W,
    X,
    attention,
    bound,
    i,
    j,
    lead,
    margin,
    off,
    output,
    risk,
    second,
    x,
)
from attsvm.theory.declaration.proof import Supposition
from attsvm.theory.proof.facts import Fact, K, current, eq, ev, ge, gt, note
from attsvm.theory.proof.lemmas import (
    CAUCHY_SCHWARZ,
    DESCENT,
    EXPONENTIAL,
    EXPONENTIAL_OF_SUM,
    EXTREMES,
    FINITELY_OFTEN,
    LENGTH,
    RECIPROCAL,
    RISES,
    SETTLED,
)
from attsvm.theory.proof.linked import setting, suppose
from attsvm.theory.proof.rules import (
    accumulate,
    add_up,
    assume,
    at,
    attained,
    beyond,
    bounds,
    by_definition,
    cases,
    cite,
    cut,
    decide,
    define,
    induction,
    inside,
    one_of_sum,
    positive,
    regroup,
    scale,
    square,
)
from attsvm.theory.proof.terms import (
    EXP,
    INV,
    NORM,
    Function,
    Letter,
    Over,
    Term,
    as_term,
    least,
    members,
    most,
    substituted,
    total,
    unfolded,
)
from symbolic.facts import power, powers_rise, product

OWN = OWNER(j)
"""The input of rival j."""
MINE, THEIRS = Over(OWNER, OWN), Over(OWNER, i.term)
"""The rivals of the input of j, and those of i."""
r = Letter("r", RIVAL)
"""A rival that sums run over."""
HERE, AFTER = W(K), W(K.term + 1)
MARGIN = margin(j.term, HERE)
POWER = EXP(-MARGIN)


@dataclass(frozen=True, slots=True)
class Attention:
    """Attention and outputs along the run, and what is known of them.

    Attributes:
        u, s_o, s: functions of an input or a rival, and the step.
        means: the definitions of u, s_o and s.
        input: there is an input.
        power: exp(-m_j) > 0.
        s_o_positive, s_positive: attention is positive.
        one: s_o and the s of the rivals of an input add up to 1.
        mean: u is the mean of the scores by attention.
        lower: rivals score less than the optimal token, or no more.
        above_lowest, below_best: u lies between the lowest score and the best of the input.
        best_high: no best score is above the highest.
        low_rival: no rival's score is below the lowest.
    """

    u: Function
    s_o: Function
    s: Function
    means: tuple[Fact, Fact, Fact]
    input: Fact
    power: Fact
    s_o_positive: Fact
    s_positive: Fact
    one: Fact
    mean: Fact
    lower: Fact
    above_lowest: Fact
    below_best: Fact
    best_high: Fact
    low_rival: Fact


def over_own(fact: Fact) -> Fact:
    """Return the sum of a fact about rivals over the rivals of the input of j."""
    return add_up(at(fact, {j: r}), r, MINE)


@dataclass(frozen=True, slots=True)
class Mixing:
    """Attention and outputs, as far as no sign is known.

    Attributes:
        u, s_o, s, means, one, mean: as for `Attention`.
        power, inverse: exp(-m_j) > 0, and the reciprocal that is s_o is positive.
    """

    u: Function
    s_o: Function
    s: Function
    means: tuple[Fact, Fact, Fact]
    one: Fact
    mean: Fact
    power: Fact
    inverse: Fact


def mixing() -> Mixing:
    """Prove that attention adds up to 1, and that u is the mean of scores."""
    u, u_is = define("u", (i, K), output(i.term, HERE))
    s_o, s_o_is = define("s_o", (i, K), attention(i.term, HERE))
    s, s_is = define("s", (j, K), s_o(OWN, K) * POWER)
    power, _ = cite(EXPONENTIAL, (), -MARGIN)
    rest = total(POWER, j, THEIRS)
    one, inverse = cite(RECIPROCAL, [decide(gt(1 + rest, 0), add_up(power, j, THEIRS))], 1 + rest)
    whole = eq(s_o(i, K) + total(s(j, K), j, THEIRS), 1)
    one = note("attention adds up to 1", by_definition(whole, [s_is, s_o_is], one))
    scores = s_o(i, K) * BEST(i) + total(s(j, K) * GAMMA(j), j, THEIRS)
    mean = by_definition(eq(u(i, K), scores), [u_is, s_is, s_o_is])
    return Mixing(u, s_o, s, (u_is, s_o_is, s_is), one, mean, power, inverse)


def attends(lower: Fact, floors: tuple[Fact, Fact] | None = None) -> Attention:
    """Prove that attention is positive with sum 1, if no rival scores more than the optimal token.

    So u_i is at least the lowest score of all, and at most the best score of input i.

    Args:
        lower: rivals score less than the optimal token, or no more.
        floors: that no score of a rival, and no best one, is below a number of its input. This
            number takes the place of the lowest score of all.
    """
    m = mixing()
    u, s_o, s, (_, s_o_is, s_is), one, mean = m.u, m.s_o, m.s, m.means, m.one, m.mean
    s_o_positive = by_definition(gt(s_o(i, K), 0), [s_o_is], m.inverse)
    s_positive = decide(gt(s(j, K), 0), s_is, at(s_o_positive, {i: OWN}), m.power)
    low_rival, best_low = floors or (
        setting(SETTING, "no score is below the lowest"),
        setting(SETTING, "no best score is below the lowest"),
    )
    floor = BEST(i) - best_low.proposition.term
    above = add_up(product(s_positive, low_rival), j, THEIRS)
    below = add_up(decide(ge(s(j, K) * (BEST(OWN) - GAMMA(j)), 0), s_positive, lower), j, THEIRS)
    parts = above, mean, scale(one, floor), product(s_o_positive, best_low)
    above_lowest = decide(ge(u(i, K), floor), *parts, degree=1)
    below_best = decide(ge(BEST(i), u(i, K)), below, mean, scale(one, BEST(i)))
    return Attention(
        *(u, s_o, s, m.means, setting(SETTING, "there is an input"), m.power),
        *(s_o_positive, s_positive, one, mean, lower, above_lowest, below_best),
        *(setting(SETTING, "no best score is above the highest"), low_rival),
    )


@dataclass(frozen=True, slots=True)
class Moves:
    """A step of descent.

    Attributes:
        p: the coefficient of A_j in -grad L, a function of the rival and the step.
        p_is: its definition.
        descends: <W', M> is <W, M> less e times the derivative of the risk along M.
        grown: <W', M> = <W, M> + e sum_j p_j <A_j, M> for every M.
        rate: the step size e is positive.
    """

    p: Function
    p_is: Fact
    descends: Fact
    grown: Fact
    rate: Fact


def moves(a: Attention, sign: int = 1) -> Moves:
    """Prove that a step adds e sum_j p_j A_j, p_j = -l'(u) s_j (u - gamma_j)/n, for any n and T.

    With the sign -1 it takes this away: the run is on 1 - l.
    """
    descends = setting(SETTING, DOWN) if sign == 1 else setting(RISING, UP)
    u = a.u(OWN, K)
    p, p_is = define("p", (j, K), FALL(u) * a.s(j, K) * (u - GAMMA(j)) / NUMBER)
    meanings = dict(current().meanings[one] for one in (p_is, *a.means))
    terms = unfolded(p(j, K) * (A(j) @ M.term), meanings)
    after, before = AFTER @ M.term, HERE @ M.term
    spelled = decide(
        eq(after, before + sign * RATE * total(terms, j)),
        *(descends, scale(regroup(terms, j, OWNER), RATE)),
    )
    claim = eq(after, before + sign * RATE * total(p(j, K) * (A(j) @ M.term), j))
    grown = note(
        "a step adds e sum_j p_j A_j to W, p_j = -l'(u) s_j (u - gamma_j)/n",
        by_definition(claim, [p_is, *a.means], spelled),
    )
    return Moves(p, p_is, descends, grown, setting(SETTING, "the step is positive"))


@dataclass(frozen=True, slots=True)
class Slope:
    """The gradient of the risk at a step.

    Attributes:
        p, p_is: the coefficient of A_j in -grad L, and its definition.
        along: <-grad L, M> = sum_j p_j <A_j, M> for every M.
    """

    p: Function
    p_is: Fact
    along: Fact


def gradient() -> Fact:
    """Return that the gradient has the slope of the risk along every matrix."""
    return setting(SETTING, "the gradient has the slope of the risk along every matrix")


def slope(a: Attention | Mixing, gradient_: Fact) -> Slope:
    """Prove that -grad L = sum_j p_j A_j, p_j = -l'(u) s_j (u - gamma_j)/n, for any n and T."""
    u = a.u(OWN, K)
    p, p_is = define("p", (j, K), FALL(u) * a.s(j, K) * (u - GAMMA(j)) / NUMBER)
    meanings = dict(current().meanings[one] for one in (p_is, *a.means))
    terms = unfolded(p(j, K) * (A(j) @ M.term), meanings)
    whole = GRADIENT(HERE) @ M.term
    spelled = decide(eq(-whole, total(terms, j)), gradient_, regroup(terms, j, OWNER))
    claim = eq(-whole, total(p(j, K) * (A(j) @ M.term), j))
    return Slope(p, p_is, by_definition(claim, [p_is, *a.means], spelled))


@dataclass(frozen=True, slots=True)
class Steepness:
    """Bounds of -l' by the extreme value theorem.

    Attributes:
        least, most: constants.
        positive: the lower one is positive.
        between: -l' is at least `least`, and at most `most`, between the lowest and highest score.
        inside: u is at most the highest score.
        at_output: -l'(u) is at least `least`.
    """

    least: Term
    most: Term
    positive: Fact
    between: tuple[Fact, Fact]
    inside: Fact
    at_output: Fact


def steepness(a: Attention, smooth: Supposition, falling: Supposition) -> Steepness:
    """Prove that -l' lies between two constants from the lowest to the highest score, and -l'(u).

    This is the extreme value theorem for a continuous slope that is negative.
    """
    facts = [*suppose(smooth), *suppose(falling)]
    positive_, at_least, at_most = cite(EXTREMES, facts, FALL, x, LOW, HIGH)
    low, high = (current().names[f"{extreme} fall"]() for extreme in ("least", "most"))
    highest = decide(ge(HIGH, a.u(i, K)), a.below_best, a.best_high)
    lower = cut(at(at_least, {x: a.u(i, K)}), a.above_lowest, highest)
    return Steepness(low, high, positive_, (at_least, at_most), highest, lower)


@dataclass(frozen=True, slots=True)
class Slopes:
    """Bounds of the slope of the loss at the outputs.

    Attributes:
        least, most: constants with 0 < least <= -l'(u) <= most.
        least_positive, most_positive: both constants are positive.
        at_output: both bounds for -l'(u).
    """

    least: Term
    most: Term
    least_positive: Fact
    most_positive: Fact
    at_output: tuple[Fact, Fact]


def slopes(a: Attention, bent: Steepness) -> Slopes:
    """Prove that -l'(u) lies between two positive constants."""
    lower = bent.at_output
    upper = cut(at(bent.between[1], {x: a.u(i, K)}), a.above_lowest, bent.inside)
    high = decide(gt(bent.most, 0), lower, upper, bent.positive, a.input)
    return Slopes(bent.least, bent.most, bent.positive, high, (lower, upper))


@dataclass(frozen=True, slots=True)
class Interval:
    """The slope of the loss between the lowest and the highest score.

    Attributes:
        falling, at_most: -l' is at least 0, and at most a constant, between these scores.
        slope: -l' is the negative derivative of l.
    """

    falling: Fact
    at_most: Fact
    slope: Fact


def interval(bent: Steepness) -> Interval:
    """Prove that l does not rise between the lowest and the highest score."""
    at_least, at_most = bent.between
    slope = setting(SETTING, "fall is the negative slope of the loss")
    return Interval(decide(ge(FALL(x), 0), at_least, bent.positive), at_most, slope)


def between(fact: Fact, low: Term, high: Term, lowest: Fact, highest: Fact) -> Fact:
    """Restrict a fact on -l' between the lowest and the highest score to a part of that interval.

    `fact` is about -l'(x) and has both ends of the interval as conditions. `low` and `high` are the
    ends of the part: `lowest` states that `low` is at least the lowest score, and `highest` that
    `high` is at most the highest one.
    """
    above = decide(ge(x, LOW), assume(ge(x, low)), lowest)
    return cut(fact, above, decide(ge(HIGH, x), assume(ge(high, x)), highest))


def of_second(a: Attention, each: Fact) -> tuple[Fact, Fact, Fact]:
    """Return that the second-best score is at least each and the lowest, and a bound of it.

    Args:
        a: the attention.
        each: a bound of the score of each rival from above.
    """
    largest = beyond("most", GAMMA(j), j, OWNER)
    above = second(OWN) - GAMMA(j) + a.low_rival.proposition.term
    lowest = decide(ge(above, 0), largest, a.low_rival)
    mine = decide(gt(total(1, r, MINE), 0), one_of_sum(decide(gt(1, 0)), j, OWNER))
    return largest, lowest, bounds(at(each, {j: r}), "most", GAMMA(r), r, mine, MINE)


def loses_little(
    a: Attention, bent: Fact, k: int, far: Fact, ranges: Fact, steep: Fact, slope_: Fact
) -> Fact:
    """Prove that an input loses at most top exp(-r) range for each rival, as margins are >= r.

    That is, l(u) - l(best) at step k is at most that.

    Args:
        a: attention along the run.
        bent: `fall` is the negative slope of the loss.
        k: the step.
        far: each margin at this step is at least r.
        ranges: the lead of each rival is at most the range of its input.
        steep: top >= 0, for input i.
        slope_: -l' is at most top from u to the best score.
    """
    when, top, u = {K: as_term(k)}, steep.proposition.term, a.u(i, k)
    r_, extent = margin(j.term, W(k)) - far.proposition.term, ranges.proposition.term + lead(j.term)
    few = powers_rise(-margin(j.term, W(k)), -r_, far)
    whole = decide(ge(1, a.s_o(i, K)), a.one, add_up(a.s_positive, j, THEIRS))
    parts = at(a.means[2], when), few, at(whole, {**when, i: OWN}), at(a.power, when)
    share = decide(ge(EXP(-r_), a.s(j, k)), *parts)
    goal = ge(EXP(-r_) * extent, a.s(j, k) * lead(j.term))
    behind = add_up(decide(goal, share, ranges, power(-r_), a.lower), j, THEIRS)
    room = members(EXP(-r_) * extent, j, THEIRS) * total(1, j, THEIRS)
    score = at(a.mean, when), scale(at(a.one, when), BEST(i))
    behind = decide(ge(room, BEST(i) - u), behind, *score)
    rises, best = LOSS(x) + top * x.term, at(a.below_best, when)
    (part,) = cite(RISES, [bent, best, slope_], rises, x, FALLS, u, BEST(i))
    return decide(ge(top * room, LOSS(u) - LOSS(BEST(i))), part, product(behind, steep))


def proper(a: Attention, loss: Interval, falling: Supposition, exists: Supposition) -> Fact:
    """Prove that the start r V is in the basin: its margins are at least r.

    So n times the risk gap is at most exp(-r) max |l'| sum_j range_j, which is below min |l'| gap.
    """
    start, large, enough, apart, gap, ranges, flat_low, flat_high, at_least, at_most = (
        setting(PROPER, words) for words in PROPER
    )
    (falls,), (meets, *_) = suppose(falling), suppose(exists)
    m, top, u = FALL(FLAT), FALL(STEEP), a.u(i, 0)
    flat = cut(at(falls, {x: FLAT}), flat_low, flat_high)
    steep = decide(ge(top, 0), flat, cut(at(at_most, {x: FLAT}), flat_low, flat_high))
    far = decide(ge(margin(j.term, W(0)), MULTIPLE), at(start, {M: A(j)}), large, meets)
    part = between(at_most, u, BEST(i), at(a.above_lowest, {K: as_term(0)}), a.best_high)
    costs = loses_little(a, loss.slope, 0, far, ranges, steep, part)
    lost = total(LOSS(u) - LOSS(BEST(i)), i)
    same = scale(regroup(RANGE(OWN), j, OWNER), top * EXP(-MULTIPLE))
    # exp(-r) max |l'| sum_j range_j is at most exp(-1) min |l'| gap
    (law,) = cite(EXPONENTIAL_OF_SUM, (), -MULTIPLE, MULTIPLE - 1)
    (inverse,) = cite(EXPONENTIAL_OF_SUM, (), as_term(1), as_term(-1))
    steeper = cite(EXPONENTIAL, (), as_term(1))[1]
    small = decide(gt(1, EXP(as_term(-1))), inverse, steeper, power(as_term(-1)))
    room = decide(gt(m * GAP * (1 - EXP(as_term(-1))), 0), small, decide(gt(m * GAP, 0), flat, gap))
    few = product(power(-MULTIPLE), enough), scale(law, m * GAP)
    below = decide(gt(m * GAP, lost), add_up(costs, i), same, *few, room, degree=1)
    # the threshold is at least min |l'| gap, over n
    _, lowest, led = of_second(a, cut(apart, a.lower))
    ordered = decide(ge(BEST(OWN), second(OWN)), led, gap)
    part = between(at_least, second(OWN), BEST(OWN), lowest, at(a.best_high, {i: OWN}))
    rises, ends = -LOSS(x) - m * x.term, (second(OWN), BEST(OWN))
    (drop,) = cite(RISES, [loss.slope, ordered, part], rises, x, FALLS, *ends)
    threshold = LOSS(second(OWN)) - LOSS(BEST(OWN))
    ahead = decide(gt(threshold, lost), below, drop, product(flat, led), degree=1)
    _, number = cite(RECIPROCAL, [a.input], NUMBER)
    mean = by_definition(eq(risk(W(0)), total(LOSS(u), i) / NUMBER), [a.means[0]])
    ahead = decide(gt((threshold - lost) / NUMBER, 0), ahead, number)
    return decide(gt(threshold / NUMBER, risk(W(0)) - INFIMUM), mean, ahead)


@dataclass(frozen=True, slots=True)
class Kept:
    """Bounds that hold at all steps of a run.

    Attributes:
        lead, share: functions of a rival.
        lead_positive, share_positive: both functions are positive.
        ahead: u - gamma_j is at least `lead` at all steps.
        attended: s_o is at least `share` at all steps.
        number: 1/n is positive.
    """

    lead: Function
    share: Function
    lead_positive: Fact
    share_positive: Fact
    ahead: Fact
    attended: Fact
    number: Fact


def kept(
    a: Attention,
    step: Moves,
    bent: Slopes,
    loss: Interval,
    short: Supposition,
    gap: Fact,
) -> Kept:
    """Prove that from the basin u - second and s_o stay above positive constants.

    `second` is the second-best score of the input.
    """
    lipschitz, at_most = suppose(short)
    facts = [loss.slope, lipschitz, step.rate, at_most, step.descends]
    (falls,) = cite(DESCENT, facts, risk(X.term), X, FALLS, HERE, AFTER, RATE, SMOOTHNESS, M)
    claim = ge(risk(W(0)), risk(HERE))
    never = decide(claim.at({K: K.term + 1}), assume(claim), falls)
    start_ = decide(ge(risk(W(0)), risk(W(0))))
    never = note("the risk never rises above its first value", induction(claim, start_, never))

    losses, best = total(LOSS(a.u(i, K)), i), total(LOSS(BEST(i)), i)
    mean = by_definition(eq(risk(HERE), losses / NUMBER), [a.means[0]])
    part = between(loss.falling, a.u(i, K), BEST(i), a.above_lowest, a.best_high)
    facts = [loss.slope, a.below_best, part]
    (part,) = cite(RISES, facts, -LOSS(x), x, FALLS, a.u(i, K), BEST(i))
    each = at(one_of_sum(part, i), {i: OWN})
    unit, number = cite(RECIPROCAL, [a.input], NUMBER)
    apart, u, ahead = LOSS(second(OWN)) - LOSS(BEST(OWN)), a.u(OWN, K), second(OWN)
    left, left_is = define("left", (j,), apart / NUMBER - risk(W(0)) + INFIMUM)
    some_left = decide(gt(left(j), 0), left_is, gap)
    below = note(
        "l(second) - l(u) is at least n times what the first gap lacks to the threshold",
        decide(
            ge(LOSS(ahead) - LOSS(u), NUMBER * left(j)),
            *(each, scale(mean, NUMBER), scale(left_is, NUMBER), never, a.input),
            *(scale(unit, apart), scale(unit, losses - best)),
        ),
    )
    # the second-best score lies between the lowest one and the best of its input
    largest, lowest, led = of_second(a, a.lower)
    u_low, u_best = (at(f, {i: OWN}) for f in (a.above_lowest, a.below_best))
    best_high = at(a.best_high, {i: OWN})
    high = decide(ge(HIGH, ahead), led, best_high)
    u_high = decide(ge(HIGH, u), u_best, best_high)
    # either u is above it, and the mean value bounds how far, or the loss would be too large
    condition, far = gt(u, ahead), ge(bent.most * (u - ahead), NUMBER * left(j))
    yes, no = assume(condition), assume(condition.denied())
    steep = between(loss.at_most, ahead, u, lowest, u_high)
    facts = [loss.slope, decide(ge(u, ahead), yes), steep]
    (steep,) = cite(RISES, facts, LOSS(x) + bent.most * x.term, x, FALLS, ahead, u)
    flat = between(loss.falling, u, ahead, u_low, high)
    (flat,) = cite(RISES, [loss.slope, no, flat], -LOSS(x), x, FALLS, u, ahead)
    refuted = decide(far, flat, below, some_left, a.input)
    stays = cases(decide(far, steep, below), refuted, condition)
    one, inverse = cite(RECIPROCAL, [bent.most_positive], bent.most)
    lead, lead_is = define("lead", (j,), NUMBER * left(j) / bent.most)
    some_lead = decide(gt(NUMBER * left(j), 0), a.input, some_left)
    lead_positive = decide(gt(lead(j), 0), lead_is, some_lead, inverse)
    over = decide(ge(u - ahead, lead(j)), lead_is, stays, inverse, scale(one, u - ahead))
    over = note("u stays above the second-best score by a constant", over)
    # u - second is at most s_o times the distance from best to second
    distance, s_o = BEST(OWN) - ahead, a.s_o(OWN, K)
    rest = over_own(decide(ge(a.s(j, K) * (ahead - GAMMA(j)), 0), a.s_positive, largest))
    held = decide(
        ge(s_o * distance, u - ahead),
        *(at(a.mean, {i: OWN}), scale(at(a.one, {i: OWN}), ahead), rest),
    )
    unit, positive_ = cite(RECIPROCAL, [decide(gt(distance, 0), led)], distance)
    share, share_is = define("share", (j,), lead(j) / distance)
    attended = decide(
        ge(s_o, share(j)),
        *(decide(ge(s_o * distance, lead(j)), held, over), positive_, share_is, scale(unit, s_o)),
    )
    return Kept(
        *(lead, share, lead_positive, decide(gt(share(j), 0), share_is, lead_positive, positive_)),
        *(decide(ge(u - GAMMA(j), lead(j)), over, largest), note("s_o stays above one", attended)),
        number,
    )


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Bounds of the coefficients p_j of A_j in -grad L.

    Attributes:
        low, high: the constants c and C.
        low_positive, high_positive: both constants are positive.
        at_least, at_most: c exp(-m_j) <= p_j <= C exp(-m_j).
        bounded: p_j <= C.
        positive: p_j > 0.
        several: there is a rival.
        share: s_j <= exp(-m_j).
    """

    low: Term
    high: Term
    low_positive: Fact
    high_positive: Fact
    at_least: Fact
    at_most: Fact
    bounded: Fact
    positive: Fact
    several: Fact
    share: Fact


def coefficients(
    a: Attention, step: Moves, bent: Slopes, keeps: Kept, some_rival: Fact
) -> Coefficients:
    """Prove that c exp(-m_j) <= p_j <= C exp(-m_j) with constants c, C > 0."""
    u, s_o, s, p, n = a.u(OWN, K), a.s_o(OWN, K), a.s(j, K), step.p(j, K), INV(NUMBER)
    lower, upper = (at(f, {i: OWN}) for f in bent.at_output)
    # from below
    floor, floor_is = define("floor", (j,), bent.least * keeps.share(j) * keeps.lead(j) * n)
    part = decide(gt(bent.least * keeps.share(j), 0), bent.least_positive, keeps.share_positive)
    first = decide(
        ge(FALL(u) * s_o, bent.least * keeps.share(j)),
        *(lower, keeps.attended, bent.least_positive, at(a.s_o_positive, {i: OWN})),
    )
    both = decide(
        ge(FALL(u) * s_o * (u - GAMMA(j)), bent.least * keeps.share(j) * keeps.lead(j)),
        *(first, keeps.ahead, part, keeps.lead_positive),
    )
    weight = scale(a.means[2], FALL(u) * (u - GAMMA(j)) * n)
    power = decide(gt(POWER * n, 0), a.power, keeps.number)
    at_least = decide(
        ge(p, floor(j) * POWER), step.p_is, weight, scale(floor_is, POWER), both, power
    )
    product = decide(gt(bent.least * keeps.share(j) * keeps.lead(j), 0), part, keeps.lead_positive)
    floor_positive = decide(gt(floor(j), 0), floor_is, product, keeps.number)
    # from above
    distance = BEST(OWN) - GAMMA(j)
    top, top_is = define("top", (j,), bent.most * distance * n)
    lead = decide(gt(u - GAMMA(j), 0), keeps.ahead, keeps.lead_positive)
    both = decide(
        ge(bent.most * distance, FALL(u) * (u - GAMMA(j))),
        *(at(a.below_best, {i: OWN}), upper, lead, bent.most_positive),
    )
    share = decide(gt(s * n, 0), a.s_positive, keeps.number)
    below = decide(ge(top(j) * s, p), step.p_is, scale(top_is, s), both, share)
    one = at(a.one, {i: OWN})
    s_o_one = decide(ge(1, s_o), one, over_own(a.s_positive))
    each = one_of_sum(a.s_positive, j, OWNER)
    s_one = decide(ge(1, s), one, each, at(a.s_o_positive, {i: OWN}))
    product = decide(gt(bent.most * distance, 0), bent.most_positive, a.lower)
    top_positive = decide(gt(top(j), 0), top_is, product, keeps.number)
    s_power = decide(ge(POWER, s), a.means[2], s_o_one, a.power)
    # the constants are the least floor and the largest top
    high, low = most(top(r), r), least(floor(r), r)
    largest, smallest = beyond("most", top(j), j), beyond("least", floor(j), j)
    pick, reached = attained("lowest floor", low, some_rival)
    at_most = decide(
        ge(high * POWER, p),
        *(below, decide(ge(top(j) * POWER, top(j) * s), s_power, top_positive)),
        decide(ge(high * POWER, top(j) * POWER), largest, a.power),
    )
    bounded = decide(
        ge(high, p), below, decide(ge(top(j), top(j) * s), s_one, top_positive), largest
    )
    low_power = decide(ge(floor(j) * POWER, low * POWER), smallest, a.power)
    some_power = decide(gt(floor(j) * POWER, 0), floor_positive, a.power)
    return Coefficients(
        *(low, high, decide(gt(low, 0), reached, at(floor_positive, {j: pick()}))),
        decide(gt(high, 0), largest, top_positive, some_rival),
        note("p_j >= c exp(-m_j)", decide(ge(p, low * POWER), at_least, low_power)),
        *(note("p_j <= C exp(-m_j)", at_most), bounded),
        *(decide(gt(p, 0), at_least, some_power), some_rival, s_power),
    )


@dataclass(frozen=True, slots=True)
class Growth:
    """How W grows along V.

    Attributes:
        P: the sum of the coefficients p_j at a step.
        P_is, P_positive: the definition of P, and P > 0.
        at_least_each: P is at least each p_j.
        longest: the largest ||A_j||.
        longest_up, longest_positive: `longest` is at least each ||A_j||, and at least 0.
        shortest: no X with margins of at least 1 is shorter than V.
        grows: <W', V> >= <W, V> + e P.
        far: ||W|| > b in the end, for every b > 0.
        b: the letter of this bound.
        y_norm, y_square: ||W|| >= 0 and ||W||^2 = <W, W>.
        V_norm, V_square: the same for V.
        V_positive: ||V|| > 0.
        unit: longest ||V|| >= 1.
        margins: <A_j, V> >= 1.
    """

    P: Term
    P_is: Fact
    P_positive: Fact
    at_least_each: Fact
    longest: Term
    longest_up: Fact
    longest_positive: Fact
    shortest: Fact
    grows: Fact
    far: Fact
    b: Letter
    y_norm: Fact
    y_square: Fact
    V_norm: Fact
    V_square: Fact
    V_positive: Fact
    unit: Fact
    margins: Fact


def diverges(a: Attention, step: Moves, c: Coefficients, exists: Supposition) -> Growth:
    """Prove that ||W|| exceeds every bound b from some step on.

    <W, V> never falls, and it rises by at least a positive constant at each step with ||W|| <= b.
    """
    p, y, N = step.p(j, K), NORM(HERE), NORM(V)
    margins, shortest = suppose(exists)
    sum_, P_is = define("P", (K,), total(p, j))
    P = sum_(K)
    P_positive = decide(gt(P, 0), P_is, add_up(c.positive, j, None, c.several))
    gains = add_up(decide(ge(p * (A(j) @ V), p), c.positive, margins), j)
    gains = decide(ge(RATE * total(p * (A(j) @ V), j), RATE * P), gains, P_is, step.rate)
    grows = decide(ge(AFTER @ V, HERE @ V + RATE * P), at(step.grown, {M: V}), gains)
    grows = note("<W, V> grows by e P at least", grows)
    rises = decide(ge(AFTER @ V, HERE @ V), grows, step.rate, P_positive)
    # where ||W|| <= b no margin is above b times the longest A_j
    b = bound
    near = assume(ge(b, y))
    longest = most(NORM(A(r)), r)
    longest_up = beyond("most", NORM(A(j)), j)
    A_norm, _ = cite(LENGTH, (), A(j))
    y_norm, y_square = cite(LENGTH, (), HERE)
    V_norm, V_square = cite(LENGTH, (), V)
    longest_positive = decide(ge(longest, 0), longest_up, A_norm, c.several)
    (product,) = cite(CAUCHY_SCHWARZ, (), A(j), HERE)
    margin_up = decide(ge(longest * y, MARGIN), product, longest_up, y_norm)
    top = longest * b.term
    margin_up = decide(ge(top, MARGIN), margin_up, longest_positive, near)
    _, tangent = cite(EXPONENTIAL, (), top - MARGIN)
    positive_, _ = cite(EXPONENTIAL, (), -top)
    (law,) = cite(EXPONENTIAL_OF_SUM, (), -top, top - MARGIN)
    powers = decide(ge(POWER, EXP(-top)), law, tangent, positive_, margin_up)
    each = decide(ge(P, p), one_of_sum(c.positive, j), P_is)
    P_low = decide(ge(P, c.low * EXP(-top)), each, c.at_least, powers, c.low_positive, c.several)
    gain = RATE * c.low * EXP(-top)
    some_rate = decide(gt(RATE * c.low, 0), step.rate, c.low_positive)
    facts = [
        rises,
        decide(gt(gain, 0), some_rate, positive_),
        decide(ge(AFTER @ V, HERE @ V + gain), grows, P_low, step.rate),
        decide(ge(N * b.term, HERE @ V), *cite(CAUCHY_SCHWARZ, (), HERE, V), V_norm, near),
    ]
    (far,) = cite(FINITELY_OFTEN, facts, HERE @ V, gain, N * b.term, ge(b, y))
    (product,) = cite(CAUCHY_SCHWARZ, (), A(j), V)
    unit = decide(ge(longest * N, 1), product, margins, longest_up, V_norm, c.several)
    V_positive = decide(gt(N, 0), unit, longest_positive)
    return Growth(
        *(P, P_is, P_positive, each, longest, longest_up, longest_positive, shortest, grows),
        *(note("||W|| tends to infinity", far), b, y_norm, y_square, V_norm, V_square),
        *(V_positive, unit, margins),
    )


def least_margin(c: Coefficients, g: Growth) -> tuple[Term, Fact]:
    """Prove that the least margin is at most ||W||/||V||.

    W divided by its least margin has margins of at least 1, so it is not shorter than V.
    """
    y, N = NORM(HERE), NORM(V)
    lowest = least(A(r) @ HERE, r)
    condition = gt(lowest, 0)
    yes, no = assume(condition), assume(condition.denied())
    unit, inverse = cite(RECIPROCAL, [yes], lowest)
    above = decide(ge(MARGIN / lowest, 1), unit, inverse, beyond("least", MARGIN, j))
    scaled = (A(r) @ HERE) / lowest
    above = bounds(at(above, {j: r}), "least", scaled, r, c.several)
    longer = cut(at(g.shortest, {X: HERE / lowest}), above)
    square_ = decide(gt(lowest**2, 0), yes)
    product = lowest**2 * INV(lowest) ** 2 * (HERE @ HERE)
    longer = decide(ge(product, lowest**2 * (V @ V)), longer, square_)
    longer = decide(
        ge(HERE @ HERE, lowest**2 * (V @ V)),
        *(longer, scale(unit, (lowest / lowest + 1) * (HERE @ HERE))),
    )
    claim = ge(y, N * lowest)
    far = decide(claim, longer, g.y_norm, g.y_square, scale(g.V_square, lowest**2))
    fact = cases(far, decide(claim, no, g.y_norm, g.V_norm), condition)
    return lowest, note("the least margin is at most ||W||/||V||", fact)


@dataclass(frozen=True, slots=True)
class Pull:
    """The growth of ||W||^2 at a step.

    Attributes:
        G: the sum of the p_j A_j.
        extra: a constant.
        along: ||V|| <G, W> <= P (||W|| + ||V|| extra).
        extra_positive: the constant is positive.
        product: C times the number of rivals.
        product_positive: it is positive.
        lowest: the least margin.
        reached: it is at most ||W||/||V||.
        heavy: P >= c exp(-lowest).
    """

    G: Term
    extra: Term
    along: Fact
    extra_positive: Fact
    product: Term
    product_positive: Fact
    lowest: Term
    reached: Fact
    heavy: Fact


def pulled(step: Moves, c: Coefficients, g: Growth, power: Fact) -> Pull:
    """Prove that ||V|| <G, W> <= P (||W|| + ||V|| extra), where G = sum_j p_j A_j.

    A rival whose margin exceeds the least one has a small coefficient p_j.
    """
    p, P, N, y = step.p(j, K), g.P, NORM(V), NORM(HERE)
    lowest, lowest_up = least_margin(c, g)
    least_power, beyond_least = EXP(-lowest), beyond("least", MARGIN, j)
    _, tangent = cite(EXPONENTIAL, (), MARGIN - lowest)
    (law,) = cite(EXPONENTIAL_OF_SUM, (), -MARGIN, MARGIN - lowest)
    powers = decide(ge(least_power, POWER * (MARGIN - lowest)), law, tangent, power)
    lag = decide(
        ge(c.high * least_power, p * (MARGIN - lowest)),
        *(c.at_most, beyond_least, powers, c.high_positive),
    )
    lags = add_up(note("no p_j (m_j - least) is above C exp(-least)", lag), j)
    pick, reached = attained("nearest", lowest, c.several)
    hole = Letter("hole")
    same = inside(reached, A(pick(K)) @ HERE, lowest, EXP(-hole.term), hole)
    nearest = (at(f, {j: pick(K)}) for f in (g.at_least_each, c.at_least))
    P_low = decide(ge(P, c.low * least_power), *nearest, scale(same, c.low))
    P_low = note("P >= c exp(-least), by the nearest rival", P_low)
    product = total(1, j) * c.high
    some_high = decide(gt(product, 0), c.several, c.high_positive)
    unit, inverse = cite(RECIPROCAL, [c.low_positive], c.low)
    extra_, extra_is = define("extra", (), product / c.low)
    extra, G = extra_(), total(p * A(j), j)
    bound = decide(ge(P / c.low, least_power), P_low, inverse, scale(unit, least_power))
    bound = decide(ge(extra * P, product * least_power), scale(extra_is, P), bound, some_high)
    pull = decide(ge((lowest + extra) * P, G @ HERE), lags, bound, scale(g.P_is, lowest))
    pull = decide(ge(N * (lowest + extra) * P, N * (G @ HERE)), pull, g.V_norm)
    moved = decide(ge(P * y, P * N * lowest), lowest_up, g.P_positive)
    pull = decide(ge(P * y + N * extra * P, N * (G @ HERE)), pull, moved)
    return Pull(
        *(G, extra, note("<G, W> is at most P (||W||/||V|| + extra)", pull)),
        *(decide(gt(extra, 0), extra_is, some_high, inverse), product, some_high),
        *(lowest, lowest_up, P_low),
    )


@dataclass(frozen=True, slots=True)
class Squares:
    """The square of ||W||, and S, the sum of all e P/||V|| so far.

    Attributes:
        S: the sum S at step k.
        starts, adds: S is 0 at the start, and a step adds e P/||V||.
        inverse, unit: 1/||V|| is positive, and ||V|| times it is 1.
        square: e^2 ||G||^2 <= e^2 (longest P)^2.
        some_rate: e P > 0.
        step_square: ||W'||^2 = ||W||^2 + 2 e <G, W> + e^2 ||G||^2.
        far: S > b in the end, for every b > 0.
        along: <W, V> >= <W_0, V> + ||V|| S.
    """

    S: Term
    starts: Fact
    adds: Fact
    inverse: Fact
    unit: Fact
    square: Fact
    step_square: Fact
    some_rate: Fact
    far: Fact
    along: Fact


def squares(step: Moves, c: Coefficients, g: Growth, pull: Pull) -> Squares:
    """Prove that ||W|| <= ||W_0|| + longest ||V|| S, so that S tends to infinity as ||W|| does."""
    p, P, N, y, G, a = step.p(j, K), g.P, NORM(V), NORM(HERE), pull.G, g.longest
    grown = [at(step.grown, {M: one}) for one in (AFTER, HERE, G)]
    change = HERE @ HERE + 2 * RATE * (G @ HERE) + RATE**2 * (G @ G)
    step_square = decide(eq(AFTER @ AFTER, change), *grown[:2], scale(grown[2], RATE))
    G_norm, G_square = cite(LENGTH, (), G)
    (product,) = cite(CAUCHY_SCHWARZ, (), A(j), G)
    each = decide(ge(a * NORM(G), A(j) @ G), product, g.longest_up, G_norm)
    each = decide(ge(p * a * NORM(G), p * (A(j) @ G)), each, c.positive)
    whole = decide(ge(a * P * NORM(G), G @ G), add_up(each, j), scale(g.P_is, a * NORM(G)))
    some = decide(ge(a * P, 0), g.longest_positive, g.P_positive)
    size = decide(ge(a * P, NORM(G)), whole, G_square, some)
    square_ = decide(ge((a * P) ** 2, G @ G), size, G_square, G_norm)
    unit, inverse = cite(RECIPROCAL, [g.V_positive], N)
    S_, starts, adds = accumulate("S", RATE * P / N)
    S, rate = S_(K), scale(unit, RATE * P)
    # ||W'|| <= ||W|| + e longest P
    (product,) = cite(CAUCHY_SCHWARZ, (), G, HERE)
    pull_ = decide(ge(a * P * y, G @ HERE), product, size, g.y_norm)
    pull_ = decide(ge(RATE * a * P * y, RATE * (G @ HERE)), pull_, step.rate)
    squared = decide(ge(RATE**2 * (a * P) ** 2, RATE**2 * (G @ G)), square_, square(RATE))
    after_square = at(g.y_square, {K: K.term + 1})
    longer = decide(
        ge((y + RATE * a * P) ** 2, AFTER @ AFTER), step_square, g.y_square, pull_, squared
    )
    some = decide(ge(RATE * a * P, 0), step.rate, some)
    longer = decide(ge(y + RATE * a * P, NORM(AFTER)), longer, after_square, some, g.y_norm)
    claim = ge(NORM(W(0)) + a * N * S, y)
    stays = decide(
        claim.at({K: K.term + 1}), assume(claim), longer, scale(adds, a * N), scale(rate, a)
    )
    near = induction(claim, decide(claim.at({K: as_term(0)}), scale(starts, a * N)), stays)
    claim = ge(HERE @ V, W(0) @ V + N * S)
    stays = decide(claim.at({K: K.term + 1}), assume(claim), g.grows, scale(adds, N), rate)
    along = induction(claim, decide(claim.at({K: as_term(0)}), scale(starts, N)), stays)
    # where ||W|| > ||W_0|| + longest ||V|| b, S > b
    some = decide(gt(a * N * g.b.term, 0), g.unit, positive(g.b))
    bound = NORM(W(0)) + a * N * g.b.term
    some = decide(gt(bound, 0), at(g.y_norm, {K: 0}), some)
    far = decide(ev(gt(S, g.b)), at(g.far, {g.b: bound}, some), near, g.unit)
    return Squares(
        *(S, starts, adds, inverse, unit, squared, step_square),
        *(decide(gt(RATE * P, 0), step.rate, g.P_positive), note("S tends to infinity", far)),
        note("<W, V> >= <W_0, V> + ||V|| S", along),
    )


def turns(step: Moves, c: Coefficients, g: Growth, pull: Pull, s: Squares) -> Fact:
    """Prove that ||V|| ||W|| <= (1 + off) <W, V> in the end, for every off > 0."""
    P, N, y, S, a, G = g.P, NORM(V), NORM(HERE), s.S, g.longest, pull.G
    dS, after = RATE * P / N, NORM(AFTER)
    after_square = at(g.y_square, {K: K.term + 1})
    # ||W'||^2 <= ||W||^2 + 2 dS (||W|| + B), as P is at most C times the number of rivals
    rate = decide(ge(N * RATE, 0), g.V_norm, step.rate)
    some = decide(ge(a**2 * pull.product, 0), pull.product_positive, square(a))
    some = decide(ge(N * RATE * a**2 * pull.product, 0), rate, some)
    B_, B_is = define("B", (), N * pull.extra + N * RATE * a**2 * pull.product)
    B = B_()
    most_ = decide(ge(pull.product, P), add_up(c.bounded, j), g.P_is)
    weight = decide(ge(RATE**2 * a**2 * P, 0), square(RATE * a), g.P_positive)
    squared = decide(ge(RATE**2 * a**2 * P * pull.product, RATE**2 * (a * P) ** 2), weight, most_)
    squared = decide(ge(RATE**2 * a**2 * P * pull.product, RATE**2 * (G @ G)), squared, s.square)
    squared = decide(
        ge(N * RATE**2 * a**2 * P * pull.product, N * RATE**2 * (G @ G)), squared, g.V_norm
    )
    along = decide(
        ge(2 * RATE * (P * y + N * pull.extra * P), 2 * RATE * N * (G @ HERE)),
        pull.along,
        step.rate,
    )
    spare = decide(ge(RATE * P * N * RATE * a**2 * pull.product, 0), s.some_rate, some)
    longer = decide(
        ge(N * y**2 + 2 * RATE * P * (y + B), N * after**2),
        *(scale(s.step_square, N), scale(g.y_square, N), scale(after_square, N)),
        *(along, squared, scale(B_is, RATE * P), spare),
    )
    longer = decide(
        ge(y**2 + 2 * dS * (y + B), after**2),
        *(longer, s.inverse, scale(s.unit, y**2), scale(s.unit, after**2)),
    )
    longer = note("||W'||^2 <= ||W||^2 + 2 dS (||W|| + B), dS = e P/||V||", longer)
    # in the end B <= off ||W||, so that ||W'|| <= ||W|| + (1 + off) dS
    off_positive = positive(off)
    part = decide(ge(N * pull.extra, 0), g.V_norm, pull.extra_positive)
    B_positive = decide(ge(B, 0), B_is, some, part)
    unit, inverse = cite(RECIPROCAL, [off_positive], off.term)
    bound = (B + 1) / off.term
    far = at(g.far, {g.b: bound}, decide(gt(bound, 0), B_positive, inverse))
    small = decide(ev(ge(off.term * y, B)), far, off_positive, scale(unit, B + 1))
    some_dS = decide(gt(dS, 0), s.some_rate, s.inverse)
    small = decide(ev(ge(dS * off.term * y, dS * B)), small, some_dS)
    slow = ev(ge((y + dS * (1 + off.term)) ** 2, after**2))
    slow_fact = decide(slow, longer, small, square(dS * (1 + off.term)))
    some_off = decide(gt(dS * off.term, 0), some_dS, off_positive)
    whole = decide(ge(y + dS * (1 + off.term), 0), g.y_norm, some_dS, some_off)
    slow_fact = decide(ev(ge(y + dS * (1 + off.term), after)), slow_fact, whole)
    slow_fact = note("in the end ||W|| grows by (1 + off) dS at most", slow_fact)
    rest = y - (1 + off.term) * S
    falls = decide(
        ev(ge(rest, substituted(rest, {K: K.term + 1}))), slow_fact, scale(s.adds, 1 + off.term)
    )
    (settled,) = cite(SETTLED, [falls], "slack", rest)
    # so ||V|| ||W|| - (1 + off) <W, V> <= D - off ||V|| S/2, which is below 0 in the end
    half = off.term / 2
    settled = at(settled, {off: half}, decide(gt(half, 0), off_positive))
    slack = current().names["slack"](half)
    D_, D_is = define("D", (off,), N * slack - (1 + off.term) * (W(0) @ V))
    D = D_(off)
    many = 2 * (D**2 + 1)
    product = decide(gt(1 / (N * off.term), 0), s.inverse, inverse)
    enough = at(
        s.far,
        {g.b: many / (N * off.term)},
        decide(gt(many / (N * off.term), 0), product, square(D)),
    )
    unit = decide(eq(N * off.term / (N * off.term), 1), scale(s.unit, off.term / off.term), unit)
    some = decide(gt(N * off.term, 0), g.V_positive, off_positive)
    enough = decide(ev(gt(N * off.term * S, many)), enough, some, scale(unit, many))
    settled = decide(ev(ge(N * (1 + half) * S + N * slack, N * y)), settled, g.V_norm)
    along = decide(
        ge((1 + off.term) * (HERE @ V), (1 + off.term) * (W(0) @ V + N * S)), s.along, off_positive
    )
    return decide(
        ev(ge((1 + off.term) * (HERE @ V), N * y)), settled, along, D_is, enough, square(D - 1)
    )


@dataclass(frozen=True, slots=True)
class Converged:
    """Where a run from the basin goes.

    Attributes:
        attention, step, coefficients, growth, pull: the facts on the run.
        turned: ||V|| ||W|| <= (1 + off) <W, V> in the end, for every off > 0.
    """

    attention: Attention
    step: Moves
    coefficients: Coefficients
    growth: Growth
    pull: Pull
    turned: Fact


def converges(
    unique: Supposition,
    smooth: Supposition,
    falling: Supposition,
    short: Supposition,
    start: Supposition | None,
    several: Supposition,
    exists: Supposition,
) -> Converged:
    """Prove that from the basin W/||W|| tends to V/||V||, and ||W|| to infinity.

    If no supposition puts the start in the basin, it is the proper one, which is in the basin.
    """
    a = attends(suppose(unique)[0])
    step = moves(a)
    steep = steepness(a, smooth, falling)
    bent, loss = slopes(a, steep), interval(steep)
    gap = proper(a, loss, falling, exists) if start is None else suppose(start)[0]
    keeps = kept(a, step, bent, loss, short, gap)
    return from_kept(a, step, bent, keeps, suppose(several)[0], exists)


def from_kept(
    a: Attention, step: Moves, bent: Slopes, keeps: Kept, several: Fact, exists: Supposition
) -> Converged:
    """Prove the limit direction if s_o and u - second stay above positive constants."""
    c = coefficients(a, step, bent, keeps, several)
    g = diverges(a, step, c, exists)
    pull = pulled(step, c, g, a.power)
    turned = turns(step, c, g, pull, squares(step, c, g, pull))
    return Converged(a, step, c, g, pull, turned)


def nearly_along(run: Converged) -> tuple[Term, Fact]:
    """Return D = ||W|| V - ||V|| W, and that longest ||D|| <= off ||W|| in the end for off > 0."""
    g, N, y, a = run.growth, NORM(V), NORM(HERE), run.growth.longest
    whole, some = 2 * a**2 * N**2, positive(off)
    unit, inverse = cite(RECIPROCAL, [decide(gt(whole, 0), g.unit)], whole)
    part = off.term**2 * INV(whole)
    some_part = decide(gt(part, 0), inverse, decide(gt(off.term**2, 0), some))
    turned = at(run.turned, {off: part}, some_part)
    (product,) = cite(CAUCHY_SCHWARZ, (), HERE, V)
    near = decide(ev(ge(part * N * y, N * y - HERE @ V)), turned, product, some_part)
    D = y * V - N * HERE
    square_ = 2 * N**2 * y**2 - 2 * N * y * (HERE @ V)
    is_square = decide(eq(D @ D, square_), scale(g.y_square, N**2), scale(g.V_square, y**2))
    sizes = decide(ge(N * y, 0), g.V_norm, g.y_norm)
    short_ = decide(ev(ge(2 * part * N**2 * y**2, D @ D)), is_square, near, sizes)
    one = scale(unit, off.term**2 * y**2)
    short_ = decide(ev(ge(off.term**2 * y**2, a**2 * (D @ D))), short_, square(a), one)
    (_, D_square), large = cite(LENGTH, (), D), decide(ge(off.term * y, 0), some, g.y_norm)
    short_ = decide(ev(ge(off.term * y, a * NORM(D))), short_, scale(D_square, a**2), large)
    return D, note("the direction of W tends to that of V", short_)


def margins_follow(run: Converged, D: Term, near: Fact) -> Fact:
    """Prove that ||V|| m_j >= (<A_j, V> - off) ||W|| in the end, by the facts of `nearly_along`."""
    g, (length, _) = run.growth, cite(LENGTH, (), D)
    (product,) = cite(CAUCHY_SCHWARZ, (), A(j), D)
    longest = decide(ge(g.longest * NORM(D), A(j) @ D), product, g.longest_up, length)
    goal = ge(NORM(V) * MARGIN, (A(j) @ V - off) * NORM(HERE))
    return decide(ev(goal), near, longest)


def margins_pass(run: Converged) -> Fact:
    """Prove that every margin exceeds every bound b from some step on."""
    g, N, y = run.growth, NORM(V), NORM(HERE)
    half = as_term(1) / 2
    margins = at(margins_follow(run, *nearly_along(run)), {off: half}, decide(gt(half, 0)))
    margins = decide(ev(ge(2 * N * MARGIN, y)), margins, g.margins, g.y_norm)
    bound_positive = decide(gt(2 * N * g.b.term, 0), g.V_positive, positive(g.b))
    far = at(g.far, {g.b: 2 * N * g.b.term}, bound_positive)
    passed = decide(ev(gt(MARGIN, g.b)), margins, far, g.V_positive)
    return note("every margin tends to infinity", passed)


def attends_alone(run: Converged, passed: Fact) -> Fact:
    """Prove that attention to each optimal token tends to 1.

    Attention to a rival of margin m_j is at most exp(-m_j).
    """
    a, c, rivals = run.attention, run.coefficients, total(1, j)
    off_positive = positive(off)
    unit, inverse = cite(RECIPROCAL, [off_positive], off.term)
    many = decide(gt(rivals / off.term, 0), c.several, inverse)
    far = at(passed, {run.growth.b: rivals / off.term}, many)
    _, tangent = cite(EXPONENTIAL, (), MARGIN)
    (law,) = cite(EXPONENTIAL_OF_SUM, (), -MARGIN, MARGIN)
    small = decide(ge(1, POWER * (1 + MARGIN)), tangent, law, a.power)
    small = decide(ev(ge(1, POWER * rivals / off.term)), small, far, a.power)
    small = decide(
        ev(ge(off.term, POWER * rivals)), small, off_positive, scale(unit, POWER * rivals)
    )
    small = decide(ev(ge(off.term, rivals * a.s(j, K))), small, c.share, c.several)
    count = add_up(decide(ge(1, 0)), j, THEIRS)
    at_most = decide(
        ge(rivals, total(1, j, THEIRS)), one_of_sum(count, i), regroup(as_term(1), j, OWNER)
    )
    shares = total(a.s(j, K), j, THEIRS)
    bound_ = decide(ge(off.term * rivals, off.term * total(1, j, THEIRS)), at_most, off_positive)
    small = decide(ev(ge(off.term, shares)), add_up(small, j, THEIRS), bound_, c.several)
    alone = decide(ev(ge(a.s_o(i, K), 1 - off.term)), small, a.one)
    claim = ev(ge(attention(i.term, HERE), 1 - off.term))
    return note("each s_o tends to 1", by_definition(claim, [a.means[1]], alone))
