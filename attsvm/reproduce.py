"""Figures of papers, redrawn from claim packs: numbers first, pictures from the numbers.

A `Reproduction` at module level of a pack is one figure. It computes its `Numbers` from a seed. Its
pictures are drawn from these numbers and nothing else, so that the CSV and JSON files contain
exactly what is shown.
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

from attsvm._files import (
    dump,
    ensure_writable,
    error_text,
    read_json,
    read_whole,
    write_text,
    write_whole,
)
from attsvm._types import Entry, JsonObject
from attsvm.errors import ClaimError, FileError, UsageError
from attsvm.plots.style import ensure_drawable
from attsvm.plots.table import Table
from attsvm.theory.packs.packs import Pack, members
from attsvm.theory.record import forms

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Figure

    from attsvm.theory.report.html import ShownFigure
else:
    Figure = Any  # for the annotations of packs, which import without matplotlib


_ID = re.compile(r"[a-z0-9]+/[a-z0-9][a-z0-9.-]*")
_NAME = re.compile(r"[A-Za-z0-9_-]*")
_DRAW_AGAIN = "Draw it again with `attsvm reproduce`."


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """All numbers of a figure.

    Attributes:
        tables: tables by name.
        facts: single values by name: sizes, counts, omissions.
    """

    tables: Mapping[str, Table]
    facts: Mapping[str, object]

    def json(self) -> JsonObject:
        """Return the facts and the tables as a document; a table is stored by columns."""
        tables = {name: table.json() for name, table in self.tables.items()}
        plain = {k: x.item() if isinstance(x, np.generic) else x for k, x in self.facts.items()}
        return {"facts": plain, "tables": tables}


@dataclass(frozen=True, slots=True)
class Reproduction:
    """One figure of a source.

    Attributes:
        id: source and name, `tf/trajectories`.
        source, place: the source and the place of the original.
        shows: a description in one sentence.
        numbers: a pure function of `seed`, and of `sets` unless that is fixed.
        pictures: functions that draw a picture from the numbers, by name; the main one has the
            name "".
        sets: the default number of data sets; None if it is fixed.

    Raises:
        ClaimError: the id has another form, or there is no picture.
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
        """The prefix of the names of its files."""
        return self.id.replace("/", "-")

    def json(self) -> JsonObject:
        """Return its entry in the list of figures."""
        entry = {"id": self.id, "source": self.source, "place": self.place, "shows": self.shows}
        code = getattr(inspect.unwrap(self.numbers), "__code__", None)
        return {**entry, "sets": self.sets, "file": code and code.co_filename}

    def compute(self, seed: int, sets: int | None = None) -> Numbers:
        """Return its numbers.

        Raises:
            UsageError: `sets` was given to a figure with a fixed number of data sets.
        """
        if self.sets is None:
            if sets is not None:
                raise UsageError(
                    f"{self.id} has a fixed number of data sets", remedy="Leave out --sets."
                )
            return self.numbers(seed)
        return self.numbers(seed, self.sets if sets is None else sets)


def find_figures(packs: Sequence[Pack]) -> tuple[Reproduction, ...]:
    """Return all figures of these packs, in the order of their ids.

    Raises:
        ClaimError: two figures have one id.
    """
    results: dict[str, Reproduction] = {}
    for figure in members(packs, Reproduction):
        if results.setdefault(figure.id, figure) is not figure:
            raise ClaimError("two figures have the same id", value=figure.id)
    return tuple(results[key] for key in sorted(results))


def named(figures: Sequence[Reproduction], name: str) -> Reproduction:
    """Return the figure of that id.

    Raises:
        UsageError: there is none; the message names the nearest id and all ids.
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
) -> JsonObject:
    """Compute a figure and write it: numbers as JSON and CSV, then the pictures.

    Every file is written whole or not at all. Without matplotlib there are numbers and no pictures;
    `no_pictures` says why.

    Returns:
        The content of the JSON file, with the names of all files in `files`.

    Raises:
        FileError: the folder cannot be written.
        UsageError: `sets` was given to a figure with a fixed number of data sets.
    """
    ensure_writable(folder, "--out")
    numbers = figure.compute(seed, sets)
    chosen = figure.sets if sets is None else sets
    document = {"schema": 1, "figure": figure.id, "source": figure.source, "place": figure.place}
    document |= {"shows": figure.shows, "seed": seed, "sets": chosen, **numbers.json()}
    missing = None
    try:
        ensure_drawable(Path("picture.png"))
    except UsageError as error:
        missing = str(error)
    pictures = list(figure.pictures) if missing is None else []
    document["pictures"] = pictures
    files = [folder / f"{figure.stem}.json"]
    write_text(files[0], dump(document) + "\n")
    for name, table in numbers.tables.items():
        files.append(folder / f"{figure.stem}-{name}.csv")
        write_text(files[-1], table.csv())
    for name in pictures:
        picture = figure.pictures[name](numbers)
        for ending in formats:
            files.append(folder / _picture_file(figure.stem, name, ending))
            _save(picture, files[-1], ending)
    return {**document, "files": [file.as_posix() for file in files], "no_pictures": missing}


def _picture_file(stem: str, name: str, ending: str) -> str:
    return f"{stem}{'-' if name else ''}{name}.{ending}"


def conclusions(document: Entry) -> dict[str, str]:
    """Return the facts of a figure's document that are sentences."""
    facts = document["facts"].items()
    return {k.replace("_", " "): str(fact) for k, fact in facts if str(fact).endswith(".")}


_FORM = {
    **dict.fromkeys(("figure", "place", "shows"), forms.text),
    "seed": forms.count,
    "sets": forms.maybe(forms.count),
    "facts": forms.values(forms.anything),
    "pictures": forms.each(forms.text),
}
_PNG, _LARGEST = b"\x89PNG\r\n\x1a\n", 16 << 20


def read(folder: Path, source: str | None = None) -> tuple[ShownFigure, ...]:
    """Return the figures that `write` stored in a folder, in the order of their ids.

    Args:
        folder: the folder; it may contain other files.
        source: only figures of this source; all if None.

    Raises:
        FileError: there are none, one has another form, or one of its pictures is missing.
    """
    results = []
    for file in sorted(folder.glob("*.json")):
        document = read_json(file)
        if isinstance(document, dict) and "figure" in document:
            results.append(_shown(file, document))
    results = [f for f in results if source is None or f.id.startswith(f"{source}/")]
    if not results:
        of = f" of {source}" if source else ""
        remedy = f"Draw them: attsvm reproduce NAME --out {folder}."
        raise FileError(f"there is no figure{of} in {folder}", remedy=remedy)
    return tuple(sorted(results, key=lambda figure: figure.id))


def _shown(file: Path, document: Any) -> ShownFigure:
    from attsvm.theory.report.html import ShownFigure  # packs of figures need no page

    lacks = forms.lacking(document, _FORM)
    if lacks is None and not _ID.fullmatch(document["figure"]):
        lacks = "figure of the right form"
    if lacks is None and not all(map(_NAME.fullmatch, document["pictures"])):
        lacks = "pictures of the right form"
    if lacks is not None:
        raise FileError(f"{file} is no figure's document: it lacks {lacks}", remedy=_DRAW_AGAIN)
    again = f"attsvm reproduce {document['figure']} --seed {document['seed']}"
    if document["sets"] is not None:
        again += f" --sets {document['sets']}"
    pictures = tuple((name, _png(file, name)) for name in document["pictures"])
    lines = tuple(f"{k}: {fact}" for k, fact in conclusions(document).items())
    return ShownFigure(
        document["figure"], document["place"], document["shows"], lines, again, pictures
    )


def _png(file: Path, name: str) -> bytes:
    path = file.with_name(_picture_file(file.stem, name, "png"))
    try:
        content = read_whole(path, _LARGEST)
    except (OSError, ValueError) as error:
        raise FileError(
            f"{path} cannot be read: {error_text(error)}", remedy=_DRAW_AGAIN
        ) from error
    if not content.startswith(_PNG):
        raise FileError(f"{path} is no PNG file", remedy=_DRAW_AGAIN)
    return content


def _save(picture: Figure, path: Path, ending: str) -> None:
    """Save a picture; the same picture always gives the same bytes."""
    from matplotlib import rc_context

    metadata = {"Date": None} if ending == "svg" else None
    with rc_context({"svg.hashsalt": "attsvm"}):
        write_whole(path, lambda file: picture.savefig(file, format=ending, metadata=metadata))
