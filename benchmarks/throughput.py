"""Claims and instances a second: `python benchmarks/throughput.py [--json FILE]`.

Runs `attsvm verify` on the quick profile with one worker and with two, in turn, and compares.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any


def run(workers: int) -> tuple[float, dict[str, Any]]:
    """Wall time of one run with that many workers, and its report."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "attsvm.cli", "verify", "-n", str(workers)]
        command += ["--ledger", f"{folder}/ledger.jsonl", "--json", str(report)]
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        elapsed = time.perf_counter() - start
        return elapsed, json.loads(report.read_text())


def main() -> None:
    """Measure, print a table, write JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    times: dict[int, list[float]] = {1: [], 2: []}
    report: dict[str, Any] = {}
    for _ in range(options.runs):
        for workers, kept in times.items():
            elapsed, report = run(workers)
            kept.append(elapsed)
    claims = len(report["claims"])
    examples = sum(
        c["examples"] + sum(s["examples"] for s in c["siblings"]) for c in report["claims"]
    )
    rows = []
    print(f"{'workers':>7}{'seconds':>9}{'claims/s':>10}{'instances/s':>13}{'speed-up':>10}")
    for workers, kept in times.items():
        median = statistics.median(kept)
        gain = statistics.median(a / b for a, b in zip(times[1], kept, strict=True))
        rows.append(
            {
                "workers": workers,
                "seconds": median,
                "claims_per_second": claims / median,
                "instances_per_second": examples / median,
                "speed_up": gain,
            }
        )
        print(
            f"{workers:>7}{median:>9.2f}{claims / median:>10.2f}{examples / median:>13.0f}"
            f"{gain:>10.2f}"
        )
    if options.json:
        Path(options.json).write_text(json.dumps({"schema": 1, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
