"""Ids of statements and their files: sim/lemma-3.12 is in sim/lemma_3_12.py.

The file is in the folder of its pack, either below a folder of its source or directly. A statement
may also be a package of that name. Packs that do not follow this rule are loaded as a whole.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable
from pathlib import Path

from attsvm.theory.packs.known_packs import find_here

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


def mentioning(package: str, statements: Iterable[str]) -> list[str]:
    """Return the modules of a package that may declare statements which rest on these."""
    folder = _folder(package)
    words = [quote + s + quote for s in statements for quote in "\"'"]
    results = []
    for file in sorted(folder.rglob("*.py")) if folder else ():
        text = file.read_text(encoding="utf-8")
        if "rests_on" in text and any(word in text for word in words):
            inner = file.relative_to(folder).with_suffix("").parts if folder else ()
            inner = inner[:-1] if inner[-1:] == ("__init__",) else inner
            results.append(".".join([package, *inner]))
    return results


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
