"""`python -m attsvm.cli` is `attsvm`: a process that runs one command and leaves with its code."""

import gc
import os
import sys
from typing import NoReturn

from attsvm.cli import main


def run() -> NoReturn:
    """Run the command, and leave without what claim packs would have done at the exit.

    A pack may register functions with `atexit`, and one that ends the process would replace the
    exit code of the command by its own.
    """
    gc.set_threshold(100_000)  # what loading packs makes stays; searching it takes a tenth longer
    if sys.argv[1:2] == ["gate"]:  # what it reads and parses stays as well, and it is soon done
        gc.disable()
    code = main()
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None where it is closed
        try:
            stream.flush()
        except (OSError, ValueError):
            code = code or 120  # what Python itself leaves with where it cannot flush
    os._exit(code)


if __name__ == "__main__":
    run()
