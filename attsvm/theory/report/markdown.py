"""A source as a page of Markdown: errata for its authors, by weight, and a row a reading.

Each sentence stands once: in its erratum, else in the table. `attsvm show` prints the formulas and
hypotheses of a reading. Counterexamples are confirmed while the page is made. Nothing on it depends
on time, so a run gives the same bits wherever it is drawn again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from attsvm._types import Entry
from attsvm._words import counted, printable
from attsvm.errors import UsageError
from attsvm.theory.declaration.verdict import Evidence, Truth, Validity
from attsvm.theory.instance import codec
from attsvm.theory.packs.packs import Pack
from attsvm.theory.record import curated
from attsvm.theory.record.counterexample import read
from attsvm.theory.record.ledger import Run
from attsvm.theory.report.errata import Weight, claims_of
from attsvm.theory.report.refutation import refutation
from attsvm.theory.report.terminal import tight
from attsvm.theory.report.view import AXES, ReadingView, SourceView, StatementView, source_view

_KINDS = {
    "literal": "Exactly what is printed; numbered where the words admit several forms.",
    "amended": "A repair of ours, meant to change as little as possible; the first ones may fall.",
    "sharp": "The strongest version that we know, with the best constant or rate where it has one.",
    "slack": "What the conclusion has to spare at an instance: for an inequality the right side "
    "less the left, for an equation minus the largest error, for sizes minus their misfit; about "
    "the limit of a run only its sign has a meaning.",
    "instances": "How many met the hypotheses and were examined.",
}
_RESTING = ("statement", "rests on", "what its fall touches")
_RESTS = (
    "A statement rests on those that its sentence uses or that print derives it from. `!!` marks "
    "one that an erratum overturns, `!` one that is refuted for a condition or a misprint. Such "
    "a fall touches what rests on it, directly or through others: that may be true, but a step of "
    "its printed argument has to be read as repaired."
)
_READINGS = ("reading", "says", "verdict", "tightness", "instances")
_EACH = (
    "A verdict is `truth / evidence / validity`; the words are explained at the end. Tightness is "
    "the largest ratio of left to right side that the run reached, for readings that compare two "
    "sides."
)


def source_page(name: str, packs: Sequence[Pack], run: Run, place: Path) -> str:
    """Return the page of a source.

    Args:
        name: the beginning of the ids of its claims.
        packs: loaded packs; files beside their claims may describe the source.
        run: the run with its verdicts.
        place: where the page will lie; links are relative to its folder.

    Raises:
        UsageError: there is no such source, or the run checked nothing of it.
        ClaimError: an instance that refutes nothing.
        FileError: words that fit no claim, or a curated counterexample that cannot be read.
    """
    if not any(c.id in run.verdicts for c in claims_of(packs, name)):
        raise UsageError(
            "the run has no verdict on that source",
            value=name,
            remedy=f"`attsvm verify {name}/` makes some.",
        )
    view = source_view(name, packs, run)
    with_claims = (
        replace(s, readings=tuple(r for r in s.readings if r.claim)) for s in view.statements
    )
    known = replace(view, statements=tuple(s for s in with_claims if s.readings))
    return _Page(known, run, place.parent).text(packs)


@dataclass(frozen=True, slots=True)
class _Page:
    view: SourceView
    run: Run
    folder: Path

    def text(self, packs: Sequence[Pack]) -> str:
        listed = [s for weight in Weight for s in self.view.of_weight(weight)]
        order = {s.id: s for s in (*listed, *self.view.statements) if s.refuted}
        errata = {s: self.erratum(s) for s in order.values()}
        fallen = [s for s, (points, _) in errata.items() if points]
        told = {r.id for s in fallen for r in errata[s][1]}
        rows = (row for s in self.view.statements for row in self.rows(s, told))
        parts = [
            f"# {safe(self.view.title)}",
            self.account(len(fallen)),
            *(f"**{safe(said)}**" for said in self.warnings(packs)),
            *(
                f"**Refuted in the run, and by no instance here: {s.id}.**"
                for s in errata
                if s not in fallen
            ),
            *self.first_page(fallen),
            "## Errata",
            *([_ERRATA] if fallen else [self.nothing()]),
            *(part for s in fallen for part in (f"### {heading(s)}", listed_as(errata[s][0]))),
            "## Readings",
            _EACH,
            table(_READINGS, rows),
            *self.resting(),
            "## Verdicts",
            table(("axis", "word", "means"), self.words()),
        ]
        return "\n\n".join(parts) + "\n"

    def account(self, fallen: int) -> str:
        """Return where the page comes from, and what it comes to."""
        view = self.view
        ours = sum(not s.printed_readings for s in view.statements)
        return (
            f"Generated by `attsvm report --source {view.source.name}` from a run of `attsvm "
            f"verify` (profile {safe(self.run.profile)}, seed {self.run.seed}); not to be edited. "
            f"{counted(len(view.statements), 'statement')} in "
            f"{counted(len(view.readings), 'reading')}. {view.account(fallen)}"
            f"{f' Of our own, without a literal reading: {ours}.' if ours else ''}"
        )

    def first_page(self, fallen: Collection[StatementView]) -> Iterable[str]:
        """Yield what the authors should read first: findings by weight, and the words used."""
        lists = []
        for weight in Weight:
            points = [
                f"[{self.told_apart(s)}](#{slug(heading(s))}): {safe(s.erratum.gist)}"
                for s in self.view.of_weight(weight)
                if s in fallen and s.erratum
            ]
            lists += [f"### {weight}", listed_as(points)] if points else []
        source = self.view.source
        if lists or (fallen and source.notes):
            yield from ("## For the authors", *map(safe, source.notes), *lists)
        if source.notation:
            yield "## Words and symbols"
            rows = ((safe(word), safe(means)) for word, means in source.notation.items())
            yield table(("word", "means"), rows)

    def told_apart(self, s: StatementView) -> str:
        """Return the place of an erratum, with the statement's name if others have that place."""
        place = place_of(s)
        alike = [o for o in self.view.statements if o.erratum and place_of(o) == place]
        return f"{place}, {safe(self.short(s.id))}" if len(alike) > 1 else place

    def short(self, statement: str) -> str:
        """Return an id without the name of the source."""
        return statement.removeprefix(f"{self.view.source.name}/")

    def nothing(self) -> str:
        """Return that no literal reading is refuted."""
        literal = [r for r in self.view.readings if r.literal]
        missing = sum(not r.entry for r in literal)
        but = f", but {missing} of {len(literal)} have no verdict" if missing else ""
        return f"No literal reading is refuted{but}."

    def warnings(self, packs: Sequence[Pack]) -> list[str]:
        """Return what a reader must know of the run: nothing, if all went well."""
        claims = [r.claim for r in self.view.readings if r.claim]
        absent = [r.id for r in self.view.readings if not r.entry]
        said = [] if self.run.finished else ["The run did not finish."]
        if self.run.damaged:
            said.append(f"{counted(self.run.damaged, 'line')} of its record cannot be read.")
        said += [f"{fault[:1].upper()}{fault[1:]}." for fault in self.run.faults]
        if absent:
            said.append(f"Without a verdict: {', '.join(absent)}.")
        for r in self.view.readings:
            want = r.entry.get("expected") or {}
            if r.entry.get("as_expected") is False or not r.words_as_expected:
                said.append(f"Not as expected: {r.id}, expected {_verdict(want)}.")
        files = [curated.shown(path, pack) for path, pack in curated.chosen(packs, claims).items()]
        replays = {f: r for f, r in self.run.replays.items() if f in files}
        fallen = replace(self.run, curated=tuple(files), replays=replays).fallen
        return said + [f"{result}: {file}." for file, result, _ in fallen]

    def rows(self, s: StatementView, told: Collection[str]) -> Iterable[tuple[str, ...]]:
        """Yield the rows of a statement; its erratum has the sentences of the readings `told`."""
        above = f"[above](#{slug(heading(s))})"
        for r in s.readings:
            reading = self.link(r.name, r.claim.file if r.claim else "")
            first = f"{safe(self.short(s.id))}, {safe(s.place)}<br>" if r is s.readings[0] else ""
            yield (
                first + reading,
                above if r.id in told else said_by(r),
                _verdict(r.entry),
                tight(r.entry) or "",
                str(r.entry.get("examples", "")),
            )

    def resting(self) -> Iterable[str]:
        """Yield what rests on what, if statements say so."""
        every = self.view.statements
        marks = {s.id: f"{self.short(s.id)}{mark(s)}" for s in every}

        def cell(names: Iterable[str]) -> str:
            return safe(", ".join(marks.get(id, self.short(id)) for id in names))

        if any(s.rests_on for s in every):
            touched = {s.id: s.carries if mark(s) else () for s in every}
            rows = (
                (cell([s.id]), cell(s.rests_on), cell(i for i in marks if i in touched[s.id]))
                for s in every
            )
            yield from ("## What rests on what", _RESTS, table(_RESTING, rows))

    def link(self, text: str, file: str | Path) -> str:
        where = os.path.relpath(Path(file).resolve(), self.folder.resolve())
        return f"[{safe(text)}]({quote(Path(where).as_posix())})"

    def erratum(self, s: StatementView) -> tuple[list[str], list[ReadingView]]:
        """Return what is printed, what fails and where, and the repair.

        With the readings whose sentences it has. Nothing if no instance refutes a literal one.
        """
        words, by_id = s.erratum, {r.id: r for r in s.readings}
        refuted = [r for r in s.printed_readings if r.truth == str(Truth.REFUTED)]
        said, stands = [], list[ReadingView]()
        printed = f"**{s.origin.capitalize()}.** {safe(s.quoted)}"
        if words is not None:
            printed = f"**Printed.** {safe(words.printed)}" if words.printed else printed
            said = [f"**Fails.** {safe(words.fails)}"]
            refuted = [by_id[name] for name in words.falls]
            stands = [by_id[name] for name in words.stands]
        own = words is not None and bool(words.printed)  # then the sentences stay in the table
        shown, fallen = self.counterexamples(refuted, says=not own)
        if not any(r.literal for r in fallen):
            return [], []
        points = [printed, *said, *shown]
        if words is None or not words.repair:
            true = [f"**True, {on(r)}.** {said_by(r)}" for r in stands]
            return [*points, *true], [*stands, *([] if own else refuted)]
        rests = f" ({', '.join(map(on, stands))}.)" if stands else ""
        return [*points, f"**Repair.** {safe(words.repair)}{rests}"], [] if own else refuted

    def counterexamples(
        self, readings: Iterable[ReadingView], *, says: bool
    ) -> tuple[list[str], list[ReadingView]]:
        """Return readings with the instance at which each fails, if one is at hand.

        With the readings that have one.
        """
        said, fallen, last = [], [], ""
        for r in readings:
            file = curated.place(r.claim) if r.claim else Path()
            stored = file.is_file()
            name = self.link(r.name, file) if stored else r.name
            point = f"**{name}.** {f'{said_by(r)} ' if says else ''}"
            if r.claim and stored and not r.stored:  # reading it raises what is wrong with it
                codec.decode_exactly(read(file)["instance"], r.claim.instance_type)
            if r.cases and r.claim:
                instance, slack = refutation(r.claim, r.cases[0], r.names)
                at = "the same instance" if instance == last else inline(instance)
                point += f"Fails at {at} ({safe(slack)})."
                fallen.append(r)
                last = instance
            said.append(point.rstrip())
        return said, fallen

    def words(self) -> Iterable[tuple[str, str, str]]:
        """Yield the words of this page, and of its verdicts, with their meanings."""
        yield from (("reading", word, meaning) for word, meaning in _KINDS.items())
        for axis in (Truth, Evidence, Validity):
            name = axis.__name__.lower()
            used = {r.entry.get(name) for r in self.view.readings}
            yield from ((name, str(word), word.meaning) for word in axis if str(word) in used)


_ERRATA = (
    "Each instance satisfies every hypothesis of the reading that fails at it and was confirmed, "
    "in exact or ball arithmetic unless floats are named, while this page was made. The slack is "
    "what a conclusion has to spare: below 0 it is violated, a strict one also at 0. A reading "
    "that is a link has its smallest known instance there, which may be shorter. `attsvm show` "
    "tells of a statement the hypotheses and formulas that run."
)


def place_of(s: StatementView) -> str:
    """Return where a statement stands: the place of its first reading."""
    return safe(s.readings[0].claim.place if s.readings[0].claim else s.place)


def heading(s: StatementView) -> str:
    """Return the heading of an erratum."""
    return f"{place_of(s)} (`{s.id}`)"


def mark(s: StatementView) -> str:
    """Return the mark of a statement of which a literal reading is refuted."""
    return "!!" if s.turned else "!" if s.refuted else ""


def on(r: ReadingView) -> str:
    """Return a reading with the run's word on its truth."""
    return f"{r.name}: {safe(r.truth)}"


def said_by(r: ReadingView) -> str:
    """Return the sentence of a reading."""
    return safe(r.claim.statement if r.claim else r.says)


def _verdict(words: Entry) -> str:
    """Return a recorded verdict on its three axes."""
    if not words:
        return "not run"
    return " / ".join(safe(words.get(axis, "?")) for axis in AXES)


_PIPE = r"\|"


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are Markdown already."""
    every = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(c.replace('|', _PIPE) for c in cells)} |" for cells in every)


def listed_as(points: Iterable[str]) -> str:
    """Return a list, a point a line."""
    return "\n".join(f"- {point}" for point in points)


def inline(text: str) -> str:
    """Return a text that is shown letter by letter within a line."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " * ("`" in text)
    return f"{fence}{pad}{text}{pad}{fence}"


def safe(text: object) -> str:
    """Return text that Markdown sets as it is; within words an underscore is no mark."""
    plain = printable(" ".join(str(text).split()))
    return re.sub(r"([\\`*\[\]~$&]|<(?=[A-Za-z/!?])|(?<![A-Za-z0-9])_)", r"\\\1", plain)


def slug(heading: str) -> str:
    """Return the anchor that readers of Markdown give a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
