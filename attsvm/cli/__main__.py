"""`python -m attsvm.cli` is `attsvm`: it runs one command and leaves with its exit code."""

import gc
import sys
from typing import NoReturn

from attsvm.cli import main
from attsvm.cli.guard import run_guarded


def run() -> NoReturn:
    """Run the command in a process of its own, without what packs would do at its exit.

    A pack may register functions with `atexit`.
    """
    run_guarded(_command)


def _command() -> int:
    """Run the command; its exit code."""
    gc.set_threshold(100_000)  # what loading packs makes stays; searching it takes a tenth longer
    if sys.argv[1:2] in (["claims"], ["show"], ["gate"]):  # what they read and parse stays as well
        gc.disable()
    try:
        code = main()
    except SystemExit as left:  # the parser's, which has shown help or a version
        code = left.code if isinstance(left.code, int) else 0
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None where it is closed
        try:
            stream.flush()
        except (OSError, ValueError):
            code = code or 120  # what Python itself leaves with where it cannot flush
    return code


if __name__ == "__main__":
    run()
