"""A lower bound of the risk gap by attention off the best tokens and the least gap of scores."""

from __future__ import annotations

import sympy as sp

from attsvm.theory import ensure_equal, ensure_nonnegative
from attsvm.theory.declaration.proof import expanded, suppose
from properties._support import risk_formulas as risk
from symbolic.tf import definition_1, softmax_range


def prove() -> str:
    """Prove that L(W) - L_* >= (1/n) sum_i [l(best - d_i (1 - s_i)) - l(best)].

    l nowhere increases, s_i is the attention to the best tokens of input i, and d_i the least gap
    of a lower score to the best one. The proof checks one token below the best ones; sums over
    tokens, and of the losses over inputs, keep the inequality.
    """
    softmax_range.ensure_inside()
    definition_1.ensure_shortfall()  # best tokens add 0 to it
    s, d = sp.symbols("s d", positive=True)
    more, best = sp.Symbol("more", nonnegative=True), sp.Symbol("best", real=True)
    ensure_nonnegative(
        s * (d + more) - d * s,
        "each other token adds d s_t at least, so that the deficit is at least d (1 - s)",
        normal=expanded,
    )
    deficit, least = sp.Symbol("deficit", nonnegative=True), sp.Symbol("least", nonnegative=True)
    suppose(risk.DECREASES)
    ensure_equal(
        (best - least) - (best - (least + deficit)),
        deficit,
        "best minus the deficit is at most best - d (1 - s), and l does not increase",
    )
    return "for every loss that nowhere increases and any n, T, d and W"
