"""Mixtures of tokens under heads h(x) = sum_k b_k phi(<a_k, x>) with a convex phi: linked proofs.

phi is any function that lies above its tangents, with any slope at a kink. x^att is the mean of the
tokens with the weights s_t of softmax.
"""

from dataclasses import dataclass
from typing import Any

from attsvm.primitives.heads import slope_of
from attsvm.theory.proof.facts import Fact, eq, ge, gt
from attsvm.theory.proof.lemmas import INDICATOR
from attsvm.theory.proof.linked import conclusion_of, linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    beyond,
    cases,
    cite,
    conclude,
    decide,
    exchange,
    one_of_sum,
    scale,
)
from attsvm.theory.proof.terms import (
    EXP,
    INV,
    IS_ZERO,
    REAL,
    Function,
    Letter,
    Term,
    first_of,
    most,
    substituted,
    total,
)
from properties._support.risk_formulas import CONVEX_PHI
from properties.tf.nonlinear_head_several import FALLING, RISING, STATEMENT
from symbolic.facts import Softmax, formula_of, index, letters_in, product, softmax, some_of

t, k, d = index("t", "T"), index("k", "K"), index("l", "d")
PHI, SLOPE = Function("phi", (REAL,)), slope_of("phi")
FIRST = first_of(t.sort)


@dataclass(frozen=True, slots=True)
class Mixture:
    """A mean of tokens under the units of a head."""

    b: Term  # the weight of unit k
    logit: Term  # the logit of token t
    token: Term  # <a_k, x_t>
    output: Term  # <a_k, x^att>
    whole: Term  # the sum of the exponentials of logits
    weight: Term  # attention
    mean: Fact  # the sum of s_t <a_k, x_t> is <a_k, x^att>


def mixture(reading: str) -> Mixture:
    """Return facts on the mean of tokens."""
    v: Any = letters_in(STATEMENT, reading)
    logit = v.a.entry((t.term,))
    whole = total(EXP(logit), t)
    weight = EXP(logit) * INV(whole)
    entry = v.A.entry((k.term,), (d.term,)) * v.X.entry((t.term,), (d.term,))
    swapped = scale(exchange(entry * EXP(logit), t, d), INV(whole))
    token = total(entry, d)
    output = total(v.A.entry((k.term,), (d.term,)) * (v.s @ v.X).entry((d.term,)), d)
    mean = decide(eq(total(weight * token, t), output), swapped)
    return Mixture(v.b.entry((k.term,)), logit, token, output, whole, weight, mean)


def attention(m: Mixture, reading: str) -> Softmax:
    """Return facts on attention."""
    return softmax(m.logit, t, some_of(STATEMENT, reading, "T"))


def tangent(above: Fact, to: Term, start: Term) -> Fact:
    """Return that phi(to) >= phi(start) + phi'(start) (to - start), as phi is convex."""
    return at(above, {Letter("a"): start, Letter("b"): to})


@linked
def prove_convex() -> str:
    """Prove that a mixture of tokens is no better than the best token if every b_k >= 0."""
    formula = formula_of(STATEMENT, "amended-1")
    m = mixture("amended-1")
    (above,), (rising,) = suppose(CONVEX_PHI, formula), suppose(RISING, formula)
    s, weights = m.weight, attention(m, "amended-1")
    sign = decide(ge(m.b, 0), rising, beyond("least", m.b, k))
    one = weights.one(t)
    # the mean of phi over tokens is at least phi at their mean
    each = add_up(product(weights.positive, tangent(above, m.token, m.output)), t)
    unit = decide(
        ge(total(s * PHI(m.token), t), PHI(m.output)),
        *(each, scale(m.mean, SLOPE(m.output))),
        scale(one, PHI(m.output) - SLOPE(m.output) * m.output),
        degree=1,
    )
    units = add_up(product(sign, unit), k)
    head = total(m.b * PHI(m.token), k)
    swapped = scale(exchange(m.b * EXP(m.logit) * PHI(m.token), k, t), INV(m.whole))
    least = add_up(product(weights.positive, beyond("most", head, t)), t)
    (goal,) = conclusion_of(formula).sequents
    fact = decide(goal.proposition, units, swapped, least, scale(one, most(head, t)), degree=1)
    conclude(fact, goal)
    return "for any T, d, number of units, and any convex phi"


def indicator(x: Term) -> tuple[Fact, Fact]:
    """Return that the indicator of x = 0 times x is 0, and that it is at most 1."""
    _, if_above, if_below, _, most_ = cite(INDICATOR, (), x)
    goal, up, down = eq(IS_ZERO(x) * x, 0), gt(x, 0), gt(-x, 0)
    rest = assume(up.denied()), assume(down.denied())
    zero = decide(eq(x, 0), *rest)
    is_zero = decide(goal, scale(zero, IS_ZERO(x)))
    below = cases(decide(goal, scale(if_below, x)), is_zero, down)
    return cases(decide(goal, scale(if_above, x)), below, up), most_


def below_tangent(m: Mixture, sign: Fact, above: Fact, start: Term) -> tuple[Term, Fact]:
    """Return g_t, and that h(x^att) - h(x) is at most the sum of s_t g_t, for a concave head.

    Args:
        m: the mean x^att of tokens.
        sign: b_k <= 0.
        above: phi is convex.
        start: <a_k, x>, so that g_t is <h'(x), x_t - x>.
    """
    s = m.weight
    seen = m.output - start * total(s, t)
    # units that do not change are left out; the others lie below their tangents
    nothing, part = indicator(seen)
    flat = decide(ge(1 - IS_ZERO(seen), 0), part)
    below = product(sign, flat, tangent(above, start + seen, start))
    gain = m.b * (1 - IS_ZERO(seen)) * (PHI(start + seen) - PHI(start))
    unit = decide(
        ge(m.b * SLOPE(start) * seen, gain), below, scale(nothing, m.b * SLOPE(start)), degree=1
    )
    slope = total(m.b * SLOPE(start) * (m.token - start), k)
    swapped = scale(exchange(m.b * SLOPE(start) * EXP(m.logit) * m.token, k, t), INV(m.whole))
    mean = add_up(scale(m.mean, m.b * SLOPE(start)), k)
    goal = ge(total(s * slope, t), total(gain, k))
    return slope, decide(goal, add_up(unit, k), mean, swapped, degree=1)


@linked
def prove_concave() -> str:
    """Prove that h(output) - h(x_1) is at most (1 - s_1) times the largest <h'(x_1), x_t - x_1>."""
    formula = formula_of(STATEMENT, "amended-2")
    (goal,), settings = conclusion_of(formula).sequents, conclusion_of(formula).setting
    first = setting(settings, "the first index of the axis T has the position 0")
    m = mixture("amended-2")
    (above,), (falling,) = suppose(CONVEX_PHI, formula), suppose(FALLING, formula)
    sign = decide(ge(-m.b, 0), falling, beyond("most", m.b, k))
    slope, below = below_tangent(m, sign, above, substituted(m.token, {t: FIRST}))
    largest = beyond("most", slope, t)
    weights = attention(m, "amended-2")
    each = at(one_of_sum(product(weights.positive, largest), t), {t: FIRST}, first)
    one = scale(weights.one(t), most(slope, t))
    conclude(decide(goal.proposition, below, each, one, degree=1), goal)
    return "for any T, d, number of units, and any convex phi"
