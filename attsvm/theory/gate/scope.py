"""The packs that are checked out, which a gate compares, and the part of a run about them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from attsvm.theory.declaration.claim import Claim
from attsvm.theory.gate.expectations import Expectation
from attsvm.theory.gate.reviewed import Reviewed, review
from attsvm.theory.packs.checkout import checked_packs, code_of, rest_of
from attsvm.theory.packs.packs import Pack
from attsvm.theory.record import curated
from attsvm.theory.record.runs import Run
from attsvm.theory.verification.verify import Earlier, bases_of, evaluated


@dataclass(frozen=True, slots=True)
class Checkout:
    """The claims and code that are checked out.

    Attributes:
        claims: all claims of all packs, by id.
        reviewed: the claims that the gate compares, as a review of them would record them now.
        rest: by pack, the digest of files that no claim imports.
        code: by file, the digests of the code that the run's verdicts depend on.
        earlier: outcomes that whole runs of the ledger evaluated by this code, if the run reused
            any.
        curated: the curated counterexamples that such a run replays.
    """

    claims: Mapping[str, Claim]
    reviewed: Mapping[str, Reviewed]
    rest: Mapping[str, str]
    code: Mapping[str, str]
    curated: tuple[str, ...] = ()
    earlier: Mapping[str, Earlier] = field(default_factory=dict)

    def place(self, claim: str) -> tuple[Path, int] | None:
        """Return the file and the line of a claim, None if there is no such claim."""
        result = self.claims.get(claim)
        return None if result is None else (Path(result.file), result.line)


def checked_out(
    packs: Sequence[Pack],
    held: Collection[str],
    run: Run,
    others: Sequence[Pack] = (),
    ledger: Path | None = None,
) -> Checkout:
    """Return the checkout that a run is compared with: the code, and the claims as they are now.

    Args:
        packs: the packs whose claims the gate compares.
        held: the ids of the claims that the gate compares.
        run: the run, with all claims that it checked.
        others: further packs; only their code counts, if the run checked their claims.
        ledger: the file that records the run and earlier runs.
    """
    claims = {c.id: c for pack in packs for c in pack.claims}
    ran = [claims[name] for name in run.claims if name in claims]
    code = code_of(checked_packs([*packs, *others], run.claims))
    earlier: dict[str, Earlier] = {}
    if any(run.origins) and ledger is not None:
        bases = bases_of(packs, ran, code)
        earlier = evaluated(ledger, run.profile, run.seed, bases)
    return Checkout(
        claims,
        review(claims[name] for name in sorted(held) if name in claims),
        rest_of(p for p in packs if any(c.id in held for c in p.claims)),
        code,
        tuple(curated.shown(f, p) for f, p in curated.chosen(packs, ran).items()),
        earlier,
    )


def only_of(run: Run, packs: Sequence[Pack], others: Sequence[Pack]) -> Run:
    """Return a run without the claims and counterexamples that only the other packs have."""
    ids = {c.id for p in others for c in p.claims} - {c.id for p in packs for c in p.claims}
    if ids.isdisjoint(run.claims) and ids.isdisjoint(run.verdicts):
        return run
    ran = [c for pack in packs for c in pack.claims if c.id in run.claims]
    own = {curated.shown(f, p) for f, p in curated.chosen(packs, ran).items()}
    files = {curated.shown(f, p) for p in others for f in p.counterexamples} - own
    kept = [
        pair for pair in zip(run.parts, run.origins, strict=True) if claim_of(pair[0]) not in ids
    ]
    return replace(
        run,
        claims=tuple(name for name in run.claims if name not in ids),
        verdicts={name: v for name, v in run.verdicts.items() if name not in ids},
        curated=tuple(file for file in run.curated if file not in files),
        replays={file: r for file, r in run.replays.items() if file not in files},
        parts=tuple(part for part, _ in kept),
        origins=tuple(origin for _, origin in kept),
        matched=None,  # the last event of the run counted the claims of the other packs as well
    )


def claim_of(outcome: Any) -> str:
    """Return the id of the claim of a recorded outcome, "" if the record has another form."""
    claim = outcome.get("claim") if isinstance(outcome, dict) else None
    return claim if isinstance(claim, str) else ""


def concerned(packs: Sequence[Pack], named: Collection[str], run: Run) -> tuple[Pack, ...]:
    """Return the packs whose expectations a run is compared with.

    These are all packs if none is named; otherwise the named packs, and every pack with a claim
    that the run set out to check.
    """
    asked = set(run.claims) | set(run.verdicts)
    return tuple(
        p for p in packs if not named or p.name in named or any(c.id in asked for c in p.claims)
    )


def absent(run: Run, expectations: Mapping[str, Expectation]) -> tuple[str, ...]:
    """Return the reviewed claims that the run did not set out to check."""
    return tuple(sorted(set(expectations) - set(run.claims) - set(run.verdicts)))
