"""The places of imported code, and the import of claim packs from there.

Places are the own code base, other folders, and installed distributions. Packs have loaders of
their own, which use bytecode only if it was compiled from the file's present text. By default,
Python accepts bytecode if the file has the size and the time, to a second, that it had when it was
compiled. An edit within a second can therefore go unnoticed. The loaders accept bytecode only if it
holds the hash of the file's text (PEP 552). Python can read such bytecode too.
"""

import functools
import hashlib
import importlib
import importlib.metadata
import importlib.util
import os
import re
import sys
import sysconfig
import traceback
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
)
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from attsvm import sources
from attsvm._distribution import requirements
from attsvm._types import Entry
from attsvm.errors import ClaimError
from attsvm.theory.packs.known_packs import ensure_name, find_here

Dotted = tuple[str, ...]
"""The parts of a dotted name."""

ENGINE = "attsvm"
"""The top-level name of the engine."""

_STATED = (ENGINE, "primitives")
"""The package of attsvm whose modules count for a claim: it has hypotheses and conclusions."""


def base_of(file: Path) -> Path:
    """Return the folder from which a file is imported."""
    folder = os.path.dirname(file)  # as text, for speed: a gate asks for hundreds of files
    while os.path.isfile(os.path.join(folder, "__init__.py")) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return Path(folder)


def located(file: str | os.PathLike[str]) -> Path:
    """Return a file whose base is resolved; links below the base stay: they name modules."""
    return _located(os.path.abspath(file))


@functools.lru_cache(maxsize=4096)
def _located(file: str) -> Path:
    base = base_of(Path(file))
    return base.resolve() / Path(file).relative_to(base)


def files_of(base: Path, parts: Dotted) -> list[Path]:
    """Return the file of a module, and the `__init__.py` of a package of its name."""
    place = os.path.join(base, *parts)
    result = (f"{place}.py", os.path.join(place, "__init__.py"))
    return [Path(file) for file in result if os.path.isfile(file)]


def followed(base: Path, own: str, dotted: Dotted) -> Path | None:
    """Return the folder of an imported module if its code counts for the importer, else None.

    The importer's own base comes first, then every folder where Python finds the module, unless a
    distribution installed it there. If the base itself is installed, only modules of the importer's
    own distribution count. Of attsvm, `attsvm.primitives` alone counts: a run records the digests
    of the other modules.

    Args:
        base: the folder from which the importer is imported.
        own: the top-level name of the importer.
        dotted: the imported name; its second part chooses between several folders of a package.
    """
    top = dotted[0]
    if top == ENGINE and dotted[:2] != _STATED:
        return None
    present = [base] if (base / top).is_dir() or (base / f"{top}.py").is_file() else []
    if present and sources.holds(base):
        return base
    if present and is_installed(base) and top != own:
        shared = _distributions()
        with_it = not set(shared.get(top, ())).isdisjoint(shared.get(own, ()))
        return base if with_it else None
    there = [place for place in _bases(top, tuple(sys.path)) if not _is_distributed(top, place)]
    places = [*present, *there] if top == own else there or present
    held = (p for p in places if files_of(p, dotted[:2]) or files_of(p, dotted[:1]))
    return next(held, places[0] if places else None)


@functools.lru_cache(maxsize=1024)
def _bases(top: str, path: tuple[str, ...]) -> tuple[Path, ...]:
    """Return the folders where Python finds a top-level module; a package may have several."""
    try:
        spec = importlib.util.find_spec(top)  # it imports nothing
    except (ImportError, ValueError):
        return ()
    places = list((spec and spec.submodule_search_locations) or ())
    places += [spec.origin] if spec and spec.origin and spec.has_location and not places else []
    return tuple(filter(Path.is_dir, (Path(os.path.abspath(place)).parent for place in places)))


def _is_distributed(top: str, base: Path) -> bool:
    """Return whether a module is Python's own or a distribution installed it in that folder."""
    return is_installed(base) and (top in sys.stdlib_module_names or top in _distributions())


def is_installed(folder: Path) -> bool:
    """Return whether the modules of a folder are Python's own or were installed."""
    named = {"site-packages", "dist-packages"}.intersection(folder.parts)
    return bool(named) or any(folder.is_relative_to(place) for place in _python_folders())


@functools.cache
def _python_folders() -> frozenset[Path]:
    """Return the folders of Python's own modules and of installed modules."""
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return frozenset(map(Path, map(sysconfig.get_path, names)))


@functools.cache
def installed(top: str) -> tuple[str, str]:
    """Return the distribution of a top-level module and its version, both "" if it does not count.

    Distributions that attsvm itself requires do not count: attsvm's own digests and tests cover
    them.
    """
    if top in sys.stdlib_module_names or top == ENGINE or not top.isidentifier():
        return "", ""
    wanted = map(re.compile(r"[\w.-]+").match, requirements())
    required = {_normal(name[0]) for name in wanted if name}
    names = [] if _normal(top) in required else _distributions().get(top, ())
    for name in sorted(names):
        if _normal(name) not in {*required, ENGINE}:
            return name, importlib.metadata.version(name)
    return "", ""


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@functools.cache
def _distributions() -> dict[str, list[str]]:
    return dict(importlib.metadata.packages_distributions())


def home_of(module: str, base: Path) -> Path | None:
    """Return the file of a module by its dotted name, on `sys.path` or else in the folder `base`.

    Modules of the carried sources are looked up among these sources alone.
    """
    parts = tuple(module.split("."))
    places = (base,) if sources.holds(base) else (*_bases(parts[0], tuple(sys.path)), base)
    return next((file for place in places for file in files_of(place, parts)), None)


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
        """Return the compiled text, and keep its hash for the bytecode."""
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
        """Raise an error in place of a description, so that Python uses no bytecode of the file.

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
    """From now on, load modules by `Hashed` unless they are installed."""
    if _finder not in sys.path_hooks:
        sys.path_hooks.insert(0, _finder)
        for folder, finder in list(sys.path_importer_cache.items()):
            if isinstance(finder, FileFinder) and not is_installed(Path(os.path.abspath(folder))):
                del sys.path_importer_cache[folder]


_FOLDER = Path(__file__).parents[2]
"""The folder of attsvm itself."""

LOOSE = "_attsvm_pack_"
"""Prefix of the names of modules that were loaded from a path."""


def module_of_source(source: str) -> ModuleType:
    """Return the module of a pack or a file, imported once.

    Raises:
        ClaimError: there is no such file, or it cannot be imported.
    """
    ensure_name(source)
    if not source.endswith(".py"):
        find_here(source)
        return imported_module(source)
    path, name = Path(source).resolve(), loose_name(source)
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path, loader=Uncached(name, str(path)))
    if spec is None or spec.loader is None or not path.is_file():
        raise ClaimError(
            "there is no claim file of that name",
            value=source,
            remedy="Check the path; `attsvm new ID` writes one.",
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (ClaimError, KeyboardInterrupt):
        del sys.modules[name]
        raise
    except BaseException as error:  # a pack may exit as well
        del sys.modules[name]
        raise ClaimError(
            f"{source} cannot be loaded: {type(error).__name__}: {error}{_line(error, str(path))}",
            remedy=f"Correct that line; `python {source}` shows the whole traceback.",
        ) from error
    return module


def _line(error: BaseException, file: str) -> str:
    """Return the last line of a file that an error passed through, in brackets."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == file]
    return f" (line {lines[-1]})" if lines else ""


def loose_name(source: str) -> str:
    """Return a module name for a file that no other file's module has."""
    return f"{LOOSE}{hashlib.sha256(str(Path(source).resolve()).encode()).hexdigest()[:12]}"


def imported_module(name: str) -> ModuleType:
    """Return a module of a pack by its dotted name.

    Raises:
        ClaimError: it cannot be imported.
    """
    try:
        return importlib.import_module(name)
    except (ClaimError, KeyboardInterrupt):
        for part in [part for part in sys.modules if f"{part}.".startswith(f"{name}.")]:
            del sys.modules[part]  # the next load must report the error again
        raise
    except BaseException as error:  # a pack may exit as well
        remedy = "Name a module, a package or a .py file."
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        place = "" if missing and f"{name}.".startswith(f"{missing}.") else _own_line(error)
        if place:
            remedy = f"Correct that line; `python -c 'import {name}'` shows the whole traceback."
        raise ClaimError(
            f"claim pack {name} cannot be imported: {type(error).__name__}: {error}{place}",
            remedy=remedy,
        ) from error


def is_of_an_author(file: Path) -> bool:
    """Return whether a file is neither attsvm's nor a library's: then an author wrote it."""
    return file.is_file() and not file.is_relative_to(_FOLDER) and not is_installed(file.parent)


def _own_line(error: BaseException) -> str:
    """Return the last place outside Python, attsvm and installed modules, in brackets, or ""."""
    frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        frames.append((error.filename, error.lineno))
    for file, line in reversed(frames):
        path = Path(file)
        if line is not None and is_of_an_author(path):
            place = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
            return f" ({place.as_posix()}, line {line})"
    return ""
