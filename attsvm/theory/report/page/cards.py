"""A statement on the page: what is printed, fell and runs, its readings, what rests on it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote

from attsvm._types import Entry, JsonObject
from attsvm.theory.declaration.verdict import Truth
from attsvm.theory.record.two_lines import refutation
from attsvm.theory.report.errata import Weight
from attsvm.theory.report.markup import (
    Markup,
    anchor,
    element,
    folded,
    joined,
    link,
    scrolled,
    sentence,
)
from attsvm.theory.report.page.contents import ShownSource, ShownStatement
from attsvm.theory.report.page.mathml import formula
from attsvm.theory.report.page.reading import reading_section
from attsvm.theory.report.page.words import badge, cell

WEIGHTS = {
    Weight.CLAIM: "overturns a theorem or a claim",
    Weight.CONSTANT: "changes a constant, a formula or a condition",
    Weight.MISPRINT: "is a misprint",
}


def statement_card(
    statement: ShownStatement, source: ShownSource, known: Iterable[str], folder: Path
) -> Markup:
    """The card of a statement; links lead to those of the `known` statements."""
    told = statement.told
    summary = element(
        "summary",
        element("h3", statement.id, element("span", f" · {statement.place}", class_="soft")),
        element("div", (cell(r, linked=False) for r in statement.readings), class_="marks"),
        element("div", sentence(told.gist if told else _gist(statement)), class_="gist"),
    )
    body = element(
        "div",
        *_printed(statement),
        *_fell(statement, source),
        *_runs(statement),
        *_resting(statement, set(known)),
        *_files(statement, folder),
        (reading_section(r, statement, source, folder) for r in statement.readings),
        class_="body",
    )
    return element(
        "article",
        element("details", summary, body),
        id=anchor(statement.id),
        class_="statement",
        **_data(statement, source),
    )


def _data(statement: ShownStatement, source: ShownSource) -> JsonObject:
    """What the page filters and sorts by."""
    readings = statement.readings
    told = statement.told
    marks = []
    if any(not r.as_expected for r in readings):
        marks.append("off")
    if any(r.entry.get("validity", "exercised") != "exercised" for r in readings):
        marks.append("doubt")
    if any(r.entry.get("not_shown_to_be_needed") for r in readings):
        marks.append("unneeded")
    if statement.refuted:
        marks.append("printed-falls")
    says = (str(r.entry.get("statement", "")) for r in readings)
    printed = statement.view.printed if statement.view else ""
    found = [statement.id, statement.place, printed, told.gist if told else "", *says]
    tight = max((r.entry.get("tightness") or 0.0 for r in readings), default=0.0)
    return {
        "data_source": source.source.name,
        "data_truth": " ".join(sorted({r.truth for r in readings})),
        "data_mark": " ".join(marks),
        "data_weight": len(Weight) - list(Weight).index(told.weight) if told else 0,
        "data_tight": tight if tight < 1e300 else 1e300,
        "data_seconds": round(sum(float(r.entry.get("seconds") or 0) for r in readings), 3),
        "data_text": " ".join(found).lower(),
    }


def _gist(statement: ShownStatement) -> str:
    """One sentence on a statement without an erratum: its first reading's."""
    return str(statement.readings[0].entry.get("statement", ""))


def _printed(statement: ShownStatement) -> Iterator[Markup]:
    if statement.view and statement.view.printed:
        origin = statement.view.origin
        yield element("h4", "As printed" if origin == "printed" else origin.capitalize())
        yield element("blockquote", sentence(statement.view.printed))


def _fell(statement: ShownStatement, source: ShownSource) -> Iterator[Markup]:
    """What an erratum says, with instances that are confirmed while the page is made."""
    told = statement.told
    if told is None:
        return
    yield element("h4", "What was found")
    if told.fell:
        yield element("p", element("b", "What fell: "), sentence(f"{told.fell}."))
    weight = element("span", f" This {WEIGHTS[told.weight]}.", class_="soft")
    yield element("p", sentence(told.gist), weight)
    yield element("p", element("b", "Fails: "), sentence(told.fails))
    by_id = {r.id: r for r in statement.readings}
    for name, case in told.telling.items():
        reading = by_id.get(name)
        if reading is None or reading.claim is None or reading.truth != str(Truth.REFUTED):
            continue
        instance, slack = refutation(reading.claim, case, source.source.names)
        yield element(
            "p", element("b", "At: "), element("code", instance), f" ({slack}) refutes ",
            link(name, reading.name), ".", class_="values",
        )  # fmt: skip
    stands = [by_id[name] for name in told.stands if name in by_id]
    names = joined(
        (" ", element("span", link(r.id, r.name), " ", badge(r.truth), class_="count"))
        for r in stands
    )
    if told.repair:
        yield element("p", element("b", "Repair: "), sentence(told.repair), names)
    for reading in () if told.repair else stands:
        says = joined(sentence(reading.entry.get("statement", "")), " ")
        at = (link(reading.id, reading.name), " ", badge(reading.truth))
        yield element(
            "p", element("b", "True instead: "), says, element("span", at, class_="count")
        )


def _runs(statement: ShownStatement) -> Iterator[Markup]:
    """Every distinct formula of these readings, and what its names stand for."""
    lines: dict[str, tuple[Entry, list[str]]] = {}
    where: dict[str, Entry] = {}
    for reading in statement.readings:
        ran = reading.entry.get("formula")
        if ran:
            line = ran["conclusion"]
            lines.setdefault(line["plain"], (line, []))[1].append(reading.name)
            where |= {line["plain"]: line for line in ran.get("where", [])}
    if not lines:
        return
    yield element("h4", "What ran")
    several = len(lines) > 1
    shown = [
        joined(element("p", ", ".join(names), class_="soft") if several else None, formula(line))
        for line, names in lines.values()
    ]
    yield scrolled("formulas", shown)
    if where:
        listed = (element("li", formula(line, block=False)) for line in where.values())
        yield folded("where", scrolled("definitions", element("ul", listed)))


def _resting(statement: ShownStatement, known: set[str]) -> Iterator[Markup]:
    if statement.view is None:
        return
    said = (
        "What falls with it, or has to be read as repaired"
        if statement.refuted
        else "What rests on it"
    )
    for title, names in (("Rests on", statement.view.rests_on), (said, statement.view.carries)):
        if names:
            listed = (
                joined(", " if k else None, link(n) if n in known else n)
                for k, n in enumerate(names)
            )
            yield element("p", element("b", f"{title}: "), listed)


def _files(statement: ShownStatement, folder: Path) -> Iterator[Markup]:
    if statement.view:
        readings = statement.view.readings
        places = dict.fromkeys((r.file, r.line) for r in readings)
        listed = (
            joined(", " if k else None, file_link(f, folder, n)) for k, (f, n) in enumerate(places)
        )
        yield element("p", element("b", "Declared in: "), listed)


def file_link(file: str | Path, folder: Path, line: int | None = None) -> Markup:
    """A link to a file of this machine, relative to where the page lies."""
    path = Path(file).resolve()
    where = Path(os.path.relpath(path, folder.resolve())).as_posix()
    here = Path.cwd()
    shown = path.relative_to(here).as_posix() if path.is_relative_to(here) else path.name
    return element("a", f"{shown}:{line}" if line else shown, href=quote(where))
