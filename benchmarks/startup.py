"""How long it takes to start: `python -m benchmarks.startup [--json FILE]`.

Each command is run in turn with the bare interpreter, its rival, and the medians are compared.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Iterator

from benchmarks import timing

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
    run = subprocess.run
    return timing.seconds(lambda: run(command, check=True, stdout=subprocess.DEVNULL))[0]


def rows(runs: int) -> Iterator[timing.Row]:
    """Each command beside the bare interpreter."""
    for name, command in COMMANDS.items():
        seconds(command)  # warm
        pairs = [(seconds(command), seconds(RIVAL)) for _ in range(runs)]
        ours, rival = (statistics.median(times) for times in zip(*pairs, strict=True))
        ratio = statistics.median(a / b for a, b in pairs)
        yield {"command": name, "seconds": ours, "interpreter": rival, "ratio": ratio}


def main() -> None:
    """Measure, print a table, write JSON where asked."""
    options = timing.asked(__doc__, runs=7)
    columns = {"command": "<28", "seconds": ">9.3f", "interpreter": ">16.3f", "ratio": ">8.1f"}
    timing.keep(options.json, rows=timing.shown(columns, rows(options.runs)))


if __name__ == "__main__":
    main()
