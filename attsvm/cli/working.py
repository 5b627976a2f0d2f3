"""Progress messages of commands that redraw no line."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from attsvm._live import Live


@contextlib.contextmanager
def working(line: str) -> Iterator[Live]:
    """Print which kernels are compiled, and `line` after every 30 seconds without output.

    This context manager can also decorate a command.

    Args:
        line: the message; `update` of the yielded object changes it.
    """
    with Live(line=line, draws=False) as live:
        yield live
