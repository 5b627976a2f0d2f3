"""The first run of a solver."""

from __future__ import annotations

import sys
from pathlib import Path


def is_compiled(*names: str) -> bool:
    """Whether machine code of these kernels is on disk; of any, where none is named."""
    from attsvm import kernels

    cache = Path(kernels.__file__).parent / "__pycache__"
    return all(any(cache.glob(f"{name}.*.nbi")) for name in names or ("*",))


def tell_of_compiling(special: str) -> None:
    """Say that the first run takes longer, where no machine code is cached yet."""
    if not is_compiled(*filter(None, ("least_norm", special))):
        print("attsvm: compiling the solver once, some seconds", file=sys.stderr)
