"""The reviewed expectations of a pack: for each claim a verdict, its reason, and its review."""

import datetime
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attsvm._files import read_json
from attsvm.errors import FileError
from attsvm.theory.declaration.claim import Claim, is_id
from attsvm.theory.declaration.verdict import Evidence, Truth, Validity, Verdict
from attsvm.theory.gate.reviewed import Reviewed
from attsvm.theory.packs.packs import Pack
from attsvm.theory.record.curated import python_files, unloaded

UNREVIEWED = "not reviewed yet"
"""The placeholder for a missing reason; the gate refuses an expectation that has it."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """A reviewed verdict with its reason, the reviewed claim, and the day on which it lapses.

    `pack` is the file of the claim's pack if packs may share a folder, "" for a package.
    """

    verdict: Verdict
    reason: str
    until: datetime.date | None = None
    reviewed: Reviewed | None = None
    pack: str = ""

    @property
    def is_reviewed(self) -> bool:
        """Whether the reason differs from the placeholder, apart from case and punctuation."""
        return _letters(self.reason) != _letters(UNREVIEWED)


def _letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def read_expectations(path: str | os.PathLike[str]) -> dict[str, Expectation]:
    """Return the expectations in a file, by claim.

    Raises:
        FileError: the file cannot be read, has another schema or unknown words, or lacks a reason.
    """
    document = read_json(path)
    if (
        not isinstance(document, dict)
        or document.get("schema") != 1
        or not isinstance(document.get("claims"), dict)
    ):
        raise FileError(
            f"{path} is no expectations file",
            remedy='Such a file has "schema": 1, and "claims" by id.',
        )
    return {name: _expectation(name, entry, path) for name, entry in document["claims"].items()}


def read_rest(path: str | os.PathLike[str]) -> dict[str, str]:
    """Return the reviewed digest of each pack's files that no claim imports.

    Raises:
        FileError: the file cannot be read, or the digests have another form.
    """
    document = read_json(path)
    result = document.get("packs", {}) if isinstance(document, dict) else None
    if not isinstance(result, dict) or not all(isinstance(v, str) for v in result.values()):
        raise FileError(
            f"{path}: `packs` has no digest for each pack",
            value=result,
            remedy="`attsvm gate --update --yes` writes it.",
        )
    return result


def _expectation(claim: str, entry: Any, path: object) -> Expectation:
    if not is_id(claim):
        raise FileError(
            f"{path} has an entry whose key is no id of a claim",
            value=claim,
            remedy="An id is source/statement:reading, such as sim/lemma-3.12:literal.",
        )
    if not isinstance(entry, dict):
        raise FileError(f"{path}: the entry of {claim} is no object", value=entry)
    unknown = sorted(set(entry) - _KEYS)
    if unknown:
        raise FileError(
            f"{path}: the entry of {claim} has unknown keys",
            value=unknown,
            remedy=f"An entry may have {', '.join(sorted(_KEYS))}.",
        )
    reason = entry.get("reason")
    if not isinstance(reason, str) or not _letters(reason):
        raise FileError(f"{path}: {claim} is expected without a reason", remedy="Give one.")
    pack = entry.get("pack", "")
    if not isinstance(pack, str):
        raise FileError(f"{path}: the pack of {claim} is no name of a file", value=pack)
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
    return Expectation(verdict, reason, until, reviewed, pack)


_KEYS = {"truth", "evidence", "validity", "reason", "until", "reviewed", "pack"}


def of_others(
    path: Path, entries: Mapping[str, Expectation], packs: Sequence[Pack]
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the entries of an expectations file that belong to other packs of its folder.

    Returns:
        Entries that name another existing file of the folder as their pack; and entries that name
        no such file, but whose claim an unloaded file of the folder may have.
    """
    folder = path.resolve().parent
    own = {p.file for p in packs if p.expectations == path.resolve()}
    if not own or "" in own:  # a package has its folder for itself
        return frozenset(), frozenset()
    ids = {c.id for pack in packs for c in pack.claims}
    left = {name: entry.pack for name, entry in entries.items() if name not in ids}
    there = {file.name for file in python_files(folder)} - own
    may = bool(unloaded(folder, packs))
    theirs = {name for name, pack in left.items() if pack in there}
    unknown = {name for name, pack in left.items() if may and pack not in there | own}
    return frozenset(theirs), frozenset(unknown)


def owners_of(
    claims: Iterable[Claim], packs: Sequence[Pack], entries: Mapping[str, Expectation]
) -> dict[str, str]:
    """Return the file of each claim's pack, for the claim's entry; claims of packages have none.

    If a pack imports a claim from another folder, the claim keeps the pack of its entry.
    """
    results: dict[str, str] = {}
    for claim in claims:
        own = next((p for p in packs if any(c.id == claim.id for c in p.claims)), None)
        if own is None or not own.file:
            continue
        before = entries[claim.id].pack if claim.id in entries else ""
        place = Path(claim.file).resolve()
        if place.parent == own.folder:
            results[claim.id] = place.name
        else:
            kept = before and (own.folder / before).is_file()
            results[claim.id] = before if kept else own.file
    return results


def files_beside(packs: Sequence[Pack], ids: Collection[str]) -> list[str]:
    """Return the files that have these claims, according to expectations beside the packs."""
    results: dict[str, None] = {}
    for path in {p.expectations: None for p in packs if p.expectations.is_file()}:
        entries = read_expectations(path)
        theirs, _ = of_others(path, entries, packs)
        results |= {str(path.with_name(entries[n].pack)): None for n in sorted(theirs & set(ids))}
    return list(results)
