"""A reading on the page: verdict, hypotheses, siblings, proof, counterexample, its record."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from attsvm._types import Entry
from attsvm._words import counted
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.instance.in_words import in_words
from attsvm.theory.record.curated import known_witness
from attsvm.theory.record.snippets import python
from attsvm.theory.report.errata import Erratum, to_show
from attsvm.theory.report.markup import (
    Markup,
    anchor,
    element,
    folded,
    joined,
    sentence,
    table,
)
from attsvm.theory.report.page.contents import (
    AXES,
    ShownReading,
    ShownSource,
    ShownStatement,
    Stored,
)
from attsvm.theory.report.page.mathml import formula
from attsvm.theory.report.page.words import badge
from attsvm.theory.report.picture import drawn
from attsvm.theory.report.script import Writer, script, verifier
from attsvm.theory.report.terminal import NOT_SHOWN, ranked, tight

_STEPS = 6
"""A proof of more steps is folded."""


def reading_section(
    reading: ShownReading, statement: ShownStatement, source: ShownSource, folder: Path
) -> Markup:
    """The section of a reading."""
    entry = reading.entry
    return element(
        "section",
        element("h3", reading.name, *_verdict(entry)),
        *_expected(reading),
        element("p", sentence(entry.get("statement") or getattr(reading.claim, "statement", ""))),
        *_differs(reading, statement),
        *_counterexample(reading, source, statement.told),
        _check(reading),
        *_record(reading),
        id=anchor(reading.id),
        class_="reading",
    )


def _verdict(entry: Entry) -> Iterator[Markup]:
    if not entry:
        yield badge("not run")
    for axis in AXES if entry else ():
        yield badge(entry.get(axis, "?"), plain=axis != "truth")
    if entry.get("reused"):
        yield badge("of an earlier run of the same code")


def _expected(reading: ShownReading) -> Iterator[Markup]:
    if reading.entry and not reading.as_expected:
        want = reading.entry.get("expected") or {}
        said = ", ".join(str(want.get(axis, "?")) for axis in AXES)
        yield element("p", f"Not as expected; expected: {said}.", class_="off")


def _differs(reading: ShownReading, statement: ShownStatement) -> Iterator[Markup]:
    """What it has otherwise than the first reading, and which hypotheses it cannot do without."""
    shown = statement.view.readings if statement.view else ()
    here = next((r for r in shown if r.name == reading.name), None)
    if here is None or not (here.differs or here.added or here.dropped):
        return
    first = min(shown, key=lambda r: not r.name.startswith("literal"))
    entry = reading.entry
    needed = dict.fromkeys(entry.get("needed", {}), " (needed)")
    needed |= dict.fromkeys(entry.get("not_shown_to_be_needed", []), " (not shown to be needed)")
    added = [f"{name}{needed.get(name, '')}" for name in here.added]
    parts = [
        (f"Otherwise than in {first.name}: ", here.differs),
        (f"Hypotheses that {first.name} lacks: ", added),
        (f"Hypotheses of {first.name} that it drops: ", here.dropped),
    ]
    for lead, names in parts:
        if names:
            yield element("p", element("b", lead), sentence("; ".join(names)), ".")


def _check(reading: ShownReading) -> Markup:
    """What was run and what came out, under a line of its figures; open where it leaves a doubt."""
    entry = reading.entry
    siblings, steps = entry.get("siblings", []), entry.get("steps", [])
    refuted = sum(bool(s.get("refuted")) for s in siblings)
    figures = [counted(int(entry.get("examples", 0)), "instance")] if entry else ["not run"]
    figures += [f"tightness {said}"] if (said := tight(entry)) else []
    figures += [f"{refuted} of {counted(len(siblings), 'sibling')} refuted"] if siblings else []
    figures += [f"proof in {counted(len(steps), 'step')}"] if steps else []
    warnings = entry.get("warnings", [])
    return folded(
        joined("The check: ", element("span", ", ".join(figures), class_="soft")),
        element("dl", _facts(reading), class_="facts"),
        *_hypotheses(entry),
        *_siblings(siblings),
        *_proof(entry),
        element("p", (joined(w, " ") for w in warnings), class_="soft") if warnings else None,
        class_="check",
        open=not reading.as_expected or entry.get("validity", "exercised") != "exercised",
    )


def _facts(reading: ShownReading) -> Iterator[Markup]:
    """Figures of the check, a term and what it is each."""
    entry = reading.entry
    facts: list[tuple[str, object]] = []
    if entry:
        screened = entry.get("screened")
        more = f"; {screened} more screened in floats" if screened else ""
        facts.append(("instances", f"{entry.get('examples', 0)} examined{more}"))
        if entry.get("stand_in"):
            said = f"{entry.get('decided', 0)} in balls or rationals"
            alone = f"{entry.get('by_stand_in', 0)} by {entry['stand_in']} alone"
            facts.append(("decided", f"{said}, {alone}"))
    facts += [("tightness", told)] if (told := tight(entry)) else []
    facts += [("evidence", sentence(entry["reason"]))] if entry.get("reason") else []
    facts += [
        (f"{kind} (how often)", ranked(found, 8))
        for kind, found in entry.get("coverage", {}).items()
    ]
    if entry.get("broke"):
        facts.append(("raised on", f"{entry['broke']} made-up: {entry.get('broke_note', '')}"))
    if reading.claim is not None:
        facts.append(("repeat", element("code", f"attsvm verify {reading.id}")))
    return (joined(element("dt", a), element("dd", b)) for a, b in facts)


def _hypotheses(entry: Entry) -> Iterator[Markup]:
    """Each hypothesis as it runs, how often it was met, and whether it is shown to be needed."""
    met = entry.get("hypotheses", {})
    looked = int(entry.get("examples", 0)) + int(entry.get("rejected", 0))
    ran = (entry.get("formula") or {}).get("hypotheses", {})
    needed, open_ = entry.get("needed", {}), entry.get("not_shown_to_be_needed", [])
    rows = []
    for name in dict.fromkeys([*met, *open_]):
        shown, line = needed.get(name), ran.get(name)
        told = formula(line, block=False) if line and line.get("plain") != name else None
        said = NOT_SHOWN if name in open_ else ""
        if shown:
            said = f"yes: without it refuted by {shown['found_by']}, {shown['evidence']}"
        counted = f"{met[name]} of {looked}" if name in met else ""
        last = [said] if needed or open_ else []
        rows.append((joined(sentence(name), " ", told), counted, *last))
    if rows:
        yield element("h4", "Hypotheses")
        yield table(("hypothesis", "satisfied by", "needed")[: len(rows[0])], rows)


def _siblings(siblings: Iterable[Entry]) -> Iterator[Markup]:
    rows = [
        (
            sentence(s.get("name")),
            f"refuted by {s.get('found_by')}" if s.get("refuted") else "survived",
            s.get("evidence", "") if s.get("refuted") else "",
        )
        for s in siblings
    ]
    if rows:
        yield element("h4", "False siblings")
        yield table(("sibling", "outcome", "evidence"), rows)


def _proof(entry: Entry) -> Iterator[Markup]:
    if entry.get("proof"):
        yield element("h4", "Proof")
        yield element("p", sentence(entry["proof"]))
        steps = [element("li", sentence(step)) for step in entry.get("steps", [])]
        listed = element("ol", steps) if steps else Markup("")
        yield folded(f"{len(steps)} steps", listed) if len(steps) > _STEPS else listed


def _counterexample(
    reading: ShownReading, source: ShownSource, words: Erratum | None
) -> Iterator[Markup]:
    """Its instances in values, the first as a picture, scripts of them, and the stored replay."""
    stored = reading.stored
    if stored is None and not reading.entry.get("counterexample"):
        return
    yield element("h4", "Counterexample")
    if stored is None:
        yield element("p", element("code", f"attsvm replay {reading.entry['counterexample']}"))
        return
    claim, names = reading.claim, source.source.names
    shown = (stored.case,) if claim is None else to_show(words, claim, [stored.case])
    told, least = in_words(shown[0], names), in_words(stored.case, names)
    yield element("p", element("code", told), class_="values")
    if claim is not None:
        pictures = (painter.draw(claim, shown[0]) for painter in source.painters)
        yield from (drawn(picture) for picture in pictures if picture is not None)
    if least != told:
        yield element(
            "p", element("b", "Smallest known: "), element("code", least), class_="values"
        )
    certificate = stored.document.get("certificate") or {}
    said = f"{certificate.get('evidence', '')}: {certificate.get('method', '')}"
    if reading.replayed:
        result, reason = reading.replayed.get("result", ""), reading.replayed.get("reason", "")
        said = f"{result.capitalize()} at the start of this run: {reason}"
    yield element("p", said)
    here = Path(os.path.relpath(stored.file)).as_posix()
    yield element("p", "Replay: ", element("code", f"attsvm replay {here}"))
    yield from _scripts(reading, _texts(claim, stored, shown, source.writers))


def _texts(
    claim: Claim | None, stored: Stored, shown: Sequence[Any], writers: Iterable[Writer]
) -> Iterator[tuple[str, str]]:
    """What can be copied, by name."""
    if claim is not None:
        short = next(filter(None, (script(claim, case, writers) for case in shown)), None)
        if short is not None:
            told = "shows it" if short.shows else "prints sides that floats cannot tell apart"
            yield f"NumPy script that {told}", short.text
        exact = next(filter(None, (verifier(claim, case) for case in shown)), None)
        if exact is not None:
            yield "Verifier in Python's own fractions", exact
        witness = known_witness(claim, shown[0])
        yield "Python that confirms it with attsvm", python(claim, "", shown[0], witness)
    if isinstance(stored.document.get("latex"), str):
        yield "LaTeX of the stored one", stored.document["latex"]


def _scripts(reading: ShownReading, texts: Iterable[tuple[str, str]]) -> Iterator[Markup]:
    for name, shown in texts:
        word = name.split()[0]
        place = f"{anchor(reading.id)}:{word.lower()}"
        yield folded(
            name,
            element("button", f"copy {word}", type="button", data_copy=place),
            element("pre", shown, id=place, tabindex=0),
        )  # fmt: skip


def _record(reading: ShownReading) -> Iterator[Markup]:
    """What the ledger holds, whole."""
    if reading.entry:
        shown = json.dumps(reading.entry, indent=1, ensure_ascii=False)
        yield from _scripts(reading, [("JSON record", shown)])
