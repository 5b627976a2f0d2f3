"""Compilation of the kernels of a solve before its time starts to count."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from attsvm.data import AttentionData
from attsvm.kernels.least_norm import pivot
from attsvm.svm.frobenius import solve_programme
from attsvm.svm.methods import COLD, DENSE, accelerated
from attsvm.svm.nuclear import solve_nuclear
from attsvm.svm.programme import att_svm_programme
from attsvm.svm.soft import solve_soft
from attsvm.svm.soft_ascent import ascended

SMALL = 12
"""Maximum number of constraints for which rationals need no guess by compiled kernels."""


def kernels_for(constraints: int, *, norm: str, soft: bool) -> tuple[str, ...]:
    """Return the names of the kernel modules that a solve of this size calls; often none."""
    needed = {
        "least_norm": constraints > SMALL or soft,
        "ascent": constraints > COLD,
        "nuclear": norm == "nuc",
        "soft": soft and constraints <= DENSE,
    }
    return tuple(name for name, is_needed in needed.items() if is_needed)


def warm(names: Iterable[str]) -> None:
    """Call the kernels of these modules on two constraints, so that they are compiled."""
    chosen = set(names)
    if not chosen:
        return
    tiny = att_svm_programme(
        AttentionData(
            np.array([[[1.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]]]),
            np.ones((2, 2)),
            scores=np.array([[1.0, 0.0], [1.0, 0.0]]),
        )
    )
    if "least_norm" in chosen:
        solve_programme(tiny)
    if "ascent" in chosen:
        accelerated(tiny)
        nothing = np.empty(0, dtype=np.int64), np.empty((0, 0))
        pivot(tiny.gram, tiny.bound, tiny.equal, *nothing, 1)
        for _ in ascended(tiny, np.arange(len(tiny.bound)), np.ones(len(tiny.bound))):
            pass
    if "nuclear" in chosen:
        solve_nuclear(tiny)
    if "soft" in chosen:
        solve_soft(tiny, 1.0)
