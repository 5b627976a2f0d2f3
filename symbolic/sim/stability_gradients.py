"""Conditions for softmax attention's gradient to change no more than linear attention's: facts.

The change of the gradient is at most a bound of heights times ||A||^2, or times half of the square
of the diameter of A: see `symbolic.sim.lemma_3_13_l2_facts`. It remains to bound the heights.
"""

from attsvm.theory.proof.arrays import LETTERS
from attsvm.theory.proof.facts import Fact, ge
from attsvm.theory.proof.linked import conclusion_of, suppose
from attsvm.theory.proof.rules import assume, by_definition, decide, scale, square
from attsvm.theory.proof.terms import SQRT, Term, as_term, most, total
from properties.sim import stability_l2
from symbolic.curvature_facts import a
from symbolic.facts import end, formula_of, length, letters_in, product, some_of
from symbolic.sim.lemma_3_13_l2_facts import Ends, gradients_apart, height
from symbolic.softmax_change import at_r, k, r, span, t

BEND = as_term(77) / 400
"""0.1925, which is above 1/(3 sqrt 3)."""


def squared_on_data() -> None:
    """Prove the bound by 2 ||A^T h||^2 if ||A^T h|| is large.

    The height is w^2 (1-a^2)(1-3a^2)/4 + (r - w/2) w a (1-a^2). Here (1-a^2)(1-3a^2) is at most 1,
    and a (1-a^2) at most 0.385.
    """
    statement, reading = stability_l2.STABILITY, "amended-2"
    formula = formula_of(statement, reading)
    v, some = letters_in(statement, reading), some_of(statement, reading, "n")
    (steep,) = suppose(stability_l2.STEEP, formula)
    w, reach = LETTERS.oscillation(v.h).term, LETTERS.largest(v.h - v.b).term
    kappa = w**2 / 4 + BEND * (2 * reach - w) * w

    def largest(e: Ends) -> tuple[Term, Fact]:
        x, q = a.term, as_term(2887) / 5000
        positive, small = assume(ge(a, 0)), assume(ge(1, a))
        first = decide(ge(4 - 3 * x**2, 0), positive, small)
        cube = product(square(x - q), decide(ge(x + 2 * q, 0), positive))
        second = decide(ge(2 * BEND - x + x**3, 0), cube, positive)
        parts = product(square(e.w * x), first), product(e.wide, e.reach, second)
        own = e.w**2 / 4 + 2 * BEND * e.far * e.w
        return kappa, by_definition(
            ge(kappa, height(e)), e.means, decide(ge(own, height(e)), *parts, degree=1)
        )

    entry, apart = v.A.entry((t.term,), (k.term,)), (v.x - v.y).entry((k.term,))
    rows = entry - at_r(entry)
    diameter = most(most(SQRT(total(rows**2, k)), r), t)
    fact = gradients_apart(v, some, largest, diameter, lambda z: span(v, z))
    weighted = total(entry * v.h.entry((t.term,)), t)
    _, size_square = length(weighted, k)
    distance, _ = length(apart, k)
    (goal,) = conclusion_of(formula).sequents
    parts = product(steep, distance), scale(size_square, distance.proposition.term)
    end(statement, reading, by=[decide(goal.proposition, fact, *parts, degree=1)])
