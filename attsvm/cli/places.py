"""Where results go, told to be unusable before the work and not after it."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from attsvm.cli.arguments import LEDGER
from attsvm.errors import FileError

if TYPE_CHECKING:
    from attsvm.theory.ledger import Ledger

__all__ = ["ensure_file", "ensure_json", "ensure_writable", "keep_from_git", "open_ledger"]


def open_ledger(path: str) -> Ledger:
    """The ledger of that path, in a folder that git ignores where it is one of our own."""
    from attsvm.theory.ledger import Ledger

    ledger = Ledger(path)
    keep_from_git(Path(path))
    return ledger


def keep_from_git(path: Path) -> None:
    """Have git ignore the folder of our own that this was written to."""
    if path.parent == Path(LEDGER).parent:
        ignore = path.parent / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")


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
    """The same for a file that an option names.

    Raises:
        FileError: it cannot be written.
    """
    ensure_writable(Path(path).parent, option)
    if Path(path).is_dir():
        raise FileError(f"cannot write {path}: it is a folder", remedy="Name a file.")


def ensure_json(path: str | None) -> None:
    """The same for what --json names, where that is a file.

    Raises:
        FileError: it cannot be written.
    """
    if path and path != "-":
        ensure_file(path, "--json")
