"""How long it takes to start, beside the bare interpreter."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from benchmarks.timers.timing import Timer, Way

COMMANDS = {
    "attsvm --help": ["-m", "attsvm.cli", "--help"],
    "import attsvm": ["-c", "import attsvm"],
    "from attsvm import att_svm": ["-c", "from attsvm import att_svm"],
    "import attsvm.theory": ["-c", "import attsvm.theory"],
    "attsvm claims": ["-m", "attsvm.cli", "claims"],
}


def _python(words: list[str]) -> None:
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)


def startup() -> Iterator[Timer]:
    """Yield a row for each command."""
    bare = Way(lambda _: _python(["-c", "pass"]), runs=5)
    for name, words in COMMANDS.items():
        yield Timer(name, "", lambda words=words: [words], Way(_python, runs=5), {"bare": bare})  # type: ignore[misc]
