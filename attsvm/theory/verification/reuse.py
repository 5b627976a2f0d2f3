"""Reuse of outcomes that an earlier run recorded for claims whose code has not changed since.

A reused outcome keeps the id of the run that evaluated it. That run must be complete and in the
same ledger: `attsvm gate` looks the outcome up there, and refuses an outcome that is missing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from attsvm._types import JsonObject
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.packs.checkout import rest_of, versions
from attsvm.theory.packs.code_digests import Imports, digest_of, digest_of_claim
from attsvm.theory.packs.code_digests import whole as whole_of
from attsvm.theory.packs.packs import Pack, modules
from attsvm.theory.record.ledger import finished_runs


@dataclass(frozen=True, slots=True)
class Earlier:
    """The outcomes of one claim that an earlier run evaluated.

    Attributes:
        run: the id of the run.
        outcomes: the recorded outcomes by part; part "" is the reading.
    """

    run: str
    outcomes: Mapping[str, JsonObject]


def bases_of(
    packs: Sequence[Pack], claims: Iterable[Claim], code: Mapping[str, str]
) -> dict[str, str]:
    """Return for each claim a digest of everything that its outcomes depend on.

    The digest covers:

    - the modules that the statement and the proof import;
    - data files and other modules of the pack;
    - all of attsvm, and the versions of Python and of libraries;
    - all other loaded packs, because their modules may change any module.

    It covers neither profile nor seed, which `evaluated` compares, nor files outside the packs that
    the code may read.

    Args:
        packs: the packs of the claims.
        claims: the claims.
        code: the digests of files, as `code_of` returns them.
    """
    imports = Imports()
    engine = [f"{name} {digest}" for name, digest in code.items() if name.startswith("attsvm/")]
    shared = [*sorted(engine), *(f"{name} {version}" for name, version in versions().items())]
    results: dict[str, str] = {}
    wanted = {claim.id: claim for claim in claims}
    whole = {
        pack.name: [whole_of(module.__file__) for module in modules(pack) if module.__file__]
        for pack in packs
    }
    for pack in packs:
        others = [
            d for name, digests in sorted(whole.items()) if name != pack.name for d in digests
        ]
        rest = [*shared, *rest_of([pack]).values(), *others]
        for claim in pack.claims:
            if claim.id in wanted:
                results[claim.id] = digest_of("\n".join([digest_of_claim(claim, imports), *rest]))
    return results


def evaluated(
    path: str | os.PathLike[str], profile: str, seed: int, bases: Mapping[str, str]
) -> dict[str, Earlier]:
    """Return the outcomes of claims in the complete runs of a ledger, the latest for each claim.

    Args:
        path: the ledger; a missing file holds no run.
        profile: the profile of the runs; runs of other profiles are left out.
        seed: the seed of the runs; runs of other seeds are left out.
        bases: digests by claim, as `bases_of` returns them; outcomes of other code are left out.

    Raises:
        LedgerError: the file cannot be read, or is no ledger.
    """
    results: dict[str, Earlier] = {}
    for run in finished_runs(path, profile, seed) if os.path.isfile(path) else ():
        outcomes: dict[str, dict[str, JsonObject]] = {}
        for outcome, origin in zip(run.parts, run.origins, strict=True):
            # only what a run evaluated itself counts, so that no outcome is older than its run
            if not origin and isinstance(outcome, dict):
                outcomes.setdefault(str(outcome.get("claim")), {})[str(outcome.get("part"))] = (
                    outcome
                )
        for claim, parts in outcomes.items():
            if claim in bases and run.bases.get(claim) == bases[claim]:
                results[claim] = Earlier(run.id, parts)
    return results


def reused(claim: Claim, earlier: Mapping[str, Earlier]) -> Earlier | None:
    """Return the outcomes of a claim in an earlier run, if that run evaluated all its parts."""
    result = earlier.get(claim.id)
    whole = result is not None and {p.name for p in claim.parts()} == result.outcomes.keys()
    return result if whole else None
