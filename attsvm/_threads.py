"""A limit of one thread for numeric libraries; it imports none, as they read it when loaded."""

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
    """Set the limit for this process, before numeric libraries are loaded, and for its children."""
    os.environ.update(SINGLE)
