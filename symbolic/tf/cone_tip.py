"""Bounds on a cone by its tip: steps of the linked proof that descent stays in it.

The letters are those of `properties._support.cone_letters`. The set I has a >= sigma and ||E||^2 <=
w^2 + B (a - sigma), for the width w of the start and the B of the radius. On I, 2 w ||E|| <= 2 w^2
+ B (a - sigma). Suppose that r B <= 2 Q c. As w >= Q, r ||E|| - a c is then largest at the tip of
I, where a = sigma and ||E|| = w. There it is at most r Q - radius c, its value for a start at the
radius.
"""

from __future__ import annotations

from dataclasses import dataclass

from attsvm.primitives.descent_letters import (
    BEST,
    DOWN,
    FALL,
    GAMMA,
    NUMBER,
    OWNER,
    RATE,
    RIVAL,
    A,
    M,
    V,
    W,
    X,
    i,
    j,
    lead,
    margin,
    other,
    x,
    y,
)
from attsvm.primitives.programme_letters import MULTIPLIERS, WEIGHT
from attsvm.theory.proof.facts import Fact, K, eq, ge, gt
from attsvm.theory.proof.lemmas import (
    CAUCHY_SCHWARZ,
    EXPONENTIAL,
    EXPONENTIAL_OF_SUM,
    INDICATOR,
    LARGER,
    LENGTH,
    LOGARITHM,
    RECIPROCAL,
    SIZE,
)
from attsvm.theory.proof.linked import setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    attained,
    beyond,
    by_definition,
    cases,
    cite,
    cut,
    decide,
    scale,
    square,
)
from attsvm.theory.proof.terms import (
    ABS,
    EXP,
    INV,
    IS_ZERO,
    LOG,
    MAXIMUM,
    NORM,
    Letter,
    Term,
    as_term,
    same,
    substituted,
    total,
)
from properties._support import cones
from properties._support.cone_letters import (
    ACROSS,
    ALONE,
    ALONG,
    AWAY,
    BACK,
    BAD,
    FACTOR,
    GOOD,
    HERE,
    HIGH,
    KAPPA,
    KIND,
    LEAN,
    LEANING,
    LOOSE,
    LOW,
    M_J,
    MEAN,
    MINOR,
    MOST,
    MU,
    NARROW,
    NEAR,
    NEARBY,
    P_J,
    RADIUS,
    REACH,
    SETTING,
    SHARE,
    SHIFT,
    SIDE,
    SIGMA,
    SLACK,
    SPREAD,
    SQUARE,
    STEEP,
    STEEPEST,
    SUM,
    TIGHT,
    TURN,
    WIDER,
    WIDTH,
    E,
    P,
    over_own,
)
from properties._support.cone_letters import top as height
from symbolic.attention_facts import MINE, THEIRS, Mixing, mixing, moves, r
from symbolic.facts import (
    against,
    exponents_rise,
    power,
    powers_rise,
    product,
    size_at_most,
    tangent,
)

AWAY_AT_START = NORM(W(0) - SIGMA * V)
WIDE = MAXIMUM(WIDTH * SIGMA * INV(RADIUS), AWAY_AT_START)
"""The width w of I."""
ROOF = WIDE**2 + SPREAD * (ALONG - SIGMA)
Y = NORM(E)


@dataclass(frozen=True, slots=True)
class Cone:
    """Facts on the cone."""

    known: dict[str, Fact]  # facts by their words, such as those of the setting
    size: Fact  # ||V|| > 0
    square: Fact  # ||V||^2 = <V, V>
    some: Fact  # <V, V> > 0
    unit: Fact  # unit, inverse: <V, V> times its reciprocal is 1; the reciprocal is positive
    inverse: Fact
    good: Fact  # good, bad: GOOD and 1 - GOOD are at least 0
    bad: Fact
    above: Fact  # a is at least sigma, where W(k) is in I
    within: Fact  # ||E||^2 is at most w^2 + B (a - sigma) there

    def __getitem__(self, words: str) -> Fact:
        """Return the fact with these words."""
        return self.known[words]


def nonneg(fact: Fact) -> Fact:
    """Return that a positive number is at least 0."""
    return decide(ge(fact.proposition.term, 0), fact)


def framed(nearby: bool) -> Cone:
    """Take what is supposed, and prove the sizes of V, and signs.

    Args:
        nearby: whether the start is supposed to be at a small angle to V, and not in the cone of s.
    """
    of_moves = DOWN, "the step is positive"
    known = {words: setting(SETTING, words) for words in SETTING if words not in of_moves}
    meets, some_, ahead = suppose(cones.OPTIMAL)
    forward, near = suppose(cones.NEAR if nearby else cones.CONE)
    if nearby:
        half, far, *conditions = suppose(cones.LENGTH)
        share, below = decide(gt(SHARE, 0), half), decide(gt(1, SHARE), half)
        known["s is 1/2"] = half
        known["q is positive"] = setting(NEARBY, "q is positive")
        known["q is small"] = setting(
            NEARBY, "q is at most half of the reciprocal of the largest r_j/c_j"
        )
    else:
        share, below, far, *conditions = suppose(cones.RADIUS)
    positive_, low, room, bent, *rest = conditions
    known |= {
        "V has margins of at least 1": meets,
        "there is a pair": some_,
        "alpha scores above rivals of margin 1": ahead,
        "sigma is positive": forward,
        "the start is near": near,
        "s is positive": share,
        "s is below 1": below,
        "the radius is positive": positive_,
        "W is long": far,
        "c_j is positive for good pairs": low,
        "D < 1": room,
        "r_j B <= 2 Q M_j": bent,
        "far behind": rest[0],
        "bent behind": rest[1],
        "far above": rest[2],
        "bent above": rest[3],
        "far below": rest[4],
        "bent below": rest[5],
    }
    (reach,), (length, _) = cite(CAUCHY_SCHWARZ, (), A(j), V), cite(LENGTH, (), A(j))
    size = decide(gt(NORM(V), 0), meets, reach, length, some_)
    _, of_norm = cite(LENGTH, (), V)
    some = decide(gt(SQUARE, 0), of_norm, size)
    unit, inverse = cite(RECIPROCAL, [some], SQUARE)
    known["sigma is at least the radius"] = far_out(known, some) if nearby else far
    condition, goal = gt(lead(j.term), 0), eq(GOOD(j) ** 2, GOOD(j))
    one = decide(goal, known["good is 1 for a rival that scores below alpha"])
    none = decide(goal, known["else it is 0"])
    either = cases(one, none, condition)
    known["a pair is good or not"] = either
    good = decide(ge(GOOD(j), 0), either)
    bad = decide(ge(BAD, 0), either)
    above, within = (assume(z) for z in (ge(ALONG, SIGMA), ge(ROOF, AWAY)))
    return Cone(known, size, of_norm, some, unit, inverse, good, bad, above, within)


def far_out(known: dict[str, Fact], some: Fact) -> Fact:
    """Return that sigma is at least the radius, as ||W||^2 is at least (N^2 + q^2) its square."""
    away, turned = W(0) - SIGMA * V, SQUARE + NARROW**2
    near, length = known["the start is near"], cite(LENGTH, (), away)
    frame = scale(at(known["W is a V + E with E across V"], {K: as_term(0)}), SIGMA)
    narrow = decide(ge((SIGMA * NARROW) ** 2, away @ away), near, *length)
    longer = decide(ge(SIGMA**2 * turned, RADIUS**2 * turned), narrow, known["W is long"], frame)
    wide = decide(gt(turned, 0), some, known["q is positive"])
    more = decide(ge(SIGMA**2, RADIUS**2), longer, wide)
    return decide(ge(SIGMA, RADIUS), more, known["sigma is positive"])


def rival_of(term: Term) -> Term:
    """Return a term about the rival j as one about the rival t of `over_own`."""
    return substituted(term, {j: Letter("t", RIVAL).term})


BASE = WIDTH * SIGMA * INV(RADIUS)
EXTRA = WIDE - BASE


@dataclass(frozen=True, slots=True)
class Tip:
    """The width of I."""

    cone: Cone  # the cone
    width: Fact  # Q is positive
    wider: Fact  # w is at least Q
    ratio: Fact  # sigma divided by the radius is at least 1
    reach: Fact  # r_j is at least 0
    start: Fact  # ||E|| at the start is at most w
    alike: Fact  # alike, alike_: r_j (w - Q sigma/radius) is at most 0; the same of R_j
    alike_: Fact
    lean: Fact  # R_j is at least 0
    slack: Fact  # c_j of the claim is positive
    room: Fact  # r_j Q is at most the radius times M_j
    unit: Fact  # the radius times its reciprocal is 1


def tip_of(c: Cone) -> Tip:
    """Prove the width of I: r_j w = r_j Q sigma/radius for all j, and E is in I at the start."""
    meets, positive_ = c["V has margins of at least 1"], c["the radius is positive"]
    unit, inverse = cite(RECIPROCAL, [positive_], RADIUS)
    ratio = decide(ge(SIGMA * INV(RADIUS), 1), inverse, c["sigma is at least the radius"], unit)
    # s <= s' < 1
    wider_is, part, less = (
        c[words]
        for words in (
            "s' is s and a part of what is left to 1",
            "the part is at least 0",
            "and below 1",
        )
    )
    share, below = c["s is positive"], c["s is below 1"]
    up = decide(ge(WIDER, SHARE), wider_is, part, below)
    some_wider = decide(gt(WIDER, 0), up, share)
    # c_j of the claim is positive
    condition = gt(lead(j.term), 0)
    yes, no = assume(condition), assume(condition.denied())
    one = cut(c["good is 1 for a rival that scores below alpha"], yes)
    none = cut(c["else it is 0"], no)
    beyond_ = gt(M_J, 1)
    more, tight = assume(beyond_), assume(beyond_.denied())
    even = cut(c["alpha scores above rivals of margin 1"], decide(eq(M_J, 1), tight, meets))
    goal = gt(SLACK, 0)
    refuted = decide(goal, even, no)
    slack = cases(
        decide(goal, one, meets), cases(decide(goal, none, more), refuted, beyond_), condition
    )
    # r_j over it
    size, size_is = cite(LENGTH, (), ACROSS)[0], c["r_j is the norm of A_j less its part along V"]
    reach = decide(ge(REACH(j), 0), size, size_is)
    unit_, inverse_ = cite(RECIPROCAL, [slack], SLACK)
    body = REACH(j) * INV(SLACK)
    pick, reached = attained("steepest", STEEP, c["there is a pair"])
    steepest = beyond("most", body, j)
    near, goal = c["the start is near"], ge(SHARE * SIGMA, STEEP * AWAY_AT_START)
    if "q is small" in c.known:
        sign = product(at(product(reach, inverse_), {j: pick()}), near)
        narrow = product(c["q is small"], nonneg(c["sigma is positive"]))
        signs = sign, narrow, scale(reached, near.proposition.term), scale(c["s is 1/2"], SIGMA)
        near = decide(goal, *signs)
    else:
        over = inverse_, near, scale(unit_, SHARE * SIGMA)
        near = decide(ge(SHARE * SIGMA, body * AWAY_AT_START), *over)
        near = decide(goal, at(near, {j: pick()}), scale(reached, AWAY_AT_START))
    # Q is positive, and w is Q sigma/radius if some r_j is not 0
    condition = gt(STEEP, 0)
    yes, no = assume(condition), assume(condition.denied())
    wide = cut(c["Q is s' times the radius over the largest r_j/c_j"], yes)
    flat = cut(c["or s', if all r_j are 0"], no)
    goal = gt(WIDTH, 0)
    there = decide(goal, wide, yes, some_wider, positive_)
    width = cases(there, decide(goal, flat, some_wider), condition)
    first, start, either = cite(LARGER, (), BASE, AWAY_AT_START)
    sign = nonneg(c["sigma is positive"])
    inside = decide(
        ge(BASE, AWAY_AT_START),
        *(scale(wide, SIGMA * INV(RADIUS)), scale(unit, WIDER * SIGMA), near, yes),
        product(up, sign),
    )
    none = decide(ge(BASE, WIDE), either, inside)
    goal = ge(0, REACH(j) * EXTRA)
    steep_ = product(reach, none)
    gone = decide(ge(0, REACH(j)), steepest, no, slack, scale(unit_, REACH(j)))
    alike = cases(steep_, product(gone, first), condition)
    # R_j is at most r_j plus the mean of the r_t
    L, own = LEANING - (LEANING @ V) * INV(SQUARE) * V, MU(j, other)
    (length, length_square), lean_is = (
        cite(LENGTH, (), L),
        c["R_j is the norm of A_j - A(mu) less its part along V"],
    )
    theirs = {j: other}
    far = substituted(ACROSS, {j: other.term})
    (mine,) = cite(CAUCHY_SCHWARZ, (), ACROSS, L)
    mine = decide(ge(REACH(j) * NORM(L), ACROSS @ L), mine, scale(size_is, NORM(L)))
    others = decide(
        ge(REACH(other) * NORM(L), -(far @ L)), against(far, L), scale(at(size_is, theirs), NORM(L))
    )
    weight = c["weights mu are not negative"]
    others = add_up(product(weight, others), other)
    reaches = REACH(j) + total(own * REACH(other), other)
    bound_ = decide(
        ge(reaches, NORM(L)),
        *(mine, others, length_square, reach, add_up(product(weight, at(reach, theirs)), other)),
    )
    bound_ = decide(ge(reaches, LEAN(j)), bound_, lean_is)
    idle = add_up(product(weight, at(alike, theirs)), other)
    parts = [product(first, bound_), idle, alike]
    alike_ = decide(ge(0, LEAN(j) * EXTRA), *parts, degree=1)
    lean = decide(ge(LEAN(j), 0), length, lean_is)
    # r_j Q is at most the radius times M_j
    goal = ge(RADIUS * M_J, REACH(j) * WIDTH)
    flat_ = scale(decide(eq(REACH(j), 0), gone, reach), WIDTH)
    idle = decide(goal, flat_, positive_, meets)
    large = decide(
        ge(RADIUS, body * WIDTH),
        *(steepest, width, wide, decide(ge(1 - WIDER, 0), wider_is, less, below), positive_),
    )
    large = decide(
        ge(RADIUS * SLACK, REACH(j) * WIDTH),
        *(large, slack, scale(unit_, REACH(j) * WIDTH)),
    )
    large = decide(goal, large, c.bad, positive_)
    room = cases(large, idle, condition)
    wider = decide(ge(WIDE, WIDTH), first, width, ratio)
    return Tip(c, width, wider, ratio, reach, start, alike, alike_, lean, slack, room, unit)


@dataclass(frozen=True, slots=True)
class Largest:
    """Facts on I for the bounds of exponentials."""

    tip: Tip  # the width of I
    y: Fact  # ||E|| is at least 0
    bent: Fact  # 2 w ||E|| is at most 2 w^2 + B (a - sigma)
    further: Fact  # a is at least sigma


def largest(tip: Tip) -> Largest:
    """Prove bounds of ||E|| on I."""
    c = tip.cone
    y_sign, y_square = cite(LENGTH, (), E)
    bent = decide(
        ge(2 * WIDE**2 + SPREAD * (ALONG - SIGMA), 2 * WIDE * Y),
        *(c.within, y_square, square(Y - WIDE)),
    )
    return Largest(tip, y_sign, bent, c.above)


def exponent(
    on: Largest, r: Fact, c_: Term, above: Fact, bent: Fact, far: Fact, alike: Fact
) -> Fact:
    """Prove that r ||E|| - a c is at most r Q - radius c on I.

    Args:
        on: facts on I.
        r: a number r is at least 0.
        c_: the number c.
        above: it is at least 0.
        bent: r B is at most 2 Q c.
        far: r Q is at most the radius times c.
        alike: r (w - Q sigma/radius) is at most 0.
    """
    tip, r_ = on.tip, r.proposition.term
    shift = ALONG - SIGMA
    # r ||E|| <= r w + c (a - sigma)
    parts = [product(r, on.bent), product(bent, on.further)]
    parts += [product(tip.wider, above, on.further)]
    w = decide(gt(WIDE, 0), tip.wider, tip.width)
    low = decide(ge(r_ * WIDE + c_ * shift, r_ * Y), *parts, w)
    parts = [low, alike, tip.ratio, far, scale(tip.unit, SIGMA * c_)]
    return decide(ge(r_ * WIDTH - RADIUS * c_, r_ * Y - ALONG * c_), *parts)


def heights(on: Largest) -> Fact:
    """Prove that exp(-m_j) is at most h_j on I."""
    tip, c = on.tip, on.tip.cone
    meets = decide(ge(M_J, 0), c["V has margins of at least 1"])
    bent = c["r_j B <= 2 Q M_j"]
    top_ = exponent(on, tip.reach, M_J, meets, bent, tip.room, tip.alike)
    size_is = c["r_j is the norm of A_j less its part along V"]
    frame = c["W is a V + E with E across V"]
    low = decide(
        ge(REACH(j) * WIDTH - RADIUS * M_J, -margin(j.term, HERE)),
        *(top_, against(ACROSS, E), scale(size_is, Y), scale(frame, M_J * INV(SQUARE))),
    )
    return powers_rise(-margin(j.term, HERE), REACH(j) * WIDTH - RADIUS * M_J, low)


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Attention, and p_j exp(m_j), on I."""

    mix: Mixing  # attention and outputs
    powers: Fact  # exp(-m_j) is at most h_j
    share: Fact  # attention to a rival is at most h_j
    missing: Fact  # the best score minus the output is sum_j s_j lead_j
    s: Fact  # attention to a rival is at least 0
    whole: Fact  # attention to the token of alpha is at most 1
    spelled: Fact  # p_j is its coefficient times exp(-m_j)
    slope: tuple[Fact, Fact]  # |l'|/n is at most L_j, both ways
    steep: Fact  # L_j is at least 0


def coefficients(on: Largest) -> Coefficients:
    """Prove the bounds of p_j exp(m_j) on I, and add them to the facts of the cone."""
    c, a, own = on.tip.cone, mixing(), OWNER(j)
    step = moves(a)
    known = c.known
    known["the step is positive"] = step.rate
    is_p = known["p_j is the coefficient of A_j in -grad L"]
    same_ = by_definition(eq(P, step.p(j, K)), [step.p_is, *a.means], is_p)
    moved = decide(
        eq(W(K.term + 1) @ M.term, HERE @ M.term + RATE * total(P * (A(j) @ M.term), j)),
        *(step.grown, scale(add_up(scale(same_, A(j) @ M.term), j), RATE)),
    )
    known["a step adds e sum_j p_j A_j"] = moved
    # attention
    powers, u, s_o = heights(on), a.u(own, K), a.s_o(own, K)
    s_o_positive = by_definition(gt(a.s_o(i, K), 0), [a.means[1]], a.inverse)
    s_positive = decide(ge(a.s(j, K), 0), a.means[2], at(s_o_positive, {i: own}), a.power)
    whole = decide(ge(1, a.s_o(i, K)), a.one, add_up(s_positive, j, THEIRS))
    share = decide(ge(height(j.term), a.s(j, K)), a.means[2], powers, at(whole, {i: own}), a.power)
    missing = decide(
        eq(BEST(i) - a.u(i, K), total(a.s(j, K) * lead(j.term), j, THEIRS)),
        *(a.mean, scale(a.one, BEST(i))),
    )
    missing = at(missing, {i: own})
    # the ranges of u and y
    ends = []
    for sign in (1, -1):
        above, positive_, _ = cite(LARGER, (), sign * lead(j.term), as_term(0))
        lost = above.proposition.term + sign * lead(j.term)
        each = decide(
            ge(height(j.term) * lost, sign * a.s(j, K) * lead(j.term)),
            *(s_positive, above, share, positive_),
        )
        each = decide(
            ge(over_own(rival_of(height(j.term) * lost), own), sign * (BEST(own) - u)),
            *(add_up(at(each, {j: r}), r, MINE), missing),
        )
        ends.append((each, positive_))
    part = decide(
        ge(s_o * height(j.term), a.s(j, K)), a.means[2], at(s_o_positive, {i: own}), powers
    )
    part = add_up(at(part, {j: r}), r, MINE)
    heights_ = over_own(rival_of(height(j.term)), own)
    part = decide(ge(s_o * (1 + heights_), 1), part, at(a.one, {i: own}))
    at_output = {x: BEST(own) - u, y: s_o}
    within = [ends[0][0], ends[1][0], at(whole, {i: own}), part]
    # the same ranges hold 0 and 1
    sums = [
        add_up(at(product(power(REACH(j) * WIDTH - RADIUS * M_J), fact), {j: r}), r, MINE)
        for _, fact in ends
    ]
    sums.append(add_up(at(power(REACH(j) * WIDTH - RADIUS * M_J), {j: r}), r, MINE))
    at_zero = {x: as_term(0), y: as_term(1)}
    still = [*sums[:2], decide(ge(1, 1)), sums[2]]
    low, high, back = (
        c[words] for words in ("no value is below c_j", "nor above C_j", "nor below -C_j")
    )
    values = [cut(at(fact, at_output), *within) for fact in (low, high, back)]
    high_sign = decide(ge(HIGH(j), 0), *(cut(at(fact, at_zero), *still) for fact in (high, back)))
    slopes = [c[words] for words in ("no |l'|/n is above L_j", "nor below -L_j")]
    steep_sign = decide(ge(STEEPEST(j), 0), *(cut(at(fact, at_zero), *still) for fact in slopes))
    slopes = [cut(at(fact, at_output), *within) for fact in slopes]
    value, e = FALL(u) * s_o * (u - GAMMA(j)) * INV(NUMBER), EXP(-margin(j.term, HERE))
    spelled = by_definition(eq(P, value * e), [a.means[0], a.means[1]], is_p)
    known["p_j >= c_j exp(-m_j) for good pairs"] = decide(
        ge(GOOD(j) * (P - LOW(j) * e), 0),
        *(product(c.good, values[0], a.power), scale(spelled, GOOD(j))),
        degree=1,
    )
    known["p_j <= C_j exp(-m_j) for these"] = decide(
        ge(GOOD(j) * (HIGH(j) * e - P), 0),
        *(product(c.good, values[1], a.power), scale(spelled, GOOD(j))),
        degree=1,
    )
    known["C_j is not negative"] = high_sign
    known["c_j <= C_j"] = decide(
        ge(HIGH(j), LOW(j)), *(cut(at(fact, at_zero), *still) for fact in (low, high))
    )
    up = decide(ge(HIGH(j) * e, P), values[1], a.power, spelled)
    down = decide(ge(HIGH(j) * e, -P), values[2], a.power, spelled)
    known["|p_j| <= C_j exp(-m_j)"] = large = size_at_most(up, down, P, HIGH(j) * e)
    known["|p_j| <= C_j h_j"] = decide(
        ge(HIGH(j) * height(j.term), ABS(P)), large, high_sign, powers
    )
    known["h_j is not negative"] = nonneg(power(REACH(j) * WIDTH - RADIUS * M_J))
    return Coefficients(
        a, powers, share, missing, s_positive, whole, spelled, (slopes[0], slopes[1]), steep_sign
    )


def near_one(t: Letter) -> tuple[Fact, Fact, Fact]:
    """Return that the indicator of margin 1 is 1 there, and that it is at least 0 and at most 1."""
    one, _, _, low, high = cite(INDICATOR, (), A(t) @ V - 1)
    return one, low, high


@dataclass(frozen=True, slots=True)
class Means:
    """Weights of sum 1, or the multipliers, on rivals of margin 1."""

    t: Letter  # the letter of the rival
    weight: Fact  # weight, tight: the weight is at least 0, and 0 unless the margin is 1
    tight: Fact
    mean: Term  # a term, the mean of ln(c_t/w_t)


def weighted(c: Cone, w_: Means, base: Term, low_: Fact, sign: Fact, pushed: Fact) -> Fact:
    """Prove that p_t >= w_t exp(b + mean) (1 + x) for good t of margin 1, with exp(x) >= 1 + x.

    Here x is ln(c_t/w_t) - mean - a - e_t - b, for a number b. For other t the left side is 0 or
    more, and the right side 0.

    Args:
        c: the cone.
        w_: the weights.
        base: the number b.
        low_: c_t is positive for a good rival t.
        sign: p_t is at least 0 for it.
        pushed: p_t is at least c_t exp(-m_t).
    """
    t, w, mean = w_.t, w_.weight.proposition.term, w_.mean
    there = {} if t == j else {j: t.term}
    good, size, low, m = GOOD(t), P_J(t, K), LOW(t), A(t) @ V
    s, z, near = LOG(low * INV(w)), -margin(t.term, HERE), IS_ZERO(m - 1)
    rest = z + ALONG * m - ALONG  # -a - e_t
    x_ = s - mean + rest - base
    heavy = EXP(base) * EXP(mean)
    goal, condition = ge(good * near * size, w * heavy * (1 + x_)), gt(w, 0)
    yes, no = assume(condition), assume(condition.denied())
    is_near, near_sign, _ = near_one(t)
    none = scale(decide(eq(w, 0), w_.weight, no), heavy * (1 + x_))
    idle = decide(goal, sign, near_sign, none)
    # a rival with a positive weight is good and has the margin 1
    one = decide(eq(m, 1), w_.tight, yes)
    words = "alpha scores above rivals of margin 1", "good is 1 for a rival that scores below alpha"
    ahead, is_good = (at(c[x], there) if there else c[x] for x in words)
    ahead = cut(ahead, one)
    chosen, near_is = cut(is_good, ahead), cut(is_near, one)
    low_ = cut(low_, ahead)
    unit, inverse = cite(RECIPROCAL, [yes], w)
    (is_log,) = cite(LOGARITHM, [decide(gt(low * INV(w), 0), low_, inverse)], low * INV(w))
    rises = powers_rise(rest, z, decide(ge(z, rest), scale(one, ALONG)))
    pairs = (mean, x_), (base, s + rest - base), (s, rest)
    laws = [cite(EXPONENTIAL_OF_SUM, (), *pair)[0] for pair in pairs]
    parts = [scale(law, factor) for law, factor in zip(laws, (w * EXP(base), w, w), strict=True)]
    parts += [scale(is_log, w * EXP(rest)), scale(unit, low * EXP(rest))]
    spelled = decide(eq(w * heavy * EXP(x_), low * EXP(rest)), *parts, degree=1)
    some_ = decide(gt(heavy, 0), power(base), power(mean))
    some_ = decide(ge(w * heavy, 0), yes, some_)
    under = product(some_, cite(EXPONENTIAL, (), x_)[1])
    parts = [pushed, scale(chosen, low * EXP(z)), scale(near_is, good * size)]
    parts += [product(low_, rises), under, spelled]
    busy = decide(goal, *parts, degree=1)
    return cases(busy, idle, condition)


def positive_part(c: Cone) -> Fact:
    """Return that p_j is not negative on I if the pair is good."""
    condition = gt(lead(j.term), 0)
    yes, no = assume(condition), assume(condition.denied())
    pushed = c["p_j >= c_j exp(-m_j) for good pairs"]
    goal = ge(GOOD(j) * P, 0)
    none = scale(cut(c["else it is 0"], no), P)
    some_ = product(
        c.good, cut(c["c_j is positive for good pairs"], yes), power(-margin(j.term, HERE))
    )
    return cases(decide(goal, pushed, some_), decide(goal, none), condition)


@dataclass(frozen=True, slots=True)
class Condition:
    """Condition 2 and the second part of 4 in docs/proofs/cones.md, for a pair (c, r)."""

    r: Fact  # the number r is at least 0
    c: Term  # the number c, and that it is at least 0
    above: Fact
    far: Fact  # r Q is at most the radius times c, less 1
    bent: Fact  # (r + 1/Q) B is at most 2 Q c, times Q
    alike: Fact  # r (w - Q sigma/radius) is at most 0


def plain(on: Largest, one: Condition, spread: Fact) -> Fact:
    """Prove that r ||E|| - a c is at most r Q - radius c on I."""
    r_, width = one.r.proposition.term, on.tip.width
    bent = decide(ge(2 * WIDTH * one.c, r_ * SPREAD), one.bent, spread, width)
    far = decide(ge(RADIUS * one.c, r_ * WIDTH), one.far)
    return exponent(on, one.r, one.c, one.above, bent, far, one.alike)


def by_length(on: Largest, one: Condition, spread: Fact) -> Fact:
    """Prove that r_j ||E|| exp(r ||E|| - a c) is at most r_j Q exp(r Q - radius c) on I."""
    tip, r_, c_, q = on.tip, one.r.proposition.term, one.c, WIDE
    some_ = decide(gt(q, 0), tip.wider, tip.width)
    unit, inverse = cite(RECIPROCAL, [some_], q)
    z, grown, low = Y * INV(q) - 1, r_ * Y - ALONG * c_, r_ * WIDTH - RADIUS * c_
    line = cite(EXPONENTIAL, (), z)[1]
    (law,) = cite(EXPONENTIAL_OF_SUM, (), z, grown)
    line = decide(ge(q * EXP(z), Y), some_, line, scale(unit, Y))
    first = decide(ge(q * EXP(z + grown), Y * EXP(grown)), line, power(grown), scale(law, q))
    # the exponent is largest at the tip
    parts = [product(square(q), one.bent), product(one.r, spread, tip.width, some_, tip.wider)]
    parts += [product(spread, tip.wider, decide(ge(q + WIDTH, 0), tip.width, tip.wider))]
    bent = decide(
        ge(2 * q**2 * c_, (r_ * q + 1) * SPREAD), *parts, decide(gt(WIDTH**2, 0), tip.width)
    )
    wide = decide(ge(r_ * q + 1, 0), one.r, some_)
    parts = [product(wide, on.bent), product(bent, on.further)]
    top_ = decide(ge(q * ((r_ * q + 1) + c_ * (ALONG - SIGMA)), (r_ * q + 1) * Y), *parts, some_)
    parts = [
        product(top_, inverse),
        scale(unit, r_ * q + 1 + c_ * (ALONG - SIGMA)),
        scale(unit, r_ * Y),
    ]
    t = SIGMA * INV(RADIUS)
    top_ = powers_rise(
        z + grown,
        t * low,
        decide(ge(t * low, z + grown), *parts, one.alike, scale(tip.unit, SIGMA * c_)),
    )
    # t exp(t x) is at most exp(x), as x is at most -1
    (law,) = cite(EXPONENTIAL_OF_SUM, (), t * low, (1 - t) * low)
    line = cite(EXPONENTIAL, (), (1 - t) * low)[1]
    line = decide(ge(EXP((1 - t) * low), t), line, tip.ratio, one.far)
    fall = decide(ge(EXP(low), t * EXP(t * low)), law, line, power(t * low))
    reach = REACH(j)
    parts = [product(tip.reach, first)]
    parts += [product(tip.reach, some_, top_)]
    parts += [product(tip.alike, power(t * low))]
    parts += [product(tip.reach, tip.width, fall)]
    return decide(ge(reach * WIDTH * EXP(low), reach * Y * EXP(grown)), *parts, degree=1)


@dataclass(frozen=True, slots=True)
class Signs:
    """Signs of the constants."""

    kappa: Fact  # kappa is positive
    held: Fact  # the multipliers add up to <V, V>
    minor: Fact  # d_j is at least 0 for pairs that are not good
    loose: Fact  # the indicator of loose pairs is at least 0
    back: Fact  # back, alone, tight, turn, most, spread: these are at least 0
    alone: Fact
    tight: Fact
    turn: Fact
    most: Fact
    spread: Fact
    whole: Fact  # S is at least kappa
    kind: Fact  # kind is at least 0


LOG_OF_SUM = LOG(SUM * INV(KAPPA))


def signs(tip: Tip, rates: Coefficients) -> Signs:
    """Prove the signs of the constants."""
    c = tip.cone
    weight, sums, tight = (c[words] for words in MULTIPLIERS)
    high = c["C_j is not negative"]
    is_kappa = c["kappa is n exp(mean)"]
    kappa = decide(gt(KAPPA, 0), is_kappa, c.some, power(MEAN))
    held = decide(eq(SQUARE, total(WEIGHT(j), j)), at(sums, {X: V}), add_up(tight, j))
    # d_j
    mu_power = power(total(MU(j, other) * LOG(LOW(other) * INV(MU(j, other))), other))
    heavy = power(LEAN(j) * WIDTH - RADIUS * (M_J - 1))
    is_minor = c["d_j is f_j exp(R_j Q - radius (M_j - 1))/kappa(mu)"]
    condition, further = gt(lead(j.term), 0), gt(-lead(j.term), 0)
    yes, no = assume(condition), assume(condition.denied())
    behind, level = assume(further), assume(further.denied())
    zero = decide(eq(lead(j.term), 0), no, level)
    lead_sign = cite(SIZE, (), lead(j.term))[0]
    all_ = product(lead_sign, power(REACH(j) * WIDTH - RADIUS * M_J))
    all_ = product(rates.steep, add_up(at(all_, {j: r}), r, MINE))
    fact = ge(FACTOR(j), 0)
    factor = cases(
        decide(fact, cut(c["f_j is C_j"], behind), high),
        decide(fact, cut(c["or L_j sum_t |lead_t| h_t, if the lead is 0"], zero), all_),
        further,
    )
    minor = decide(ge(MINOR(j), 0), is_minor, factor, heavy, mu_power)
    goal = ge(BAD * MINOR(j), 0)
    none = scale(cut(c["good is 1 for a rival that scores below alpha"], yes), MINOR(j))
    minor = cases(decide(goal, none), product(c.bad, minor), condition)
    back = decide(
        ge(BACK, 0),
        *(c["back is the sum of d_j r_j over other pairs"], add_up(product(minor, tip.reach), j)),
    )
    # loose pairs
    kind_is = c["kind is 0 or 1"]
    kind, kind_ = (
        decide(ge(KIND, 0), kind_is),
        decide(ge(1 - KIND, 0), kind_is),
    )
    _, near_sign, near_one_ = near_one(j)
    zero_reach = cite(INDICATOR, (), REACH(j))[4]
    part = decide(ge(1 - KIND * NEAR, 0), kind_, product(kind, near_one_))
    loose = product(zero_reach, part)
    top_ = power(-RADIUS * (M_J - 1) - 1)
    is_alone = c["alone is the sum of C_j exp(-radius (M_j - 1) - 1) over loose pairs"]
    alone = decide(ge(ALONE, 0), is_alone, add_up(product(c.good, loose, high, top_), j))
    # S is at least kappa
    w, s = WEIGHT(j), LOG(LOW(j) * INV(WEIGHT(j)))
    condition = gt(w, 0)
    yes, no = assume(condition), assume(condition.denied())
    goal = ge(GOOD(j) * NEAR * HIGH(j), w * EXP(MEAN) * (1 + s - MEAN))
    none = scale(decide(eq(w, 0), weight, no), EXP(MEAN) * (1 + s - MEAN))
    idle = decide(goal, product(c.good, near_sign, high), none, degree=1)
    ahead = cut(c["alpha scores above rivals of margin 1"], decide(eq(M_J, 1), tight, yes))
    chosen = cut(c["good is 1 for a rival that scores below alpha"], ahead)
    near_is = cut(near_one(j)[0], decide(eq(M_J - 1, 0), tight, yes))
    unit, inverse = cite(RECIPROCAL, [yes], w)
    low = cut(c["c_j is positive for good pairs"], ahead)
    (is_log,) = cite(LOGARITHM, [decide(gt(LOW(j) * INV(w), 0), low, inverse)], LOW(j) * INV(w))
    line = tangent(s, MEAN)
    parts = [product(yes, line), scale(is_log, w), scale(unit, LOW(j))]
    parts += [c["c_j <= C_j"], scale(chosen, HIGH(j) * NEAR), scale(near_is, HIGH(j))]
    each = add_up(cases(decide(goal, *parts, degree=1), idle, condition), j)
    mean = c["n times the mean is the sum of multipliers times ln(c_j/multiplier)"]
    is_sum = c["S is the sum of C_j over good pairs of margin 1"]
    parts = [each, is_sum, is_kappa, scale(held, EXP(MEAN) * (1 - MEAN)), scale(mean, EXP(MEAN))]
    whole = decide(ge(SUM, KAPPA), *parts, degree=1)
    unit, inverse = cite(RECIPROCAL, [kappa], KAPPA)
    ratio = decide(ge(SUM * INV(KAPPA), 1), whole, inverse, unit)
    (is_log,) = cite(LOGARITHM, [decide(gt(SUM * INV(KAPPA), 0), ratio)], SUM * INV(KAPPA))
    log_sign = decide(
        ge(LOG_OF_SUM, 0),
        *(ratio, is_log, tangent(as_term(0), LOG_OF_SUM)),
    )
    tight_ = decide(ge(TIGHT, 0), c["L is ln(S/kappa) or 0"], kind, log_sign)
    c.known["ln(S/kappa) is not negative"] = log_sign
    # R, rho and B
    parts = [tight_, product(alone, inverse), product(back, tip.width), c["D < 1"]]
    turn = decide(ge(TURN, 0), c["turn is R/(1 - D)"], *parts)
    meets = decide(ge(M_J, 0), c["V has margins of at least 1"])
    most = add_up(product(high, c["h_j is not negative"], meets), j)
    most = product(c["the step is positive"], most)
    most = decide(ge(MOST, 0), c["rho is e times the sum of C_j h_j M_j"], most)
    spread = decide(ge(2 * TURN + SIDE**2 * MOST, 0), most, square(SIDE), turn)
    spread = decide(ge(SPREAD, 0), c["B is n (2 R/(1 - D) + K^2 rho)"], spread, c.some)
    return Signs(kappa, held, minor, loose, back, alone, tight_, turn, most, spread, whole, kind)


FALLING = EXP(-ALONG)
GAINED = total(GOOD(j) * P * M_J, j)
"""P of the claim, a sum over good pairs."""
PUSHED = total(GOOD(j) * NEAR * P, j)
"""The sum of p_j over good pairs of margin 1."""
LEANED = total(MU(j, other) * (A(other) @ E), other)
"""<A(mu), E>."""
GAUGE = -ALONG - LEANED


@dataclass(frozen=True, slots=True)
class Pushes:
    """Bounds of P from below, on I."""

    own: Fact  # own, heavy: the sum over good pairs of margin 1, and P, are at least kappa exp(-a)
    heavy: Fact
    more: Fact  # P is at least this sum
    theirs: Fact  # P is at least kappa(mu) exp(-a - <A(mu), E>)


def pushes(on: Largest, of: Signs) -> Pushes:
    """Prove that P is at least kappa exp(-a), and kappa(mu) exp(-a - <A(mu), E>), on I."""
    c = on.tip.cone
    weight, sums, tight = (c[words] for words in MULTIPLIERS)
    c.known["p_j is not negative"] = sign = positive_part(c)
    words = (
        "c_j is positive for good pairs",
        "p_j is not negative",
        "p_j >= c_j exp(-m_j) for good pairs",
    )
    far = c["V has margins of at least 1"]
    at_most = near_one(j)[2]
    each = decide(ge(GOOD(j) * P * M_J, GOOD(j) * NEAR * P), sign, far, at_most)
    more = add_up(each, j)
    # by the multipliers
    facts = [c[name] for name in words]
    each = add_up(weighted(c, Means(j, weight, tight, MEAN), -ALONG, *facts), j)
    base = FALLING * EXP(MEAN)
    across = decide(
        eq(total(WEIGHT(j) * SHIFT, j), 0), at(sums, {X: E}), c["W is a V + E with E across V"]
    )
    mean = c["n times the mean is the sum of multipliers times ln(c_j/multiplier)"]
    parts = [each, scale(across, base), scale(mean, base), scale(of.held, base * (1 - MEAN))]
    own = decide(
        ge(PUSHED, KAPPA * FALLING), *parts, scale(c["kappa is n exp(mean)"], FALLING), degree=1
    )
    # by the weights mu
    mean_ = total(MU(j, other) * LOG(LOW(other) * INV(MU(j, other))), other)
    w_ = Means(other, c["weights mu are not negative"], c["they are on rivals of margin 1"], mean_)
    facts = [at(c[name], {j: other}) for name in words]
    each = add_up(weighted(c, w_, GAUGE, *facts), other)
    base = EXP(GAUGE) * EXP(mean_)
    parts = [each, scale(c["they add up to 1"], base * (1 - mean_ + LEANED))]
    heavy = decide(ge(GAINED, KAPPA * FALLING), own, more)
    return Pushes(own, heavy, more, decide(ge(GAINED, EXP(mean_) * EXP(GAUGE)), *parts, more))


Z_0 = LEAN(j) * WIDTH - RADIUS * (M_J - 1)
"""The exponent of d_j."""


def sized(on: Largest, rates: Coefficients, of: Signs, heavy: Fact) -> None:
    """Prove |p_j| <= d_j P and |p_j e_j| <= d_j r_j Q P for pairs that are not good, on I.

    The facts are added to those of the cone.
    """
    tip, c = on.tip, on.tip.cone
    e, spread = EXP(-margin(j.term, HERE)), of.spread
    meets = c["V has margins of at least 1"]
    # -m_j is at most -a - <A(mu), E> + R_j ||E|| - a (M_j - 1)
    L = LEANING - (LEANING @ V) * INV(SQUARE) * V
    frame = c["W is a V + E with E across V"]
    is_lean = c["R_j is the norm of A_j - A(mu) less its part along V"]
    parts = [against(L, E), scale(is_lean, Y), scale(frame, (LEANING @ V) * INV(SQUARE))]
    lean = decide(ge(LEAN(j) * Y, LEANED - SHIFT), *parts, degree=1)
    grown = LEAN(j) * Y - ALONG * (M_J - 1)
    condition = gt(-lead(j.term), 0)
    behind, not_behind = assume(condition), assume(condition.denied())
    not_good = assume(ge(0, lead(j.term)))
    zero = decide(eq(lead(j.term), 0), not_behind, not_good)
    # a rival that scores less
    one = Condition(tip.lean, M_J - 1, meets, c["far behind"], c["bent behind"], tip.alike_)
    below, with_y = plain(on, one, spread), by_length(on, one, spread)
    rises = powers_rise(-margin(j.term, HERE), GAUGE + grown, lean)
    (law,) = cite(EXPONENTIAL_OF_SUM, (), GAUGE, grown)
    rises = decide(ge(EXP(GAUGE) * EXP(grown), e), rises, law)
    below = powers_rise(grown, Z_0, below)
    parts = [c["|p_j| <= C_j exp(-m_j)"], product(c["C_j is not negative"], rises)]
    large = decide(ge(HIGH(j) * EXP(GAUGE) * EXP(grown), ABS(P)), *parts)
    is_high = cut(c["f_j is C_j"], behind)
    parts = [large, product(c["C_j is not negative"], power(GAUGE), below)]
    first = decide(
        ge(FACTOR(j) * EXP(GAUGE) * EXP(Z_0), ABS(P)),
        *parts,
        scale(is_high, EXP(GAUGE) * EXP(Z_0)),
        degree=1,
    )
    parts = [product(large, tip.reach, on.y)]
    parts += [product(c["C_j is not negative"], power(GAUGE), with_y)]
    second = decide(
        ge(FACTOR(j) * EXP(GAUGE) * EXP(Z_0) * REACH(j) * WIDTH, ABS(P) * REACH(j) * Y),
        *parts,
        scale(is_high, EXP(GAUGE) * EXP(Z_0) * REACH(j) * WIDTH),
        degree=1,
    )
    # a rival that scores the same
    t, own = other, OWNER(j)
    m_t, e_t, size_t = margin(t.term, HERE), EXP(-margin(t.term, HERE)), ABS(lead(t.term))
    M_t, z_t = A(t) @ V, REACH(t) * WIDTH - RADIUS * (A(t) @ V)
    beside = assume(eq(same(OWNER(t), own), 1))
    reach_t, alike_t = at(tip.reach, {j: t}), at(tip.alike, {j: t})
    r_ = decide(ge(LEAN(j) + REACH(t), 0), tip.lean, reach_t)
    c_ = M_J - 1 + M_t
    above = decide(ge(c_, 0), meets, at(meets, {j: t}))
    alike = decide(ge(0, (LEAN(j) + REACH(t)) * EXTRA), tip.alike_, alike_t)
    both = grown + REACH(t) * Y - ALONG * M_t
    is_reach = c["r_j is the norm of A_j less its part along V"]
    aside = decide(
        ge(REACH(j) * Y, -SHIFT),
        *(against(ACROSS, E), scale(is_reach, Y), scale(frame, M_J * INV(SQUARE))),
    )
    c.known["-e_j is at most r_j ||E||"] = aside
    aside = at(aside, {j: t})
    order = decide(ge(GAUGE + both, -margin(j.term, HERE) - m_t), lean, aside)
    rises = powers_rise(-margin(j.term, HERE) - m_t, GAUGE + both, order)
    laws = [
        cite(EXPONENTIAL_OF_SUM, (), *pair)[0]
        for pair in ((-margin(j.term, HERE), -m_t), (GAUGE, both), (Z_0, z_t))
    ]
    goals = (
        ge(size_t * EXP(GAUGE) * EXP(Z_0) * EXP(z_t), size_t * e * e_t),
        ge(
            size_t * EXP(GAUGE) * EXP(Z_0) * EXP(z_t) * REACH(j) * WIDTH,
            size_t * e * e_t * REACH(j) * Y,
        ),
    )
    shown = []
    length, length_square = cite(SIZE, (), lead(t.term))
    for sign, side in ((1, "above"), (-1, "below")):
        some_ = assume(gt(sign * lead(t.term), 0))
        pair_ = [cut(c[f"{word} {side}"], zero, beside, some_) for word in ("far", "bent")]
        one = Condition(r_, c_, above, pair_[0], pair_[1], alike)
        below, with_y = plain(on, one, spread), by_length(on, one, spread)
        below = powers_rise(both, Z_0 + z_t, below)
        each = decide(
            ge(EXP(GAUGE) * EXP(Z_0) * EXP(z_t), e * e_t),
            *(rises, laws[0], laws[1], scale(laws[2], EXP(GAUGE)), power(GAUGE), below),
        )
        each = product(length, each)
        long = product(length, power(GAUGE), with_y)
        parts = [
            long,
            product(
                length, tip.reach, on.y, decide(ge(EXP(GAUGE + both) - e * e_t, 0), rises, laws[0])
            ),
        ]
        parts += [
            scale(laws[1], size_t * REACH(j) * Y),
            scale(laws[2], size_t * EXP(GAUGE) * REACH(j) * WIDTH),
        ]
        shown.append((each, decide(goals[1], *parts, degree=1)))
    up, down = gt(lead(t.term), 0), gt(-lead(t.term), 0)
    idle = decide(
        eq(size_t, 0),
        *(length_square, assume(up.denied()), assume(down.denied())),
    )
    summed: list[Fact] = []
    for goal, *pair_ in zip(goals, *shown, strict=True):
        factor = EXP(GAUGE) * EXP(Z_0) * EXP(z_t), e * e_t
        if goal is goals[1]:
            factor = factor[0] * REACH(j) * WIDTH, factor[1] * REACH(j) * Y
        none = decide(goal, scale(idle, factor[0] - factor[1]))
        fact = cases(pair_[0], cases(pair_[1], none, down), up)
        summed.append(cut(add_up(fact, t, MINE), at(c["an input is the same as itself"], {i: own})))
    # |sum_t s_t lead_t| is at most sum_t |lead_t| exp(-m_t)
    a = rates.mix
    u, s_o, share = a.u(own, K), a.s_o(own, K), a.s(j, K)
    whole = at(rates.whole, {i: own})
    small = decide(ge(e, share), a.means[2], whole, power(-margin(j.term, HERE)))
    size, size_square = cite(SIZE, (), lead(j.term))
    room = product(size, small)
    lost = over_own(rival_of(ABS(lead(j.term)) * e), own)
    ends = []
    for sign in (1, -1):
        one_side = decide(ge(ABS(lead(j.term)), sign * lead(j.term)), size, size_square)
        part = decide(
            ge(ABS(lead(j.term)) * e, sign * share * lead(j.term)), room, rates.s, one_side
        )
        ends.append(
            decide(
                ge(lost, sign * (BEST(own) - u)), add_up(at(part, {j: r}), r, MINE), rates.missing
            )
        )
    # so |p_j| is at most L_j exp(-m_j) times that, if the lead is 0
    F, X_ = FALL(u) * INV(NUMBER), BEST(own) - u
    over, under = rates.slope
    above_, below_ = ends
    steep = STEEPEST(j) * lost
    one_side = decide(ge(steep, F * X_), over, below_, under, above_)
    other_side = decide(ge(steep, -F * X_), over, above_, under, below_)
    steep_sign = decide(ge(steep, 0), one_side, other_side)
    more = product(steep_sign, product(whole, power(-margin(j.term, HERE))))
    weight = decide(ge(s_o * e, 0), rates.s, a.means[2])
    same_ = scale(zero, F * s_o * e)
    parts = [rates.spelled, same_, more]
    up_ = decide(ge(steep * e, P), *parts, weight, other_side)
    down_ = decide(ge(steep * e, -P), *parts, weight, one_side)
    large = size_at_most(up_, down_, P, steep * e)
    is_level = cut(c["or L_j sum_t |lead_t| h_t, if the lead is 0"], zero)
    base = EXP(GAUGE) * EXP(Z_0)
    level = decide(
        ge(FACTOR(j) * base, ABS(P)),
        *(large, rates.steep, summed[0], scale(is_level, base)),
    )
    parts = [
        product(large, tip.reach, on.y),
        product(rates.steep, summed[1]),
        scale(is_level, base * REACH(j) * WIDTH),
    ]
    level_ = decide(
        ge(FACTOR(j) * base * REACH(j) * WIDTH, ABS(P) * REACH(j) * Y), *parts, degree=1
    )
    first, second = cases(first, level, condition), cases(second, level_, condition)
    # in units of P
    is_none = cut(c["else it is 0"], not_good)
    minor = decide(ge(MINOR(j), 0), of.minor, scale(is_none, MINOR(j)))
    is_minor = c["d_j is f_j exp(R_j Q - radius (M_j - 1))/kappa(mu)"]
    pushed = product(minor, heavy)
    first = decide(
        ge(MINOR(j) * GAINED, ABS(P)), first, pushed, scale(is_minor, EXP(GAUGE)), degree=1
    )
    wide = product(pushed, tip.reach, tip.width)
    second = decide(
        ge(MINOR(j) * GAINED * REACH(j) * WIDTH, ABS(P) * REACH(j) * Y),
        *(second, wide, scale(is_minor, EXP(GAUGE) * REACH(j) * WIDTH)),
        degree=1,
    )
    # |e_j| is at most r_j ||E||
    (forward,) = cite(CAUCHY_SCHWARZ, (), ACROSS, E)
    forward = decide(ge(REACH(j) * Y, ACROSS @ E), forward, scale(is_reach, Y))
    forward = decide(ge(REACH(j) * Y, SHIFT), forward, scale(frame, M_J * INV(SQUARE)))
    c.known["e_j is at most r_j ||E||"] = forward
    backward = c.known["-e_j is at most r_j ||E||"]
    (size, size_square), goal = cite(SIZE, (), P), ABS(P) * REACH(j) * Y
    rest, less = (
        decide(ge(ABS(P) - P, 0), size, size_square),
        decide(ge(ABS(P) + P, 0), size, size_square),
    )
    up_ = decide(ge(goal, P * SHIFT), rest, backward, less, forward)
    down_ = decide(ge(goal, -P * SHIFT), rest, forward, less, backward)
    long = size_at_most(up_, down_, P * SHIFT, goal)
    second = decide(ge(MINOR(j) * GAINED * REACH(j) * WIDTH, ABS(P * SHIFT)), second, long)
    bad_condition = ge(0, lead(j.term))
    good = assume(bad_condition.denied())
    is_one = cut(c["good is 1 for a rival that scores below alpha"], good)
    for words, fact in (
        ("|p_j| <= d_j P for other pairs", first),
        ("|p_j e_j| <= d_j r_j Q P for these", second),
    ):
        goal = ge(BAD * fact.proposition.term, 0)
        none = decide(goal, scale(is_one, fact.proposition.term))
        c.known[words] = cases(product(c.bad, fact), none, bad_condition)


def together(on: Largest, of: Signs, push: Pushes) -> None:
    """Prove that good pairs that are not loose add at most L P to sum_j p_j e_j, on I.

    Let x be ln(P_1/S) for the sum P_1 of their p_j. By exp(z) >= 1 + z for z = e_j + a + x, the
    sum of p_j (1 + z) is at most S exp(x), which is P_1. The fact is added to those of the cone.
    """
    c, tip, reach = on.tip.cone, on.tip, REACH(j)
    condition = gt(reach, 0)
    yes, no = assume(condition), assume(condition.denied())
    _, is_none, _, _, _ = cite(INDICATOR, (), reach)
    goal = eq(IS_ZERO(reach) * SHIFT, 0)
    none = scale(decide(eq(reach, 0), tip.reach, no), Y)
    flat = decide(eq(SHIFT, 0), none, c["e_j is at most r_j ||E||"], c["-e_j is at most r_j ||E||"])
    flat = scale(flat, IS_ZERO(reach))
    idle = cases(scale(cut(is_none, yes), SHIFT), flat, condition)
    idle = add_up(scale(idle, GOOD(j) * P * (1 - KIND * NEAR)), j)
    # the good pairs of margin 1
    some_ = decide(gt(PUSHED, 0), push.own, of.kappa, power(-ALONG))
    total_ = decide(gt(SUM, 0), of.whole, of.kappa)
    unit, inverse = cite(RECIPROCAL, [total_], SUM)
    x_ = LOG(PUSHED * INV(SUM))
    (is_log,) = cite(
        LOGARITHM, [decide(gt(PUSHED * INV(SUM), 0), some_, inverse)], PUSHED * INV(SUM)
    )
    z, m, near = SHIFT + ALONG + x_, margin(j.term, HERE), near_one(j)[1]
    along = decide(ge(ALONG, 0), on.further, c["sigma is positive"])
    far = c["V has margins of at least 1"]
    order = product(along, far)
    rises = powers_rise(z - m, x_, order)
    (law,) = cite(EXPONENTIAL_OF_SUM, (), -m, z)
    line = cite(EXPONENTIAL, (), z)[1]
    sign, bounded = c["p_j is not negative"], c["p_j <= C_j exp(-m_j) for these"]
    parts = [product(sign, near, line)]
    parts += [product(bounded, near, power(z)), scale(law, GOOD(j) * NEAR * HIGH(j))]
    parts += [product(c.good, near, c["C_j is not negative"], rises)]
    goal = ge(GOOD(j) * NEAR * HIGH(j) * EXP(x_), GOOD(j) * NEAR * P * (1 + z))
    each = add_up(decide(goal, *parts, degree=1), j)
    turned = total(GOOD(j) * NEAR * P * SHIFT, j)
    is_sum = c["S is the sum of C_j over good pairs of margin 1"]
    parts = [each, scale(is_sum, EXP(x_)), scale(is_log, SUM), scale(unit, PUSHED)]
    most = decide(ge(-(ALONG + x_) * PUSHED, turned), *parts, degree=1)
    # -(a + x) is at most ln(S/kappa)
    over, part = cite(RECIPROCAL, [of.kappa], KAPPA)
    (is_of_sum,) = cite(
        LOGARITHM, [decide(gt(SUM * INV(KAPPA), 0), total_, part)], SUM * INV(KAPPA)
    )
    (split,), (one,) = (
        cite(EXPONENTIAL_OF_SUM, (), -ALONG, -LOG_OF_SUM),
        cite(EXPONENTIAL_OF_SUM, (), LOG_OF_SUM, -LOG_OF_SUM),
    )
    # SUM exp(-of_sum) = kappa
    parts = [
        scale(one, KAPPA),
        scale(is_of_sum, KAPPA * EXP(-LOG_OF_SUM)),
        scale(over, SUM * EXP(-LOG_OF_SUM)),
    ]
    value = decide(eq(SUM * EXP(-LOG_OF_SUM), KAPPA), *parts, degree=1)
    parts = [
        push.own,
        scale(is_log, SUM),
        scale(unit, PUSHED),
        scale(split, SUM),
        scale(value, FALLING),
    ]
    lower = decide(ge(EXP(x_), EXP(-ALONG - LOG_OF_SUM)), *parts, total_)
    short = exponents_rise(-ALONG - LOG_OF_SUM, x_, lower)
    parts = [most, product(some_, short)]
    parts += [product(c["ln(S/kappa) is not negative"], push.more)]
    most = decide(ge(LOG_OF_SUM * GAINED, turned), *parts, degree=1)
    is_tight = scale(c["L is ln(S/kappa) or 0"], GAINED)
    goal = ge(TIGHT * GAINED, total(GOOD(j) * (1 - LOOSE) * P * SHIFT, j))
    words = "good pairs that are not loose add at most L P to sum_j p_j e_j"
    c.known[words] = decide(goal, of.kind, most, is_tight, idle)
