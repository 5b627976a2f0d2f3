"""Reading files whole up to a limit, and JSON from anyone: what is malformed is refused."""

from __future__ import annotations

import json
import math
import os
import re
from pathlib import Path
from typing import Any

from attsvm._types import JsonObject
from attsvm.errors import FileError

_LARGEST = 1 << 26
_AT_ONCE = 1 << 20
_HALF_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")


def finite(value: float | None) -> float | None:
    """The value where JSON can hold it."""
    return value if value is not None and math.isfinite(value) else None


def parse(raw: bytes) -> Any:
    """What a text says in JSON, and in nothing that goes beyond JSON.

    Raises:
        ValueError: it is not UTF-8, or no JSON: it is nested too deeply, says a key of an object
            twice, or holds a number that no float can hold or half of a pair of code units.
    """
    try:
        document = json.loads(
            raw.decode(),
            object_pairs_hook=_object,
            parse_float=_float,
            parse_constant=_float,
        )
        if _HALF_PAIR.search(raw):  # as a pair they are one letter, alone they cannot be written
            json.dumps(document, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return document


def _object(pairs: list[tuple[str, Any]]) -> JsonObject:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("an object says a key twice")
    return made


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"no float can hold the number {text[:40]}")
    return value


def read_whole(path: Path, most: int) -> bytes:
    """The bytes of a file, which may be a pipe or a device, if there are not too many.

    Raises:
        OSError: it cannot be read.
        ValueError: there are more, or the path is none.
    """
    content = bytearray()
    with path.open("rb") as file:
        while some := file.read(_AT_ONCE):
            content += some
            if len(content) > most:
                raise ValueError(f"it is larger than {most >> 20} MiB")
    return bytes(content)


def read_json(path: str | os.PathLike[str]) -> Any:
    """Parse a JSON file.

    Raises:
        FileError: missing, too large, not text, or not JSON.
    """
    source = Path(path)
    try:
        return parse(read_whole(source, _LARGEST))
    except FileNotFoundError as error:
        raise FileError(f"there is no file {source}", remedy="Check the path.") from error
    except (OSError, ValueError) as error:
        raise FileError(
            f"{source} is not a readable JSON file ({type(error).__name__}: {error})",
            remedy="It may be truncated or of another kind.",
        ) from error
