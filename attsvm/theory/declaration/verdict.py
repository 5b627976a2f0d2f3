"""Verdicts on three axes that are never merged, and words on readings; each has its meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Self

from attsvm.errors import ClaimError


class _Word(Enum):
    """A closed set of words in order, each with its exact meaning."""

    meaning: str

    def __new__(cls, word: str, meaning: str) -> _Word:
        member = object.__new__(cls)
        member._value_ = word
        member.meaning = meaning
        return member

    def __str__(self) -> str:
        return str(self.value)

    @classmethod
    def read(cls, word: object) -> Self:
        """Return the member of that word.

        Raises:
            ValueError: there is no such word.
        """
        for member in cls:
            if member.value == word:
                return member
        raise ValueError(f"{word!r} is none of {', '.join(map(str, cls))}")


class Truth(_Word):
    """The truth of the reading, as far as it is known."""

    PROVED = "proved", "A linked proof ran in this run and no instance contradicted it."
    HOLDS = "holds", "No instance refuted it so far; that is no proof."
    UNDECIDED = "undecided", "An instance could be settled neither way; it may be false."
    REFUTED = "refuted", "An instance satisfies every hypothesis and violates the conclusion."


IN_PROSE = "proof in prose"
"""The mark of a reading that holds and whose proof is executed steps, connected by text."""


def in_prose(entry: Mapping[str, object]) -> bool:
    """Return whether a record, in the form of `verify --json`, has a proof that is not linked.

    A proof in prose of a refuted or undecided reading is worth nothing, so it is not marked.
    """
    held = entry.get("truth") == str(Truth.HOLDS)
    return held and bool(entry.get("proof")) and entry.get("linked") is not True


SHARP = "no smaller constant will do"
"""The clause of a tight reading, in lower case."""

BY_INSTANCES = "sharpness by instances"
"""The mark of a proved reading whose clause on the constant no fact says, only siblings show."""


def mark(truth: str, statement: str, *, prose: bool) -> str:
    """Return what a verdict leaves to prose or to instances, as a mark; else empty.

    Facts of a linked proof give a bound. If its sentence calls the constant the least one, this
    rests on instances, which refute siblings with slightly smaller constants.

    Args:
        truth: the truth.
        statement: the sentence of the reading.
        prose: whether its proof is in prose.
    """
    sharp = truth == str(Truth.PROVED) and SHARP in statement.lower()
    return IN_PROSE if prose else BY_INSTANCES if sharp else ""


def mark_of(entry: Mapping[str, object]) -> str:
    """Return the mark of a record in the form of `verify --json`."""
    truth, statement = (str(entry.get(key, "")) for key in ("truth", "statement"))
    return mark(truth, statement, prose=in_prose(entry))


class Evidence(_Word):
    """The evidence for the truth."""

    SYMBOLIC = (
        "symbolic",
        "A proof ran: a small core checked, without floats, that facts link the hypotheses and "
        "cited textbook lemmas to the conclusion.",
    )
    CERTIFIED = "certified", "Exact or ball arithmetic decided each instance from its exact values."
    NUMERIC = "numeric", "Floating point evaluations with error bounds; no enclosure."
    NONE = "none", "Nothing was evaluated to a conclusion."


class Validity(_Word):
    """Whether the check deserves to be believed."""

    EXERCISED = "exercised", "Enough instances met the hypotheses and every sibling fell."
    THIN = (
        "thin",
        "Too few instances met the hypotheses or were decided without a stand-in, some variable "
        "never varied or is read by no formula, or some hypothesis was never violated.",
    )
    WEAK = (
        "weak",
        "A false sibling survived the same check (with `tight`, the constant may not be the "
        "best), there is no sibling that must fall, or no instance moved the conclusion, so the "
        "check is blunt.",
    )
    VACUOUS = "vacuous", "No instance met the hypotheses; nothing was checked."
    ERROR = "error", "The check itself broke, so its outcome means nothing."


class Fairness(_Word):
    """How fairly a literal reading takes its source."""

    PLAIN = "plain", "Its authors would sign it as what they wrote."
    STRAINED = (
        "strained",
        "It takes a caption, a remark, a definition or an assumption for a theorem, or a word at "
        "its hardest.",
    )
    DEGENERATE = (
        "degenerate",
        "It falls by inputs of one token, a head 0, queries 0 or equal tokens alone.",
    )


class Strength(_Word):
    """The strength of a reading, compared with all that could be stated in its place."""

    EXACT = "exact", "Both sides are the same, or each implies the other: nothing is given away."
    LEAST = "least", "Attained or approached: a false sibling takes slightly less."
    KNOWN = "best known", "None better is known; a sibling that takes clearly less is false."
    BETTER = (
        "better",
        "Stronger than print, or true where print is false; how far it is from the best is open.",
    )


def usual_evidence(truth: Truth, *, measured: bool) -> Evidence:
    """Return the usual evidence of a truth; a counterexample or a failure may have other evidence.

    Args:
        truth: the truth.
        measured: whether floats measure the conclusion, for instance by a run. Otherwise the
            judge decides each instance of a formula from its exact values.
    """
    if truth is Truth.PROVED:
        return Evidence.SYMBOLIC
    if truth is Truth.REFUTED or not measured:
        return Evidence.NONE if truth is Truth.UNDECIDED else Evidence.CERTIFIED
    return Evidence.NUMERIC


@dataclass(frozen=True, slots=True)
class Verdict:
    """One word on each axis."""

    truth: Truth
    evidence: Evidence
    validity: Validity

    def __str__(self) -> str:
        return f"{self.truth}, {self.evidence}, {self.validity}"

    def json(self) -> dict[str, str]:
        """Return the three words by axis."""
        return {axis: str(getattr(self, axis)) for axis in ("truth", "evidence", "validity")}


@dataclass(frozen=True, slots=True)
class Expected:
    """The verdict that a claim's author expects; its validity is always `exercised`."""

    truth: Truth
    evidence: Evidence

    @classmethod
    def parse(cls, words: str, *, measured: bool = False) -> Expected:
        """Return the expectation in words such as `refuted, numeric`.

        Without a second word, the evidence is `usual_evidence`.

        Raises:
            ClaimError: a word does not belong to its axis.
        """
        parts = [word.strip() for word in words.split(",")]
        try:
            truth = Truth.read(parts[0])
            evidence = usual_evidence(truth, measured=measured)
            evidence = Evidence.read(parts[1]) if len(parts) > 1 else evidence
            if len(parts) > 2:
                raise ValueError(words)
        except ValueError as error:
            raise ClaimError(
                "an expected verdict is a truth and, after a comma, an evidence",
                value=words,
                remedy=f"Truths: {', '.join(map(str, Truth))}. "
                f"Evidence: {', '.join(map(str, Evidence))}.",
            ) from error
        return cls(truth, evidence)

    @property
    def verdict(self) -> Verdict:
        """The expectation as a verdict on three axes."""
        return Verdict(self.truth, self.evidence, Validity.EXERCISED)
