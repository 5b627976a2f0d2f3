"""The gain of a step of descent along a matrix M: -<grad L, M>, for any loss and all sizes.

Fix one input. Its token t has the score gamma_t and the attention s_t, and its output is
u = <s, gamma>. Token o is the optimal one; the other tokens are its rivals. M gives rival t the
margin m_t: along M the logit of o moves by a_o and that of t by a_o - m_t. Sums run over the
rivals, whose number is a symbol. The gain is the sum of the inputs' parts, each with the weight
-l'(u_i)/n for n inputs.
"""

import sympy as sp

from attsvm.theory import ensure_equal, ensure_positive, ensure_zero
from attsvm.theory.declaration.proof import Supposition, supposed_number
from symbolic.softmax import structural_residual
from symbolic.sums import ensure_at_least_each, ensure_nonnegative_sum, entry, total

U, GAMMA, GAMMA_O, A_O = sp.symbols("u gamma gamma_o a_o", real=True)
S, P = sp.symbols("s s_o", positive=True)
REST = 1 - P
"""The sum of s_t over the rivals."""
SHARE, SCORE, MARGIN = entry("s"), entry("gamma"), entry("m")
"""The attention s_t, the score gamma_t and the margin m_t of a rival."""
KNOWN = {total(SHARE * SCORE): U - P * GAMMA_O, total(SHARE): REST}
"""Two sums over rivals. Over all tokens the s_t add up to 1, and the s_t gamma_t to u."""


def ensure_gain() -> None:
    """Prove that an input's part of -<grad L, M> is -l'(u)/n sum_t s_t (u - gamma_t) m_t."""
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
    """Prove that sum_t s_t (u - gamma_t) = s_o sum_t s_t (gamma_o - gamma_t): all m_t are 1."""
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
    """Prove that margins of at least 1 gain no less than margins of 1 if rivals have equal scores.

    Then u - gamma_t = s_o (gamma_o - gamma_t), so that no weight s_t (u - gamma_t) is negative.
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
    """Prove that s_o sum_t s_t (gamma_o - gamma_t) is positive for some input.

    The sum has no negative term, and the term of a rival that scores less than o is positive.

    Args:
        lower: the hypothesis that some input has two different scores, or that all rivals score
            less than the optimal token.
        rival: the hypothesis that there is a rival, if `lower` does not imply it.

    Returns:
        The sum, in symbols of known sign.
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
