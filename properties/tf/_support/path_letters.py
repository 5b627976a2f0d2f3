"""The letters of linked proofs about minimisers of the risk over growing balls.

A limit as R tends to infinity is one along every sequence of radii R(k) that tends to infinity.
W(k) is a minimiser over the ball of radius R(k), and so are the factors K(k) and Q(k) over the ball
||K||^2 + ||Q||^2 <= 2 R(k). W_* is a solution of Att-SVM* of a rank of at most their number of
columns. It need not be unique.
"""

from attsvm.primitives import programme_letters
from attsvm.primitives.descent_letters import SETTING as OF_SCORES
from attsvm.primitives.descent_letters import M, V, W, X, bound, j, margin, off, risk, t
from attsvm.theory.proof.facts import K, Sequent, eq, ev, ge, gt
from attsvm.theory.proof.linked import Said
from attsvm.theory.proof.terms import INV, NORM, REAL, STEP, VECTOR, Function, Term, least

RADIUS = Function("R", (STEP,))
OF_LOSS = (
    "there is an input",
    "fall is the negative slope of the loss",
    "no score is below the lowest",
    "no best score is below the lowest",
    "no best score is above the highest",
)
RADII = {
    "radii are positive": Sequent(gt(RADIUS(K), 0)),
    "radii tend to infinity": Sequent(ev(gt(RADIUS(K), bound))),
}
BALLS = {
    **{words: OF_SCORES[words] for words in OF_LOSS},
    **programme_letters.MULTIPLIERS,
    **RADII,
    "W(k) is in the ball": Sequent(ge(RADIUS(K) ** 2, W(K) @ W(K))),
    "no matrix of the ball has a lower risk": Sequent(
        ge(risk(X.term), risk(W(K))), frozenset({ge(RADIUS(K) ** 2, X.term @ X.term)})
    ),
}
TURN = NORM(V) * W(K) - RADIUS(K) * V
"""The difference of W(k)/R(k) and V/||V||, times R(k) ||V||."""


def direction(towards: str = "optimal") -> Said | None:
    """Return the claim that W(k)/R(k) tends to V/||V||; None for another target.

    It says that ||V|| > 0 and that, for every off > 0, the square of the distance is at most off
    from some k on.
    """
    near = ev(ge(off.term * RADIUS(K) ** 2 * NORM(V) ** 2, TURN @ TURN))
    claims = Sequent(gt(NORM(V), 0)), Sequent(near)
    return Said(claims, BALLS) if towards == "optimal" else None


KEYS, QUERIES = (Function(name, (STEP,), VECTOR) for name in ("K", "Q"))
PRODUCT = Function("K Q^T", (VECTOR, VECTOR), VECTOR)
LEFT, RIGHT = (Function(name, (REAL,), VECTOR) for name in ("K of t W_*", "Q of t W_*"))
"""Factors of t W_*, for t >= 0."""
NUCLEAR, DISTANCE = Function("nuclear norm", (VECTOR,)), Function("dist", (VECTOR,))
"""The nuclear norm; the distance from the solutions of Att-SVM* divided by C_*."""
STAR, WIDTH = Function("W_*", (), VECTOR)(), Function("sqrt d")()
C = NUCLEAR(STAR)
"""The least nuclear norm, C_*."""


def lowest(X: Term) -> Term:
    """Return the least margin of a matrix."""
    return least(margin(j.term, X), j)


def squares(K: Term, Q: Term) -> Term:
    """Return ||K||^2 + ||Q||^2."""
    return K @ K + Q @ Q


FACTORED = PRODUCT(KEYS(K), QUERIES(K))
_OF_FACTORS = {
    **{words: OF_SCORES[words] for words in OF_LOSS},
    "the nuclear norm of K Q^T is at most (||K||^2 + ||Q||^2)/2": Sequent(
        ge(squares(X.term, M.term), 2 * NUCLEAR(PRODUCT(X, M)))
    ),
    "t W_* has factors": Sequent(
        eq(PRODUCT(LEFT(t), RIGHT(t)) @ M.term, t.term * (STAR @ M.term)), frozenset({ge(t, 0)})
    ),
    "those factors of t W_* meet that bound with equality": Sequent(
        eq(squares(LEFT(t), RIGHT(t)), 2 * t.term * C), frozenset({ge(t, 0)})
    ),
    "W_* meets the constraints, if a matrix does": Sequent(
        ge(margin(j.term, STAR), 1), frozenset({ge(lowest(X.term), 1)})
    ),
    "no norm is above the nuclear norm": Sequent(ge(NUCLEAR(X), NORM(X))),
    "nuclear norms differ by at most sqrt d times the norm of the difference": Sequent(
        ge(NUCLEAR(M) + WIDTH * NORM(M.term - X.term), NUCLEAR(X))
    ),
    "sqrt d is not negative": Sequent(ge(WIDTH, 0)),
    "the nuclear norm of t X is t times that of X": Sequent(
        eq(NUCLEAR(t.term * X.term), t.term * NUCLEAR(X)), frozenset({ge(t, 0)})
    ),
    "no solution over C_* is nearer than the distance": Sequent(
        ge(NORM(X.term - M.term), DISTANCE(X)),
        frozenset({ge(lowest(C * M.term), 1), ge(C, NUCLEAR(C * M.term))}),
    ),
}
"""The nuclear norm of a matrix is half of the least ||K||^2 + ||Q||^2 over its factors, by the
theorem `symbolic.textbook.FACTORS`."""
SOLUTIONS = {
    **_OF_FACTORS,
    **RADII,
    "K(k) and Q(k) are in the ball": Sequent(ge(2 * RADIUS(K), squares(KEYS(K), QUERIES(K)))),
    "no factors in the ball have a lower risk": Sequent(
        ge(risk(PRODUCT(X, M)), risk(FACTORED)),
        frozenset({ge(2 * RADIUS(K), squares(X.term, M.term))}),
    ),
}


def approaches(target: str = "solutions", share: object = 1, inner: object = None) -> Said | None:
    """Return the claim that the distance of K(k) Q(k)^T/R(k) from the solutions/C_* tends to 0.

    None for another target, or for a number of columns that may be too small.
    """
    near = ev(ge(off, DISTANCE(FACTORED * INV(RADIUS(K)))))
    claims = Sequent(gt(C, 0)), Sequent(near)
    known = (target, share, inner) == ("solutions", 1, None)
    return Said(claims, SOLUTIONS) if known else None


# minimisers with a penalty

PENALTY = Function("lambda", (STEP,))
_VANISHES = {
    "lambda is positive": Sequent(gt(PENALTY(K), 0)),
    "lambda tends to 0": Sequent(ev(gt(bound, PENALTY(K)))),
}
_OF_W = Sequent(
    ge(
        risk(X.term) + PENALTY(K) * (X.term @ X.term) / 2,
        risk(W(K)) + PENALTY(K) * (W(K) @ W(K)) / 2,
    )
)
_OF_PRODUCT = Sequent(
    ge(
        risk(PRODUCT(X, M)) + PENALTY(K) * squares(X.term, M.term) / 2,
        risk(FACTORED) + PENALTY(K) * squares(KEYS(K), QUERIES(K)) / 2,
    )
)
PENALISED = {
    **{words: OF_SCORES[words] for words in OF_LOSS},
    **programme_letters.MULTIPLIERS,
    **_VANISHES,
    "R(k) is the norm of W(k)": Sequent(eq(RADIUS(K), NORM(W(K)))),
    "no matrix has a lower risk with the penalty": _OF_W,
}
"""Facts about minimisers W(k) of L(W) + lambda(k) ||W||^2/2."""
PENALISED_FACTORS = {
    **_OF_FACTORS,
    **_VANISHES,
    "R(k) is half of ||K(k)||^2 + ||Q(k)||^2": Sequent(
        eq(2 * RADIUS(K), squares(KEYS(K), QUERIES(K)))
    ),
    "no factors have a lower risk with the penalty": _OF_PRODUCT,
}
"""Facts about minimisers of L(K Q^T) + lambda(k) (||K||^2 + ||Q||^2)/2."""
NOT_ZERO = Sequent(ev(gt(RADIUS(K), 0)))
"""R(k), by which the claims divide, is positive in the end."""


def turns(towards: str = "optimal") -> Said | None:
    """Return the claim of `direction` for minimisers with a penalty.

    It also says that W(k) is not 0 in the end.
    """
    claim = direction(towards)
    return claim and Said((*claim.sequents, NOT_ZERO), PENALISED)


def factors_turn(target: str = "solutions", share: object = 1) -> Said | None:
    """Return the claim of `approaches` for minimisers with a penalty.

    It also says that the factors are not 0 in the end.
    """
    claim = approaches(target, share)
    return claim and Said((*claim.sequents, NOT_ZERO), PENALISED_FACTORS)
