"""The output at a token is its value plus a share of the distance to another value."""

from attsvm.theory.proof.facts import Fact, ge, gt
from attsvm.theory.proof.lemmas import RECIPROCAL
from attsvm.theory.proof.linked import conclusion_of, linked, suppose
from attsvm.theory.proof.rules import cite, conclude, decide, scale, square
from attsvm.theory.proof.terms import EXP, INV, Term, total
from properties.tf.tokens_interact import DIFFER, INTERACT
from symbolic.facts import formula_of, index, letters_in, power

k = index("k", "d")


def shares(reading: str) -> tuple[Term, Term, Fact, Fact, tuple[Term, Fact, Fact]]:
    """Return the gap of values and the share s of y with facts on them.

    The facts are s > 0 and u - <v, x> = s gap. The tuple has the logit <x, p>, with D/D = 1 and
    1/D > 0 for the sum D of both exponentials.
    """
    v = letters_in(INTERACT, reading)
    x, y, head, p = (one.entry((k.term,)) for one in (v.x, v.y, v.v, v.p))
    own, other = total(x * p, k), total(y * p, k)
    whole = EXP(own) + EXP(other)
    positive = decide(gt(whole, 0), power(own), power(other))
    unit, inverse = cite(RECIPROCAL, [positive], whole)
    share = EXP(other) * INV(whole)
    some = decide(gt(share, 0), power(other), inverse)
    value, gap = total(head * x, k), total(head * y, k) - total(head * x, k)
    u = (EXP(own) * value + EXP(other) * (gap + value)) * INV(whole)
    apart = scale(unit, value)  # u - <v, x> = s gap
    same = scale(apart, u - value + share * gap)
    return gap, share, some, same, (own, unit, inverse)


@linked
def prove() -> str:
    """Prove that the output is not that of x alone."""
    formula = formula_of(INTERACT, "literal")
    (differ,) = suppose(DIFFER, formula)
    gap, share, some, same, _ = shares("literal")
    part = decide(gt(share**2, 0), some)
    part = decide(gt(share**2 * gap**2, 0), part, differ)
    (goal,) = conclusion_of(formula).sequents
    conclude(decide(goal.proposition, part, same, degree=1), goal)
    return "u - <v, x> = s <v, y - x>, for any d"


@linked
def prove_within() -> str:
    """Prove that the output is no farther from <v, x> than <v, y> is."""
    formula = formula_of(INTERACT, "sharp")
    gap, share, some, same, (own, unit, inverse) = shares("sharp")
    rest = decide(ge(1 - share, 0), unit, power(own), inverse)
    most = decide(ge(1 - share**2, 0), rest, some)
    (goal,) = conclusion_of(formula).sequents
    conclude(decide(goal.proposition, most, square(gap), same), goal)
    return "u - <v, x> = s <v, y - x> with 0 < s < 1, for any d"
