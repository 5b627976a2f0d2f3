"""Checks of output files and folders before any work is done."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from attsvm._files import destination, ensure_writable, is_stream, write_whole
from attsvm.cli.arguments import LEDGER
from attsvm.errors import UsageError

if TYPE_CHECKING:
    from attsvm.theory.packs.packs import Pack
    from attsvm.theory.record.ledger import Ledger


def open_ledger(path: str) -> Ledger:
    """Return the ledger at a path; the folder `.attsvm` gets a .gitignore."""
    from attsvm.theory.record.ledger import Ledger

    ledger = Ledger(path)
    keep_from_git(Path(path))
    return ledger


def finds_beside(ledger: str, packs: Iterable[Pack] = ()) -> Path:
    """Return the folder for the counterexamples of a run: beside its ledger if that is a file.

    It is never a folder of curated counterexamples of these packs: the next run would replay them.
    """
    folder = Path(LEDGER if is_stream(ledger) else ledger).parent / "counterexamples"
    curated = any(folder.resolve() in pack.curated for pack in packs)
    return folder.with_name("finds") if curated else folder


def keep_from_git(path: Path) -> None:
    """Write a .gitignore beside `path` if that is in the folder `.attsvm`."""
    if path.parent == Path(LEDGER).parent:
        ignore = path.parent / ".gitignore"
        if not ignore.exists():
            write_whole(ignore, lambda file: file.write(b"*\n"))


def ensure_file(path: str, option: str) -> None:
    """Raise before the work if the file of an option cannot be written; streams are not checked.

    Raises:
        FileError: it cannot be written.
    """
    if not is_stream(path):
        ensure_writable(destination(path).parent, option)


def ensure_apart(**places: str | Path | None) -> None:
    """Raise before the work if two options name one file: one output would overwrite the other.

    Args:
        places: by the names of options; `-` is standard output.

    Raises:
        UsageError: two of them lead to the same file.
    """
    results: dict[object, str] = {}
    for option, path in places.items():
        if path is None or path == "-":
            continue
        try:
            there = os.stat(path)
            own: object = (there.st_dev, there.st_ino)
            if not stat.S_ISREG(there.st_mode):
                continue
        except (
            OSError,
            ValueError,
        ):  # it does not exist yet; another check reports if it cannot be made
            own = os.path.abspath(path)
        if results.setdefault(own, option) != option:
            raise UsageError(
                f"--{option} and --{results[own]} name one file",
                value=str(path),
                remedy="Name another file: one of the two would be overwritten.",
            )


def ensure_json(path: str | None) -> None:
    """Raise before the work if the file of --json, if any, cannot be written.

    Raises:
        FileError: it cannot be written.
    """
    if path and path != "-":
        ensure_file(path, "--json")
