"""Normalised descent on p for one input: the distance of the prompt from the direction of p*.

On `mm/normalised-descent:amended-1`; docs/proofs/normalised_descent.md has the proof. The rivals of
the input have equal scores, so that -grad L is sum_j p_j A_j with p_j proportional to exp(-m_j),
for the margins m_j = <A_j, p>. N is the norm of p, P its component along p*, and a = ||p*||.
"""

from flint import fmpq

from attsvm.primitives.descent_letters import (
    COUNT,
    FALL,
    GAMMA,
    GRADIENT,
    NUMBER,
    A,
    M,
    V,
    W,
    i,
    j,
    peer,
    second,
)
from attsvm.primitives.hypotheses import ONE_INPUT, ZERO_START
from attsvm.theory.proof.facts import Fact, K, eq, ge, gt
from attsvm.theory.proof.lemmas import (
    CAUCHY_SCHWARZ,
    EXPONENTIAL_OF_SUM,
    LENGTH,
    LOGARITHM,
    RECIPROCAL,
)
from attsvm.theory.proof.linked import linked, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    attained,
    beyond,
    cite,
    cut,
    decide,
    induction,
    inside,
    one_of_sum,
    picked,
    scale,
    square,
)
from attsvm.theory.proof.terms import EXP, INV, LOG, NORM, Letter, Term, as_term, substituted, total
from properties.mm.normalised_descent.paced_letters import DRIFT, LONGEST, PACE, RIVALS, close
from symbolic.attention_facts import AFTER, HERE, MARGIN, OWN, POWER
from symbolic.facts import (
    by_steps,
    conclude_each,
    power,
    powers_rise,
    product,
    tangent,
)
from symbolic.growth_facts import least_margin
from symbolic.mm.paced_descent import Pace, steps

N, NEXT, SIZE, G = NORM(HERE), NORM(AFTER), NORM(V), GRADIENT(HERE)
LN = LOG(RIVALS)


def proportional(pace: Pace) -> tuple[Term, Fact, Fact]:
    """Return a number c > 0 with p_j = c exp(-m_j) for all j, as there is one input."""
    (one,) = suppose(ONE_INPUT)
    a = pace.attention
    body = FALL(a.u(i, K)) * a.s_o(i, K) * (a.u(i, K) - second(i.term)) * INV(NUMBER)
    other = substituted(body, {i: peer.term})
    alike = add_up(scale(at(one, {i: peer, peer: i}), other), peer)
    c = total(other, peer)
    summed = at(decide(eq(c, body), alike, picked(other, peer, i)), {i: OWN})
    rate = FALL(a.u(OWN, K)) * INV(NUMBER)
    p_is = decide(
        eq(pace.pull.p(j, K), c * POWER),
        *(pace.pull.p_is, scale(a.means[2], rate * (a.u(OWN, K) - GAMMA(j)))),
        scale(summed, POWER),
        scale(pace.level, rate * a.s_o(OWN, K) * POWER),
        degree=1,
    )
    return c, p_is, decide(gt(c, 0), p_is, pace.weight, a.power, pace.several)


def least_along(pace: Pace, c: Term, p_is: Fact, some_c: Fact) -> tuple[Fact, Fact]:
    """Return that a <-grad L, p> <= P (N + a ln J), and that ln J >= 0.

    P is the sum of the p_j, which are c exp(-m_j).
    """
    of_run = cite(LENGTH, (), HERE)
    low, behind = least_margin(pace.several, pace.shortest, (of_run[0], of_run[1]), pace.size)
    slowest, is_least = attained("slowest", low, pace.several)
    # exp(-low) >= sum_j exp(-m_j) (1 + m_j - low - ln J), and sum_j exp(-m_j) >= exp(-low)
    lines = add_up(tangent(-low - LN, -MARGIN), j)
    (is_count,) = cite(LOGARITHM, [pace.several], RIVALS)
    (law,) = cite(EXPONENTIAL_OF_SUM, (), -low - LN, LN)
    hole, whole = Letter("hole"), total(POWER, j)
    same = inside(is_least, A(slowest(K)) @ HERE, low, EXP(-hole.term), hole)
    own = at(one_of_sum(power(-MARGIN), j), {j: slowest(K)})
    own = decide(ge(whole, EXP(-low)), own, same)
    mean = decide(
        ge((low + LN) * whole, total(POWER * MARGIN, j)),
        *(lines, law, scale(is_count, EXP(-low - LN)), own),
    )
    # there is at least one rival
    each = add_up(powers_rise(-MARGIN, -low, beyond("least", MARGIN, j)), j)
    one = decide(ge(RIVALS, 1), each, own, power(-low))
    above = decide(ge(EXP(LN), 1), one, is_count)
    some_log = decide(ge(LN, 0), above, tangent(as_term(0), LN))
    # times c; the least margin is at most N/a
    P = total(pace.pull.p(j, K), j)
    along = decide(
        ge((low + LN) * P, -G @ HERE),
        *(product(some_c, mean), scale(add_up(p_is, j), low + LN)),
        *(add_up(scale(p_is, MARGIN), j), at(pace.pull.along, {M: HERE})),
        degree=1,
    )
    along = decide(
        ge((N + SIZE * LN) * P, SIZE * (-G @ HERE)),
        *(product(pace.size[0], along), product(behind, pace.some)),
        degree=1,
    )
    return along, some_log


def grows(pace: Pace, unit: Fact, inverse: Fact) -> tuple[Fact, Fact, Fact, Fact]:
    """Return facts of a step: its length, its gain along p*, its bound, and that ln J >= 0.

    Args:
        pace: facts about the steps.
        unit: a Inv(a) = 1.
        inverse: Inv(a) > 0.
    """
    along, some_log = least_along(pace, *proportional(pace))
    P, g, a = total(pace.pull.p(j, K), j), INV(NORM(G)), SIZE
    moves = {M: AFTER}, {M: HERE}, {M: G}
    after, before, slope = (at(pace.moves, values) for values in moves)
    whole = decide(
        eq(AFTER @ AFTER, HERE @ HERE - 2 * PACE * g * (G @ HERE) + PACE**2),
        *(after, before, scale(slope, PACE * g), scale(pace.length, PACE**2 * g**2)),
        scale(pace.unit, PACE**2 * (NORM(G) * g + 1)),
        degree=1,
    )
    gain = decide(
        ge(AFTER @ V, HERE @ V + PACE * P * g),
        at(pace.moves, {M: V}),
        product(pace.forward, pace.gain, pace.inverse),
    )
    wide = decide(ge(NORM(G) * a, P), pace.within, pace.gain, scale(pace.turned, a))
    share = decide(ge(a, P * g), product(wide, pace.inverse), scale(pace.unit, a))
    ahead = product(along, pace.inverse, inverse, pace.forward)
    spare = product(share, some_log, pace.forward)
    top = decide(
        ge(
            HERE @ HERE + 2 * PACE * P * g * N * INV(a) + 2 * PACE * LN * a + PACE**2, AFTER @ AFTER
        ),
        *(whole, ahead, spare, scale(unit, PACE * g * (G @ HERE + LN * P))),
        degree=1,
    )
    return whole, gain, top, some_log


def apart(pace: Pace, inverse: Fact, some_log: Fact, step: tuple[Fact, ...]) -> Fact:
    """Return that N - P grows by at most B a (a ln J + s/2)/k in step k, if k > 0.

    Args:
        pace: facts about the steps.
        inverse: 1/a > 0.
        some_log: ln J >= 0.
        step: the gain along p*, the bound of ||p(k + 1)||^2, and that p(0) = 0.
    """
    gain, top, zero = step
    late, count, a = assume(gt(COUNT(K), 0)), COUNT(K), SIZE
    (size, is_square), new_square = cite(LENGTH, (), HERE), cite(LENGTH, (), AFTER)[1]
    # N a B >= k s
    (reach,) = cite(CAUCHY_SCHWARZ, (), HERE, V)
    b_unit = cite(RECIPROCAL, [pace.some_length], LONGEST)[0]
    far = decide(ge(N * a, count * PACE * INV(LONGEST)), reach, pace.progress, at(zero, {M: V}))
    far = decide(
        ge(N * a * LONGEST, count * PACE),
        product(far, pace.some_length),
        scale(b_unit, count * PACE),
    )
    wide = product(pace.size[0], pace.some_length)
    some_n = decide(gt(N, 0), wide, far, product_above(late, pace.forward))
    n_unit, n_inverse = cite(RECIPROCAL, [some_n], N)
    c_unit, c_inverse = cite(RECIPROCAL, [late], count)
    slow = decide(
        ge(a * LONGEST * INV(count), PACE * INV(N)),
        product(far, n_inverse, c_inverse),
        scale(n_unit, a * LONGEST * INV(count)),
        scale(c_unit, PACE * INV(N)),
    )
    rest = decide(ge(a * LN + PACE * fmpq(1, 2), 0), product(pace.size[0], some_log), pace.forward)
    slow = product(slow, rest)
    # N' <= N + s P/||g||/a + (s a ln J + s^2/2)/N
    P, g = total(pace.pull.p(j, K), j), INV(NORM(G))
    extra = PACE * P * g * INV(a) + PACE * rest.proposition.term * INV(N)
    some_extra = decide(
        ge(extra, 0),
        product(pace.forward, pace.some, pace.inverse, inverse),
        product(pace.forward, rest, n_inverse),
    )
    larger = decide(
        ge((N + extra) ** 2, AFTER @ AFTER),
        *(top, is_square, square(extra), scale(n_unit, 2 * PACE * rest.proposition.term)),
        degree=1,
    )
    larger = decide(ge(N + extra, NEXT), larger, new_square, some_extra, size)
    return decide(
        ge(DRIFT * INV(count), (NEXT - AFTER @ V * INV(a)) - (N - HERE @ V * INV(a))),
        *(larger, product(gain, inverse), slow),
        degree=1,
    )


def product_above(*facts: Fact) -> Fact:
    """Return that a product of two terms is above 0, as both are."""
    one, other = (fact.proposition.term for fact in facts)
    return decide(gt(one * other, 0), *facts)


@linked
def prove_close() -> str:
    """Prove that N - P <= s + B a (a ln J + s/2) (1 + ln k) after k >= 1 steps from zero."""
    pace = steps()
    some_size = decide(gt(SIZE, 0), pace.within, pace.gain, pace.some, pace.moving)
    unit, inverse = cite(RECIPROCAL, [some_size], SIZE)
    whole, gain, top, some_log = grows(pace, unit, inverse)
    (zero,) = suppose(ZERO_START)
    grown = apart(pace, inverse, some_log, (gain, top, zero))
    # the number n of a step after the first is at least 1
    later = K.term + 1
    counts = by_steps(ge(COUNT(K), 0), [pace.start], [pace.later])
    first = decide(gt(COUNT(later), 0), counts, pace.later)
    grown = cut(at(grown, {K: later}), first)
    n, n_next = COUNT(later), COUNT(K.term + 2)
    next_ = at(pace.later, {K: later})
    some_next = decide(gt(n_next, 0), next_, first)
    (is_n,), (is_next,) = cite(LOGARITHM, [first], n), cite(LOGARITHM, [some_next], n_next)
    n_inverse = cite(RECIPROCAL, [first], n)[1]
    next_unit, next_inverse = cite(RECIPROCAL, [some_next], n_next)
    line = tangent(LOG(n), LOG(n_next))
    change = LOG(n_next) - LOG(n)
    line = decide(ge(n_next * change, 1), line, is_n, scale(is_next, 1 - change), next_)
    rises = decide(ge(change, INV(n_next)), product(line, next_inverse), scale(next_unit, change))
    some_drift = product(
        pace.some_length,
        pace.size[0],
        decide(ge(SIZE * LN + PACE * fmpq(1, 2), 0), product(pace.size[0], some_log), pace.forward),
    )
    # induction
    distance = NORM(W(later)) - (W(later) @ V) * INV(SIZE)
    claim = ge(PACE + DRIFT * (1 + LOG(n) - INV(n)), distance)
    ended = induction(
        claim,
        started(pace, whole, gain, zero, inverse, some_drift),
        decide(claim.at({K: later}), assume(claim), grown, product(some_drift, rises), degree=1),
    )
    goal = ge(PACE + DRIFT * (1 + LOG(n)), distance)
    last = decide(goal, ended, product(some_drift, n_inverse))
    conclude_each(close(), pace.margins, some_size, last)
    return "for every loss with l' < 0, any T, d, s and k >= 1"


def started(
    pace: Pace, whole: Fact, gain: Fact, zero: Fact, inverse: Fact, some_drift: Fact
) -> Fact:
    """Return the claim of the induction for the first step, which has the length s."""
    start, after, n = {K: as_term(0)}, W(1), COUNT(1)
    none = at(zero, {M: W(0)}), at(zero, {M: GRADIENT(W(0))})
    is_square, slope = cite(LENGTH, (), after)[1], INV(NORM(GRADIENT(W(0))))
    first = decide(
        eq(after @ after, PACE**2), at(whole, start), none[0], scale(none[1], PACE * slope)
    )
    short = decide(ge(PACE, NORM(after)), first, is_square, pace.forward)
    ahead = product(pace.forward, pace.some, pace.inverse)
    ahead = decide(ge(after @ V, 0), at(gain, start), at(ahead, start), at(zero, {M: V}))
    one = decide(eq(n, 1), at(pace.later, start), pace.start)
    positive = decide(gt(n, 0), one)
    (is_n,) = cite(LOGARITHM, [positive], n)
    above = decide(ge(EXP(LOG(n)), 1), is_n, one)
    log = decide(ge(LOG(n), 0), above, tangent(as_term(0), LOG(n)))
    unit, _ = cite(RECIPROCAL, [positive], n)
    unit = decide(eq(INV(n), 1), unit, scale(one, INV(n)))
    return decide(
        ge(PACE + DRIFT * (1 + LOG(n) - INV(n)), NORM(after) - (after @ V) * INV(SIZE)),
        *(short, product(ahead, inverse), product(some_drift, log), scale(unit, DRIFT)),
        degree=1,
    )
