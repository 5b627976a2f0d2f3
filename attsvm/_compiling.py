"""Notifications when a kernel begins and ends to be compiled, for progress messages."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar

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
