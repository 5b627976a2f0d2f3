"""Softmax is positive, so an input with two scores attends to less than its best one."""

from __future__ import annotations

import sympy as sp

from attsvm.theory import ensure_positive
from attsvm.theory.declaration.proof import Supposition, supposed_number
from symbolic.alternatives import TWO_SCORES
from symbolic.gains import S
from symbolic.tf import definition_1, softmax_range


def ensure_missed(lower: Supposition, token: Supposition | None = None) -> None:
    """Prove that an input with two tokens of different scores attends to less than its best score.

    Args:
        lower: the hypothesis of two scores, or that all other tokens score less than the optimal.
        token: the hypothesis that there is another token, if `lower` does not imply it.
    """
    softmax_range.ensure_inside()  # a token of lower score has some weight
    definition_1.prove()
    gap = supposed_number(lower, "gap", positive=True)
    weight = S if token is None else supposed_number(token, "s", positive=True)
    others = sp.Symbol("others", nonnegative=True)
    ensure_positive(
        weight * gap + others,
        "best - <s, gamma> is at least what such a token adds, weight times gap, so above 0",
    )


def prove() -> str:
    """Prove that L(W) > L_* for every W if some input has two tokens of different scores."""
    ensure_missed(TWO_SCORES)
    return "for every strictly decreasing loss and any n, T, d: l(best - delta) > l(best)"
