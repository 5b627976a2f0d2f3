"""The known claim packs, and the files of their statements.

Packs are known if they are installed, or if a project lists them. An id leads to a file of its
pack: sim/lemma-3.12 is in sim/lemma_3_12.py. The file is in the folder of the pack, either below a
folder of its source or directly. A statement may also be a package of that name. Packs that do not
follow this rule are loaded as a whole.
"""

import ast
import contextlib
import functools
import importlib.metadata
import importlib.util
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from attsvm.errors import ClaimError
from attsvm.sources import CLAIMS, is_carried

GROUP = "attsvm.claims"
"""Group of entry points that name the packs of a distribution."""


def sources_of(words: Sequence[str]) -> list[str]:
    """Return the modules, packages and files with these names, or entry points of these names.

    Raises:
        ClaimError: there is no pack with one of these names.
    """
    points, known = entry_points(), known_sources()
    results = [word if word in known else points.get(word, word) for word in words]
    for word, source in zip(words, results, strict=True):
        if source.endswith(".py") and not _is_there(source):
            raise ClaimError(
                "there is no file of that name",
                value=word,
                remedy="Check the path; `attsvm new ID` writes a claim file.",
            )
        if source not in known and not _is_there(source):
            raise ClaimError(
                "there is no pack of that name",
                value=word,
                remedy=f"There are: {', '.join(sorted({*known, *points})) or 'none installed'}. "
                "A module, a package or a .py file can be named as well.",
            )
    return results


def _is_there(source: str) -> bool:
    """Return whether a file or module exists; loading it reports all other faults."""
    if source.endswith(".py"):
        return Path(source).is_file()
    find_here(source)
    return _is_found(source)


def find_here(source: str) -> None:
    """Make a module or package of the current folder importable, unless Python finds another.

    The command `attsvm`, unlike `python -m attsvm`, has no current folder in `sys.path`.
    """
    place = Path.cwd() / source.partition(".")[0]
    present = place.with_suffix(".py").is_file() or (place / "__init__.py").is_file()
    if present and not _is_found(source):
        sys.path.append(str(Path.cwd()))


def _is_found(source: str) -> bool:
    """Return whether Python finds a module, or may find it in a package that cannot be loaded."""
    try:
        return importlib.util.find_spec(source) is not None
    except (ModuleNotFoundError, ValueError):
        return False
    except Exception:  # the package around the module raises
        return True


def known_sources() -> set[str]:
    """Return the packs that are installed, and the packs of the project in the current folder.

    The claims of the three sources are among them. They come from a checkout of attsvm if it is the
    current folder, else from attsvm's own copy or checkout.
    """
    checkout = Path(__file__).resolve().parents[3]
    present = {*installed(), *listed(checkout), *listed(Path.cwd(), first=True)}
    return present if _is_checkout(Path.cwd()) or not is_carried() else {*present, CLAIMS}


def installed() -> tuple[str, ...]:
    """Return the packs that installed distributions name as entry points."""
    return tuple(entry_points().values())


def entry_points() -> dict[str, str]:
    """Return the packs that installed distributions name, by the names of their entry points.

    Raises:
        ClaimError: the entry points of some distribution cannot be read.
    """
    try:
        return dict(_points(tuple(sys.path)))
    except (TypeError, ValueError) as error:  # a line without "=", or not in UTF-8
        raise ClaimError(
            f"the entry points of {_unreadable()} cannot be read: {error}",
            remedy="Install it again, or remove it.",
        ) from error


@functools.cache
def _points(path: tuple[str, ...]) -> dict[str, str]:
    """Return the packs by entry points; cached, because it opens files of every distribution."""
    return {point.name: point.value for point in importlib.metadata.entry_points(group=GROUP)}


def _unreadable() -> str:
    """Return the first installed distribution whose entry points cannot be read."""
    for distribution in importlib.metadata.distributions():
        try:
            tuple(distribution.entry_points)
        except (TypeError, ValueError):
            return f"the distribution {distribution.name}"
    return "an installed distribution"


def listed(folder: Path, *, first: bool = False) -> tuple[str, ...]:
    """Return the packs that a project lists, made importable from its folder.

    Args:
        folder: the folder of the project's pyproject.toml.
        first: whether its packs take precedence over other packs of the same names, as the packs
            of the current folder do.

    Raises:
        ClaimError: pyproject.toml cannot be read, or its list has another form.
    """
    file = folder / "pyproject.toml"
    try:
        listed = _parsed(file.read_text(encoding="utf-8"))[1] if file.is_file() else []
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise ClaimError(
            f"{file} cannot be read: {error}",
            remedy="Correct it; it must be TOML in UTF-8, with packs under [tool.attsvm].",
        ) from error
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
    """Return a project's name and its packs; cached, because parsing is slow."""
    result = tomllib.loads(text)
    packs = result.get("tool", {}).get("attsvm", {}).get("packs", [])
    return result.get("project", {}).get("name"), packs


def ensure_name(source: str) -> None:
    """Raise unless a text may name a pack.

    Raises:
        ClaimError: the text is neither the name of a module or package, nor a path to a .py file.
    """
    dotted = all(part.isidentifier() for part in source.split("."))
    if not dotted and not (source.endswith(".py") and "\0" not in source):
        raise ClaimError(
            "no claim pack can have that name",
            value=source,
            remedy="Name a module, a package or a .py file.",
        )


_STATEMENT = re.compile(r"[a-z0-9]+(?:[-.][a-z0-9]+)*/[a-z0-9]+(?:[-.][a-z0-9]+)*")


def statements_in(words: Iterable[str]) -> tuple[str, ...]:
    """Return the statements that ids name; none if one of the words is only a prefix of ids."""
    results = tuple(dict.fromkeys(word.partition(":")[0] for word in words))
    return results if all(map(_STATEMENT.fullmatch, results)) else ()


def module_of(package: str, statement: str) -> str | None:
    """Return the dotted name of the module for an id in a package; None if there is none."""
    folder = _folder(package)
    parts = [re.sub("[-.]", "_", part) for part in statement.split("/")]
    for inner in (parts, parts[1:]) if folder else ():
        place = Path(str(folder), *inner)
        if place.with_suffix(".py").is_file() or (place / "__init__.py").is_file():
            return ".".join([package, *inner])
    return None


def premises_in(package: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the statements of a package with those that they rest on, and run none of its code.

    Declarations whose id or `rests_on` is not written out as a literal are left out.
    """
    folder = _folder(package)
    for file in sorted(folder.rglob("*.py")) if folder else ():
        text = file.read_text(encoding="utf-8")
        if "rests_on" not in text:
            continue
        for call in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)):
            fields = {keyword.arg: keyword.value for keyword in call.keywords}
            id = call.args[0] if call.args else fields.get("id")
            if id is not None and "rests_on" in fields:
                with contextlib.suppress(ValueError):
                    yield ast.literal_eval(id), tuple(ast.literal_eval(fields["rests_on"]))


def is_package(source: str) -> bool:
    """Return whether a pack is a package, whose modules can be imported one by one."""
    return _folder(source) is not None


def _folder(source: str) -> Path | None:
    """Return the folder of a package; None for a file or a module."""
    if source.endswith(".py"):
        return None
    find_here(source)
    try:
        spec = importlib.util.find_spec(source)
    except Exception:  # loading the pack reports the error
        return None
    places = list((spec and spec.submodule_search_locations) or ())
    return Path(places[0]) if len(places) == 1 else None
