"""Optimal tokens bound a decreasing loss from below, and the worst tokens the printed one."""

from attsvm.theory.proof.facts import ge, gt
from attsvm.theory.proof.lemmas import RECIPROCAL
from attsvm.theory.proof.linked import linked, suppose
from attsvm.theory.proof.rules import (
    add_up,
    at,
    attained,
    beyond,
    cite,
    cut,
    decide,
    one_of_sum,
    scale,
)
from attsvm.theory.proof.terms import EXP, INV, Letter, least, total
from properties._support.risk_formulas import DECREASES, DECREASING
from properties.sim.definition_3_9 import DEFINITION, DIFFER
from symbolic.attended import LOSS, Input, attends, falls, t
from symbolic.facts import (
    end,
    formula_of,
    letters_in,
    power,
    powers_rise,
    product,
    softmax,
    some_of,
)


def attention(reading: str) -> Input:
    """Return attention in the input of a reading."""
    v = letters_in(DEFINITION, reading)
    score, logit = v.gamma.entry((t.term,)), (v.A @ v.x).entry((t.term,))
    return attends(score, logit, some_of(DEFINITION, reading, "T"))


@linked
def prove_printed() -> str:
    """Prove that g(b <f, h>) is at least g of the lowest score."""
    reading = "amended-1"
    v, some = letters_in(DEFINITION, reading), some_of(DEFINITION, reading, "T")
    score = v.gamma.entry((t.term,))
    weights = softmax((v.A @ v.x).entry((t.term,)), t, some)
    low, output = least(score, t), total(weights.weight * score, t)
    each = add_up(product(weights.positive, beyond("least", score, t)), t)
    order = decide(ge(-low, -output), each, scale(weights.one(t), low))
    rises = powers_rise(-output, -low, order)
    (unit, positive), (low_unit, low_positive) = (
        cite(RECIPROCAL, [decide(gt(1 + EXP(-u), 0), power(-u))], 1 + EXP(-u))
        for u in (output, low)
    )
    first, second = INV(1 + EXP(-output)), INV(1 + EXP(-low))
    spare = product(positive, low_positive, rises)
    fact = decide(ge(first, second), spare, scale(unit, second), scale(low_unit, first))
    end(DEFINITION, reading, by=[fact])
    return "the score attended to is a mean of scores, and g increases; any T and D"


@linked
def prove_not_below() -> str:
    """Prove that the loss is at least that of the best score."""
    reading = "amended-2"
    (decreases,) = suppose(DECREASES, formula_of(DEFINITION, reading))
    one = attention(reading)
    drop = falls(decreases, LOSS, one.best - one.deficit, one.best, one.short())
    end(DEFINITION, reading, by=[drop])
    return "for every decreasing loss and any T and D: l(best - delta) >= l(best)"


@linked
def prove_above() -> str:
    """Prove that the loss is above that of the best score, as the worst token has some weight."""
    reading = "amended-3"
    one, formula = attention(reading), formula_of(DEFINITION, reading)
    (decreases,), (differ,) = suppose(DECREASING, formula), suppose(DIFFER, formula)
    some = some_of(DEFINITION, reading, "T")
    worst, is_worst = attained("worst", least(one.score, t), some)
    at_worst = {t: worst()}
    weight = at(one.weight_positive, at_worst)
    each = at(one_of_sum(product(one.weight_positive, one.gap), t), at_worst)
    short = decide(gt(one.deficit, 0), each, weight, differ, is_worst)
    values = {Letter("a"): one.best - one.deficit, Letter("b"): one.best}
    end(DEFINITION, reading, by=[cut(at(decreases, values), short)])
    return "for every strictly decreasing loss and any T and D: l(best - delta) > l(best)"
