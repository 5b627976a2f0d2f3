"""A statement as a reader sees it: what is printed, what runs, and what its readings differ in.

The data that `attsvm show` and the pages draw. Formulas are written down by running them on
letters (`attsvm.theory.arithmetic.text`), so what is shown is what is checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from attsvm._types import JsonObject
from attsvm.errors import UsageError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.notation import Written
from attsvm.theory.declaration.typesetting import Typeset, typeset
from attsvm.theory.declaration.verdict import Truth
from attsvm.theory.instance.in_words import in_words
from attsvm.theory.record import curated
from attsvm.theory.report.dependencies import dependencies, resting_on
from attsvm.theory.report.errata import Erratum, to_show
from attsvm.theory.report.script import verifier


@dataclass(frozen=True, slots=True)
class ReadingView:
    """A reading: its sentence, its expected verdict, what it has otherwise than the first one.

    Attributes:
        name: such as literal or amended-2.
        says: the claim in one sentence.
        expected: the expected truth and evidence.
        differs: the constants that it has otherwise than the first reading, which is literal where
            there is one.
        added: the names of hypotheses that the first reading does not have.
        dropped: those of the first reading that it does not have.
        hypotheses: the names of its hypotheses.
        siblings: the names of its false neighbours.
        formula: what runs.
        counterexample: an instance that refutes it, in one line: the one that tells most.
        smallest: the smallest one known, where that is another one.
        stored: the file that the smallest one is stored in.
        rational: whether the counterexample has a verifier in fractions.
        file: where it is declared.
        line: in which line.
    """

    name: str
    says: str
    expected: str
    differs: tuple[str, ...]
    added: tuple[str, ...]
    dropped: tuple[str, ...]
    hypotheses: tuple[str, ...]
    siblings: tuple[str, ...]
    formula: Typeset
    counterexample: str | None
    smallest: str | None
    stored: str | None
    rational: bool
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class StatementView:
    """A statement with its readings.

    `printed` is empty where its claims do not quote it, and `origin` says whether a sentence is
    quoted. `rests_on` has the statements that it rests on, `carries` those that rest on it,
    directly or through others. `erratum` has what fell, why, and the repair; empty where it has
    none.
    """

    id: str
    source: str
    place: str
    printed: str
    readings: tuple[ReadingView, ...]
    rests_on: tuple[str, ...] = ()
    carries: tuple[str, ...] = ()
    erratum: Mapping[str, str] = field(default_factory=dict)
    origin: str = "printed"

    def fell(self) -> str:
        """Which readings fell and which stand, in one line; empty where none fell."""
        stands = self.stands()
        fell = [r.name for r in self.readings if r.name not in stands]
        printed, repairs = (
            [name for name in fell if name.startswith("literal") is literal]
            for literal in (True, False)
        )
        parts = [
            f"{what} ({', '.join(names)})"
            for what, names in (
                (self.erratum.get("fell") or self._claim, printed),
                ("repairs of it", repairs),
            )
            if names
        ]
        rest = f"; what stands: {', '.join(stands)}" if stands else "; nothing stands"
        return " and ".join(parts) + rest if parts else ""

    def stands(self) -> list[str]:
        """The names of the readings that are not expected to fall."""
        return [r.name for r in self.readings if not r.expected.startswith(str(Truth.REFUTED))]

    @property
    def _claim(self) -> str:
        return "the printed claim" if self.origin == "printed" else "the claim"

    def json(self) -> JsonObject:
        """The document of `show --json`."""
        return {"schema": 1, "statement": asdict(self)}


def statement_of(claims: Sequence[Claim], word: str) -> str:
    """The id of the one statement that these claims belong to.

    Raises:
        UsageError: they belong to several.
    """
    ids = list(dict.fromkeys(c.statement_id for c in claims))
    if len(ids) > 1:
        few = ", ".join(ids[:5]) + (f" and {len(ids) - 5} more" if len(ids) > 5 else "")
        raise UsageError(
            f"{len(ids)} statements begin like that", value=word, remedy=f"Name one of {few}."
        )
    return ids[0]


def statement_view(
    claims: Sequence[Claim],
    names: Mapping[str, str],
    among: Iterable[Claim] = (),
    words: Erratum | None = None,
) -> StatementView:
    """The view of a statement by all its readings.

    `names` is as for `snippets.leaves`; what rests on the statement is looked for `among` claims;
    `words` are those of its erratum.
    """
    first = claims[0]
    return StatementView(
        first.statement_id,
        first.source,
        "; ".join(dict.fromkeys(c.place for c in claims)),
        next((c.printed for c in claims if c.printed), ""),
        tuple(_reading(c, claims, names, words) for c in claims),
        dependencies(claims)[first.statement_id],
        tuple(resting_on(first.statement_id, dependencies(among))),
        {} if words is None else dict(_told(words, claims, names)),
        first.origin,
    )


def _told(
    words: Erratum, claims: Sequence[Claim], names: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """What an erratum says, line by line.

    Where it has no words on the repair the readings that stand say it; without these no line does.
    """
    yield "weight", words.weight.removeprefix("What ").replace("Misprints", "is a misprint")
    yield "fell", words.fell
    yield "found", words.gist
    yield "fails", words.fails
    stands = [c.reading for c in claims if c.id in words.stands]
    if words.repair or stands:
        yield "repair", words.repair or f"what is said by {', '.join(stands)}"


def _reading(
    claim: Claim, claims: Sequence[Claim], names: Mapping[str, str], words: Erratum | None
) -> ReadingView:
    stored = curated.known(claim) if claim.expected.truth is Truth.REFUTED else ()
    shown = to_show(words, claim, stored)
    words_of = [in_words(case, names) for case in shown]
    told, least = (words_of[0], words_of[-1]) if shown else (None, None)
    first = min(claims, key=lambda c: not c.reading.startswith("literal"))
    own, its = claim.formula.hypotheses, first.formula.hypotheses
    return ReadingView(
        claim.reading,
        claim.statement,
        f"{claim.expected.truth}, {claim.expected.verdict.evidence}",
        tuple(_otherwise(claim, first)),
        tuple(name for name in own if name not in its),
        tuple(name for name in its if name not in own),
        tuple(h.name for h in claim.hypotheses),
        tuple(s.name for s in claim.siblings),
        typeset(claim.formula),
        told,
        None if least == told else least,
        str(curated.place(claim)) if stored else None,
        any(verifier(claim, case) is not None for case in shown),
        claim.file,
        claim.line,
    )


def _otherwise(claim: Claim, first: Claim) -> Iterator[str]:
    """The constants that a claim has otherwise than another one."""
    before = first.formula.constants
    for name, value in claim.formula.constants.items():
        if name in before and before[name] != value:
            yield f"{name} = {_value(value)} (there {_value(before[name])})"


def _value(value: object) -> object:
    return getattr(value, "__name__", value)


def formula_lines(readings: Iterable[ReadingView], *, latex: bool = False) -> list[str]:
    """Every distinct formula of these readings, hypotheses and definitions, a line each."""

    def of(line: Written) -> str:
        return line.latex if latex else line.plain

    readings = list(readings)
    by_formula: dict[str, list[str]] = {}
    conditions: dict[str, str] = {}
    for reading in readings:
        by_formula.setdefault(of(reading.formula.conclusion), []).append(reading.name)
        for name, condition in reading.formula.hypotheses.items():
            meaning = _meaning(name, condition)
            conditions[name] = f"{name}, that is {meaning}" if meaning else name
            if latex:
                conditions[name] = of(condition)
    many = len(by_formula) > 1
    lines = [
        f"{text}    ({', '.join(names)})" if many and not latex else text
        for text, names in by_formula.items()
    ]
    lead = r"\text{if } " if latex else "if "
    lines += [lead + condition for condition in conditions.values()]
    lead = r"\text{where } " if latex else "where "
    return lines + [lead + line for line in definitions(readings, latex=latex)]


def _meaning(name: str, condition: Written) -> str:
    """A condition as it runs, nothing where its name says the same."""
    turned = " <= ".join(reversed(name.split(" >= ")))
    turned = " < ".join(reversed(turned.split(" > ")))
    same = condition.plain.replace(" ", "") in (w.replace(" ", "") for w in (name, turned))
    return "" if same else condition.plain


def meanings(readings: Iterable[ReadingView]) -> dict[str, str]:
    """What the hypotheses of these readings run, by name, where the name does not say it."""
    every = {n: _meaning(n, c) for r in readings for n, c in r.formula.hypotheses.items()}
    return {name: meaning for name, meaning in every.items() if meaning}


def definitions(readings: Iterable[ReadingView], *, latex: bool = False) -> list[str]:
    """What the names in these formulas stand for; a name that differs tells its readings."""
    where: dict[str, list[str]] = {}
    for reading in readings:
        for line in reading.formula.where:
            where.setdefault(line.latex if latex else line.plain, []).append(reading.name)
    left = [line.partition(" = ")[0] for line in where]
    return [
        f"{line}    ({', '.join(names)})"
        if left.count(line.partition(" = ")[0]) > 1 and not latex
        else line
        for line, names in where.items()
    ]
