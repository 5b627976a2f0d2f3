"""A source as a page of Markdown: errata for its authors, a row a statement, every reading.

Verdicts, tightness and counts come from a run; statements and places from the claims; words from
people (`attsvm.theory.report.errata`); counterexamples from instances that are confirmed while the
page is made. Nothing on it depends on time, so a run gives the same bits wherever it is drawn
again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from attsvm._words import counted, printable
from attsvm.errors import UsageError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.packs import Pack
from attsvm.theory.declaration.verdict import Evidence, Truth, Validity
from attsvm.theory.instance import codec
from attsvm.theory.record import curated
from attsvm.theory.record.counterexample import read
from attsvm.theory.record.ledger import Run
from attsvm.theory.record.two_lines import refutation
from attsvm.theory.report.dependencies import Dependencies, dependencies, resting_on
from attsvm.theory.report.errata import (
    Erratum,
    Source,
    Weight,
    claims_of,
    find_source,
    in_order,
)
from attsvm.theory.report.statement_view import formula_lines, statement_view
from attsvm.theory.report.terminal import tight

_STANDS = {str(Truth.PROVED), str(Truth.HOLDS)}
_STATEMENTS = ("statement", "literal", "amended", "sharp", "tightness", "counterexample", "file")
_AXES = ("truth", "evidence", "validity")
_KINDS = {
    "reading": "One exact form of a statement: hypotheses, data and conclusion.",
    "literal": "Exactly what is printed; numbered where the words admit several forms.",
    "amended": "A repair of ours, meant to change as little as possible; the first ones may fall.",
    "sharp": "The best constant or rate, attained by a stated instance.",
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
_READINGS = ("reading", "says", "hypotheses", "instances")


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
        fallen = [s for s, parts in errata.items() if parts]
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
            *(part for s in fallen for part in errata[s]),
            "## Statements",
            "A verdict is `truth / evidence / validity`; the words are explained at the end. "
            "Tightness is the largest ratio of left to right side that the run reached, for "
            "readings that compare two sides.",
            table(_STATEMENTS, (self.row(s, c) for s, c in self.statements.items())),
            *self.resting(),
            "## Readings",
            "What exactly was checked, under which hypotheses, and on how many instances.",
            *(part for s, c in self.statements.items() for part in self.readings(s, c)),
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
            f"Standing in every literal reading (proved, or not refuted so far): {len(whole)}; "
            f"with a literal reading that is refuted: {len(fallen)}."
            f"{f' Of our own, without a literal reading: {ours}.' if ours else ''}"
        )

    def first_page(self, fallen: Sequence[str]) -> Iterable[str]:
        """What the authors should read first: what was found, by its weight, and the words used."""
        lists = []
        for weight in Weight:
            found = [e for e in self.source.of_weight(weight) if e.statement in fallen]
            points = [
                f"- [{self.place(e.statement)}](#{slug(self.heading(e.statement))}): {safe(e.gist)}"
                for e in found
            ]
            lists += [f"### {weight}", "\n".join(points)] if points else []
        if lists or (fallen and self.source.notes):
            yield from ("## For the authors", *map(safe, self.source.notes), *lists)
        if self.source.notation:
            yield "## Words and symbols"
            rows = ((safe(word), safe(means)) for word, means in self.source.notation.items())
            yield table(("word", "means"), rows)

    def place(self, statement: str) -> str:
        """Where a statement stands."""
        return safe(self.statements[statement][0].place)

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

    def entry(self, claim: Claim) -> Mapping[str, Any]:
        """What the run recorded of a reading; empty where it did not come to a verdict."""
        return self.run.verdicts.get(claim.id, {})

    def truth(self, claim: Claim) -> str | None:
        """The run's word on the truth of a reading, None where it did not come to one."""
        return self.entry(claim).get("truth")

    def falls(self, claims: Iterable[Claim]) -> bool:
        return any(self.truth(c) == str(Truth.REFUTED) for c in _literal(claims))

    def row(self, statement: str, claims: Sequence[Claim]) -> tuple[str, ...]:
        """The row of a statement."""
        cells = []
        for kind in _STATEMENTS[1:4]:
            group = [c for c in claims if c.reading.split("-")[0] == kind]
            cells.append(
                lines(
                    f"{c.reading.removeprefix(kind).replace('-', '') + '. ' * (c.reading != kind)}"
                    f"{_verdict(self.entry(c))}"
                    for c in group
                )
            )
        files = dict.fromkeys(c.file for c in claims)
        places = dict.fromkeys(c.place for c in claims)
        stored = [c for c in claims if curated.place(c).is_file()]
        return (
            f"[{safe(statement)}](#{slug(statement)})<br>{safe('; '.join(places))}",
            *cells,
            lines(f"{c.reading} {t}" for c in claims if (t := tight(self.entry(c)))),
            lines(self.link(c.reading, curated.place(c)) for c in stored),
            lines(self.link(Path(file).name, file) for file in files),
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
            short = ((s, s.removeprefix(f"{self.source.name}/")) for s in names)
            return safe(", ".join(f"{name}{self.mark(s)}" for s, name in short))

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

    def erratum(self, statement: str) -> list[str]:
        """For the authors: what is printed, what fails, the repair, the counterexamples.

        Nothing where no instance refutes a literal reading.
        """
        claims, words = self.statements[statement], self.source.erratum(statement)
        by_id = {c.id: c for c in claims}
        refuted = [c for c in _literal(claims) if self.truth(c) == str(Truth.REFUTED)]
        told: Mapping[str, Any] = {}
        said = [f"**As read, {c.reading}.** {safe(c.statement)}" for c in refuted]
        stands = []
        if words is not None:
            first = claims[0]
            read = [f"**{first.origin.capitalize()}.** {safe(first.quoted)}", *said]
            said = [f"**Printed.** {safe(words.printed)}"] if words.printed else read
            said.append(f"**Fails.** {safe(words.fails)}")
            refuted, told = [by_id[name] for name in words.falls], words.telling
            stands = self.repair(words, [by_id[name] for name in words.stands])
        shown, fallen = self.counterexamples(refuted, told)
        if not any(c.reading.startswith("literal") for c in fallen):
            return []
        points = [*said, *shown, *stands]
        return [f"### {self.heading(statement)}", "\n".join(f"- {point}" for point in points)]

    def repair(self, words: Erratum, readings: Sequence[Claim]) -> list[str]:
        """What is true instead: in words, or as these readings say it."""
        if not words.repair:
            return [f"**True, {self.on(c)}.** {safe(c.statement)}" for c in readings]
        rests = ", ".join(map(self.on, readings))
        return [f"**Repair.** {safe(words.repair)}{f' ({rests}.)' if rests else ''}"]

    def on(self, claim: Claim) -> str:
        """A reading with the run's word on its truth."""
        return f"{claim.reading}: {safe(self.truth(claim) or 'not run')}"

    def counterexamples(
        self, claims: Iterable[Claim], told: Mapping[str, Any]
    ) -> tuple[list[str], list[Claim]]:
        """The instances with what they refute, a line each, and the readings refuted so."""
        found: dict[str, dict[str, list[Claim]]] = {}
        for claim in claims:
            if claim.id in told:
                case = told[claim.id]
            elif curated.place(claim).is_file():
                case = _stored(claim)
            else:
                continue
            instance, slack = refutation(claim, case, self.source.names)
            found.setdefault(instance, {}).setdefault(slack, []).append(claim)
        said = [
            f"{inline(instance)} refutes "
            + "; ".join(
                f"{', '.join(map(self.stored, readings))} ({safe(slack)})"
                for slack, readings in by_slack.items()
            )
            + "."
            for instance, by_slack in found.items()
        ]
        return said, [
            c for by_slack in found.values() for group in by_slack.values() for c in group
        ]

    def stored(self, claim: Claim) -> str:
        """A reading, with a link to its stored counterexample where it has one."""
        file = curated.place(claim)
        return self.link(claim.reading, file) if file.is_file() else claim.reading

    def readings(self, statement: str, claims: Sequence[Claim]) -> list[str]:
        """A statement's heading, the table of its readings, and the formulas that run."""
        rows = [
            (
                self.link(c.reading, c.file),
                safe(c.statement),
                lines(safe(h.name) for h in c.hypotheses),
                str(self.entry(c).get("examples", "")),
            )
            for c in claims
        ]
        formulas = formula_lines(statement_view(claims, self.source.names).readings)
        written = [code(formulas)] if formulas else []
        return [f"### {safe(statement)}", table(_READINGS, rows), *written]

    def words(self) -> Iterable[tuple[str, str, str]]:
        """The words of verdicts."""
        yield from (("reading", word, meaning) for word, meaning in _KINDS.items())
        for axis in (Truth, Evidence, Validity):
            yield from ((axis.__name__.lower(), str(word), word.meaning) for word in axis)


_ERRATA = (
    "Each instance satisfies every hypothesis of the readings that it refutes and was confirmed, "
    "in exact or ball arithmetic unless floats are named, while this page was made. The slack is "
    "what a conclusion has to spare: below 0 it is violated, a strict one also at 0. Readings "
    "called amended are repairs of ours, some of which fall too; one that holds was refuted by no "
    "instance, which is no proof. A reading that is a link has its smallest known instance there, "
    "which may be shorter than the one shown."
)


def _stored(claim: Claim) -> Any:
    """The instance of a claim's curated file."""
    document = read(curated.place(claim))
    return codec.decode_exactly(document["instance"], claim.instance_type)


def _literal(claims: Iterable[Claim]) -> list[Claim]:
    return [c for c in claims if c.reading.startswith("literal")]


def _verdict(words: Mapping[str, Any]) -> str:
    """A recorded verdict on its three axes."""
    if not words:
        return "not run"
    return " / ".join(safe(words.get(axis, "?")) for axis in _AXES)


_PIPE = r"\|"


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already."""
    every = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(c.replace('|', _PIPE) for c in cells)} |" for cells in every)


def lines(cells: Iterable[str]) -> str:
    """Lines within a cell."""
    return "<br>".join(cells)


def code(text: Iterable[str]) -> str:
    """Lines that are shown letter by letter, between fences that none of them closes."""
    shown = "\n".join(text)
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", shown))])
    return f"{fence}text\n{shown}\n{fence}"


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
