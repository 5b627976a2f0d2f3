"""Counterexamples as versioned files of exact values, and their replay from the file alone."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from attsvm.errors import AttsvmError, FileError
from attsvm.theory import codec, files
from attsvm.theory.check import Outcome
from attsvm.theory.claim import Claim
from attsvm.theory.confirm import confirm
from attsvm.theory.packs import Pack, find_claims

__all__ = ["Replay", "document", "file_name", "replay"]

KIND = "attsvm-counterexample"
SCHEMA = 1


def file_name(claim_id: str) -> str:
    """The file name that a claim's counterexample is stored under."""
    return claim_id.replace("/", "--").replace(":", "--") + ".json"


def document(claim: Claim, outcome: Outcome) -> dict[str, Any]:
    """The file of a refutation: values, slack, certificate, and what it refutes."""
    found = outcome.refuted
    assert found is not None
    return {
        "schema": SCHEMA,
        "kind": KIND,
        "claim": claim.id,
        "sibling": outcome.part or None,
        "statement": claim.statement,
        "fingerprint": claim.fingerprint,
        "instance": found.instance,
        "slack": found.slack,
        "certificate": {
            "evidence": found.evidence,
            "method": found.method,
            "enclosure": None if found.enclosure is None else list(found.enclosure),
        },
        "found_by": found.found_by,
    }


@dataclass(frozen=True, slots=True)
class Replay:
    """What re-executing one file came to, and why."""

    file: str
    result: Literal["CONFIRMED", "NOT CONFIRMED", "ERROR"]
    claim: str | None
    evidence: str
    reason: str
    stale: bool = False

    def json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "file": self.file,
            "result": self.result,
            "claim": self.claim,
            "evidence": self.evidence,
            "reason": self.reason,
            "stale": self.stale,
        }


def replay(path: str | os.PathLike[str], packs: tuple[Pack, ...]) -> Replay:
    """Re-execute a stored counterexample: hypotheses, then exact evaluation, nothing remembered.

    The file's own slack and certificate are not looked at. `stale` says that the claim's file
    has changed since the counterexample was stored.
    """
    name = str(Path(path))
    try:
        stored = files.read_json(path)
        if not isinstance(stored, dict) or stored.get("kind") != KIND:
            raise FileError(f"{name} is no counterexample file", remedy="`hunt` writes them.")
        if stored.get("schema") != SCHEMA:
            raise FileError(
                f"{name} has a schema that is not known",
                value=stored.get("schema"),
                remedy=f"This version reads schema {SCHEMA}.",
            )
        claims = [
            c for c in find_claims(packs, [str(stored.get("claim"))]) if c.id == stored.get("claim")
        ]
        if len(claims) != 1:
            raise FileError(f"{name} names no single claim", value=stored.get("claim"))
        claim = claims[0]
        part = claim.part(str(stored.get("sibling") or ""))
        case = codec.decode(stored.get("instance"), claim.instance_type)
        failed = [h.name for h in part.hypotheses if h.holds(case) is not True]
        if failed:
            return Replay(
                name,
                "NOT CONFIRMED",
                claim.id,
                "none",
                f"the instance does not satisfy: {', '.join(failed)}",
            )
        kind = claim.conclusion(case, **part.parameters).kind
        answer = confirm(claim, part.parameters, case, kind)
    except AttsvmError as error:
        return Replay(name, "ERROR", None, "none", str(error))
    except (Exception, SystemExit) as error:  # a file may upset a claim in any way; report it
        return Replay(name, "ERROR", None, "none", f"{type(error).__name__}: {error}")
    stale = stored.get("fingerprint") != claim.fingerprint
    if answer.refuted:
        bounds = answer.enclosure or ("?", "?")
        return Replay(
            name,
            "CONFIRMED",
            claim.id,
            str(answer.evidence),
            f"slack in [{bounds[0]}, {bounds[1]}], {answer.method}",
            stale,
        )
    said = "the conclusion holds" if answer.refuted is False else "the sign stays open"
    return Replay(
        name, "NOT CONFIRMED", claim.id, "none", f"{said} on this instance ({answer.method})", stale
    )
