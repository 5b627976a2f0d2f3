"""The view of a statement, from which reports for terminal, HTML and Markdown are made.

A view joins the claims with the records of a run. Without a run it has the expected verdicts. A run
may also have claims that are not loaded. Formulas are those that were evaluated.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from attsvm._types import Case, Entry, JsonObject
from attsvm.errors import AttsvmError, UsageError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.typesetting import typeset
from attsvm.theory.declaration.verdict import (
    Fairness,
    Truth,
    in_prose,
    mark,
)
from attsvm.theory.instance import codec
from attsvm.theory.instance.letters import letters_in_words
from attsvm.theory.record import curated
from attsvm.theory.record.counterexample import read
from attsvm.theory.record.errata import Erratum, Rank, Source, Weight, in_order
from attsvm.theory.record.runs import Run
from attsvm.theory.report.dependencies import Dependencies, dependencies, resting_on
from attsvm.theory.report.verifier import verifier_or_reason

AXES = ("truth", "evidence", "validity")
_REFUTED = str(Truth.REFUTED)
_STANDING = {str(Truth.PROVED), str(Truth.HOLDS)}


class Fate(StrEnum):
    """The result of a run for a printed statement, the best first."""

    STANDS = "stand as printed (proved, or not refuted so far)"
    UNLIKE = "fall only where a reading is strained or degenerate"
    MENDED = "fall as printed, with a repair that stands"
    FALLS = "fall as printed, without a repair"
    OPEN = "have no verdict"


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """A counterexample file of a reading, its document, and the instance in it."""

    file: Path
    document: Entry
    case: Case


@dataclass(frozen=True, slots=True, eq=False)
class ReadingView:
    """A reading: its claim, the record of a run, and its differences from the first reading.

    The first reading of a statement is a literal one, if it has any.

    Attributes:
        id: the id, such as sim/lemma-3.11:amended-2.
        claim: the claim, None if no loaded pack has it.
        entry: the recorded verdict, in the form of `verify --json`; empty without one.
        ran: whether the run planned to check it.
        replayed: the result of the replay of its counterexample in the run; empty without one.
        formula: the evaluated formula, in the form of `show --json`; empty if unknown.
        first: the name of the first reading.
        differs: the constants that differ from those of the first reading.
        added: the names of hypotheses that the first reading does not have.
        dropped: the names of hypotheses of the first reading that it does not have.
        cases: instances that refute it, the most instructive first, the smallest last.
        stored: its counterexample file; the smallest one may be in a second file.
        names: words for fields of instances.
    """

    id: str
    claim: Claim | None
    entry: Entry
    ran: bool
    replayed: Entry
    formula: Entry
    first: str
    differs: tuple[str, ...]
    added: tuple[str, ...]
    dropped: tuple[str, ...]
    cases: tuple[Case, ...]
    stored: Stored | None
    names: Mapping[str, str]

    @property
    def name(self) -> str:
        """The name of the reading, such as literal or amended-2."""
        return self.id.partition(":")[2] or self.id

    @property
    def says(self) -> str:
        """The sentence of the reading, as the run checked it."""
        return str(self.entry.get("statement") or getattr(self.claim, "statement", ""))

    @property
    def literal(self) -> bool:
        """Whether it is a literal reading."""
        return self.name.startswith("literal")

    @property
    def fairness(self) -> str:
        """How a literal reading takes its source; empty for other readings."""
        return str(getattr(self.claim, "fairness", None) or "")

    @property
    def unlike(self) -> str:
        """The fairness of a literal reading unless it is plain; else empty."""
        return "" if self.fairness == str(Fairness.PLAIN) else self.fairness

    def sibling(self, name: str) -> str:
        """Return the name of a sibling for a reader: a dropped hypothesis is quoted."""
        dropped = name.removeprefix("without ")
        known = {*(h.name for h in getattr(self.claim, "hypotheses", ()))}
        known |= {*self.entry.get("hypotheses", {})}
        return f'without "{dropped}"' if dropped != name and dropped in known else name

    @property
    def truth(self) -> str:
        """The run's word on its truth, "not run" without a verdict."""
        return str(self.entry.get("truth", "not run"))

    @property
    def expected(self) -> str:
        """The expected truth and evidence; empty if its claim is not loaded."""
        if self.claim is None:
            return ""
        return f"{self.claim.expected.truth}, {self.claim.expected.verdict.evidence}"

    @property
    def verdict(self) -> str:
        """Truth and evidence from the run; without a run, "expected" and the expected words."""
        if self.entry:
            return f"{self.truth}, {self.entry.get('evidence', '?')}"
        return f"expected {self.expected}"

    @property
    def in_prose(self) -> bool:
        """Whether it has a proof in prose by the run; without a run, whether that is expected."""
        return in_prose(self.entry) if self.entry else bool(self.claim and self.claim.in_prose)

    @property
    def mark(self) -> str:
        """The part of its verdict, or the expected one, left to prose or to instances; or empty."""
        return mark(_known_truth(self), self.says, prose=self.in_prose)

    @property
    def refuted(self) -> bool:
        """Whether the run refuted it; without a verdict, whether that is expected."""
        return _known_truth(self) == _REFUTED

    @property
    def words_as_expected(self) -> bool:
        """Whether no recorded word differs from the word that the record expects."""
        want = self.entry.get("expected") or {}
        return all(self.entry.get(axis) == want[axis] for axis in AXES if axis in want)

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the expected one, by the record's mark and by its words."""
        return self.words_as_expected and bool(self.entry.get("as_expected"))

    @property
    def counterexample(self) -> str | None:
        """The most instructive instance that refutes it, in one line."""
        return self._in_words(self.cases[0]) if self.cases else None

    @property
    def smallest(self) -> str | None:
        """The smallest known instance, if it differs from the most instructive one."""
        least = self._in_words(self.cases[-1]) if self.cases else None
        return None if least == self.counterexample else least

    def _in_words(self, case: Case) -> str | None:
        return letters_in_words(self.claim.formula, case, self.names) if self.claim else None

    @property
    def has_verifier(self) -> bool:
        """Whether a counterexample of it has a verifier."""
        claim = self.claim
        return claim is not None and any(verifier_or_reason(claim, case)[0] for case in self.cases)

    def json(self) -> JsonObject:
        """Return its part of the document of `show --json`."""
        own = ("name", "says", "expected", "verdict", "differs", "added", "dropped", "formula")
        claim = self.claim
        kinds = {key: getattr(claim, key, None) for key in ("fairness", "strength")}
        return {
            **{key: getattr(self, key) for key in own},
            **{key: None if kind is None else str(kind) for key, kind in kinds.items()},
            "in_prose": self.in_prose,
            "hypotheses": () if claim is None else tuple(h.name for h in claim.hypotheses),
            "siblings": () if claim is None else tuple(s.name for s in claim.siblings),
            "counterexample": self.counterexample,
            "smallest": self.smallest,
            "stored": str(self.stored.file) if self.stored else None,
            "rational": self.has_verifier,  # the name is older than verifiers of irrational ones
            "file": getattr(claim, "file", ""),
            "line": getattr(claim, "line", 0),
        }


def _known_truth(reading: ReadingView) -> str:
    """Return the truth from the run; without a verdict, the expected one."""
    return reading.truth if reading.entry else reading.expected.partition(",")[0]


@dataclass(frozen=True, slots=True, eq=False)
class StatementView:
    """A statement with its readings.

    Attributes:
        id: the id, such as sim/lemma-3.11.
        source: the title of its source.
        place: its place in the source.
        printed: the sentence as printed; empty if its claims are not loaded.
        origin: "printed" if the sentence is quoted, else the part of the source behind it.
        quoted: the sentence, in quotation marks if it is quoted.
        readings: its readings, literal ones first.
        rests_on: the ids of the statements that it rests on.
        carries: the ids of the statements that rest on it, directly or through others.
        erratum: the text about its refutation; None if it has none.
        rank: the part that it has in its source.
        notation: words and symbols of its source, with their meanings.
    """

    id: str
    source: str
    place: str
    printed: str
    origin: str
    quoted: str
    readings: tuple[ReadingView, ...]
    rests_on: tuple[str, ...]
    carries: tuple[str, ...]
    erratum: Erratum | None
    rank: Rank = Rank.THEOREM
    notation: Mapping[str, str] = field(default_factory=dict)

    @property
    def refuted(self) -> bool:
        """Whether the run refuted a literal reading."""
        return any(r.literal and r.truth == _REFUTED for r in self.readings)

    @property
    def shown_erratum(self) -> Erratum | None:
        """Its erratum if the run refuted a literal reading, else None."""
        return self.erratum if self.refuted else None

    @property
    def turned(self) -> bool:
        """Whether the run refuted a literal reading, and its erratum has the weight `CLAIM`."""
        return self.shown_erratum is not None and self.shown_erratum.weight is Weight.CLAIM

    @property
    def printed_readings(self) -> list[ReadingView]:
        """Its literal readings."""
        return [r for r in self.readings if r.literal]

    @property
    def stands_whole(self) -> bool:
        """Whether it has literal readings, and the run refuted none of them."""
        return bool(self.printed_readings) and all(
            r.truth in _STANDING for r in self.printed_readings
        )

    @property
    def fate(self) -> Fate:
        """The result of the run for its literal readings."""
        if not self.refuted:
            return Fate.STANDS if self.stands_whole else Fate.OPEN
        plain = [r for r in self.printed_readings if r.truth == _REFUTED and not r.unlike]
        if not plain:
            return Fate.UNLIKE
        others = (r for r in self.readings if not r.literal)
        return Fate.MENDED if any(r.truth in _STANDING for r in others) else Fate.FALLS

    @property
    def standing(self) -> str:
        """The worst truth of its literal readings, or of all readings if none is literal."""
        truths = {r.truth for r in self.printed_readings or self.readings}
        order = map(str, (Truth.REFUTED, Truth.UNDECIDED, Truth.HOLDS, Truth.PROVED))
        return "not run" if "not run" in truths else next(filter(truths.__contains__, order), "?")

    def stands(self) -> list[str]:
        """Return the names of the readings that are not refuted, nor expected to be."""
        return [r.name for r in self.readings if not r.refuted]

    def fell(self) -> str:
        """Return the refuted and the unrefuted readings in one line; "" if none is refuted."""
        fell = [r for r in self.readings if r.refuted]
        claim = "the printed claim" if self.origin == "printed" else "the claim"
        printed = (self.erratum.fell if self.erratum else "") or claim
        groups = (
            (printed, [r.name for r in fell if r.literal]),
            ("repairs of it", [r.name for r in fell if not r.literal]),
        )
        parts = [f"{what} ({', '.join(names)})" for what, names in groups if names]
        stands = ", ".join(self.stands())
        rest = f"; what stands: {stands}" if stands else "; nothing stands"
        return " and ".join(parts) + rest if parts else ""

    @property
    def words(self) -> dict[str, str]:
        """The erratum in the form of `show --json`; empty without one.

        If the erratum has no repair, the unrefuted readings are the repair.
        """
        result = self.erratum
        if result is None:
            return {}
        weight = result.weight.removeprefix("What ").replace("Misprints", "is a misprint")
        lines = {"weight": weight, "fell": result.fell, "found": result.gist, "fails": result.fails}
        stands = [r.name for r in self.readings if r.id in result.stands]
        if result.repair or stands:
            lines["repair"] = result.repair or f"the sentence of {', '.join(stands)}"
        return lines

    def json(self) -> JsonObject:
        """Return the document of `show --json`."""
        own = ("id", "source", "place", "printed", "rests_on", "carries", "origin")
        statement = {key: getattr(self, key) for key in own}
        readings = [reading.json() for reading in self.readings]
        return {
            "schema": 1,
            "statement": {**statement, "readings": readings, "erratum": self.words},
        }


def statement_of(claims: Sequence[Claim], word: str) -> str:
    """Return the id of the one statement that these claims belong to.

    Raises:
        UsageError: they belong to several statements.
    """
    ids = list(dict.fromkeys(c.statement_id for c in claims))
    if len(ids) > 1:
        few = ", ".join(ids[:5]) + (f" and {len(ids) - 5} more" if len(ids) > 5 else "")
        raise UsageError(
            f"{len(ids)} statements begin like that", value=word, remedy=f"Name one of {few}."
        )
    return ids[0]


def statement_view(
    id: str,
    claims: Iterable[Claim],
    source: Source,
    run: Run | None = None,
    premises: Dependencies | None = None,
) -> StatementView:
    """Return the view of a statement.

    Args:
        id: the statement.
        claims: all loaded claims; claims of other statements show which of them rest on it.
        source: the texts about its source.
        run: the run with its verdicts; without it the view has the expected ones.
        premises: by statement, also if it is not loaded, the statements that it rests on.
    """
    every = list(claims)
    own = in_order(source, (c for c in every if c.statement_id == id)).get(id, [])
    known = {c.id: c for c in own}
    recorded = () if run is None else sorted({*run.claims, *run.verdicts})
    others = (i for i in recorded if i not in known and i.partition(":")[0] == id)
    erratum = source.erratum(id)
    readings = tuple(
        _reading(i, known.get(i), own, source, erratum, run) for i in (*known, *others)
    )
    rests = {**(premises or {}), **dependencies(every)}
    first = own[0] if own else None
    entry = next((r.entry for r in readings if r.entry), {})
    return StatementView(
        id,
        first.source if first else id.partition("/")[0],
        "; ".join(dict.fromkeys(c.place for c in own)) or str(entry.get("place", "")),
        next((c.printed for c in own if c.printed), ""),
        first.origin if first else "printed",
        first.quoted if first else "",
        readings,
        rests.get(id, ()),
        tuple(resting_on(id, rests)),
        erratum,
        source.rank(id),
        source.notation,
    )


def _reading(
    id: str,
    claim: Claim | None,
    among: Sequence[Claim],
    source: Source,
    erratum: Erratum | None,
    run: Run | None,
) -> ReadingView:
    entry = {} if run is None else run.verdicts.get(id, {})
    replays = () if run is None else run.replays.values()
    replayed = next((r for r in replays if r.get("claim") == id and not r.get("sibling")), {})
    first = among[0] if among else None
    own: Entry = {} if claim is None else claim.formula.hypotheses
    its: Entry = own if first is None or claim is None else first.formula.hypotheses
    stored = least = None
    if claim is not None and _REFUTED in (entry.get("truth"), str(claim.expected.truth)):
        files = [curated.place(claim), Path(entry.get("counterexample") or "")]
        stored = next(filter(None, (_stored(claim, file) for file in files)), None)
        least = _stored(claim, curated.smallest_place(claim))
    telling = {} if erratum is None else erratum.telling
    formula = entry.get("formula") or ({} if claim is None else typeset(claim.formula).json())
    return ReadingView(
        id,
        claim,
        entry,
        run is not None and (id in run.claims or id in run.verdicts),
        replayed,
        formula,
        first.reading if first else "",
        tuple(_otherwise(claim, first)),
        tuple(name for name in own if name not in its),
        tuple(name for name in its if name not in own),
        (
            *([telling[id]] if id in telling else []),
            *(file.case for file in (stored, least) if file is not None),
        ),
        stored,
        source.names,
    )


def _stored(claim: Claim, file: Path) -> Stored | None:
    """Return the counterexample to this reading that a file holds; None if it holds none."""
    if not file.is_file():
        return None
    try:
        document = read(file)
        if document.get("claim") != claim.id or document.get("sibling"):
            return None
        case = codec.decode_exactly(document["instance"], claim.instance_type)
    except AttsvmError:  # the replay of curated files reports it
        return None
    return Stored(file, document, case)


def _otherwise(claim: Claim | None, first: Claim | None) -> Iterator[str]:
    """Yield the constants of a claim that differ from those of another one."""
    if claim is None or first is None:
        return
    before = first.formula.constants
    for name, value in claim.formula.constants.items():
        if name in before and before[name] != value:
            yield f"{name} = {_value(value)} (there {_value(before[name])})"


def _value(value: object) -> object:
    return getattr(value, "__name__", value)
