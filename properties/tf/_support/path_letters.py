"""The letters of linked proofs about minimisers of the risk over growing balls.

A limit as R tends to infinity is one along every sequence of radii R(k) that tends to infinity.
W(k) is a minimiser over the ball of radius R(k).
"""

from attsvm.primitives import programme_letters
from attsvm.primitives.descent_letters import SETTING as OF_SCORES
from attsvm.primitives.descent_letters import V, W, X, bound, off, risk
from attsvm.theory.proof.facts import K, Sequent, ev, ge, gt
from attsvm.theory.proof.linked import Said
from attsvm.theory.proof.terms import NORM, STEP, Function

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
