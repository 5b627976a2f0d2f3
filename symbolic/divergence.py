"""Why a run leaves every ball: <W_k, M> moves one way, and on a ball by no less than some step.

Let M give every rival of the optimal tokens a margin of at least 1, as X^mm does, exactly 1 or with
rivals of one score. Then a step eta moves <W, M> by at least eta D(W), upwards where l' < 0 and
downwards where l' > 0, with D(W) = (1/n) sum_i |l'| s_o sum_t s_t (gamma_o - gamma_t). If the norms
did not tend to infinity some ball would be visited for ever, each visit moving <W, M> by at least
eta times the least D on the ball, all other steps the same way: after 2 radius ||M|| / (eta times
that) visits <W, M> would be past the bound radius ||M|| that the ball sets.
"""

from __future__ import annotations

from attsvm.theory import cite
from symbolic.gains import (
    ensure_gain,
    ensure_gain_of_equal_rivals,
    ensure_gain_of_support,
    ensure_positive_gain,
)
from symbolic.textbook import CAUCHY_SCHWARZ, COMPACT, CONTINUOUS, WEIERSTRASS


def prove() -> str:
    """||W_k|| tends to infinity from any start and with any step."""
    ensure_gain()
    ensure_gain_of_support()
    ensure_gain_of_equal_rivals()
    ensure_positive_gain()
    smooth = "softmax is, and l' where the loss is continuously differentiable"
    cite(WEIERSTRASS, given={CONTINUOUS: smooth, COMPACT: "a closed ball of matrices"})
    cite(CAUCHY_SCHWARZ)
    return (
        "for every continuously differentiable loss with l' of one sign, any n, T, d and start, "
        "and any constant step"
    )
