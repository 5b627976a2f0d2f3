"""Instances a second of a hunt: `python benchmarks/hunting.py [--seconds 20] [--json FILE]`.

Hunts true claims (a cheap, a medium and an expensive one, and two by screening in batches alone)
with one worker and with two, in turn, and compares. Both take the same rounds, as many as two
workers finish in the time, so both look at the same instances. One worker is the process itself, as
with `-n 1`. The clock starts after a short hunt, in which every process loads the claims, PyTorch
and the machine code. `busy` is the share of the time in which two workers were at work.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from pathlib import Path
from typing import Any

from attsvm._threads import single_threaded

single_threaded()

from attsvm.theory import Claim, load_packs
from attsvm.theory.declaration.packs import find_claims
from attsvm.theory.run.workers import processes
from attsvm.theory.search.hunt import Hunt, hunt

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


def main() -> None:
    """Measure, print a table, write JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--claims", nargs="*", default=CLAIMS, metavar="ID")
    parser.add_argument("--screened", nargs="*", default=SCREENED, metavar="ID")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    packs = load_packs()
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{'claim':<38}{'1 worker':>10}{'2 workers':>11}{'busy':>6}{'speed-up':>10}")
    rows: list[dict[str, Any]] = []
    pairs = [(name, False) for name in options.claims]
    for name, screening in pairs + [(name, True) for name in options.screened]:
        (claim,) = find_claims(packs, [name])
        runs = [rates(claim, options.seconds, seed, screening) for seed in range(options.runs)]
        one, two = (statistics.median(run[k][0] for run in runs) for k in (0, 1))
        gain = statistics.median(run[1][0] / run[0][0] for run in runs)
        busy = statistics.median(run[1][1] for run in runs)
        rows.append(
            {
                "claim": name,
                "screened": screening,
                "rates": [one, two],
                "speed_up": gain,
                "busy": busy,
                "runs": runs,
            }
        )
        said = f"{name}{', screened' * screening}"
        print(f"{said:<38}{one:>8.4g}/s{two:>9.4g}/s{busy:>6.2f}{gain:>10.2f}", flush=True)
    if options.json:
        document = {"schema": 1, "seconds": options.seconds, "rows": rows}
        Path(options.json).write_text(json.dumps(document, indent=1))


if __name__ == "__main__":
    main()
