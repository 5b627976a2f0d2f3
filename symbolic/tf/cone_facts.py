"""A cone about W^mm(alpha) that descent never leaves: the claim of docs/proofs/cones.md, linked.

On `tf/local-convergence:sharp`; letters are those of `properties._support.cone_letters`, and bounds
on the cone are those of `symbolic.tf.cone_tip`. W = a V + E with <E, V> = 0, where V = W^mm(alpha)
and n = <V, V>. (On the page a is a/N.) The set I has a >= sigma and ||E||^2 <= w^2 + B (a - sigma).

1. P, the sum of p_j M_j over good pairs, is at least kappa exp(-a) (`pushes`).
2. The sum g of p_j M_j over all pairs is at least (1 - D) P. A step e adds e g/n to a.
3. sum_j p_j e_j is at most g R/(1 - D), and the part of sum_j p_j A_j orthogonal to V has a norm of
   at most g K (`pulled`).
4. So a step from I ends in I (`kept`). On I, a step adds a constant to a while a is bounded, and
   ||E||/a tends to 0 as a grows (`prove`).
"""

from __future__ import annotations

from dataclasses import dataclass

from attsvm.errors import present
from attsvm.primitives.descent_letters import RATE, A, M, V, W, bound, j, margin, off
from attsvm.theory.proof.facts import Fact, K, eq, ev, ge, gt
from attsvm.theory.proof.lemmas import (
    CAUCHY_SCHWARZ,
    EXPONENTIAL,
    EXPONENTIAL_OF_SUM,
    FINITELY_OFTEN,
    LARGER,
    LENGTH,
    RECIPROCAL,
    SIZE,
)
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    cases,
    cite,
    cut,
    decide,
    induction,
    positive,
    scale,
    square,
)
from attsvm.theory.proof.terms import ABS, EXP, INV, MAXIMUM, NORM, as_term, substituted, total
from properties._support import cone_letters as letters
from properties._support.cone_letters import (
    ACROSS,
    ALONE,
    ALONG,
    AWAY,
    BAD,
    GOOD,
    HERE,
    HIGH,
    KAPPA,
    LOOSE,
    M_J,
    MINOR,
    MOST,
    RADIUS,
    RATIO,
    REACH,
    ROOM,
    SHIFT,
    SIDE,
    SIGMA,
    SPREAD,
    SQUARE,
    TURN,
    WIDTH,
    P,
)
from properties._support.cone_letters import top as height
from symbolic.facts import conclude_each, outgrows, power, powers_rise, product
from symbolic.tf.cone_tip import (
    FALLING,
    GAINED,
    ROOF,
    WIDE,
    Largest,
    Signs,
    Tip,
    coefficients,
    framed,
    largest,
    pushes,
    signs,
    sized,
    tip_of,
    together,
)

GROWN = total(P * M_J, j)
"""g, which is n/e times the growth of a in a step e."""
TURNED = total(P * SHIFT, j)
NEXT = W(K.term + 1)


@dataclass(frozen=True, slots=True)
class Pulled:
    """Bounds of a step from I."""

    gains: Fact  # g >= (1 - D) P
    forward: Fact  # g is positive
    turned: Fact  # sum_j p_j e_j is at most g R/(1 - D)
    aside: Fact  # the part of sum_j p_j A_j orthogonal to V has a squared norm of at most K^2 g^2
    short: Fact  # e g is at most rho


def pulled(on: Largest, of: Signs, heavy: Fact) -> Pulled:
    """Prove bounds of g, of sum_j p_j e_j, and of the part of sum_j p_j A_j orthogonal to V."""
    c, kappa = on.tip.cone, of.kappa
    meets, room_is, room = c["V has margins of at least 1"], c["the room is 1 - D"], c["D < 1"]
    few = c["|p_j| <= d_j P for other pairs"]
    (size, size_square), far = cite(SIZE, (), P), meets
    small = decide(ge(P + ABS(P), 0), size, size_square)
    # g is at least (1 - D) P
    less = decide(ge(BAD * (MINOR(j) * GAINED + P), 0), few, c.bad, small)
    less = add_up(decide(ge(BAD * (MINOR(j) * GAINED + P) * M_J, 0), far, less), j)
    gains = decide(ge(GROWN, ROOM * GAINED), less, scale(room_is, GAINED), degree=1)
    some_ = decide(gt(GAINED, 0), heavy, kappa, power(-ALONG))
    forward = decide(gt(GROWN, 0), gains, room, some_)
    # sum_j p_j e_j
    sign, m = c["p_j is not negative"], margin(j.term, HERE)
    high, chosen = c["C_j is not negative"], of.loose
    top = EXP(-RADIUS * (M_J - 1) - 1)
    goal = ge(GOOD(j) * LOOSE * HIGH(j) * top * FALLING, GOOD(j) * LOOSE * P * SHIFT)
    condition = gt(SHIFT, 0)
    yes, no = assume(condition), assume(condition.denied())
    weight = product(c.good, chosen, high)
    tops = decide(ge(top * FALLING, 0), power(-RADIUS * (M_J - 1) - 1), power(-ALONG))
    idle = decide(goal, weight, tops, product(sign, chosen, no))
    # x exp(-x) is at most exp(-1)
    line = cite(EXPONENTIAL, (), SHIFT - 1)[1]
    (law,) = cite(EXPONENTIAL_OF_SUM, (), SHIFT - 1, -m)
    (split,) = cite(EXPONENTIAL_OF_SUM, (), -RADIUS * (M_J - 1) - 1, -ALONG)
    end = SHIFT - 1 - m
    lower = powers_rise(
        end,
        -RADIUS * (M_J - 1) - 1 - ALONG,
        product(decide(ge(ALONG - RADIUS, 0), c.above, c["sigma is at least the radius"]), far),
    )
    short = decide(ge(top * FALLING, SHIFT * EXP(-m)), lower, split, law, line, power(-m))
    bounded = c["p_j <= C_j exp(-m_j) for these"]
    parts = [product(bounded, chosen, decide(ge(SHIFT, 0), yes)), product(weight, short)]
    alone = add_up(cases(decide(goal, *parts, degree=1), idle, condition), j)
    is_alone = c["alone is the sum of C_j exp(-radius (M_j - 1) - 1) over loose pairs"]
    alone = decide(
        ge(ALONE * FALLING, total(GOOD(j) * LOOSE * P * SHIFT, j)), alone, scale(is_alone, FALLING)
    )
    unit, inverse = cite(RECIPROCAL, [kappa], KAPPA)
    parts = [product(of.alone, inverse, heavy), scale(unit, ALONE * FALLING), alone]
    alone = decide(
        ge(ALONE * INV(KAPPA) * GAINED, total(GOOD(j) * LOOSE * P * SHIFT, j)), *parts, degree=1
    )
    (_, bad_square), bad_size = cite(SIZE, (), P * SHIFT), cite(SIZE, (), P * SHIFT)[0]
    lost = c["|p_j e_j| <= d_j r_j Q P for these"]
    back = add_up(
        decide(
            ge(BAD * (MINOR(j) * REACH(j) * WIDTH * GAINED - P * SHIFT), 0),
            *(lost, c.bad, decide(ge(ABS(P * SHIFT), P * SHIFT), bad_size, bad_square)),
        ),
        j,
    )
    is_back = c["back is the sum of d_j r_j over other pairs"]
    turn_is = c["turn is R/(1 - D)"]
    others = c["good pairs that are not loose add at most L P to sum_j p_j e_j"]
    reach, is_reach = on.tip.reach, c["r_j is the norm of A_j less its part along V"]
    _, reach_square = cite(LENGTH, (), ACROSS)
    back_sign, turn_sign = of.back, of.turn
    parts = [
        alone,
        others,
        back,
        scale(is_back, WIDTH * GAINED),
        scale(turn_is, GAINED),
        product(turn_sign, gains),
    ]
    turned = decide(ge(TURN * GROWN, TURNED), *parts, degree=1)
    # the part orthogonal to V
    H = total(P * ACROSS, j)
    s, (s_sign, s_square) = NORM(H), cite(LENGTH, (), H)
    _, own_square = cite(LENGTH, (), P * ACROSS)
    wide_ = product(size, reach)
    parts = [
        scale(size_square, REACH(j) ** 2),
        scale(is_reach, P**2 * (REACH(j) + NORM(ACROSS))),
        scale(reach_square, P**2),
    ]
    longer = decide(ge(ABS(P) * REACH(j), NORM(P * ACROSS)), *parts, own_square, wide_)
    (along_,) = cite(CAUCHY_SCHWARZ, (), P * ACROSS, H)
    each = decide(ge(ABS(P) * REACH(j) * s, (P * ACROSS) @ H), along_, longer, s_sign)
    whole = total(ABS(P) * REACH(j), j)
    whole_sign = add_up(wide_, j)
    below = decide(ge(whole, s), add_up(each, j), s_square, whole_sign)
    # |p_j| is p_j for good pairs
    same = decide(ge(GOOD(j) * P, GOOD(j) * ABS(P)), sign, scale(size_square, GOOD(j) ** 2))
    ratio, ratio_sign = c["ratio is at least r_j/M_j for good pairs"], c["it is not negative"]
    either = c["a pair is good or not"]
    parts = [
        product(same, reach),
        product(ratio, sign),
        scale(either, P * (RATIO * M_J - REACH(j))),
    ]
    part = decide(ge(GOOD(j) * P * M_J * RATIO, GOOD(j) * ABS(P) * REACH(j)), *parts, degree=1)
    parts = [part, few, reach]
    each = decide(
        ge(GOOD(j) * P * M_J * RATIO + BAD * MINOR(j) * REACH(j) * GAINED, ABS(P) * REACH(j)),
        *parts,
    )
    side_is = c["K is (ratio + back)/(1 - D)"]
    side_sign = decide(ge(SIDE, 0), side_is, room, ratio_sign, back_sign)
    parts = [
        add_up(each, j),
        below,
        scale(is_back, GAINED),
        scale(side_is, GAINED),
        product(side_sign, gains),
    ]
    aside = decide(ge(SIDE * GROWN, s), *parts, degree=1)
    aside = decide(ge(SIDE**2 * GROWN**2, H @ H), aside, s_sign, s_square)
    # the step
    parts = [c["|p_j| <= C_j h_j"], size, size_square]
    most = decide(ge(HIGH(j) * height(j.term), P), *parts)
    most = add_up(decide(ge((HIGH(j) * height(j.term) - P) * M_J, 0), far, most), j)
    rate = c["the step is positive"]
    short = decide(
        ge(MOST, RATE * GROWN),
        *(c["rho is e times the sum of C_j h_j M_j"], most, rate),
    )
    return Pulled(gains, forward, turned, aside, short)


@dataclass(frozen=True, slots=True)
class Stays:
    """Descent stays in I."""

    within: Fact  # ||E||^2 is at most w^2 + B (a - sigma) at all steps
    moves: Fact  # a step e adds e g/n to a
    # heavy, gains, forward: the facts of `Pulled`, and P >= kappa exp(-a), at all steps
    heavy: Fact
    gains: Fact
    forward: Fact
    spread: Fact  # B is not negative


def kept(on: Largest, of: Signs, heavy: Fact, pull: Pulled) -> Stays:
    """Prove that a step from I ends in I, so that descent never leaves it."""
    c = on.tip.cone
    after, rate = {K: K.term + 1}, c["the step is positive"]
    G = total(P * A(j), j)
    step, frame = c["a step adds e sum_j p_j A_j"], c["W is a V + E with E across V"]
    later = at(frame, after)
    A_ = substituted(ALONG, after)
    moves = decide(eq(SQUARE * (A_ - ALONG), RATE * GROWN), frame, later, at(step, {M: V}))
    # the growth of ||E||^2 in a step
    to = [at(step, {M: X_}) for X_ in (NEXT, HERE, G)]
    grown = decide(
        eq(NEXT @ NEXT, HERE @ HERE + 2 * RATE * (G @ HERE) + RATE**2 * (G @ G)),
        *(to[0], to[1], scale(to[2], RATE)),
        degree=1,
    )
    away, away_ = AWAY, substituted(AWAY, after)
    H = total(P * ACROSS, j)
    parts = [grown, scale(frame, ALONG), scale(later, A_), scale(moves, A_), scale(moves, ALONG)]
    parts += [
        scale(moves, INV(SQUARE) * RATE * GROWN),
        scale(c.unit, (A_ - ALONG) * RATE * GROWN),
        scale(c.unit, INV(SQUARE) * GROWN**2 * RATE**2),
    ]
    change = decide(eq(away_ - away, 2 * RATE * TURNED + RATE**2 * (H @ H)), *parts, degree=1)
    ahead = decide(ge(RATE * GROWN, 0), rate, pull.forward)
    spread_is = c["B is n (2 R/(1 - D) + K^2 rho)"]
    aside = product(pull.aside, square(RATE))
    across = product(product(ahead, pull.short), square(SIDE))
    along_ = product(pull.turned, decide(ge(RATE, 0), rate))
    parts = [
        change,
        aside,
        across,
        along_,
        scale(spread_is, A_ - ALONG),
        scale(moves, 2 * TURN + SIDE**2 * MOST),
    ]
    wider = decide(ge(SPREAD * (A_ - ALONG), away_ - away), *parts, degree=1)
    further = decide(ge(A_, SIGMA), moves, ahead, c.some, c.above)
    # both conditions of I as one inequality, for the induction
    lacks = SIGMA - ALONG, AWAY - ROOF
    claim = ge(0, MAXIMUM(*lacks))
    holds = assume(claim)
    up, up_, _ = cite(LARGER, (), *lacks)
    inside = [decide(ge(ALONG, SIGMA), holds, up), decide(ge(ROOF, AWAY), holds, up_)]
    tops = [substituted(x, after) for x in lacks]
    larger = cite(LARGER, (), *tops)[2]
    next_ = cut(decide(claim.at(after), larger, further, wider, c.within), *inside)
    zero = {K: as_term(0)}
    first = [substituted(x, zero) for x in lacks]
    begun = decide(claim.at(zero), cite(LARGER, (), *first)[2], start_within(on.tip))
    always = induction(claim, begun, next_)
    up, up_, _ = cite(LARGER, (), *lacks)
    inside = [decide(ge(ALONG, SIGMA), always, up), decide(ge(ROOF, AWAY), always, up_)]
    pushed, gains, forward = (cut(x, *inside) for x in (heavy, pull.gains, pull.forward))
    return Stays(inside[1], moves, pushed, gains, forward, of.spread)


def start_within(tip: Tip) -> Fact:
    """Return that ||E||^2 is at most w^2 at the start."""
    away, (size, size_square) = W(0) - SIGMA * V, cite(LENGTH, (), W(0) - SIGMA * V)
    return decide(ge(WIDE**2, away @ away), tip.start, size, size_square)


def conclude_limit(nearby: bool = False) -> None:
    """Conclude that the direction of W tends to that of V, from starts in the cone.

    Args:
        nearby: whether the start is supposed to be at a small angle to V, and not in the cone of s.
    """
    claim = present((letters.converges_nearby if nearby else letters.converges)(), "a claim")
    c = framed(nearby)
    on = largest(tip_of(c))
    rates = coefficients(on)
    of = signs(on.tip, rates)
    push = pushes(on, of)
    sized(on, rates, of, push.theirs)
    together(on, of, push)
    heavy, kappa = push.heavy, of.kappa
    stays = kept(on, of, heavy, pulled(on, of, heavy))
    room, rate, b = c["D < 1"], c["the step is positive"], bound.term
    # a tends to infinity
    near = assume(ge(b, ALONG))
    powers = powers_rise(-b, -ALONG, near)
    gain = RATE * INV(SQUARE) * ROOM * KAPPA * EXP(-b)
    step = decide(gt(RATE * INV(SQUARE), 0), rate, c.inverse)
    rest = decide(gt(ROOM * KAPPA, 0), room, kappa)
    after = substituted(ALONG, {K: K.term + 1})
    moved = decide(
        eq(after, ALONG + RATE * INV(SQUARE) * GROWN),
        *(scale(stays.moves, INV(SQUARE)), scale(c.unit, after - ALONG)),
    )
    ahead = decide(ge(after, ALONG), moved, step, stays.forward)
    parts = [
        product(decide(ge(ROOM * KAPPA, 0), rest), powers),
        product(decide(ge(ROOM, 0), room), stays.heavy),
        stays.gains,
    ]
    grown = decide(ge(GROWN, ROOM * KAPPA * EXP(-b)), *parts, degree=1)
    grows = decide(ge(after, ALONG + gain), moved, step, grown)
    some_ = decide(
        gt(gain, 0), decide(gt(RATE * INV(SQUARE) * ROOM * KAPPA, 0), step, rest), power(-b)
    )
    (far,) = cite(FINITELY_OFTEN, [ahead, some_, grows, near], ALONG, gain, b, near.proposition)
    # ||E||^2 is at most (w^2 + B) a in the end, and so at most 2 off n a^2
    most, size = WIDE**2 + SPREAD, positive(off)
    whole = 2 * off.term * SQUARE
    one = at(far, {bound: 1}, decide(gt(1, 0)))
    enough = decide(gt(most + 1, 0), square(WIDE), stays.spread)
    late = outgrows(far, bound, decide(gt(whole, 0), size, c.some), enough)
    small = decide(
        ev(ge(whole * ALONG**2, AWAY)),
        *(stays.within, stays.spread, c["sigma is positive"], square(WIDE), late, one),
    )
    frame = c["W is a V + E with E across V"]
    N, y, along_ = NORM(V), NORM(HERE), HERE @ V
    _, y_square = cite(LENGTH, (), HERE)
    more = 1 + off.term
    parts = [small, scale(frame, ALONG), square(off.term * ALONG * N)]
    long = decide(
        ev(ge(more**2 * ALONG**2 * SQUARE, HERE @ HERE)),
        *parts,
        scale(c.square, off.term**2 * ALONG**2),
    )
    forward = decide(ev(gt(along_, 0)), frame, one, c.some)
    parts = [
        scale(frame, more**2 * (ALONG * SQUARE + along_)),
        scale(c.square, y**2),
        scale(y_square, SQUARE),
    ]
    long = decide(
        ev(ge((more * along_) ** 2, (N * y) ** 2)),
        *parts,
        decide(ev(ge(SQUARE * (more**2 * ALONG**2 * SQUARE - HERE @ HERE), 0)), long, c.some),
        degree=1,
    )
    turned = decide(
        ev(ge(more * along_, N * y)), long, decide(ev(gt(more * along_, 0)), forward, size)
    )
    (reach,) = cite(CAUCHY_SCHWARZ, (), HERE, V)
    far = decide(ev(gt(y, 0)), reach, forward, c.size)
    conclude_each(claim, c.size, far, turned)
