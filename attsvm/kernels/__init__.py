"""Compiled loops: plain functions of arrays, without checks; their callers validate and grade."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

__all__ = ["compiled"]

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """Compile `function` when it is first called, and keep the machine code on disk.

    IEEE arithmetic is kept as written: no reassociation, and division by zero gives infinity.
    """
    return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy")(function))
