"""Compiled loops: plain functions of arrays, without checks; their callers validate and grade."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

__all__ = ["compiled", "inlined"]

F = TypeVar("F", bound=Callable[..., object])

_SOURCES = sorted(Path(__file__).parent.glob("*.py"))
_STAMP = hashlib.sha256(b"".join(path.read_bytes() for path in _SOURCES)).hexdigest()


def compiled(function: F) -> F:
    """Compile `function` when it is first called, and keep the machine code on disk.

    IEEE arithmetic is kept as written: no reassociation, and division by zero gives infinity. What
    is kept holds the code of all functions that it calls, and numba looks at one file only to see
    whether it is outdated; here any change of any kernel outdates everything. With
    NUMBA_DISABLE_JIT=1 functions stay as they are.
    """
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]  # made when numba is loaded
        return function
    made: Any = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    made._cache._cache_file._source_stamp = _STAMP
    return cast(F, made)


def inlined(function: F) -> F:
    """A few lines, compiled anew within every function that calls them."""
    return cast(F, numba.njit(inline="always", error_model="numpy")(function))
