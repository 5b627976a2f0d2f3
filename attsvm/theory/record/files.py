"""Readers of whole files up to a limit, and of untrusted JSON, which refuse malformed input."""

from __future__ import annotations

import json
import math
import os
import re
from pathlib import Path
from typing import Any

from attsvm._types import Json, JsonObject
from attsvm.errors import FileError

LARGEST = 1 << 26
"""Maximum size of a JSON file, in bytes."""

_AT_ONCE = 1 << 20
"""Bytes that are read at a time."""

_HALF_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")
"""Escape of one half of a pair of UTF-16 code units."""


def finite(value: float | None) -> float | None:
    """Return the value if JSON can hold it, else None."""
    return value if value is not None and math.isfinite(value) else None


def parse(raw: bytes) -> Any:
    """Return the document of a text in strict JSON.

    Raises:
        ValueError: the text is not UTF-8 or not JSON. The document is nested too deeply, repeats
            a key of an object, or holds a number that no float can hold or a lone surrogate.
    """
    try:
        document = json.loads(
            raw.decode(),
            object_pairs_hook=_object,
            parse_float=_float,
            parse_constant=_float,
        )
        if _HALF_PAIR.search(raw):  # a pair is one letter; half of a pair cannot be encoded
            json.dumps(document, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return document


def _object(pairs: list[tuple[str, Json]]) -> JsonObject:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("an object has a key twice")
    return made


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"no float can hold the number {text[:40]}")
    return value


def read_whole(path: Path, most: int) -> bytes:
    """Return the bytes of a file, pipe or device, at most `most` of them.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is larger, or the path is invalid.
    """
    content = bytearray()
    with path.open("rb") as file:
        while some := file.read(_AT_ONCE):
            content += some
            if len(content) > most:
                raise ValueError(f"it is larger than {most >> 20} MiB")
    return bytes(content)


def read_json(path: str | os.PathLike[str], most: int = LARGEST) -> Any:
    """Return the document of a JSON file of at most `most` bytes.

    Raises:
        FileError: the file is missing, too large, not text, or not JSON.
    """
    source = Path(path)
    try:
        return parse(read_whole(source, most))
    except FileNotFoundError as error:
        raise FileError(f"there is no file {source}", remedy="Check the path.") from error
    except (OSError, ValueError) as error:
        raise FileError(
            f"{source} is not a readable JSON file ({type(error).__name__}: {error})",
            remedy="It may be truncated or of another kind.",
        ) from error
