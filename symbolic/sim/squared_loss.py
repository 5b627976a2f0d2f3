"""The squared loss with a target that no score exceeds: its least value, and gains of descent."""

from attsvm.theory.proof.facts import ge, gt, note
from attsvm.theory.proof.lemmas import RECIPROCAL
from attsvm.theory.proof.linked import conclusion_of, linked, suppose
from attsvm.theory.proof.rules import (
    add_up,
    at,
    attained,
    beyond,
    cite,
    conclude,
    decide,
    exchange,
    scale,
    square,
)
from attsvm.theory.proof.terms import EXP, INV, most, total
from properties.sim._support.rivals import MARGINS
from properties.sim.squared_loss import LOSS
from properties.sim.squared_loss.conclusion import BEYOND, LESS, NOT_BELOW
from symbolic.facts import formula_of, index, letters_in, power, product, softmax, some_of

t, r, k = index("t", "n"), index("t", "R"), index("k", "D")


@linked
def prove_bound() -> str:
    """Prove that the loss is at least that of the best score."""
    reading = "amended-1"
    v, some = letters_in(LOSS, reading), some_of(LOSS, reading, "n")
    (beyond_scores,) = suppose(NOT_BELOW, formula_of(LOSS, reading))
    h, b = v.h.entry((t.term,)), v.b.term
    weights, best = softmax((v.A @ v.x).entry((t.term,)), t, some), most(h, t)
    output = total(weights.weight * h, t)
    each = add_up(product(weights.positive, beyond("most", h, t)), t)
    below = decide(ge(best, output), each, scale(weights.one(t), best))
    own, is_best = attained("best", best, some)
    token = at(beyond("least", (h - b) ** 2, t), {t: own()})
    value = v.h.entry((own(),))
    more = product(below, beyond_scores), square(below.proposition.term)
    (conclusion,) = conclusion_of(formula_of(LOSS, reading)).sequents
    conclude(
        decide(conclusion.proposition, token, scale(is_best, value + best - 2 * b), *more),
        conclusion,
    )
    return "the output is a mean of scores, none of which is above the target; any n and D"


@linked
def prove_gain() -> str:
    """Prove that descent gains at least 2 gap^2 s (1 - s)^2 along V."""
    reading = "amended-2"
    v, formula = letters_in(LOSS, reading), formula_of(LOSS, reading)
    (margins,), (far,), (wide,) = (suppose(x, formula) for x in (MARGINS, BEYOND, LESS))
    logit, moved = ((v.B @ point).entry((r.term,)) for point in (v.x, v.V))
    e, gap = EXP(logit), v.gap.term
    whole = 1 + total(e, r)
    positive = add_up(power(logit), r)
    unit, inverse = cite(RECIPROCAL, [decide(gt(whole, 0), positive)], whole)
    s = INV(whole)
    others = decide(ge(1 - s, 0), unit, product(positive, inverse))
    each = product(power(logit), decide(ge(-1, moved), margins, beyond("most", moved, r)))
    along = note("sum_t e_t (-B_t V) >= sum_t e_t", add_up(each, r))
    falls = decide(ge(-total(e * moved, r), 0), along, positive)
    parts = product(square(gap * s), others, along), product(far, wide, square(s), falls)
    # the formula sums over coordinates first
    order = exchange(e * v.B.entry((r.term,), (k.term,)) * v.V.entry((k.term,)), k, r)
    turned = scale(order, (v.beta.term - gap * (1 - s) - v.b.term) * gap * s**2)
    goal, known = conclusion_of(formula).sequents[0], scale(unit, gap**2 * s * (1 - s))
    conclude(decide(goal.proposition, known, turned, *parts, degree=1), goal)
    return "-<grad L, V> = 2 (b - output) gap s^2 sum_t e_t (-B_t V), for any R and D"
