"""Counterexamples as versioned files of exact values, and their replay from the file alone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from attsvm._files import read_json
from attsvm._types import Entry, Json, JsonObject
from attsvm._witness import Witness, ensure_witness
from attsvm._words import printable
from attsvm.errors import AttsvmError, ClaimError, FileError, UnknownClaimError, present
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.instance import codec
from attsvm.theory.instance.letters import made_in_words
from attsvm.theory.packs.code_digests import Imports, digest_of_claim
from attsvm.theory.packs.packs import Pack, find_claims
from attsvm.theory.run.asking import frozen
from attsvm.theory.run.confirm import examine

if TYPE_CHECKING:
    from attsvm.theory.run.confirm import Refuted

KIND = "attsvm-counterexample"
SCHEMA, WITHOUT_WITNESS = 2, 1
"""Version number of the schema of new files, and that of older files without a witness, which can
still be read."""

_LINES = 15
"""Maximum number of lines of Python for an instance; a longer one is shown by its sizes."""


def document(
    claim: Claim,
    refuted: Refuted,
    *,
    part: str = "",
    role: Literal["telling", "smallest", "worst"] | None = None,
    minimal: bool = False,
    witness: Witness | None = None,
) -> JsonObject:
    """Return the content of a counterexample file: instance, slack, certificate, witness and texts.

    The instance is examined again with the given witness; if there is none, floats propose one.

    Args:
        claim: the claim.
        refuted: the refutation.
        part: the sibling that the instance refutes, "" for the reading.
        role: whether it is the smallest or the worst of a hunt, or a curated one that tells more
            than the smallest.
        minimal: whether no single move of the shrinker makes it smaller.
        witness: the witness of an earlier file.

    Raises:
        ClaimError: the examination does not refute.
        FileError: the witness does not fit.
    """
    from attsvm.theory.instance.in_latex import latex  # loaded only if something was refuted
    from attsvm.theory.instance.in_python import python

    case = frozen(codec.decode(refuted.instance, claim.instance_type))
    examined = examine(claim, claim.part(part), case, witness)
    answer = examined.answer
    if answer is None or not examined.refuted:
        raise ClaimError(
            f"an instance that should refute {claim.id} is not confirmed",
            value=", ".join(examined.failed) or present(answer, "the answer").method,
            remedy="If a slack of 0 violates the conclusion, pass strict=True to Measured.",
        )
    refuted = replace(
        refuted, evidence=str(answer.evidence), enclosure=answer.enclosure, method=answer.method
    )
    return {
        "schema": SCHEMA,
        "kind": KIND,
        "claim": claim.id,
        "sibling": part or None,
        "statement": claim.statement,
        "fingerprint": digest_of_claim(claim),
        "instance": refuted.instance,
        "slack": refuted.slack,
        "certificate": {
            "evidence": refuted.evidence,
            "method": refuted.method,
            "enclosure": None if refuted.enclosure is None else list(refuted.enclosure),
        },
        "witness": examined.witness,
        "role": role,
        "minimal": minimal,
        "found_by": refuted.found_by,
        "python": python(claim, part, case, examined.witness),
        "latex": latex(
            claim,
            part,
            case,
            kind=refuted.slack["kind"],
            enclosure=refuted.enclosure,
            known=f"{refuted.evidence}: {refuted.method}",
        ),
    }


def shown(claim: Claim, part: str, refuted: Refuted, most: int = _LINES) -> list[str]:
    """Return lines that show a refutation: its instance in at most `most` lines, and its slack."""
    lines = in_python(claim, part, refuted.instance, most)
    if refuted.enclosure is None:
        return [*lines, f"slack about {refuted.slack['value']}, {refuted.method}"]
    return [*lines, _violation(refuted.enclosure, refuted.method, refuted.slack["kind"])]


def standing(path: str | os.PathLike[str], claim: Claim, part: str) -> list[str]:
    """Return lines that show the refutation of a stored file, with its slack evaluated again.

    Raises:
        FileError: as `read`.
    """
    text = replay(path, (Pack(claim.id, (claim,), Path(path).parent),)).reason
    return [*in_python(claim, part, read(path)["instance"]), text]


def in_python(claim: Claim, part: str, instance: Json, most: int = _LINES) -> list[str]:
    """Return an encoded instance as at most `most` lines of Python, or the sizes of its arrays.

    A comment follows with the values that are made from it, such as probabilities.
    """
    from attsvm.theory.instance.in_python import python

    case = codec.decode(instance, claim.instance_type)
    script = python(claim, part, case)
    lines = script[script.index("\ncase = ") + 1 : script.rindex("\npart = ")].splitlines()
    if len(lines) > most:
        lines = [f"case of {', '.join(sizes_of(instance)) or 'many parts'}"]
    made = made_in_words(claim.part(part).formula, case)
    return [*lines, f"# {made}"] if made else lines


def sizes_of(document: Json, name: str = "") -> Iterator[str]:
    """Yield the name and the shape of each array of an encoded instance."""
    if isinstance(document, dict) and "fields" in document:
        for key, value in document["fields"].items():
            yield from sizes_of(value, f"{name}.{key}" if name else key)
    elif isinstance(document, dict) and "tuple" in document:
        for k, value in enumerate(document["tuple"]):
            yield from sizes_of(value, f"{name}[{k}]")
    elif isinstance(document, dict) and "values" in document:
        (shape,) = (value for key, value in document.items() if key != "values")
        yield f"{name or 'array'} {' x '.join(map(str, shape)) or 'scalar'}"


@dataclass(frozen=True, slots=True)
class Replay:
    """The result of re-executing one file, and its reason.

    `stale` says that the claim's code changed since the file was written. `sibling` names the false
    sibling that the file refutes, None for the reading.
    """

    file: str
    result: Literal["CONFIRMED", "NOT CONFIRMED", "ERROR"]
    claim: str | None
    evidence: str
    reason: str
    stale: bool = False
    sibling: str | None = None

    @property
    def confirmed(self) -> bool:
        """Whether the file refutes its claim, or the sibling that it names."""
        return self.result == "CONFIRMED"

    def json(self) -> JsonObject:
        """Return the replay as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        """Return the replay in one line."""
        sibling = f', sibling "{self.sibling}"' if self.sibling else ""
        claim = f"{self.claim}{sibling}: " if self.claim else ""
        stale = " (the code of the claim has changed since)" if self.stale else ""
        reported = (f"{self.file} ", f"there is no file {self.file}.")
        file = "" if self.reason.startswith(reported) else f"{self.file}: "
        return printable(f"{self.result}: {file}{claim}{self.reason}{stale}")


def gathered(paths: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """Return the named files, and for each folder its .json files in order.

    A folder without such files stays in the list, so that `replay` reports it.
    """
    results: list[Path] = []
    for path in map(Path, paths):
        results += (sorted(path.glob("*.json")) if path.is_dir() else []) or [path]
    return results


def claims_in(paths: Iterable[Path]) -> list[str]:
    """Return the ids of the claims that files refute; none if a file cannot be read."""
    try:
        return [str(read(path).get("claim")) for path in paths]
    except AttsvmError:  # `replay` reports the error
        return []


def read(path: str | os.PathLike[str]) -> JsonObject:
    """Return a stored counterexample whose kind, schema and witness have the right form.

    Raises:
        FileError: the file cannot be read, or has another kind or schema.
    """
    if Path(path).is_dir():
        raise FileError(f"{path} is a folder without .json files", remedy="`hunt` writes them.")
    stored = read_json(path)
    if not isinstance(stored, dict) or stored.get("kind") != KIND:
        raise FileError(f"{path} is no counterexample file", remedy="`hunt` writes them.")
    if stored.get("schema") not in (SCHEMA, WITHOUT_WITNESS):
        raise FileError(
            f"{path} has an unknown schema",
            value=stored.get("schema"),
            remedy=f"This version reads schemas {WITHOUT_WITNESS} and {SCHEMA}.",
        )
    if stored["schema"] == SCHEMA:
        ensure_witness(stored.get("witness"))
    if stored.get("instance") is None:
        raise FileError(f"{path} holds no instance", remedy="`hunt` writes complete files.")
    return stored


def replay(
    path: str | os.PathLike[str], packs: tuple[Pack, ...], imports: Imports | None = None
) -> Replay:
    """Return the result of evaluating a stored counterexample exactly: hypotheses, then conclusion.

    Values that floats proposed are read from the file's witness and proved. The file's own slack,
    certificate and texts are not read: a replay must not believe its file.

    Args:
        path: the file.
        packs: the packs that may have the claim.
        imports: a cache of modules shared by many replays; None reads the modules now.
    """
    name = str(Path(path))
    try:
        return _executed(name, read(path), packs, imports)
    except AttsvmError as error:
        return Replay(name, "ERROR", None, "none", str(error))


def replay_instance(claim: Claim, instance: Json) -> Replay:
    """Return the result of evaluating an encoded instance exactly, without a stored witness.

    Floats propose the witness again.
    """
    stored = {"claim": claim.id, "instance": instance}
    pack = Pack(claim.id, (claim,), Path(claim.file).parent)
    return _executed("", stored, (pack,), None, dated=False)


def _executed(
    name: str,
    stored: Entry,
    packs: tuple[Pack, ...],
    imports: Imports | None,
    *,
    dated: bool = True,
) -> Replay:
    try:
        wanted = stored.get("claim")
        claim = next((c for c in find_claims(packs) if c.id == wanted), None)
        if claim is None:
            raise UnknownClaimError(
                "no claim has that id",
                value=wanted,
                remedy="If its pack is not installed, name it with --pack.",
            )
        sibling = str(stored.get("sibling") or "")
        part = claim.part(sibling)
        case = frozen(codec.decode_exactly(stored["instance"], claim.instance_type))
        examined = examine(claim, part, case, witness_of(stored))
        stale = dated and stored.get("fingerprint") != digest_of_claim(claim, imports)
    except AttsvmError as error:
        return Replay(name, "ERROR", None, "none", str(error))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a claim may raise anything on a foreign instance; report it
        text = printable(f"{type(error).__name__}: {error}")
        return Replay(name, "ERROR", None, "none", text)
    about, answer = (stale, sibling or None), examined.answer
    if answer is None:
        text = f"the instance does not satisfy: {', '.join(examined.failed)}"
        return Replay(name, "NOT CONFIRMED", claim.id, "none", text, sibling=sibling or None)
    if answer.refuted:
        text = _violation(answer.enclosure or ("?", "?"), answer.method, answer.kind)
        return Replay(name, "CONFIRMED", claim.id, str(answer.evidence), text, *about)
    text = "the conclusion holds" if answer.refuted is False else "the sign stays open"
    text = f"{text} on this instance ({answer.method})"
    return Replay(name, "NOT CONFIRMED", claim.id, "none", text, *about)


def witness_of(stored: Entry) -> Witness | None:
    """Return the witness of a file; None if the file is of schema 1, which has no witness."""
    witness: Witness | None = stored.get("witness") if stored.get("schema") == SCHEMA else None
    return witness


def _violation(enclosure: tuple[str, str], method: str, kind: str) -> str:
    """Return the bounds of the slack and the method; explain a slack that may be 0."""
    low, high = map(_plain, enclosure)
    where = f"slack in [{low}, {high}], {method}"
    if kind == "strict" and not high.startswith("-"):
        return f"slack <= 0 violates a strict inequality: {where}"
    return where


def _plain(bound: str) -> str:
    """Return a decimal without trailing zeros."""
    return bound.rstrip("0").rstrip(".") if "." in bound and "e" not in bound else bound
