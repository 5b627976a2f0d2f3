"""Compiled loops: plain functions of arrays, without checks; their callers validate and grade.

Numba is slow to import, and commands that only read claims call no kernel: the first call of one
imports it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import threading
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

from attsvm._compiling import compiling, watcher

__all__ = ["compiled", "compiled_for_many", "inlined", "read_only"]

F = TypeVar("F", bound=Callable[..., object])

_SOURCES = sorted(Path(__file__).parent.glob("*.py"))
_STAMP = hashlib.sha256(b"".join(path.read_bytes() for path in _SOURCES)).hexdigest()
_ONE_AT_A_TIME = threading.Lock()
_GLOBALS: dict[str, dict[str, Any]] = {}
"""By module, the globals that compiled code reads; those that Python reads stay as they are."""


class _Kernel:
    """A function for numba, which gets it by the first call.

    Attributes:
        function: as it is written.
        level: up to which LLVM optimises its entry.
        options: those of `numba.njit`.
    """

    def __init__(self, function: Callable[..., Any], level: int = 1, **options: Any) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.level = level
        self.options = options
        self._entry: Any = None
        self._part: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Call the machine code; the first call compiles it, or reads it from disk."""
        return (self._entry or self.entry())(*arguments)

    @property
    def py_func(self) -> Callable[..., Any]:
        """The function, run by Python; kernels that it calls are compiled."""
        return self.function

    def entry(self) -> Any:
        """Return numba's function, to be called from Python; its machine code is kept on disk."""
        with _ONE_AT_A_TIME:
            self._entry = self._entry or self._handed_to_numba(cache=True)
        return self._entry

    def part(self) -> Any:
        """Return numba's function, to be called from kernels alone.

        It has no wrapper for Python and is not kept on disk: code of an entry contains the code it
        calls.
        """
        if self._part is None:
            unwrapped = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
            linked = {"pipeline_class": _linked()} if _knows_numba() else {}
            self._part = made = self._handed_to_numba(**unwrapped, **linked, **self.options)
            if made is not self.function and hasattr(made, "compile"):
                made.compile = _of_values(made.compile)
        return self._part

    def _globals(self) -> dict[str, Any]:
        """Return the module's global names, with numba's functions in place of the kernels."""
        module = self.function.__module__
        if module not in _GLOBALS:
            scope = _GLOBALS[module] = dict(self.function.__globals__)
            kernels = {name: each for name, each in scope.items() if isinstance(each, _Kernel)}
            scope.update({name: kernel.part() for name, kernel in kernels.items()})
        return _GLOBALS[module]

    def _handed_to_numba(self, **options: Any) -> Any:
        """Return numba's dispatcher, or with NUMBA_DISABLE_JIT=1 the function itself."""
        import numba

        function = types.FunctionType(self.function.__code__, self._globals())
        functools.update_wrapper(function, self.function)
        made = numba.njit(error_model="numpy", nogil=True, **options)(function)
        if options.get("cache") and made is not function:
            made._cache._cache_file._source_stamp = _STAMP
            name = f"{self.function.__module__.rpartition('.')[2]}.{self.function.__name__}"
            made.compile = _in_turn(made, name, self.function.__code__.co_filename, self.level)
        return made


def _knows_numba() -> bool:
    """Return whether `_linked` was written for this version of numba; others are left alone."""
    import numba

    major, minor = numba.__version__.split(".")[:2]
    return (int(major), int(minor)) <= (0, 68)


@functools.cache
def _linked() -> Any:
    """Return numba's compiler of code that is linked into that of an entry, and optimised there.

    By itself numba would optimise each part and turn it into machine code that nothing runs.
    """
    compiler: Any = importlib.import_module("numba.core.compiler")
    machinery: Any = importlib.import_module("numba.core.compiler_machinery")
    make_function = importlib.import_module("numba._dynfunc").make_function

    @machinery.register_pass(mutates_CFG=True, analysis_only=False)
    class Linked(machinery.LoweringPass):  # type: ignore[misc]
        _name = "linked"

        def __init__(self) -> None:
            super().__init__()

        def run_pass(self, state: Any) -> bool:
            made, library = state["cr"], state.library
            library._optimize_final_module = lambda: None
            library._finalize_final_module = lambda: setattr(library, "_finalized", True)
            told = made.fndesc.lookup_module(), made.fndesc.qualname, "linked into others"
            entry = make_function(*told, 0, made.env, (library,))  # as none has an address
            state.targetctx.insert_user_function(entry, made.fndesc, [library])
            state["cr"] = made._replace(cfunc=entry)
            return True

    class Compiler(compiler.CompilerBase):  # type: ignore[misc]
        def define_pipelines(self) -> list[Any]:
            self.state.flags.no_compile = True
            passes = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
            passes.add_pass_after(Linked, compiler.NativeLowering)
            passes.finalize()
            return [passes]

    return Compiler


def _of_values(compile_it: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a part once for all values; numba would do so again for each literal."""
    from numba.core.types import unliteral

    return lambda signature: compile_it(tuple(map(unliteral, signature)))


def _in_turn(made: Any, name: str, source: str, level: int) -> Callable[..., Any]:
    """Let one process at a time compile kernels of a source; others then find them on disk."""
    compile_it = made.compile

    @functools.wraps(compile_it)
    def compile_or_read(signature: Any) -> Any:
        with _locked(source), _optimised(level), _told_of(made, name):
            return compile_it(signature)

    return compile_or_read


@contextlib.contextmanager
def _told_of(made: Any, name: str) -> Iterator[None]:
    """Notify the watcher if numba compiles a function inside this context, not if it loads it."""
    if watcher() is None:
        yield
        return
    events: Any = importlib.import_module("numba.core.event")
    with contextlib.ExitStack() as at_work:

        class Listener(events.Listener):  # type: ignore[misc]
            def on_start(self, event: Any) -> None:
                if event.data["dispatcher"] is made:  # and not a part that it calls
                    at_work.enter_context(compiling(name))

            def on_end(self, event: Any) -> None:
                if event.data["dispatcher"] is made:
                    at_work.close()

        with events.install_listener("numba:compile", Listener()):
            yield


@contextlib.contextmanager
def _optimised(level: int) -> Iterator[None]:
    """Have LLVM optimise up to this level what is compiled here, and no other thread's code."""
    from numba.core import compiler_lock, registry

    config: Any = importlib.import_module("numba.core.config")
    with compiler_lock.global_compiler_lock:
        registry.cpu_target.target_context.codegen()  # which keeps the level that it is made with
        before = config.OPT
        config.OPT = type(before)(min(before, level))
        try:
            yield
        finally:
            config.OPT = before


@contextlib.contextmanager
def _locked(path: str) -> Iterator[None]:
    """Wait for other processes that hold this lock of a file, which may be read-only.

    Where a system or a file system has no such locks, kernels are compiled by each process.
    """
    with contextlib.ExitStack() as held:
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            file = held.enter_context(open(path, "rb"))
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def compiled(function: F) -> F:
    """Compile `function` when it is first called, and keep the machine code on disk.

    - IEEE arithmetic is kept as written: no reassociation, and division by zero gives infinity.
    - Kept code contains the code of all called functions. numba looks at one file only to decide
      whether it is outdated; here any change of any kernel outdates everything.
    - With NUMBA_DISABLE_JIT=1 functions stay as they are.

    LLVM optimises little: loops are short, and more optimisation takes a third longer and makes
    them no faster.
    """
    return cast(F, _Kernel(function))


def compiled_for_many(function: F) -> F:
    """Compile like `compiled`, but optimised as far as possible, for loops over many problems."""
    return cast(F, _Kernel(function, level=3))


def read_only(array: Any) -> Any:
    """Return a view that cannot be written to.

    Kernels are compiled separately for writable arrays.
    """
    view = array.view()
    view.flags.writeable = False
    return view


def inlined(function: F) -> F:
    """Compile a short function, or one with a single caller, again within each caller."""
    return cast(F, _Kernel(function, inline="always"))
