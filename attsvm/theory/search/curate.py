"""Renew the curated counterexamples of packs: `python -m attsvm.theory.search.curate [ID ...]`.

For every reading that is expected to be refuted the smallest counterexample known is stored beside
the claim: of the one stored so far and the claim's explicit instances, each made smaller as far as
it goes; where none of them refutes, of a hunt. A file is replaced by a smaller one, or by one of
the same size where it no longer refutes its claim or its words are out of date. `--budget 0` looks
for nothing: it brings the words of all files up to date with the code, and adds a witness to files
that have none.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from attsvm._files import dump, write_text
from attsvm._types import JsonObject
from attsvm.errors import AttsvmError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.verdict import Truth
from attsvm.theory.instance import codec
from attsvm.theory.packs.packs import Pack, find_claims, load_packs
from attsvm.theory.record.counterexample import document, read, replay, witness_of
from attsvm.theory.record.curated import known, place
from attsvm.theory.run.asking import frozen
from attsvm.theory.run.confirm import examine
from attsvm.theory.run.ordinary import examine_case
from attsvm.theory.run.refuted import Refuted
from attsvm.theory.run.tally import Tally
from attsvm.theory.search import EXPLICIT
from attsvm.theory.search.hunt import hunt
from attsvm.theory.search.shrink import Polished, shrink
from attsvm.theory.search.shrink_moves import smallness

_BUDGET = 20_000
"""Instances that making one find smaller may examine by default, for a claim of cost 1."""

_ROUNDS = 40
"""Rounds of a hunt where nothing that is known refutes."""


@dataclass(frozen=True, slots=True)
class Curated:
    """What came of one claim."""

    claim: str
    done: Literal["kept", "renewed", "replaced", "made", "none found"]
    minimal: bool


def curate(claim: Claim, packs: tuple[Pack, ...], budget: int = _BUDGET) -> Curated:
    """Store the smallest counterexample known of a claim; a larger one never replaces a smaller.

    Args:
        claim: the claim.
        packs: where it is found.
        budget: instances that making one find smaller may examine, times the claim's cost; if 0, a
            file that still refutes keeps its instance, its witness and what it says of them.

    Raises:
        FileError: the place cannot be written. ClaimError: the check of the claim broke.
    """
    path = place(claim)
    if budget == 0 and path.is_file() and (kept := _renewed(claim, path)) is not None:
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
            if old.get("instance") == best.found.instance:
                done = "renewed"
    new = document(claim, best.found, role="smallest", minimal=best.minimal)
    return _written(claim, path, new, old, done)


def _renewed(claim: Claim, path: Path) -> Curated | None:
    """Bring a file up to date that still refutes; None if it does not, or an example is smaller.

    Floats propose a witness if the file has none, or none that fits.
    """
    try:
        old = read(path)
    except AttsvmError:
        return None
    minimal, size = old.get("minimal") is True, smallness(old["instance"])
    for case in map(frozen, claim.examples):
        if smallness(codec.encode(case)) < size and examine(claim, claim.part(""), case).refuted:
            return None
    for witness in (witness_of(old), None):
        with contextlib.suppress(AttsvmError, KeyError, TypeError):
            slack = old["slack"]
            if claim.formula.measured is None:  # which no machine evaluates in another way
                case = codec.decode_exactly(old["instance"], claim.instance_type)
                slack = claim.conclusion(frozen(case)).document
            words = {"evidence": "", "enclosure": None, "method": "", "found_by": old["found_by"]}
            found = Refuted(instance=old["instance"], slack=slack, **words)
            new = document(claim, found, role="smallest", minimal=minimal, witness=witness)
            return _written(claim, path, new, old, "renewed")
    return None


def _written(
    claim: Claim,
    path: Path,
    new: JsonObject,
    old: JsonObject,
    done: Literal["renewed", "replaced", "made"],
) -> Curated:
    """Write a file that differs from the old one."""
    if new == old:
        return Curated(claim.id, "kept", new["minimal"])
    write_text(path, dump(new) + "\n")
    return Curated(claim.id, done, new["minimal"])


def _smallest(claim: Claim, budget: int) -> Polished | None:
    """Return the smallest counterexample known, made smaller."""
    part = claim.part("")
    finds: list[Refuted] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in (*known(claim), *claim.examples):
            found = examine_case(Tally(claim, part, 0), case, EXPLICIT)[1]
            if found is not None and found not in finds:
                finds.append(found)
        if not finds:
            account = hunt(claim, seconds=None, rounds=_ROUNDS, known=False)
            finds = [] if account.smallest is None else [account.smallest]
        polished = [shrink(Tally(claim, part, 0), found, budget) for found in finds]
    kept = [
        p if p.found.evidence == f.evidence else Polished(f, False, p.spent)
        for p, f in zip(polished, finds, strict=True)
    ]
    return min(kept, key=lambda p: (smallness(p.found.instance), not p.minimal), default=None)


def main(arguments: Sequence[str] | None = None) -> int:
    """Renew the files of the named claims, all of them where none is named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[2])
    parser.add_argument("ids", nargs="*", metavar="ID", help="claim, statement or prefix")
    parser.add_argument("--pack", action="append", default=[], help="as for `attsvm verify`")
    parser.add_argument(
        "--budget", type=int, default=_BUDGET, help=f"examinations a find (default {_BUDGET})"
    )
    options = parser.parse_args(arguments)
    missing = 0
    try:
        packs = load_packs(options.pack)
        for claim in find_claims(packs, options.ids):
            if claim.expected.truth is Truth.REFUTED:
                result = curate(claim, packs, options.budget)
                missing += result.done == "none found"
                least = "minimal" if result.minimal else "not minimal"
                print(f"{claim.id}: {result.done}, {least}", flush=True)
    except AttsvmError as error:
        print(f"curate: {error}", file=sys.stderr)
        return 2
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
