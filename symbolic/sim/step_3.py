"""Proof that the gradient of step 2 has the form of step 3, by g' = g (1 - g)."""

from attsvm.theory.proof.facts import eq, gt
from attsvm.theory.proof.lemmas import RECIPROCAL
from attsvm.theory.proof.linked import conclusion_of, linked
from attsvm.theory.proof.rules import cite, conclude, decide, scale
from attsvm.theory.proof.terms import EXP, INV
from properties.sim.step_3 import STEP
from symbolic.facts import formula_of, letters_in, power
from symbolic.sim.lemma_3_11 import parts


@linked
def prove() -> str:
    """Prove that both formulas agree, for every column of A."""
    v = letters_in(STEP, "literal")
    d, terms = parts(v)
    e, above = EXP(-d), power(-d)
    g, whole = INV(1 + e), 1 + 2 * e + e * e
    one, _ = cite(RECIPROCAL, [decide(gt(1 + e, 0), above)], 1 + e)
    square, _ = cite(RECIPROCAL, [decide(gt(whole, 0), above)], whole)
    q = INV(whole)
    same = decide(eq(q, g * g), scale(one, q * (g + g * e + 1)), scale(square, g * g))
    both = v.b.term * terms
    (goal,) = conclusion_of(formula_of(STEP, "literal")).sequents
    facts = scale(same, e * both), scale(one, g * both)
    conclude(decide(goal.proposition, *facts), goal)
    return "g' = g (1 - g), and <f o A_i, h> = <f, h o A_i>, for any n and D"
