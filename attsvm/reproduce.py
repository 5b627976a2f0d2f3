"""Figures of papers, redrawn: found in claim packs, numbers first, pictures from the numbers.

A `Reproduction` at module level of a pack is one figure. It computes its `Numbers` from a seed;
its pictures are drawn from these numbers and nothing else, so what is written as CSV and JSON is
what is shown.
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from attsvm._files import dump, ensure_writable, write_text, write_whole
from attsvm.errors import ClaimError, UsageError
from attsvm.plots.table import Table
from attsvm.svm.page import ensure_drawable
from attsvm.theory.declaration.packs import Pack, modules

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Figure
else:
    Figure = Any  # for the annotations of packs, which import without matplotlib


_ID = re.compile(r"[a-z0-9]+/[a-z0-9][a-z0-9.-]*")


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """All that a figure shows.

    Attributes:
        tables: tables by name.
        facts: single values by name: sizes, counts, what was left out.
    """

    tables: Mapping[str, Table]
    facts: Mapping[str, object]

    def json(self) -> dict[str, Any]:
        """Facts and tables, column by column."""
        tables = {name: table.json() for name, table in self.tables.items()}
        plain = {k: x.item() if isinstance(x, np.generic) else x for k, x in self.facts.items()}
        return {"facts": plain, "tables": tables}


@dataclass(frozen=True, slots=True)
class Reproduction:
    """One figure of a source.

    Attributes:
        id: source and name, `tf/trajectories`.
        source, place: where the original stands.
        shows: what a reader sees, in a sentence.
        numbers: computes them from `seed`, and from `sets` where that is a choice; pure.
        pictures: draw them, by name; the main one is called "".
        sets: how many data sets it takes by default; None where that is no choice.

    Raises:
        ClaimError: an id of another form, or no picture.
    """

    id: str
    source: str
    place: str
    shows: str
    numbers: Callable[..., Numbers]
    pictures: Mapping[str, Callable[[Numbers], Figure]]
    sets: int | None = None

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            raise ClaimError("a figure's id is source/name in small letters", value=self.id)
        if not self.pictures:
            raise ClaimError(f"figure {self.id} has no picture")

    @property
    def stem(self) -> str:
        """What the names of its files begin with."""
        return self.id.replace("/", "-")

    def json(self) -> dict[str, Any]:
        """Its entry in the list of figures."""
        entry = {"id": self.id, "source": self.source, "place": self.place, "shows": self.shows}
        code = getattr(inspect.unwrap(self.numbers), "__code__", None)
        return {**entry, "sets": self.sets, "file": code and code.co_filename}

    def compute(self, seed: int, sets: int | None = None) -> Numbers:
        """Its numbers.

        Raises:
            UsageError: `sets` was given to a figure that has no such choice.
        """
        if self.sets is None:
            if sets is not None:
                raise UsageError(
                    f"{self.id} has a fixed number of data sets", remedy="Leave out --sets."
                )
            return self.numbers(seed)
        return self.numbers(seed, self.sets if sets is None else sets)


def find_figures(packs: Sequence[Pack]) -> tuple[Reproduction, ...]:
    """All figures of these packs, in the order of their ids.

    Raises:
        ClaimError: two figures have one id.
    """
    found: dict[str, Reproduction] = {}
    for module in (module for pack in packs for module in modules(pack)):
        for value in vars(module).values():
            if isinstance(value, Reproduction) and found.setdefault(value.id, value) is not value:
                raise ClaimError("two figures have the same id", value=value.id)
    return tuple(found[key] for key in sorted(found))


def named(figures: Sequence[Reproduction], name: str) -> Reproduction:
    """The figure of that id.

    Raises:
        UsageError: there is none; the message has the nearest and all ids.
    """
    by_id = {figure.id: figure for figure in figures}
    if name in by_id:
        return by_id[name]
    near = difflib.get_close_matches(name, by_id, n=1, cutoff=0.3)
    hint = f"Nearest: {near[0]}. " if near else ""
    raise UsageError(
        "there is no figure of that name",
        value=name,
        remedy=f"{hint}There are: {', '.join(sorted(by_id)) or 'none'}.",
    )


def write(
    figure: Reproduction,
    folder: Path,
    *,
    seed: int = 0,
    sets: int | None = None,
    formats: Sequence[str] = ("png",),
) -> dict[str, Any]:
    """Compute a figure and write it: numbers as JSON and CSV, then the pictures.

    Every file is written whole or not at all. Without matplotlib there are numbers and no pictures;
    `no_pictures` says why.

    Returns:
        What the JSON file holds, with the names of all files in `files`.

    Raises:
        FileError: the folder cannot be written.
        UsageError: `sets` was given to a figure that has no such choice.
    """
    ensure_writable(folder, "--out")
    numbers = figure.compute(seed, sets)
    chosen = figure.sets if sets is None else sets
    document = {"schema": 1, "figure": figure.id, "source": figure.source, "place": figure.place}
    document |= {"shows": figure.shows, "seed": seed, "sets": chosen, **numbers.json()}
    files = [folder / f"{figure.stem}.json"]
    write_text(files[0], dump(document) + "\n")
    for name, table in numbers.tables.items():
        files.append(folder / f"{figure.stem}-{name}.csv")
        write_text(files[-1], table.csv())
    missing = None
    try:
        ensure_drawable(Path("picture.png"))
    except UsageError as error:
        missing = str(error)
    for name, draw in figure.pictures.items() if missing is None else ():
        picture = draw(numbers)
        for ending in formats:
            files.append(folder / f"{figure.stem}{'-' if name else ''}{name}.{ending}")
            _save(picture, files[-1], ending)
    return {**document, "files": [file.as_posix() for file in files], "no_pictures": missing}


def _save(picture: Figure, path: Path, ending: str) -> None:
    """The same bytes whenever the same picture is saved."""
    from matplotlib import rc_context

    metadata = {"Date": None} if ending == "svg" else None
    with rc_context({"svg.hashsalt": "attsvm"}):
        write_whole(path, lambda file: picture.savefig(file, format=ending, metadata=metadata))
