"""The rate of theorem 2: a W in the ball with L(W) <= L(V) is near the SVM point V.

||W/R - V/R||^2 is at most 2 log(2 Gamma)/rho. The notation is that of
`properties.tf.theorem_2.near_optimal_points`: V = rho W^mm, R = ||V||, and lambda_j are the
multipliers of W^mm. The least margin m of W is attained in input i. For every input j, delta_j and
Delta_j are the least and largest gap between the best and another score. b_j and a_j are the least
and largest |l'| between its worst and best score. Then

    b_i delta_i/(1 + e^m) <= n (L(W) - L_*) <= n (L(V) - L_*) <= sum_j a_j Delta_j (T_j - 1) e^-rho

over the inputs of several tokens, so that 1 + e^m >= e^rho/Gamma with Gamma as in the claim.
"""

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative
from attsvm.theory.declaration.proof import (
    Supposition,
    cancelled,
    expanded,
    factored,
    supposed_number,
)
from properties._support.suppositions import SMOOTH_SLOPE, UNIQUE_OPTIMUM
from symbolic.inner_products import inner, vector
from symbolic.least_points import MORE, ensure_multipliers
from symbolic.textbook import DIFFERENTIABLE, MEAN_VALUE_ON_A_LINE
from symbolic.tf import definition_1


def ensure_near_where_margins_are_large() -> None:
    """Prove that ||W - V||^2 <= 2 c R^2 / rho if all margins of W are at least rho - c.

    W is a minimiser in the ball of radius R.
    """
    ensure_multipliers()
    rho, c, w = sp.symbols("rho c w", positive=True)
    ensure_nonnegative(
        w * (rho - c + MORE) - w * (rho - c),
        "<W^mm, W> is the sum of lambda_j m_j, so at least (rho - c) ||W^mm||^2",
        normal=expanded,
    )
    ensure_near()


def ensure_near() -> None:
    """Prove that ||W - V||^2 <= 2 c R^2 / rho if <W^mm, W> >= (rho - c) ||W^mm||^2."""
    W, X = vector("W"), vector("X")
    rho, c = sp.Symbol("rho", positive=True), sp.Symbol("c", real=True)
    square = inner("X", "X")
    apart = (W - rho * X) @ (W - rho * X)
    facts = {
        inner("W", "X"): (rho - c) * square + MORE,
        inner("W", "W"): rho**2 * square - supposed_number(None, "less", nonnegative=True),
    }
    gap = 2 * c / rho * (rho**2 * square) - apart.subs(facts)
    ensure_nonnegative(
        gap, "||W - V||^2 = ||W||^2 + ||V||^2 - 2 rho <W^mm, W> <= 2 c R^2/rho", normal=expanded
    )


def ensure_margins_are_large(falling: Supposition) -> None:
    """Prove that L(W) <= L(V) implies a least margin of W of at least rho - log(2 Gamma).

    This holds if e^rho >= 2 Gamma, as in the end if rho tends to infinity.

    Args:
        falling: the hypothesis that the b_i are above 0.
    """
    e, S = sp.symbols("e S", positive=True)  # exp(-m), and the sum of exp(-m_t)
    more, also, still = sp.symbols("more also still", nonnegative=True)
    ensure_nonnegative(
        ((e + more) / (1 + e + more) - e / (1 + e)),
        "attention to rivals, S/(1 + S) with S >= e^-m, is at least 1/(1 + e^m) at W",
        normal=factored,
    )
    ensure_equal(e / (1 + e), (1 / (1 + 1 / e)), "e^-m/(1 + e^-m) is 1/(1 + e^m)", normal=cancelled)
    ensure_nonnegative(
        S - S / (1 + S), "attention to rivals is at most S <= (T - 1) e^-rho at V", normal=factored
    )
    # deficits are at least that attention times delta, at most times Delta
    definition_1.ensure_drop()
    cite(MEAN_VALUE_ON_A_LINE, met={DIFFERENTIABLE: SMOOTH_SLOPE})
    b = supposed_number(falling, "b", positive=True)
    delta = supposed_number(UNIQUE_OPTIMUM, "delta", positive=True)  # of all other tokens
    ensure_nonnegative(
        (b + more) * (delta + also) * (1 + still) / (b * delta) - 1,
        "Gamma >= 1, as a_i Delta_i (T_i - 1) >= b_i delta_i, so that log(2 Gamma) is positive",
        normal=expanded,
    )
    power, gamma = sp.symbols("power Gamma", positive=True)  # power = e^rho
    # 1/(1 + e^m), as W costs no more than V
    attended = gamma / power - supposed_number(None, "more", nonnegative=True)
    ensure_nonnegative(
        gamma * b * delta / power - b * delta * attended,
        "b_i delta_i/(1 + e^m) is at most n (L(W) - L_*), so at most n (L(V) - L_*), at most "
        "sum_j a_j Delta_j (T_j - 1) e^-rho and, by what Gamma is, Gamma b_i delta_i e^-rho: so "
        "1 + e^m is at least e^rho/Gamma",
        normal=expanded,
    )
    ensure_nonnegative(
        (power / gamma - 1 - power / (2 * gamma)).subs(power, 2 * gamma + MORE),
        "e^m >= e^rho/Gamma - 1 >= e^rho/(2 Gamma) where e^rho >= 2 Gamma",
        normal=cancelled,
    )
