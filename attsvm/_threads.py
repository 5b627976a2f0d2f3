"""Environment variables that limit numeric libraries to one thread.

The libraries read these variables when they are loaded, so this module imports none of them.
"""

import os

SINGLE = dict.fromkeys(
    [
        *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"),
        *("VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS"),
    ],
    "1",
)
"""The variables. With more threads, workers compete for cores and sums depend on the threads."""


def single_threaded() -> None:
    """Set the variables for this process and its children; call it before libraries are loaded."""
    os.environ.update(SINGLE)
