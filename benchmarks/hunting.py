"""Instances a second of a hunt: `python -m benchmarks.hunting [--seconds 20] [--json FILE]`.

Hunts true claims (a cheap, a medium and an expensive one, and two by screening in batches alone)
with one worker and with two, in turn, and compares. Both take the same rounds, as many as two
workers finish in the time, so both look at the same instances. One worker is the process itself, as
with `-n 1`. The clock starts after a short hunt, in which every process loads the claims, PyTorch
and the machine code. `busy` is the share of the time in which two workers were at work.
"""

from __future__ import annotations

from attsvm._threads import single_threaded

single_threaded()

import os
import statistics
import sys
from collections.abc import Iterator
from typing import Any

from attsvm.theory import Claim, load_packs
from attsvm.theory.packs.packs import find_claims
from attsvm.theory.run.workers import processes
from attsvm.theory.search.hunt import Hunt, hunt
from benchmarks.timing import Row, asked, keep, shown

CLAIMS = ("sim/lemma-3.13:amended", "sim/theorem-3.15:amended-2", "tf/local-convergence:sharp")

SCREENED = ("sim/lemma-3.12:sharp", "sim/lemma-3.13:amended")
"""Claims of which `screen` alone looks at instances; those of its batches are counted."""

_WARM = 4
"""Rounds of the short hunt; guided searchers take part from the third on."""


def hunted(claim: Claim, workers: int, seed: int, screening: bool, **limit: Any) -> Hunt:
    """The account of a hunt that finds nothing."""
    with processes(workers) as crew:
        how: dict[str, Any] = {"crew": crew, "searchers": ["screen"] if screening else None}
        hunt(claim, seconds=None, rounds=_WARM, seed=seed + 1, **how)
        result = hunt(claim, **{"seconds": None, "seed": seed, **how, **limit})
    if result.smallest is not None or result.error is not None:
        sys.exit(f"{claim.id} is no true claim to hunt: {result.error or 'refuted'}")
    return result


def looked(account: Hunt, screening: bool) -> int:
    """How many instances it looked at."""
    return account.seen.screened if screening else account.examples


def rates(claim: Claim, seconds: float, seed: int, screening: bool) -> list[tuple[float, float]]:
    """For one worker and for two: instances a second, and the share of it that they were busy."""
    rounds = hunted(claim, 2, seed, screening, seconds=seconds).rounds
    rounds = max(rounds - 2, 1)  # two are cut short
    accounts = [hunted(claim, workers, seed, screening, rounds=rounds) for workers in (1, 2)]
    if looked(accounts[0], screening) != looked(accounts[1], screening):
        sys.exit(f"{claim.id}: the number of workers changes what is looked at")
    return [
        (
            looked(a, screening) / a.seconds,
            sum(e.seconds for e in a.efforts.values()) / workers / a.seconds,
        )
        for workers, a in enumerate(accounts, start=1)
    ]


def rows(seconds: float, runs: int) -> Iterator[Row]:
    """Each claim with one worker and with two."""
    packs = load_packs()
    for name, screening in [(n, False) for n in CLAIMS] + [(n, True) for n in SCREENED]:
        (claim,) = find_claims(packs, [name])
        found = [rates(claim, seconds, seed, screening) for seed in range(runs)]
        one, two = (statistics.median(run[k][0] for run in found) for k in (0, 1))
        yield {
            "claim": f"{name}{', screened' * screening}",
            "one_worker": one,
            "two_workers": two,
            "busy": statistics.median(run[1][1] for run in found),
            "speed_up": statistics.median(run[1][0] / run[0][0] for run in found),
            "runs": found,
        }


def main() -> None:
    """Measure, print a table, write JSON where asked."""
    options = asked(__doc__, seconds=20.0, runs=3)
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; instances a second")
    columns = {"claim": "<38", "one_worker": ">12.4g", "two_workers": ">13.4g"}
    columns |= {"busy": ">6.2f", "speed_up": ">10.2f"}
    found = shown(columns, rows(options.seconds, options.runs))
    keep(options.json, seconds=options.seconds, rows=found)


if __name__ == "__main__":
    main()
