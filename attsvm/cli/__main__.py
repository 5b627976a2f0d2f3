"""The entry point of `python -m attsvm.cli`: it runs one command and exits with its code."""

import gc
import sys
from typing import NoReturn

from attsvm.cli import main
from attsvm.cli.guard import run_guarded


def run() -> NoReturn:
    """Run the command in a process of its own, without the exit handlers of packs.

    A pack may register functions with `atexit`.
    """
    run_guarded(_command)


def _command() -> int:
    """Run the command; return its exit code."""
    # loaded packs live on; rescanning them would cost a tenth of the time
    gc.set_threshold(100_000)
    # the objects that they parse live on as well
    if sys.argv[1:2] in (["claims"], ["show"], ["gate"]):
        gc.disable()
    try:
        code = main()
    except SystemExit as left:  # from the parser, after help or the version
        code = left.code if isinstance(left.code, int) else 0
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None where it is closed
        try:
            stream.flush()
        except (OSError, ValueError):
            code = code or 120  # Python's own exit code if it cannot flush
    return code


if __name__ == "__main__":
    run()
