"""Aligned inputs: the second-best token costs nothing of what rivals' scores may differ by."""

from __future__ import annotations

import sympy as sp

from attsvm.theory import ensure_equal, ensure_nonnegative, ensure_positive
from attsvm.theory.declaration.proof import simplified, supposed_number
from properties.sim import theorem_3_15 as statement
from symbolic.aligned_inputs import ensure_aligned
from symbolic.basins import LEAD, MORE, SECOND
from symbolic.gains import GAMMA_O, P


def prove() -> str:
    """Rivals' scores within lead s_o/(1 - s_o - s'_o) leave u above second from the start on."""
    others, best = sp.symbols("others s'_o", positive=True)
    (within,) = (statement.WITHIN_OTHERS,)
    left = supposed_number(within, "left", positive=True)
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
