"""The first run of a solver."""

from __future__ import annotations

import sys
from pathlib import Path


def is_compiled(*names: str) -> bool:
    """Whether machine code of these kernels is on disk; of any, where none is named."""
    from attsvm import kernels

    cache = Path(kernels.__file__).parent / "__pycache__"
    return all(any(cache.glob(f"{name}.*.nbi")) for name in names or ("*",))


def tell_of_compiling(*names: str) -> None:
    """Say which kernels the first run compiles, if machine code of some is not cached yet."""
    missing = [name for name in names if not is_compiled(name)]
    if missing:
        print(f"attsvm: compiling once, some seconds: {', '.join(missing)}", file=sys.stderr)
