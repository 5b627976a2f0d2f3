"""An input's loss at attention s against that at its best score, for any number of tokens."""

from __future__ import annotations

import sympy as sp

from attsvm.theory import ensure_equal, ensure_nonnegative, ensure_positive
from attsvm.theory.declaration.proof import expanded


def prove() -> str:
    """Best - <s, gamma> lies between w next and w range, w the weight off the optimal tokens."""
    s, best = sp.Symbol("s_t", nonnegative=True), sp.Symbol("best", real=True)
    least = sp.Symbol("next", positive=True)
    more, still = sp.symbols("more still", nonnegative=True)
    gap = least + more
    ensure_equal(
        s * best - s * (best - gap),
        s * gap,
        "best - <s, gamma> is the sum of s_t times the gap of t, as the s_t add up to 1",
    )
    ensure_equal(s * best - s * best, 0, "an optimal token adds 0")
    ensure_nonnegative(
        s * gap - s * least, "another one at least s_t times the next gap", normal=expanded
    )
    ensure_nonnegative(
        s * (gap + still) - s * gap, "and at most s_t times the range", normal=expanded
    )
    ensure_nonnegative(s * gap, "so <s, gamma> <= best, and l is at least l(best) there")
    weight = sp.Symbol("w", positive=True)
    ensure_positive(
        weight * least + more, "with weight off the optimal tokens <s, gamma> < best, strictly"
    )
    return "for every decreasing loss, strictly where the loss is so strictly, and any T and d"
