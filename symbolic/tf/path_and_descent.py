"""One input of two tokens: descent from 0 is on the regularisation path."""

from attsvm.theory.proof.facts import ge, gt
from attsvm.theory.proof.lemmas import RECIPROCAL
from attsvm.theory.proof.linked import conclusion_of, linked, suppose
from attsvm.theory.proof.rules import cite, conclude, decide, scale
from attsvm.theory.proof.terms import EXP, INV, total
from properties.tf.path_and_descent import FORWARD, NO_LONGER, RAY
from symbolic.facts import cauchy, formula_of, index, letters_in, power, powers_rise, squares

k, place = index("k", "D"), index("D", "D")


@linked
def prove() -> str:
    """Prove that c a has the most attention of all W that are no longer."""
    reading = "amended-2"
    v, formula = letters_in(RAY, reading), formula_of(RAY, reading)
    (no_longer,), (forward,) = suppose(NO_LONGER, formula), suppose(FORWARD, formula)
    a, W, c = v.a.entry((k.term,)), v.W.entry((k.term,)), v.c.term
    along, best = total(a * W, k), c * total(a**2, k)
    size = squares(a, k)
    longest = decide(ge(best, 0), size, forward)
    rise = powers_rise(
        -best, -along, decide(ge(-along, -best), longest, no_longer, size, cauchy(a, W, k))
    )
    units, signs = [], []
    for logit in (along, best):
        whole = 1 + EXP(-logit)
        unit, sign = cite(RECIPROCAL, [decide(gt(whole, 0), power(-logit))], whole)
        units.append(unit)
        signs.append(sign)
    first, second = INV(1 + EXP(-along)), INV(1 + EXP(-best))
    weight = decide(gt(first * second, 0), *signs)
    less, same = conclusion_of(formula).sequents
    known = scale(units[0], second), scale(units[1], first)
    conclude(decide(less.proposition, rise, weight, *known), less)
    conclude(decide(same.proposition, scale(units[1], second * v.a.entry((place.term,)))), same)
    return "<a, W> <= ||a|| ||W|| <= c ||a||^2, for any D"
