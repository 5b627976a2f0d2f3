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

from attsvm.primitives.hypotheses import FEASIBLE, SEVERAL_TOKENS
from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive
from attsvm.theory.declaration.proof import (
    Supposition,
    cancelled,
    expanded,
    factored,
    suppose,
    supposed_number,
)
from properties._support.suppositions import FALLING, SMOOTH_SLOPE, UNIQUE_OPTIMUM
from properties.tf.theorem_2 import SMALL_COST
from properties.tf.theorem_2 import near_optimal_points as points
from symbolic.inner_products import inner, vector
from symbolic.least_points import MORE, ensure_multipliers
from symbolic.textbook import DIFFERENTIABLE, JENSEN, MEAN_VALUE_ON_A_LINE, SECOND_DERIVATIVE
from symbolic.tf import definition_1

CONVEX_LOGARITHM = "-log is convex"


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


def ensure_near(good: Supposition | None = None) -> None:
    """Prove that ||W - V||^2 <= 2 c R^2 / rho if <W^mm, W> >= (rho - c) ||W^mm||^2.

    Args:
        good: the hypothesis that ||W|| <= R; None for minimisers in the ball.
    """
    W, X = vector("W"), vector("X")
    rho, c = sp.Symbol("rho", positive=True), sp.Symbol("c", real=True)
    square = inner("X", "X")
    apart = (W - rho * X) @ (W - rho * X)
    facts = {
        inner("W", "X"): (rho - c) * square + MORE,
        inner("W", "W"): rho**2 * square - supposed_number(good, "less", nonnegative=True),
    }
    gap = 2 * c / rho * (rho**2 * square) - apart.subs(facts)
    ensure_nonnegative(
        gap, "||W - V||^2 = ||W||^2 + ||V||^2 - 2 rho <W^mm, W> <= 2 c R^2/rho", normal=expanded
    )


def ensure_margins_are_large(falling: Supposition, good: Supposition | None = None) -> None:
    """Prove that L(W) <= L(V) implies a least margin of W of at least rho - log(2 Gamma).

    This holds if e^rho >= 2 Gamma, as in the end if rho tends to infinity.

    Args:
        falling: the hypothesis that the b_i are above 0.
        good: the hypothesis that L(W) <= L(V); None for minimisers.
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
    attended = gamma / power - supposed_number(good, "more", nonnegative=True)
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


def ensure_direction_exists() -> None:
    """Prove that W^mm is not 0, so that rho = R/||W^mm|| is a number."""
    R, norm = (
        sp.Symbol("R", positive=True),
        supposed_number(SEVERAL_TOKENS, "||W^mm||", positive=True),
    )
    ensure_positive(R / norm, "||W^mm|| is above 0, as some constraint is there: rho is a number")


def ensure_mean_margin_is_large() -> None:
    """Prove that L(W) <= L(V) implies sum_j p_j m_j >= rho - kappa, p_j = lambda_j/||W^mm||^2.

    G is n (L(V) - L_*), and kappa is rho + log G - sum_j p_j log(c_j/p_j). Here c_j is
    b_i gap_j (1 - G/(b d)) for token j of input i: b is the least |l'| of the input, b_i that near
    the best score, d the least gap of scores, and gap_j that of token j.
    """
    G, d = sp.symbols("G gap", positive=True)
    b = supposed_number(FALLING, "least", positive=True)
    s = supposed_number(SMALL_COST, "s", positive=True)
    more, also = sp.symbols("more also", nonnegative=True)
    cite(MEAN_VALUE_ON_A_LINE, met={DIFFERENTIABLE: SMOOTH_SLOPE})
    ensure_nonnegative(
        (b + more) * also,
        "an input at deficit x costs at least b x >= 0, b its least |l'|: each costs G at most, "
        "the inputs together at W, and x <= G/b",
    )
    ensure_nonnegative(
        s * (d + more) - s * d, "x = sum_t s_t gap_t is at least (1 - s_o) d", normal=expanded
    )
    room = 1 - G / (b * d)
    ensure_positive(
        room.subs(G, b * d - s),
        "so s_o >= 1 - G/(b d), which is above 0 where G is below b d",
        normal=cancelled,
    )
    near, gap, e = sp.symbols("b_i gap_j exp(-m_j)", positive=True)
    weight = sp.Symbol("room", positive=True)
    ensure_nonnegative(
        (near + more) * (weight + also) * e * gap - near * weight * gap * e,
        "s_t = s_o exp(-m_t), and |l'| is at least b_i within G/b of the best score: token t costs "
        "at least c_j exp(-m_j), c_j = b_i gap_j (1 - G/(b d)), and G >= sum_j c_j exp(-m_j)",
        normal=expanded,
    )
    y, p, c = sp.symbols("y p c", positive=True)
    m = sp.Symbol("m", real=True)
    ensure_positive(sp.diff(-sp.log(y), y, 2), CONVEX_LOGARITHM)
    cite(JENSEN, met={SECOND_DERIVATIVE: CONVEX_LOGARITHM})
    ensure_equal(
        p * sp.log(c / p * sp.exp(-m)),
        p * sp.log(c / p) - p * m,
        "log G >= log sum_j p_j (c_j/p_j) exp(-m_j) >= sum_j p_j log(c_j/p_j) - sum_j p_j m_j over "
        "the p_j > 0, of sum 1: sum_j p_j m_j >= rho - kappa",
        normal=lambda x: sp.expand(sp.expand_log(x, force=True)),
    )


def prove_sharp() -> str:
    """Prove that ||W/R - U||^2 <= 2 kappa/rho if G is below every m_i d_i.

    Here m_i is the least |l'| of input i, and d_i its least gap of scores.
    """
    suppose(FEASIBLE)
    ensure_direction_exists()
    ensure_multipliers()
    ensure_mean_margin_is_large()
    w, p, square, m = sp.symbols("lambda p square m", nonnegative=True)
    ensure_equal(
        w * m - w * (m - 1),
        w,
        "||W^mm||^2 = sum_j lambda_j <A_j, W^mm> is sum_j lambda_j, where <A_j, W^mm> > 1 has "
        "lambda_j = 0",
    )
    ensure_equal(
        (w * m).subs(w, p * square),
        square * (p * m),
        "so <W^mm, W> = sum_j lambda_j m_j is ||W^mm||^2 times sum_j p_j m_j",
    )
    ensure_near(points.GOOD)
    # n (L(R U) - L_*) is at most the sum of a_i Delta_i (T - 1) e^-rho
    ensure_margins_are_large(FALLING, points.GOOD)
    power, gamma, b, d = sp.symbols("power Gamma b d", positive=True)  # power = e^rho
    ensure_positive(
        b * d - (gamma * b * d / power).subs(power, 2 * gamma + MORE),
        "G <= Gamma m_i d_i e^-rho is below m_i d_i where e^rho >= 2 Gamma",
        normal=factored,
    )
    return "for every loss with l' < 0 continuous, any n, T, d, and any W and rho as supposed"
