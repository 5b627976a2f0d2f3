"""One thread for numeric libraries; imports none, as they read this when they are loaded."""

from __future__ import annotations

import os

SINGLE = dict.fromkeys(
    [
        *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"),
        *("VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS"),
    ],
    "1",
)
"""Environment that does it: workers would fight for cores, and sums depend on the threads."""


def single_threaded() -> None:
    """Do it for this process, where nothing numeric is loaded yet, and for those it starts."""
    os.environ.update(SINGLE)
