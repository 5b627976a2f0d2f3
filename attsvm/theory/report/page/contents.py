"""What a page shows: the readings of a run by source and statement, with what their claims add.

Verdicts, sentences and formulas come from the ledger. Where the claims are at hand they add what is
printed, errata, dependencies, places in files and stored counterexamples.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attsvm._types import Case, Entry
from attsvm.errors import AttsvmError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.verdict import Truth
from attsvm.theory.instance import codec
from attsvm.theory.packs.packs import Pack, members
from attsvm.theory.record import curated
from attsvm.theory.record.counterexample import read
from attsvm.theory.record.ledger import Run
from attsvm.theory.report.errata import Erratum, Source, ensure_whole, find_source, in_order
from attsvm.theory.report.picture import Painter
from attsvm.theory.report.script import Writer, writers
from attsvm.theory.report.statement_view import StatementView, statement_view

AXES = ("truth", "evidence", "validity")


@dataclass(frozen=True, slots=True)
class Stored:
    """A counterexample file of a reading: where it lies, what it holds, the instance in it."""

    file: Path
    document: Entry
    case: Case


@dataclass(frozen=True, slots=True)
class ShownReading:
    """A reading: its recorded verdict, empty where it has none, and its claim if that is known."""

    id: str
    entry: Entry
    claim: Claim | None
    replayed: Entry
    stored: Stored | None

    @property
    def name(self) -> str:
        """Such as literal or amended-2."""
        return self.id.partition(":")[2] or self.id

    @property
    def truth(self) -> str:
        """The word on its truth."""
        return str(self.entry.get("truth", "not run"))

    @property
    def literal(self) -> bool:
        """Whether it is one of the statement as printed."""
        return self.name.startswith("literal")

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the expected one, as the record says and as its words do."""
        want = self.entry.get("expected") or {}
        same = all(self.entry.get(axis) == want[axis] for axis in AXES if axis in want)
        return same and bool(self.entry.get("as_expected"))


@dataclass(frozen=True, slots=True)
class ShownStatement:
    """A statement with those of its readings that the run set out to check."""

    id: str
    place: str
    readings: tuple[ShownReading, ...]
    view: StatementView | None
    erratum: Erratum | None

    @property
    def refuted(self) -> bool:
        """Whether a literal reading is refuted."""
        return any(r.literal and r.truth == str(Truth.REFUTED) for r in self.readings)

    @property
    def standing(self) -> str:
        """The least good word on the truth of its literal readings, of all where it has none."""
        truths = {r.truth for r in self.readings if r.literal} or {r.truth for r in self.readings}
        order = map(str, (Truth.REFUTED, Truth.UNDECIDED, Truth.HOLDS, Truth.PROVED))
        return "not run" if "not run" in truths else next(filter(truths.__contains__, order), "?")

    @property
    def told(self) -> Erratum | None:
        """Its erratum, if the run refuted what that is about."""
        return self.erratum if self.refuted else None


@dataclass(frozen=True, slots=True)
class ShownSource:
    """A source with its statements, in its order."""

    source: Source
    title: str
    statements: tuple[ShownStatement, ...]
    writers: tuple[Writer, ...] = ()
    painters: tuple[Painter, ...] = ()

    @property
    def readings(self) -> list[ShownReading]:
        """All readings of it."""
        return [r for s in self.statements for r in s.readings]


def contents(run: Run, packs: Sequence[Pack], only: str | None = None) -> tuple[ShownSource, ...]:
    """What the page of a run shows, of one source where that is named.

    Raises:
        ClaimError: errata of a source that fit no reading.
    """
    claims = {c.id: c for pack in packs for c in pack.claims}
    ids = sorted({*run.claims, *run.verdicts})
    names = dict.fromkeys(id.partition("/")[0] for id in ids)
    replays = {r.get("claim"): r for r in run.replays.values() if not r.get("sibling")}
    return tuple(
        _source(name, [i for i in ids if i.startswith(f"{name}/") or i == name], claims, run, packs,
                replays)
        for name in names
        if only in (None, name)
    )  # fmt: skip


def _source(
    name: str,
    ids: Sequence[str],
    claims: Mapping[str, Claim],
    run: Run,
    packs: Sequence[Pack],
    replays: Mapping[Any, Entry],
) -> ShownSource:
    source = find_source(packs, name)
    ensure_whole(source, claims.values())
    known = in_order(source, (c for c in claims.values() if c.id.startswith(f"{name}/")))
    order = {c.id: k for k, c in enumerate(c for group in known.values() for c in group)}
    groups: dict[str, list[str]] = {}
    for id in sorted(ids, key=lambda id: (order.get(id, len(order)), id)):
        groups.setdefault(id.partition(":")[0], []).append(id)
    every = list(claims.values())
    statements = []
    for statement, group in groups.items():
        own = known.get(statement, [])
        erratum = source.erratum(statement)
        view = statement_view(own, source.names, every, erratum) if own else None
        readings = tuple(
            _reading(id, run.verdicts.get(id, {}), claims.get(id), replays.get(id, {}))
            for id in group
        )
        place = view.place if view else str(readings[0].entry.get("place", ""))
        statements.append(ShownStatement(statement, place, readings, view, erratum))
    title = next((s.view.source for s in statements if s.view), name)
    return ShownSource(source, title, tuple(statements), writers(packs), members(packs, Painter))


def _reading(id: str, entry: Entry, claim: Claim | None, replayed: Entry) -> ShownReading:
    stored = None
    if claim is not None and entry.get("truth") == str(Truth.REFUTED):
        files = [curated.place(claim), Path(entry.get("counterexample") or "")]
        stored = next(filter(None, (_stored(claim, file) for file in files)), None)
    return ShownReading(id, entry, claim, replayed, stored)


def _stored(claim: Claim, file: Path) -> Stored | None:
    """What a file holds of a counterexample to this reading; nothing where it holds none."""
    if not file.is_file():
        return None
    try:
        document = read(file)
        if document.get("claim") != claim.id or document.get("sibling"):
            return None
        case = codec.decode_exactly(document["instance"], claim.instance_type)
    except AttsvmError:
        return None
    return Stored(file, document, case)


def counts(readings: Iterable[ShownReading]) -> dict[str, int]:
    """How many readings came to each truth, in the order of the words."""
    words = [*map(str, Truth), "not run"]
    found = [r.truth for r in readings]
    return {word: found.count(word) for word in words if word in found}
