"""A source as a page of Markdown: errata for its authors, by weight, and a row a reading.

Each sentence stands once: in its erratum, else in the table. What runs of a reading, and under
which hypotheses, is told by `attsvm show`.

Verdicts, tightness and counts come from a run; statements and places from the claims; words from
people (`attsvm.theory.report.errata`); counterexamples from instances that are confirmed while the
page is made. Nothing on it depends on time, so a run gives the same bits wherever it is drawn
again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from attsvm._types import Entry, JsonObject
from attsvm._words import counted, printable
from attsvm.errors import UsageError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.verdict import Evidence, Truth, Validity
from attsvm.theory.instance import codec
from attsvm.theory.packs.packs import Pack
from attsvm.theory.record import curated
from attsvm.theory.record.counterexample import read
from attsvm.theory.record.ledger import Run
from attsvm.theory.record.two_lines import refutation
from attsvm.theory.report.dependencies import Dependencies, dependencies, resting_on
from attsvm.theory.report.errata import (
    Source,
    Weight,
    claims_of,
    ensure_whole,
    find_source,
    in_order,
    standing,
)
from attsvm.theory.report.terminal import tight

_STANDS = {str(Truth.PROVED), str(Truth.HOLDS)}
_AXES = ("truth", "evidence", "validity")
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
    """The page of a source.

    Args:
        name: what the ids of its claims begin with.
        packs: loaded packs; one of them may describe the source.
        run: whose verdicts it shows.
        place: where the page will lie; links are relative to its folder.

    Raises:
        UsageError: there is no such source, or the run checked nothing of it.
        ClaimError: words that fit no reading, or an instance that refutes nothing.
        FileError: a curated counterexample that cannot be read.
    """
    claims = claims_of(packs, name)
    if not any(c.id in run.verdicts for c in claims):
        raise UsageError(
            "the run has no verdict on that source",
            value=name,
            remedy=f"`attsvm verify {name}/` makes some.",
        )
    source = find_source(packs, name)
    ensure_whole(source, claims)
    return _Page(source, in_order(source, claims), run, place.parent).text(packs)


@dataclass(frozen=True, slots=True)
class _Page:
    source: Source
    statements: dict[str, list[Claim]]
    run: Run
    folder: Path

    def text(self, packs: Sequence[Pack]) -> str:
        (first, *_), *_ = self.statements.values()
        listed = [e.statement for weight in Weight for e in self.source.of_weight(weight)]
        order = dict.fromkeys([*listed, *self.statements])  # those without words come last
        errata = {s: self.erratum(s) for s in order if self.falls(self.statements[s])}
        fallen = [s for s, (points, _) in errata.items() if points]
        told = {c.id for s in fallen for c in errata[s][1]}
        parts = [
            f"# {safe(first.source)}",
            self.account(fallen),
            *(f"**{safe(said)}**" for said in self.warnings(packs)),
            *(
                f"**Refuted in the run, and by no instance here: {s}.**"
                for s in errata
                if s not in fallen
            ),
            *self.first_page(fallen),
            "## Errata",
            *([_ERRATA] if fallen else [self.nothing()]),
            *(part for s in fallen for part in (f"### {self.heading(s)}", listed_as(errata[s][0]))),
            "## Readings",
            _EACH,
            table(_READINGS, (r for c in self.statements.values() for r in self.rows(c, told))),
            *self.resting(),
            "## Verdicts",
            table(("axis", "word", "means"), self.words()),
        ]
        return "\n\n".join(parts) + "\n"

    def account(self, fallen: Sequence[str]) -> str:
        """Where the page comes from, and what it comes to."""
        printed = [literal for claims in self.statements.values() if (literal := _literal(claims))]
        whole = [group for group in printed if all(self.truth(c) in _STANDS for c in group)]
        ours = len(self.statements) - len(printed)
        count = sum(map(len, self.statements.values()))
        return (
            f"Generated by `attsvm report --source {self.source.name}` from a run of `attsvm "
            f"verify` (profile {safe(self.run.profile)}, seed {self.run.seed}); not to be edited. "
            f"{counted(len(self.statements), 'statement')} in {counted(count, 'reading')}. "
            f"{standing(len(printed), len(fallen), len(whole))}"
            f"{f' Of our own, without a literal reading: {ours}.' if ours else ''}"
        )

    def first_page(self, fallen: Sequence[str]) -> Iterable[str]:
        """What the authors should read first: what was found, by its weight, and the words used."""
        lists = []
        for weight in Weight:
            found = [e for e in self.source.of_weight(weight) if e.statement in fallen]
            points = [
                f"[{self.told_apart(e.statement)}](#{slug(self.heading(e.statement))}): "
                f"{safe(e.gist)}"
                for e in found
            ]
            lists += [f"### {weight}", listed_as(points)] if points else []
        if lists or (fallen and self.source.notes):
            yield from ("## For the authors", *map(safe, self.source.notes), *lists)
        if self.source.notation:
            yield "## Words and symbols"
            rows = ((safe(word), safe(means)) for word, means in self.source.notation.items())
            yield table(("word", "means"), rows)

    def place(self, statement: str) -> str:
        """Where a statement stands."""
        return safe(self.statements[statement][0].place)

    def told_apart(self, statement: str) -> str:
        """The place of an erratum, with the statement's name where others have the same place."""
        place = self.place(statement)
        alike = [e for e in self.source.errata if self.place(e.statement) == place]
        return f"{place}, {safe(self.short(statement))}" if len(alike) > 1 else place

    def short(self, statement: str) -> str:
        """Its id, without the source's name."""
        return statement.removeprefix(f"{self.source.name}/")

    def heading(self, statement: str) -> str:
        """The heading of an erratum."""
        return f"{self.place(statement)} (`{statement}`)"

    def nothing(self) -> str:
        """What is said where no literal reading is refuted."""
        literal = [c for claims in self.statements.values() for c in _literal(claims)]
        missing = sum(self.truth(c) is None for c in literal)
        but = f", but {missing} of {len(literal)} have no verdict" if missing else ""
        return f"No literal reading is refuted{but}."

    def warnings(self, packs: Sequence[Pack]) -> list[str]:
        """What a reader must know of the run: nothing, where all went well."""
        claims = [c for group in self.statements.values() for c in group]
        absent = [c.id for c in claims if c.id not in self.run.verdicts]
        said = [] if self.run.finished else ["The run did not finish."]
        if self.run.damaged:
            said.append(f"{counted(self.run.damaged, 'line')} of its record cannot be read.")
        said += [f"{fault[:1].upper()}{fault[1:]}." for fault in self.run.faults]
        if absent:
            said.append(f"Without a verdict: {', '.join(absent)}.")
        for claim in claims:
            entry = self.entry(claim)
            want = entry.get("expected") or {}
            if entry.get("as_expected") is False or any(
                entry.get(axis) != want[axis] for axis in _AXES if axis in want
            ):
                said.append(f"Not as expected: {claim.id}, expected {_verdict(want)}.")
        files = [curated.shown(path, pack) for path, pack in curated.chosen(packs, claims).items()]
        replays = {f: r for f, r in self.run.replays.items() if f in files}
        fallen = replace(self.run, curated=tuple(files), replays=replays).fallen
        said += [f"{result}: {file}." for file, result, _ in fallen]
        return said

    def entry(self, claim: Claim) -> Entry:
        """What the run recorded of a reading; empty where it did not come to a verdict."""
        return self.run.verdicts.get(claim.id, {})

    def truth(self, claim: Claim) -> str | None:
        """The run's word on the truth of a reading, None where it did not come to one."""
        return self.entry(claim).get("truth")

    def falls(self, claims: Iterable[Claim]) -> bool:
        return any(self.truth(c) == str(Truth.REFUTED) for c in _literal(claims))

    def rows(self, claims: Sequence[Claim], told: Collection[str]) -> Iterable[tuple[str, ...]]:
        """The rows of a statement; the sentences of some readings are told in its erratum."""
        places = safe("; ".join(dict.fromkeys(c.place for c in claims)))
        above = f"[above](#{slug(self.heading(claims[0].statement_id))})"
        for c in claims:
            reading = self.link(c.reading, c.file)
            first = f"{safe(self.short(c.statement_id))}, {places}<br>" if c is claims[0] else ""
            yield (
                first + reading,
                above if c.id in told else safe(c.statement),
                _verdict(self.entry(c)),
                tight(self.entry(c)) or "",
                str(self.entry(c).get("examples", "")),
            )

    def resting(self) -> Iterable[str]:
        """What rests on what, where statements say so."""
        rests = dependencies(c for claims in self.statements.values() for c in claims)
        if any(rests.values()):
            rows = (self.rests(s, rests) for s in rests)
            yield from ("## What rests on what", _RESTS, table(_RESTING, rows))

    def rests(self, statement: str, rests: Dependencies) -> tuple[str, str, str]:
        """A row: a statement, what it rests on, and what its fall touches."""

        def told(names: Iterable[str]) -> str:
            return safe(", ".join(f"{self.short(s)}{self.mark(s)}" for s in names))

        falls = resting_on(statement, rests) if self.mark(statement) else ()
        return told([statement]), told(rests[statement]), told(falls)

    def mark(self, statement: str) -> str:
        """What marks a statement of this page of which a literal reading is refuted."""
        words = self.source.erratum(statement)
        turned = words is not None and words.weight is Weight.CLAIM
        return ("!!" if turned else "!") if self.falls(self.statements.get(statement, ())) else ""

    def link(self, text: str, file: str | Path) -> str:
        where = os.path.relpath(Path(file).resolve(), self.folder.resolve())
        return f"[{safe(text)}]({quote(Path(where).as_posix())})"

    def erratum(self, statement: str) -> tuple[list[str], list[Claim]]:
        """For the authors: what is printed, what fails and where, the repair.

        With the readings whose sentences it tells. Nothing where no instance refutes a literal one.
        """
        claims, words = self.statements[statement], self.source.erratum(statement)
        by_id = {c.id: c for c in claims}
        refuted = [c for c in _literal(claims) if self.truth(c) == str(Truth.REFUTED)]
        said, stands, telling = [], list[Claim](), JsonObject()
        first = claims[0]
        printed = f"**{first.origin.capitalize()}.** {safe(first.quoted)}"
        if words is not None:
            printed = f"**Printed.** {safe(words.printed)}" if words.printed else printed
            said = [f"**Fails.** {safe(words.fails)}"]
            refuted, telling = [by_id[name] for name in words.falls], dict(words.telling)
            stands = [by_id[name] for name in words.stands]
        own = words is not None and bool(words.printed)  # then the sentences stay in the table
        shown, fallen = self.counterexamples(refuted, telling, says=not own)
        if not any(c.reading.startswith("literal") for c in fallen):
            return [], []
        points = [printed, *said, *shown]
        if words is None or not words.repair:
            true = [f"**True, {self.on(c)}.** {safe(c.statement)}" for c in stands]
            return [*points, *true], [*stands, *([] if own else refuted)]
        rests = f" ({', '.join(map(self.on, stands))}.)" if stands else ""
        return [*points, f"**Repair.** {safe(words.repair)}{rests}"], [] if own else refuted

    def on(self, claim: Claim) -> str:
        """A reading with the run's word on its truth."""
        return f"{claim.reading}: {safe(self.truth(claim) or 'not run')}"

    def counterexamples(
        self, claims: Iterable[Claim], telling: Entry, *, says: bool
    ) -> tuple[list[str], list[Claim]]:
        """Readings with the instance at which each fails, if one is at hand; and those that do."""
        said, fallen, last = [], [], ""
        for claim in claims:
            point = f"**{self.stored(claim)}.** {f'{safe(claim.statement)} ' if says else ''}"
            if claim.id in telling or curated.place(claim).is_file():
                case = telling[claim.id] if claim.id in telling else _stored(claim)
                instance, slack = refutation(claim, case, self.source.names)
                at = "the same instance" if instance == last else inline(instance)
                point += f"Fails at {at} ({safe(slack)})."
                fallen.append(claim)
                last = instance
            said.append(point.rstrip())
        return said, fallen

    def stored(self, claim: Claim) -> str:
        """A reading, with a link to its stored counterexample where it has one."""
        file = curated.place(claim)
        return self.link(claim.reading, file) if file.is_file() else claim.reading

    def words(self) -> Iterable[tuple[str, str, str]]:
        """The words of this page, and of its verdicts."""
        yield from (("reading", word, meaning) for word, meaning in _KINDS.items())
        entries = [self.entry(c) for claims in self.statements.values() for c in claims]
        for axis in (Truth, Evidence, Validity):
            name = axis.__name__.lower()
            used = {entry.get(name) for entry in entries}
            yield from ((name, str(word), word.meaning) for word in axis if str(word) in used)


_ERRATA = (
    "Each instance satisfies every hypothesis of the reading that fails at it and was confirmed, "
    "in exact or ball arithmetic unless floats are named, while this page was made. The slack is "
    "what a conclusion has to spare: below 0 it is violated, a strict one also at 0. A reading "
    "that is a link has its smallest known instance there, which may be shorter. `attsvm show` "
    "tells of a statement the hypotheses and formulas that run."
)


def _stored(claim: Claim) -> Any:
    """The instance of a claim's curated file."""
    document = read(curated.place(claim))
    return codec.decode_exactly(document["instance"], claim.instance_type)


def _literal(claims: Iterable[Claim]) -> list[Claim]:
    return [c for c in claims if c.reading.startswith("literal")]


def _verdict(words: Entry) -> str:
    """A recorded verdict on its three axes."""
    if not words:
        return "not run"
    return " / ".join(safe(words.get(axis, "?")) for axis in _AXES)


_PIPE = r"\|"


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already."""
    every = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(c.replace('|', _PIPE) for c in cells)} |" for cells in every)


def listed_as(points: Iterable[str]) -> str:
    """A list, a point a line."""
    return "\n".join(f"- {point}" for point in points)


def inline(text: str) -> str:
    """A text that is shown letter by letter within a line."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " * ("`" in text)
    return f"{fence}{pad}{text}{pad}{fence}"


def safe(text: object) -> str:
    """Text that Markdown sets as it is; within words an underscore is no mark."""
    plain = printable(" ".join(str(text).split()))
    return re.sub(r"([\\`*\[\]~$&]|<(?=[A-Za-z/!?])|(?<![A-Za-z0-9])_)", r"\\\1", plain)


def slug(heading: str) -> str:
    """The anchor that readers of Markdown give a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
