"""A limit on the number of Python steps of an evaluation: counted, not timed, so machines agree.

A step is a call of a function, or one line of a function that contains a loop. Code of the standard
library and of installed packages is not counted, except attsvm and the claim's own package.
Compiled code is not counted either. Code outside any file counts only if it was typed at a prompt.
"""

import contextlib
import dis
import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, TypeVar

from attsvm._types import JsonObject
from attsvm.theory.arithmetic import Entries, Lane
from attsvm.theory.arithmetic.entries import Values
from attsvm.theory.arithmetic.namespace import Namespace
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.metering import METER, TooLong
from attsvm.theory.declaration.variables import Integer
from attsvm.theory.packs.code_bases import base_of, is_installed

__all__ = [
    "JUDGED_STEPS",
    "SCREENED_STEPS",
    "StepMeter",
    "TooLong",
    "bounded",
    "metered",
    "within_bound",
]

_Answer = TypeVar("_Answer")

_ENGINE = Path(__file__).parents[2]

_PROMPTS = ("<stdin", "<ipython-input", "<python-input")
"""Prefixes of the file names that Python gives to code typed at a prompt."""


JUDGED_STEPS = 2**16
"""Maximum number of Python steps of one evaluation of a formula."""

SCREENED_STEPS = 2**21
"""Maximum number of steps of all evaluations in one search in floats, if the formula counts with an
integer, as in `range(v.k)`."""

_LANES = 256
"""Number of instances of a batch that raise the weight of each step by 1, beginning at 1."""


_bound: ContextVar[tuple[int, Path] | None] = ContextVar("_bound", default=None)
"""Maximum number of steps of an evaluation, and the path of the claim's outermost package or file.
None if there is no limit, and inside an evaluation that is already counted."""


@contextlib.contextmanager
def bounded(steps: int, file: str) -> Iterator[None]:
    """Limit each evaluation of a claim to `steps` steps by raising `TooLong`.

    Args:
        steps: the maximum number of steps of one evaluation.
        file: the file of the claim.
    """
    token = _bound.set((steps, _own(Path(file))))
    try:
        yield
    finally:
        _bound.reset(token)


def within_bound(evaluate: Callable[[], _Answer]) -> _Answer:
    """Return the value of an evaluation, and count its steps if a limit is set.

    An evaluation that exceeds the limit is run a second time. The first run may have loaded modules
    or filled caches, which would not happen if the process had evaluated other instances before.

    Raises:
        TooLong: the evaluation exceeded the limit twice.
    """
    bound = _bound.get()
    if bound is None:
        return evaluate()
    for _ in range(2):
        token, before, counter = _bound.set(None), sys.gettrace(), _Counter(*bound)
        sys.settrace(counter.enter)
        try:
            answer = evaluate()
        except (Exception, TooLong):
            if counter.left >= 0:
                raise
        else:
            if counter.left >= 0:  # else the claim caught `TooLong`, and the count went on below 0
                return answer
        finally:
            sys.settrace(before)
            _bound.reset(token)
    raise TooLong


def _own(file: Path) -> Path:
    """Return the outermost package that contains a file, or the file if it is in no package."""
    if file.name.startswith("<"):
        return file
    base = base_of(file)
    return base / file.relative_to(base).parts[0]


_KNOWN: dict[Path, dict[int, tuple[CodeType, bool, bool]]] = {}
"""For each package of a claim: its code objects, and whether their calls and lines count.

Keyed by the id of the code object, because hashing a code object hashes its whole content."""

_MOST = 4096
"""Maximum number of code objects in the cache of one package."""


class _Counter:
    """A counter of the steps of one evaluation."""

    def __init__(self, steps: int, own: Path) -> None:
        self.left = steps
        self.own = own
        self.known = _KNOWN.setdefault(own, {})

    def enter(self, frame: FrameType, event: str, arg: object) -> Callable[..., Any] | None:
        """Count a call; return the counter of its lines if the function contains a loop.

        Python calls this trace function at the start of each function.

        Raises:
            TooLong: no step is left.
        """
        code = frame.f_code
        known = self.known.get(id(code))
        if known is None or known[0] is not code:
            if len(self.known) >= _MOST:
                self.known.clear()
            counted = self.counts(code)
            known = self.known[id(code)] = code, counted, counted and _loops(code)
        if not known[1]:
            return None
        self.left -= 1
        if self.left < 0 and not code.co_flags & inspect.CO_GENERATOR:
            # a generator may only be resuming to be closed; Python warns if that raises
            raise TooLong
        return self.line if known[2] else None

    def counts(self, code: CodeType) -> bool:
        """Return whether calls and lines of a code object are steps."""
        return _counts(code.co_filename, self.own)

    def line(self, frame: FrameType, event: str, arg: object) -> Callable[..., Any]:
        """Count a line, and return this method as the trace function of the next one.

        Raises:
            TooLong: no step is left.
        """
        if event == "line":
            self.left -= 1
            if self.left < 0:
                raise TooLong
        return self.line


@functools.lru_cache(maxsize=_MOST)
def _counts(file: str, own: Path) -> bool:
    """Return whether code in a file is counted."""
    place = Path(file)
    if file.startswith("<"):
        return place == own or file.startswith(_PROMPTS)
    ours = place.is_relative_to(own) or place.is_relative_to(_ENGINE)
    return ours or not is_installed(place.parent)


def _loops(code: CodeType) -> bool:
    """Return whether some code jumps backwards, that is contains a loop.

    The top level of a module does not count, because it runs once.
    """
    steps = dis.get_instructions(code)
    jumps = {*dis.hasjrel, *dis.hasjabs}
    return code.co_name != "<module>" and any(
        step.opcode in jumps and step.argval <= step.offset for step in steps
    )


class _FormulaCounter(_Counter):
    """A counter of the claim's own code, and of powers, which the engine multiplies out.

    Other engine code is not counted: its number of steps depends only on array sizes, which
    searchers bound.
    """

    def counts(self, code: CodeType) -> bool:
        """Return whether calls and lines of a code object are steps."""
        file = code.co_filename
        if not file.startswith("<") and Path(file).is_relative_to(_ENGINE):
            return code.co_name == "power"
        return _counts(file, self.own)


class StepMeter:
    """A meter that limits the steps of each evaluation of the formulas of one part of a claim.

    A formula of (m, v) does not branch on values, so its number of steps depends only on lengths
    and integers. The steps are counted once for each choice of lengths and integers.
    """

    def __init__(self, formula: Formula, file: str) -> None:
        self._own = _own(Path(file))
        self._known: dict[tuple[object, ...], int] = {}
        self._left = SCREENED_STEPS
        self._codes: dict[int, tuple[CodeType, bool, bool]] = {}
        integers = (name for name, x in formula.variables.items() if isinstance(x, Integer))
        self._counting = bool({*integers} - {*formula.axes})

    def __call__(
        self,
        function: Callable[..., _Answer],
        m: Namespace,
        v: Values,
        constants: Mapping[str, object],
        /,
    ) -> _Answer:
        """Return the value of a function of a formula.

        Raises:
            TooLong: the function takes too many steps.
        """
        # reading an attribute would record the variable as used
        values = object.__getattribute__(v, "__dict__")
        sizes = [(name, x) for name, x in values.items() if type(x) is int]
        key = (function, m.name, *sizes)
        screens = self._counting and m.name in ("floats", "tensors")
        # a step on a large batch takes longer; the weight is counted, so it is equal everywhere
        weight = 1 + _batch(values) // _LANES if screens else 1
        most = min(JUDGED_STEPS, self._left if screens else JUDGED_STEPS) // weight
        if key in self._known:
            if self._known[key] > most:
                raise TooLong
            self._left -= self._known[key] * weight * screens
            return function(m, v, **constants)
        for _ in range(2):  # the first run may load modules or fill caches
            before = sys.gettrace()
            counter = _FormulaCounter(most, self._own)
            counter.known = self._codes
            sys.settrace(counter.enter)
            try:
                answer = function(m, v, **constants)
            except (Exception, TooLong):
                if counter.left >= 0:
                    raise
            else:
                if counter.left >= 0:
                    if len(self._known) >= _MOST:
                        self._known.clear()
                    self._known[key] = most - counter.left
                    self._left -= self._known[key] * weight * screens
                    return answer
            finally:
                sys.settrace(before)
        raise TooLong


def _batch(values: JsonObject) -> int:
    """Return the number of instances of a batch, 1 if its values are shared by all of them."""
    for value in values.values():
        one = value.flat[0] if isinstance(value, Entries) and value.size else value
        if isinstance(one, Lane):
            return int(one.value.shape[-1])
    return 1


@contextlib.contextmanager
def metered(formula: Formula, file: str) -> Iterator[None]:
    """Limit the number of steps of each evaluation of a formula of variables by raising `TooLong`.

    Args:
        formula: the formula. For a claim on records nothing is limited here: the code that changes
            records limits its evaluations.
        file: the file of the claim.
    """
    token = METER.set(StepMeter(formula, file) if formula.batches else None)
    try:
        yield
    finally:
        METER.reset(token)
