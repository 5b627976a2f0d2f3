"""Jobs for tests of workers: functions of strings that return a string or fail in a known way."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from attsvm._live import compiling
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
    """Append a line to each of these files, and kill this process."""
    for marker in markers:
        with Path(marker).open("a", encoding="utf-8") as file:
            file.write("died\n")
    os.kill(os.getpid(), signal.SIGKILL)
    return "survived"


def die_once(marker: str) -> str:
    """Kill this process at the first call, when the file does not exist."""
    if not Path(marker).exists():
        die(marker)
    return "done at last"


def leave_then_die(marker: str) -> str:
    """End this process with exit code 0 at the first call, and by a signal at later ones."""
    if Path(marker).exists():
        return die(marker)
    Path(marker).write_text("left\n", encoding="utf-8")
    os._exit(0)


def shrug_off_interrupt(*_: str) -> str:
    os.kill(os.getpid(), signal.SIGINT)
    return "went on"


def threads(*_: str) -> str:
    return " ".join(os.environ.get(name, "") for name in SINGLE)


def refuse(*_: str) -> str:
    raise DataError("no", value="x", remedy="Try y.")


class UnportableError(Exception):
    """An error that pickle cannot rebuild from its arguments."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} and {other}")


def puzzle(*_: str) -> str:
    raise UnportableError("this", "that")


class FarOffError(UnknownClaimError):
    """A kind of attsvm's errors that only this module defines."""


class MuteError(Exception):
    """An error whose text cannot be made."""

    def __str__(self) -> str:
        raise ValueError("no words")


def raise_far_off(*_: str) -> str:
    raise FarOffError("no such thing", value=[1, 2], remedy="Look nearer.")


def raise_mute(*_: str) -> str:
    raise MuteError


def raise_on_unpickling(*_: str) -> str:
    """Raise an error whose value runs a function when it is unpickled."""
    raise ValueError(Trap())


class Trap:
    """An object that becomes a string when it is unpickled."""

    def __reduce__(self) -> tuple[object, ...]:
        return os.getcwd, ()

    def __repr__(self) -> str:
        return "a trap"


def exit_at_once(*_: str) -> str:
    raise SystemExit(3)


def busy(*_: str) -> str:
    """Work for 0.05 s; return the times of the start and the end."""
    begun = time.monotonic()
    time.sleep(0.05)
    return f"{begun} {time.monotonic()}"
