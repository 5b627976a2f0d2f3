"""The shortest prompt with margins of 1 in the second and third input of the published data."""

from attsvm.theory.proof.facts import ge
from attsvm.theory.proof.linked import conclusion_of, linked, suppose
from attsvm.theory.proof.rules import conclude, decide, square
from properties.mm.support_geometry import GEOMETRY, SECOND, THIRD, UP
from symbolic.facts import formula_of, letters_in, product


@linked
def prove() -> str:
    """Prove the least norm by the multipliers of both constraints."""
    reading = "literal"
    v, formula = letters_in(GEOMETRY, reading), formula_of(GEOMETRY, reading)
    p, q, s = v.p.term, v.q.term, v.s.term
    (up,), (second,), (third,) = (suppose(x, formula) for x in (UP, SECOND, THIRD))
    first_dual = decide(ge(4 * s**2 + 4 * s - 1, 0), up)
    second_dual = decide(ge(6 + 4 * s, 0), up)
    parts = product(first_dual, second), product(second_dual, third)
    size = 1 + 2 * s
    away = square(size * p - 2 - 2 * s), square(size * q - 1)
    (goal,) = conclusion_of(formula).sequents
    conclude(decide(goal.proposition, *parts, *away, degree=1), goal)
    return "||p||^2 >= 2 <p, p*> - ||p*||^2 and <p, p*> >= ||p*||^2, for every s >= 1"
