"""Where an input's other tokens share one score, its risk falls as they lose attention."""

from __future__ import annotations

import sympy as sp

from attsvm.theory import ensure_equal, ensure_nonnegative
from attsvm.theory.declaration.proof import expanded


def prove() -> str:
    """The score attended to is the best one less (1 - s) times the gap, which falls with 1 - s."""
    off, best = sp.Symbol("off", nonnegative=True), sp.Symbol("best", real=True)
    gap, more = sp.symbols("gap more", nonnegative=True)
    ensure_equal(
        (1 - off) * best + off * (best - gap),
        best - off * gap,
        "<s, gamma> is best - off gap, off the weight of the tokens of the other score",
    )
    ensure_nonnegative(
        (off + more) * gap - off * gap,
        "less weight off the optimal tokens attends to a score that is no lower",
        normal=expanded,
    )
    return "for every decreasing loss, where l is no higher, in each input, any n, T and d"
