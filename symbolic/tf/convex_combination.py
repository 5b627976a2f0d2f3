"""The output of attention against the tokens along a vector u, for any number of tokens.

With a_t = <u, x_t> what <u, x^att> lacks to a number is the sum of s_t times what a_t lacks to it,
the s_t > 0 being of sum 1; what is said of this sum is executed for one term of it.
"""

from __future__ import annotations

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive
from attsvm.theory.declaration.proof import expanded
from symbolic.inner_products import INNER, vector
from symbolic.textbook import CAUCHY_SCHWARZ
from symbolic.tf.definition_1 import ensure_shortfall
from symbolic.tf.softmax_range import ensure_mean_odds
from symbolic.tf.softmax_range import prove_inside as prove_softmax_inside

S = sp.Symbol("s_t", positive=True)
MORE, LESS = sp.symbols("more less", nonnegative=True)


def prove_hull() -> str:
    """<u, x^att> is at most the largest a_t."""
    prove_softmax_inside()
    ensure_shortfall()
    ensure_nonnegative(S * LESS, "no term is negative where most is the largest a_t")
    return "for any T, d and W: softmax of one token is 1, and of more it is positive with sum 1"


def prove_inside() -> str:
    """<u, x^att> is below the largest a_t where two differ."""
    prove_softmax_inside()
    ensure_shortfall()
    gap = sp.Symbol("gap", positive=True)
    ensure_positive(S * gap + LESS, "a token with a lower a_t adds a positive term")
    return "for any T, d and W"


def prove_short() -> str:
    """(1 - s_1) times the least gap <= <u, x_1 - x^att> <= (1 - s_1) times the largest."""
    prove_softmax_inside()
    ensure_shortfall()
    least = sp.Symbol("least", positive=True)
    ensure_nonnegative(
        S * (least + MORE) - S * least, "a term is at least s_t times the least", normal=expanded
    )
    ensure_nonnegative(
        S * (least + MORE + LESS) - S * (least + MORE),
        "and at most s_t times the largest",
        normal=expanded,
    )
    ensure_positive(S * least, "so it is positive, as 1 - s_1 is")
    return "for any T >= 2, d and W"


def prove_far() -> str:
    """(1 - s_1)/s_1 >= (T - 1) exp(-||x_1 - mean|| ||z|| ||W||), and tokens on a line attain it."""
    ensure_mean_odds()
    y, z = vector("y"), vector("z")
    ensure_equal(
        INNER.norm(y) ** 2 * INNER.norm(z) ** 2,
        (y @ y) * (z @ z),
        "||y z^T|| is ||y|| ||z||, and the mean lead is <W, y z^T> with y = x_1 - mean of the x_t",
    )
    cite(CAUCHY_SCHWARZ)
    c = sp.Symbol("c", positive=True)
    ensure_equal(
        c * (y @ y) * (z @ z),
        INNER.norm(y) * INNER.norm(z) * (c * INNER.norm(y) * INNER.norm(z)),
        "x_t = x_1 - y for all t > 1 and W = c y z^T have leads of ||y|| ||z|| ||W||: attained",
    )
    return "for any T >= 2, d and W"
