"""The letters of proofs on tokens that rest at W = 0 if no q has Y_i <z_i, q> > 0 for all i.

lambda are the weights of the point Z = sum_i lambda_i Y_i z_i of the hull of the Y_i z_i that is
nearest to 0. If Z is not 0, it is a q with Y_i <z_i, q> > 0 for all i.
"""

from attsvm.primitives.descent_letters import (
    FALLS,
    GRADIENT,
    INPUT,
    LABEL,
    LOSS,
    NUMBER,
    OUTER,
    QUERY,
    SETTING,
    M,
    W,
    i,
    q,
    t,
    w,
)
from attsvm.theory.proof.facts import Sequent, eq, ge, gt
from attsvm.theory.proof.linked import Said
from attsvm.theory.proof.terms import (
    EXP,
    INV,
    NORM,
    SQRT,
    VECTOR,
    Function,
    Letter,
    Term,
    as_term,
    derivative,
    least,
    substituted,
    total,
)

PART, SIGN = Function("lambda", (INPUT,)), Function("s", (INPUT,))
"""The weights of Z, and the sign of <z_i, b>."""
E_1, E_2, PLACE = (Function(name, (), VECTOR)() for name in ("e_1", "e_2", "b"))
"""The first two axes, and a vector b that is orthogonal to no query."""
SEPARATES = OUTER(E_2, PLACE)
"""A matrix that separates the tokens below."""
COLUMN = Function("M^T e_1", (VECTOR,), VECTOR)
TOKENS = ((2, 1), (1, -2), (-3, 0))
"""The tokens are (2 Y, s), (Y, -2 s) and (-3 Y, 0) times the root of lambda, and v = (1, 0)."""
_each = Letter("each", INPUT)
NEAREST = total(PART(i) * LABEL(i) * QUERY(i), i)


def score(i: Term, k: int) -> Term:
    """Return the score Y <v, x> of a token."""
    return LABEL(i) * LABEL(i) * TOKENS[k][0] * SQRT(PART(i))


def key(i: Term, k: int) -> Term:
    """Return the matrix x z^T of a token."""
    along, across = TOKENS[k]
    rows = OUTER(E_1, QUERY(i)), OUTER(E_2, QUERY(i))
    return SQRT(PART(i)) * (along * LABEL(i) * rows[0] + across * SIGN(i) * rows[1])


def output(i: Term, X: Term) -> Term:
    """Return the score of an input of these tokens, by softmax."""
    powers = [EXP(key(i, k) @ X) for k in range(3)]
    scores = (power * score(i, k) for k, power in enumerate(powers))
    return sum(scores, as_term(0)) * INV(sum(powers, as_term(0)))


def slope_at_zero() -> Term:
    """Return the derivative at W = 0 of the risk of these tokens along M."""
    risk = total(LOSS(output(i.term, M.term * t.term)), i) * INV(NUMBER)
    return substituted(derivative(risk, t, FALLS), {t: as_term(0)})


def plane() -> list[Sequent]:
    """Return that e_1 and e_2 are orthogonal and of norm 1."""
    products = ((E_1, E_1, 1), (E_1, E_2, 0), (E_2, E_2, 1))
    return [Sequent(eq(one @ other, value)) for one, other, value in products]


def queried() -> list[Sequent]:
    """Return that s_i <z_i, b> > 0 for signs s_i and some b, as no query is 0."""
    return [Sequent(gt(SIGN(i) * (QUERY(i) @ PLACE), 0))]


def exactly(by: str = "side", other: bool = True) -> Said | None:
    """Return the claims on W for a q on one side of all inputs, and on W = 0 if there is none.

    - W is not stationary if some q has Y_i <z_i, q> > 0 for all i; Z is such a q if it is not 0.
    - If Z is 0, then W = 0 is stationary for the tokens above.
    - Some lambda_i is positive. For such an input the first token has the best score alone, and
      e_2 b^T separates it from the others.
    """
    side, some = least(LABEL(_each) * (QUERY(_each) @ q.term), _each), frozenset({gt(PART(i), 0)})
    best = (Sequent(gt(score(i.term, 0) - score(i.term, k), 0), some) for k in (1, 2))
    apart = (key(i.term, 0) - key(i.term, k) for k in (1, 2))
    claims = [
        Sequent(gt(NORM(GRADIENT(W(0))), 0), frozenset({gt(side, 0)})),
        Sequent(gt(LABEL(i) * (QUERY(i) @ NEAREST), 0), frozenset({gt(NEAREST @ NEAREST, 0)})),
        Sequent(eq(slope_at_zero(), 0), frozenset({ge(0, NEAREST @ NEAREST)})),
        Sequent(gt(total(PART(i), i), 0)),
        *best,
        *(Sequent(gt(row @ SEPARATES, 0), some) for row in apart),
    ]
    known = {
        **SETTING,
        "labels are 1 or -1": Sequent(eq(LABEL(i) * LABEL(i), 1)),
        "no lambda is negative": Sequent(ge(PART(i), 0)),
        "they add up to 1": Sequent(eq(total(PART(i), i), 1)),
        "Z is the point of the hull that is nearest to 0": Sequent(
            ge(LABEL(i) * (QUERY(i) @ NEAREST), NEAREST @ NEAREST)
        ),
        "<e_1 q^T, M> is <q, M^T e_1>": Sequent(eq(OUTER(E_1, q) @ M.term, q.term @ COLUMN(M))),
        "<w q^T, e_2 b^T> is <w, e_2> <q, b>": Sequent(
            eq(OUTER(w, q) @ SEPARATES, (w.term @ E_2) * (q.term @ PLACE))
        ),
    }
    return Said(tuple(claims), known) if (by, other) == ("side", True) else None
