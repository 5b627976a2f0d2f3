"""Where the code lies that a file rests on: its own code base, other folders, what is installed."""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import os
import re
import sys
import sysconfig
from pathlib import Path

Dotted = tuple[str, ...]
"""A dotted name by its parts."""

_ENGINE = "attsvm"

_namespaces: dict[Path, Path] = {}
"""Bases of modules that lie in folders without `__init__.py`, by the outermost such folder."""


def learn(module: str, file: Path) -> None:
    """Note from which folder a module was imported, where its own folder does not say so."""
    parts = module.count(".") + (file.name == "__init__.py")
    found = file.parents[min(parts, len(file.parents) - 1)]
    if found != base_of(file):
        _namespaces[base_of(file)] = found
        _located.cache_clear()


def base_of(file: Path) -> Path:
    """The folder from which a file is imported."""
    folder = file.parent
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    if _namespaces:
        known = (place for place in (folder, *folder.parents) if place in _namespaces)
        return _namespaces.get(next(known, folder), folder)
    return folder


def located(file: str | os.PathLike[str]) -> Path:
    """A file without links on the way to its base; those below keep the names of modules."""
    return _located(os.path.abspath(file))


@functools.lru_cache(maxsize=4096)
def _located(file: str) -> Path:
    base = base_of(Path(file))
    return base.resolve() / Path(file).relative_to(base)


def files_of(base: Path, parts: Dotted) -> list[Path]:
    """The file of a module, and the `__init__.py` of a package of its name."""
    place = os.path.join(base, *parts)
    found = (f"{place}.py", os.path.join(place, "__init__.py"))
    return [Path(file) for file in found if os.path.isfile(file)]


def followed(base: Path, own: str, top: str) -> Path | None:
    """The folder from which a top-level module is imported whose code counts for who imports it.

    That is the importer's own base, or another folder of modules that are not installed. Where the
    base is installed, only what was installed with the importer counts. The engine never does.

    Args:
        base: from where the importer is imported.
        own: the top-level name of the importer.
        top: the top-level name of what it imports.
    """
    if top == _ENGINE:
        return None
    if (base / top).is_dir() or (base / f"{top}.py").is_file():
        if top == own or not is_installed(base):
            return base
        shared = _distributions()
        with_it = not set(shared.get(top, ())).isdisjoint(shared.get(own, ()))
        return base if with_it else None
    return _elsewhere(top, tuple(sys.path))


@functools.lru_cache(maxsize=1024)
def _elsewhere(top: str, path: tuple[str, ...]) -> Path | None:
    """The folder on the path that a top-level module is in, where it is not installed."""
    if top in sys.stdlib_module_names:
        return None
    try:
        spec = importlib.util.find_spec(top)  # it imports nothing
    except (ImportError, ValueError):
        return None
    places = list((spec and spec.submodule_search_locations) or ())
    places += [spec.origin] if spec and spec.origin and spec.has_location and not places else []
    base = Path(os.path.abspath(places[0])).parent if places else None
    return None if base is None or not base.is_dir() or is_installed(base) else base


def is_installed(folder: Path) -> bool:
    """Whether modules of a folder are Python's own or were installed into it."""
    named = {"site-packages", "dist-packages"}.intersection(folder.parts)
    return bool(named) or any(folder.is_relative_to(place) for place in _python_folders())


@functools.cache
def _python_folders() -> frozenset[Path]:
    """Where Python's own modules and installed ones lie."""
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return frozenset(map(Path, map(sysconfig.get_path, names)))


@functools.cache
def installed(top: str) -> tuple[str, str]:
    """The distribution of a top-level module and its version, both "" where that does not count.

    Those that attsvm itself requires do not: its own digests and tests answer for them.
    """
    if top in sys.stdlib_module_names or top == _ENGINE or not top.isidentifier():
        return "", ""
    wanted = importlib.metadata.requires(_ENGINE) or []
    required = {_normal(name[0]) for name in map(re.compile(r"[\w.-]+").match, wanted) if name}
    names = [] if _normal(top) in required else _distributions().get(top, ())
    for name in sorted(names):
        if _normal(name) not in {*required, _ENGINE}:
            return name, importlib.metadata.version(name)
    return "", ""


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@functools.cache
def _distributions() -> dict[str, list[str]]:
    return dict(importlib.metadata.packages_distributions())


def home_of(module: str, base: Path) -> Path | None:
    """The file of a module that is looked up by its dotted name: from a base, else on the path."""
    parts = tuple(module.split("."))
    found = files_of(base, parts)
    if not found:
        try:
            spec = importlib.util.find_spec(parts[0])  # it imports nothing
        except (ImportError, ValueError):
            spec = None
        if spec is not None and spec.origin is not None and spec.has_location:
            found = files_of(base_of(Path(spec.origin)), parts)
    return found[0] if found else None
