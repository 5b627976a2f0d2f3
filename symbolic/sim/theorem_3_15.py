"""Aligned inputs: the second-best token costs nothing of what rivals' scores may differ by.

On `sim/theorem-3.15:sharp-2`. The second-best token itself costs nothing: u_i(0) minus the
second-best score is at least g_i s_i - delta_i (1 - s_i - s'_i), s'_i the attention to that token,
so that delta_i = g_i s_i / (1 - s_i - s'_i) will do (`sharp-2`; g_i/(T - 2) at zero, and any delta
for two tokens). That is 1/(sum over the other rivals of exp(-m_it)) times g_i, m_it the margin at
the start. So delta may have to fall exponentially with the size of the start, and no faster: with r
the largest logit of these rivals at X(0) over the optimal one's, g_i exp(-r)/(T - 2) suffices. For
tokens -1, N, 0 with scores 1, 0, -delta and X(0) = R >= 0 the run reaches X^mm = -1 for delta <=
exp(-R). The negative gradient points to it where delta < s_1 (1 - s_1 + N s_N) / (s_0 (N s_N -
s_1)), s_t the attention to token t, which for large R is (N + 1)/N exp(-R); so no constant above 1
will do (`far`: N = 64).

In `sharp` and `sharp-2` the L of the step 1/L is the mean of the constants L_i of the inputs, since
each part of the risk has to fall by itself. L_X may be less, if the parts bend against each other.
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
    """Prove the statement below.

    Rivals' scores within lead s_o/(1 - s_o - s'_o) leave u above second from the start on.
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
