"""Softmax is positive, so an input with two scores attends to less than its best one."""

from __future__ import annotations

import sympy as sp

from attsvm.theory import ensure_equal, ensure_positive


def prove() -> str:
    """L(W) > L_* for every W where some input has two tokens of different scores."""
    logit, other = sp.symbols("a a2", real=True)
    ensure_positive(
        sp.exp(logit) / (sp.exp(logit) + sp.exp(other)), "softmax is positive at finite logits"
    )
    s, gap, level = (
        sp.Symbol("s", positive=True),
        sp.Symbol("gap", positive=True),
        sp.Symbol("gamma"),
    )
    ensure_equal(
        (level + gap) * s - s * level,
        s * gap,
        "best - <s, gamma> is the sum of s_t (best - gamma_t), as the s_t add up to 1",
    )
    others = sp.Symbol("others", nonnegative=True)
    ensure_positive(s * gap + others, "which is positive where some score is below the best")
    return "for every strictly decreasing loss and any n, T, d: l(best - delta) > l(best)"
