"""Contents of parsed files, kept in a file between runs: parsing all modules takes seconds.

An entry is found by a hash of all bytes of a file, so an edited file has no entry. All entries are
dropped if Python or the code that parses differs, or if the file is damaged. The gate does not read
the file: it parses every module anew.
"""

import contextlib
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from attsvm._files import parse, read_whole, write_whole
from attsvm.errors import FileError
from attsvm.theory.packs import code_digests
from attsvm.theory.packs.code_digests import CONTENTS, Content

_LARGEST = 1 << 26
"""Maximum number of bytes of the file."""

_MOST = 4096
"""Maximum number of contents that are kept; older ones are dropped first."""


def file_beside(ledger: Path) -> Path:
    """Return the file for the runs of a ledger; it is hidden, so no pack takes it for data."""
    return ledger.with_name(f".{ledger.name}.modules")


@contextlib.contextmanager
def kept_contents(path: Path) -> Iterator[None]:
    """Read contents from a file first, and store them with those of newly parsed files at the end.

    A file that cannot be read or written is no error: every content can be parsed anew.
    """
    earlier = read_contents(path)
    for key, content in earlier.items():
        CONTENTS.setdefault(key, content)
    yield
    if CONTENTS.keys() - earlier.keys():
        with contextlib.suppress(FileError):
            write_whole(path, lambda file: file.write(_written({**earlier, **CONTENTS})))


def read_contents(path: Path) -> dict[str, Content]:
    """Return the contents in a file; empty if it is missing, damaged or of another `_parser`."""
    try:
        checksum, _, body = read_whole(path, _LARGEST).partition(b"\n")
        if checksum != _checksum(body):
            return {}
        document = parse(body)
        if document["parser"] != _parser():
            return {}
        return {
            key: Content(digest, frozenset(map(tuple, imported)), frozenset(texts), asserts)
            for key, (digest, imported, texts, asserts) in document["contents"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _written(contents: Mapping[str, Content]) -> bytes:
    """Return the bytes of a file with the last of these contents."""
    entries = {
        key: [c.digest, sorted(map(list, c.imported)), sorted(c.texts), c.asserts]
        for key, c in list(contents.items())[-_MOST:]
        if not any("\ud800" <= letter <= "\udfff" for text in c.texts for letter in text)
    }
    body = json.dumps({"parser": _parser(), "contents": entries}).encode()
    return _checksum(body) + b"\n" + body


def _checksum(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()


def _parser() -> str:
    """Return the version of Python, and a hash of the parsing code.

    Raises:
        OSError: the code cannot be read.
    """
    own = Path(code_digests.__file__).read_bytes()
    return f"{sys.version} {hashlib.sha256(own).hexdigest()}"
