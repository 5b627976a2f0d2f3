"""Jobs for workers: functions of strings that return a string, of known conduct."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from attsvm._compiling import compiling
from attsvm._threads import SINGLE
from attsvm.errors import DataError, UnknownClaimError


def echo(*words: str) -> str:
    return " ".join(words)


def process(*_: str) -> str:
    return str(os.getpid())


def compiles(kernel: str) -> str:
    with compiling(kernel):
        return kernel


def sleep(seconds: str) -> str:
    time.sleep(float(seconds))
    return seconds


def tell_and_sleep(seconds: str) -> str:
    print(os.getpid(), flush=True)
    return sleep(seconds)


def die(*markers: str) -> str:
    """Die, and leave a line in these files each time."""
    for marker in markers:
        with Path(marker).open("a", encoding="utf-8") as file:
            file.write("died\n")
    os.kill(os.getpid(), signal.SIGKILL)
    return "survived"


def die_once(marker: str) -> str:
    """Die of it the first time."""
    if not Path(marker).exists():
        die(marker)
    return "done at last"


def shrug_off_interrupt(*_: str) -> str:
    os.kill(os.getpid(), signal.SIGINT)
    return "went on"


def threads(*_: str) -> str:
    return " ".join(os.environ.get(name, "") for name in SINGLE)


def refuse(*_: str) -> str:
    raise DataError("no", value="x", remedy="Try y.")


class UnportableError(Exception):
    """Cannot be rebuilt from its arguments."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} and {other}")


def puzzle(*_: str) -> str:
    raise UnportableError("this", "that")


class FarOffError(UnknownClaimError):
    """A kind of our error that is known here alone."""


class MuteError(Exception):
    """Cannot say why."""

    def __str__(self) -> str:
        raise ValueError("no words")


def raise_far_off(*_: str) -> str:
    raise FarOffError("no such thing", value=[1, 2], remedy="Look nearer.")


def raise_mute(*_: str) -> str:
    raise MuteError


def raise_on_unpickling(*_: str) -> str:
    """An error of somebody's with a value that would be called to be rebuilt."""
    raise ValueError(Trap())


class Trap:
    """Becomes something else where it is rebuilt."""

    def __reduce__(self) -> tuple[object, ...]:
        return os.getcwd, ()

    def __repr__(self) -> str:
        return "a trap"


def exit_at_once(*_: str) -> str:
    raise SystemExit(3)


def busy(*_: str) -> str:
    """Work a while; when that was."""
    begun = time.monotonic()
    time.sleep(0.05)
    return f"{begun} {time.monotonic()}"
