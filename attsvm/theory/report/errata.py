"""What people write about a source beside its claims: its order, and errata for its authors.

A `Source` at module level of a pack is found like a claim. It holds words only: verdicts come from
a run, counterexamples from instances that are confirmed anew.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from attsvm.errors import ClaimError, UsageError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.packs.packs import Pack, modules
from attsvm.theory.report.picture import Picture

_KINDS = ("literal", "amended", "sharp")


class Weight(StrEnum):
    """How much hangs on an erratum, the most first; a member is the heading of its list."""

    CLAIM = "What overturns a theorem or a claim"
    CONSTANT = "What changes a constant, a formula or a condition"
    MISPRINT = "Misprints"


@dataclass(frozen=True, slots=True)
class Erratum:
    """Words for the authors of a source on a statement that does not stand as printed.

    Attributes:
        statement: its id, such as sim/lemma-3.11.
        weight: how much hangs on it.
        gist: what was found, in a sentence for the list that comes first.
        printed: what is printed, in plain words and formulas; where it is empty the quotation of
            the statement and the sentences of its refuted literal readings say it.
        fails: what fails, and why.
        repair: the least change that stands, or what is left where none is known; where it is
            empty the sentences of `stands` say it.
        falls: the refuted readings that it rests on: all literal ones that fall, and those
            repairs that fall as well.
        stands: the readings that stand and that the repair rests on.
        telling: instances by reading that tell more than the smallest ones; confirmed like these.
        fell: what fell, where it is not the printed claim itself.
    """

    statement: str
    weight: Weight
    gist: str
    printed: str
    fails: str
    repair: str
    falls: tuple[str, ...]
    stands: tuple[str, ...]
    telling: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    fell: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A source whose claims a pack holds.

    Attributes:
        name: what the ids of its claims begin with, such as sim.
        order: its statements, in the order in which they stand there.
        errata: at most one a statement; of one weight, the most important first.
        names: what fields of instances are called there: "Record.field" to a word, to "yes|no" for
            one that is true or false.
        notes: what its authors should know of all errata, a paragraph each.
        notation: what a reader of the page alone cannot know: a word or symbol to what it means.
        picture: draws an instance that refutes a claim; None where it has no picture.

    Raises:
        ClaimError: a statement of another source, or two errata of one statement.
    """

    name: str
    order: tuple[str, ...] = ()
    errata: tuple[Erratum, ...] = ()
    names: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[str, ...] = ()
    notation: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    picture: Callable[[Claim, Any], Picture | None] | None = None

    def __post_init__(self) -> None:
        about = [e.statement for e in self.errata]
        for statement in (*self.order, *about):
            if not statement.startswith(f"{self.name}/"):
                raise ClaimError(f"source {self.name} has no such statement", value=statement)
        for statement, times in (Counter(self.order) + Counter(set(about))).items():
            if self.order.count(statement) > 1 or times > 2:
                raise ClaimError("a statement is listed twice", value=statement)
        if len(set(about)) < len(about):
            raise ClaimError("a statement has two errata", value=", ".join(about))

    def erratum(self, statement: str) -> Erratum | None:
        """The erratum of a statement, if there is one."""
        return next((e for e in self.errata if e.statement == statement), None)

    def of_weight(self, weight: Weight) -> list[Erratum]:
        """The errata of a weight, in their order."""
        return [e for e in self.errata if e.weight is weight]


def to_show(words: Erratum | None, claim: Claim, stored: Iterable[Any]) -> tuple[Any, ...]:
    """The instances that can be shown of a refuted reading: first the erratum's, if it has one."""
    told = () if words is None or claim.id not in words.telling else (words.telling[claim.id],)
    return (*told, *stored)


def find_source(packs: Sequence[Pack], name: str) -> Source:
    """What the packs say of a source; nothing but its name where they are silent.

    Raises:
        ClaimError: two packs speak of it.
    """
    values = [v for pack in packs for module in modules(pack) for v in vars(module).values()]
    found = {id(v): v for v in values if isinstance(v, Source) and v.name == name}
    if len(found) > 1:
        raise ClaimError("a source is described twice", value=name)
    return next(iter(found.values()), Source(name))


def claims_of(packs: Sequence[Pack], name: str) -> tuple[Claim, ...]:
    """All claims of a source.

    Raises:
        UsageError: there is none.
    """
    claims = {c.id: c for pack in packs for c in pack.claims}
    chosen = [claims[key] for key in sorted(claims) if key.startswith(f"{name}/")]
    if not chosen:
        known = ", ".join(sorted({key.partition("/")[0] for key in claims}))
        raise UsageError("no claim is about that source", value=name, remedy=f"There are: {known}.")
    return tuple(chosen)


def in_order(source: Source, claims: Iterable[Claim]) -> dict[str, list[Claim]]:
    """The readings by statement, both in the source's order; what it does not list comes last.

    Raises:
        ClaimError: an erratum is about a statement or a reading that is not there.
    """
    groups: dict[str, list[Claim]] = {}
    for claim in sorted(
        claims, key=lambda c: (_KINDS.index(c.reading.split("-")[0]), _natural(c.id))
    ):
        groups.setdefault(claim.statement_id, []).append(claim)
    for erratum in source.errata:
        there = {c.id for c in groups.get(erratum.statement, [])}
        for reading in (*erratum.falls, *erratum.stands, *erratum.telling):
            if reading not in there:
                raise ClaimError(
                    f"the erratum of {erratum.statement} rests on a reading that is not there",
                    value=reading,
                )
    place = {statement: k for k, statement in enumerate(source.order)}
    last = len(place)
    return {s: groups[s] for s in sorted(groups, key=lambda s: (place.get(s, last), _natural(s)))}


def _natural(text: str) -> list[tuple[int, str]]:
    """A key that sorts numbers within text by their size."""
    parts = re.split(r"(\d+)", text)
    return [(int(part), "") if part.isdigit() else (0, part) for part in parts]


def standing(printed: int, fallen: int, whole: int) -> str:
    """How many of the statements that are printed fell, and how many stand in every literal one."""
    return (
        f"Of {printed} that are printed, {fallen} {'is' if fallen == 1 else 'are'} refuted in a "
        f"literal reading, and {whole} {'stands' if whole == 1 else 'stand'} in all of them "
        "(proved, or not refuted so far)."
    )
