"""Relatives: instances that are known for claims about the same kind of data.

They are functions of the claim and of what is installed, the same in every process: the explicit
instances and stored counterexamples of claims in installed packs and in the claim's own module.
"""

from __future__ import annotations

import contextlib
import functools
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attsvm.errors import AttsvmError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.packs import declared_in, load_packs
from attsvm.theory.record import codec, files

__all__ = ["FOLDER", "relatives"]

FOLDER = "counterexamples"
"""The folder beside a pack's modules where counterexamples are stored."""


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of a claim: its type of instance, and instances by their text."""

    instance_type: Any
    records: frozenset[type]
    instances: dict[str, Any]


def relatives(claim: Claim) -> list[Any]:
    """Encoded instances of other claims that share a record type with this one, each once.

    The claim's own instances, those of its siblings and its stored counterexamples are left out,
    even where another claim lists them as well. Instances of the very same type come first.
    """
    homes = [m for m in sys.modules.values() if getattr(m, "__file__", None) == claim.file]
    beside = [c for m in homes for c in declared_in(m) if isinstance(c, Claim)]
    installed = _installed()
    known = installed | _known([c for c in beside if c.id not in installed])
    mine = _known([claim])[claim.id]
    own = {*mine.instances, *(known[claim.id].instances if claim.id in known else ())}
    near: dict[str, Any] = {}
    far: dict[str, Any] = {}
    for name in sorted(set(known) - {claim.id}):
        other = known[name]
        if other.instance_type == mine.instance_type:
            near |= other.instances
        elif other.records & mine.records:
            far |= other.instances
    return [document for key, document in (near | far).items() if key not in own]


@functools.cache
def _installed() -> dict[str, _Known]:
    return _known([claim for pack in load_packs() for claim in pack.claims])


def _known(claims: Sequence[Claim]) -> dict[str, _Known]:
    stored = _stored({str(Path(c.file).parent) for c in claims})
    found = {}
    for claim in claims:
        documents = [codec.encode(case) for part in claim.parts() for case in part.examples]
        documents += _decodable(stored.get(claim.id, []), claim.instance_type)
        found[claim.id] = _Known(
            claim.instance_type,
            frozenset(codec.records(claim.instance_type).values()),
            {json.dumps(document, sort_keys=True): document for document in documents},
        )
    return found


def _decodable(documents: Iterable[Any], hint: Any) -> Iterator[Any]:
    """Those that are instances of the type."""
    for document in documents:
        with contextlib.suppress(AttsvmError):  # replaying the file says what is wrong
            codec.decode_exactly(document, hint)
            yield document


def _stored(folders: Iterable[str]) -> dict[str, list[Any]]:
    """Instances of counterexample files by claim, in the order of their names."""
    found: dict[str, list[Any]] = {}
    for folder in sorted(folders):
        for path in sorted((Path(folder) / FOLDER).glob("*.json")):
            try:
                entry = files.read_json(path)
                found.setdefault(str(entry["claim"]), []).append(entry["instance"])
            except (AttsvmError, KeyError, TypeError):  # replaying the file says what is wrong
                continue
    return found
