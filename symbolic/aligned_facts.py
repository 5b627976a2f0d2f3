"""Attention to optimal tokens stays above a positive constant if rivals score alike: linked facts.

Letters are those of `attsvm.primitives.descent_letters` and of `symbolic.attention_facts`. Suppose
that the rivals of each input have the same score, and that inputs are aligned: <A_r, A_j> >= 0 for
rivals of different inputs. Let E_j = exp(-m_j), G the sum of E_j over the rivals of an input, g
that of E_j A_j, and a the largest ||A_j||. A step adds at least x_j = pace <g, A_j> to m_j, with
pace = -e l'(u) s_o^2 lead/n. Then:

1. pace (a^2 + 1) G <= Q s_o, Q = e max|l'| max lead (a^2 + 1)/n (`Pace`).
2. If s_o <= 1/(4 Q), x_j is at least -1/4, and exp(-x) <= 1 - x + x^2. So G falls by at least
   pace ||g||^2 (1 - pace a^2 G) >= 0.
3. Else G <= 4 Q and x_j >= -Q, so that G is at most 4 Q exp(Q) after the step.

Hence G <= G(0) + 4 Q exp(Q) at every step, for any start and step size. So s_o = 1/(1 + G) stays
above a positive constant.
"""

from collections.abc import Callable
from dataclasses import dataclass

from attsvm.primitives.aligned_inputs import INPUTS_ALIGNED
from attsvm.primitives.descent_letters import (
    BEST,
    FALL,
    GAMMA,
    NUMBER,
    OWNER,
    RATE,
    A,
    M,
    i,
    j,
    lead,
    other,
    peer,
    second,
    x,
)
from attsvm.primitives.hypotheses import EQUAL_RIVALS, ONE_INPUT, SEVERAL_TOKENS
from attsvm.theory.proof.facts import Fact, K, eq, ge, gt, note
from attsvm.theory.proof.lemmas import (
    CAUCHY_SCHWARZ,
    EXPONENTIAL,
    EXPONENTIAL_OF_SUM,
    LENGTH,
    RECIPROCAL,
)
from attsvm.theory.proof.linked import linked, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    beyond,
    cases,
    cite,
    cut,
    decide,
    define,
    induction,
    picked,
    regroup,
    scale,
    square,
)
from attsvm.theory.proof.terms import (
    EXP,
    INV,
    NORM,
    Function,
    Over,
    Term,
    as_term,
    most,
    same,
    substituted,
    total,
)
from properties._support.suppositions import FALLING, SMOOTH_SLOPE, SOLUTION, UNIQUE_OPTIMUM
from symbolic.attending_facts import end_attending
from symbolic.attention_facts import (
    AFTER,
    HERE,
    MARGIN,
    MINE,
    OWN,
    POWER,
    THEIRS,
    Attention,
    Kept,
    Moves,
    Slopes,
    attends,
    moves,
    over_own,
    r,
    slopes,
    steepness,
)
from symbolic.basin_facts import Converged, from_kept
from symbolic.facts import against, power, powers_rise, product

LEAD, LEADING, LONGEST = lead(j.term), most(lead(r.term), r), most(NORM(A(r)), r)
"""The lead of the optimal token over rival j, the largest lead, and the largest ||A_j||."""
PULL = total(EXP(-(A(r) @ HERE)) * A(r), r, MINE)
"""The vector g of the input of j."""
AFTERWARDS = {K: K.term + 1}


def parabola() -> Fact:
    """Return that exp(-x) <= 1 - x + x^2 if x >= -1/4."""
    X = x.term
    _, line = cite(EXPONENTIAL, (), X / 2)
    (doubled,), (one,) = (cite(EXPONENTIAL_OF_SUM, (), *pair) for pair in ((X / 2, X / 2), (X, -X)))
    near = assume(ge(4 * X + 1, 0))
    bent = decide(ge(EXP(X), (1 + X / 2) ** 2), line, doubled, near)
    below = decide(ge(1, EXP(-X) * (1 + X / 2) ** 2), bent, one, power(-X))
    some = decide(gt((1 + X / 2) ** 2, 0), near)
    rest = decide(ge(X**2 * (1 + 3 * X + X**2), 0), square(X), near)
    return decide(ge(1 - X + X**2, EXP(-X)), below, some, rest)


@dataclass(frozen=True, slots=True)
class Pace:
    """How a step moves the margins of an input."""

    G: Function  # G, pace: functions of an input and the step
    pace: Function
    G_is: Fact  # G_is, pace_is: the definitions of G and of the pace
    pace_is: Fact
    moved: Fact  # e p_j is pace exp(-m_j)
    some: Fact  # pace > 0 for the input of j
    raised: Fact  # m_j rises by at least pace <g, A_j>
    Q: Term  # a constant
    Q_positive: Fact  # Q is positive
    slow: Fact  # Q s_o is at least pace (a^2 + 1) G
    odds: Fact  # s_o (1 + G) = 1
    behind: Fact  # u - gamma_j is s_o times the lead of the best score over the second-best one
    over: Fact  # 1/n is positive


def paces(a: Attention, step: Moves, bent: Slopes, level: Fact, aligned: Fact, rival: Fact) -> Pace:
    """Prove that each margin rises by at least pace <g, A_j>, and that the pace is bounded.

    Args:
        a: attention along the run.
        step: the step of descent.
        bent: bounds of -l'(u).
        level: the second-best score of an input is that of each rival.
        aligned: <A_r, A_j> (1 - same) >= 0, where `same` is 1 for rivals of one input.
        rival: there is a rival.
    """
    u, s_o, s, p = a.u(OWN, K), a.s_o(OWN, K), a.s(j, K), step.p(j, K)
    fall, n, one = FALL(u), INV(NUMBER), at(a.one, {i: OWN})
    G, G_is = define("G", (i, K), total(POWER, j, THEIRS))
    ahead = BEST(i) - second(i.term)
    steady = RATE * FALL(a.u(i, K)) * a.s_o(i, K) ** 2 * ahead * n
    pace, pace_is = define("pace", (i, K), steady)
    mine = at(a.s_o_positive, {i: OWN})
    # u - gamma_j = s_o lead_j, so that e p_j = pace E_j
    shares = over_own(scale(level, s))
    behind = decide(
        eq(u - GAMMA(j), s_o * (BEST(OWN) - second(OWN))),
        *(at(a.mean, {i: OWN}), shares, scale(one, second(OWN)), level),
    )
    moved = decide(
        eq(RATE * p, pace(OWN, K) * POWER),
        *(scale(step.p_is, RATE), scale(a.means[2], RATE * fall * n * (u - GAMMA(j)))),
        *(scale(behind, RATE * fall * n * s_o * POWER), scale(at(pace_is, {i: OWN}), POWER)),
    )
    low, high = (at(f, {i: OWN}) for f in bent.at_output)
    falls = decide(gt(fall, 0), low, bent.least_positive)
    _, over = cite(RECIPROCAL, [a.input], NUMBER)
    wide = decide(gt(BEST(OWN) - second(OWN), 0), a.lower, level)
    some = decide(gt(RATE * fall, 0), step.rate, falls)
    some = decide(gt(RATE * fall * n, 0), some, over)
    squared = decide(gt(s_o**2 * (BEST(OWN) - second(OWN)), 0), decide(gt(s_o**2, 0), mine), wide)
    some = decide(gt(pace(OWN, K), 0), at(pace_is, {i: OWN}), some, squared)
    # the parts of other inputs are at least 0
    weight = decide(ge(RATE * p, 0), moved, some, a.power)
    body = step.p(other, K) * (A(other) @ A(j))
    spare = decide(
        ge(RATE * body * (1 - same(OWNER(other), OWN)), 0), at(weight, {j: other}), aligned
    )
    theirs = scale(regroup(same(OWNER(other), OWN) * body, other, OWNER), RATE)
    own = picked(total(body, other, Over(OWNER, i.term)), i, OWN)
    pulled = over_own(scale(moved, A(j) @ M.term))
    pulled = at(pulled, {M: A(j)})
    grown = at(step.grown, {M: A(j)})
    raised = decide(
        ge(A(j) @ AFTER, MARGIN + pace(OWN, K) * (PULL @ A(j))),
        *(grown, add_up(spare, other), theirs, scale(own, RATE), pulled),
        degree=1,
    )
    # pace (a^2 + 1) G is at most Q s_o, as s_o G is at most 1
    G_own = at(G_is, {i: OWN})
    odds = decide(
        eq(s_o * (1 + G(OWN, K)), 1), one, over_own(a.means[2]), scale(G_own, s_o), degree=1
    )
    longest = LONGEST**2 + 1
    Q_, Q_is = define("Q", (), RATE * n * longest * bent.most * LEADING)
    largest = decide(ge(LEADING, BEST(OWN) - second(OWN)), beyond("most", LEAD, j), level)
    steep = decide(
        ge(bent.most * LEADING, fall * (BEST(OWN) - second(OWN))),
        *(high, largest, wide, bent.most_positive),
    )
    narrow = decide(
        ge(fall * (BEST(OWN) - second(OWN)) * s_o * (1 - s_o * G(OWN, K)), 0),
        *(scale(odds, fall * (BEST(OWN) - second(OWN)) * s_o), squared, falls),
    )
    far = decide(ge((bent.most * LEADING - fall * (BEST(OWN) - second(OWN))) * s_o, 0), steep, mine)
    rate = decide(gt(RATE * n, 0), step.rate, over)
    big = decide(gt(RATE * n * longest, 0), rate, square(LONGEST))
    slow = decide(
        ge(Q_() * s_o, pace(OWN, K) * longest * G(OWN, K)),
        *(scale(Q_is, s_o), scale(at(pace_is, {i: OWN}), longest * G(OWN, K)), big, narrow, far),
    )
    top = decide(gt(LEADING, 0), largest, wide, rival)
    Q_positive = decide(
        gt(Q_(), 0), Q_is, big, decide(gt(bent.most * LEADING, 0), bent.most_positive, top)
    )
    return Pace(
        G,
        pace,
        G_is,
        pace_is,
        moved,
        some,
        note("m_j rises by pace <g, A_j> at least", raised),
        Q_(),
        Q_positive,
        slow,
        odds,
        behind,
        over,
    )


@dataclass(frozen=True, slots=True)
class Reach:
    """A step that moves the margin m_j by at least x_j."""

    x: Term  # the term x_j = pace <g, A_j>
    near: Fact  # Q s_o is at least -x_j
    falls: Fact  # E_j exp(-x_j) is at least E_j after the step
    wide: Fact  # a^2 ||g||^2 G is at least the sum of E_j <g, A_j>^2
    some: Fact  # G >= 0
    part: Fact  # s_o <= 1


def reaches(a: Attention, step: Pace) -> Reach:
    """Prove bounds of x_j."""
    G, along = step.G(OWN, K), PULL @ A(j)
    G_own = at(step.G_is, {i: OWN})
    up, (length, _) = beyond("most", NORM(A(j)), j), cite(LENGTH, (), A(j))
    some = decide(ge(G, 0), over_own(a.power), G_own)
    x_ = step.pace(OWN, K) * along
    each = decide(
        ge(LONGEST**2, -(A(other) @ A(j))), against(A(other), A(j)), up, at(up, {j: other}), length
    )
    whole = add_up(product(at(each, {other: r}), at(a.power, {j: r})), r, MINE)
    whole = decide(ge(LONGEST**2 * G, -along), whole, scale(G_own, LONGEST**2))
    near = decide(ge(step.Q * a.s_o(OWN, K), -x_), step.some, whole, step.slow, some)
    moved = decide(ge(-MARGIN - x_, -(A(j) @ AFTER)), step.raised)
    falls = powers_rise(-(A(j) @ AFTER), -MARGIN - x_, moved)
    (law,) = cite(EXPONENTIAL_OF_SUM, (), -MARGIN, -x_)
    falls = decide(ge(POWER * EXP(-x_), EXP(-(A(j) @ AFTER))), falls, law)
    (above,), below = cite(CAUCHY_SCHWARZ, (), PULL, A(j)), against(PULL, A(j))
    _, length_ = cite(LENGTH, (), PULL)
    flat = decide(ge(LONGEST**2, NORM(A(j)) ** 2), up, length)
    wide = decide(
        ge(LONGEST**2 * (PULL @ PULL), along**2),
        *(above, below, square(NORM(PULL)), flat, scale(length_, LONGEST**2)),
    )
    wide = over_own(product(wide, a.power))
    wide = decide(
        ge(LONGEST**2 * (PULL @ PULL) * G, _over_own(POWER * along**2)),
        *(wide, scale(G_own, LONGEST**2 * (PULL @ PULL))),
        degree=1,
    )
    part = decide(ge(1, a.s_o(OWN, K)), step.odds, product(_mine(a), some))
    return Reach(x_, near, falls, wide, some, part)


def _mine(a: Attention) -> Fact:
    """Return that s_o > 0 for the input of j."""
    return at(a.s_o_positive, {i: OWN})


def _over_own(term: Term) -> Term:
    return total(substituted(term, {j: r.term}), r, MINE)


def stays(a: Attention, step: Pace, to: Reach) -> tuple[Function, Fact]:
    """Prove that G stays at most a constant, a function of the input."""
    G, Q, s_o, after = step.G(OWN, K), step.Q, a.s_o(OWN, K), step.G(OWN, K.term + 1)
    G_own, G_after = (at(step.G_is, {i: OWN, **more}) for more in ({}, AFTERWARDS))
    mine, square_ = _mine(a), PULL @ PULL
    condition = ge(1, 4 * Q * s_o)
    yes, no = assume(condition), assume(condition.denied())
    # either s_o is small, and G falls
    near = decide(ge(4 * to.x + 1, 0), to.near, yes)
    bent = cut(at(parabola(), {x: to.x}), near)
    each = decide(ge(POWER * (1 - to.x + to.x**2), EXP(-(A(j) @ AFTER))), to.falls, bent, a.power)
    pace = step.pace(OWN, K)
    both = decide(gt(pace**2, 0), step.some)
    whole = decide(
        ge(G - pace * square_ + pace**2 * LONGEST**2 * square_ * G, after),
        *(over_own(each), G_own, G_after, both, to.wide),
    )
    slow = decide(ge(1, pace * LONGEST**2 * G), step.slow, yes, step.some, to.some)
    _, size = cite(LENGTH, (), PULL)
    some = decide(ge(pace * square_, 0), step.some, size, square(NORM(PULL)))
    # or it is large, and G is at most 4 Q exp(Q) after the step
    large = decide(ge(4 * Q, 4 * Q * s_o * G), scale(step.odds, 4 * Q), step.Q_positive, mine)
    large = decide(ge(4 * Q, G), large, no, to.some)
    far = decide(ge(Q, -to.x), to.near, to.part, step.Q_positive)
    grown = powers_rise(-to.x, Q, far)
    each = decide(ge(POWER * EXP(Q), EXP(-(A(j) @ AFTER))), to.falls, grown, a.power)
    more = decide(
        ge(4 * Q * EXP(Q), after), over_own(each), scale(G_own, EXP(Q)), G_after, large, power(Q)
    )
    B, B_is = define("ceiling", (i,), step.G(i, 0) + 4 * Q * EXP(Q))
    B_own, first = at(B_is, {i: OWN}), at(to.some, {K: 0})
    claim, top = ge(B(OWN), G), product(step.Q_positive, power(Q))
    goal = claim.at(AFTERWARDS)
    kept = cases(
        decide(goal, whole, some, slow, assume(claim)), decide(goal, more, B_own, first), condition
    )
    return B, note(
        "G stays at most G(0) + 4 Q exp(Q)",
        induction(claim, decide(claim.at({K: as_term(0)}), B_own, top), kept),
    )


def keeps(a: Attention, step: Pace, B: Function, at_most: Fact, level: Fact) -> Kept:
    """Prove that s_o and u - gamma_j stay above positive constants, as G stays at most B."""
    s_o, mine, whole = a.s_o(OWN, K), _mine(a), 1 + B(OWN)
    positive_ = decide(gt(whole, 0), at_most, over_own(a.power), at(step.G_is, {i: OWN}))
    unit, inverse = cite(RECIPROCAL, [positive_], whole)
    share, share_is = define("share", (j,), INV(whole))
    enough = decide(ge(s_o * whole, 1), step.odds, at_most, mine)
    attended = decide(ge(s_o, share(j)), enough, inverse, scale(unit, s_o), share_is)
    some_share = decide(gt(share(j), 0), share_is, inverse)
    ahead, ahead_is = define("lead", (j,), share(j) * LEAD)
    some_ahead = decide(gt(ahead(j), 0), ahead_is, some_share, a.lower)
    before = decide(
        ge(a.u(OWN, K) - GAMMA(j), ahead(j)),
        *(step.behind, scale(level, s_o), ahead_is, attended, a.lower),
    )
    return Kept(ahead, share, some_ahead, some_share, before, attended, step.over)


def aligned_runs(aligned: Callable[[], Fact]) -> Converged:
    """Prove the limit direction from any start and with any step.

    Args:
        aligned: returns that <A_r, A_j> (1 - same) >= 0, where `same` is 1 for rivals of one input.
    """
    a = attends(suppose(UNIQUE_OPTIMUM)[0])
    (level,), (rival,) = suppose(EQUAL_RIVALS), suppose(SEVERAL_TOKENS)
    run = moves(a)
    bent = slopes(a, steepness(a, SMOOTH_SLOPE, FALLING))
    step = paces(a, run, bent, level, aligned(), rival)
    B, at_most = stays(a, step, reaches(a, step))
    return from_kept(a, run, bent, keeps(a, step, B, at_most, level), rival, suppose(SOLUTION))


def end_direction(run: Converged) -> None:
    """Conclude that W/||W|| tends to V/||V||."""
    end_attending(run.growth, run.turned)


@linked
def prove_equal_rivals() -> str:
    """Prove the limit direction for aligned inputs whose rivals have the same score."""
    end_direction(aligned_runs(lambda: suppose(INPUTS_ALIGNED)[0]))
    return "for every loss with continuous l' < 0, any n, T, d and start, and any constant step"


@linked
def prove_one_input() -> str:
    """Prove the limit direction for a single input whose rivals have the same score."""

    def alone() -> Fact:
        (one,) = suppose(ONE_INPUT)
        same_ = at(one, {i: OWNER(other), peer: OWN})
        apart = (1 - same(OWNER(other), OWN)) * (A(other) @ A(j))
        return decide(ge(apart, 0), scale(same_, A(other) @ A(j)))

    end_direction(aligned_runs(alone))
    return "for every loss with continuous l' < 0, any T, d and start, and any constant step"
