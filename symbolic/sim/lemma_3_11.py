"""The closed form of the gradient of one entry of the loss.

g' = g (1 - g) follows from (1 + e) g = 1 for e = exp(-b <f, h>). The rest is an identity of sums
over tokens, for any number of them. Symbols of small sizes show that the printed formula is another
one (`loss_residual`).
"""

from types import SimpleNamespace
from typing import Any

import sympy as sp

from attsvm.theory.arithmetic.symbols import SYMBOLS, symbols_of
from attsvm.theory.declaration.proof import cancelled
from attsvm.theory.proof.arrays import LETTERS
from attsvm.theory.proof.facts import Fact, eq, gt
from attsvm.theory.proof.lemmas import EXPONENTIAL, EXPONENTIAL_OF_SUM, RECIPROCAL
from attsvm.theory.proof.linked import conclusion_of, linked
from attsvm.theory.proof.linked import suppose as suppose_linked
from attsvm.theory.proof.rules import assume, cases, cite, conclude, decide, inside, scale
from attsvm.theory.proof.terms import EXP, INV, Letter, Term, as_term
from attsvm.theory.types import Values
from properties.sim._support.entry_loss import loss
from properties.sim.lemma_3_11 import LABELS, LEMMA, closed_form
from symbolic.facts import formula_of, index, letters_in

k = index("D", "D")


def entry_of(n: int, d: int) -> SimpleNamespace:
    """Return A, x = vec(X), h and b of one entry of the loss, with symbols as entries.

    There are n tokens in R^d, and A is a block of A_1 kron A_2.
    """
    query, tokens, X = symbols_of("q", 1, d), symbols_of("k", n, d), symbols_of("x", d, d)
    return SimpleNamespace(
        A=SYMBOLS.kron(query, tokens), x=SYMBOLS.vec(X), h=symbols_of("h", n), b=symbols_of("b")
    )


def in_powers(expression: sp.Expr, v: Values) -> sp.Expr:
    """Return the expression as a rational function of exp(logit_t) and of powers of exp(<f, h>).

    Each of these exponentials becomes a symbol of its own, and relations between them are lost. If
    the result is 0, so is the expression.
    """
    powers = [sp.exp(logit) for logit in v.A @ v.x]
    u = sp.symbols(f"u0:{len(powers)}", positive=True)
    mean = sum(p * y for p, y in zip(u, v.h, strict=True)) / sum(u)
    named = expression.xreplace(dict(zip(powers, u, strict=True)))
    names = {}
    for power in named.atoms(sp.exp):
        k, c = cancelled(power.args[0] / mean).as_coeff_Mul()
        names[power] = sp.Symbol(f"exp({c} <f, h>)", positive=True) ** k
    return named.xreplace(names)


def loss_residual(n: int, d: int, **formula: bool) -> list[sp.Expr]:
    """Return sympy's derivatives of the claim's loss minus its closed form.

    `formula` selects another formula in place of the closed form.
    """
    v = entry_of(n, d)
    value = loss(SYMBOLS, v.A, v.x, v.h, v.b)
    closed = closed_form(SYMBOLS, v, **formula)
    gaps = [sp.diff(value, x) - c for x, c in zip(v.x, closed, strict=True)]
    return [cancelled(in_powers(gap, v)) for gap in gaps]


def parts(v: Values) -> tuple[Term, Term]:
    """Return d = <f, h>, and the entry of the gradient of d."""
    f = LETTERS.softmax(v.A @ v.x)
    d: Any = LETTERS.dot(f, v.h)
    terms = v.A.T @ (f * v.h) - d * (v.A.T @ f)
    return d.term, terms.entry((k.term,))


def unit_of(u: Term) -> Fact:
    """Return that (1 + exp(-u)) g(u) = 1."""
    power, _ = cite(EXPONENTIAL, (), -u)
    return cite(RECIPROCAL, [decide(gt(1 + EXP(-u), 0), power)], 1 + EXP(-u))[0]


@linked
def prove() -> str:
    """Prove the closed form with b inside g, by (1 + e) g = 1 for e = exp(-b d)."""
    v = letters_in(LEMMA, "amended-2")
    d, terms = parts(v)
    u, b = v.b.term * d, v.b.term
    g = INV(1 + EXP(-u))
    (conclusion,) = conclusion_of(formula_of(LEMMA, "amended-2")).sequents
    fact = decide(conclusion.proposition, scale(unit_of(u), g * b * terms))
    conclude(fact, conclusion)
    return "dL/dx_i = g'(b d) b sum_t a_t f_t (h_t - d) for every n"


def same_slope(d: Term, b: Term, label: Fact) -> Fact:
    """Return that g'(b d) b = g'(d) b for a label with b^3 = b, as g' is even."""
    hole = Letter("hole")

    def slope(at: Term) -> Term:
        g = INV(1 + EXP(-at * d))
        return g - g * g

    one, opposite = as_term(1), as_term(-1)
    goal = eq(b * slope(b), b * slope(one))
    above, below = gt(b, 0), gt(-b, 0)
    yes, no = assume(above), assume(above.denied())
    is_one = decide(eq(b, 1), yes, label, degree=3)
    first = decide(goal, scale(inside(is_one, b, one, slope(hole.term), hole), b))
    negative, neither = assume(below), assume(below.denied())
    is_opposite = decide(eq(b, -1), negative, label, degree=3)
    unit, other = unit_of(d), unit_of(-d)
    g, k_, E = INV(1 + EXP(-d)), INV(1 + EXP(d)), EXP(-d)
    (law,) = cite(EXPONENTIAL_OF_SUM, (), d, -d)
    turned = decide(eq(k_, 1 - g), scale(other, E * g), scale(law, g * k_), scale(unit, k_), unit)
    even = decide(eq(slope(opposite), slope(one)), scale(turned, g - k_))
    moved = inside(is_opposite, b, opposite, slope(hole.term), hole)
    second = decide(goal, scale(moved, b), scale(even, b))
    zero = decide(eq(b, 0), no, neither)
    third = decide(goal, scale(zero, slope(b) - slope(one)))
    return cases(first, cases(second, third, below), above)


@linked
def prove_labels() -> str:
    """Prove that for labels -1, 0 and 1 the printed formula is the gradient, too."""
    v = letters_in(LEMMA, "amended-1")
    (label,) = suppose_linked(LABELS, formula_of(LEMMA, "amended-1"))
    d, terms = parts(v)
    b = v.b.term
    g = INV(1 + EXP(-b * d))
    (conclusion,) = conclusion_of(formula_of(LEMMA, "amended-1")).sequents
    same = same_slope(d, b, label)
    fact = decide(conclusion.proposition, scale(unit_of(b * d), g * b * terms), scale(same, terms))
    conclude(fact, conclusion)
    return "g'(b d) b = g'(d) b for b in {-1, 0, 1}, as g' is even"
