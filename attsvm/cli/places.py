"""Where results go, told to be unusable before the work and not after it."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from attsvm._files import landing, write_whole
from attsvm.cli.arguments import LEDGER
from attsvm.errors import FileError

if TYPE_CHECKING:
    from attsvm.theory.record.ledger import Ledger


def open_ledger(path: str) -> Ledger:
    """The ledger of that path, in a folder that git ignores where it is one of our own."""
    from attsvm.theory.record.ledger import Ledger

    ledger = Ledger(path)
    keep_from_git(Path(path))
    return ledger


def finds_beside(ledger: str) -> Path:
    """Where the finds of a run go: beside its ledger, or to our own folder where it is no file.

    Raises:
        FileError: the ledger cannot be written.
    """
    place, there = landing(ledger)
    file = isinstance(place, Path) and (there is None or stat.S_ISREG(there.st_mode))
    return Path(ledger if file else LEDGER).parent / "counterexamples"


def keep_from_git(path: Path) -> None:
    """Have git ignore the folder of our own that this was written to."""
    if path.parent == Path(LEDGER).parent:
        ignore = path.parent / ".gitignore"
        if not ignore.exists():
            write_whole(ignore, lambda file: file.write(b"*\n"))


def ensure_writable(folder: Path, option: str) -> None:
    """Tell before the work, not after it, that its results cannot be written.

    Raises:
        FileError: the folder is not there and cannot be made, or cannot be written to.
    """
    why = ""
    for place in (folder, *folder.parents):
        try:
            there = stat.S_ISDIR(place.stat().st_mode)
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:  # a file on the way, or no name at all
            why = getattr(error, "strerror", None) or str(error)
            break
        if not there:
            why = f"{place} is no folder"
        elif not os.access(place, os.W_OK | os.X_OK):
            why = "it may not be written to"
        break
    if why:
        raise FileError(
            f"cannot write into {folder}: {why}", remedy=f"Name another place with {option}."
        )


def ensure_file(path: str, option: str) -> None:
    """The same for a file, pipe or device that an option names.

    Raises:
        FileError: it cannot be written.
    """
    place, there = landing(path)
    if isinstance(place, Path) and (there is None or stat.S_ISREG(there.st_mode)):
        ensure_writable(place.parent, option)


def ensure_json(path: str | None) -> None:
    """The same for what --json names, where that is a file.

    Raises:
        FileError: it cannot be written.
    """
    if path and path != "-":
        ensure_file(path, "--json")
