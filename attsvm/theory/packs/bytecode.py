"""Claim packs are loaded from bytecode only if it was compiled from the text that the file has now.

By default Python takes bytecode for current if the file has the size and the time, to a second,
that it had when it was compiled. Here bytecode of a pack counts only if it holds the hash of the
file's text (PEP 552); Python itself can read such bytecode too.
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
"""Bytes of bytecode before the code: a magic number, flags, and time and size, or a hash."""

_CHECKED = (3).to_bytes(4, "little")
"""The flags of bytecode that holds the hash of its text, which is to be compared."""


class Hashed(SourceFileLoader):
    """Loads a module from its text, or from bytecode that holds the hash of its text."""

    _hash = b""

    def get_data(self, path: str) -> bytes:
        """The content of a file.

        Raises:
            OSError: it cannot be read, or is bytecode that is held against a time.
        """
        content = super().get_data(path)
        if path.endswith(".pyc") and content[4:8] != _CHECKED:
            raise OSError("it holds no hash of its text")
        return content

    def source_to_code(  # type: ignore[override]  # the stubs know the static one above it
        self, data: Any, path: Any, **options: Any
    ) -> CodeType:
        """Compile a text, whose hash is kept for the bytecode."""
        self._hash = importlib.util.source_hash(data) if isinstance(data, bytes) else b""
        return super().source_to_code(data, path, **options)

    def set_data(self, path: str, data: Any, **options: Any) -> None:
        """Write bytecode with the hash of its text."""
        if path.endswith(".pyc"):
            data = bytes(data[:4]) + _CHECKED + self._hash + bytes(data[_HEADER:])
        super().set_data(path, data, **options)


class Uncached(SourceFileLoader):
    """Loads a module from its text, and leaves no bytecode beside it."""

    def path_stats(self, path: str) -> Entry:
        """Nothing that bytecode could be held against.

        Raises:
            OSError: always.
        """
        raise OSError


def _finder(folder: str) -> FileFinder:
    """The finder of the modules in a folder into which nothing is installed.

    Raises:
        ImportError: it is another kind of place.
    """
    place = Path(os.path.abspath(folder))
    if not place.is_dir() or is_installed(place) or sources.holds(place):
        raise ImportError("it is no folder of claim packs", path=folder)
    return FileFinder(folder, (ExtensionFileLoader, EXTENSION_SUFFIXES), (Hashed, [".py"]))


def hold_to_texts() -> None:
    """From now on, modules that are not installed are loaded so."""
    if _finder not in sys.path_hooks:
        sys.path_hooks.insert(0, _finder)
        for folder, finder in list(sys.path_importer_cache.items()):
            if isinstance(finder, FileFinder) and not is_installed(Path(os.path.abspath(folder))):
                del sys.path_importer_cache[folder]
