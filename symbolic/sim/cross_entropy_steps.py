"""Steps on the cross-entropy over several classes: from zero to a worse token, and in the basin.

E is exp(L). Its gradient is a positive multiple of the gradient of L.
"""

from attsvm.theory.proof.facts import Fact, ge, gt
from attsvm.theory.proof.lemmas import EXPONENTIAL, RECIPROCAL
from attsvm.theory.proof.linked import conclusion_of, linked, suppose
from attsvm.theory.proof.rules import (
    add_up,
    beyond,
    cite,
    conclude,
    decide,
    exchange,
    one_of_sum,
    scale,
)
from attsvm.theory.proof.terms import EXP, INV, as_term, least, most, total
from properties.sim._support.rivals import MARGINS
from properties.sim.cross_entropy.hypotheses import AHEAD, BASIN, BEST, BETWEEN, LOWER, OPPOSED
from properties.sim.cross_entropy.steps import STEPS
from symbolic.facts import (
    cauchy,
    exponents_rise,
    formula_of,
    index,
    letters_in,
    power,
    powers_rise,
    product,
    some_of,
    squares,
    tangent,
)

c, t, k = index("c", "C"), index("t", "R"), index("k", "D")


@linked
def prove_worse() -> str:
    """Prove that a step lowers <a, x> and raises <b, x>."""
    reading = "amended-3"
    v, formula = letters_in(STEPS, reading), formula_of(STEPS, reading)
    a, b, x = (one.entry((k.term,)) for one in (v.a, v.b, v.x))
    M, N = (one.entry((c.term,)) for one in (v.M, v.N))
    first, second = total(a * x, k), total(b * x, k)
    some = some_of(STEPS, reading, "C")
    E, F = EXP(first), EXP(second)
    aa, bb, r = total(a**2, k), total(b**2, k), total(a * b, k)
    low, gap, room = (
        decide(gt(part, 0), fact, beyond("least", part, c))
        for fact, part in zip(suppose(BETWEEN, formula), (N, M - N, 2 * N - M), strict=True)
    )
    (opposed,) = suppose(OPPOSED, formula)
    (lower,), (ahead,) = suppose(LOWER, formula), suppose(AHEAD, formula)
    slow = (2 * M - N) * aa + (2 * N - M) * r
    apart = decide(gt(-slow, 0), opposed, beyond("most", slow, c))
    small = decide(ge(1, E), tangent(as_term(0), first), lower)
    size = squares(a, k)
    back = decide(gt(-r * (2 * N - M), 0), apart, low, gap, size)
    back = decide(gt(-r, 0), back, room, some)
    lag = decide(ge(N - (M - N) * E, 2 * N - M), gap, small)
    pull = decide(gt(M + (M - N) * F, 0), low, gap, power(second))
    reach = decide(
        ge(F * (2 * M - N), E * (M + (M - N) * F)),
        *(cite(EXPONENTIAL, (), second)[1], ahead, low, gap, small, pull),
    )
    held = decide(ge(F * (lag.proposition.term), 0), lag, power(second))
    down = product(decide(ge(-r, 0), back), held), product(size, reach)
    least_down = decide(gt(-F * slow, 0), apart, power(second))
    falls = added(least_down, *down)
    ratio = decide(
        gt(bb * (2 * N - M) + r * (2 * M - N), 0), cauchy(a, b, k), room, apart, back, size
    )
    least_up = decide(gt(F * ratio.proposition.term, 0), ratio, power(second))
    up = product(squares(b, k), held), product(decide(ge(-r, 0), back), reach)
    rises = added(least_up, *up)
    whole = 1 + E + F
    unit, inverse = cite(RECIPROCAL, [decide(gt(whole, 0), power(first), power(second))], whole)
    over = INV(whole)
    over_square = decide(gt(over**2, 0), inverse)
    u = (E * M + F * N) * over
    goals = conclusion_of(formula).sequents
    for goal, sign, on_a, on_b in zip(goals, (falls, rises), (-aa, r), (-r, bb), strict=True):
        part = decide(gt(EXP(-u) * sign.proposition.term, 0), sign, power(-u))
        part = add_up(part, c, None, some)
        part = decide(gt(over**2 * part.proposition.term, 0), part, over_square)
        known = [
            add_up(scale(unit, EXP(-u) * over * factor), c)
            for factor in (on_a * E * M, on_b * F * N)
        ]
        conclude(decide(goal.proposition, part, *known, degree=1), goal)
    return "every class pulls down <a, x> and up <b, x>, for any number of classes"


def added(first: Fact, *more: Fact) -> Fact:
    """Return that a sum is above 0, as its first part is and the others are at least 0."""
    term = first.proposition.term
    for fact in more:
        term = term + fact.proposition.term
    return decide(gt(term, 0), first, *more)


@linked
def prove_basin() -> str:
    """Prove that -<grad E, V> >= s sum_c exp(-u_c) (M_c - u_c) in the basin."""
    reading = "amended-4"
    v, formula = letters_in(STEPS, reading), formula_of(STEPS, reading)
    rows, V = v.B.entry((t.term,), (k.term,)), v.V.entry((k.term,))
    M, N = v.M.entry((c.term,)), v.N.entry((t.term,), (c.term,))
    (best,), (margins,) = suppose(BEST, formula), suppose(MARGINS, formula)
    (basin,) = suppose(BASIN, formula)
    logit = total(rows * v.x.entry((k.term,)), k)
    e, moved = EXP(logit), total(rows * V, k)
    whole = 1 + total(e, t)
    unit, inverse = cite(RECIPROCAL, [decide(gt(whole, 0), add_up(power(logit), t))], whole)
    s = INV(whole)
    u = s * (M + total(e * N, t))
    lead = decide(ge(M, N), best, beyond("least", M - N, c), beyond("least", least(M - N, c), t))
    lead = add_up(product(power(logit), lead), t)
    lead = decide(ge(s * lead.proposition.term, 0), lead, inverse)
    spare = decide(
        ge(EXP(-u), EXP(-M)), powers_rise(-M, -u, decide(ge(-u, -M), lead, scale(unit, M)))
    )
    top = most(N, t)
    near = decide(
        ge(EXP(-top), EXP(-u)),
        *(basin, beyond("least", EXP(-top) - EXP(-M), c), one_of_sum(spare, c)),
    )
    above = decide(ge(u, N), exponents_rise(-u, -top, near), beyond("most", N, t))
    far = decide(ge(-moved - 1, 0), margins, beyond("most", moved, t))
    each = add_up(product(power(logit), above, far), t)
    light = decide(ge(EXP(-u) * s, 0), power(-u), inverse)
    gain = add_up(product(light, each), c)
    slope = add_up(scale(unit, EXP(-u) * u), c)
    outer = exchange(V * EXP(-u) * s * total(e * N * rows, t), k, c)
    inner = add_up(scale(exchange(e * N * rows * V, k, t), EXP(-u) * s), c)
    other = scale(exchange(e * rows * V, k, t), s * total(EXP(-u) * u, c))
    (goal,) = conclusion_of(formula).sequents
    conclude(decide(goal.proposition, gain, slope, outer, inner, other, degree=1), goal)
    return "rivals have less margin than the output against each class, for any n, D and C"
