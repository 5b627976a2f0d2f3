"""Compiled loops: plain functions of arrays, without checks; their callers validate and grade.

Numba is slow to import, and commands that only read claims call no kernel: the first call of one
imports it.
"""

from __future__ import annotations

import functools
import hashlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

__all__ = ["compiled", "inlined"]

F = TypeVar("F", bound=Callable[..., object])

_SOURCES = sorted(Path(__file__).parent.glob("*.py"))
_STAMP = hashlib.sha256(b"".join(path.read_bytes() for path in _SOURCES)).hexdigest()
_ONE_AT_A_TIME = threading.Lock()


class _Kernel:
    """A function for numba, which gets it by the first call.

    Attributes:
        function: as it is written.
        options: those of `numba.njit`.
        made: numba's dispatcher, once this or a kernel that calls it has been called.
        ready: the same, once every kernel that it calls is numba's as well.
    """

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.options = options
        self.made: Any = None
        self.ready: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Call the machine code; the first call compiles it, or reads it from disk."""
        return (self.ready or self.dispatcher())(*arguments)

    @property
    def py_func(self) -> Callable[..., Any]:
        """The function, run by Python; kernels that it calls are compiled."""
        return self.function

    def dispatcher(self) -> Any:
        """Numba's function, which finds numba's functions under the names of the kernels it calls.

        Compiled code reads globals, so that in the modules of all kernels that may be reached they
        are replaced before any of these is compiled.
        """
        with _ONE_AT_A_TIME:
            reached = [self]
            for kernel in reached:  # grows on the way
                kernel.made = kernel.made or kernel.handed_to_numba()
                reached += [k for k in kernel.called().values() if k not in reached]
            for kernel in reached:
                scope = kernel.function.__globals__
                scope.update({name: called.made for name, called in kernel.called().items()})
            for kernel in reached:
                kernel.ready = kernel.made
        return self.ready

    def called(self) -> dict[str, _Kernel]:
        """The kernels in the module of this one, by the names that they have there."""
        scope = self.function.__globals__
        return {name: value for name, value in scope.items() if isinstance(value, _Kernel)}

    def handed_to_numba(self) -> Any:
        """Numba's dispatcher, or with NUMBA_DISABLE_JIT=1 the function as it is."""
        import numba

        made = numba.njit(error_model="numpy", **self.options)(self.function)
        if self.options.get("cache") and made is not self.function:
            made._cache._cache_file._source_stamp = _STAMP
        return made


def compiled(function: F) -> F:
    """Compile `function` when it is first called, and keep the machine code on disk.

    IEEE arithmetic is kept as written: no reassociation, and division by zero gives infinity. What
    is kept holds the code of all functions that it calls, and numba looks at one file only to see
    whether it is outdated; here any change of any kernel outdates everything. With
    NUMBA_DISABLE_JIT=1 functions stay as they are.
    """
    return cast(F, _Kernel(function, cache=True, nogil=True))


def inlined(function: F) -> F:
    """A few lines, compiled anew within every function that calls them."""
    return cast(F, _Kernel(function, inline="always"))
