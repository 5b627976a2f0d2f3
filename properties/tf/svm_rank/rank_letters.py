"""The letters of proofs on ranks: a matrix of a rank of at most r is a sum of r matrices w q^T.

That matrices are equal is said by their inner products with every X.
"""

from attsvm.primitives.descent_letters import (
    OUTER,
    OWNER,
    QUERY,
    RIVAL,
    A,
    M,
    V,
    X,
    i,
    j,
    margin,
    q,
    w,
)
from attsvm.primitives.programme_letters import AXIS, MULTIPLIERS, WEIGHT, a, meets
from attsvm.theory.proof.facts import Sequent, eq, ge
from attsvm.theory.proof.linked import Said
from attsvm.theory.proof.terms import NORM, VECTOR, Function, Letter, Over, Sort, total

IMAGE, TURNED = (Function(name, (VECTOR, VECTOR), VECTOR) for name in ("X q", "X^T w"))
LEAD, UNIT = Function("x_opt - x", (RIVAL,), VECTOR), Function("e", (AXIS,), VECTOR)
"""The difference D_j of the optimal token and a rival; the unit vectors e_1, ..., e_d."""
OF_QUERIES, OF_LEADS = Sort("basis of queries", index=True), Sort("basis of leads", index=True)
b, c = Letter("b", OF_QUERIES), Letter("c", OF_LEADS)
QUERY_UNIT, LEAD_UNIT = Function("u", (OF_QUERIES,), VECTOR), Function("v", (OF_LEADS,), VECTOR)
"""Orthonormal bases of the spans of the queries and of the D_j of rivals of positive multiplier.
Their numbers of elements are the ranks of both."""
ASKED = QUERY(OWNER(j))
LEFT, RIGHT = (Function(name, (), VECTOR)() for name in ("p", "q"))
OF_RANK_ONE = OUTER(LEFT, RIGHT)
"""W^mm if it has rank 1: a matrix p q^T."""
NUCLEAR = Function("nuclear norm", (VECTOR,))

PRODUCTS = {
    "<w q^T, X> is <w, X q>": Sequent(eq(OUTER(w, q) @ X.term, w.term @ IMAGE(X, q))),
    "<w q^T, X> is <q, X^T w>": Sequent(eq(OUTER(w, q) @ X.term, q.term @ TURNED(X, w))),
    "A_j is D_j z^T": Sequent(eq(A(j) @ X.term, OUTER(LEAD(j), ASKED) @ X.term)),
}
_EXISTS = Sequent(ge(margin(j.term, V), 1))
_SUM = "X^mm is the sum of the A_j by multipliers"


def by_size(less: int = 0, most: int | None = None) -> Said | None:
    """Return that W^mm exists and is a sum of n matrices w q^T, and of d such matrices."""
    own = total(WEIGHT(j) * LEAD(j), j, Over(OWNER, i.term))
    rows = total(TURNED(M, UNIT(a)) @ TURNED(X, UNIT(a)), a)
    known = {
        **PRODUCTS,
        _SUM: MULTIPLIERS[_SUM],
        "<M, X> is the sum of the products of rows": Sequent(eq(M.term @ X.term, rows)),
    }
    sums = (
        total(OUTER(own, QUERY(i)) @ X.term, i),
        total(OUTER(UNIT(a), TURNED(V, UNIT(a))) @ X.term, a),
    )
    claims = _EXISTS, *(Sequent(eq(V @ X.term, one)) for one in sums)
    return Said(claims, known) if (less, most) == (0, None) else None


def by_carriers(less: int = 0) -> Said | None:
    """Return that W^mm exists and is a sum of r matrices w q^T, for both ranks r."""
    spans = (
        (ASKED, QUERY_UNIT(b), b, "queries"),
        (LEAD(j), LEAD_UNIT(c), c, "differences"),
    )
    known = {
        **PRODUCTS,
        _SUM: MULTIPLIERS[_SUM],
        **{
            f"the {name} of positive multiplier are in the span of their basis": Sequent(
                eq(WEIGHT(j) * (x @ w.term), WEIGHT(j) * total((x @ unit) * (unit @ w.term), at))
            )
            for x, unit, at, name in spans
        },
    }
    left = total(WEIGHT(j) * (ASKED @ QUERY_UNIT(b)) * LEAD(j), j)
    right = total(WEIGHT(j) * (LEAD(j) @ LEAD_UNIT(c)) * ASKED, j)
    sums = (
        total(OUTER(left, QUERY_UNIT(b)) @ X.term, b),
        total(OUTER(LEAD_UNIT(c), right) @ X.term, c),
    )
    claims = _EXISTS, *(Sequent(eq(V @ X.term, one)) for one in sums)
    return Said(claims, known) if less == 0 else None


def rank_one() -> list[Sequent]:
    """Return that W^mm is p q^T: it meets the constraints, and no shorter matrix does."""
    shortest = ge(X.term @ X.term, OF_RANK_ONE @ OF_RANK_ONE)
    return [
        Sequent(ge(margin(j.term, OF_RANK_ONE), 1)),
        Sequent(shortest, frozenset({meets(X.term)})),
    ]


def no_larger(less: int = 0, most: int | None = None) -> Said | None:
    """Return that p q^T meets the constraints, and no matrix that does has a lesser nuclear norm.

    So this matrix of rank 1 is a nuclear-norm solution.
    """
    lesser = Sequent(ge(NUCLEAR(X), NUCLEAR(OF_RANK_ONE)), frozenset({meets(X.term)}))
    known = {
        "no norm is above the nuclear norm": Sequent(ge(NUCLEAR(X), NORM(X))),
        "the nuclear norm of w q^T is its norm": Sequent(
            eq(NUCLEAR(OUTER(w, q)), NORM(OUTER(w, q)))
        ),
    }
    claims = Sequent(ge(margin(j.term, OF_RANK_ONE), 1)), lesser
    return Said(claims, known) if (less, most) == (0, None) else None
