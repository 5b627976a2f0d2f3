"""Why a run leaves every ball: <W_k, M> moves one way, and on a ball by no less than some step.

Let M give every rival of the optimal tokens a margin of at least 1, as X^mm does, exactly 1 or with
rivals of one score. Then a step eta moves <W, M> by at least eta D(W), upwards where l' < 0 and
downwards where l' > 0, with D(W) = (1/n) sum_i |l'| s_o sum_t s_t (gamma_o - gamma_t). On a ball D
has a least value above 0, and |<W, M>| is at most radius ||M||.
"""

from __future__ import annotations

import sympy as sp

from attsvm.theory import cite, ensure_positive
from attsvm.theory.declaration.proof import expanded
from symbolic.gains import (
    ensure_gain,
    ensure_gain_of_equal_rivals,
    ensure_gain_of_support,
    ensure_positive_gain,
)
from symbolic.textbook import CAUCHY_SCHWARZ, COMPACT, CONTINUOUS, WEIERSTRASS

GAIN = sp.Symbol("gain", positive=True)
"""What a step adds at least."""


def ensure_passed(what: str) -> None:
    """Numbers that never fall, and grow by a constant where they are at most `bound`, pass it."""
    first, bound = sp.symbols("first bound", real=True)
    times = (bound - first) / GAIN + sp.Symbol("more", positive=True)
    ensure_positive(first + times * GAIN - bound, what, normal=expanded)


def prove() -> str:
    """||W_k|| tends to infinity from any start and with any step."""
    ensure_gain()
    ensure_gain_of_support()
    ensure_gain_of_equal_rivals()
    ensure_positive_gain()
    smooth = "softmax is, and l' where the loss is continuously differentiable"
    cite(WEIERSTRASS, given={CONTINUOUS: smooth, COMPACT: "a closed ball of matrices"})
    cite(CAUCHY_SCHWARZ)
    ensure_passed(
        "where W is in the ball a step moves <W, M> by a constant at least, and all other steps "
        "move it the same way: so W is there finitely often"
    )
    return (
        "for every continuously differentiable loss with l' of one sign, any n, T, d and start, "
        "and any constant step"
    )
