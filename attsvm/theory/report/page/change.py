"""What changed between two runs: readings that came and went, verdicts, sentences, tightness."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from attsvm._types import Entry
from attsvm.theory.record.ledger import Run
from attsvm.theory.report.markup import Markup, element, folded, link, table

_AXES = ("truth", "evidence", "validity")
_CLOSER = 1.01
"""A tightness that differs by less than this factor is the luck of a search."""

_SEEN = 25
"""So many differences of a kind are seen at once."""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: which reading, in what, from what, to what."""

    id: str
    what: str
    before: str
    now: str


def changes(before: Run, now: Run) -> list[Change]:
    """Every difference of what two runs recorded of their readings, the weightiest kinds first."""
    found = [change for id in sorted({*before.verdicts, *now.verdicts}) for change in _of(
        id, before.verdicts.get(id), now.verdicts.get(id))]  # fmt: skip
    kinds = ["verdict", "sentence", "formula", "hypotheses", "sibling", "tightness"]
    kinds += ["not run now", "not run before"]
    return sorted(found, key=lambda c: (kinds.index(c.what), c.id))


def _of(id: str, old: Entry | None, new: Entry | None) -> Iterator[Change]:
    if old is None or new is None:
        what = "not run before" if old is None else "not run now"
        yield Change(id, what, _verdict(old), _verdict(new))
        return
    if _verdict(old) != _verdict(new):
        yield Change(id, "verdict", _verdict(old), _verdict(new))
    for what, a, b in zip(
        ("sentence", "formula", "hypotheses"), _said(old), _said(new), strict=True
    ):
        if a != b:
            yield Change(id, what, a, b)
    outcomes = [{s["name"]: bool(s["refuted"]) for s in e.get("siblings", [])} for e in (old, new)]
    for name in dict.fromkeys([*outcomes[0], *outcomes[1]]):
        a, b = (_outcome(each.get(name)) for each in outcomes)
        if a != b:
            yield Change(id, "sibling", f"{name}: {a}", f"{name}: {b}")
    was, now = (float(e.get("tightness") or 0.0) for e in (old, new))
    if max(was, now) > _CLOSER * min(was, now):
        yield Change(id, "tightness", f"{was:.4g}", f"{now:.4g}")


def _said(entry: Entry) -> tuple[str, str, str]:
    """What a reading says: its sentence, its formula, its hypotheses."""
    formula = (entry.get("formula") or {}).get("conclusion", {}).get("plain", "")
    return str(entry.get("statement", "")), str(formula), "; ".join(entry.get("hypotheses", {}))


def _outcome(refuted: bool | None) -> str:
    return {None: "not there", True: "refuted", False: "survived"}[refuted]


def _verdict(entry: Entry | None) -> str:
    return ", ".join(str(entry.get(axis, "?")) for axis in _AXES) if entry else "not there"


def changes_section(before: Run, now: Run, known: Collection[str], only: str | None) -> Markup:
    """The differences by their kinds; links lead to the `known` readings, those of one source."""
    of = f"{only}/" if only else ""
    found = [c for c in changes(before, now) if c.id.startswith(of)]
    kinds = dict.fromkeys(c.what for c in found)
    parts = [
        folded(
            f"{kind} ({len(group)})",
            table(
                ("reading", "before", "now"),
                ((link(c.id) if c.id in known else c.id, c.before, c.now) for c in group),
            ),
            open=len(group) <= _SEEN,
        )
        for kind in kinds
        if (group := [c for c in found if c.what == kind])
    ]
    same = (before.profile, before.seed) == (now.profile, now.seed)
    other = f"The earlier run had profile {before.profile} and seed {before.seed}. "
    return element(
        "section",
        element("h2", f"What changed ({len(found)})", id="changes"),
        element("p", "" if same else other, "" if found else "Nothing changed."),
        parts,
    )
