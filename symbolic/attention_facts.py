"""Attention, outputs and the slope of the risk along descent: facts of linked proofs.

Letters are those of `attsvm.primitives.descent_letters`. For input i, `u` is its output, `s_o` the
attention to its optimal token, and `s` that to a rival.
"""

from dataclasses import dataclass

from attsvm.primitives.descent_letters import (
    BEST,
    DOWN,
    FALL,
    FALLS,
    GAMMA,
    GRADIENT,
    HIGH,
    LOSS,
    LOW,
    NUMBER,
    OWNER,
    RATE,
    RISING,
    RIVAL,
    SETTING,
    UP,
    A,
    M,
    W,
    X,
    attention,
    i,
    j,
    lead,
    margin,
    output,
    second,
    x,
)
from attsvm.theory.declaration.proof import Supposition
from attsvm.theory.proof.facts import Fact, K, current, eq, ge, gt, note
from attsvm.theory.proof.lemmas import EXPONENTIAL, EXTREMES, RECIPROCAL, RISES, SIZE
from attsvm.theory.proof.linked import setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    beyond,
    bounds,
    by_definition,
    cite,
    cut,
    decide,
    define,
    one_of_sum,
    regroup,
    scale,
)
from attsvm.theory.proof.terms import (
    ABS,
    EXP,
    Function,
    Letter,
    Over,
    Term,
    as_term,
    members,
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
    """Attention and outputs along the run, and facts on them."""

    u: Function  # u, s_o, s: functions of an input or a rival, and the step
    s_o: Function
    s: Function
    means: tuple[Fact, Fact, Fact]  # the definitions of u, s_o and s
    input: Fact  # there is an input
    power: Fact  # exp(-m_j) > 0
    s_o_positive: Fact  # s_o_positive, s_positive: attention is positive
    s_positive: Fact
    one: Fact  # s_o and the s of the rivals of an input add up to 1
    mean: Fact  # u is the mean of the scores by attention
    lower: Fact  # rivals score less than the optimal token, or at most as much
    # above_lowest, below_best: u lies between the lowest score and the best of the input
    above_lowest: Fact
    below_best: Fact
    best_high: Fact  # no best score is above the highest
    low_rival: Fact  # no rival's score is below the lowest


def over_own(fact: Fact) -> Fact:
    """Return the sum of a fact about rivals over the rivals of the input of j."""
    return add_up(at(fact, {j: r}), r, MINE)


@dataclass(frozen=True, slots=True)
class Mixing:
    """Facts on attention and outputs that hold for rivals of any scores."""

    u: Function  # u, s_o, s, means, one, mean: as for `Attention`
    s_o: Function
    s: Function
    means: tuple[Fact, Fact, Fact]
    one: Fact
    mean: Fact
    power: Fact  # power, inverse: exp(-m_j) > 0, and s_o, which is a reciprocal, is positive
    inverse: Fact


def mixing(point: Letter = K) -> Mixing:
    """Prove that attention adds up to 1, and that u is the mean of scores.

    Args:
        point: the step; or the letter of a matrix, which then takes the place of the iterate.
    """
    matrix = HERE if point == K else point.term
    logit = -margin(j.term, matrix)
    u, u_is = define("u", (i, point), output(i.term, matrix))
    s_o, s_o_is = define("s_o", (i, point), attention(i.term, matrix))
    s, s_is = define("s", (j, point), s_o(OWN, point) * EXP(logit))
    power, _ = cite(EXPONENTIAL, (), logit)
    rest = total(EXP(logit), j, THEIRS)
    one, inverse = cite(RECIPROCAL, [decide(gt(1 + rest, 0), add_up(power, j, THEIRS))], 1 + rest)
    whole = eq(s_o(i, point) + total(s(j, point), j, THEIRS), 1)
    one = note("attention adds up to 1", by_definition(whole, [s_is, s_o_is], one))
    scores = s_o(i, point) * BEST(i) + total(s(j, point) * GAMMA(j), j, THEIRS)
    mean = by_definition(eq(u(i, point), scores), [u_is, s_is, s_o_is])
    return Mixing(u, s_o, s, (u_is, s_o_is, s_is), one, mean, power, inverse)


def attends(lower: Fact, floors: tuple[Fact, Fact] | None = None, point: Letter = K) -> Attention:
    """Prove that attention is positive with sum 1, if no rival scores more than the optimal token.

    So u_i is at least the lowest score of all, and at most the best score of input i.

    Args:
        lower: rivals score less than the optimal token, or no more than it.
        floors: that no score of a rival, and no best one, is below a number of its input. This
            number takes the place of the lowest score of all.
        point: see `mixing`.
    """
    m = mixing(point)
    u, s_o, s, (_, s_o_is, s_is), one, mean = m.u, m.s_o, m.s, m.means, m.one, m.mean
    s_o_positive = by_definition(gt(s_o(i, point), 0), [s_o_is], m.inverse)
    s_positive = decide(gt(s(j, point), 0), s_is, at(s_o_positive, {i: OWN}), m.power)
    low_rival, best_low = floors or (
        setting(SETTING, "no score is below the lowest"),
        setting(SETTING, "no best score is below the lowest"),
    )
    floor = BEST(i) - best_low.proposition.term
    above = add_up(product(s_positive, low_rival), j, THEIRS)
    below = add_up(
        decide(ge(s(j, point) * (BEST(OWN) - GAMMA(j)), 0), s_positive, lower), j, THEIRS
    )
    parts = above, mean, scale(one, floor), product(s_o_positive, best_low)
    above_lowest = decide(ge(u(i, point), floor), *parts, degree=1)
    below_best = decide(ge(BEST(i), u(i, point)), below, mean, scale(one, BEST(i)))
    return Attention(
        *(u, s_o, s, m.means, setting(SETTING, "there is an input"), m.power),
        *(s_o_positive, s_positive, one, mean, lower, above_lowest, below_best),
        *(setting(SETTING, "no best score is above the highest"), low_rival),
    )


@dataclass(frozen=True, slots=True)
class Moves:
    """A step of descent."""

    p: Function  # the coefficient of A_j in -grad L, a function of the rival and the step
    p_is: Fact  # its definition
    descends: Fact  # <W', M> is <W, M> less e times the derivative of the risk along M
    grown: Fact  # <W', M> = <W, M> + e sum_j p_j <A_j, M> for every M
    rate: Fact  # the step size e is positive


def moves(a: Attention | Mixing, sign: int = 1) -> Moves:
    """Prove that a step adds e sum_j p_j A_j, p_j = -l'(u) s_j (u - gamma_j)/n, for any n and T.

    With the sign -1 the step subtracts this sum: the run minimises 1 - l.
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
    """The gradient of the risk at a step."""

    p: Function  # p, p_is: the coefficient of A_j in -grad L, and its definition
    p_is: Fact
    along: Fact  # <-grad L, M> = sum_j p_j <A_j, M> for every M


def gradient() -> Fact:
    """Return that the gradient at a step has the slope of the risk along every matrix."""
    everywhere = setting(SETTING, "the gradient has the slope of the risk along every matrix")
    return at(everywhere, {X: HERE})


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
    """Bounds of -l' by the extreme value theorem."""

    least: Term  # least, most: constants
    most: Term
    positive: Fact  # the lower one is positive
    # -l' is at least `least`, and at most `most`, between the lowest and highest score
    between: tuple[Fact, Fact]
    inside: Fact  # u is at most the highest score
    at_output: Fact  # -l'(u) is at least `least`


def steepness(a: Attention, smooth: Supposition, falling: Supposition) -> Steepness:
    """Prove that -l' lies between two constants from the lowest to the highest score, also at u.

    This is the extreme value theorem for a continuous and negative slope.
    """
    facts = [*suppose(smooth), *suppose(falling)]
    positive_, at_least, at_most = cite(EXTREMES, facts, FALL, x, LOW, HIGH)
    low, high = (current().names[f"{extreme} fall"]() for extreme in ("least", "most"))
    highest = decide(ge(HIGH, a.u(i, K)), a.below_best, a.best_high)
    lower = cut(at(at_least, {x: a.u(i, K)}), a.above_lowest, highest)
    return Steepness(low, high, positive_, (at_least, at_most), highest, lower)


@dataclass(frozen=True, slots=True)
class Slopes:
    """Bounds of the slope of the loss at the outputs."""

    least: Term  # least, most: constants with 0 < least <= -l'(u) <= most
    most: Term
    least_positive: Fact  # least_positive, most_positive: both constants are positive
    most_positive: Fact
    at_output: tuple[Fact, Fact]  # both bounds for -l'(u)


def slopes(a: Attention, bent: Steepness) -> Slopes:
    """Prove that -l'(u) lies between two positive constants."""
    lower = bent.at_output
    upper = cut(at(bent.between[1], {x: a.u(i, K)}), a.above_lowest, bent.inside)
    high = decide(gt(bent.most, 0), lower, upper, bent.positive, a.input)
    return Slopes(bent.least, bent.most, bent.positive, high, (lower, upper))


@dataclass(frozen=True, slots=True)
class Interval:
    """The slope of the loss between the lowest and the highest score."""

    # falling, at_most: -l' is at least 0, and at most a constant, between these scores
    falling: Fact
    at_most: Fact
    slope: Fact  # -l' is the negative derivative of l


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
    """Return bounds of the second-best score: below by each rival and the lowest score, and above.

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
    """Prove a bound of the loss gap of an input at step k, as its margins are at least r.

    l(u) - l(best) is at most top exp(-r) range, times the number of rivals of the input.

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
    return decide(ge(top * room, LOSS(u) - LOSS(BEST(i))), part, behind, steep)


@dataclass(frozen=True, slots=True)
class Kept:
    """Bounds that hold at all steps of a run."""

    lead: Function  # lead, share: functions of a rival
    share: Function
    lead_positive: Fact  # lead_positive, share_positive: both functions are positive
    share_positive: Fact
    ahead: Fact  # u - gamma_j is at least `lead` at all steps
    attended: Fact  # s_o is at least `share` at all steps
    number: Fact  # 1/n is positive


def meets(margins: Fact, point: Term) -> Fact:
    """Return in one equation that a matrix meets the constraints, by its margins."""
    m = margin(j.term, point)
    size, size_square = cite(SIZE, (), 1 - m)
    return add_up(decide(eq(ABS(1 - m) + 1 - m, 0), margins, size, size_square), j)
