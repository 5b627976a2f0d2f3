"""Few tokens need a large norm, for any number of tokens."""

from __future__ import annotations

import sympy as sp

from attsvm.theory import cite, ensure_nonnegative
from attsvm.theory.declaration.proof import expanded
from symbolic.textbook import CAUCHY_SCHWARZ
from symbolic.tf.softmax_range import ensure_odds


def prove() -> str:
    """1 / sum_t s_t^2 >= 1 / max_t s_t >= 1 + (T - 1) exp(-D ||W||)."""
    largest = sp.Symbol("largest", positive=True)
    less, share = sp.symbols("less share", nonnegative=True)
    ensure_nonnegative(
        (largest * share - (largest - less) * share),
        "s_t^2 <= max s times s_t, so that sum_t s_t^2 <= max s, as the s_t add up to 1",
        normal=expanded,
    )
    ensure_odds()
    cite(CAUCHY_SCHWARZ)
    others = sp.Symbol("others", nonnegative=True)
    ensure_nonnegative(
        1 / (largest / (largest + others)) - 1 - others / largest,
        "1 / max s is 1 plus the odds of the others, each exp(-lead) >= exp(-D ||W||)",
        normal=sp.factor,
    )
    return "for any T, d, W and attention"
