"""A first step along the gradient that is long enough ends in the basin of the optimal tokens.

Letters are those of `properties.tf.global_initial_gradient.letters`. Let m_0 be the least margin of
W_0, iota the least margin of the unit step direction U, and R the length of the step. Then all
margins of W_1 are at least m_0 + iota R, so at least ln(Q/D).

1. So exp(-m_j) is at most D/Q. Attention to a rival is below that, so that n (L(W_1) - L_*) is
   below D, the least l(second) - l(best): W_1 is in the basin of V (`in_basin`).
2. V exists (`exists`). If Q > D, then W_1 over ln(Q/D) has margins of at least 1. Otherwise there
   is one rival, as D is at most b_i G_i. As grad L(W_0) is not 0, neither is its A, and V is
   A/||A||^2.
3. Descent from the basin converges to V in direction (`symbolic.basin_facts`).

A step that lowers some margins, so that iota is not positive, suffices as well if m_0 is large.
"""

from dataclasses import dataclass

from attsvm.errors import present
from attsvm.primitives.descent_letters import (
    BEST,
    FALL,
    FALLS,
    GAMMA,
    INFIMUM,
    LOSS,
    LOW,
    NUMBER,
    OWNER,
    RANGE,
    A,
    M,
    W,
    X,
    attention,
    bound,
    i,
    j,
    lead,
    margin,
    other,
    output,
    risk,
    second,
    x,
)
from attsvm.primitives.hypotheses import SEVERAL_TOKENS
from attsvm.primitives.steps import SHORT
from attsvm.theory.proof.facts import Fact, K, eq, ev, ge, gt
from attsvm.theory.proof.lemmas import (
    CAUCHY_SCHWARZ,
    EXPONENTIAL_OF_SUM,
    LOGARITHM,
    RECIPROCAL,
    RISES,
)
from attsvm.theory.proof.lemmas import LENGTH as NORMS
from attsvm.theory.proof.linked import linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    beyond,
    bounds,
    by_definition,
    cases,
    cite,
    cut,
    decide,
    one_of_sum,
    picked,
    positive,
    regroup,
    scale,
)
from attsvm.theory.proof.terms import EXP, INV, NORM, Term, as_term, same, total
from properties._support.suppositions import FALLING, SMOOTH_SLOPE, UNIQUE_OPTIMUM
from properties.tf import global_initial_gradient as statement
from properties.tf.global_initial_gradient import letters
from properties.tf.global_initial_gradient.letters import (
    LEAST_DROP,
    LEVEL,
    OF_STEP,
    SLOPE,
    START,
    STEEPEST,
    UNIT,
    WHOLE,
    drop,
    extent,
)
from symbolic.attention_facts import (
    OWN,
    THEIRS,
    Attention,
    Interval,
    Steepness,
    attends,
    between,
    interval,
    moves,
    of_second,
    r,
    slopes,
    steepness,
)
from symbolic.basin_facts import from_kept, kept
from symbolic.curvature import ensure_smoothness
from symbolic.facts import against, conclude_each, power, powers_rise, product, tangent

FIRST = {K: as_term(0)}


@dataclass(frozen=True, slots=True)
class Sizes:
    """Q = sum_j b_i G_i and D, the least l(second) - l(best)."""

    flatter: Fact  # -l' is at most b_i from best - G_i to the best score
    range: Fact  # no range G_i is negative
    wide: Fact  # no lead is above the range
    b: Fact  # b_i of the input of a rival is positive
    level: Fact  # exp(ln(Q/D)) is Q/D
    unit: Fact  # D/D is 1
    least: Fact  # D is positive
    drop: Fact  # no l(second) - l(best) is below D
    part: Fact  # b_i G_i of the input of a rival is positive
    within: Fact  # D is at most b_i G_i


def sizes(a: Attention, steep: Steepness, loss: Interval, several: Fact) -> Sizes:
    """Prove that Q and D are positive, and that D is at most each b_i G_i."""
    range_ = setting(OF_STEP, "no range is negative")
    wide = setting(OF_STEP, "no lead is above the range")
    flatter = setting(OF_STEP, "no |l'| between the scores of an input is above b_i")
    largest, lowest_, led = of_second(a, a.lower)
    best_high, own = at(a.best_high, {i: OWN}), {i: OWN}
    ends = second(OWN), BEST(OWN)
    ordered = decide(ge(BEST(OWN), second(OWN)), led)
    # l(second) - l(best) is positive, and at most b_i G_i
    c, b = steep.least, STEEPEST(OWN)
    part = between(steep.between[0], *ends, lowest_, best_high)
    (up,) = cite(RISES, [loss.slope, ordered, part], -LOSS(x) - c * x.term, x, FALLS, *ends)
    some = decide(gt(c * (BEST(OWN) - second(OWN)), 0), led, steep.positive)
    some = decide(gt(drop(j.term), 0), up, some)
    below = decide(ge(second(OWN), BEST(OWN) - RANGE(OWN)), largest, wide)
    inside = decide(ge(x, BEST(OWN) - RANGE(OWN)), assume(ge(x, second(OWN))), below)
    part = cut(at(flatter, own), inside)
    (down,) = cite(RISES, [loss.slope, ordered, part], LOSS(x) + b * x.term, x, FALLS, *ends)
    at_best = {x: BEST(OWN)}
    low = decide(ge(BEST(OWN), second(OWN)), led)
    edge = cut(at(part, at_best), low, decide(ge(0, 0)))
    lowest_best = decide(ge(BEST(OWN), LOW), low, lowest_)
    steeper = cut(at(steep.between[0], at_best), lowest_best, best_high)
    b_positive = decide(gt(b, 0), edge, steeper, steep.positive)
    least_ = bounds(at(some, {j: r}), "least", drop(r.term), r, several)
    least_drop = beyond("least", drop(j.term), j)
    within = decide(ge(extent(j.term), LEAST_DROP), least_drop, down, product(b_positive, below))
    part = decide(gt(extent(j.term), 0), within, least_)
    whole = add_up(part, j, None, several)
    unit, inverse = cite(RECIPROCAL, [least_], LEAST_DROP)
    share = decide(gt(WHOLE * INV(LEAST_DROP), 0), whole, inverse)
    (level,) = cite(LOGARITHM, [share], WHOLE * INV(LEAST_DROP))
    return Sizes(
        *(flatter, range_, wide, b_positive, level, unit, least_, least_drop, part, within)
    )


def in_basin(a: Attention, loss: Interval, q: Sizes, far: Fact, several: Fact) -> Fact:
    """Prove that W_1 is in the basin, as its margins are at least ln(Q/D)."""
    s, u, s_o = a.s(j, 0), a.u(i, 0), a.s_o(OWN, 0)
    e, b, D = EXP(-LEVEL), STEEPEST(OWN), LEAST_DROP
    # an input loses at most b_i (best - u)
    lost = total(a.s(j, K) * lead(j.term), j, THEIRS)
    behind = decide(eq(BEST(i) - a.u(i, K), lost), a.mean, scale(a.one, BEST(i)))
    rest = add_up(product(a.s_positive, q.wide), j, THEIRS)
    parts = behind, rest, scale(a.one, RANGE(i)), product(q.range, a.s_o_positive)
    above = at(decide(ge(a.u(i, K), BEST(i) - RANGE(i)), *parts), FIRST)
    part = cut(q.flatter, decide(ge(x, BEST(i) - RANGE(i)), assume(ge(x, u)), above))
    facts = [loss.slope, at(a.below_best, FIRST), part]
    (costs,) = cite(RISES, facts, LOSS(x) + STEEPEST(i) * x.term, x, FALLS, u, BEST(i))
    own = STEEPEST(i) * total(s * lead(j.term), j, THEIRS)
    costs = decide(ge(own, LOSS(u) - LOSS(BEST(i))), costs, scale(at(behind, FIRST), STEEPEST(i)))
    # attention to a rival is below exp(-ln(Q/D))
    term = at(one_of_sum(a.s_positive, j, OWNER), FIRST)
    some = at(a.s_positive, FIRST)
    less = decide(gt(1, s_o), at(a.one, {**FIRST, i: OWN}), term, some)
    few = powers_rise(-margin(j.term, W(0)), -LEVEL, far)
    few = decide(gt(e, s), at(a.means[2], FIRST), less, few, power(-margin(j.term, W(0))))
    price = decide(gt(b * lead(j.term), 0), q.b, a.lower)
    strict = decide(gt(b * lead(j.term) * (e - s), 0), price, few)
    spare = product(decide(gt(b * e, 0), q.b, power(-LEVEL)), q.wide)
    each = decide(gt(e * extent(j.term), b * s * lead(j.term)), strict, spare)
    each = add_up(each, j, None, several)
    (law,) = cite(EXPONENTIAL_OF_SUM, (), LEVEL, -LEVEL)
    equal = decide(eq(WHOLE * INV(D) * e, 1), law, scale(q.level, e))
    equal = decide(eq(WHOLE * e, D), scale(equal, D), scale(q.unit, WHOLE * e))
    losses = total(LOSS(u) - LOSS(BEST(i)), i)
    sums = add_up(costs, i), regroup(b * s * lead(j.term), j, OWNER)
    below = decide(gt(drop(j.term), losses), each, equal, *sums, q.drop)
    _, number = cite(RECIPROCAL, [a.input], NUMBER)
    mean = by_definition(eq(risk(W(0)), total(LOSS(u), i) / NUMBER), [a.means[0]])
    below = decide(gt((drop(j.term) - losses) / NUMBER, 0), below, number)
    return decide(gt(drop(j.term) / NUMBER, risk(W(0)) - INFIMUM), mean, below)


def still(flat: Fact) -> Fact:
    """Return that <grad L(W_0), grad L(W_0)> is 0, as no margin moves along grad L(W_0)."""
    slope = at(setting(OF_STEP, "the gradient at W_0 has the slope of the risk there"), {M: SLOPE})
    E = EXP(-margin(j.term, START))
    moved = [add_up(scale(flat, E * z), j, THEIRS) for z in (as_term(1), GAMMA(j))]
    share, others = attention(i.term, START), total(E * GAMMA(j), j, THEIRS)
    steep = FALL(output(i.term, START)) * share
    each = scale(moved[0], steep * share * (BEST(i) + others)), scale(moved[1], steep)
    first, last = (scale(add_up(fact, i), INV(NUMBER)) for fact in each)
    return decide(eq(SLOPE @ SLOPE, 0), slope, first, last)


def exists(q: Sizes, far: Fact, moving: Fact, several: Fact) -> Fact:
    """Prove that V has margins of at least 1: some matrix has."""
    meets = setting(OF_STEP, "V has margins of at least 1, if some matrix has")
    either = setting(OF_STEP, "rivals are the same or not")
    condition = gt(LEVEL, 0)
    yes, no = assume(condition), assume(condition.denied())

    def reached(point: Term, margins: Fact) -> Fact:
        low = bounds(at(margins, {j: r}), "least", margin(r.term, point), r, several)
        return cut(at(meets, {X: point}), low)

    unit, inverse = cite(RECIPROCAL, [yes], LEVEL)
    scaled = decide(ge(margin(j.term, INV(LEVEL) * W(0)), 1), product(far, inverse), unit)
    large = reached(INV(LEVEL) * W(0), scaled)
    # else there is one rival
    D, T = LEAST_DROP, extent(j.term)
    rises = decide(ge(1, EXP(LEVEL)), no, tangent(as_term(0), LEVEL))
    small = decide(ge(D, WHOLE), q.level, rises, q.least, scale(q.unit, WHOLE))
    one = same(j, other)
    room = decide(ge(1 - one, 0), either)
    others = one_of_sum(product(room, q.part), j)
    within = at(q.within, {j: other})
    alone = decide(eq(one, 1), small, others, picked(T, j, other), within, q.part, room, degree=2)
    B = total(A(r), r)
    along = add_up(scale(alone, A(j) @ M.term), j)
    alike = decide(eq(A(other) @ M.term, B @ M.term), along, picked(A(j) @ M.term, j, other))
    alike = at(alike, {other: j})
    square_, forward = B @ B, gt(B @ B, 0)
    zero = assume(forward.denied())
    _, size_square = cite(NORMS, (), B)
    none = scale(decide(eq(NORM(B), 0), size_square, zero), NORM(SLOPE))
    (up,) = cite(CAUCHY_SCHWARZ, (), B, SLOPE)
    flat = decide(eq(A(j) @ SLOPE, 0), at(alike, {M: SLOPE}), up, against(B, SLOPE), none)
    _, norm_square = cite(NORMS, (), SLOPE)
    refuted = decide(forward, still(flat), moving, norm_square)
    unit, _ = cite(RECIPROCAL, [cases(assume(forward), refuted, forward)], square_)
    point = INV(square_) * B
    parts = scale(at(alike, {M: B}), INV(square_)), unit
    single = reached(point, decide(ge(margin(j.term, point), 1), *parts))
    return cases(large, single, condition)


@linked
def prove() -> str:
    """Prove that the limit direction is that of V after a first step of length R >= 0 along U."""
    claim = present(letters.converges(), "a claim")
    ensure_smoothness()  # proves that the code's L is a Lipschitz constant
    (lower,), (several,) = suppose(UNIQUE_OPTIMUM), suppose(SEVERAL_TOKENS)
    a = attends(lower)
    step, steep = moves(a), steepness(a, SMOOTH_SLOPE, FALLING)
    bent, loss = slopes(a, steep), interval(steep)
    (forward,), (moving, long) = suppose(statement.FORWARD), suppose(statement.LONG)
    stepped = at(setting(OF_STEP, "W_1 is W_0 + R U"), {M: A(j)})
    ahead = product(forward, beyond("least", margin(j.term, UNIT), j))
    first = beyond("least", margin(j.term, START), j)
    far = decide(ge(margin(j.term, W(0)), LEVEL), stepped, ahead, first, long)
    q = sizes(a, steep, loss, several)
    keeps = kept(a, step, bent, loss, SHORT, in_basin(a, loss, q, far, several))
    shortest = setting(OF_STEP, "no matrix of such margins is shorter")
    run = from_kept(a, step, bent, keeps, several, (exists(q, far, moving, several), shortest))
    moves_ = decide(ev(gt(NORM(W(K)), 0)), run.growth.far, positive(bound))
    conclude_each(claim, run.growth.V_positive, moves_, run.turned)
    return "for every smooth loss with l' < 0, any n, T and d"
