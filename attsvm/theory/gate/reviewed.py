"""The review of a claim, and the differences of the checked-out claim from it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields

from attsvm._types import Entry, JsonObject
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.typesetting import typeset
from attsvm.theory.packs.code_digests import Imports, digest_of_claim
from attsvm.theory.record import curated, forms


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A reviewed claim: its sentence and formula, and digests of the code that it depends on.

    Attributes:
        statement: the sentence.
        formula: the formula as printed, with its hypotheses.
        digest: the digest of the modules that the statement and the proof import.
        examples: instances that the reviewed run evaluated; 0 if no run was reviewed.
        counterexample: the digest of the curated counterexample, or "".
    """

    statement: str
    formula: str
    digest: str
    examples: int = 0
    counterexample: str = ""

    def json(self) -> JsonObject:
        """Return the review as plain data."""
        return asdict(self)

    @classmethod
    def read(cls, document: Entry) -> Reviewed:
        """Return the review that plain data hold.

        Raises:
            TypeError: the data are of another form.
        """
        if forms.lacking(document, _FORM) is not None or set(document) != set(_FORM):
            raise TypeError("`reviewed` is of another form; `attsvm gate --update` writes it")
        return cls(**document)

    @property
    def required(self) -> int:
        """The minimum number of instances that a run must evaluate: half of the reviewed number.

        The number of instances that satisfy the hypotheses depends on the seed, but by less than
        half.
        """
        return max(-(-self.examples // 2), 1)


_FORM = {f.name: forms.count if f.name == "examples" else forms.text for f in fields(Reviewed)}


def review(claims: Iterable[Claim]) -> dict[str, Reviewed]:
    """Return the reviews of claims as they are checked out, by id, without counts of a run."""
    imports = Imports()
    return {
        claim.id: Reviewed(
            claim.statement,
            printed_formula(claim),
            digest_of_claim(claim, imports),
            counterexample=_stored(claim),
        )
        for claim in claims
    }


def printed_formula(claim: Claim) -> str:
    """Return the formula of a claim as text, with its hypotheses and definitions."""
    shown = typeset(claim.formula)
    under = "; ".join(line.plain for line in shown.hypotheses.values())
    where = "; ".join(line.plain for line in shown.where)
    text = f"{under} => {shown.conclusion.plain}" if under else shown.conclusion.plain
    return f"{text}, where {where}" if where else text


def _stored(claim: Claim) -> str:
    """Return the digest of the curated counterexamples, "" if there is none.

    The digest leaves out the fingerprint of the code: a counterexample that still refutes the
    claim after an edit needs no new review.
    """
    parts = []
    for path in curated.places(claim):
        if not path.is_file():
            continue
        text = path.read_bytes()
        try:
            content = json.loads(text)
            content.pop("fingerprint", None)
            text = json.dumps(content, sort_keys=True).encode()
        except (ValueError, AttributeError, RecursionError):
            pass  # the replay reports a file that cannot be read
        parts.append(text)
    return hashlib.sha256(b"".join(parts)).hexdigest()[:12] if parts else ""


def differences(old: Reviewed, new: Reviewed) -> tuple[str, ...]:
    """Return the changes since the review, in words; counts of instances are left out."""
    return tuple(_differences(old, new))


def _differences(old: Reviewed, new: Reviewed) -> Iterator[str]:
    if old.statement != new.statement:
        yield f'statement edited: reviewed is "{old.statement}", now it says "{new.statement}"'
    if old.formula != new.formula:
        yield f"formula edited: reviewed is {old.formula}, now it is {new.formula}"
    if old.counterexample != new.counterexample:
        done = "edited" if new.counterexample and old.counterexample else "added"
        yield f"curated counterexample {done if new.counterexample else 'deleted'}"
    if old.digest != new.digest:
        yield f"{CODE} ({old.digest} -> {new.digest})"


CODE = "the code under it changed"
"""Beginning of the message that only the digest of a claim's code changed."""
