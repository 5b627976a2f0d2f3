"""Compiled loops: functions of arrays that check nothing; callers validate inputs and results.

The first call of a kernel imports numba. Importing it is slow, and commands that only read claims
call no kernel.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import importlib
import threading
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

from attsvm._live import compiling, watcher

__all__ = ["compiled", "compiled_for_many", "inlined", "read_only", "separate"]

F = TypeVar("F", bound=Callable[..., object])

_SOURCES = sorted(Path(__file__).parent.glob("*.py"))
_STAMP = hashlib.sha256(b"".join(path.read_bytes() for path in _SOURCES)).hexdigest()
_ONE_AT_A_TIME = threading.Lock()
_GLOBALS: dict[str, dict[str, Any]] = {}
"""Globals of compiled code by module; the globals that Python reads stay as they are."""


class _Kernel:
    """A function that is given to numba when it is first called.

    Attributes:
        function: the Python function.
        level: level of optimisation of LLVM, 0 to 3, for the code that Python calls.
        separate: whether its callers call its code, which is not copied into them.
        options: options of `numba.njit` for the code that other kernels call.
    """

    def __init__(
        self, function: Callable[..., Any], level: int = 1, separate: bool = False, **options: Any
    ) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.level = level
        self.separate = separate
        self.options = options
        self._entry: Any = None
        self._part: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Call the machine code; the first call compiles it, or reads it from disk."""
        return (self._entry or self.entry())(*arguments)

    @property
    def py_func(self) -> Callable[..., Any]:
        """The Python function; kernels that it calls are still compiled."""
        return self.function

    def entry(self) -> Any:
        """Return numba's function for calls from Python; its machine code is kept on disk."""
        with _ONE_AT_A_TIME:
            whole = {"pipeline_class": _pipelines()[0]} if _knows_numba() else {}
            self._entry = self._entry or self._handed_to_numba(
                cache=True, no_cfunc_wrapper=True, **whole
            )
        return self._entry

    def part(self) -> Any:
        """Return numba's function for calls from other kernels.

        It has no wrapper for Python. It is not kept on disk, as the machine code of an entry
        contains the code of all functions that it calls.
        """
        if self._part is None:
            unwrapped = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
            linked = {"pipeline_class": _pipelines()[1]} if _knows_numba() else {}
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
        function.__dict__["separate"] = self.separate
        made = numba.njit(error_model="numpy", nogil=True, **options)(function)
        if options.get("cache") and made is not function:
            made._cache._cache_file._source_stamp = _STAMP
            name = f"{self.function.__module__.rpartition('.')[2]}.{self.function.__name__}"
            made.compile = _in_turn(made, name, self.function.__code__.co_filename, self.level)
        return made


def _knows_numba() -> bool:
    """Return whether this version of numba is at most 0.68, for which `_pipelines` was written."""
    import numba

    major, minor = numba.__version__.split(".")[:2]
    return (int(major), int(minor)) <= (0, 68)


@functools.cache
def _pipelines() -> tuple[type, type]:
    """Return compiler classes for entries and for parts.

    The class for parts stops before it optimises and makes machine code. A part is linked into its
    entry and optimised there. By itself, numba would also make machine code of each part, which
    nothing runs.
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
            if getattr(state.func_id.func, "separate", False):
                code = library._final_module.get_function(made.fndesc.llvm_func_name)
                code.add_function_attribute("noinline")
            library._optimize_final_module = lambda: None
            library._finalize_final_module = lambda: setattr(library, "_finalized", True)
            names = made.fndesc.lookup_module(), made.fndesc.qualname, "linked into others"
            entry = make_function(*names, 0, made.env, (library,))  # 0: it has no address
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

    class Entry(compiler.CompilerBase):  # type: ignore[misc]
        define_pipelines = compiler.Compiler.define_pipelines

    return Entry, Compiler


@contextlib.contextmanager
def _parts_alone() -> Iterator[None]:
    """Compile numba's own functions, such as `np.empty`, as parts inside the context.

    Garbage collection is off, because it frees little while numba compiles.
    """
    if not _knows_numba():
        yield
        return
    usual = importlib.import_module("numba.core.compiler").Compiler
    collecting, pipelines = gc.isenabled(), usual.define_pipelines
    usual.define_pipelines = vars(_pipelines()[1])["define_pipelines"]
    gc.disable()
    try:
        yield
    finally:
        usual.define_pipelines = pipelines
        if collecting:
            gc.enable()


def _of_values(compile_it: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that compiles a part once for all values, not again for each literal."""
    from numba.core.types import unliteral

    return lambda signature: compile_it(tuple(map(unliteral, signature)))


def _in_turn(made: Any, name: str, source: str, level: int) -> Callable[..., Any]:
    """Return a function that compiles while no other process compiles kernels of this source.

    Processes that waited then find the machine code on disk.
    """
    compile_it = made.compile

    @functools.wraps(compile_it)
    def compile_or_read(signature: Any) -> Any:
        with _locked(source), _optimised(level), _parts_alone(), _reported(made, name):
            return compile_it(signature)

    return compile_or_read


@contextlib.contextmanager
def _reported(made: Any, name: str) -> Iterator[None]:
    """Notify the watcher if numba compiles the function inside this context, not if it loads it."""
    if watcher() is None:
        yield
        return
    events: Any = importlib.import_module("numba.core.event")
    with contextlib.ExitStack() as at_work:

        class Listener(events.Listener):  # type: ignore[misc]
            def on_start(self, event: Any) -> None:
                if event.data["dispatcher"] is made:  # not for a part that it calls
                    at_work.enter_context(compiling(name))

            def on_end(self, event: Any) -> None:
                if event.data["dispatcher"] is made:
                    at_work.close()

        with events.install_listener("numba:compile", Listener()):
            yield


@contextlib.contextmanager
def _optimised(level: int) -> Iterator[None]:
    """Limit LLVM's optimisation to this level inside the context.

    numba's compiler lock is held, so that the limit does not apply to other threads.
    """
    from numba.core import compiler_lock, registry

    config: Any = importlib.import_module("numba.core.config")
    with compiler_lock.global_compiler_lock:
        registry.cpu_target.target_context.codegen()  # it keeps the level of the first call
        before = config.OPT
        config.OPT = type(before)(min(before, level))
        try:
            yield
        finally:
            config.OPT = before


@contextlib.contextmanager
def _locked(path: str) -> Iterator[None]:
    """Hold the lock of a file inside the context, once other processes have released it.

    The file may be read-only. If the system has no such locks, the context holds none.
    """
    with contextlib.ExitStack() as held:
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            file = held.enter_context(open(path, "rb"))
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def compiled(function: F) -> F:
    """Return a kernel that is compiled at its first call, with its machine code kept on disk.

    - IEEE arithmetic is kept as written: no reassociation, and division by zero gives infinity.
    - The machine code contains that of all called functions. numba itself compares the date of one
      file. Here a change of any file of kernels makes all machine code outdated.
    - With NUMBA_DISABLE_JIT=1 Python runs the function.

    LLVM optimises at level 1: loops are short, and more optimisation makes compiling a third longer
    and the loops no faster.
    """
    return cast(F, _Kernel(function))


def compiled_for_many(function: F) -> F:
    """Return a kernel as `compiled` does, optimised at level 3, for loops over many problems."""
    return cast(F, _Kernel(function, level=3))


def read_only(array: Any) -> Any:
    """Return a view that cannot be written to.

    A kernel is compiled once for read-only and once for writable arguments, so callers always pass
    the same kind.
    """
    view = array.view()
    view.flags.writeable = False
    return view


def inlined(function: F) -> F:
    """Return a kernel that is compiled into each of its callers: short, or called once."""
    return cast(F, _Kernel(function, inline="always"))


def separate(function: F) -> F:
    """Return a kernel that is compiled once for all places that call it: long, or called often.

    By itself, LLVM copies even long loops to each of these places, and optimises each copy.
    """
    return cast(F, _Kernel(function, separate=True))
