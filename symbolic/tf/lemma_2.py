"""A strict lower bound of the risk: softmax is positive, so a worse token lowers the output."""

from __future__ import annotations

import sympy as sp

from attsvm.theory import ensure_positive
from attsvm.theory.declaration.proof import Supposition, supposed_number
from symbolic.alternatives import TWO_SCORES
from symbolic.gains import S
from symbolic.tf import definition_1, softmax_range


def ensure_missed(lower: Supposition, token: Supposition | None = None) -> None:
    """Prove that the attended score of an input with two different scores is below the best one.

    Args:
        lower: the hypothesis of two different scores, or that all other tokens score less than the
            optimal one.
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
