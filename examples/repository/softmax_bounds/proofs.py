"""Proofs as chains of facts, which a small core checks."""

from attsvm.theory.proof.arrays import variable
from attsvm.theory.proof.facts import Sequent, ge, gt, note
from attsvm.theory.proof.lemmas import EXPONENTIAL, RECIPROCAL
from attsvm.theory.proof.linked import linked
from attsvm.theory.proof.rules import cite, conclude, decide, square
from attsvm.theory.proof.terms import EXP, INV


@linked
def slope_is_bounded() -> str:
    """Prove that the slope of g is at most 1/4: (1 + e)^2 - 4 e is a square."""
    x = variable("x", ()).term
    e = EXP(-x)
    power, _ = cite(EXPONENTIAL, (), -x)
    whole = (1 + e) ** 2
    unit, above = cite(RECIPROCAL, [decide(gt(whole, 0), power)], whole)
    gap = decide(ge(INV(whole) * (1 - e) ** 2, 0), above, square(1 - e))
    note("with e = exp(-x), (1 - e)^2/(1 + e)^2 is at least 0", gap)
    bound = ge(1, 4 * INV(whole) * e)
    conclude(decide(bound, gap, unit), Sequent(bound))
    return "1/4 - g'(x) = (1 - e)^2/(4 (1 + e)^2) with e = exp(-x), for all real x"
