"""Texts about a source that its claims do not contain: order of statements, notes, errata.

They are TOML files in a folder `errata` beside the folder `counterexamples` of the claims.
docs/claims.md lists their fields. Verdicts come from a run, and instances from claims.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from attsvm._types import Entry
from attsvm._words import nearest
from attsvm.errors import FileError, UsageError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.verdict import Truth
from attsvm.theory.packs.packs import Pack, beside
from attsvm.theory.record import forms

_KINDS = ("literal", "amended", "sharp")


class Weight(StrEnum):
    """The importance of an erratum, highest first; each member is the heading of its list."""

    CLAIM = "What overturns a theorem or a claim"
    CONSTANT = "What changes a constant, a formula or a condition"
    MISPRINT = "Misprints"


class Rank(StrEnum):
    """The part that a statement has in its source; each member is the heading of its list."""

    THEOREM = "Theorems and lemmas"
    CLAIM = "Claims of introduction and abstract"
    REMARK = "Remarks and captions"
    DEFINITION = "Definitions and assumptions, read as theorems"


@dataclass(frozen=True, slots=True)
class Erratum:
    """A text for the authors of a source about a statement that is false as printed.

    Attributes:
        statement: the id of the statement, such as sim/lemma-3.11.
        weight: the importance.
        gist: the finding in one sentence, for the list at the top of the page.
        fails: what fails, and why.
        printed: the printed text; "" if the quotation and the refuted readings contain it.
        repair: the least change that is true; "" if the readings of `stands` contain it.
        fell: the refuted part; "" if it is the printed claim itself.
        falls: the ids of all readings that are expected to be refuted, literal ones first.
        stands: the ids of the unrefuted readings that support the repair.
        telling: by reading, an instance that explains more than the smallest one.
    """

    statement: str
    weight: Weight
    gist: str
    fails: str
    printed: str = ""
    repair: str = ""
    fell: str = ""
    falls: tuple[str, ...] = ()
    stands: tuple[str, ...] = ()
    telling: Entry = field(default_factory=lambda: MappingProxyType({}), repr=False)


@dataclass(frozen=True, slots=True)
class Source:
    """A source with claims in a pack.

    Attributes:
        name: the prefix of the ids of its claims, such as sim.
        order: the ids of its statements, in the order of the source.
        ranks: the part that a statement has in the source; `THEOREM` for ids that it lacks.
        errata: at most one for each statement, sorted by weight, then by importance.
        names: words for fields of instances: "Record.field" to a word, or to "yes|no" for a field
            that is true or false.
        notes: paragraphs that its authors should read before the errata.
        notation: words and symbols of the page, with their meanings.
        unknown: statements that its files name and no loaded claim has, each with its file.
    """

    name: str
    order: tuple[str, ...] = ()
    ranks: Mapping[str, Rank] = field(default_factory=lambda: MappingProxyType({}))
    errata: tuple[Erratum, ...] = ()
    names: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[str, ...] = ()
    notation: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    unknown: Mapping[str, Path] = field(default_factory=lambda: MappingProxyType({}))

    def erratum(self, statement: str) -> Erratum | None:
        """Return the erratum of a statement, None if it has none."""
        return next((e for e in self.errata if e.statement == statement), None)

    def rank(self, statement: str) -> Rank:
        """Return the part that a statement has in the source."""
        return self.ranks.get(statement, Rank.THEOREM)

    def of_weight(self, weight: Weight) -> list[Erratum]:
        """Return the errata of a weight, in their order."""
        return [e for e in self.errata if e.weight is weight]


_WEIGHTS = {weight.name.lower(): weight for weight in Weight}
_RANKS = {rank.name.lower(): rank for rank in Rank}
_ERRATUM = {"statement": forms.text, "weight": forms.text, "gist": forms.text, "fails": forms.text}
_MORE: Mapping[str, forms.Form] = {
    **dict.fromkeys(("fell", "printed", "repair"), forms.text),
    "stands": forms.each(forms.text),
    "telling": forms.values(forms.count),
}
_FILE: Mapping[str, forms.Form] = {
    **dict.fromkeys(("order", "notes"), forms.each(forms.text)),
    **dict.fromkeys(("names", "notation"), forms.values(forms.text)),
    "ranks": forms.values(forms.each(forms.text)),
    "errata": forms.each(lambda value: isinstance(value, dict)),
}


def find_source(packs: Sequence[Pack], name: str) -> Source:
    """Return the texts about a source from the files beside its claims.

    Without such files the source has only a name. Packs may be loaded in part, so statements
    without claims are no error here; `ensure_whole` rejects them.

    Raises:
        FileError: a file cannot be read, has an unknown or missing field, or names an unknown
            reading or example.
    """
    claims = {c.id: c for p in packs for c in p.claims if c.id.startswith(f"{name}/")}
    places = {Path(c.file) for c in claims.values()}
    folders = {beside(file) / "errata" for file in places if file.is_file()}
    texts = [_File(file, claims) for folder in folders for file in sorted(folder.glob("*.toml"))]
    own = [file for file in sorted(texts, key=lambda f: f.path) if file.source == name]
    errata = [erratum for file in own for erratum in file.errata()]
    order = [id for file in own for id in file.document.get("order", ())]
    ranks = [(id, rank) for file in own for rank, ids in file.ranks().items() for id in ids]
    for ids in (order, [e.statement for e in errata], [id for id, _ in ranks]):
        for id in ids:
            if ids.count(id) > 1:
                raise FileError(
                    f"the files in {own[0].path.parent} list a statement twice",
                    value=id,
                    remedy="Keep one of the two.",
                )
    statements = {claim.statement_id for claim in claims.values()}
    weights = list(Weight)
    return Source(
        name,
        tuple(order),
        dict(ranks),
        tuple(sorted(errata, key=lambda e: weights.index(e.weight))),
        {k: v for file in own for k, v in file.words("names").items()},
        tuple(_line(note) for file in own for note in file.document.get("notes", ())),
        {k: v for file in own for k, v in file.words("notation").items()},
        {id: file.path for file in own for id in file.statements() if id not in statements},
    )


def ensure_whole(source: Source, claims: Iterable[Claim]) -> None:
    """Raise unless each statement named by the files of a source has one of these claims.

    Raises:
        FileError: a statement has no claim.
    """
    known = list(dict.fromkeys(c.statement_id for c in claims))
    for id, path in source.unknown.items():
        raise FileError(f"{path}: there is no such statement", value=id, remedy=nearest(id, known))


class _File:
    """A file of texts about a source, and the claims that it may name."""

    def __init__(self, path: Path, claims: Mapping[str, Claim]) -> None:
        """Read the file.

        Raises:
            FileError: it cannot be read, or its fields are not of the right form.
        """
        self.path = path
        self.claims: dict[str, list[Claim]] = {}
        for id in sorted(claims):
            self.claims.setdefault(claims[id].statement_id, []).append(claims[id])
        try:
            self.document = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise FileError(
                f"{path} cannot be read as TOML ({error})", remedy="Correct that line."
            ) from error
        self._ensure("the file", self.document, {"source": forms.text}, _FILE)
        self.source: str = self.document["source"]

    def words(self, field: str) -> dict[str, str]:
        """Return a table of the file, with each text in one line."""
        return {key: _line(value) for key, value in self.document.get(field, {}).items()}

    def statements(self) -> list[str]:
        """Return the ids of the statements that the file names."""
        errata = self.document.get("errata", ())
        ranked = (id for ids in self.ranks().values() for id in ids)
        own = (words["statement"] for words in errata)
        return [*self.document.get("order", ()), *ranked, *own]

    def ranks(self) -> dict[Rank, list[str]]:
        """Return the ids of statements by the part that they have in the source."""
        table = self.document.get("ranks", {})
        for name in table:
            self._ensure_known("the file has an unknown rank", name, _RANKS)
        return {_RANKS[name]: ids for name, ids in table.items()}

    def errata(self) -> list[Erratum]:
        """Return the errata of loaded statements, each with the readings that it rests on."""
        made = (self._erratum(words) for words in self.document.get("errata", ()))
        return [erratum for erratum in made if erratum is not None]

    def _erratum(self, words: Entry) -> Erratum | None:
        about = words.get("statement", "")
        what = f"the erratum of {about}" if about else "an erratum"
        self._ensure(what, words, _ERRATUM, _MORE)
        self._ensure_known(f"{what} has an unknown weight", words["weight"], _WEIGHTS)
        if about not in self.claims:
            return None
        readings = {c.reading: c for c in self.claims[about]}
        telling = words.get("telling", {})
        for name in (*words.get("stands", ()), *telling):
            self._ensure_known(f"{what} names an unknown reading", name, readings)
        for name, k in telling.items():
            if not 0 <= k < len(readings[name].examples):
                raise FileError(
                    f"{self.path}: {what} refers to an example that {name} does not have",
                    value=k,
                    remedy=f"It has {len(readings[name].examples)}, counted from 0.",
                )
        falls = [c for c in readings.values() if c.expected.truth is Truth.REFUTED]
        falls.sort(key=lambda c: not c.reading.startswith("literal"))
        standing = [n for n, c in readings.items() if c.expected.truth in _STANDING]
        texts = ("gist", "fails", "printed", "repair", "fell")
        return Erratum(
            statement=about,
            weight=_WEIGHTS[words["weight"]],
            falls=tuple(c.id for c in falls),
            stands=tuple(readings[name].id for name in words.get("stands", standing)),
            telling={readings[name].id: readings[name].examples[k] for name, k in telling.items()},
            **{name: _line(words.get(name, "")) for name in texts},
        )

    def _ensure(
        self,
        what: str,
        table: Entry,
        needed: Mapping[str, forms.Form],
        more: Mapping[str, forms.Form],
    ) -> None:
        """Raise unless a table has the needed fields in the right form, and no unknown fields."""
        for key in table:
            self._ensure_known(f"{what} has an unknown field", key, {**needed, **more})
        if lacks := forms.lacking(table, needed, more):
            raise FileError(
                f"{self.path}: {what} lacks {lacks}",
                value=table.get(lacks.removesuffix(" of the right form")),
                remedy="docs/claims.md lists the fields.",
            )

    def _ensure_known(self, cause: str, word: str, known: Iterable[str]) -> None:
        if word not in known:
            raise FileError(
                f"{self.path}: {cause}",
                value=word,
                remedy=nearest(word, known) or f"Known: {', '.join(known)}.",
            )


_STANDING = (Truth.PROVED, Truth.HOLDS)


def _line(text: str) -> str:
    """Return a text in one line: files may break lines anywhere."""
    return " ".join(text.split())


def claims_of(packs: Sequence[Pack], name: str) -> tuple[Claim, ...]:
    """Return all claims of a source, in the order of their ids.

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
    """Return the readings by statement, in the order of the source; others come last."""
    groups: dict[str, list[Claim]] = {}
    for claim in sorted(
        claims, key=lambda c: (_KINDS.index(c.reading.split("-")[0]), _natural(c.id))
    ):
        groups.setdefault(claim.statement_id, []).append(claim)
    place = {statement: k for k, statement in enumerate(source.order)}
    last = len(place)
    return {s: groups[s] for s in sorted(groups, key=lambda s: (place.get(s, last), _natural(s)))}


def _natural(text: str) -> list[tuple[int, str]]:
    """Return a sort key of a text in which numbers count by their size."""
    parts = re.split(r"(\d+)", text)
    return [(int(part), "") if part.isdigit() else (0, part) for part in parts]
