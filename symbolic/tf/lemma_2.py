"""Softmax is positive, so an input with two scores attends to less than its best one."""

from __future__ import annotations

from attsvm.theory.declaration.proof import suppose
from symbolic.suppositions import TWO_SCORES
from symbolic.tf import definition_1, softmax_range


def prove() -> str:
    """L(W) > L_* for every W where some input has two tokens of different scores."""
    suppose(TWO_SCORES)
    softmax_range.ensure_inside()  # a token of lower score has some weight
    definition_1.prove()
    return "for every strictly decreasing loss and any n, T, d: l(best - delta) > l(best)"
