"""Which statement rests on which, what a refuted one touches, and a drawing of it.

Statements declare what their sentences use or are derived from in print (`Statement.rests_on`).
Whether one is refuted is a matter of a run: a literal reading of it is. What rests on it may be
true all the same; a step of its printed argument has to be read as repaired.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape

from attsvm.errors import ClaimError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.packs.packs import Pack
from attsvm.theory.record.ledger import Run
from attsvm.theory.report.errata import Weight, claims_of, find_source, in_order
from attsvm.theory.report.markup import anchor

Dependencies = Mapping[str, tuple[str, ...]]
"""By statement, the statements that it rests on."""

_WIDE, _HIGH, _ACROSS, _DOWN = 215, 20, 275, 28
_COLOURS = {"stands": "#cfe8d3", "refuted": "#fbe3b8", "turned": "#f6c9c4"}
_LEGEND = (
    "What stands to the right rests on what it is joined to. Red: a literal reading is refuted, "
    "which overturns it; yellow: for a condition or a misprint; green: none is. Red frame: rests "
    "on a red one."
)


def dependencies(claims: Iterable[Claim]) -> dict[str, tuple[str, ...]]:
    """What each statement of these claims rests on, in their order."""
    found: dict[str, dict[str, None]] = {}
    for claim in claims:
        found.setdefault(claim.statement_id, {}).update(dict.fromkeys(claim.rests_on))
    return {statement: tuple(needed) for statement, needed in found.items()}


def resting_on(statement: str, rests: Dependencies) -> list[str]:
    """All that rest on a statement, directly or through others, in the order of `rests`."""
    reached = {statement}
    while more := {s for s in rests if s not in reached and reached & set(rests[s])}:
        reached |= more
    return [s for s in rests if s in reached and s != statement]


def levels(rests: Dependencies) -> dict[str, int]:
    """How many steps each statement is above those that rest on nothing.

    Raises:
        ClaimError: statements rest on each other in a circle.
    """
    found: dict[str, int] = {}
    while len(found) < len(rests):
        open_ = {s: [n for n in rests[s] if n in rests] for s in rests if s not in found}
        ready = [s for s, needed in open_.items() if all(n in found for n in needed)]
        if not ready:
            raise ClaimError(
                "statements rest on each other in a circle", value=", ".join(sorted(open_))
            )
        found |= {s: max((found[n] + 1 for n in open_[s]), default=0) for s in ready}
    return found


def drawing(packs: Sequence[Pack], names: Iterable[str], run: Run) -> str:
    """The statements of these sources as SVG, coloured by what a run came to.

    Raises:
        ClaimError: statements rest on each other in a circle.
    """
    rests: dict[str, tuple[str, ...]] = {}
    states: dict[str, str] = {}
    for name in names:
        source = find_source(packs, name)
        for statement, claims in in_order(source, claims_of(packs, name)).items():
            rests |= dependencies(claims)
            literal = [c.id for c in claims if c.reading.startswith("literal")]
            if any(run.verdicts.get(id, {}).get("truth") == "refuted" for id in literal):
                words = source.erratum(statement)
                turned = words is not None and words.weight is Weight.CLAIM
                states[statement] = "turned" if turned else "refuted"
    return svg(rests, states)


def svg(rests: Dependencies, states: Mapping[str, str], shown: Collection[str] = ()) -> str:
    """A drawing: to the right of a statement those that rest on it.

    `states` tells which statements are "refuted", or "turned" where an erratum that weighs most is
    about them. A red frame is around those that rest on a turned one, directly or through others.
    Those that are `shown` on the page that holds the drawing are links to there.
    """
    turned = [s for s, state in states.items() if state == "turned"]
    touched = {s for statement in turned for s in resting_on(statement, rests)}
    places = _places(rests)
    edges, boxes = [], []
    for statement, (x, y) in places.items():
        for other in (places[s] for s in rests[statement] if s in places):
            left, low, high = other[0] + _WIDE, other[1] + _HIGH // 2, y + _HIGH // 2
            bend = (left + x) // 2
            edges.append(f"<path d='M{left} {low}C{bend} {low} {bend} {high} {x} {high}'/>")
        frame = "#a3211b" if statement in touched else "#999"
        fill = _COLOURS[states.get(statement, "stands")]
        box = (
            f"<rect x='{x}' y='{y}' width='{_WIDE}' height='{_HIGH}' rx='4' stroke='{frame}' "
            f"fill='{fill}'/><text x='{x + 6}' y='{y + 14}'>{escape(statement)}</text>"
        )
        boxes.append(f"<a href='#{anchor(statement)}'>{box}</a>" if statement in shown else box)
    wide = max((x for x, _ in places.values()), default=0) + _WIDE + 10
    tall = max((y for _, y in places.values()), default=0) + _HIGH + 10
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {max(wide, 1200)} {tall}' "
        "font-family='sans-serif' font-size='12'>\n<rect width='100%' height='100%' fill='white'/>"
        f"<text x='10' y='22'>{_LEGEND}</text>\n<g fill='none' stroke='#bbb'>{''.join(edges)}</g>\n"
        + "\n".join(boxes)
        + "\n</svg>\n"
    )


def _places(rests: Dependencies) -> dict[str, tuple[int, int]]:
    """Where the box of each statement begins: sources below each other, levels side by side."""
    level = levels(rests)
    found: dict[str, tuple[int, int]] = {}
    top = 0
    for source in dict.fromkeys(s.partition("/")[0] for s in rests):
        rows = dict.fromkeys(level.values(), top)
        for statement in (s for s in rests if s.startswith(f"{source}/")):
            column = level[statement]
            found[statement] = (10 + column * _ACROSS, 40 + rows[column] * _DOWN)
            rows[column] += 1
        top = max(rows.values()) + 1
    return found
