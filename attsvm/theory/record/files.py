"""Writing whole files or none, and reading JSON that may be anything."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

from attsvm._files import dump, write_json, write_text
from attsvm.errors import FileError

__all__ = ["dump", "finite", "read_json", "write_json", "write_text"]

_LARGEST = 1 << 26


def finite(value: float | None) -> float | None:
    """The value where JSON can hold it."""
    return value if value is not None and math.isfinite(value) else None


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
