"""Descent that grows along V tends to it in direction: facts of linked proofs.

Letters are those of `attsvm.primitives.descent_letters` and of `symbolic.attention_facts`. ||W||
grows by dS = e P/||V|| times a factor that tends to 1. So ||W|| <= (1 + off) S + slack and
<W, V> >= ||V|| S + <W_0, V> in the end (`turns`).
"""

from dataclasses import dataclass

from attsvm.primitives.descent_letters import RATE, A, M, V, W, j, off
from attsvm.theory.proof.facts import Fact, K, current, eq, ev, ge, gt, note
from attsvm.theory.proof.lemmas import (
    CAUCHY_SCHWARZ,
    LENGTH,
    RECIPROCAL,
    SETTLED,
)
from attsvm.theory.proof.rules import (
    accumulate,
    add_up,
    at,
    attained,
    beyond,
    cite,
    decide,
    define,
    inside,
    positive,
    scale,
    square,
)
from attsvm.theory.proof.terms import EXP, NORM, Letter, Term, substituted, total
from symbolic.attention_facts import AFTER, HERE, MARGIN, Moves
from symbolic.facts import by_steps, outgrows, tangent
from symbolic.growth_facts import Bounds, Growth, least_margin


@dataclass(frozen=True, slots=True)
class Pull:
    """The growth of ||W||^2 at a step."""

    G: Term  # the sum of the p_j A_j
    extra: Term  # a constant
    along: Fact  # ||V|| <G, W> <= P (||W|| + ||V|| extra)
    extra_positive: Fact  # the constant is positive
    product: Term  # C times the number of rivals
    product_positive: Fact  # it is positive
    lowest: Term  # the least margin
    reached: Fact  # it is at most ||W||/||V||
    heavy: Fact  # P >= c exp(-lowest)


def pulled(step: Moves, c: Bounds, g: Growth, power: Fact) -> Pull:
    """Prove that ||V|| <G, W> <= P (||W|| + ||V|| extra), where G = sum_j p_j A_j.

    A rival whose margin exceeds the least one has a small coefficient p_j.
    """
    p, P, N, y = step.p(j, K), g.P, NORM(V), NORM(HERE)
    lowest, lowest_up = least_margin(
        c.several, g.shortest, (g.y_norm, g.y_square), (g.V_norm, g.V_square)
    )
    least_power, beyond_least = EXP(-lowest), beyond("least", MARGIN, j)
    lag = decide(
        ge(c.high * least_power, p * (MARGIN - lowest)),
        *(c.at_most, beyond_least, tangent(-lowest, -MARGIN), power, c.high_positive),
    )
    lags = add_up(note("no p_j (m_j - least) is above C exp(-least)", lag), j)
    pick, reached = attained("nearest", lowest, c.several)
    hole = Letter("hole")
    same = inside(reached, A(pick(K)) @ HERE, lowest, EXP(-hole.term), hole)
    nearest = at(g.heavy, {j: pick(K)})
    P_low = decide(ge(P, c.low * least_power), nearest, scale(same, c.low))
    P_low = note("P >= c exp(-least), by the nearest rival", P_low)
    product = total(1, j) * c.high
    some_high = decide(gt(product, 0), c.several, c.high_positive)
    unit, inverse = cite(RECIPROCAL, [c.low_positive], c.low)
    extra_, extra_is = define("extra", (), product / c.low)
    extra, G = extra_(), total(p * A(j), j)
    bound = decide(ge(P / c.low, least_power), P_low, inverse, scale(unit, least_power))
    bound = decide(ge(extra * P, product * least_power), scale(extra_is, P), bound, some_high)
    pull = decide(ge((lowest + extra) * P, G @ HERE), lags, bound, scale(g.P_is, lowest))
    pull = decide(ge(N * (lowest + extra) * P, N * (G @ HERE)), pull, g.V_norm)
    pull = decide(ge(P * y + N * extra * P, N * (G @ HERE)), pull, lowest_up, g.P_positive)
    return Pull(
        *(G, extra, note("<G, W> is at most P (||W||/||V|| + extra)", pull)),
        *(decide(gt(extra, 0), extra_is, some_high, inverse), product, some_high),
        *(lowest, lowest_up, P_low),
    )


@dataclass(frozen=True, slots=True)
class Squares:
    """The square of ||W||, and S, the sum of all e P/||V|| so far."""

    S: Term  # the sum S at step k
    starts: Fact  # starts, adds: S is 0 at the start, and a step adds e P/||V||
    adds: Fact
    inverse: Fact  # inverse, unit: 1/||V|| is positive, and ||V|| times it is 1
    unit: Fact
    square: Fact  # e^2 ||G||^2 <= e^2 (reach P)^2
    step_square: Fact  # ||W'||^2 = ||W||^2 + 2 e <G, W> + e^2 ||G||^2
    some_rate: Fact  # e P > 0
    far: Fact  # S > b in the end, for every b > 0
    along: Fact  # <W, V> >= <W_0, V> + ||V|| S


def squares(step: Moves, g: Growth, pull: Pull) -> Squares:
    """Prove that ||W|| <= ||W_0|| + reach ||V|| S, so that S tends to infinity as ||W|| does."""
    P, N, y, G, a = g.P, NORM(V), NORM(HERE), pull.G, g.reach
    grown = [at(step.grown, {M: one}) for one in (AFTER, HERE, G)]
    change = HERE @ HERE + 2 * RATE * (G @ HERE) + RATE**2 * (G @ G)
    step_square = decide(eq(AFTER @ AFTER, change), *grown[:2], scale(grown[2], RATE))
    G_norm, G_square = cite(LENGTH, (), G)
    some = decide(ge(a * P, 0), g.reach_positive, g.P_positive)
    size = decide(ge(a * P, NORM(G)), g.stretch, G_square, some)
    square_ = decide(ge((a * P) ** 2, G @ G), size, G_square, G_norm)
    unit, inverse = cite(RECIPROCAL, [g.V_positive], N)
    S_, starts, adds = accumulate("S", RATE * P / N)
    S, rate = S_(K), scale(unit, RATE * P)
    # ||W'|| <= ||W|| + e reach P
    (product,) = cite(CAUCHY_SCHWARZ, (), G, HERE)
    pull_ = decide(ge(a * P * y, G @ HERE), product, size, g.y_norm)
    pull_ = decide(ge(RATE * a * P * y, RATE * (G @ HERE)), pull_, step.rate)
    squared = decide(ge(RATE**2 * (a * P) ** 2, RATE**2 * (G @ G)), square_, square(RATE))
    after_square = at(g.y_square, {K: K.term + 1})
    longer = decide(
        ge((y + RATE * a * P) ** 2, AFTER @ AFTER), step_square, g.y_square, pull_, squared
    )
    some = decide(ge(RATE * a * P, 0), step.rate, some)
    longer = decide(ge(y + RATE * a * P, NORM(AFTER)), longer, after_square, some, g.y_norm)
    grows = longer, scale(adds, a * N), scale(rate, a)
    near = by_steps(ge(NORM(W(0)) + a * N * S, y), [scale(starts, a * N)], grows)
    grows = g.grows, scale(adds, N), rate
    along = by_steps(ge(HERE @ V, W(0) @ V + N * S), [scale(starts, N)], grows)
    # if ||W|| > ||W_0|| + reach ||V|| b, then S > b
    bound = NORM(W(0)) + a * N * g.b.term
    some = decide(gt(bound, 0), at(g.y_norm, {K: 0}), g.span, positive(g.b))
    far = decide(ev(gt(S, g.b)), at(g.far, {g.b: bound}, some), near, g.span)
    return Squares(
        *(S, starts, adds, inverse, unit, squared, step_square),
        *(decide(gt(RATE * P, 0), step.rate, g.P_positive), note("S tends to infinity", far)),
        note("<W, V> >= <W_0, V> + ||V|| S", along),
    )


def turns(step: Moves, c: Bounds, g: Growth, pull: Pull, s: Squares) -> Fact:
    """Prove that ||V|| ||W|| <= (1 + off) <W, V> in the end, for every off > 0."""
    P, N, y, S, a, G = g.P, NORM(V), NORM(HERE), s.S, g.reach, pull.G
    dS, after = RATE * P / N, NORM(AFTER)
    after_square = at(g.y_square, {K: K.term + 1})
    # ||W'||^2 <= ||W||^2 + 2 dS (||W|| + B), as P is at most C times the number of rivals
    rate = decide(ge(N * RATE, 0), g.V_norm, step.rate)
    some = decide(ge(a**2 * pull.product, 0), pull.product_positive, square(a))
    some = decide(ge(N * RATE * a**2 * pull.product, 0), rate, some)
    B_, B_is = define("B", (), N * pull.extra + N * RATE * a**2 * pull.product)
    B = B_()
    weight = decide(ge(RATE**2 * a**2 * P, 0), square(RATE * a), g.P_positive)
    squared = decide(
        ge(RATE**2 * a**2 * P * pull.product, RATE**2 * (G @ G)),
        *(weight, add_up(c.bounded, j), g.P_is, s.square),
    )
    squared = decide(
        ge(N * RATE**2 * a**2 * P * pull.product, N * RATE**2 * (G @ G)), squared, g.V_norm
    )
    along = decide(
        ge(2 * RATE * (P * y + N * pull.extra * P), 2 * RATE * N * (G @ HERE)),
        *(pull.along, step.rate),
    )
    spare = decide(ge(RATE * P * N * RATE * a**2 * pull.product, 0), s.some_rate, some)
    longer = decide(
        ge(N * y**2 + 2 * RATE * P * (y + B), N * after**2),
        *(scale(s.step_square, N), scale(g.y_square, N), scale(after_square, N)),
        *(along, squared, scale(B_is, RATE * P), spare),
    )
    longer = decide(
        ge(y**2 + 2 * dS * (y + B), after**2),
        *(longer, s.inverse, scale(s.unit, y**2), scale(s.unit, after**2)),
    )
    longer = note("||W'||^2 <= ||W||^2 + 2 dS (||W|| + B), dS = e P/||V||", longer)
    # in the end B <= off ||W||, so that ||W'|| <= ||W|| + (1 + off) dS
    off_positive = positive(off)
    B_positive = decide(ge(B, 0), B_is, some, g.V_norm, pull.extra_positive)
    small = outgrows(g.far, g.b, off_positive, decide(gt(B + 1, 0), B_positive))
    some_dS = decide(gt(dS, 0), s.some_rate, s.inverse)
    small = decide(ev(ge(dS * off.term * y, dS * B)), small, some_dS)
    whole = decide(ge(y + dS * (1 + off.term), 0), g.y_norm, some_dS, off_positive)
    slow_fact = decide(
        ev(ge(y + dS * (1 + off.term), after)), longer, small, square(dS * (1 + off.term)), whole
    )
    slow_fact = note("in the end ||W|| grows by (1 + off) dS at most", slow_fact)
    rest = y - (1 + off.term) * S
    falls = decide(
        ev(ge(rest, substituted(rest, {K: K.term + 1}))), slow_fact, scale(s.adds, 1 + off.term)
    )
    (settled,) = cite(SETTLED, [falls], "slack", rest)
    # with D = ||V|| slack - (1 + off) <W_0, V> at the start W_0:
    # ||V|| ||W|| - (1 + off) <W, V> <= D - off ||V|| S/2, which is below 0 in the end
    half = off.term / 2
    settled = at(settled, {off: half}, decide(gt(half, 0), off_positive))
    slack = current().names["slack"](half)
    D_, D_is = define("D", (off,), N * slack - (1 + off.term) * (W(0) @ V))
    D = D_(off)
    many = 2 * (D**2 + 1)
    some = decide(gt(N * off.term, 0), g.V_positive, off_positive)
    enough = outgrows(s.far, g.b, some, decide(gt(many, 0), square(D)))
    settled = decide(ev(ge(N * (1 + half) * S + N * slack, N * y)), settled, g.V_norm)
    along = decide(
        ge((1 + off.term) * (HERE @ V), (1 + off.term) * (W(0) @ V + N * S)), s.along, off_positive
    )
    return decide(
        ev(ge((1 + off.term) * (HERE @ V), N * y)), settled, along, D_is, enough, square(D - 1)
    )
