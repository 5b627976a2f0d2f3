"""Lagrange's identity: n sum w^2 - (sum w)^2 = sum over pairs of (w_t - w_r)^2."""

from attsvm.theory.proof.arrays import LETTERS, number
from attsvm.theory.proof.facts import Fact, ge, note
from attsvm.theory.proof.linked import conclusion_of, linked, setting
from attsvm.theory.proof.rules import at, decide, one_of_sum, scale
from attsvm.theory.proof.terms import SQRT, Term, as_term, first_of, substituted, total
from properties.sim.basic_2 import BOUND, change
from symbolic.facts import (
    cauchy,
    count,
    end,
    formula_of,
    index,
    length,
    letters_in,
    product,
    root,
    size_by_squares,
    squares,
)

t, i = index("t", "n"), index("i", "n")


def sum_at_most(w: Term, norm: Fact, longer: Fact) -> Fact:
    """Return that |sum w| <= sqrt(n) s, as s >= 0 and s^2 is at least the sum of the w^2."""
    n, s = total(1, t), norm.proposition.term
    root_n, n_square = root(n, count(t))
    gap = note("n ||w||^2 >= (sum w)^2, as Lagrange says", cauchy(w, as_term(1), t))
    whole = decide(
        ge((SQRT(n) * s) ** 2, total(w, t) ** 2), gap, count(t), longer, scale(n_square, s**2)
    )
    return size_by_squares(total(w, t), product(root_n, norm), whole)


@linked
def prove() -> str:
    """Prove the identity for every n, and the bound by it."""
    v = letters_in(BOUND, "literal-1")
    w = number(change(LETTERS, v.A, v)).entry((t.term,))
    (identity,) = conclusion_of(formula_of(BOUND, "sharp")).sequents
    end(BOUND, "sharp", by=[decide(identity.proposition)])
    norm, norm_square = length(w, t)
    longer = decide(ge(SQRT(total(w**2, t)) ** 2, total(w**2, t)), norm_square)
    end(BOUND, "literal-1", by=[sum_at_most(w, norm, longer)])
    return "n ||w||^2 - (sum w)^2 = sum over pairs (w_t - w_r)^2, for every n"


@linked
def prove_blocks() -> str:
    """Prove that the first block is no longer than the whole."""
    v = letters_in(BOUND, "literal-2")
    w = number(change(LETTERS, v.whole, v)).entry((i.term, t.term))
    norm, norm_square = root(total(total(w**2, t), i), squares(w, t, i))
    first = {i: first_of(i.sort)}
    settings = conclusion_of(formula_of(BOUND, "literal-2")).setting
    spoken = setting(settings, "the first index of the axis n has the position 0")
    longer = at(one_of_sum(squares(w, t), i), first, spoken)
    block = substituted(w, {i: first_of(i.sort)})
    longer = decide(ge(norm.proposition.term**2, total(block**2, t)), longer, norm_square)
    end(BOUND, "literal-2", by=[sum_at_most(block, norm, longer)])
    return "the change of the first block is no longer than that of the whole"
