"""Renew the curated counterexamples of packs: `python -m attsvm.theory.search.curate [ID ...]`.

For each reading that is expected to be refuted, one or two counterexamples are stored beside the
claim. If an erratum shows an instance, the first file has this one, and a second file, whose name
ends in `--smallest`, has the smallest known one. They are one file if they agree or no erratum
shows an instance.

Candidates are the stored files and the explicit instances of the claim, each shrunk as far as
possible. If none of them refutes the claim, a hunt is run. A smaller counterexample replaces a
stored one. One of equal size replaces it only if the stored one no longer refutes its claim, or if
its texts are out of date. `--budget 0` does not search: it updates the texts of all files, and adds
a witness to files without one.
"""

import argparse
import contextlib
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from attsvm._files import dump, write_text
from attsvm._types import Case, JsonObject
from attsvm.errors import AttsvmError, ClaimError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.verdict import Truth
from attsvm.theory.instance import codec
from attsvm.theory.packs.packs import Pack, find_claims, load_packs
from attsvm.theory.record.counterexample import document, read, replay, witness_of
from attsvm.theory.record.curated import known, places
from attsvm.theory.record.errata import find_source
from attsvm.theory.run.asking import frozen
from attsvm.theory.run.confirm import Refuted, examine
from attsvm.theory.run.examining import examine_case
from attsvm.theory.run.tally import Tally
from attsvm.theory.search import EXPLICIT
from attsvm.theory.search.hunt import hunt
from attsvm.theory.search.shrink import Polished, shrink
from attsvm.theory.search.shrink_moves import smallness

_BUDGET = 20_000
"""Maximum number of instances examined while shrinking one counterexample, for cost 1."""

_ROUNDS = 40
"""Number of rounds of a hunt if no known instance refutes the claim."""


@dataclass(frozen=True, slots=True)
class Curated:
    """The result for one claim."""

    claim: str
    done: Literal["kept", "renewed", "replaced", "made", "none found"]
    minimal: bool


def curate(
    claim: Claim, packs: tuple[Pack, ...], budget: int = _BUDGET, telling: Case | None = None
) -> Curated:
    """Store the smallest known counterexample of a claim, and return what was done.

    A file that still refutes its claim is never replaced by a larger counterexample.

    Args:
        claim: the claim.
        packs: the packs that contain it.
        budget: the number of instances that shrinking may examine, divided by the claim's cost. If
            0, a file that still refutes keeps its instance, its witness and its evidence.
        telling: a counterexample that tells more; it is stored first, the smallest beside it.

    Raises:
        FileError: a file cannot be written.
        ClaimError: the check of the claim failed, or the telling instance does not refute it.
    """
    first, second = places(claim)
    path = second if second.is_file() else first
    result = _least(claim, packs, budget, path)
    if result.done == "none found":
        return result
    text, instance = path.read_text(encoding="utf-8"), read(path)["instance"]
    if telling is None or codec.encode(telling) == instance:
        write_text(first, text)
        second.unlink(missing_ok=True)
    else:
        write_text(second, text)
        _tell(claim, first, telling)
    return result


def _tell(claim: Claim, path: Path, telling: Case) -> None:
    """Store a telling counterexample; if the file has it, its witness and evidence are kept.

    Raises:
        ClaimError: the instance does not refute the claim.
    """
    there = read(path)["instance"] if path.is_file() else None
    if there == codec.encode(telling) and _renewed(claim, path, "telling") is not None:
        return
    refuted = examine_case(Tally(claim, claim.part(""), 0), telling, EXPLICIT)[1]
    if refuted is None:
        raise ClaimError(
            f"the instance that tells most of {claim.id} does not refute it",
            remedy="Name another example in `telling` of its erratum.",
        )
    write_text(path, dump(document(claim, refuted, role="telling")) + "\n")


def _least(claim: Claim, packs: tuple[Pack, ...], budget: int, path: Path) -> Curated:
    """Store the smallest known counterexample in a file, and return what was done."""
    if budget == 0 and path.is_file() and not _beaten(claim, path):
        kept = _renewed(claim, path, "smallest")
        if kept is not None:
            return kept
    best = _smallest(claim, -(-budget // claim.cost))
    if best is None:
        return Curated(claim.id, "none found", False)
    done: Literal["renewed", "replaced", "made"] = "made"
    old: JsonObject = {}
    if path.is_file():
        done = "replaced"
        if replay(path, packs).confirmed:
            old = read(path)
            if old.get("instance") == best.refuted.instance:
                done = "renewed"
    new = document(claim, best.refuted, role="smallest", minimal=best.minimal)
    return _written(claim, path, new, old, done)


def _beaten(claim: Claim, path: Path) -> bool:
    """Return whether an example of the claim is a smaller counterexample than that of a file."""
    try:
        size = smallness(read(path)["instance"])
    except AttsvmError:
        return True
    smaller = (c for c in map(frozen, claim.examples) if smallness(codec.encode(c)) < size)
    return any(examine(claim, claim.part(""), case).refuted for case in smaller)


def _renewed(claim: Claim, path: Path, role: Literal["smallest", "telling"]) -> Curated | None:
    """Renew the texts of a file, and return the result; None if the file no longer refutes.

    Floats propose a witness if the file has none, or none that fits.
    """
    try:
        old = read(path)
    except AttsvmError:
        return None
    minimal = old.get("minimal") is True and role == "smallest"
    for witness in (witness_of(old), None):
        with contextlib.suppress(AttsvmError, KeyError, TypeError):
            slack = old["slack"]
            if claim.formula.measured is None:  # the same on every machine
                case = codec.decode_exactly(old["instance"], claim.instance_type)
                slack = claim.conclusion(frozen(case)).document
            words = {"evidence": "", "enclosure": None, "method": "", "found_by": old["found_by"]}
            result = Refuted(instance=old["instance"], slack=slack, **words)
            new = document(claim, result, role=role, minimal=minimal, witness=witness)
            return _written(claim, path, new, old, "renewed")
    return None


def _written(
    claim: Claim,
    path: Path,
    new: JsonObject,
    old: JsonObject,
    done: Literal["renewed", "replaced", "made"],
) -> Curated:
    """Write a file if it differs from the old one; return what was done."""
    if new == old:
        return Curated(claim.id, "kept", new["minimal"])
    write_text(path, dump(new) + "\n")
    return Curated(claim.id, done, new["minimal"])


def _smallest(claim: Claim, budget: int) -> Polished | None:
    """Return the smallest counterexample after shrinking all known ones, or one found by a hunt.

    None if no instance refutes the claim.
    """
    part = claim.part("")
    finds: list[Refuted] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in (*known(claim), *claim.examples):
            result = examine_case(Tally(claim, part, 0), case, EXPLICIT)[1]
            if result is not None and result not in finds:
                finds.append(result)
        if not finds:
            account = hunt(claim, seconds=None, rounds=_ROUNDS, known=False)
            finds = [] if account.smallest is None else [account.smallest]
        polished = [shrink(Tally(claim, part, 0), result, budget) for result in finds]
    kept = [
        p if p.refuted.evidence == f.evidence else Polished(f, False, p.spent)
        for p, f in zip(polished, finds, strict=True)
    ]
    return min(kept, key=lambda p: (smallness(p.refuted.instance), not p.minimal), default=None)


def main(arguments: Sequence[str] | None = None) -> int:
    """Renew the files of the named claims, or of all claims if none is named.

    Return the exit code: 1 if a claim has no counterexample, 2 for an error, else 0.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[2])
    parser.add_argument("ids", nargs="*", metavar="ID", help="claim, statement or prefix")
    parser.add_argument("--pack", action="append", default=[], help="as for `attsvm verify`")
    parser.add_argument(
        "--budget",
        type=int,
        default=_BUDGET,
        help=f"examinations for each counterexample (default {_BUDGET})",
    )
    options = parser.parse_args(arguments)
    missing = 0
    try:
        packs = load_packs(options.pack)
        claims = [c for c in find_claims(packs, options.ids) if c.expected.truth is Truth.REFUTED]
        sources = {claim.id.partition("/")[0] for claim in claims}
        errata = [erratum for name in sources for erratum in find_source(packs, name).errata]
        telling = {id: case for erratum in errata for id, case in erratum.telling.items()}
        for claim in claims:
            result = curate(claim, packs, options.budget, telling.get(claim.id))
            missing += result.done == "none found"
            least = "minimal" if result.minimal else "not minimal"
            print(f"{claim.id}: {result.done}, {least}", flush=True)
    except AttsvmError as error:
        print(f"curate: {error}", file=sys.stderr)
        return 2
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
