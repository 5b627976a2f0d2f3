"""Aligned inputs: how far below the second-best score other rivals may score.

On `sim/theorem-3.15:sharp-2`. In input i let g_i be the lead of the best score over the second-best
one, and s_i and s'_i the attention to these two tokens. Let delta_i be the largest distance of a
rival's score below the second-best one. Then u_i(0) minus the second-best score is at least
g_i s_i - delta_i (1 - s_i - s'_i). So delta_i = g_i s_i/(1 - s_i - s'_i) suffices. At zero this is
g_i/(T - 2), and for two tokens there is no condition.

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

from __future__ import annotations

import sympy as sp

from attsvm.theory import ensure_equal, ensure_nonnegative, ensure_positive
from attsvm.theory.declaration.proof import simplified, supposed_number
from properties.sim.theorem_3_15.nearly_equal_scores import WITHIN_OTHERS
from symbolic.aligned_inputs import ensure_aligned
from symbolic.basins import LEAD, MORE, SECOND
from symbolic.gains import GAMMA_O, P


def prove() -> str:
    """Prove the limit direction if rivals score less than lead s_o/(1 - s_o - s'_o) below second.

    s'_o is the attention to the second-best token. Then u exceeds `second` from the start on.
    """
    others, best = sp.symbols("others s'_o", positive=True)
    left = supposed_number(WITHIN_OTHERS, "left", positive=True)
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
