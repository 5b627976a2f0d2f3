"""The gate: a run's ledger held against the reviewed expectations, in both directions."""

from __future__ import annotations

import datetime
import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attsvm._words import counted
from attsvm.errors import FileError
from attsvm.theory import files
from attsvm.theory.ledger import Run
from attsvm.theory.packs import Pack
from attsvm.theory.verdict import Evidence, Truth, Validity, Verdict

__all__ = ["Expectation", "absent", "brief", "concerned", "hold", "read_expectations"]


@dataclass(frozen=True, slots=True)
class Expectation:
    """A reviewed verdict with its reason and, where set, the day on which it lapses."""

    verdict: Verdict
    reason: str
    until: datetime.date | None = None


def read_expectations(path: str | os.PathLike[str]) -> dict[str, Expectation]:
    """Read an expectations file: schema 1, and by claim truth, evidence, validity and reason.

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
    return {str(k): _expectation(str(k), v, path) for k, v in document["claims"].items()}


def _expectation(claim: str, entry: Any, path: object) -> Expectation:
    if not isinstance(entry, dict):
        raise FileError(f"{path}: the entry of {claim} is no object", value=entry)
    unknown = sorted(set(entry) - {"truth", "evidence", "validity", "reason", "until"})
    if unknown:
        raise FileError(f"{path}: the entry of {claim} has unknown keys", value=unknown)
    reason = entry.get("reason")
    if not isinstance(reason, str) or not reason.strip():
        raise FileError(f"{path}: {claim} is expected without a reason", remedy="Give one.")
    try:
        verdict = Verdict(
            Truth.read(entry.get("truth")),
            Evidence.read(entry.get("evidence")),
            Validity.read(entry.get("validity")),
        )
        until = datetime.date.fromisoformat(entry["until"]) if "until" in entry else None
    except (ValueError, TypeError) as error:
        raise FileError(f"{path}: the entry of {claim} cannot be read", value=str(error)) from error
    return Expectation(verdict, reason, until)


def concerned(packs: Sequence[Pack], named: Collection[str], run: Run) -> tuple[Pack, ...]:
    """The packs whose expectations a run is held against: all of them where none is named.

    Otherwise those that are named, and others where the run set out to check a claim of theirs.
    """
    asked = set(run.claims) | set(run.verdicts)
    return tuple(
        p for p in packs if not named or p.name in named or any(c.id in asked for c in p.claims)
    )


def absent(run: Run, expectations: Mapping[str, Expectation]) -> tuple[str, ...]:
    """The reviewed claims that the run did not set out to check."""
    return tuple(sorted(set(expectations) - set(run.claims) - set(run.verdicts)))


def hold(
    run: Run, expectations: Mapping[str, Expectation], today: datetime.date
) -> tuple[str, ...]:
    """Every reason why the run may not pass, a sentence each; none means that it may."""
    reasons = []
    if not run.finished:
        reasons.append("the run did not finish")
    if run.damaged:
        reasons.append(_damaged(run.damaged))
    for claim in sorted(set(run.claims) | set(run.verdicts) | set(expectations)):
        expected = expectations.get(claim)
        got = run.verdicts.get(claim)
        if expected is None:
            reasons.append(f"{claim}: checked, but nobody reviewed what to expect of it")
            continue
        if got is None:
            known = "skipped by the run" if claim in run.claims else "not part of the run"
            reasons.append(f"{claim}: expected {expected.verdict}, {known}")
            continue
        if expected.until is not None and today > expected.until:
            reasons.append(f"{claim}: the expectation lapsed on {expected.until}; review it")
        reasons += _compare(claim, expected.verdict, got)
    for file in sorted(set(run.curated) | set(run.replays)):
        replay = run.replays.get(file)
        if replay is None:
            reasons.append(f"{file}: the run did not replay this curated counterexample")
        elif replay["result"] != "CONFIRMED":
            said = f"{replay['result']} ({replay.get('reason', '')})"
            reasons.append(f"{file}: the curated counterexample no longer stands: {said}")
    if not run.claims:
        reasons.append("the run checked no claim")
    return tuple(reasons)


def brief(
    run: Run, expectations: Mapping[str, Expectation], reasons: Sequence[str]
) -> tuple[str, ...]:
    """The reasons for people: claims that are not part of the run are counted by source."""
    left = absent(run, expectations)
    hidden = {f"{claim}: " for claim in left}
    lines = [r for r in reasons if f"{r.partition(': ')[0]}: " not in hidden]
    sources = Counter(claim.partition("/")[0] for claim in left)
    reviewed = Counter(claim.partition("/")[0] for claim in expectations)
    for source, number in sources.items():
        were = "is" if number == 1 else "are"
        lines.append(
            f"{source}: {number} of {counted(reviewed[source], 'reviewed claim')} {were} not part "
            f"of the run, the first {next(c for c in left if c.startswith(f'{source}/'))}"
        )
    return tuple(lines)


def _damaged(number: int) -> str:
    return f"{counted(number, 'line')} of the run {'is' if number == 1 else 'are'} damaged"


def _compare(claim: str, expected: Verdict, got: Mapping[str, Any]) -> list[str]:
    reasons = [
        f"{claim}: {axis} is {got.get(axis)}, expected {word} ({got.get('reason', '')})"
        for axis, word in expected.json().items()
        if got.get(axis) != word
    ]
    declared = got.get("expected")
    if declared != expected.json():
        reasons.append(f"{claim}: its file declares {declared}, reviewed is {expected.json()}")
    survived = [s.get("name") for s in got.get("siblings", []) if s.get("refuted") is not True]
    if survived or len(got.get("siblings", [])) < 2:
        reasons.append(f"{claim}: siblings not refuted: {survived or 'fewer than two'}")
    return reasons
