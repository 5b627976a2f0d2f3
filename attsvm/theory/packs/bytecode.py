"""Loaders of claim packs that use bytecode only if it was compiled from the file's present text.

By default, Python accepts bytecode if the file has the size and the time, to a second, that it had
when it was compiled. An edit within a second can therefore go unnoticed. These loaders accept
bytecode only if it holds the hash of the file's text (PEP 552). Python can read such bytecode too.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
)
from pathlib import Path
from types import CodeType
from typing import Any

from attsvm import sources
from attsvm._types import Entry
from attsvm.theory.packs.code_bases import is_installed

_HEADER = 16
"""Bytes before the code in a bytecode file: magic number, flags, and time and size, or a hash."""

_CHECKED = (3).to_bytes(4, "little")
"""Flags of bytecode that holds the hash of its text, for comparison."""


class Hashed(SourceFileLoader):
    """A loader of modules from their text, or from bytecode that holds the hash of the text."""

    _hash = b""

    def get_data(self, path: str) -> bytes:
        """Return the content of a file.

        Raises:
            OSError: the file cannot be read, or is bytecode that holds a time in place of a hash.
        """
        content = super().get_data(path)
        if path.endswith(".pyc") and content[4:8] != _CHECKED:
            raise OSError("it holds no hash of its text")
        return content

    def source_to_code(  # type: ignore[override]  # the stubs know the static one above it
        self, data: Any, path: Any, **options: Any
    ) -> CodeType:
        """Compile a text, and keep its hash for the bytecode."""
        self._hash = importlib.util.source_hash(data) if isinstance(data, bytes) else b""
        return super().source_to_code(data, path, **options)

    def set_data(self, path: str, data: Any, **options: Any) -> None:
        """Write bytecode with the hash of its text."""
        if path.endswith(".pyc"):
            data = bytes(data[:4]) + _CHECKED + self._hash + bytes(data[_HEADER:])
        super().set_data(path, data, **options)


class Uncached(SourceFileLoader):
    """A loader of modules from their text, which writes no bytecode."""

    def path_stats(self, path: str) -> Entry:
        """Refuse to describe the file, so that Python neither reads nor writes bytecode.

        Raises:
            OSError: always.
        """
        raise OSError


def _finder(folder: str) -> FileFinder:
    """Return the finder of modules in a folder without installed distributions.

    Raises:
        ImportError: the place is no such folder.
    """
    place = Path(os.path.abspath(folder))
    if not place.is_dir() or is_installed(place) or sources.holds(place):
        raise ImportError("it is no folder of claim packs", path=folder)
    return FileFinder(folder, (ExtensionFileLoader, EXTENSION_SUFFIXES), (Hashed, [".py"]))


def hold_to_texts() -> None:
    """Load modules that are not installed by `Hashed` from now on."""
    if _finder not in sys.path_hooks:
        sys.path_hooks.insert(0, _finder)
        for folder, finder in list(sys.path_importer_cache.items()):
            if isinstance(finder, FileFinder) and not is_installed(Path(os.path.abspath(folder))):
                del sys.path_importer_cache[folder]
