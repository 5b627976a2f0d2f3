"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from attsvm.errors import FileError

__all__ = ["write_whole"]


def write_whole(path: str | os.PathLike[str], write: Callable[[IO[bytes]], object]) -> None:
    """Let `write` fill a temporary file beside `path`, then move it there.

    Raises:
        FileError: the place cannot be written; nothing is left behind.
    """
    target = Path(path)
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, suffix=".part")
        with os.fdopen(handle, "wb") as file:
            write(file)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)  # as a plain open would have made it
        os.replace(temporary, target)
    except (OSError, ValueError) as error:  # a NUL in the name is a ValueError
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise FileError(
            f"cannot write {target}: {getattr(error, 'strerror', None) or error}",
            remedy="Choose a folder that exists and can be written.",
        ) from error
    except BaseException:  # interrupted, or `write` broke
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise
