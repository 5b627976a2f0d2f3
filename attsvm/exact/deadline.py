"""Time limits of computations, checked between their steps."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

from attsvm.errors import OutOfTimeError


@dataclass(frozen=True, slots=True)
class Deadline:
    """A budget of processor time and of wall-clock time; one of them may be infinite.

    Processor time counts all threads of this process. It does not depend on other processes, so
    that a busy machine changes no result. Functions take `Deadline | None`; None sets no limit.

    Attributes:
        seconds: the processor seconds; infinite if only wall-clock time counts.
        start: the start on the process clock.
        wall: the seconds on the monotonic clock; infinite if only processor time counts.
        wall_start: the start on the monotonic clock.
    """

    seconds: float
    start: float
    wall: float
    wall_start: float

    @classmethod
    def after(cls, seconds: float = math.inf, wall: float = math.inf) -> Deadline:
        """Return a deadline with these budgets, in seconds, that begin now."""
        return cls(seconds, time.process_time(), wall, time.monotonic())

    @property
    def left(self) -> float:
        """Seconds left of the scarcer budget; negative after its end."""
        used, passed = time.process_time() - self.start, time.monotonic() - self.wall_start
        return min(self.seconds - used, self.wall - passed)

    @property
    def words(self) -> str:
        """The budget that ends first, such as `30 s of wall time`."""
        used, passed = time.process_time() - self.start, time.monotonic() - self.wall_start
        if self.wall - passed < self.seconds - used:
            return f"{self.wall:g} s of wall time"
        return f"{self.seconds:g} s"

    def part(self, share: float) -> Deadline:
        """Return the deadline at which this share of the remaining time has passed."""
        values = max(share * self.left, 0.0)
        now = time.process_time() - self.start, time.monotonic() - self.wall_start
        ends = min(self.seconds, now[0] + values), min(self.wall, now[1] + values)
        return replace(self, seconds=ends[0], wall=self.wall if self.wall == math.inf else ends[1])

    def ensure(self, needed: float = 0.0) -> None:
        """Raise unless the next step, which takes about `needed` seconds, fits.

        Raises:
            OutOfTimeError: it does not fit.
        """
        if not self.left > needed:
            raise OutOfTimeError(
                "the time limit ended before the rational arithmetic did",
                value=self.words,
                remedy="Give more seconds.",
            )


def is_over(deadline: Deadline | None) -> bool:
    """Return whether there is a deadline and it has passed."""
    return deadline is not None and not deadline.left > 0.0


def rounds(deadline: Deadline | None, most: int) -> Iterable[object]:
    """Return the rounds of a search: `most` without a deadline, any number with one."""
    return range(most) if deadline is None else itertools.repeat(None)
