"""The letters of linked proofs about W_fin and W_svm.

Each input names its first kept token. Rivals j are the tokens that are not kept, and A_j is the
difference of the named token and rival j, times z^T. E_e is the same for another kept token e.
W_svm is 0 if no matrix meets the constraints of Gen-SVM.
"""

from attsvm.primitives.descent_letters import RIVAL, A, V, X, j, margin
from attsvm.primitives.programme_letters import k, meets
from attsvm.theory.proof.facts import Proposition, Sequent, eq, ge, gt, some
from attsvm.theory.proof.linked import Said
from attsvm.theory.proof.terms import (
    INV,
    NORM,
    REAL,
    VECTOR,
    Function,
    Letter,
    Sort,
    Term,
    least,
    total,
)

KEPT = Sort("kept", index=True)
e, c = Letter("e", KEPT), Letter("c", REAL)
E = Function("E", (KEPT,), VECTOR)
W, FIN = (Function(name, (), VECTOR)() for name in ("W", "W_fin"))
SVM, REST = V, W - FIN
"""W_svm, and V = W - W_fin."""
OF_KEPT, OF_RIVAL = Function("c of kept", (KEPT,)), Function("c of rival", (RIVAL,))
"""Coefficients of W in the E_e and A_j, if W is in their span."""
LEAST = least(margin(k.term, REST), k)
"""mu, the least margin of V."""
BEST = FIN @ FIN + (REST @ SVM) ** 2 * INV(SVM @ SVM)
"""||W||^2 r^2 for the correlation r of W with W_fin + c W_svm at the best c."""


def sees(M: Term, as_: Term) -> Proposition:
    """Return that two matrices have one inner product with each E_e."""
    return eq(total((E(e) @ (M - as_)) ** 2, e), 0)


_ADMITTED = frozenset({meets(X.term), sees(X.term, 0 * X.term)})
"""X meets the constraints of Gen-SVM."""
SETTING = {
    "W_fin has the logit differences of W within kept tokens": Sequent(eq(E(e) @ REST, 0)),
    "no matrix with these differences is shorter than W_fin": Sequent(
        ge(X.term @ X.term, FIN @ FIN), frozenset({sees(X.term, W)})
    ),
    "W_svm meets the margins of Gen-SVM if a matrix meets its constraints": Sequent(
        ge(margin(j.term, SVM), 1), _ADMITTED
    ),
    "kept tokens have equal logits under W_svm": Sequent(eq(E(e) @ SVM, 0)),
    "no matrix that meets the constraints is shorter than W_svm": Sequent(
        ge(X.term @ X.term, SVM @ SVM), _ADMITTED
    ),
}
_EXISTS = Sequent(ge(margin(j.term, SVM), 1))
"""W_svm exists, as it meets all margins."""


# hypotheses


def all_kept() -> list[Sequent]:
    """Return the fact that there are no rivals."""
    return [Sequent(ge(0, total(1, j)))]


def in_span() -> list[Sequent]:
    """Return the fact that W is a sum of multiples of the E_e and A_j."""
    kept = total(OF_KEPT(e) * (E(e) @ X.term), e)
    return [Sequent(eq(W @ X.term, kept + total(OF_RIVAL(j) * (A(j) @ X.term), j)))]


def positive() -> list[Sequent]:
    """Return the facts that there is a rival, and that all margins of V are positive."""
    return [Sequent(some(j)), Sequent(gt(margin(j.term, REST), 0))]


# conclusions


def finite(factor: object = 1) -> Said | None:
    """Return the claim that W_svm exists and is 0, and that W = W_fin."""
    says = meets(SVM), eq(SVM @ SVM, 0), eq(REST @ REST, 0)
    return Said(tuple(map(Sequent, says)), SETTING) if factor == 1 else None


def at_least(share: object = 1) -> Said | None:
    """Return the claim that W_svm exists and mu ||W_svm|| <= ||V||."""
    text = Sequent(ge(NORM(REST), LEAST * NORM(SVM)))
    return Said((_EXISTS, text), SETTING) if share == 1 else None


def splits(share: object = 1) -> Said | None:
    """Return the claims 0 < ||W||^2 and ||W_fin||^2 + mu^2 ||W_svm||^2 <= BEST <= ||W||^2.

    Two more say what BEST is: <W, U>^2 <= BEST ||U||^2 for U = W_fin + c W_svm and every c, with
    equality for c = <V, W_svm>/||W_svm||^2.
    """
    at_best = (REST @ SVM) * INV(SVM @ SVM)
    says = (
        gt(W @ W, 0),
        ge(BEST, FIN @ FIN + LEAST**2 * (SVM @ SVM)),
        ge(W @ W, BEST),
        ge(correlated(c.term), 0),
        eq(correlated(at_best), 0),
    )
    return Said(tuple(map(Sequent, says)), SETTING) if share == 1 else None


def correlated(c: Term) -> Term:
    """Return BEST ||U||^2 - <W, U>^2 for U = W_fin + c W_svm."""
    U = FIN + c * SVM
    return BEST * (U @ U) - (W @ U) ** 2
