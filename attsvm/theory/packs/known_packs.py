"""Which claim packs there are: installed ones, and those that a project lists."""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import os
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attsvm.errors import ClaimError
from attsvm.sources import CLAIMS, is_carried

GROUP = "attsvm.claims"
"""The group of entry points by which distributions name their packs."""


def sources_of(words: Sequence[str]) -> list[str]:
    """The modules, packages and files that these names of packs or of entry points stand for.

    Raises:
        ClaimError: there is no pack of one of these names.
    """
    points, known = entry_points(), known_sources()
    found = [word if word in known else points.get(word, word) for word in words]
    for word, source in zip(words, found, strict=True):
        if source not in known and not _is_there(source):
            raise ClaimError(
                "there is no pack of that name",
                value=word,
                remedy=f"There are: {', '.join(sorted({*known, *points})) or 'none installed'}. "
                "A module, a package or a .py file can be named as well.",
            )
    return found


def _is_there(source: str) -> bool:
    """Whether there is such a file or module; what else is wrong with it shows as it is loaded."""
    if source.endswith(".py"):
        return Path(source).is_file()
    find_here(source)
    return _is_found(source)


def find_here(source: str) -> None:
    """Let a module or package of the current folder be imported, if Python finds no other one.

    The command `attsvm`, unlike `python -m attsvm`, does not look in the current folder.
    """
    place = Path.cwd() / source.partition(".")[0]
    here = place.with_suffix(".py").is_file() or (place / "__init__.py").is_file()
    if here and not _is_found(source):
        sys.path.append(str(Path.cwd()))


def _is_found(source: str) -> bool:
    """Return whether Python finds a module, or may find it in a package that cannot be loaded."""
    try:
        return importlib.util.find_spec(source) is not None
    except (ModuleNotFoundError, ValueError):
        return False
    except Exception:  # the package that it is in raises
        return True


def known_sources() -> set[str]:
    """Return the packs that are installed, and those of the project at hand.

    The claims of the three sources are among them: those of a checkout of attsvm at hand, else
    those that attsvm itself carries or lies beside.
    """
    checkout = Path(__file__).resolve().parents[3]
    here = {*installed(), *listed(checkout), *listed(Path.cwd(), first=True)}
    return here if _is_checkout(Path.cwd()) or not is_carried() else {*here, CLAIMS}


def installed() -> tuple[str, ...]:
    """The packs that installed distributions name as entry points."""
    return tuple(entry_points().values())


def entry_points() -> dict[str, str]:
    """The packs that installed distributions name, by the names of their entry points.

    Raises:
        ClaimError: the entry points of some distribution cannot be read.
    """
    try:
        known = ((place, _changed(place)) for place in map(os.path.abspath, sys.path))
        return dict(_points(tuple(each for each in known if _may_list(*each))))
    except (TypeError, ValueError) as error:  # a line without "=", or one that is no UTF-8
        raise ClaimError(
            f"the entry points of {_unreadable()} cannot be read: {error}",
            remedy="Install it anew, or remove it.",
        ) from error


@functools.lru_cache(maxsize=16)
def _points(places: tuple[tuple[str, int], ...]) -> dict[str, str]:
    """The same; it opens files of every distribution, so once for folders as they are now."""
    return {point.name: point.value for point in importlib.metadata.entry_points(group=GROUP)}


@functools.lru_cache(maxsize=1024)
def _may_list(place: str, changed: int) -> bool:
    """Whether a folder of the path may hold distributions, as those of a project hardly do."""
    try:
        names = [place, *os.listdir(place)]
    except OSError:
        return os.path.isfile(place)  # an archive
    return any(name.lower().endswith((".dist-info", ".egg-info", ".egg")) for name in names)


def _changed(place: str) -> int:
    """When something was last installed in a folder of the path, 0 where there is none."""
    try:
        return os.stat(place).st_mtime_ns
    except OSError:
        return 0


def _unreadable() -> str:
    """The first installed distribution whose entry points cannot be read."""
    for distribution in importlib.metadata.distributions():
        try:
            tuple(distribution.entry_points)
        except (TypeError, ValueError):
            return f"the distribution {distribution.name}"
    return "an installed distribution"


def listed(folder: Path, *, first: bool = False) -> tuple[str, ...]:
    """The packs that a project lists, made importable from its folder.

    Args:
        folder: where its pyproject.toml lies.
        first: whether its packs go before others of the same names, as the project at hand's do.

    Raises:
        ClaimError: its pyproject.toml cannot be read, or lists something else.
    """
    file = folder / "pyproject.toml"
    try:
        listed = _parsed(file.read_text(encoding="utf-8"))[1] if file.is_file() else []
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise ClaimError(f"{file} cannot be read: {error}") from error
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        raise ClaimError(
            f"{file} lists no packs under [tool.attsvm]",
            value=listed,
            remedy='Write packs = ["name"], modules or packages beside that file.',
        )
    place = str(folder)
    if listed and first and sys.path[:1] != [place]:
        sys.path[:] = [place, *(other for other in sys.path if other != place)]
    elif listed and place not in sys.path:
        sys.path.append(place)
    return tuple(listed)


def _is_checkout(folder: Path) -> bool:
    """Return whether a folder is a checkout of attsvm, whose pyproject.toml `listed` has read."""
    file = folder / "pyproject.toml"
    return file.is_file() and _parsed(file.read_text(encoding="utf-8"))[0] == "attsvm"


@functools.lru_cache(maxsize=16)
def _parsed(text: str) -> tuple[Any, Any]:
    """Return a project's name and its packs; to parse a file takes longer than to read it."""
    found = tomllib.loads(text)
    packs = found.get("tool", {}).get("attsvm", {}).get("packs", [])
    return found.get("project", {}).get("name"), packs


def ensure_name(source: str) -> None:
    """Nothing where a text may name a pack.

    Raises:
        ClaimError: it is neither the name of a module or package, nor a path to a .py file.
    """
    dotted = all(part.isidentifier() for part in source.split("."))
    if not dotted and not (source.endswith(".py") and "\0" not in source):
        raise ClaimError(
            "no claim pack can have that name",
            value=source,
            remedy="Name a module, a package or a .py file.",
        )
