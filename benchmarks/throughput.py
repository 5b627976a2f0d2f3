"""Claims and instances a second: `python -m benchmarks.throughput [--json FILE]`.

Runs `attsvm verify` on the quick profile with one worker and with two, in turn, and compares.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.timing import Row, asked, keep, seconds, shown


def run(workers: int) -> tuple[float, dict[str, Any]]:
    """Wall time of one run with that many workers, and its report."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "attsvm.cli", "verify", "-n", str(workers)]
        command += ["--ledger", f"{folder}/ledger.jsonl", "--json", str(report)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        elapsed, _ = seconds(lambda: subprocess.run(command, check=True, **quiet))
        return elapsed, json.loads(report.read_text())


def rows(runs: int) -> Iterator[Row]:
    """One worker, and two."""
    times: dict[int, list[float]] = {1: [], 2: []}
    report: dict[str, Any] = {}
    for _ in range(runs):
        for workers, kept in times.items():
            elapsed, report = run(workers)
            kept.append(elapsed)
    claims = report["claims"]
    examples = sum(c["examples"] + sum(s["examples"] for s in c["siblings"]) for c in claims)
    for workers, kept in times.items():
        median = statistics.median(kept)
        yield {
            "workers": workers,
            "seconds": median,
            "claims_per_second": len(claims) / median,
            "instances_per_second": examples / median,
            "speed_up": statistics.median(a / b for a, b in zip(times[1], kept, strict=True)),
        }


def main() -> None:
    """Measure, print a table, write JSON where asked."""
    options = asked(__doc__, runs=3)
    columns = {"workers": ">7", "seconds": ">9.2f", "claims_per_second": ">19.2f"}
    columns |= {"instances_per_second": ">22.0f", "speed_up": ">10.2f"}
    keep(options.json, rows=shown(columns, rows(options.runs)))


if __name__ == "__main__":
    main()
