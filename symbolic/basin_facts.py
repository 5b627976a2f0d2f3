"""From the basin of the optimal tokens descent converges to V in direction: the linked proof.

Letters are those of `attsvm.primitives.descent_letters` and of `symbolic.attention_facts`. A start
in the basin keeps u above the second-best score by a constant, and s_o above another (`kept`).
Then W grows along V (`symbolic.growth_facts`), and turns to it (`symbolic.direction_facts`).
"""

from dataclasses import dataclass

from attsvm.primitives.descent_letters import (
    BEST,
    FALL,
    FALLS,
    FLAT,
    GAMMA,
    GAP,
    HIGH,
    INFIMUM,
    LOSS,
    MULTIPLE,
    NUMBER,
    OWNER,
    PROPER,
    RANGE,
    RATE,
    SMOOTHNESS,
    STEEP,
    A,
    M,
    V,
    W,
    X,
    attention,
    i,
    j,
    margin,
    off,
    risk,
    second,
    x,
)
from attsvm.theory.declaration.proof import Supposition
from attsvm.theory.proof.facts import Fact, K, eq, ev, ge, gt, note
from attsvm.theory.proof.lemmas import (
    CAUCHY_SCHWARZ,
    DESCENT,
    EXPONENTIAL,
    EXPONENTIAL_OF_SUM,
    LENGTH,
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
    regroup,
    scale,
    square,
)
from attsvm.theory.proof.terms import EXP, INV, NORM, Term, as_term, total
from symbolic.attention_facts import (
    AFTER,
    HERE,
    MARGIN,
    OWN,
    POWER,
    THEIRS,
    Attention,
    Interval,
    Kept,
    Moves,
    Slopes,
    attends,
    between,
    interval,
    loses_little,
    moves,
    of_second,
    over_own,
    slopes,
    steepness,
)
from symbolic.direction_facts import Pull, pulled, squares, turns
from symbolic.facts import by_steps, power, product, tangent
from symbolic.growth_facts import Coefficients, Growth, coefficients, diverges, longest, summed


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
    room = decide(
        gt(m * GAP * (1 - EXP(as_term(-1))), 0), inverse, steeper, decide(gt(m * GAP, 0), flat, gap)
    )
    few = product(power(-MULTIPLE), enough), scale(law, m * GAP)
    below = decide(gt(m * GAP, lost), add_up(costs, i), same, *few, room, degree=1)
    # the threshold is at least min |l'| gap, over n
    _, lowest, led = of_second(a, cut(apart, a.lower))
    ordered = decide(ge(BEST(OWN), second(OWN)), led, gap)
    part = between(at_least, second(OWN), BEST(OWN), lowest, at(a.best_high, {i: OWN}))
    rises, ends = -LOSS(x) - m * x.term, (second(OWN), BEST(OWN))
    (drop,) = cite(RISES, [loss.slope, ordered, part], rises, x, FALLS, *ends)
    threshold = LOSS(second(OWN)) - LOSS(BEST(OWN))
    ahead = decide(gt(threshold, lost), below, drop, flat, led)
    _, number = cite(RECIPROCAL, [a.input], NUMBER)
    mean = by_definition(eq(risk(W(0)), total(LOSS(u), i) / NUMBER), [a.means[0]])
    ahead = decide(gt((threshold - lost) / NUMBER, 0), ahead, number)
    return decide(gt(threshold / NUMBER, risk(W(0)) - INFIMUM), mean, ahead)


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
    lipschitz, at_most, _ = suppose(short)
    facts = [loss.slope, lipschitz, step.rate, at_most, step.descends]
    (falls,) = cite(DESCENT, facts, risk(X.term), X, FALLS, HERE, AFTER, RATE, SMOOTHNESS, M)
    never = by_steps(ge(risk(W(0)), risk(HERE)), [], [falls])
    never = note("the risk never rises above its first value", never)

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
    unit, positive_ = cite(RECIPROCAL, [decide(gt(distance, 0), led)], distance)
    share, share_is = define("share", (j,), lead(j) / distance)
    attended = decide(
        ge(s_o, share(j)),
        *(
            decide(
                ge(s_o * distance, lead(j)),
                *(at(a.mean, {i: OWN}), scale(at(a.one, {i: OWN}), ahead), rest, over),
            ),
            positive_,
            share_is,
            scale(unit, s_o),
        ),
    )
    return Kept(
        *(lead, share, lead_positive, decide(gt(share(j), 0), share_is, lead_positive, positive_)),
        *(decide(ge(u - GAMMA(j), lead(j)), over, largest), note("s_o stays above one", attended)),
        number,
    )


@dataclass(frozen=True, slots=True)
class Converged:
    """The limit of a run from the basin."""

    attention: Attention  # attention, step, coefficients, growth, pull: the facts on the run
    step: Moves
    coefficients: Coefficients
    growth: Growth
    pull: Pull
    turned: Fact  # ||V|| ||W|| <= (1 + off) <W, V> in the end, for every off > 0


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

    If `start` is None, the run has the proper start r V, which is in the basin.
    """
    a = attends(suppose(unique)[0])
    step = moves(a)
    steep = steepness(a, smooth, falling)
    bent, loss = slopes(a, steep), interval(steep)
    gap = proper(a, loss, falling, exists) if start is None else suppose(start)[0]
    keeps = kept(a, step, bent, loss, short, gap)
    return from_kept(a, step, bent, keeps, suppose(several)[0], suppose(exists))


def from_kept(
    a: Attention, step: Moves, bent: Slopes, keeps: Kept, several: Fact, exists: tuple[Fact, ...]
) -> Converged:
    """Prove the limit direction if s_o and u - second stay above positive constants."""
    c = coefficients(a, step, bent, keeps, several)
    far = longest(several)
    g = diverges(step, c, summed(step, c, far, exists[0]), far, exists)
    pull = pulled(step, c, g, a.power)
    turned = turns(step, c, g, pull, squares(step, g, pull))
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
    sizes = decide(ge(N * y, 0), g.V_norm, g.y_norm)
    short_ = decide(
        ev(ge(2 * part * N**2 * y**2, D @ D)),
        *(scale(g.y_square, N**2), scale(g.V_square, y**2), near, sizes),
    )
    one = scale(unit, off.term**2 * y**2)
    short_ = decide(ev(ge(off.term**2 * y**2, a**2 * (D @ D))), short_, square(a), one)
    (_, D_square), large = cite(LENGTH, (), D), decide(ge(off.term * y, 0), some, g.y_norm)
    short_ = decide(ev(ge(off.term * y, a * NORM(D))), short_, scale(D_square, a**2), large)
    return D, note("the direction of W tends to that of V", short_)


def margins_follow(run: Converged, D: Term, near: Fact) -> Fact:
    """Prove that ||V|| m_j >= (<A_j, V> - off) ||W|| in the end, by the facts of `nearly_along`."""
    g, (length, _) = run.growth, cite(LENGTH, (), D)
    (product,) = cite(CAUCHY_SCHWARZ, (), A(j), D)
    goal = ge(NORM(V) * MARGIN, (A(j) @ V - off) * NORM(HERE))
    return decide(ev(goal), near, product, g.longest_up, length)


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
    small = tangent(as_term(0), -MARGIN)
    small = decide(ev(ge(1, POWER * rivals / off.term)), small, far, a.power)
    small = decide(
        ev(ge(off.term, POWER * rivals)), small, off_positive, scale(unit, POWER * rivals)
    )
    small = decide(ev(ge(off.term, rivals * a.s(j, K))), small, c.share, c.several)
    count = add_up(decide(ge(1, 0)), j, THEIRS)
    shares = total(a.s(j, K), j, THEIRS)
    small = decide(
        ev(ge(off.term, shares)),
        *(add_up(small, j, THEIRS), one_of_sum(count, i), regroup(as_term(1), j, OWNER)),
        *(off_positive, c.several),
    )
    alone = decide(ev(ge(a.s_o(i, K), 1 - off.term)), small, a.one)
    claim = ev(ge(attention(i.term, HERE), 1 - off.term))
    return note("each s_o tends to 1", by_definition(claim, [a.means[1]], alone))
