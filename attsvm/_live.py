"""Progress messages of long commands on standard error, including those on compiling kernels."""

from __future__ import annotations

import contextlib
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from shutil import get_terminal_size
from typing import TextIO

from attsvm._words import counted

Watcher = Callable[[str, float | None], None]
"""Called with a kernel's name and None when compiling begins, with the seconds when it ends."""

_watcher: ContextVar[Watcher | None] = ContextVar("_watcher", default=None)


def watcher() -> Watcher | None:
    """Return the watcher of this thread, or None if it has none."""
    return _watcher.get()


@contextlib.contextmanager
def watched(tell: Watcher) -> Iterator[None]:
    """Call `tell` when this thread starts or finishes compiling a kernel inside the context."""
    token = _watcher.set(tell)
    try:
        yield
    finally:
        _watcher.reset(token)


@contextlib.contextmanager
def compiling(name: str) -> Iterator[None]:
    """Notify the watcher of this thread, if any, when compiling a kernel begins and ends."""
    tell = _watcher.get()
    if tell is None:
        yield
        return
    tell(name, None)
    started = time.monotonic()
    try:
        yield
    finally:
        tell(name, time.monotonic() - started)


_REDRAWN = 0.2
"""Seconds between two drawings of a line."""
_SILENT = 30.0
"""Seconds without output after which a progress message is printed."""
_LISTENED = 1.0
"""Seconds between two checks of how long a command has printed nothing."""

_ONCE = (
    " and perhaps others: once for each installation; in all a minute or two if nothing else runs"
)
"""Text printed after the name of the first kernel that is compiled."""


def cut(text: str, width: int) -> str:
    """Return the text; if it is longer than `width`, cut it after a word and add three dots."""
    if len(text) <= width:
        return text
    return f"{text[: width - 3].rpartition(' ')[0].rstrip(',')} ..."[:width]


class Live:
    """A progress display: one line that is redrawn on a terminal, or messages line by line.

    A message is printed when there is news, and after 30 seconds without output. News includes
    each kernel that this process or one of its workers compiles.

    Args:
        every: minimum number of seconds between two messages, if no line is redrawn.
        stream: the stream to write to; None for standard error.
        line: the text that is shown until the first call of `update`.
        draws: whether to redraw a line if the stream is a terminal.
        clock: returns the time in seconds.
    """

    def __init__(
        self,
        every: float = 0.0,
        stream: TextIO | None = None,
        *,
        line: str = "starting",
        draws: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._every, self._told = every, -math.inf
        self._line: Callable[[], str] = lambda: line
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._started = self._last = clock()
        self._begun: dict[str, float] = {}  # kernels that are compiled now
        self._compiled: dict[str, float] = {}
        self._writing = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._watching = contextlib.ExitStack()
        self.drawn = draws and self._stream.isatty()

    def __enter__(self) -> Live:
        """Start drawing, and watch what is compiled."""
        self._watching.enter_context(watched(self.compiling))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop drawing, clear the line, and report the compiled kernels."""
        self._watching.close()
        self._ended.set()
        self._thread.join()
        if self.drawn:
            self._show("")
        if self._compiled:
            took = counted(len(self._compiled), "kernel")
            names = ", ".join(sorted(self._compiled))
            self._say(f"compiled {took} in {sum(self._compiled.values()):.0f} s: {names}")

    def _run(self) -> None:
        while not self._ended.wait(_REDRAWN if self.drawn else _LISTENED):
            if self.drawn:
                self._show(cut(self._whole(), get_terminal_size().columns - 1))
            else:
                self.beat()

    def beat(self) -> None:
        """Print the current activity if nothing was printed for 30 seconds."""
        now = self._clock()
        if now - self._last >= _SILENT:
            self._say(f"{self._whole()}, {now - self._started:.0f} s so far")

    def _whole(self) -> str:
        """Return the line with the kernels that are compiled now."""
        now = self._clock()
        kernels = [f"compiling {k} for {now - t:.0f} s" for k, t in [*self._begun.items()]]
        return ", ".join([self._line(), *kernels])

    def _show(self, text: str) -> None:
        with self._writing, contextlib.suppress(OSError, ValueError):  # nobody looks any more
            self._stream.write(f"\r\x1b[K{text}")
            self._stream.flush()

    def _say(self, text: str) -> None:
        """Print a line of its own."""
        self._last = self._clock()
        wiped = "\r\x1b[K" if self.drawn else ""
        with self._writing, contextlib.suppress(OSError, ValueError):
            self._stream.write(f"{wiped}{text}\n")
            self._stream.flush()

    def compiling(self, kernel: str, seconds: float | None) -> None:
        """Record that a kernel begins to be compiled, or that compiling it took `seconds`.

        `seconds` is None when compiling begins.
        """
        if seconds is None:
            if not self._begun and not self._compiled:
                self._say(f"compiling {kernel}{_ONCE}")
            self._begun[kernel] = self._clock()
        else:
            self._begun.pop(kernel, None)
            self._compiled[kernel] = self._compiled.get(kernel, 0.0) + seconds

    def update(self, line: Callable[[], str], worth: bool = True) -> None:
        """Show the text that `line` returns; a terminal calls it again at each redrawing.

        Args:
            line: returns the text.
            worth: whether to print the text as a message, if no line is redrawn and the last
                message is old enough.
        """
        self._line = line
        now = self._clock()
        if worth and not self.drawn and now - self._told >= self._every:
            self._told = now
            self._say(line())
