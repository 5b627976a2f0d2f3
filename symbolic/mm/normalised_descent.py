"""Each normalised step gains at least s / max ||A_it|| along p* where rivals score the same."""

from __future__ import annotations

import sympy as sp

from attsvm.theory import cite, ensure_nonnegative
from attsvm.theory.declaration.proof import expanded
from symbolic.gains import ensure_gain, ensure_gain_of_equal_rivals
from symbolic.textbook import CAUCHY_SCHWARZ, TRIANGLE


def prove() -> str:
    """<p(k) - p(0), p*> >= k s / max ||k_alpha - k_t|| for every k.

    Raises:
        ProofError: a step fails.
    """
    ensure_gain()
    ensure_gain_of_equal_rivals()
    c, more, less, length = sp.symbols("c more less length", nonnegative=True)
    ensure_nonnegative(
        c * (1 + more) - c,
        "-grad L is the sum of c_it A_it with c_it >= 0, so <-grad L, p*> is at least their sum",
        normal=expanded,
    )
    cite(TRIANGLE)
    ensure_nonnegative(
        c * (length + less) - c * length,
        "||grad L|| is at most the sum of c_it ||A_it||, so at most max ||A_it|| times theirs",
        normal=expanded,
    )
    cite(CAUCHY_SCHWARZ)
    return "for every loss with l' < 0, any n, T, d and k: each step gains s / max ||A_it||"
