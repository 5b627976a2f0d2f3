"""Att-SVM beside the SVM that separates optimal tokens from all others with one threshold."""

from attsvm.theory.proof.facts import ge
from attsvm.theory.proof.linked import linked, suppose
from attsvm.theory.proof.rules import beyond, bounds, decide
from attsvm.theory.proof.terms import most
from properties.tf.unlike_svm import ATT, OPTIMAL, OTHERS, SVM
from symbolic.facts import end, formula_of, index, letters_in, some_of

i, t = index("i", "n"), index("t", "R")


@linked
def prove_one_input() -> str:
    """Prove that 2 u with b = 1 - 2 <o, u> has the other tokens of one input at -1 or less."""
    reading = "amended-1"
    v, formula = letters_in(SVM, reading), formula_of(SVM, reading)
    (margins,) = suppose(ATT, formula)
    best, other = (v.o @ v.u).term, (v.x @ v.u).entry((t.term,))
    place = 2 * other + 1 - 2 * best
    each = decide(ge(-1, place), margins, beyond("least", best - other, t))
    end(SVM, reading, by=[bounds(each, "most", place, t, some_of(SVM, reading, "R"))])
    return "2 <x_t, u> + 1 - 2 <o, u> = 1 - 2 <o - x_t, u>, for any R and D"


@linked
def prove_half() -> str:
    """Prove that half of a vanilla solution meets (Att-SVM)."""
    reading = "amended-2"
    v, formula = letters_in(SVM, reading), formula_of(SVM, reading)
    (optimal,), (others,) = suppose(OPTIMAL, formula), suppose(OTHERS, formula)
    best = (v.o @ v.u).entry((i.term,))
    other = (v.x @ v.u).entry((i.term,), (t.term,))
    b = v.b.term
    highest = beyond("most", other + b, t), beyond("most", most(other + b, t), i)
    margin = (best - other) / 2
    each = decide(ge(margin, 1), optimal, beyond("least", best + b, i), others, *highest)
    rows = bounds(each, "least", margin, t, some_of(SVM, reading, "R"))
    inner_least = rows.proposition.term + 1
    end(SVM, reading, by=[bounds(rows, "least", inner_least, i, some_of(SVM, reading, "n"))])
    return "<o_i - x_it, u> >= 1 - b + 1 + b, for any n, R and D"
