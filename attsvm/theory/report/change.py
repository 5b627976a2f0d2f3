"""Differences between two runs: readings that came and went, verdicts, sentences, tightness."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from attsvm._types import Entry
from attsvm.theory.record.ledger import Run

_AXES = ("truth", "evidence", "validity")
_CLOSER = 1.01
"""Minimum factor between two tightnesses that counts as a change; less is chance of the search."""


@dataclass(frozen=True, slots=True)
class Change:
    """A difference: the reading, the property, the old value and the new value."""

    id: str
    what: str
    before: str
    now: str


def changes(before: Run, now: Run) -> list[Change]:
    """Return every difference between the records of two runs, the most important kinds first."""
    ids = sorted({*before.verdicts, *now.verdicts})
    found = [c for id in ids for c in _of(id, before.verdicts.get(id), now.verdicts.get(id))]
    kinds = ["verdict", "sentence", "formula", "hypotheses", "sibling", "tightness"]
    kinds += ["not run now", "not run before"]
    return sorted(found, key=lambda c: (kinds.index(c.what), c.id))


def _of(id: str, old: Entry | None, new: Entry | None) -> Iterator[Change]:
    if old is None or new is None:
        what = "not run before" if old is None else "not run now"
        yield Change(id, what, _verdict(old), _verdict(new))
        return
    kinds = ("verdict", "sentence", "formula", "hypotheses")
    for what, a, b in zip(kinds, _words(old), _words(new), strict=True):
        if a != b:
            yield Change(id, what, a, b)
    outcomes = [{s["name"]: bool(s["refuted"]) for s in e.get("siblings", [])} for e in (old, new)]
    for name in dict.fromkeys([*outcomes[0], *outcomes[1]]):
        a, b = (_OUTCOMES[each.get(name)] for each in outcomes)
        if a != b:
            yield Change(id, "sibling", f"{name}: {a}", f"{name}: {b}")
    was, now = (float(e.get("tightness") or 0.0) for e in (old, new))
    if max(was, now) > _CLOSER * min(was, now):
        yield Change(id, "tightness", f"{was:.4g}", f"{now:.4g}")


_OUTCOMES = {None: "not there", True: "refuted", False: "survived"}


def _words(entry: Entry) -> tuple[str, str, str, str]:
    """Return the verdict of a reading, its sentence, its formula, its hypotheses."""
    formula = (entry.get("formula") or {}).get("conclusion", {}).get("plain", "")
    hypotheses = "; ".join(entry.get("hypotheses", {}))
    return _verdict(entry), str(entry.get("statement", "")), str(formula), hypotheses


def _verdict(entry: Entry | None) -> str:
    return ", ".join(str(entry.get(axis, "?")) for axis in _AXES) if entry else "not there"
