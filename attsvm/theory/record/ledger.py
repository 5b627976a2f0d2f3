"""The ledger: an append-only record of runs, one JSON event a line, that survives a kill.

Every event has the id of its run and a digest. The digest covers the event and the digest of the
run's previous event. An event that was edited, inserted, removed or moved breaks this chain. The
chain is no signature: a person who computes all digests again can forge a run.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import secrets
import stat
import sys
import time
from pathlib import Path
from types import TracebackType

from attsvm._files import error_text, write_all
from attsvm._types import Entry
from attsvm.errors import LedgerError

SCHEMA = 1
"""Version number of the schema of all events."""

_SYNCED = 1.0
"""Maximum number of seconds between two waits for the disk while events are written."""


class Ledger:
    """An append-only file of events that survives a kill at any time.

    `append` hands each event to the system at once, and waits for the disk at most once a second;
    `close` waits for it as well. If the system can lock files, one ledger at a time holds a file. A
    device or a pipe is written without a lock.

    Raises:
        LedgerError: the file cannot be opened or written, or another run holds it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._run = ""
        self._digest = ""
        self._on_disk = False
        self._synced = -math.inf
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            special = self.path.exists() and not self.path.is_file()
            kind = os.O_WRONLY if special else os.O_RDWR | os.O_CREAT
            kind |= os.O_APPEND | getattr(os, "O_BINARY", 0)  # Windows would write two bytes a line
            self._file = os.open(self.path, kind, 0o644)
        except FileExistsError as error:  # a file stands where the folder should be
            why = NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            raise _unwritable(self.path, why) from error
        except (OSError, ValueError) as error:  # a NUL in the name is a ValueError
            raise _unwritable(self.path, error) from error
        try:
            self._on_disk = stat.S_ISREG(os.fstat(self._file).st_mode)
            if self._on_disk:
                _lock(self._file, self.path)
                size = os.fstat(self._file).st_size
                os.lseek(self._file, max(size - 1, 0), os.SEEK_SET)
                if size and os.read(self._file, 1) != b"\n":
                    write_all(self._file, b"\n")  # an earlier run was killed within a line
        except OSError as error:
            self.close()
            raise _unwritable(self.path, error) from error
        except LedgerError:
            self.close()
            raise

    def append(self, event: str, **fields: object) -> None:
        """Write one event as a whole; the event `run` begins a run.

        Raises:
            LedgerError: the file cannot be written.
        """
        if event == "run":
            self._run, self._digest = secrets.token_hex(8), ""
        written = {"schema": SCHEMA, "event": event, **fields, "run": self._run}
        digest = chained(self._digest, written)
        line = json.dumps({**written, "digest": digest}, allow_nan=False) + "\n"
        try:
            # The system has the line before the next step, so that a killed process loses no event
            # that it has recorded. A power cut may lose the events of the last second.
            write_all(self._file, line.encode())
            if self._on_disk and time.monotonic() - self._synced > _SYNCED:
                os.fsync(self._file)
                self._synced = time.monotonic()
        except OSError as error:
            raise _unwritable(self.path, error) from error
        self._digest = digest

    def close(self) -> None:
        """Wait until all events have reached the disk, and close the file.

        Raises:
            LedgerError: they cannot be written to the disk.
        """
        try:
            if self._on_disk:
                os.fsync(self._file)
        except OSError as error:
            raise _unwritable(self.path, error) from error
        finally:
            os.close(self._file)

    def __enter__(self) -> Ledger:
        """Return the ledger; the context closes it."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self.close()


def _lock(file: int, path: Path) -> None:
    """Lock the file until it is closed, if the system can.

    Raises:
        LedgerError: another run holds it.
    """
    if sys.platform == "win32":
        return
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise LedgerError(
            f"another run is writing to the ledger {path}",
            remedy="Wait until it ends, or name another ledger with --ledger.",
        ) from error
    except OSError:
        return  # the file system has no locks


def chained(before: str, event: Entry) -> str:
    """Return a digest of an event (without its own digest) and of the previous event's digest.

    The previous digest makes the order part of each digest: removing or moving a line changes the
    digest of the line after it.

    Raises:
        ValueError: the event holds a number that JSON does not have.
    """
    text = json.dumps(event, allow_nan=False)
    return hashlib.sha256(f"{before} {text}".encode()).hexdigest()[:16]


def _unwritable(path: Path, error: OSError | ValueError) -> LedgerError:
    return LedgerError(
        f"the ledger {path} cannot be written: {error_text(error)}",
        remedy="Name a place that can be written with --ledger.",
    )
