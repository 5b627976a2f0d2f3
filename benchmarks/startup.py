"""How long it takes to start: `python benchmarks/startup.py [--json FILE]`.

Each command is run in turn with the bare interpreter, its rival, and the medians are compared.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time

RIVAL = [sys.executable, "-c", "pass"]
COMMANDS = {
    "attsvm --help": [sys.executable, "-m", "attsvm.cli", "--help"],
    "import attsvm": [sys.executable, "-c", "import attsvm"],
    "from attsvm import att_svm": [sys.executable, "-c", "from attsvm import att_svm"],
    "import attsvm.theory": [sys.executable, "-c", "import attsvm.theory"],
    "attsvm claims": [sys.executable, "-m", "attsvm.cli", "claims"],
}


def seconds(command: list[str]) -> float:
    """Wall time of one run."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    """Measure, print a table, write JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    rows = []
    for name, command in COMMANDS.items():
        seconds(command)  # warm
        pairs = [(seconds(command), seconds(RIVAL)) for _ in range(options.runs)]
        ours, rival = (statistics.median(times) for times in zip(*pairs, strict=True))
        ratio = statistics.median(a / b for a, b in pairs)
        rows.append({"command": name, "seconds": ours, "interpreter": rival, "ratio": ratio})
    print(f"{'command':<28}{'seconds':>9}{'python -c pass':>16}{'ratio':>8}")
    for row in rows:
        print(
            f"{row['command']:<28}{row['seconds']:>9.3f}{row['interpreter']:>16.3f}"
            f"{row['ratio']:>8.1f}"
        )
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"schema": 1, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
