"""Descent that attends to optimal tokens converges in direction: facts of linked proofs.

Letters are those of `attsvm.primitives.descent_letters` and of `symbolic.attention_facts`. Suppose
that s_o stays above a positive constant, and that G = sum_j p_j A_j has <G, V> >= P = sum_j p_j. A
coefficient p_j may be negative. With the range R of all scores and C = max|l'| R/n:

1. |p_j| <= C s_j, which is at most C exp(-m_j) and at most C.
2. P is the sum of -l'(u) s_o (gamma_o - u)/n over inputs, and gamma_o - u is at least s_j times the
   lead over rival j. So P >= c exp(-m_j) with c > 0, and ||G|| is at most a constant times P.

These are the facts from which W/||W|| tends to V/||V|| in `symbolic.direction_facts`.
"""

from attsvm.errors import present
from attsvm.primitives.descent_letters import (
    BEST,
    FALL,
    GAMMA,
    HIGH,
    LOW,
    NUMBER,
    OWNER,
    A,
    V,
    bound,
    direction,
    i,
    j,
    lead,
)
from attsvm.theory.proof.facts import Fact, K, eq, ge, gt, note
from attsvm.theory.proof.lemmas import CAUCHY_SCHWARZ, LENGTH, RECIPROCAL
from attsvm.theory.proof.rules import (
    add_up,
    at,
    attained,
    beyond,
    cite,
    conclude,
    decide,
    define,
    one_of_sum,
    positive,
    regroup,
    scale,
)
from attsvm.theory.proof.terms import INV, NORM, Term, least, total
from symbolic.attention_facts import OWN, POWER, THEIRS, Attention, Moves, Slopes, over_own, r
from symbolic.direction_facts import pulled, squares, turns
from symbolic.facts import against, product
from symbolic.growth_facts import Bounds, Growth, Total, diverges, longest


def sized(
    a: Attention, step: Moves, bent: Slopes, attended: Fact, share: Fact, several: Fact
) -> tuple[Bounds, tuple[Term, Fact, Fact], Fact]:
    """Prove bounds of p_j, and of P from below.

    Returns:
        The bounds; P, its definition, and that it is at least c exp(-m_j); and that p_j is at least
        -C exp(-m_j).
    """
    u, s_o, s, p, n = a.u(OWN, K), a.s_o(OWN, K), a.s(j, K), step.p(j, K), INV(NUMBER)
    fall, LEAD = FALL(u), lead(j.term)
    lower, upper = (at(f, {i: OWN}) for f in bent.at_output)
    mine, one = at(a.s_o_positive, {i: OWN}), at(a.one, {i: OWN})
    _, over = cite(RECIPROCAL, [a.input], NUMBER)
    # |p_j| <= C s_j
    best_high, best = at(a.best_high, {i: OWN}), at(a.below_best, {i: OWN})
    apart = decide(gt(HIGH - LOW, 0), a.lower, best_high, a.low_rival, several)
    top = bent.most * n * (HIGH - LOW)
    some_top = decide(gt(bent.most * n, 0), bent.most_positive, over)
    some_top = decide(gt(top, 0), some_top, apart)
    u_low = at(a.above_lowest, {i: OWN})
    falls = decide(gt(fall, 0), lower, bent.least_positive)
    weight = product(falls, a.s_positive, over)
    spare = product(upper, a.s_positive, over, apart)
    sides = (
        decide(ge(HIGH - LOW, u - GAMMA(j)), best, best_high, a.low_rival),
        decide(ge(HIGH - LOW, GAMMA(j) - u), u_low, best_high, a.lower),
    )
    up, down = (
        decide(ge(top * s, sign * p), step.p_is, spare, product(weight, side))
        for sign, side in zip((1, -1), sides, strict=True)
    )
    small = decide(ge(POWER, s), a.means[2], one, over_own(a.s_positive), a.power)
    part = decide(ge(1, s), one, one_of_sum(a.s_positive, j, OWNER), mine)
    little = product(some_top, small)
    # P is a sum over inputs
    fall_i, u_i = FALL(a.u(i, K)), a.u(i, K)
    gap = fall_i * a.s_o(i, K) * (BEST(i) - u_i)
    sums = decide(
        eq(total(p, j, THEIRS), n * gap),
        *(add_up(step.p_is, j, THEIRS), scale(a.one, fall_i * n * u_i)),
        scale(a.mean, fall_i * n),
        degree=1,
    )
    fall_positive = decide(gt(fall_i, 0), bent.at_output[0], bent.least_positive)
    gaps = product(fall_positive, a.s_o_positive, a.below_best, over)
    sum_, P_is = define("P", (K,), total(p, j))
    inputs = P_is, regroup(p, j, OWNER), add_up(sums, i), at(one_of_sum(gaps, i), {i: OWN})
    own = n * fall * s_o * (BEST(OWN) - u)
    above = decide(ge(sum_(K), own), *inputs, degree=1)
    # and the part of an input is at least c exp(-m_j)
    constant = share.proposition.term
    behind = decide(
        eq(BEST(i) - u_i, total(a.s(j, K) * (BEST(i) - GAMMA(j)), j, THEIRS)),
        *(a.mean, scale(a.one, BEST(i))),
    )
    term = one_of_sum(product(a.s_positive, a.lower), j, OWNER)
    held = decide(ge(s, constant * POWER), a.means[2], attended, a.power)
    behind = decide(
        ge(BEST(OWN) - u, constant * POWER * LEAD),
        *(at(behind, {i: OWN}), term, product(held, a.lower)),
    )
    steep = decide(
        ge(fall * s_o, bent.least * constant), lower, attended, bent.least_positive, mine
    )
    floor_, floor_is = define("floor", (j,), bent.least * constant**2 * LEAD * n)
    some = product(bent.least_positive, share)
    heavy = decide(
        ge(own, floor_(j) * POWER),
        *(scale(floor_is, POWER), product(steep, best, over), product(some, behind, over)),
    )
    low, smallest = least(floor_(r), r), beyond("least", floor_(j), j)
    pick, reached = attained("lowest floor", low, several)
    some = decide(gt(bent.least * constant, 0), bent.least_positive, share)
    some = decide(gt(bent.least * constant**2, 0), some, share)
    some = decide(gt(bent.least * constant**2 * LEAD, 0), some, a.lower)
    some = decide(gt(floor_(j), 0), floor_is, some, over)
    heavy = decide(ge(sum_(K), low * POWER), above, heavy, smallest, a.power)
    bounds = Bounds(
        low=low,
        high=top,
        low_positive=decide(gt(low, 0), reached, at(some, {j: pick()})),
        high_positive=some_top,
        at_most=decide(ge(top * POWER, p), up, little),
        bounded=decide(ge(top, p), up, product(some_top, part)),
        several=several,
    )
    under = decide(ge(top * POWER, -p), down, little)
    return bounds, (sum_(K), P_is, note("P >= c exp(-m_j)", heavy)), under


def from_attention(
    a: Attention,
    step: Moves,
    bent: Slopes,
    share: tuple[Fact, Fact],
    along: Fact,
    several: Fact,
    exists: tuple[Fact, ...],
) -> tuple[Growth, Fact]:
    """Prove that W/||W|| tends to V/||V|| if s_o stays above positive constants.

    Args:
        a: attention along the run.
        step: a step of descent.
        bent: bounds of -l'(u).
        share: that s_o is at least a constant of the rival j, and that this constant is positive.
        along: that sum_j p_j <A_j, V> is at least sum_j p_j.
        several: that there is a rival.
        exists: that V has margins of at least 1, and is the shortest such matrix.
    """
    c, total_, under = sized(a, step, bent, *share, several)
    (P, P_is, heavy), far = total_, longest(several)
    p, rivals = step.p(j, K), total(1, j)
    G = total(p * A(j), j)
    G_norm, _ = cite(LENGTH, (), G)
    sides = cite(CAUCHY_SCHWARZ, (), A(j), G)[0], against(A(j), G)
    up, down = (
        decide(ge(far.size * NORM(G), sign * (A(j) @ G)), side, far.up, G_norm)
        for sign, side in zip((1, -1), sides, strict=True)
    )
    each = decide(
        ge(c.high * POWER * far.size * NORM(G), p * (A(j) @ G)),
        *(product(c.at_most, down), product(under, up)),
        degree=1,
    )
    unit, inverse = cite(RECIPROCAL, [c.low_positive], c.low)
    sums = product(add_up(heavy, j), inverse)
    sums = decide(ge(rivals * P * INV(c.low), total(POWER, j)), sums, scale(unit, total(POWER, j)))
    P_positive = decide(gt(P, 0), heavy, c.low_positive, a.power, several)
    more = product(far.positive, c.high_positive, several, inverse)
    reach = far.size * (1 + c.high * rivals * INV(c.low))
    stretch = decide(
        ge(reach * P * NORM(G), G @ G),
        *(add_up(each, j), product(far.positive, c.high_positive, G_norm, sums)),
        product(far.positive, P_positive, G_norm),
        degree=1,
    )
    whole = Total(
        *(P, P_is, P_positive, decide(ge(G @ V, P), along, P_is), heavy, reach),
        *(decide(ge(reach, far.size), more), stretch),
    )
    g = diverges(step, c, whole, far, exists)
    pull = pulled(step, c, g, a.power)
    return g, turns(step, c, g, pull, squares(step, g, pull))


def end_attending(g: Growth, turned: Fact) -> None:
    """Conclude that W/||W|| tends to V/||V||."""
    some, moved, towards = present(direction(), "what is shown").sequents
    conclude(g.V_positive, some)
    conclude(decide(moved.proposition, g.far, positive(bound)), moved)
    conclude(turned, towards)
