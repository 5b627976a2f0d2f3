"""The residual of descent comes no further from the least point of a convex function.

The bound of the residual that follows is in docs/proofs/bounded_residual.md.
"""

from attsvm.theory.proof.facts import ge
from attsvm.theory.proof.linked import conclusion_of, linked, suppose
from attsvm.theory.proof.rules import add_up, beyond, conclude, decide, exchange
from attsvm.theory.proof.terms import EXP, total
from properties.tf.convergence_rates import RATES, WEIGHTS
from symbolic.facts import formula_of, index, letters_in, product, tangent

j, k = index("j", "J"), index("k", "D")


@linked
def prove() -> str:
    """Prove <grad F(x), x - y> >= F(x) - F(y) by tangents of exp, for each constraint."""
    reading = "sharp"
    v, formula = letters_in(RATES, reading), formula_of(RATES, reading)
    (weights,) = suppose(WEIGHTS, formula)
    row, c = v.A.entry((j.term,), (k.term,)), v.c.entry((j.term,))
    x, y = v.x.entry((k.term,)), v.y.entry((k.term,))
    at_x, at_y = total(row * x, k), total(row * y, k)
    some = decide(ge(c, 0), weights, beyond("least", c, j))
    each = add_up(product(some, tangent(-at_y, -at_x)), j)
    known = [
        exchange(c * weight * row * point, k, j)
        for weight in (EXP(-at_x), EXP(-at_y))
        for point in (x, y)
    ]
    (goal,) = conclusion_of(formula).sequents
    conclude(decide(goal.proposition, each, *known, degree=1), goal)
    return "exp(-b) >= exp(-a) (1 + a - b) for each constraint, for any number of them"
