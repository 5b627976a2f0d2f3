"""Descent whose attention to optimal tokens stays positive grows along V: facts of linked proofs.

Letters are those of `attsvm.primitives.descent_letters` and of `symbolic.attention_facts`.

1. -grad L = sum_j p_j A_j with c exp(-m_j) <= p_j <= C exp(-m_j), c > 0 (`coefficients`).
2. <W, V> grows by e P at least, P = sum_j p_j, and ||W|| tends to infinity (`diverges`).
"""

from dataclasses import dataclass

from attsvm.primitives.descent_letters import (
    BEST,
    FALL,
    GAMMA,
    NUMBER,
    OWNER,
    RATE,
    A,
    M,
    V,
    X,
    bound,
    i,
    j,
)
from attsvm.theory.proof.facts import Fact, K, ge, gt, note
from attsvm.theory.proof.lemmas import (
    CAUCHY_SCHWARZ,
    FINITELY_OFTEN,
    LENGTH,
    RECIPROCAL,
)
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    attained,
    beyond,
    bounds,
    cases,
    cite,
    cut,
    decide,
    define,
    one_of_sum,
    scale,
)
from attsvm.theory.proof.terms import EXP, INV, NORM, Letter, Term, least, most, total
from symbolic.attention_facts import (
    AFTER,
    HERE,
    MARGIN,
    OWN,
    POWER,
    Attention,
    Kept,
    Moves,
    Slopes,
    over_own,
    r,
)
from symbolic.facts import power, powers_rise, product


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Bounds of the coefficients p_j of A_j in -grad L, which may be negative."""

    low: Term  # low, high: the constants c and C
    high: Term
    low_positive: Fact  # low_positive, high_positive: both constants are positive
    high_positive: Fact
    at_most: Fact  # p_j <= C exp(-m_j)
    bounded: Fact  # p_j <= C
    several: Fact  # there is a rival


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficients(Bounds):
    """Bounds of the coefficients p_j of A_j in -grad L, all of which are positive."""

    at_least: Fact  # c exp(-m_j) <= p_j
    positive: Fact  # p_j > 0
    share: Fact  # s_j <= exp(-m_j)


def coefficients(
    a: Attention, step: Moves, bent: Slopes, keeps: Kept, some_rival: Fact
) -> Coefficients:
    """Prove that c exp(-m_j) <= p_j <= C exp(-m_j) with constants c, C > 0."""
    u, s_o, s, p, n = a.u(OWN, K), a.s_o(OWN, K), a.s(j, K), step.p(j, K), INV(NUMBER)
    lower, upper = (at(f, {i: OWN}) for f in bent.at_output)
    # from below
    floor, floor_is = define("floor", (j,), bent.least * keeps.share(j) * keeps.lead(j) * n)
    part = decide(gt(bent.least * keeps.share(j), 0), bent.least_positive, keeps.share_positive)
    first = decide(
        ge(FALL(u) * s_o, bent.least * keeps.share(j)),
        *(lower, keeps.attended, bent.least_positive, at(a.s_o_positive, {i: OWN})),
    )
    both = decide(
        ge(FALL(u) * s_o * (u - GAMMA(j)), bent.least * keeps.share(j) * keeps.lead(j)),
        *(first, keeps.ahead, part, keeps.lead_positive),
    )
    weight = scale(a.means[2], FALL(u) * (u - GAMMA(j)) * n)
    power = decide(gt(POWER * n, 0), a.power, keeps.number)
    at_least = decide(
        ge(p, floor(j) * POWER), step.p_is, weight, scale(floor_is, POWER), both, power
    )
    whole = decide(gt(bent.least * keeps.share(j) * keeps.lead(j), 0), part, keeps.lead_positive)
    floor_positive = decide(gt(floor(j), 0), floor_is, whole, keeps.number)
    # from above
    distance = BEST(OWN) - GAMMA(j)
    top, top_is = define("top", (j,), bent.most * distance * n)
    both = decide(
        ge(bent.most * distance, FALL(u) * (u - GAMMA(j))),
        *(at(a.below_best, {i: OWN}), upper, keeps.ahead, keeps.lead_positive, bent.most_positive),
    )
    share = decide(gt(s * n, 0), a.s_positive, keeps.number)
    below = decide(ge(top(j) * s, p), step.p_is, scale(top_is, s), both, share)
    one = at(a.one, {i: OWN})
    each = one_of_sum(a.s_positive, j, OWNER)
    whole = decide(gt(bent.most * distance, 0), bent.most_positive, a.lower)
    top_positive = decide(gt(top(j), 0), top_is, whole, keeps.number)
    s_power = decide(ge(POWER, s), a.means[2], one, over_own(a.s_positive), a.power)
    # the constants are the least floor and the largest top
    high, low = most(top(r), r), least(floor(r), r)
    largest, smallest = beyond("most", top(j), j), beyond("least", floor(j), j)
    pick, reached = attained("lowest floor", low, some_rival)
    at_most = decide(
        ge(high * POWER, p),
        *(below, s_power, top_positive, largest, a.power),
    )
    bounded = decide(
        ge(high, p), below, one, each, at(a.s_o_positive, {i: OWN}), top_positive, largest
    )
    at_least_low = decide(ge(p, low * POWER), at_least, smallest, a.power)
    return Coefficients(
        low=low,
        high=high,
        low_positive=decide(gt(low, 0), reached, at(floor_positive, {j: pick()})),
        high_positive=decide(gt(high, 0), largest, top_positive, some_rival),
        at_least=note("p_j >= c exp(-m_j)", at_least_low),
        at_most=note("p_j <= C exp(-m_j)", at_most),
        bounded=bounded,
        positive=decide(gt(p, 0), at_least, floor_positive, a.power),
        several=some_rival,
        share=s_power,
    )


@dataclass(frozen=True, slots=True)
class Longest:
    """The largest ||A_j||, and that it is at least each of them, and at least 0."""

    size: Term
    up: Fact
    positive: Fact


def longest(several: Fact) -> Longest:
    """Return facts on the largest ||A_j||, as there is a rival."""
    size, up = most(NORM(A(r)), r), beyond("most", NORM(A(j)), j)
    length, _ = cite(LENGTH, (), A(j))
    return Longest(size, up, decide(ge(size, 0), up, length, several))


@dataclass(frozen=True, slots=True)
class Total:
    """The sum P of the coefficients p_j at a step, and what a step adds to W, G = sum_j p_j A_j."""

    P: Term
    P_is: Fact  # P_is, positive: the definition of P, and P > 0
    positive: Fact
    along: Fact  # <G, V> >= P
    heavy: Fact  # P >= c exp(-m_j)
    reach: Term  # a number that is at least `longest`
    wide: Fact | None  # it is; None if it is `longest`
    stretch: Fact  # ||G||^2 <= reach P ||G||


def summed(step: Moves, c: Coefficients, far: Longest, margins: Fact) -> Total:
    """Prove the facts on P if all coefficients are positive, and V has margins of at least 1."""
    p = step.p(j, K)
    sum_, P_is = define("P", (K,), total(p, j))
    P, G = sum_(K), total(p * A(j), j)
    gains = add_up(decide(ge(p * (A(j) @ V), p), c.positive, margins), j)
    each = decide(ge(P, p), one_of_sum(c.positive, j), P_is)
    G_norm, _ = cite(LENGTH, (), G)
    (within,) = cite(CAUCHY_SCHWARZ, (), A(j), G)
    part = decide(ge(far.size * NORM(G), A(j) @ G), within, far.up, G_norm)
    part = decide(ge(p * far.size * NORM(G), p * (A(j) @ G)), part, c.positive)
    stretch = ge(far.size * P * NORM(G), G @ G)
    return Total(
        *(P, P_is, decide(gt(P, 0), P_is, add_up(c.positive, j, None, c.several))),
        decide(ge(G @ V, P), gains, P_is),
        decide(ge(P, c.low * POWER), each, c.at_least),
        *(far.size, None),
        decide(stretch, add_up(part, j), scale(P_is, far.size * NORM(G))),
    )


@dataclass(frozen=True, slots=True)
class Growth:
    """How W grows along V."""

    P: Term  # the sum of the coefficients p_j at a step
    P_is: Fact  # P_is, P_positive: the definition of P, and P > 0
    P_positive: Fact
    heavy: Fact  # P is at least c exp(-m_j)
    longest: Term  # the largest ||A_j||
    # longest_up, longest_positive: `longest` is at least each ||A_j||, and at least 0
    longest_up: Fact
    longest_positive: Fact
    shortest: Fact  # no X with margins of at least 1 is shorter than V
    grows: Fact  # <W', V> >= <W, V> + e P
    far: Fact  # ||W|| > b in the end, for every b > 0
    b: Letter  # the letter of this bound
    y_norm: Fact  # y_norm, y_square: ||W|| >= 0 and ||W||^2 = <W, W>
    y_square: Fact
    V_norm: Fact  # V_norm, V_square: the same for V
    V_square: Fact
    V_positive: Fact  # ||V|| > 0
    unit: Fact  # longest ||V|| >= 1
    margins: Fact  # <A_j, V> >= 1
    reach: Term  # reach, stretch: ||G||^2 <= reach P ||G|| for G = sum_j p_j A_j
    stretch: Fact
    reach_positive: Fact  # reach_positive, span: reach >= 0, and reach ||V|| >= 1
    span: Fact


def diverges(step: Moves, c: Bounds, t: Total, far: Longest, exists: tuple[Fact, ...]) -> Growth:
    """Prove that ||W|| exceeds every bound b from some step on.

    <W, V> never falls, and it rises by at least a positive constant at each step with ||W|| <= b.
    """
    y, N, P = NORM(HERE), NORM(V), t.P
    margins, shortest = exists
    gains = product(step.rate, t.along)
    grows = decide(ge(AFTER @ V, HERE @ V + RATE * P), at(step.grown, {M: V}), gains)
    grows = note("<W, V> grows by e P at least", grows)
    rises = decide(ge(AFTER @ V, HERE @ V), grows, step.rate, t.positive)
    # where ||W|| <= b no margin is above b times the longest A_j
    b = bound
    near = assume(ge(b, y))
    longest_, longest_up, longest_positive = far.size, far.up, far.positive
    y_norm, y_square = cite(LENGTH, (), HERE)
    V_norm, V_square = cite(LENGTH, (), V)
    (within,) = cite(CAUCHY_SCHWARZ, (), A(j), HERE)
    top = longest_ * b.term
    margin_up = decide(ge(top, MARGIN), within, longest_up, y_norm, longest_positive, near)
    powers = powers_rise(-top, -MARGIN, margin_up)
    P_low = decide(ge(P, c.low * EXP(-top)), t.heavy, powers, c.low_positive, c.several)
    gain = RATE * c.low * EXP(-top)
    some_rate = decide(gt(RATE * c.low, 0), step.rate, c.low_positive)
    facts = [
        rises,
        decide(gt(gain, 0), some_rate, power(-top)),
        decide(ge(AFTER @ V, HERE @ V + gain), grows, P_low, step.rate),
        decide(ge(N * b.term, HERE @ V), *cite(CAUCHY_SCHWARZ, (), HERE, V), V_norm, near),
    ]
    (leaves,) = cite(FINITELY_OFTEN, facts, HERE @ V, gain, N * b.term, ge(b, y))
    (within,) = cite(CAUCHY_SCHWARZ, (), A(j), V)
    unit = decide(ge(longest_ * N, 1), within, margins, longest_up, V_norm, c.several)
    V_positive = decide(gt(N, 0), unit, longest_positive)
    return Growth(
        *(P, t.P_is, t.positive, t.heavy, longest_, longest_up, longest_positive, shortest),
        *(grows, note("||W|| tends to infinity", leaves), b, y_norm, y_square, V_norm, V_square),
        *(V_positive, unit, margins, t.reach, t.stretch),
        longest_positive if t.wide is None else decide(ge(t.reach, 0), t.wide, longest_positive),
        unit if t.wide is None else decide(ge(t.reach * N, 1), unit, product(t.wide, V_norm)),
    )


def least_margin(
    several: Fact, shortest: Fact, of_run: tuple[Fact, Fact], of_V: tuple[Fact, Fact]
) -> tuple[Term, Fact]:
    """Prove that the least margin is at most ||W||/||V||.

    W divided by its least margin has margins of at least 1, so it is not shorter than V.

    Args:
        several: there is a rival.
        shortest: no matrix that meets the constraints is shorter than V.
        of_run: that ||W|| >= 0, and its square.
        of_V: that ||V|| >= 0, and its square.
    """
    y, N = NORM(HERE), NORM(V)
    lowest = least(A(r) @ HERE, r)
    condition = gt(lowest, 0)
    yes, no = assume(condition), assume(condition.denied())
    unit, inverse = cite(RECIPROCAL, [yes], lowest)
    above = decide(ge(MARGIN / lowest, 1), unit, inverse, beyond("least", MARGIN, j))
    scaled = (A(r) @ HERE) / lowest
    above = bounds(at(above, {j: r}), "least", scaled, r, several)
    longer = cut(at(shortest, {X: HERE / lowest}), above)
    square_ = decide(gt(lowest**2, 0), yes)
    whole = lowest**2 * INV(lowest) ** 2 * (HERE @ HERE)
    longer = decide(ge(whole, lowest**2 * (V @ V)), longer, square_)
    longer = decide(
        ge(HERE @ HERE, lowest**2 * (V @ V)),
        *(longer, scale(unit, (lowest / lowest + 1) * (HERE @ HERE))),
    )
    claim = ge(y, N * lowest)
    far = decide(claim, longer, *of_run, scale(of_V[1], lowest**2))
    fact = cases(far, decide(claim, no, of_run[0], of_V[0]), condition)
    return lowest, note("the least margin is at most ||W||/||V||", fact)
