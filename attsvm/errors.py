"""Every error that attsvm raises on purpose: it names the value, the cause and the remedy."""

import reprlib
from typing import TypeVar

from attsvm._words import printable

__all__ = [
    "AttsvmError",
    "ClaimError",
    "DataError",
    "FileError",
    "LedgerError",
    "OutOfTimeError",
    "ProofError",
    "SolverError",
    "TiedTokensError",
    "UnknownClaimError",
    "UsageError",
    "WorkerError",
    "present",
]

T = TypeVar("T")


class AttsvmError(Exception):
    """The base of all errors of this package; its message is one line.

    Args:
        cause: the problem, as a sentence without a final full stop.
        value: the offending value, shown unchanged (long and nested ones are cut).
        remedy: what the user can do about it.
    """

    def __init__(self, cause: str, *, value: object = None, remedy: str = "") -> None:
        self.cause = cause
        self.value = value
        self.remedy = remedy
        shown = "" if value is None else f" (got {_short(value)})"
        super().__init__(printable(f"{cause}{shown}." + (f" {remedy}" if remedy else "")))

    def __reduce__(self) -> tuple[object, ...]:
        """Return the parts that rebuild the error in another process."""
        return _rebuild, (type(self), self.cause, self.value and _short(self.value), self.remedy)


def _rebuild(kind: type[AttsvmError], cause: str, value: object, remedy: str) -> AttsvmError:
    return kind(cause, value=value, remedy=remedy)


_SHOWN = 120
"""Maximum number of letters of a value that a message shows."""

_BRIEF = reprlib.Repr()
for _kind in ("tuple", "list", "array", "dict", "set", "frozenset", "deque", "string", "other"):
    setattr(_BRIEF, f"max{_kind}", 2 * _SHOWN)
_BRIEF.maxlong = 2 * _SHOWN


def _short(value: object) -> str:
    """Return a text of at most 120 letters for a value, whatever its size and depth."""
    if isinstance(value, str):
        text = value[: 2 * _SHOWN]
    elif isinstance(value, int) and value.bit_length() > 4 * _SHOWN:
        text = f"an integer of {value.bit_length()} bits"  # Python refuses to write very long ones
    else:
        text = _BRIEF.repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


class DataError(AttsvmError):
    """An array has the wrong shape, type or entries."""


class TiedTokensError(DataError):
    """An input has several optimal tokens, but one is needed."""


class FileError(AttsvmError):
    """A file cannot be read or written, or has the wrong content."""


class SolverError(AttsvmError):
    """No answer with a proof was reached."""


class OutOfTimeError(SolverError):
    """The time limit ended before there was an answer with a proof."""


class ClaimError(AttsvmError):
    """A claim is written in a way that cannot be checked."""


class NotExpressible(ClaimError):
    """A formula has no form for Coq or for the checker; the cause is the part that has none."""


class ProofError(AttsvmError):
    """A step of a proof is false, or is not decided."""


class UnknownClaimError(ClaimError):
    """No claim has that id."""


class LedgerError(FileError):
    """A ledger cannot be written or read."""


class UsageError(AttsvmError):
    """Arguments do not fit together, or need an optional library that is not installed."""


class WorkerError(AttsvmError):
    """Workers cannot be reached, run other code than this process, or died."""


def present(value: T | None, what: str) -> T:
    """Return a value that must not be None.

    Args:
        value: a value whose type includes None.
        what: its name in the message, such as "the labels y".

    Raises:
        AttsvmError: it is None.
    """
    if value is None:
        raise AttsvmError(f"{what} cannot be None here")
    return value
