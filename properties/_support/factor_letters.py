"""The letters of proofs about descent on key and query weights, W = K Q^T.

K_r and Q_c are rows of K and Q, vectors whose dimension is the width of both. Rival j has the
direction D = x_opt - x_j, and its input the query z, so that A_j = D z^T. The other letters are
those of `attsvm.primitives.descent_letters`, where W(k) is K(k) Q(k)^T.
"""

from attsvm.primitives import descent_letters as letters
from attsvm.primitives.descent_letters import GRADIENT, OWNER, RATE, RIVAL, A, V, W, X, j, margin
from attsvm.theory.proof.facts import K, Sequent, eq, ge, gt
from attsvm.theory.proof.linked import Said
from attsvm.theory.proof.terms import (
    SQRT,
    STEP,
    VECTOR,
    Function,
    Letter,
    Operand,
    Sort,
    Term,
    least,
    total,
)

ROW, COLUMN = Sort("row", index=True), Sort("column", index=True)
r, c = Letter("r", ROW), Letter("c", COLUMN)
y = Letter("y", VECTOR)
"""A vector of the width of K and Q."""
KEYS, QUERIES = Function("K", (ROW, STEP), VECTOR), Function("Q", (COLUMN, STEP), VECTOR)
APART = Function("D", (RIVAL, ROW))
"""An entry of x_opt - x_j."""
ASKED = Function("z", (letters.INPUT, COLUMN))
"""An entry of the query of an input."""
KEY_MOVED = Function("e_r y^T Q^T", (ROW, VECTOR, STEP), VECTOR)
"""The matrix K Q^T with e_r y^T in place of K, for the unit vector e_r."""
QUERY_MOVED = Function("K y e_c^T", (COLUMN, VECTOR, STEP), VECTOR)
"""The matrix K Q^T with e_c y^T in place of Q, for the unit vector e_c."""

D, Z = APART(j, r), ASKED(OWNER(j), c)
LENGTH_OF_D, LENGTH_OF_Z = SQRT(total(D**2, r)), SQRT(total(Z**2, c))


KEYED, TURNED = (Function(name, (RIVAL, STEP), VECTOR) for name in ("K^T D", "Q^T z"))


def keyed(k: Operand = K) -> Term:
    """Return K^T D at a step."""
    return KEYED(j, k)


def asked(k: Operand = K) -> Term:
    """Return Q^T z at a step."""
    return TURNED(j, k)


_after = K.term + 1
_key, _query = KEY_MOVED(r, y, K), QUERY_MOVED(c, y, K)
_met = frozenset({ge(least(margin(j.term, X.term), j), 1)})
SETTING = {
    **letters.SETTING,
    "K^T D is the sum of D_r K_r": Sequent(
        eq(keyed() @ y.term, total(D * (KEYS(r, K) @ y.term), r))
    ),
    "Q^T z is the sum of z_c Q_c": Sequent(
        eq(asked() @ y.term, total(Z * (QUERIES(c, K) @ y.term), c))
    ),
    "descent takes the step e along the negative gradient by K": Sequent(
        eq(KEYS(r, _after) @ y.term, KEYS(r, K) @ y.term - RATE * (GRADIENT(W(K)) @ _key))
    ),
    "descent takes the step e along the negative gradient by Q": Sequent(
        eq(QUERIES(c, _after) @ y.term, QUERIES(c, K) @ y.term - RATE * (GRADIENT(W(K)) @ _query))
    ),
    "A_j has the product D_r <Q^T z, y> with e_r y^T Q^T": Sequent(
        eq(A(j) @ _key, D * (asked() @ y.term))
    ),
    "A_j has the product z_c <K^T D, y> with K y e_c^T": Sequent(
        eq(A(j) @ _query, Z * (keyed() @ y.term))
    ),
    "A_j has the product <K^T D, Q^T z> with K Q^T": Sequent(eq(A(j) @ W(K), keyed() @ asked())),
    "the entries of K Q^T are products of rows": Sequent(
        eq(W(K) @ W(K), total(total((KEYS(r, K) @ QUERIES(c, K)) ** 2, c), r))
    ),
    "||A_j|| is ||D|| ||z||": Sequent(eq(A(j) @ A(j), total(D**2, r) * total(Z**2, c))),
    "V has margins of at least 1 if some matrix has": Sequent(ge(margin(j.term, V), 1), _met),
    "no matrix with margins of at least 1 is shorter than V": Sequent(
        ge(X.term @ X.term, V @ V), _met
    ),
}
"""Facts about every run on K and Q that follow from the meaning of the letters."""
del SETTING[letters.DOWN]


def leans() -> list[Sequent]:
    """Return the facts that D and z are not 0, and that ||z|| K^T D + ||D|| Q^T z is not 0."""
    whole = LENGTH_OF_Z * keyed(0) + LENGTH_OF_D * asked(0)
    terms = total(D**2, r), total(Z**2, c), whole @ whole
    return [Sequent(gt(term, 0)) for term in terms]


def direction(towards: str = "optimal", loss: object = "logistic-loss") -> Said | None:
    """Return the claim that W(k)/||W(k)|| tends to V/||V||; None for another target or loss."""
    result = letters.direction(towards, loss=loss)
    return result and Said(result.sequents, SETTING)
