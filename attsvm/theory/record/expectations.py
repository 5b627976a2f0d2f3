"""The reviewed expectations of a pack: a verdict a claim, with its reason and what was reviewed."""

from __future__ import annotations

import datetime
import os
from dataclasses import dataclass
from typing import Any

from attsvm.errors import FileError
from attsvm.theory.declaration.claim import is_id
from attsvm.theory.declaration.verdict import Evidence, Truth, Validity, Verdict
from attsvm.theory.record import files
from attsvm.theory.record.reviewed import Reviewed

UNREVIEWED = "not reviewed yet"
"""The reason that stands for none: with it, an expectation is refused."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """A reviewed verdict with its reason, what was reviewed, and the day on which it lapses."""

    verdict: Verdict
    reason: str
    until: datetime.date | None = None
    reviewed: Reviewed | None = None

    @property
    def is_reviewed(self) -> bool:
        """Whether its reason is more than the words that stand for none, however they are spelt."""
        return _letters(self.reason) != _letters(UNREVIEWED)


def _letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def read_expectations(path: str | os.PathLike[str]) -> dict[str, Expectation]:
    """Read an expectations file: schema 1, and by claim truth, evidence, validity, reason.

    Raises:
        FileError: unreadable, another schema, a word that is none, or a missing reason.
    """
    document = files.read_json(path)
    if (
        not isinstance(document, dict)
        or document.get("schema") != 1
        or not isinstance(document.get("claims"), dict)
    ):
        raise FileError(
            f"{path} is no expectations file", remedy='It has "schema": 1 and "claims" by id.'
        )
    return {name: _expectation(name, entry, path) for name, entry in document["claims"].items()}


def _expectation(claim: str, entry: Any, path: object) -> Expectation:
    if not is_id(claim):
        raise FileError(f"{path} expects something of what is no claim's id", value=claim)
    if not isinstance(entry, dict):
        raise FileError(f"{path}: the entry of {claim} is no object", value=entry)
    unknown = sorted(set(entry) - {"truth", "evidence", "validity", "reason", "until", "reviewed"})
    if unknown:
        raise FileError(f"{path}: the entry of {claim} has unknown keys", value=unknown)
    reason = entry.get("reason")
    if not isinstance(reason, str) or not _letters(reason):
        raise FileError(f"{path}: {claim} is expected without a reason", remedy="Give one.")
    try:
        verdict = Verdict(
            Truth.read(entry.get("truth")),
            Evidence.read(entry.get("evidence")),
            Validity.read(entry.get("validity")),
        )
        until = datetime.date.fromisoformat(entry["until"]) if "until" in entry else None
        reviewed = Reviewed.read(entry["reviewed"]) if "reviewed" in entry else None
    except (ValueError, TypeError) as error:
        raise FileError(f"{path}: the entry of {claim} cannot be read", value=str(error)) from error
    return Expectation(verdict, reason, until, reviewed)
