"""What a step of descent gains along a matrix, for any loss and any number of tokens and inputs.

Input i has attention s_t to its tokens of scores gamma_t, o the optimal one, and u = <s, gamma>.
Let M give rival t the margin m_t, so its logit moves by a_o - m_t where that of o moves by a_o.
Sums over the rivals are letters: S of s_t, G of s_t gamma_t; S = 1 - s_o and G = u - s_o gamma_o.
Inputs add up, each with the weight -l'(u_i)/n. Steps that are said of a rival hold for each.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from attsvm.theory import ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from symbolic.softmax import structural_residual

U, GAMMA, GAMMA_O, A_O = sp.symbols("u gamma gamma_o a_o", real=True)
S, P = sp.symbols("s s_o", positive=True)
REST, G = 1 - P, U - P * GAMMA_O
"""The rivals' sums of s_t and of s_t gamma_t."""


def ensure_gain() -> None:
    """-<grad L, M> is the sum of -l'(u)/n times the sum over rivals of s_t (u - gamma_t) m_t."""
    ensure_zero(
        structural_residual(),
        "the slope of <s, gamma> along logits a_t is the sum of s_t (gamma_t - u) a_t, any T",
    )
    m = sp.Symbol("m", real=True)
    ensure_equal(
        S * (GAMMA - U) * (A_O - m),
        S * (GAMMA - U) * A_O + S * (U - GAMMA) * m,
        "a rival adds s_t (gamma_t - u) a_o and s_t (u - gamma_t) m_t",
    )
    ensure_zero(
        P * (GAMMA_O - U) * A_O + (G - U * REST) * A_O, "the parts with a_o of all tokens cancel"
    )


def ensure_gain_of_support() -> None:
    """Where all margins are 1 the rivals' sum is s_o sum_t s_t (gamma_o - gamma_t)."""
    ensure_equal(
        U * REST - G,
        P * (GAMMA_O - U),
        "the sum over rivals of s_t (u - gamma_t) is s_o (gamma_o - u)",
    )
    ensure_equal(
        GAMMA_O * (P + REST) - (P * GAMMA_O + G),
        GAMMA_O - U,
        "gamma_o - u is the sum of s_t (gamma_o - gamma_t)",
    )


def ensure_gain_of_equal_rivals() -> None:
    """Where rivals have one score their weights are not negative: margins of 1 add least."""
    lead, more = sp.symbols("lead more", nonnegative=True)
    below = GAMMA_O - lead
    u = P * GAMMA_O + REST * below
    ensure_equal(
        u - below, P * lead, "u - gamma_t = s_o (gamma_o - gamma_t) where rivals score the same"
    )
    ensure_nonnegative(S * P * lead * more, "so a margin 1 + more adds no less than a margin 1")


def ensure_positive_gain() -> Any:
    """Two different scores in an input make its sum positive: softmax is, and o scores most.

    Returns:
        That sum.
    """
    lead, others = sp.Symbol("lead", positive=True), sp.Symbol("others", nonnegative=True)
    gain = P * (S * lead + others)
    ensure_positive(
        gain,
        "a rival of lower score makes s_o sum_t s_t (gamma_o - gamma_t) positive",
    )
    return gain
