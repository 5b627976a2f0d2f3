"""The time that a caller gives to a computation, asked for between its steps."""

from __future__ import annotations

import time
from dataclasses import dataclass

from attsvm.errors import OutOfTimeError


@dataclass(frozen=True, slots=True)
class Deadline:
    """So many seconds from a start on the monotonic clock.

    Functions take `Deadline | None`; None means that they end by themselves, however long that
    takes, so that what they decide never depends on the machine.
    """

    seconds: float
    start: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """A deadline so many seconds from now."""
        return cls(seconds, time.monotonic())

    @property
    def left(self) -> float:
        """The seconds that are left; negative once it has passed."""
        return self.seconds - (time.monotonic() - self.start)

    def ensure(self, needed: float = 0.0) -> None:
        """Do nothing where the next step, which takes about `needed` seconds, fits.

        Raises:
            OutOfTimeError: it does not.
        """
        if not self.left > needed:
            raise OutOfTimeError(
                "the time given ended before the rational arithmetic did",
                value=f"{self.seconds:g} s",
                remedy="Give more seconds.",
            )
