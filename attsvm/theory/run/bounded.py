"""Evaluations that end after so many steps of Python: counted, not timed, so machines agree.

A step is a call of a function or, where that has loops, a line of it. Those of Python's own modules
and of installed ones are not counted, but for attsvm's and the claim's own; nor is what compiled
code does, nor code that lies in no file, unless it was typed at a prompt.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, TypeVar

from attsvm.theory.declaration.code_bases import base_of, is_installed

_Answer = TypeVar("_Answer")

_ENGINE = Path(__file__).parents[2]

_PROMPTS = ("<stdin", "<ipython-input", "<python-input")
"""How the names of what is typed begin."""


class TooLong(BaseException):
    """An evaluation took more steps than it may; passes through what catches mere exceptions."""


_bound: ContextVar[tuple[int, Path] | None] = ContextVar("_bound", default=None)
"""The steps that evaluations may take, and the claim's outermost package or its file; None for no
bound, and within an evaluation that counts already."""


@contextlib.contextmanager
def bounded(steps: int, file: str) -> Iterator[None]:
    """Let each evaluation of a claim take so many steps at most, by `TooLong`.

    Args:
        steps: how many.
        file: that of the claim.
    """
    token = _bound.set((steps, _own(Path(file))))
    try:
        yield
    finally:
        _bound.reset(token)


def within_bound(evaluate: Callable[[], _Answer]) -> _Answer:
    """What an evaluation comes to, counted where there is a bound.

    One that took too long is begun once more: what it loads, and remembers from then on, would have
    been there already had the process looked at other instances before.

    Raises:
        TooLong: it took too many steps, twice.
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
            if counter.left >= 0:  # else the claim caught what ended it, and counting with it
                return answer
        finally:
            sys.settrace(before)
            _bound.reset(token)
    raise TooLong


def _own(file: Path) -> Path:
    """The outermost package that a file lies in, or the file; a base may hold installed modules."""
    if file.name.startswith("<"):
        return file
    base = base_of(file)
    return base / file.relative_to(base).parts[0]


_KNOWN: dict[Path, dict[int, tuple[CodeType, bool, bool]]] = {}
"""Of each piece of code whether its calls and its lines count, where a package is the claim's own.

To ask for code itself is dear: its hash is that of all that it holds.
"""

_MOST = 4096
"""Pieces of code of which that is known at most."""


class _Counter:
    """Counts the steps of one evaluation."""

    def __init__(self, steps: int, own: Path) -> None:
        self.left = steps
        self.own = own
        self.known = _KNOWN.setdefault(own, {})

    def enter(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any] | None:
        """Count a call; its lines are counted where they may be run again and again."""
        code = frame.f_code
        known = self.known.get(id(code))
        if known is None or known[0] is not code:
            if len(self.known) >= _MOST:
                self.known.clear()
            counted = _counts(code.co_filename, self.own)
            known = self.known[id(code)] = code, counted, counted and _loops(code)
        if not known[1]:
            return None
        self.left -= 1
        if self.left < 0 and not code.co_flags & inspect.CO_GENERATOR:
            raise TooLong  # a generator may go on only to be closed, where Python would warn
        return self.line if known[2] else None

    def line(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any]:
        """Count a line."""
        if event == "line":
            self.left -= 1
            if self.left < 0:
                raise TooLong
        return self.line


@functools.lru_cache(maxsize=_MOST)
def _counts(file: str, own: Path) -> bool:
    """Whether steps in a file count; those of imports do not."""
    place = Path(file)
    if file.startswith("<"):
        return place == own or file.startswith(_PROMPTS)
    ours = place.is_relative_to(own) or place.is_relative_to(_ENGINE)
    return ours or not is_installed(place.parent)


def _loops(code: CodeType) -> bool:
    """Whether a jump of some code goes back; what a module does once, when imported, is no loop."""
    steps = dis.get_instructions(code)
    jumps = {*dis.hasjrel, *dis.hasjabs}
    return code.co_name != "<module>" and any(
        step.opcode in jumps and step.argval <= step.offset for step in steps
    )
