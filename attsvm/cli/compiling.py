"""The first run of a solver."""

from __future__ import annotations

import sys
from pathlib import Path


def tell_of_compiling(special: str) -> None:
    """Say that the first run takes longer, where no machine code is cached yet."""
    from attsvm import kernels

    cache = Path(kernels.__file__).parent / "__pycache__"
    if not all(any(cache.glob(f"{name}.*.nbi")) for name in ("least_norm", special) if name):
        print("attsvm: compiling the solver once, some seconds", file=sys.stderr)
