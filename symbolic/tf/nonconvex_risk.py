"""The risk of an input of two tokens lies above a chord, on the side of the worse token."""

from attsvm.theory.proof.facts import gt
from attsvm.theory.proof.lemmas import EXPONENTIAL, EXPONENTIAL_OF_SUM, RECIPROCAL
from attsvm.theory.proof.linked import conclusion_of, linked, suppose
from attsvm.theory.proof.rules import cite, conclude, decide, scale
from attsvm.theory.proof.terms import EXP, INV
from properties.tf.nonconvex_risk import AHEAD, APART, RISK
from symbolic.facts import formula_of, letters_in, power


@linked
def prove() -> str:
    """Prove that L(-a) - (L(0) + L(-2 a))/2 = gap (1 - y)^3/(4 (1 + y)(1 + y^2)), y = exp(-a)."""
    formula = formula_of(RISK, "literal")
    v = letters_in(RISK, "literal")
    (ahead,), (apart,) = suppose(AHEAD, formula), suppose(APART, formula)
    a, gap = v.a.entry(), v.gap.entry()
    y, p = EXP(-a), EXP(-2 * a)
    _, tangent = cite(EXPONENTIAL, (), a)
    (squared,), (inverse,) = (cite(EXPONENTIAL_OF_SUM, (), -a, x) for x in (-a, a))
    low, lower = power(-a), power(-2 * a)
    below = decide(gt(1 - y, 0), tangent, inverse, ahead)
    one, first = cite(RECIPROCAL, [decide(gt(1 + y, 0), low)], 1 + y)
    also, second = cite(RECIPROCAL, [decide(gt(1 + p, 0), lower)], 1 + p)
    shares = decide(gt(INV(1 + y) * INV(1 + p), 0), first, second)
    twice = decide(gt((1 - y) ** 2, 0), below)
    cube = decide(gt((1 - y) ** 3, 0), twice, below)
    part = decide(gt((1 - y) ** 3 * INV(1 + y) * INV(1 + p), 0), cube, shares)
    part = decide(gt(gap * (1 - y) ** 3 * INV(1 + y) * INV(1 + p), 0), part, apart)
    both = gap * INV(1 + y) * INV(1 + p)
    known = [
        scale(one, gap * p * INV(1 + p)),
        scale(one, gap * INV(1 + p) * (1 + p)),
        scale(also, gap),
        scale(also, gap * y * INV(1 + y)),
        scale(squared, both),
        scale(squared, both * y),
    ]
    (goal,) = conclusion_of(formula).sequents
    conclude(decide(goal.proposition, part, *known, degree=1), goal)
    return "for any a > 0 and any gap of two scores"
