"""The ledger: an append-only record of runs, one JSON event a line, that survives a kill."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from attsvm.errors import LedgerError

__all__ = ["Ledger", "Run", "last_run", "read_events"]

SCHEMA = 1


class Ledger:
    """Appends events; each is on disk before the call returns.

    Raises:
        LedgerError: the file cannot be opened or written.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
            size = os.fstat(self._file).st_size
            if size and os.pread(self._file, 1, size - 1) != b"\n":
                os.write(self._file, b"\n")  # an earlier run was killed within a line
        except OSError as error:
            raise _unwritable(self.path, error) from error

    def append(self, event: str, **fields: Any) -> None:
        """Write one event, whole, and wait for the disk."""
        line = json.dumps({"schema": SCHEMA, "event": event, **fields}, allow_nan=False) + "\n"
        try:
            os.write(self._file, line.encode())
            os.fsync(self._file)
        except OSError as error:
            raise _unwritable(self.path, error) from error

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def __enter__(self) -> Ledger:
        """Use as a context."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self.close()


def _unwritable(path: Path, error: OSError) -> LedgerError:
    return LedgerError(
        f"the ledger {path} cannot be written: {error.strerror or error}",
        remedy="Name a place that can be written with --ledger.",
    )


def read_events(path: str | os.PathLike[str]) -> list[dict[str, Any] | None]:
    """All events in order; None stands for a line that a kill left damaged.

    Raises:
        LedgerError: missing or unreadable, or not a ledger at all.
    """
    source = Path(path)
    try:
        lines = source.read_bytes().split(b"\n")
    except OSError as error:
        raise LedgerError(
            f"the ledger {source} cannot be read: {error.strerror or error}",
            remedy="`attsvm verify` writes one.",
        ) from error
    events: list[dict[str, Any] | None] = []
    for line in lines:
        if not line.strip():
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            event = None
        good = isinstance(event, dict) and event.get("schema") == SCHEMA and "event" in event
        events.append(event if good else None)
    if not any(events):
        raise LedgerError(f"{source} holds no event of a ledger", remedy="Is it the right file?")
    return events


@dataclass(frozen=True, slots=True)
class Run:
    """The last run in a ledger.

    Attributes:
        profile, seed: as started.
        claims: the ids that it set out to check.
        verdicts: the recorded verdicts by id, in the form of `verify --json`.
        finished: whether it came to its end.
        damaged: lines within it that could not be read.
        curated: the files of curated counterexamples that it set out to replay.
        replays: what that came to by file, in the form of `verify --json`.
    """

    profile: str
    seed: int
    claims: tuple[str, ...]
    verdicts: dict[str, dict[str, Any]]
    finished: bool
    damaged: int
    curated: tuple[str, ...] = ()
    replays: dict[str, dict[str, Any]] = field(default_factory=dict)


def last_run(path: str | os.PathLike[str]) -> Run:
    """The last run of a ledger.

    Raises:
        LedgerError: unreadable, or no run was started in it.
    """
    events = read_events(path)
    starts = [k for k, e in enumerate(events) if e is not None and e["event"] == "run"]
    if not starts:
        raise LedgerError(f"{path} records no run", remedy="`attsvm verify` writes one.")
    tail = events[starts[-1] :]
    head = tail[0]
    assert head is not None
    try:
        verdicts = [_shaped(e["verdict"]) for e in tail if e and e["event"] == "verdict"]
        replays = [e["replay"] for e in tail if e and e["event"] == "replay"]
        return Run(
            profile=head["profile"],
            seed=head["seed"],
            claims=tuple(map(str, head["claims"])),
            verdicts={v["id"]: v for v in verdicts},
            finished=any(e is not None and e["event"] == "finished" for e in tail),
            damaged=sum(e is None for e in tail),
            curated=tuple(map(str, head.get("curated", []))),
            replays={str(r["file"]): {**r, "result": r["result"]} for r in replays},
        )
    except (KeyError, TypeError) as error:
        raise LedgerError(f"{path} has an event that lacks {error}") from error


def _shaped(verdict: Any) -> dict[str, Any]:
    """A recorded verdict in the form that the gate reads.

    Raises:
        TypeError: it is of another form.
    """
    if (
        not isinstance(verdict, dict)
        or not isinstance(verdict["id"], str)
        or not isinstance(verdict["siblings"], list)
        or not all(isinstance(s, dict) for s in verdict["siblings"])
    ):
        raise TypeError("the form of a verdict")
    return verdict
