"""A source as a page of Markdown: results by rank, errata, and a table with a row per reading.

Each sentence occurs once: in its erratum, else in the table. `attsvm show` prints the formulas and
hypotheses of a reading. Counterexamples are confirmed while the page is made. The page does not
depend on time, so that a run always gives the same bytes.
"""

import os
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from attsvm._types import Entry
from attsvm._words import counted
from attsvm.errors import UsageError
from attsvm.theory.declaration.typesetting import typeset
from attsvm.theory.declaration.verdict import (
    Evidence,
    Fairness,
    Truth,
    Validity,
)
from attsvm.theory.instance import codec
from attsvm.theory.packs.packs import Pack
from attsvm.theory.record import curated
from attsvm.theory.record.counterexample import read
from attsvm.theory.record.errata import Rank, Weight, claims_of
from attsvm.theory.record.runs import Run
from attsvm.theory.report.notation import prose
from attsvm.theory.report.refutation import refutation
from attsvm.theory.report.rendering import Marked, render, safe
from attsvm.theory.report.source_view import SourceView, source_view
from attsvm.theory.report.terminal import tight
from attsvm.theory.report.view import AXES, ReadingView, StatementView

_KINDS = {
    "literal": "Exactly what is printed; numbered if the words admit several forms.",
    "amended": "A repair of ours, meant to change as little as possible; the first ones may fall.",
    "sharp": "The strongest version that we know, with the best constant or rate if it has one.",
    "slack": "The distance of a conclusion from failing at an instance: for an inequality the "
    "right side less the left, for an equation minus the largest error, for sizes minus their "
    "misfit. Only its sign has a meaning for the limit of a run.",
    "instances": "Number of instances that met the hypotheses and were examined.",
}


def source_page(name: str, packs: Sequence[Pack], run: Run, place: Path) -> str:
    """Return the page of a source.

    Args:
        name: the prefix of the ids of its claims.
        packs: loaded packs; files beside their claims may describe the source.
        run: the run with its verdicts.
        place: the path of the page; links are relative to its folder.

    Raises:
        UsageError: there is no such source, or the run checked none of its claims.
        ClaimError: an instance refutes nothing.
        FileError: a text fits no claim, or a curated counterexample cannot be read.
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
        every = self.view.statements
        listed = [s for weight in Weight for s in self.view.of_weight(weight)]
        refuted = dict.fromkeys(s for s in (*listed, *every) if s.refuted)
        errata = {s: self.erratum(s) for s in refuted}
        fallen = [s for s, (points, _) in errata.items() if points]
        shown = {r.id for s in fallen for r in errata[s][1]}
        standing = [r for s in every if s.stands_whole for r in s.printed_readings]
        shown |= {r.id for r in standing}
        literal = [r for r in self.view.readings if r.literal]
        ranks = [(str(rank), [s for s in fallen if s.rank is rank]) for rank in Rank]
        text = render(
            "source.md.j2",
            {"counted": counted, "heading": heading, "prose": prose, "table": _table},
            view=self.view,
            run=self.run,
            ours=sum(not s.printed_readings for s in every),
            fates=self.fates(fallen),
            kinds=_kinds(literal),
            warnings=_warnings(self, packs),
            bare=[s for s in refuted if s not in fallen],
            fallen=fallen,
            ranks=[(rank, result) for rank, result in ranks if result],
            standing=[
                (Marked(f"**{safe(place_of(s))}** (`{s.id}`)"), on(r), sentence_of(r))
                for s in every
                if s.stands_whole
                for r in s.printed_readings
            ],
            missing=sum(not r.entry for r in literal),
            literal=len(literal),
            points={s: points for s, (points, _) in errata.items()},
            rows=[row for s in every for row in self.rows(s, shown)],
            resting=_resting(self),
            words=list(_words(self)),
            notation=[(prose(w), prose(m)) for w, m in self.view.source.notation.items()],
        )
        return f"{text}\n"

    def fates(self, fallen: Collection[StatementView]) -> list[tuple[str, str]]:
        """Return the results for the printed statements by rank, without definitions.

        Statements that fall link to their errata.
        """

        def named(s: StatementView) -> str:
            short = safe(self.short(s.id))
            return f"[{short}](#{slug(heading(s))})" if s in fallen else short

        lines: list[tuple[str, str]] = []
        for rank in Rank:
            fates = self.view.fates(rank) if rank is not Rank.DEFINITION else {}
            parts = [
                f"{fate} ({len(some)}): {', '.join(map(named, some))}"
                for fate, some in fates.items()
            ]
            if parts:
                text = "; ".join(parts)
                lines.append((str(rank), Marked(f"{text[:1].upper()}{text[1:]}")))
        return lines

    def short(self, statement: str) -> str:
        """Return an id without the name of the source."""
        return statement.removeprefix(f"{self.view.source.name}/")

    def rows(self, s: StatementView, with_erratum: Collection[str]) -> Iterable[tuple[str, ...]]:
        """Yield the rows of a statement; the readings `with_erratum` link to its erratum."""
        above = Marked(f"[above](#{'as-printed' if s.stands_whole else slug(heading(s))})")
        for r in s.readings:
            reading = self.link(r.name, r.claim.file if r.claim else "")
            lead = f"{safe(self.short(s.id))}, {safe(s.place)}<br>" if r is s.readings[0] else ""
            yield (
                Marked(f"{lead}{reading}"),
                above if r.id in with_erratum else sentence_of(r),
                _verdict(r.entry) + (f", {r.mark}" if r.entry and r.mark else ""),
                tight(r.entry) or "",
                str(r.entry.get("examples", "")),
            )

    def link(self, text: str, file: str | Path) -> str:
        where = os.path.relpath(Path(file).resolve(), self.folder.resolve())
        return Marked(f"[{safe(text)}]({quote(Path(where).as_posix())})")

    def erratum(self, s: StatementView) -> tuple[list[str], list[ReadingView]]:
        """Return the points of an erratum, and the readings whose sentences they contain.

        The points are the printed text, the failure with its instances, and the repair. Both lists
        are empty if no instance refutes a literal reading.
        """
        words, by_id = s.erratum, {r.id: r for r in s.readings}
        refuted = [r for r in s.printed_readings if r.truth == str(Truth.REFUTED)]
        text, stands = [], list[ReadingView]()
        printed = f"**{s.origin.capitalize()}.** {prose(s.quoted)}"
        if words is not None:
            printed = f"**Printed.** {prose(words.printed)}" if words.printed else printed
            text = [f"**Fails.** {prose(words.fails)}"]
            refuted = [by_id[name] for name in words.falls]
            stands = [by_id[name] for name in words.stands]
        own = words is not None and bool(words.printed)  # then the sentences stay in the table
        shown, fallen = self.counterexamples(refuted, says=not own)
        if not any(r.literal for r in fallen):
            return [], []
        points = [printed, *text, *shown]
        if words is None or not words.repair:
            true = [f"**True, {on(r)}.** {sentence_of(r)}" for r in stands]
            return list(map(Marked, [*points, *true])), [*stands, *([] if own else refuted)]
        rests = f" ({', '.join(map(on, stands))}.)" if stands else ""
        points.append(f"**Repair.** {prose(words.repair)}{rests}")
        return list(map(Marked, points)), [] if own else refuted

    def counterexamples(
        self, readings: Iterable[ReadingView], *, says: bool
    ) -> tuple[list[str], list[ReadingView]]:
        """Return a point for each refuted reading, and the readings with a known instance.

        A point names the reading, and the instance at which it fails if one is known. If `says`, it
        also contains the sentence of the reading.
        """
        text, fallen, last = [], [], ""
        for r in readings:
            file = curated.place(r.claim) if r.claim else Path()
            stored = file.is_file()
            name = self.link(r.name, file) if stored else r.name
            title = f"{name}, {r.unlike}" if r.unlike else name
            point = f"**{title}.** {f'{sentence_of(r)} ' if says else ''}"
            if r.claim and stored and not r.stored:  # reading it raises what is wrong with it
                codec.decode_exactly(read(file)["instance"], r.claim.instance_type)
            if r.cases and r.claim:
                instance, slack = refutation(r.claim, r.cases[0], r.names)
                at = "the same instance" if instance == last else inline(instance)
                point += f"Fails at {at} ({safe(slack)})."
                fallen.append(r)
                last = instance
            text.append(point.rstrip())
        return text, fallen


def _warnings(page: _Page, packs: Sequence[Pack]) -> list[str]:
    """Return warnings about the run; empty if all went well."""
    claims = [r.claim for r in page.view.readings if r.claim]
    absent = [r.id for r in page.view.readings if not r.entry]
    lines = [] if page.run.finished else ["The run did not finish."]
    if page.run.damaged:
        lines.append(f"{counted(page.run.damaged, 'line')} of its record cannot be read.")
    lines += [f"{fault[:1].upper()}{fault[1:]}." for fault in page.run.faults]
    if absent:
        lines.append(f"Without a verdict: {', '.join(absent)}.")
    for r in page.view.readings:
        want = r.entry.get("expected") or {}
        if r.entry.get("as_expected") is False or not r.words_as_expected:
            lines.append(f"Not as expected: {r.id}, expected {_verdict(want)}.")
    files = [curated.shown(path, pack) for path, pack in curated.chosen(packs, claims).items()]
    replays = {f: r for f, r in page.run.replays.items() if f in files}
    fallen = replace(page.run, curated=tuple(files), replays=replays).fallen
    return lines + [f"{result}: {file}." for file, result, _ in fallen]


def _kinds(literal: Iterable[ReadingView]) -> str:
    """Return how many refuted literal readings are plain, strained and degenerate."""
    kinds = [r.unlike or "plain" for r in literal if r.truth == str(Truth.REFUTED)]
    return ", ".join(f"{kinds.count(str(kind))} {kind}" for kind in Fairness if str(kind) in kinds)


def _resting(page: _Page) -> list[tuple[str, str, str]]:
    """Return the rows of dependencies; empty if no statement declares any."""
    every = page.view.statements
    marks = {s.id: f"{page.short(s.id)}{mark(s)}" for s in every}

    def cell(ids: Iterable[str]) -> str:
        return ", ".join(marks.get(id, page.short(id)) for id in ids)

    touched = {s.id: s.carries if mark(s) else () for s in every}
    rows = [
        (marks[s.id], cell(s.rests_on), cell(i for i in marks if i in touched[s.id])) for s in every
    ]
    return rows if any(s.rests_on for s in every) else []


def _words(page: _Page) -> Iterable[tuple[str, str, str]]:
    """Yield the words of this page, and of its verdicts, with their meanings."""
    yield from (("reading", word, meaning) for word, meaning in _KINDS.items())
    kinds = {getattr(r.claim, "fairness", None) for r in page.view.readings}
    yield from (("fairness", str(word), word.meaning) for word in Fairness if word in kinds)
    for axis in (Truth, Evidence, Validity):
        name = axis.__name__.lower()
        used = {r.entry.get(name) for r in page.view.readings}
        yield from ((name, str(word), word.meaning) for word in axis if str(word) in used)


def place_of(s: StatementView) -> str:
    """Return the place of a statement in its source: the place of its first reading."""
    return s.readings[0].claim.place if s.readings[0].claim else s.place


def heading(s: StatementView) -> str:
    """Return the heading of an erratum."""
    return Marked(f"{safe(place_of(s))} (`{s.id}`)")


def mark(s: StatementView) -> str:
    """Return "!!" for an overturned statement, "!" for another refuted literal reading, else ""."""
    return "!!" if s.turned else "!" if s.refuted else ""


def on(r: ReadingView) -> str:
    """Return a reading with the truth from the run, and its mark."""
    return f"{r.name}: {safe(r.truth)}{r.mark and f', {r.mark}'}"


def sentence_of(r: ReadingView) -> Marked:
    """Return the sentence of a reading, with its evaluated formulas as mathematics."""
    if r.claim is None:
        return prose(r.says)
    formula = typeset(r.claim.formula)
    return prose(r.claim.statement, (formula.conclusion, *formula.where))


def _verdict(words: Entry) -> str:
    """Return a recorded verdict on its three axes."""
    return " / ".join(str(words.get(axis, "?")) for axis in AXES) if words else "not run"


_PIPE = r"\|"


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are Markdown already."""
    every = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(c.replace('|', _PIPE) for c in cells)} |" for cells in every)


def _table(rows: Iterable[Sequence[str]], *titles: str) -> str:
    """Return a table of cells that are plain text, or Markdown if marked."""
    return Marked(table(titles, ([safe(cell) for cell in row] for row in rows)))


def inline(text: str) -> str:
    """Return a text as inline code in Markdown, whatever characters it contains."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " * ("`" in text)
    return f"{fence}{pad}{text}{pad}{fence}"


def slug(heading: str) -> str:
    """Return the anchor that Markdown renderers give a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
