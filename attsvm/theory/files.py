"""Writing whole files or none, and reading JSON that may be anything."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from attsvm._files import make_parents, write_whole
from attsvm.errors import FileError

__all__ = ["dump", "read_json", "write_json", "write_text"]

_LARGEST = 1 << 26


def dump(document: Any) -> str:
    """JSON with sorted keys off, indented, and no NaN or infinity."""
    return json.dumps(document, indent=1, allow_nan=False)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write the whole text, or leave the place as it was.

    Raises:
        FileError: the place cannot be written.
    """
    make_parents(path)
    write_whole(path, lambda file: file.write(text.encode()))


def write_json(path: str, document: Any) -> None:
    """Write JSON to a file, or to standard output where the path is `-`.

    Raises:
        FileError: the place cannot be written.
    """
    text = dump(document) + "\n"
    if path == "-":
        sys.stdout.write(text)
    else:
        write_text(path, text)


def read_json(path: str | os.PathLike[str]) -> Any:
    """Parse a JSON file.

    Raises:
        FileError: missing, too large, not text, or not JSON.
    """
    source = Path(path)
    try:
        if source.stat().st_size > _LARGEST:
            raise FileError(f"{source} is larger than 64 MiB", remedy="Is it the right file?")
        return json.loads(source.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise FileError(f"there is no file {source}", remedy="Check the path.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise FileError(
            f"{source} is not a readable JSON file ({type(error).__name__}: {error})",
            remedy="It may be truncated or of another kind.",
        ) from error
