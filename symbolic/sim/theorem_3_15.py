"""Aligned inputs: the attended score of the start has to be above the second-best score.

On `sim/theorem-3.15:sharp-2`. In input i let g_i be the lead of the best score over the second-best
one, and s_i and s'_i the attention to these two tokens. Let delta_i be the largest distance of a
rival's score below the second-best one. Then u_i(0) minus the second-best score is at least
g_i s_i - delta_i (1 - s_i - s'_i). So the hypothesis is met if delta_i is less than
g_i s_i/(1 - s_i - s'_i). At zero this is g_i/(T - 2), and for two tokens there is no condition.

This bound is g_i over the sum of exp(-m_it) over the other rivals t, with m_it the margin at the
start. So delta may have to fall exponentially with the size of the start, and no faster. Let r be
the largest logit of these rivals at X(0) less that of the optimal token: g_i exp(-r)/(T - 2)
suffices. An example has tokens -1, N, 0 with scores 1, 0, -delta and X(0) = R >= 0. The run tends
in direction to X^mm = -1 for delta <= exp(-R). With s_t the attention to token t, the negative
gradient points to X^mm if delta < s_1 (1 - s_1 + N s_N)/(s_0 (N s_N - s_1)). For large R this is
about (N + 1)/N exp(-R), so that no constant above 1 suffices (`far`: N = 64).

In `sharp` and `sharp-2` the L of the step 1/L is the mean of the constants L_i of the inputs. The
reason is that each part of the risk has to fall by itself. The Lipschitz constant L_X of the whole
gradient may be less, as the curvatures of the parts may cancel.
"""

import sympy as sp

from attsvm.theory import ensure_equal, ensure_nonnegative, ensure_positive
from attsvm.theory.declaration.proof import simplified, supposed_number
from properties.sim.theorem_3_15.nearly_equal_scores import ABOVE_SECOND, WITHIN
from symbolic.aligned_inputs import ensure_aligned
from symbolic.basins import LEAD, MORE, SECOND
from symbolic.gains import GAMMA_O, REST, P


def prove() -> str:
    """Prove the limit direction if every start attends to more than the second-best score.

    It suffices that rivals score less than lead s_o/(1 - s_o - s'_o) below the second-best token,
    with s'_o the attention to this token.
    """
    others, best, left = sp.symbols("others s'_o left", positive=True)
    above = supposed_number(ABOVE_SECOND, "above", positive=True)
    rivals = sp.Symbol("rivals", real=True)  # sum_t s_t gamma_t over rivals
    ensure_equal(
        P * GAMMA_O + rivals - SECOND,
        P * LEAD - ((1 - P) * SECOND - rivals),
        "u less second is s_o lead less what rivals cost, sum_t s_t (second - gamma_t)",
        normal=simplified,
    )
    ensure_positive(above, "u less second is positive, as supposed")
    spread = LEAD * P / others - left
    ensure_equal(
        (P * GAMMA_O + best * SECOND + others * (SECOND - spread) - SECOND).subs(
            best, 1 - P - others
        ),
        others * left,
        "with others = 1 - s_o - s'_o, what the best two tokens leave of the weights, rivals "
        "at second - spread leave u above second",
        normal=simplified,
    )
    ensure_positive(others * left, "others left, by which it is above, is positive")
    ensure_nonnegative(
        others * (spread - (spread - MORE)),
        "rivals that score more than second - spread leave u no lower",
    )
    ensure_equal(
        P * GAMMA_O + (1 - P) * SECOND - SECOND,
        P * LEAD,
        "where all rivals share a score, or there is one rival, u is s_o lead above that score",
    )
    ensure_aligned()
    return "for every smooth loss with l' < 0, any n, T and d"


def prove_aligned() -> str:
    """Prove the limit direction for aligned inputs whose rivals' scores differ little.

    At the start, each rival scores less than lead s_o/(1 - s_o) below the second-best score.
    """
    left = supposed_number(WITHIN, "left", positive=True)
    others = sp.Symbol("others", positive=True)  # 1 - s_o
    ensure_equal(
        P * GAMMA_O + REST * (SECOND - (LEAD * P / REST - left)) - SECOND,
        REST * left,
        "rivals' scores within lead s_o/(1 - s_o), less something, leave u above second at first",
        normal=simplified,
    )
    ensure_positive(others * left, "(1 - s_o) left, by which it is above, is positive")
    ensure_aligned()
    return "for every smooth loss with l' < 0, any n, T and d"
