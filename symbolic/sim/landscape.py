"""Equal rivals leave no stationary point: the gain of descent along a separating matrix."""

from attsvm.theory.proof.facts import ge, gt
from attsvm.theory.proof.lemmas import RECIPROCAL
from attsvm.theory.proof.linked import conclusion_of, linked, suppose
from attsvm.theory.proof.rules import (
    add_up,
    beyond,
    cite,
    conclude,
    decide,
    exchange,
    scale,
    square,
)
from attsvm.theory.proof.terms import EXP, INV, most, total
from properties.sim.landscape import LANDSCAPE, LESS, MARGINS, WEIGHTS
from symbolic.facts import formula_of, index, letters_in, power, product

i, t, k = index("i", "m"), index("t", "R"), index("k", "D")


@linked
def prove() -> str:
    """Prove that <grad F, V> is at least the sum of c_i gap_i s_i (1 - s_i)."""
    reading = "amended"
    v, formula = letters_in(LANDSCAPE, reading), formula_of(LANDSCAPE, reading)
    (margins,), (less,), (weights,) = (suppose(x, formula) for x in (MARGINS, LESS, WEIGHTS))
    rows, V = v.B.entry((i.term,), (t.term,), (k.term,)), v.V.entry((k.term,))
    gap, c = (one.entry((i.term,)) for one in (v.gap, v.c))
    logit = total(rows * v.x.entry((k.term,)), k)
    moved, e = total(rows * V, k), EXP(logit)
    whole = 1 + total(e, t)
    unit, _ = cite(RECIPROCAL, [decide(gt(whole, 0), add_up(power(logit), t))], whole)
    s, part = INV(whole), c * gap * INV(whole) ** 2
    wide = decide(ge(gap, 0), less, beyond("least", gap, i))
    heavy = decide(ge(c, 0), weights, beyond("least", c, i))
    far = beyond("most", moved, t), beyond("most", most(moved, t), i)
    each = product(power(logit), decide(ge(-1, moved), margins, *far))
    along = add_up(product(heavy, wide, square(s), add_up(each, t)), i)
    slope = add_up(scale(unit, c * gap * s), i)  # c gap s^2 sum_t e_t = c gap s (1 - s)
    pulled = rows * e
    turned = exchange(V * part * total(pulled, t), k, i)
    inner = add_up(scale(exchange(pulled * V, k, t), part), i)
    goal = conclusion_of(formula).sequents[0]
    conclude(decide(goal.proposition, along, slope, turned, inner, degree=1), goal)
    return "the gain is the sum of c gap s^2 sum_t e_t (-B_t V), for any m, R and D"
