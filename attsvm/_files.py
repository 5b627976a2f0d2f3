"""Files that are written as a whole or not at all, and files that are read as a whole.

Readers take files up to a limit, and refuse malformed JSON.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import math
import os
import re
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from attsvm.errors import FileError

if TYPE_CHECKING:
    from attsvm._types import Json, JsonObject

_STANDARD = {"/dev/stdout": 1, "/dev/stderr": 2}
"""Open descriptors of this process by their names."""


def write_whole(path: str | os.PathLike[str], write: Callable[[IO[bytes]], object]) -> None:
    """Let `write` write to a binary file, and store the result at `path` as a whole.

    A file is replaced atomically by a new one with its mode, so that nobody ever sees half of it.
    Both the file and its folder must be writable. A symbolic link stays and its target is replaced;
    other hard links keep the old content. Streams are written to directly.

    Raises:
        FileError: the place cannot be written; no part of a file is left behind.
    """
    try:
        if is_stream(path):
            _pour(path, write)
        else:
            _replace(destination(path), write)
    except (OSError, ValueError) as error:
        raise _refusal(path, error) from error


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is standard output or error, a pipe or a character device."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return os.fspath(path) in _STANDARD or stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def destination(path: str | os.PathLike[str]) -> Path:
    """Return the file to which a path leads, behind symbolic links; it need not exist.

    Raises:
        FileError: the place is a folder or a device, or may not be written to.
    """
    try:
        place = Path(os.path.realpath(path))
        if place.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        if place.is_symlink() or (place.exists() and not place.is_file()):
            raise OSError(errno.EINVAL, "it is not a regular file")
        if place.exists() and not os.access(place, os.W_OK):
            raise PermissionError(errno.EACCES, "there is no permission to write to it")
    except (OSError, ValueError) as error:  # a NUL in the name is a ValueError
        raise _refusal(path, error) from error
    return place


def dump(document: Any) -> str:
    """Return indented JSON; its keys keep their order.

    Raises:
        ValueError: the document contains NaN or infinity.
    """
    return json.dumps(document, indent=1, allow_nan=False)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write the whole text, or leave the place as it was.

    Raises:
        FileError: the place cannot be written.
    """
    make_parents(path)
    write_whole(path, lambda file: file.write(text.encode()))


def append_text(path: str | os.PathLike[str], text: str) -> None:
    """Append text to a file.

    Raises:
        FileError: the place cannot be written.
    """
    try:
        with open(path, "ab") as file:
            file.write(text.encode(errors="replace"))
    except (OSError, ValueError) as error:
        raise _refusal(path, error) from error


def write_json(path: str, document: Any) -> None:
    """Write JSON to a file, or to standard output if the path is `-`.

    Raises:
        FileError: the place cannot be written.
    """
    text = dump(document) + "\n"
    if path == "-":
        sys.stdout.write(text)
    else:
        write_text(path, text)


def ensure_writable(folder: Path, option: str) -> None:
    """Raise, before any work is done, if its results could not be written to `folder`.

    Args:
        folder: the folder; it need not exist.
        option: the command-line option that names it, for the message.

    Raises:
        FileError: the folder does not exist and cannot be made, or is not writable.
    """
    why = ""
    for place in (folder, *folder.parents):
        try:
            there = stat.S_ISDIR(place.stat().st_mode)
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:  # a file is on the way, or the path is invalid
            why = error_text(error)
            break
        if not there:
            why = f"{place} is no folder"
        elif not os.access(place, os.W_OK | os.X_OK):
            why = "there is no permission to write to it"
        else:
            try:
                tempfile.TemporaryFile(dir=place).close()
            except OSError as error:  # such as in /proc, which reports every access as allowed
                why = error_text(error)
        break
    if why:
        raise FileError(
            f"cannot write to {folder}: {why}", remedy=f"Name another place with {option}."
        )


def make_parents(path: str | os.PathLike[str]) -> None:
    """Make the parent folders of `path`; on failure, writing there will report the error."""
    with contextlib.suppress(OSError, ValueError):
        Path(path).parent.mkdir(parents=True, exist_ok=True)


def write_all(handle: int, content: bytes | memoryview) -> None:
    """Write to an open descriptor until all is written.

    Raises:
        OSError: the descriptor accepts no more bytes.
    """
    rest = memoryview(content)
    while rest:
        written = os.write(handle, rest)
        if not written:
            raise OSError(errno.EIO, "it accepts no more bytes")
        rest = rest[written:]


def _pour(path: str | os.PathLike[str], write: Callable[[IO[bytes]], object]) -> None:
    """Write the whole content to a stream, after flushing standard output and standard error."""
    content = io.BytesIO()
    write(content)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    number = _STANDARD.get(os.fspath(path))
    handle = os.open(path, os.O_WRONLY) if number is None else os.dup(number)
    try:
        write_all(handle, content.getbuffer())
    finally:
        os.close(handle)


def _replace(place: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Let `write` fill a temporary file beside `place`, then move it there."""
    handle, temporary = tempfile.mkstemp(dir=place.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())  # a crash must not leave the new name with half the content
        mask = os.umask(0)
        os.umask(mask)
        new = 0o666 & ~mask  # as a plain open would have made it
        os.chmod(temporary, place.stat().st_mode & 0o777 if place.exists() else new)
        os.replace(temporary, place)
    except BaseException:  # the disk is full, it was interrupted, or `write` broke
        Path(temporary).unlink(missing_ok=True)
        raise


def error_text(error: OSError | ValueError) -> str:
    """Return the text of a system error, without its number."""
    return str(getattr(error, "strerror", None) or error)


def _refusal(path: str | os.PathLike[str], error: OSError | ValueError) -> FileError:
    return FileError(
        f"cannot write {Path(path)}: {error_text(error)}",
        remedy="Choose a file that can be written, in a folder that exists and can be written.",
    )


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
    """Return the value of a text in strict JSON.

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
    """Return the value of a JSON file of at most `most` bytes.

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
            remedy="Check the path and the file, which may be truncated or of another kind.",
        ) from error
