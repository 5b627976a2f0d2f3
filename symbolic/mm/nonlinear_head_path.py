"""The regularisation path under convex heads: the risk gap is of the order of lost attention.

For input i, q is the attention to tokens other than the best one, x_1. d > 0 is the least gap
h_i(x_1) - h_i(x_t), and D the largest slope <h_i'(x_1), x_1 - x_t>. Convexity of h_i gives
best - D q <= h_i(output) <= best - d q. From these bounds the limit of the path follows as for a
linear head.
"""

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive
from attsvm.theory.declaration.proof import expanded, supposed_number
from properties._support.risk_formulas import SEVERAL
from properties._support.suppositions import FALLING, SMOOTH_SLOPE
from properties.mm.nonlinear_head_path.conclusion import BEST, STEEP
from symbolic.textbook import DIFFERENTIABLE, MEAN_VALUE_ON_A_LINE
from symbolic.tf.nonlinear_head_several import (
    ensure_convex,
    ensure_relu,
    ensure_slopes,
    prove_convex,
)
from symbolic.tf.theorem_2 import ensure_margins_are_large, ensure_near_where_margins_are_large

S, MORE = sp.Symbol("s", nonnegative=True), sp.Symbol("more", nonnegative=True)


def ensure_values() -> None:
    """Prove that the value of h at the output lies between best - D q and best - d q."""
    prove_convex()
    ensure_slopes()
    ensure_convex()
    ensure_relu()
    best, bound = sp.symbols("best bound", real=True)
    for sign, mean, tangent in ((1, "at most", "at least"), (-1, "at least", "at most")):
        units = "b_ik >= 0" if sign > 0 else "b_ik <= 0"
        lost = bound + sign * MORE  # a gap where d is the least of these, D the largest for b <= 0
        ensure_nonnegative(
            sign * (S * (best - bound) - S * (best - lost)),
            f"{units}: h(output) is {mean} sum_t s_t h(x_t), whose other tokens add s_t (best - a "
            "gap)",
            normal=expanded,
        )
        slope = bound - sign * MORE
        ensure_nonnegative(
            sign * (S * bound - S * slope),
            f"{units}: units are on one side of their tangents, so that h(output) - best is "
            f"{tangent} the sum of -s_t <h'(x_1), x_1 - x_t>",
            normal=expanded,
        )
    ensure_equal(
        (1 - S) * best + S * (best - bound),
        best - bound * S,
        "over all other tokens the bounds are (1 - q) best + q (best - d) = best - d q and, "
        "likewise, best - D q",
    )
    b, start, along = sp.symbols("b start along", real=True)
    ensure_equal(
        b * (start + along) - b * start,
        b * along,
        "linear units are their tangents, whatever the sign of b_ik",
    )
    fall, above = sp.Symbol("gap", positive=True), sp.Symbol("above", nonnegative=True)
    ensure_positive(
        fall + above,
        "where h is convex a slope is at least a gap, and d > 0 if the best token is the "
        "only one of its score",
    )


def ensure_no_better() -> None:
    """Prove that every prompt has at least the risk of the best tokens, also for concave heads."""
    ensure_values()
    best, less = (
        sp.Symbol("best", real=True),
        supposed_number(BEST, "less", nonnegative=True),
    )
    ensure_nonnegative(best - (best - less), "h(output) is at most best, and l decreases")


def prove_path() -> str:
    """Prove both bounds of the risk gap by lost attention, and the limit of the path."""
    ensure_no_better()
    cite(MEAN_VALUE_ON_A_LINE, met={DIFFERENTIABLE: SMOOTH_SLOPE})
    c, q = supposed_number(STEEP, "c", positive=True), supposed_number(SEVERAL, "q", positive=True)
    ensure_nonnegative(
        (c + MORE) * q - c * q,
        "each input's part of L(p) - L_* is at least c q, and at most C q, with c > 0 where d > 0",
        normal=expanded,
    )
    rest = sp.Symbol("rest", positive=True)
    ensure_positive(c * rest / (1 + rest), "so L(p) > L_*, attention to other tokens being above 0")
    ensure_margins_are_large(FALLING)  # here c and C stand in place of b delta and a Delta
    ensure_near_where_margins_are_large()
    rho, spread = sp.symbols("rho log(2Gamma)", positive=True)
    ensure_equal(
        sp.limit(2 * spread / rho, rho, sp.oo), 0, "||p_R/R - U||^2 <= 2 log(2 Gamma)/rho -> 0"
    )
    return "for every loss with l' < 0 continuous, any n, T, d and number of units"
