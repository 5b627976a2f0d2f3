"""Attention beside the best tokens costs at least the least gap of a score below the best one."""

from __future__ import annotations

import sympy as sp

from attsvm.theory import ensure_equal, ensure_nonnegative, ensure_positive
from attsvm.theory.declaration.proof import expanded


def prove() -> str:
    """L(W) - L_* >= (1/n) sum_i [l(best - d_i (1 - s_i)) - l(best)] for l that nowhere increases.

    Executed for one token below the best ones; sums of such terms over tokens, and of the losses
    over inputs, keep the inequality.
    """
    logit, other = sp.symbols("a a2", real=True)
    ensure_positive(sp.exp(logit) / (sp.exp(logit) + sp.exp(other)), "softmax is positive")
    s, d = sp.symbols("s d", positive=True)
    more, best = sp.Symbol("more", nonnegative=True), sp.Symbol("best", real=True)
    ensure_equal(
        best * s - s * (best - (d + more)),
        s * (d + more),
        "best - <s, gamma> is the sum of s_t (best - gamma_t); best tokens add 0 to it",
    )
    ensure_nonnegative(
        s * (d + more) - d * s,
        "each other token adds d s_t at least, so that the deficit is at least d (1 - s)",
        normal=expanded,
    )
    deficit, least = sp.Symbol("deficit", nonnegative=True), sp.Symbol("least", nonnegative=True)
    ensure_equal(
        (best - least) - (best - (least + deficit)),
        deficit,
        "best minus the deficit is at most best - d (1 - s), and l does not increase",
    )
    return "for every loss that nowhere increases and any n, T, d and W"
