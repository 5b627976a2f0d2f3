"""Rates of descent from the basin: of the norm and of the least margin, by linked facts.

Letters are those of `symbolic.attention_facts`. Let f = <W, V>, N = ||V|| and y = ||W||; P is the
sum of the p_j. The direction of W tends to that of V, so that f/N^2, y/N and the least margin
differ by factors that tend to 1.

1. A step adds at least e P to f, and P >= c exp(-f (1 + off)/N^2) in the end. So the exponential of
   b f, b = (1 + off)/N^2, grows by a constant at least, and f is about ln(k)/b at least (`below`).
2. A step adds a multiple of exp(-b f) to f at most, for b = (1 - off)/N^2. So the exponential of
   b f grows by a constant at most (`above`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from attsvm.primitives.descent_letters import (
    COUNT,
    LN_K,
    RATE,
    TIMED,
    A,
    M,
    V,
    bound,
    j,
    off,
    rate,
    slope,
)
from attsvm.primitives.hypotheses import SEVERAL_TOKENS
from attsvm.primitives.steps import SHORT
from attsvm.theory.proof.facts import Fact, K, current, eq, ev, ge, gt, note
from attsvm.theory.proof.lemmas import (
    CAUCHY_SCHWARZ,
    EXPONENTIAL,
    EXPONENTIAL_OF_SUM,
    FINITELY_OFTEN,
    RECIPROCAL,
    SETTLED,
)
from attsvm.theory.proof.linked import Said, linked, setting
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    bounds,
    cite,
    decide,
    define,
    positive,
    scale,
    square,
)
from attsvm.theory.proof.terms import (
    EXP,
    INV,
    NORM,
    Letter,
    Operand,
    Term,
    as_term,
    substituted,
    total,
)
from properties._support.suppositions import (
    FALLING,
    IN_BASIN,
    SMOOTH_SLOPE,
    SOLUTION,
    UNIQUE_OPTIMUM,
)
from symbolic.attention_facts import AFTER, HERE, MARGIN, POWER, r
from symbolic.basin_facts import Converged, converges, margins_follow, nearly_along
from symbolic.curvature import ensure_smoothness
from symbolic.facts import conclude_each, outgrows, power, tangent

N, Y, F, OFF = NORM(V), NORM(HERE), HERE @ V, off.term
NEXT = {K: K.term + 1}


@dataclass(frozen=True, slots=True)
class Clock:
    """The number k of a step and its logarithm."""

    counts: Fact  # a step adds 1 to k
    is_power: Fact  # exp(ln k) = k in the end
    far: Fact  # far, long: k and ln k exceed every bound in the end
    long: Fact


def clock() -> Clock:
    """Prove that k and ln k tend to infinity."""
    counts = setting(TIMED, "each step has the next number")
    is_power = setting(TIMED, "k is the exponential of ln k, from k = 1 on")
    near, one = assume(ge(bound, COUNT(K))), decide(gt(1, 0))
    rises = decide(ge(COUNT(K.term + 1), COUNT(K) + 1), counts)
    never = decide(ge(COUNT(K.term + 1), COUNT(K)), counts)
    facts = [never, one, rises, near]
    (far,) = cite(
        FINITELY_OFTEN, facts, COUNT(K), one.proposition.term, bound.term, near.proposition
    )
    beyond = at(far, {bound: EXP(bound)}, power(bound.term))
    long = decide(ev(gt(LN_K, bound)), beyond, is_power, tangent(bound.term, LN_K), power(LN_K))
    return Clock(counts, is_power, far, note("ln k tends to infinity", long))


def ordered(low: Term, high: Term, order: Fact) -> Fact:
    """Return that high >= low in the end, as exp(high) >= exp(low) in the end."""
    return decide(ev(ge(high, low)), order, tangent(low, high), power(high))


@dataclass(frozen=True, slots=True)
class Grown:
    """A run from the basin, the clock, and the reciprocal of N."""

    run: Converged  # run, clock: the facts on both
    clock: Clock
    unit: Fact  # N times 1/N is 1
    square: Fact  # 1/N^2 > 0
    along: Fact  # N y >= f

    def divided(self, term: Term) -> Fact:
        """Return that N^2 term/N^2 is the term."""
        return scale(self.unit, (N / N + 1) * term)


def below(grown: Grown) -> Fact:
    """Prove that (1 + off) y >= (1 - off) N ln k in the end, for every off > 0."""
    run, c, g, pull = grown.run, grown.run.coefficients, grown.run.growth, grown.run.pull
    b_, b_is = define("lower b", (off,), (1 + OFF) * INV(N) ** 2)
    b, some = b_(off), positive(off)
    b_positive = decide(gt(b, 0), b_is, grown.square, some)
    (own,) = cite(EXPONENTIAL_OF_SUM, (), b * F, -b * F)
    lowest, present_power = pull.lowest, power(b * F)
    order = decide(ev(ge((1 + OFF) * F, N**2 * lowest)), run.turned, pull.reached, g.V_norm)
    order = decide(
        ev(ge(b * F, lowest)), order, grown.square, scale(b_is, F), grown.divided(lowest)
    )
    low = decide(ev(ge(EXP(-lowest), EXP(-b * F))), tangent(-lowest, -b * F), order, power(-b * F))
    heavy = decide(ev(ge(g.P, c.low * EXP(-b * F))), pull.heavy, low, c.low_positive)
    heavy = decide(ev(ge(EXP(b * F) * g.P, c.low)), heavy, present_power, scale(own, c.low))
    weight = decide(gt(EXP(b * F) * b, 0), present_power, b_positive)
    rises = tangent(b * (AFTER @ V), b * F)
    gain = EXP(b * F) * (1 + b * RATE * g.P)
    rises = decide(ge(EXP(b * (AFTER @ V)), gain), rises, g.grows, weight)
    rate_ = decide(gt(b * RATE, 0), b_positive, run.step.rate)
    per_step = b * RATE * c.low
    rises = decide(ev(ge(EXP(b * (AFTER @ V)), EXP(b * F) + per_step)), rises, heavy, rate_)
    rises = note("exp(b f) grows by a constant at least", rises)
    rest = per_step * COUNT(K) - EXP(b * F)
    falls = decide(
        ev(ge(rest, substituted(rest, NEXT))), rises, scale(grown.clock.counts, per_step)
    )
    (settled,) = cite(SETTLED, [falls], "lower slack", rest)
    slack = current().names["lower slack"](off)
    # so exp(b f) >= k times half of that constant >= k exp(-off ln k)
    some_step = decide(gt(per_step, 0), rate_, c.low_positive)
    one, over = cite(RECIPROCAL, [some_step], per_step)
    level = decide(gt(2 * (slack**2 + 1), 0), square(slack))
    far = outgrows(grown.clock.far, bound, some_step, level)
    long = outgrows(grown.clock.long, bound, some, decide(gt(2 / per_step, 0), over))
    small = tangent(as_term(0), -OFF * LN_K)
    small = decide(ev(ge(1, EXP(-OFF * LN_K) * 2 / per_step)), small, long, power(-OFF * LN_K))
    small = decide(
        ev(ge(per_step, 2 * EXP(-OFF * LN_K))),
        *(small, some_step, scale(one, 2 * EXP(-OFF * LN_K))),
    )
    (law,) = cite(EXPONENTIAL_OF_SUM, (), LN_K, -OFF * LN_K)
    spare = decide(ev(ge(per_step * COUNT(K), 2 * slack)), far, square(slack - 1))
    reached = decide(
        ev(ge(EXP(b * F), EXP(LN_K - OFF * LN_K))),
        *(settled, small, power(LN_K), law, scale(grown.clock.is_power, per_step), spare),
    )
    order = ordered(LN_K - OFF * LN_K, b * F, reached)
    whole = N**2 * (1 - OFF) * LN_K
    order = decide(
        ev(ge((1 + OFF) * F, whole)),
        *(order, decide(gt(N**2, 0), g.V_positive)),
        *(scale(b_is, N**2 * F), grown.divided((1 + OFF) * F)),
    )
    order = decide(ev(ge((1 + OFF) * N * Y, whole)), order, grown.along, some)
    return decide(ev(ge((1 + OFF) * Y, (1 - OFF) * N * LN_K)), order, g.V_positive)


def above(grown: Grown, follows: Fact) -> Fact:
    """Prove that y <= (1 + off)^3 N ln k in the end, for every off > 0.

    `follows` is the fact of `margins_follow`.
    """
    run, c, g, step = grown.run, grown.run.coefficients, grown.run.growth, grown.run.step
    some = positive(off)
    one, over = cite(RECIPROCAL, [decide(gt(1 + OFF, 0), some)], 1 + OFF)
    less = OFF / (1 + OFF)
    b_, b_is = define("upper b", (off,), INV(1 + OFF) * INV(N) ** 2)
    b = b_(off)
    b_positive = decide(gt(b, 0), b_is, grown.square, over)
    (own,) = cite(EXPONENTIAL_OF_SUM, (), b * F, -b * F)
    follows = at(follows, {off: less}, decide(gt(less, 0), some, over))
    follows = decide(
        ev(ge(N * MARGIN, INV(1 + OFF) * Y)), follows, g.margins, g.y_norm, scale(one, Y)
    )
    follows = decide(ev(ge(N**2 * MARGIN, INV(1 + OFF) * N * Y)), follows, g.V_norm)
    follows = decide(ev(ge(N**2 * MARGIN, INV(1 + OFF) * F)), follows, grown.along, over)
    order = decide(
        ev(ge(MARGIN, b * F)), follows, grown.square, scale(b_is, F), grown.divided(MARGIN)
    )
    p, M_j, whole = step.p(j, K), A(j) @ V, total(A(j) @ V, j)
    top = decide(ev(ge(EXP(-b * F), POWER)), tangent(-b * F, -MARGIN), order, run.attention.power)
    top = decide(ev(ge(c.high * EXP(-b * F), p)), c.at_most, top, c.high_positive)
    margin = decide(gt(M_j, 0), g.margins)
    most = add_up(decide(ev(ge(c.high * EXP(-b * F) * M_j, p * M_j)), top, margin), j)
    always = add_up(decide(ge(c.high * M_j, p * M_j), c.bounded, margin), j)
    gain, present_power, after = b * (AFTER @ V - F), power(b * F), EXP(b * (AFTER @ V))
    (split_,) = cite(EXPONENTIAL_OF_SUM, (), b * F, gain)
    moved = scale(at(step.grown, {M: V}), b)
    rate_ = decide(gt(b * RATE, 0), b_positive, step.rate)
    constant = b * RATE * c.high * whole
    always = decide(ge(constant, gain), always, moved, rate_)
    most = decide(ev(ge(constant * EXP(-b * F), gain)), most, moved, rate_)
    most = decide(ev(ge(constant, EXP(b * F) * gain)), most, present_power, scale(own, constant))
    some_gain = decide(ge(RATE * g.P, 0), step.rate, g.P_positive)
    some_gain = decide(ge(gain, 0), g.grows, some_gain, b_positive)
    # exp(x) <= 1 + x exp(x) <= 1 + x exp(constant)
    (law,), (_, line) = cite(EXPONENTIAL_OF_SUM, (), gain, -gain), cite(EXPONENTIAL, (), -gain)
    limit = decide(ge(EXP(constant), EXP(gain)), tangent(constant, gain), always, power(gain))
    bent = decide(ge(1 + gain * EXP(constant), EXP(gain)), law, line, power(gain), limit, some_gain)
    per_step = constant * EXP(constant)
    rises = decide(
        ev(ge(EXP(b * F) + per_step, after)), split_, bent, present_power, most, power(constant)
    )
    rises = note("exp(b f) grows by a constant at most", rises)
    rest = EXP(b * F) - per_step * COUNT(K)
    falls = decide(
        ev(ge(rest, substituted(rest, NEXT))), rises, scale(grown.clock.counts, per_step)
    )
    (settled,) = cite(SETTLED, [falls], "upper slack", rest)
    slack = current().names["upper slack"](off)
    # k exp(off ln k) >= k (1 + off ln k) >= k (1 + constant)
    far = at(grown.clock.far, {bound: slack**2 + 1}, decide(gt(slack**2 + 1, 0), square(slack)))
    level = decide(gt(per_step**2 + 1, 0), square(per_step))
    long = outgrows(grown.clock.long, bound, some, level)
    long = decide(ev(ge(OFF * LN_K, per_step)), long, square(per_step - 1))
    (law,), (_, line) = (
        cite(EXPONENTIAL_OF_SUM, (), LN_K, OFF * LN_K),
        cite(EXPONENTIAL, (), OFF * LN_K),
    )
    large = decide(ev(ge(EXP(OFF * LN_K), 1 + per_step)), line, long)
    reached = decide(
        ev(ge(EXP(LN_K + OFF * LN_K), EXP(b * F))),
        *(settled, far, square(2 * slack - 1), large, power(LN_K), law),
        scale(grown.clock.is_power, 1 + per_step),
    )
    order = ordered(b * F, LN_K + OFF * LN_K, reached)
    more = decide(gt(N**2 * (1 + OFF), 0), decide(gt(N**2, 0), g.V_positive), some)
    order = decide(
        ev(ge(N**2 * (1 + OFF) ** 2 * LN_K, F)),
        *(order, more, scale(b_is, N**2 * (1 + OFF) * F)),
        *(scale(grown.unit, (N / N + 1) * F * (1 + OFF) / (1 + OFF)), scale(one, F)),
    )
    order = decide(ev(ge(N**2 * (1 + OFF) ** 3 * LN_K, (1 + OFF) * F)), order, some)
    order = decide(ev(ge(N**2 * (1 + OFF) ** 3 * LN_K, N * Y)), order, run.turned)
    return decide(ev(ge(N * (1 + OFF) ** 3 * LN_K, Y)), order, g.V_positive)


@dataclass(frozen=True, slots=True)
class Part:
    """The number t = off/(times + off), which is between 0 and 1."""

    t: Term  # the number
    some: Fact  # t > 0
    whole: Fact  # off (1 - t) = times t

    def below_one(self, *times: Fact) -> Fact:
        """Return that t < 1; unless `times` is a number, give the fact that it is positive."""
        return decide(gt(1, self.t), self.whole, *times, positive(off))


def part(name: str, letters: Sequence[Letter], times: Operand, *some_times: Fact) -> Part:
    """Return a name for t = off/(times + off), where `times` is positive."""
    some, whole = positive(off), times + off.term
    unit, inverse = cite(RECIPROCAL, [decide(gt(whole, 0), some, *some_times)], whole)
    t_, t_is = define(name, letters, OFF * INV(whole))
    t = t_(*letters)
    return Part(
        *(t, decide(gt(t, 0), t_is, some, inverse)),
        decide(eq(OFF * (1 - t), times * t), scale(unit, OFF), scale(t_is, whole)),
    )


@dataclass(frozen=True, slots=True)
class Rates:
    """How the norm grows."""

    run: Converged  # run, clock: the facts on the run and on ln k
    clock: Clock
    deviation: Term  # deviation, near: the term and the fact of `nearly_along`
    near: Fact
    follows: Fact  # the fact of `margins_follow`
    # least, most: (1 + off) y >= N ln k and (1 + off) N ln k >= y in the end, for every off > 0
    least: Fact
    most: Fact


def rates() -> Rates:
    """Prove that from the basin ||W_k||/ln k tends to N."""
    ensure_smoothness()  # proves that the code's L is a Lipschitz constant
    run = converges(
        *(UNIQUE_OPTIMUM, SMOOTH_SLOPE, FALLING, SHORT, IN_BASIN, SEVERAL_TOKENS, SOLUTION)
    )
    g = run.growth
    unit, inverse = cite(RECIPROCAL, [g.V_positive], N)
    (along,) = cite(CAUCHY_SCHWARZ, (), HERE, V)
    grown = Grown(run, clock(), unit, decide(gt(INV(N) ** 2, 0), inverse), along)
    D, near = nearly_along(run)
    follows = margins_follow(run, D, near)
    half, few = part("half", [off], 2), part("few", [off], 7)
    least = at(below(grown), {off: half.t}, half.some)
    least = decide(
        ev(ge((1 + OFF) * Y, N * LN_K)), least, scale(half.whole, Y), half.below_one(), degree=3
    )
    most = at(above(grown, follows), {off: few.t}, few.some)
    wide = decide(
        ge(1 + OFF, (1 + few.t) ** 3),
        *(few.some, few.below_one(), few.whole, positive(off)),
        degree=3,
    )
    long = at(grown.clock.long, {bound: 1}, decide(gt(1, 0)))
    long = decide(ev(gt(N * LN_K, 0)), long, g.V_positive)
    most = decide(ev(ge((1 + OFF) * N * LN_K, Y)), most, wide, long)
    return Rates(
        *(run, grown.clock, D, near, follows),
        *(
            note("||W|| is at least N ln k/(1 + off)", least),
            note("and at most N ln k (1 + off)", most),
        ),
    )


def end(claim: Said | None, *by: Fact) -> str:
    """Conclude a claim by facts, one for each sequent, and say for which data it holds."""
    conclude_each(claim, *by)
    return "for every smooth loss with l' < 0 and any n, T and d"


@linked
def prove_rate() -> str:
    """Prove that from the basin ||W_k||/ln k tends to N."""
    limits = rates()
    return end(rate(), limits.least, limits.most)


@linked
def prove_slope() -> str:
    """Prove that from the basin the least margin over ln k tends to 1."""
    limits = rates()
    run, g, half = limits.run, limits.run.growth, part("part", [off], 2)
    lowest, some = run.pull.lowest, positive(off)
    # (1 + off) m_j >= ln k by the margins, and least <= y/N
    follows = at(limits.follows, {off: half.t}, half.some)
    follows = decide(ev(ge(N * MARGIN, (1 - half.t) * Y)), follows, g.margins, g.y_norm)
    follows = decide(
        ev(ge((1 + OFF) * N * MARGIN, (1 + half.t) * Y)), follows, some, scale(half.whole, Y)
    )
    grown = at(limits.least, {off: half.t}, half.some)
    each = decide(ev(ge((1 + OFF) * MARGIN, LN_K)), follows, grown, g.V_positive)
    unit, inverse = cite(RECIPROCAL, [decide(gt(1 + OFF, 0), some)], 1 + OFF)
    each = decide(ev(ge(MARGIN, LN_K / (1 + OFF))), each, inverse, scale(unit, MARGIN))
    low = bounds(at(each, {j: r}), "least", A(r) @ HERE, r, run.coefficients.several)
    low = decide(ev(ge((1 + OFF) * lowest, LN_K)), low, some, scale(unit, LN_K))
    high = decide(ev(ge((1 + OFF) * LN_K, lowest)), limits.most, run.pull.reached, g.V_positive)
    return end(slope(), low, high)
