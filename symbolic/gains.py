"""The gain of a step of descent along a matrix, for any loss and any number of tokens and inputs.

Input i has attention s_t to its tokens of scores gamma_t, o the optimal one, and u = <s, gamma>.
Let M give rival t the margin m_t, so its logit moves by a_o - m_t while that of o moves by a_o.
Sums are over the rivals, of which there are n, a symbol. Inputs add up, each with the weight
-l'(u_i)/n.
"""

from __future__ import annotations

import sympy as sp

from attsvm.theory import ensure_equal, ensure_positive, ensure_zero
from attsvm.theory.declaration.proof import Supposition, supposed_number
from symbolic.softmax import structural_residual
from symbolic.sums import ensure_at_least_each, ensure_nonnegative_sum, entry, total

U, GAMMA, GAMMA_O, A_O = sp.symbols("u gamma gamma_o a_o", real=True)
S, P = sp.symbols("s s_o", positive=True)
REST = 1 - P
"""The rivals' sum of s_t."""
SHARE, SCORE, MARGIN = entry("s"), entry("gamma"), entry("m")
"""Of a rival."""
KNOWN = {total(SHARE * SCORE): U - P * GAMMA_O, total(SHARE): REST}
"""The s_t of all tokens add up to 1, and the s_t gamma_t to u."""


def ensure_gain() -> None:
    """Prove the statement below.

    -<grad L, M> is the sum of -l'(u)/n times the sum over rivals of s_t (u - gamma_t) m_t.
    """
    ensure_zero(
        structural_residual(),
        "the slope of <s, gamma> along logits a_t is the sum of s_t (gamma_t - u) a_t, any T",
    )
    along = P * (GAMMA_O - U) * A_O + total(SHARE * (SCORE - U) * (A_O - MARGIN))
    ensure_equal(
        along.expand().subs(KNOWN),
        total(SHARE * (U - SCORE) * MARGIN),
        "along a matrix M of margins m_t this slope is the sum over rivals of s_t (u - "
        "gamma_t) m_t, as parts with a_o of all tokens cancel",
    )


def ensure_gain_of_support() -> None:
    """Prove that if all margins are 1 the rivals' sum is s_o sum_t s_t (gamma_o - gamma_t)."""
    ensure_equal(
        total(SHARE * (U - SCORE)).subs(KNOWN),
        P * (GAMMA_O - U),
        "the sum over rivals of s_t (u - gamma_t) is s_o (gamma_o - u)",
    )
    ensure_equal(
        total(SHARE * (GAMMA_O - SCORE)).subs(KNOWN),
        GAMMA_O - U,
        "gamma_o - u is the sum of s_t (gamma_o - gamma_t)",
    )


def ensure_gain_of_equal_rivals() -> None:
    """Prove the statement below.

    If rivals have one score their weights are not negative: margins of 1 add least.
    """
    lead, more = sp.symbols("lead more", nonnegative=True)
    below = GAMMA_O - lead
    u = P * GAMMA_O + total(SHARE * below).subs(KNOWN)
    ensure_equal(
        u - below, P * lead, "u - gamma_t = s_o (gamma_o - gamma_t) where rivals score the same"
    )
    weight = SHARE * P * lead
    ensure_nonnegative_sum(
        total(weight * MARGIN) - total(weight),
        weight * (MARGIN - 1),
        "margins of at least 1 add no less than margins of 1",
        s=S,
        m=1 + more,
    )


def ensure_positive_gain(lower: Supposition, rival: Supposition | None = None) -> sp.Expr:
    """Prove that two different scores in an input make its sum positive: o scores most.

    Args:
        lower: the hypothesis that some input has two scores, or that all rivals score less.
        rival: the hypothesis that there is a rival, if `lower` does not imply it.

    Returns:
        That sum.
    """
    lead = supposed_number(lower, "lead", positive=True)
    share = S if rival is None else supposed_number(rival, "s", positive=True)
    others = sp.Symbol("others", nonnegative=True)
    ensure_at_least_each(
        P * share * others,
        "s_o sum_t s_t (gamma_o - gamma_t), over rivals and inputs, is at least each of its terms",
    )
    gain = P * (share * lead + others)
    ensure_positive(gain, "the term of a rival of lower score is positive")
    return gain
