"""A hunt with two workers beside the same hunt with one, on true claims.

Both take the same rounds, as many as two workers finish in `SECONDS`, so both look at the same
instances. One worker is the process itself, as with `-n 1`. Time starts after a short hunt, in
which every process loads the claims, PyTorch and the machine code.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from attsvm.theory import Claim, load_packs
from attsvm.theory.packs.packs import find_claims
from attsvm.theory.run.workers import processes
from attsvm.theory.search.hunt import Hunt, hunt
from benchmarks.timers.timing import Timer, Way

CLAIMS = (
    *((id, False) for id in ("sim/lemma-3.13:amended", "sim/theorem-3.15:amended-2")),
    ("tf/local-convergence:sharp", False),
    *((id, True) for id in ("sim/lemma-3.12:sharp", "sim/lemma-3.13:amended")),
)
"""A cheap, a medium and an expensive claim, and two of which batches alone are screened."""

SECONDS, SEEDS = 20.0, (0, 1, 2)

_WARM = 4
"""Number of rounds of the short hunt; guided searchers take part from the third on."""


def _hunted(claim: Claim, workers: int, seed: int, screening: bool, **limit: Any) -> Hunt:
    """Return the account of a hunt that finds nothing."""
    with processes(workers) as crew:
        how: dict[str, Any] = {"crew": crew, "searchers": ["screen"] if screening else None}
        hunt(claim, seconds=None, rounds=_WARM, seed=seed + 1, **how)
        result = hunt(claim, **{"seconds": None, "seed": seed, **how, **limit})
    if result.smallest is not None or result.error is not None:
        sys.exit(f"{claim.id} is no true claim to hunt: {result.error or 'refuted'}")
    return result


def hunting() -> Iterator[Timer]:
    """Yield a row for each claim; the note says how busy two workers were, and with how much."""
    packs = load_packs()
    for id, screening in CLAIMS:
        (claim,) = find_claims(packs, [id])

        def cases(claim: Claim = claim, screening: bool = screening) -> list[tuple[int, int]]:
            rounds = (_hunted(claim, 2, seed, screening, seconds=SECONDS).rounds for seed in SEEDS)
            return [(seed, max(r - 2, 1)) for seed, r in zip(SEEDS, rounds, strict=True)]

        def with_workers(workers: int, claim: Claim = claim, screening: bool = screening) -> Way:
            return Way(
                lambda case: _hunted(claim, workers, case[0], screening, rounds=case[1]),
                runs=1,
                took=lambda account: account.seconds,
            )

        def note(
            case: Any, ours: Hunt, others: Mapping[str, Any], screening: bool = screening
        ) -> str:
            seen, alone = (
                a.seen.screened if screening else a.examples for a in (ours, *others.values())
            )
            if seen != alone:
                sys.exit("the number of workers changes what is looked at")
            busy = sum(e.seconds for e in ours.efforts.values()) / 2 / ours.seconds
            return f"busy {busy:.2f}, {seen / ours.seconds:.4g} instances a second"

        name = f"{id}{', screened' * screening}"
        yield Timer(name, "2 workers", cases, with_workers(2), {"1 worker": with_workers(1)}, note)
