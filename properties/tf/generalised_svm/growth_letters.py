"""The letters of the proof on the growth of margins: descent on W for two tokens an input."""

from attsvm.primitives.descent_letters import (
    BEST,
    COUNT,
    FALL,
    FALLS,
    INPUT,
    LOSS,
    NUMBER,
    RATE,
    M,
    W,
    i,
    peer,
    t,
)
from attsvm.theory.proof.facts import K, Sequent, eq, ge, gt, some
from attsvm.theory.proof.linked import Said
from attsvm.theory.proof.terms import (
    EXP,
    INV,
    VECTOR,
    Function,
    Term,
    as_term,
    derivative,
    same,
    substituted,
    total,
)

A, LOWER = Function("A", (INPUT,), VECTOR), Function("lower", (INPUT,))
"""(x_1 - x_2) z^T, and the score of the second token."""


def output(m: Term, i: Term) -> Term:
    """Return the score of an input by its margin."""
    return (BEST(i) + EXP(-m) * LOWER(i)) * INV(1 + EXP(-m))


def slope() -> Term:
    """Return the derivative of the risk at W(k) along M."""
    moved = output(A(i) @ W(K) + t.term * (A(i) @ M.term), i.term)
    along = derivative(total(LOSS(moved), i) * INV(NUMBER), t, FALLS)
    return substituted(along, {t: as_term(0)})


def factor(score: Term, i: Term) -> Term:
    """Return -e l' ||A_i||^2 (gamma_1 - gamma_2)/n with l' at a score."""
    return RATE * FALL(score) * (A(i) @ A(i)) * (BEST(i) - LOWER(i)) * INV(NUMBER)


SETTING = {
    "descent on W takes the step e": Sequent(
        eq(W(K.term + 1) @ M.term, W(K) @ M.term - RATE * slope())
    ),
    "the start is 0": Sequent(eq(W(0) @ M.term, 0)),
    "there is an input": Sequent(some(i)),
    "the first step has the number 0": Sequent(eq(COUNT(0), 0)),
    "the next step has the next number": Sequent(eq(COUNT(K.term + 1), COUNT(K) + 1)),
}


def better() -> list[Sequent]:
    """Return the fact that the first token of each input scores more."""
    return [Sequent(gt(BEST(i), LOWER(i)))]


def orthogonal() -> list[Sequent]:
    """Return the facts that the A_i are orthogonal, and that none is 0."""
    apart = (1 - same(peer, i)) * (A(peer) @ A(i))
    return [Sequent(eq(apart, 0)), Sequent(gt(A(i) @ A(i), 0))]


def logarithmic(over: object = 4, power: object = 1) -> Said | None:
    """Return the claims 0 < exp(m_i) - 1 and c_i k/4 <= exp(m_i) - 1 <= C_i k exp(C_i/4), k >= 1.

    They are about the step k + 1 of a natural number k.
    """
    grown, k = EXP(A(i) @ W(K.term + 1)) - 1, COUNT(K.term + 1)
    low, high = (factor(score(i), i.term) for score in (BEST, LOWER))
    says = gt(grown, 0), ge(4 * grown, low * k), ge(high * k * EXP(high / 4), grown)
    return Said(tuple(map(Sequent, says)), SETTING) if (over, power) == (4, 1) else None
