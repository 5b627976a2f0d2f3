"""On top of the page: what was found, by weight, and a cell for each reading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from attsvm.theory.report.errata import Weight
from attsvm.theory.report.markup import Markup, element, folded, joined, link, sentence
from attsvm.theory.report.page.contents import ShownSource, ShownStatement
from attsvm.theory.report.page.words import cell, legend

_FIRST = 4
"""How many of the heaviest findings of each source are seen at once."""


def findings(sources: Sequence[ShownSource]) -> Iterator[Markup]:
    """What the run refuted of what is printed, the heaviest first."""
    yield element("h2", "Findings, the heaviest first", id="findings")
    found = {w: [_told(source, w) for source in sources] for w in Weight}
    for weight, by_source in found.items():
        first = [s for told in by_source for s in told[:_FIRST]]
        rest = [s for told in by_source for s in told[_FIRST:]]
        if weight is Weight.CLAIM and first:
            yield element("h3", weight)
            yield _points(first)
            title: str = f"{len(rest)} more of these"
        else:
            rest, title = first + rest, f"{weight} ({len(first + rest)})"
        if rest:
            yield folded(title, _points(rest))
    plain = [s for source in sources for s in source.statements if s.refuted and s.told is None]
    if plain:
        listed = element("ul", (element("li", link(s.id), f": {s.place}") for s in plain))
        title = f"Refuted as printed, without an erratum ({len(plain)})"
        yield folded(title, listed, open=not any(map(any, found.values())))
    elif not any(map(any, found.values())):
        yield element("p", "No literal reading is refuted.")


def _points(statements: Iterable[ShownStatement]) -> Markup:
    return element(
        "ul",
        (
            element(
                "li",
                sentence(s.told.gist),
                element("span", link(s.id), f" · {s.place}", class_="soft"),
            )
            for s in statements
            if s.told is not None
        ),
        class_="findings",
    )


def _told(source: ShownSource, weight: Weight) -> list[ShownStatement]:
    """The statements whose errata weigh so much and were confirmed, in the order of these."""
    by_id = {s.id: s for s in source.statements if s.told is not None}
    return [by_id[e.statement] for e in source.source.of_weight(weight) if e.statement in by_id]


def strip(sources: Sequence[ShownSource]) -> Markup:
    """One linked cell a reading, grouped by source and statement."""
    rows = [
        joined(
            element("h3", source.source.name, element("span", f" {source.title}", class_="soft")),
            element(
                "ul",
                (element("li", map(cell, s.readings)) for s in source.statements),
                class_="cells",
            ),
        )
        for source in sources
    ]
    return element(
        "section",
        element("h2", "All readings", id="strip"),
        element("p", "A cell is a reading, which is one exact form of a statement. Cells without a "
                "gap between them belong to one statement. A cell opens its reading.",
                class_="soft"),
        legend(),
        rows,
        class_="strip",
    )  # fmt: skip
