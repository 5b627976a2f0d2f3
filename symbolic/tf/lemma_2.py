"""Softmax is positive, so an input with two scores attends to less than its best one."""

from __future__ import annotations

from symbolic.tf import definition_1, softmax_range


def prove() -> str:
    """L(W) > L_* for every W where some input has two tokens of different scores."""
    softmax_range.prove_inside()  # a token of lower score has some weight
    definition_1.prove()
    return "for every strictly decreasing loss and any n, T, d: l(best - delta) > l(best)"
