"""What commands that draw no line say while they work."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from attsvm._live import Live


@contextlib.contextmanager
def working(line: str) -> Iterator[Live]:
    """Say what is compiled, and every 30 seconds what is done; also decorates a command.

    Args:
        line: what is done; `update` changes it.
    """
    with Live(line=line, draws=False) as live:
        yield live
