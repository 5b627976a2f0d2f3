"""The letters of the proof about gradients of two losses: a of the loss l, b of the loss -x."""

from attsvm.primitives.descent_letters import GRADIENT, NUMBER, SETTING, M, W, i, output, t
from attsvm.theory.proof.facts import K, Sequent, eq, gt
from attsvm.theory.proof.linked import Said
from attsvm.theory.proof.terms import (
    INV,
    VECTOR,
    Function,
    Term,
    as_term,
    derivative,
    substituted,
    total,
)

OF_MINUS = Function("grad L of -x", (VECTOR,), VECTOR)
"""The gradient of the risk of -x at a matrix."""
a, b = GRADIENT(W(K)), OF_MINUS(W(K))


def steepness() -> Term:
    """Return the derivative of the output of input i at W(k) along M."""
    along = derivative(output(i.term, W(K) + M.term * t.term), t, {})
    return substituted(along, {t: as_term(0)})


def parallel(other: str = "correlation", length: str = "any") -> Said | None:
    """Return the claim that a = c b for some c > 0, or a = b = 0.

    That is, <b, b> a = <a, b> b, and <a, b> > 0 unless a = b = 0.
    """
    text = eq((b @ b) * (a @ M.term), (a @ b) * (b @ M.term))
    says = Sequent(text), Sequent(gt(a @ b, 0), frozenset({gt(a @ a + b @ b, 0)}))
    known = {
        **SETTING,
        "b has the slope of minus the mean output along every matrix": Sequent(
            eq(b @ M.term, -total(steepness(), i) * INV(NUMBER))
        ),
    }
    return Said(says, known) if (other, length) == ("correlation", "any") else None
