"""How a hunt is going, on standard error."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from attsvm._words import counted

if TYPE_CHECKING:
    from rich.text import Text

    from attsvm.theory.account import Hunt

__all__ = ["Watch", "describe"]

_QUIET = 10.0
"""Seconds between lines where standard error is no terminal."""


def describe(account: Hunt, elapsed: float, seconds: float | None) -> str:
    """One line: rounds, instances, instances per second, the closest so far, seconds left."""
    words = [
        f"{account.claim.id}{account.part and ' '}{account.part}: round {account.rounds}",
        counted(account.examples, "instance"),
        f"{account.examples / max(elapsed, 1e-3):.3g}/s",
    ]
    if account.smallest is not None:
        words.append("refuted, making it smaller and worse")
    elif account.tightness is not None:
        words.append(f"closest {account.tightness:.6g} of 1")
    elif account.min_slack is not None:
        words.append(f"closest slack {account.min_slack:.6g}")
    if seconds is not None:
        words.append(f"{max(seconds - elapsed, 0.0):.0f} s left")
    return ", ".join(words)


class Watch:
    """A line that is redrawn on a terminal; elsewhere a line now and then.

    Args:
        seconds: how long the hunt may take; None where it has no limit.
    """

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._account: Hunt | None = None
        self._started, self._told = time.monotonic(), -math.inf
        self._stack = contextlib.ExitStack()
        self._terminal = sys.stderr.isatty()

    def __enter__(self) -> Watch:
        """Start the clock."""
        self._started = time.monotonic()
        if self._terminal:
            from rich.console import Console
            from rich.live import Live

            console = Console(file=sys.stderr, highlight=False)
            self._stack.enter_context(
                Live(console=console, get_renderable=self._line, transient=True)
            )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop drawing."""
        self._stack.close()

    def update(self, account: Hunt) -> None:
        """Show how it stands."""
        self._account = account
        now = time.monotonic()
        if not self._terminal and now - self._told >= _QUIET:
            self._told = now
            print(self._line(), file=sys.stderr, flush=True)

    def _line(self) -> Text:
        from rich.text import Text

        elapsed = time.monotonic() - self._started
        if self._account is None:
            return Text("starting")
        return Text(describe(self._account, elapsed, self._seconds))
