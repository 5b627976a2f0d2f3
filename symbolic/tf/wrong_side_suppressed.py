"""Attention to a token that is selected with margins of at least 1, and to the others."""

from attsvm.theory.proof.facts import Fact, ge, gt
from attsvm.theory.proof.lemmas import RECIPROCAL
from attsvm.theory.proof.linked import linked, suppose
from attsvm.theory.proof.rules import add_up, beyond, bounds, cite, decide, one_of_sum, scale
from attsvm.theory.proof.terms import EXP, INV, Term, total
from properties.tf.wrong_side_suppressed import GROWN, SEPARATED, SUPPRESSED
from symbolic.facts import end, formula_of, index, letters_in, power, powers_rise, product, some_of

t = index("t", "R")


def parts(reading: str) -> tuple[Term, Term, Fact]:
    """Return exp(-c M_t) and exp(-c), and that the first is no larger."""
    v, formula = letters_in(SUPPRESSED, reading), formula_of(SUPPRESSED, reading)
    (separated,), (grown,) = suppose(SEPARATED, formula), suppose(GROWN, formula)
    M, c = v.M.entry((t.term,)), v.c.term
    return (
        EXP(-c * M),
        EXP(-c),
        powers_rise(-c * M, -c, decide(ge(c * M, c), grown, separated, beyond("least", M, t))),
    )


@linked
def prove_suppressed() -> str:
    """Prove that no other token has more than 1/(1 + e^c)."""
    reading = "amended-1"
    y, x, smaller = parts(reading)
    c, M = letters_in(SUPPRESSED, reading).c.term, letters_in(SUPPRESSED, reading).M
    exponent = -c * M.entry((t.term,))
    whole, bound = 1 + total(y, t), 1 + x
    positive, above = power(exponent), power(-c)
    unit, inverse = cite(RECIPROCAL, [decide(gt(whole, 0), add_up(positive, t))], whole)
    other, share = cite(RECIPROCAL, [decide(gt(bound, 0), above)], bound)
    less = decide(ge(x * whole, y * bound), above, one_of_sum(positive, t), smaller)
    fact = decide(
        ge(x * INV(bound), y * INV(whole)),
        *(product(inverse, share, less), scale(unit, x * INV(bound)), scale(other, y * INV(whole))),
    )
    some = some_of(SUPPRESSED, reading, "R")
    end(SUPPRESSED, reading, by=[bounds(fact, "most", y * INV(whole), t, some)])
    return "a token with the margin M_t has at most exp(-c M_t)/(1 + exp(-c M_t)); any R"


@linked
def prove_selected() -> str:
    """Prove that the selected token has at least 1/(1 + R e^-c)."""
    reading = "amended-2"
    y, x, smaller = parts(reading)
    c, M = letters_in(SUPPRESSED, reading).c.term, letters_in(SUPPRESSED, reading).M
    whole, bound = 1 + total(y, t), 1 + total(1, t) * x
    positive = add_up(power(-c * M.entry((t.term,))), t)
    more = add_up(smaller, t)
    order = decide(ge(bound, whole), more)
    unit, inverse = cite(RECIPROCAL, [decide(gt(whole, 0), positive)], whole)
    other, share = cite(RECIPROCAL, [decide(gt(bound, 0), order, positive)], bound)
    fact = decide(
        ge(INV(whole), INV(bound)),
        *(product(inverse, share, order), scale(unit, INV(bound)), scale(other, INV(whole))),
    )
    end(SUPPRESSED, reading, by=[fact])
    return "the sum of exp(-c M_t) is at most R e^-c; any R"
