"""News of kernels that are compiled: which ones, and for how long."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar

Watcher = Callable[[str, float | None], None]
"""Called with a kernel's name and None when compiling begins, with the seconds when it ends."""

_watcher: ContextVar[Watcher | None] = ContextVar("_watcher", default=None)


def watcher() -> Watcher | None:
    """Return who watches in this thread, None where nobody does."""
    return _watcher.get()


@contextlib.contextmanager
def watched(tell: Watcher) -> Iterator[None]:
    """Call `tell` whenever this thread begins or ends to compile a kernel."""
    token = _watcher.set(tell)
    try:
        yield
    finally:
        _watcher.reset(token)


@contextlib.contextmanager
def compiling(name: str) -> Iterator[None]:
    """Tell who watches that a kernel is compiled within this context."""
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
