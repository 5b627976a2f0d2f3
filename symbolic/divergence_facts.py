"""A run of descent leaves every ball for good, from any start and with any step: linked facts.

Letters are those of `attsvm.primitives.descent_letters` and of `symbolic.attention_facts`. Let
lead_j = gamma_o - gamma_j, which is above 0 for some rival j. In a step <W, M> grows by
e sum_j p_j <A_j, M> with p_j = -l'(u) s_j (u - gamma_j)/n, for every matrix M. There are two
reasons why this sum is never negative, and above a positive constant on each ball:

1. M = V, and all its margins are 1, or the rivals of each input have the same score. Then
   sum_j p_j <A_j, V> >= sum_j p_j = (1/n) sum_i -l'(u_i) s_o (gamma_o - u_i) (`along_margins`).
2. <A_j, M> = c_i lead_j with c_i > 0. Then the sum is (1/n) sum_i -l'(u_i) c_i var_i with the
   variance var_i of the scores by attention (`along_leads`).

While ||W|| <= b, <W, M> is at most b ||M||. So W is in this ball at finitely many steps.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from attsvm.errors import present
from attsvm.primitives.descent_letters import (
    BEST,
    FALL,
    GAMMA,
    LIFT,
    NUMBER,
    OWNER,
    RATE,
    SETTING,
    SIDE,
    A,
    M,
    V,
    bound,
    divergence,
    i,
    j,
    lead,
    other,
    q,
    second,
)
from attsvm.primitives.hypotheses import (
    ALL_TIGHT,
    EITHER_PART,
    EQUAL_RIVALS,
    LINEAR_HEAD,
    SEVERAL_TOKENS,
    TWO_SCORES,
)
from attsvm.primitives.query_hypotheses import ONE_SIDE
from attsvm.theory.declaration.proof import Supposition
from attsvm.theory.proof.facts import Fact, K, eq, ge, gt, note
from attsvm.theory.proof.lemmas import CAUCHY_SCHWARZ, FINITELY_OFTEN, LENGTH, RECIPROCAL
from attsvm.theory.proof.linked import linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    attained,
    beyond,
    cite,
    conclude,
    decide,
    one_of_sum,
    regroup,
    scale,
    square,
)
from attsvm.theory.proof.terms import EXP, INV, NORM, Term, as_term, most, substituted, total
from properties._support.suppositions import FALLING, SMOOTH_SLOPE, SOLUTION, UNIQUE_OPTIMUM
from symbolic.attention_facts import (
    AFTER,
    HERE,
    MARGIN,
    MINE,
    OWN,
    THEIRS,
    Attention,
    Moves,
    Slope,
    Steepness,
    attends,
    moves,
    r,
    steepness,
)
from symbolic.facts import power, powers_rise, product

LEAD, SIZE = lead(j.term), NORM(HERE)


@dataclass(frozen=True, slots=True)
class Ball:
    """Attention while ||W|| is at most b, and the largest lead."""

    attention: Attention  # attention, step, slopes: the facts on the run
    step: Moves
    slopes: Steepness
    near: Fact  # ||W|| <= b; the facts `attended` and `behind` assume it
    share: Fact  # share, part: positive constants, functions of b
    part: Fact
    attended: Fact  # s_o >= share for the input i
    below: Fact  # gamma_o - u = sum_j s_j lead_j for the input i
    not_behind: Fact  # no lead is negative
    behind: Fact  # gamma_o - u >= part lead_j for the input of j
    pick: Term  # pick, ahead: the rival of the largest lead, and that this lead is positive
    ahead: Fact
    falls: Fact  # -l'(u) >= 0 for the input i
    over: Fact  # 1/n is positive


def _bounded(rival: Fact, near: Fact) -> tuple[Term, Fact, Fact]:
    """Return b times the largest ||A_j||, and that it is at least m_j and -m_j."""
    longest = most(NORM(A(r)), r)
    up, (length, _) = beyond("most", NORM(A(j)), j), cite(LENGTH, (), A(j))
    some = decide(ge(longest, 0), up, length, rival)
    size, (back, turned) = cite(LENGTH, (), HERE), cite(LENGTH, (), -HERE)
    same = decide(ge(SIZE, NORM(-HERE)), *size, turned)
    (along,), (against,) = (cite(CAUCHY_SCHWARZ, (), A(j), W) for W in (HERE, -HERE))
    top = longest * bound.term
    above = decide(ge(top, MARGIN), along, up, size[0], some, near)
    return top, above, decide(ge(top, -MARGIN), against, up, back, same, some, near)


def in_ball(
    smooth: Supposition, falling: Supposition, uneven: Sequence[Fact], sign: int = 1
) -> Ball:
    """Prove that in a ball the attention to each token is above a positive constant.

    Args:
        smooth: the supposition that l' is continuous.
        falling: the supposition that l' is below 0.
        uneven: the facts that the sum of all leads is positive, and that there is a rival.
        sign: that of `moves`.
    """
    some_lead, rival = uneven
    lower = setting(SETTING, "no score is above the best of its input")
    a = attends(lower)
    step, bent = moves(a, sign), steepness(a, smooth, falling)
    near = assume(ge(bound, SIZE))
    top, above, under = _bounded(rival, near)
    small = powers_rise(-top, -MARGIN, above)
    large = powers_rise(-MARGIN, top, under)
    s_o, s, rivals = a.s_o(i, K), a.s(j, K), total(1, j)
    mine = at(a.s_o_positive, {i: OWN})
    # each s_j is at most s_o exp(top), so that 1 <= s_o (1 + rivals exp(top))
    each = decide(ge(a.s_o(OWN, K) * EXP(top), s), a.means[2], large, mine)
    count = one_of_sum(add_up(decide(ge(1, 0)), j, THEIRS), i)
    weight = decide(gt(s_o * EXP(top), 0), a.s_o_positive, power(top))
    whole = 1 + rivals * EXP(top)
    enough = decide(
        ge(s_o * whole, 1),
        *(add_up(each, j, THEIRS), count, regroup(as_term(1), j, OWNER), weight, a.one),
    )
    unit, share = cite(RECIPROCAL, [decide(gt(whole, 0), rival, power(top))], whole)
    attended = decide(ge(s_o, INV(whole)), enough, share, scale(unit, s_o))
    part = decide(gt(INV(whole) * EXP(-top), 0), share, power(-top))
    held = decide(
        ge(s, INV(whole) * EXP(-top)), a.means[2], small, mine, at(attended, {i: OWN}), power(-top)
    )
    below = decide(
        eq(BEST(i) - a.u(i, K), total(a.s(j, K) * (BEST(i) - GAMMA(j)), j, THEIRS)),
        *(a.mean, scale(a.one, BEST(i))),
    )
    not_behind = decide(ge(LEAD, 0), lower)
    term = one_of_sum(product(a.s_positive, not_behind), j, OWNER)
    behind = decide(
        ge(BEST(OWN) - a.u(OWN, K), INV(whole) * EXP(-top) * LEAD),
        *(at(below, {i: OWN}), term, held, not_behind),
    )
    pick, reached = _farthest(rival)
    up = add_up(beyond("most", LEAD, j), j)
    falls = decide(gt(FALL(a.u(i, K)), 0), bent.at_output, bent.positive)
    _, over = cite(RECIPROCAL, [a.input], NUMBER)
    return Ball(
        *(a, step, bent, near, share, part, attended, below, not_behind, behind, pick),
        *(decide(gt(lead(pick), 0), up, some_lead, rival, reached), falls, over),
    )


def _farthest(rival: Fact) -> tuple[Term, Fact]:
    """Return the rival of the largest lead, and that it has this lead."""
    pick, reached = attained("farthest", most(lead(r.term), r), rival)
    return pick(), reached


def _leaves(ball: Ball, along: Term, moved: Fact, each: Fact, floor: Fact, constant: Fact) -> Fact:
    """Return that ||W|| exceeds every b in the end.

    Args:
        ball: the facts in a ball.
        along: a matrix M.
        moved: sum_j p_j <A_j, M> is at least 1/n times the sum of the parts of all inputs.
        each: the part of the input i is at least 0.
        floor: in the ball the part of the input of `pick` is at least a constant.
        constant: this constant is positive.
    """
    part, least_part = each.proposition.term, constant.proposition.term
    rate = decide(gt(RATE * INV(NUMBER), 0), ball.step.rate, ball.over)
    grown = decide(
        ge(AFTER @ along, HERE @ along + RATE * INV(NUMBER) * total(part, i)),
        *(at(ball.step.grown, {M: along}), moved, ball.step.rate),
    )
    rises = decide(ge(AFTER @ along, HERE @ along), grown, rate, add_up(each, i))
    mine = at(one_of_sum(each, i), {i: OWNER(ball.pick)})
    gain = RATE * INV(NUMBER) * least_part
    grows = decide(ge(AFTER @ along, HERE @ along + gain), grown, rate, mine, floor)
    (within,), (length, _) = cite(CAUCHY_SCHWARZ, (), HERE, along), cite(LENGTH, (), along)
    within = decide(ge(NORM(along) * bound.term, HERE @ along), within, length, ball.near)
    facts = [rises, decide(gt(gain, 0), rate, constant), grows, within]
    near = ball.near.proposition
    (far,) = cite(FINITELY_OFTEN, facts, HERE @ along, gain, NORM(along) * bound.term, near)
    return note("||W|| tends to infinity", far)


def gains(
    a: Attention,
    step: Moves | Slope,
    signs: tuple[Fact, Fact, Fact],
    margins: Fact,
    level: Fact,
) -> Fact:
    """Prove sum_j p_j <A_j, V> >= 1/n sum_i -l'(u_i) s_o (gamma_o - u_i).

    Args:
        a: attention along the run.
        step: a step of descent, or the gradient.
        signs: -l'(u_i) and 1/n are positive, and no lead is negative.
        margins: <A_j, V> >= 1.
        level: all these margins are 1, or the rivals of each input have the same score.
    """
    falls, over, not_behind = signs
    p, n = step.p(j, K), INV(NUMBER)
    u, s_o, s, excess = a.u(OWN, K), a.s_o(OWN, K), a.s(j, K), A(j) @ V - 1
    # excess (gamma_r - gamma_j) = 0 for the rivals r of one input
    same, others = at(level, {other: j}), scale(at(level, {other: r}), a.s(r, K))
    one, mean, mine = (at(f, {i: OWN}) for f in (a.one, a.mean, a.s_o_positive))
    behind = decide(
        eq(excess * (u - GAMMA(j)), excess * s_o * LEAD),
        *(scale(same, 1 - s_o), add_up(others, r, MINE), scale(mean, excess)),
        scale(one, excess * second(OWN)),
        degree=1,
    )
    above = decide(ge(excess, 0), margins)
    weight = product(at(falls, {i: OWN}), a.s_positive, over)
    spare = product(weight, above, mine, not_behind)
    each = decide(
        ge(p * (A(j) @ V), p),
        *(scale(step.p_is, excess), scale(behind, FALL(u) * s * n), spare),
        degree=1,
    )
    each = note("margins above 1 gain no less than margins of 1", each)
    # the p_j of an input add up to -l'(u) s_o (gamma_o - u)/n
    fall, u, s_o = FALL(a.u(i, K)), a.u(i, K), a.s_o(i, K)
    part = fall * s_o * (BEST(i) - u)
    sums = decide(
        eq(total(p, j, THEIRS), n * part),
        *(add_up(step.p_is, j, THEIRS), scale(a.one, fall * n * u), scale(a.mean, fall * n)),
        degree=1,
    )
    return decide(
        ge(total(p * (A(j) @ V), j), n * total(part, i)),
        *(add_up(each, j), regroup(p, j, OWNER), add_up(sums, i)),
    )


def along_margins(ball: Ball, margins: Fact, level: Fact, *, sign: int = 1) -> Fact:
    """Prove divergence along V, or along -V if the sign of `moves` is -1.

    Args:
        ball: the facts in a ball.
        margins: <A_j, V> >= 1.
        level: all these margins are 1, or the rivals of each input have the same score.
        sign: that of `moves`.
    """
    a = ball.attention
    moved = gains(a, ball.step, (ball.falls, ball.over, ball.not_behind), margins, level)
    u = a.u(i, K)
    part = FALL(u) * a.s_o(i, K) * (BEST(i) - u)
    some_behind = decide(ge(BEST(i) - u, 0), a.below_best)
    floor_, heavy = _least_weight(ball)
    behind, far, some_far = _least_behind(ball)
    some = decide(gt(floor_ * far, 0), heavy[1], some_far)
    floor = decide(ge(_there(ball, part), floor_ * far), heavy[0], behind, heavy[1], some_far)
    some_part = product(ball.falls, a.s_o_positive, some_behind)
    return _leaves(ball, sign * V, moved, some_part, floor, some)


def _there(ball: Ball, term: Term) -> Term:
    """Return a term in i at the input of the rival with the largest lead."""
    return substituted(term, {i: OWNER(ball.pick)})


def _least_weight(ball: Ball) -> tuple[Term, tuple[Fact, Fact]]:
    """Return a positive lower bound of -l'(u) s_o at the input of `pick`, with both facts."""
    a, bent, there = ball.attention, ball.slopes, {i: OWNER(ball.pick)}
    least_ = bent.least * ball.share.proposition.term
    weight = _there(ball, FALL(a.u(i, K)) * a.s_o(i, K))
    steep, attended = at(bent.at_output, there), at(ball.attended, there)
    attention = at(a.s_o_positive, there)
    fact = decide(ge(weight, least_), steep, attended, bent.positive, attention)
    return least_, (fact, decide(gt(least_, 0), bent.positive, ball.share))


def _least_behind(ball: Ball) -> tuple[Fact, Term, Fact]:
    """Return that gamma_o - u is at least a positive constant at the input of `pick`."""
    far = ball.part.proposition.term * lead(ball.pick)
    return at(ball.behind, {j: ball.pick}), far, decide(gt(far, 0), ball.part, ball.ahead)


def gains_of_leads(
    a: Attention,
    step: Moves | Slope,
    signs: tuple[Fact, ...],
    below: Fact,
    leads: Fact,
    factor: Term,
) -> Fact:
    """Prove sum_j p_j <A_j, M> >= 1/n sum_i -l'(u_i) c_i s_o (gamma_o - u_i)^2.

    Args:
        a: attention along the run.
        step: a step of descent, or the gradient.
        signs: 1/n, -l'(u_i) and c_i are positive; without c_i this number is 1.
        below: gamma_o - u_i is the sum of s_j lead_j.
        leads: <A_j, M> is c_i lead_j for the input of j.
        factor: c_i.
    """
    p, n, along = step.p(j, K), INV(NUMBER), leads.proposition.term
    fall, u, s_o = FALL(a.u(i, K)), a.u(i, K), a.s_o(i, K)
    behind, apart, own = BEST(i) - u, a.u(OWN, K) - GAMMA(j), substituted(factor, {i: OWN})
    # the variance of the scores is at least s_o (gamma_o - u)^2
    spread = add_up(product(a.s_positive, square(apart)), j, THEIRS)
    varied = decide(
        ge(total(a.s(j, K) * (u - GAMMA(j)) * (BEST(i) - GAMMA(j)), j, THEIRS), s_o * behind**2),
        *(spread, scale(below, behind), scale(a.one, behind**2)),
        degree=1,
    )
    pulled = p * (along + own * LEAD)  # as `leads` says that <A_j, M> - c lead_j = 0
    each = decide(
        eq(pulled, FALL(a.u(OWN, K)) * a.s(j, K) * apart * n * own * LEAD),
        *(scale(leads, p), scale(step.p_is, own * LEAD)),
        degree=1,
    )
    part = fall * factor * s_o * behind**2
    sums = decide(
        ge(total(pulled, j, THEIRS), n * part),
        *(add_up(each, j, THEIRS), product(*signs, varied)),
        degree=1,
    )
    sums = note("an input adds at least -l'(u) s_o (gamma_o - u)^2/n to <W, M>", sums)
    return decide(
        ge(total(pulled, j), n * total(part, i)), regroup(pulled, j, OWNER), add_up(sums, i)
    )


def along_leads(ball: Ball, along: Term, leads: Fact, factor: Fact | None = None) -> Fact:
    """Prove divergence along a matrix M.

    Args:
        ball: the facts in a ball.
        along: the matrix M.
        leads: <A_j, M> is a number of the input of j times lead_j.
        factor: this number of the input i is positive; None if it is 1.
    """
    a, c = ball.attention, as_term(1)
    signs: tuple[Fact, ...] = (ball.over, ball.falls)
    if factor is not None:
        c, signs = factor.proposition.term, (*signs, factor)
    fall, s_o, behind = FALL(a.u(i, K)), a.s_o(i, K), BEST(i) - a.u(i, K)
    part = fall * c * s_o * behind**2
    moved = gains_of_leads(a, ball.step, signs, ball.below, leads, c)
    weight, heavy = _least_weight(ball)
    behind_, far, some_far = _least_behind(ball)
    wide = decide(ge(_there(ball, behind) ** 2, far**2), behind_, some_far)
    square_ = decide(gt(far**2, 0), some_far)
    least_, some = weight * far**2, decide(gt(weight * far**2, 0), heavy[1], square_)
    floor = decide(
        ge(_there(ball, fall * s_o * behind**2), least_), *(heavy[0], wide, heavy[1], square_)
    )
    if factor is not None:
        mine = at(factor, {i: OWNER(ball.pick)})
        floor = decide(ge(_there(ball, part), mine.proposition.term * least_), floor, mine)
        some = decide(gt(mine.proposition.term * least_, 0), some, mine)
    return _leaves(
        ball, along, moved, product(*signs[1:], a.s_o_positive, square(behind)), floor, some
    )


def end(far: Fact) -> None:
    """Conclude that ||W|| tends to infinity."""
    conclude(far, *present(divergence(), "what is shown").sequents)


@linked
def prove_tight() -> str:
    """Prove divergence if all margins of V are 1, and some input has two different scores."""
    ball = in_ball(SMOOTH_SLOPE, FALLING, suppose(TWO_SCORES))
    (tight,) = suppose(ALL_TIGHT)
    level = scale(tight, second(OWNER(other)) - GAMMA(other))
    end(along_margins(ball, decide(ge(A(j) @ V, 1), tight), level))
    return "for every loss with continuous l' < 0, any n, T, d and start, and any constant step"


@linked
def prove_tight_or_level() -> str:
    """Prove divergence if all margins of V are 1, or rivals have the same score below the best."""
    (lower,), (rival,) = suppose(UNIQUE_OPTIMUM), suppose(SEVERAL_TOKENS)
    some_lead = add_up(decide(gt(LEAD, 0), lower), j, None, rival)
    ball = in_ball(SMOOTH_SLOPE, FALLING, (some_lead, rival))
    margins, _ = suppose(SOLUTION)
    end(along_margins(ball, margins, *suppose(EITHER_PART)))
    return "for every loss with continuous l' < 0, any n, T, d and start, and any constant step"


@linked
def prove_rising() -> str:
    """Prove divergence for the loss 1 - l if rivals have equal scores, and some input has two."""
    ball = in_ball(SMOOTH_SLOPE, FALLING, suppose(TWO_SCORES), -1)
    (margins, _), (level,) = suppose(SOLUTION), suppose(EQUAL_RIVALS)
    either = scale(at(level, {j: other}), A(j) @ V - 1)
    far = along_margins(ball, margins, either, sign=-1)
    conclude(far, *divergence("logistic").sequents)
    return "for g(u), which is 1 - g(-u), any n, T, d and start, and any constant step"


@linked
def prove_one_side() -> str:
    """Prove divergence for a linear head if some q has Y_i <z_i, q> > 0 for all i.

    <W_k, v q^T> grows at each step.
    """
    ball = in_ball(SMOOTH_SLOPE, FALLING, suppose(TWO_SCORES))
    (lifted,), (side,) = suppose(LINEAR_HEAD), suppose(ONE_SIDE)
    end(along_leads(ball, LIFT(SIDE), at(lifted, {q: SIDE}), side))
    return "for every loss with continuous l' < 0, any tokens, start and step"
