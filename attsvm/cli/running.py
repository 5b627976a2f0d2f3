"""The worker processes of a run, its interruption, and its output files.

Output files and folders are checked before any work is done.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import stat
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from attsvm._files import destination, ensure_writable, is_stream, write_whole
from attsvm._threads import single_threaded
from attsvm.cli.arguments import LEDGER, needed, say
from attsvm.errors import UsageError

if TYPE_CHECKING:
    from attsvm.theory.packs.packs import Pack
    from attsvm.theory.record.ledger import Ledger
    from attsvm.theory.run.workers import Workers


@contextlib.contextmanager
def crew(options: argparse.Namespace) -> Iterator[Workers]:
    """Yield the workers; SIGTERM interrupts like Ctrl-C, and both set `options.stopped`.

    The flag is needed because code that runs at that moment may swallow the KeyboardInterrupt.
    """
    options.stopped = False

    def stop(*_: object) -> None:
        options.stopped = True
        raise KeyboardInterrupt

    single_threaded()
    # Python allows the main thread alone to handle signals
    main = threading.current_thread() is threading.main_thread()
    signals = (signal.SIGINT, signal.SIGTERM) if main else ()
    before = {number: signal.signal(number, stop) for number in signals}
    try:
        if options.cluster:
            from attsvm.theory.verification.cluster import cluster

            # a worker on the cluster may run in another folder
            options.pack = [os.path.abspath(p) if p.endswith(".py") else p for p in options.pack]
            with cluster(options.cluster, options.pack) as others:
                yield others
        else:
            from attsvm.theory.run.workers import processes

            # questions belong to no pack: a worker loads the file of the question that it gets
            ids = None if options.command == "ask" else needed(options)
            with processes(options.workers, options.pack, ids) as others:
                yield others
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def open_ledger(path: str) -> Ledger:
    """Return the ledger at a path; the folder `.attsvm` gets a .gitignore."""
    from attsvm.theory.record.ledger import Ledger

    folder = Path(path).parent
    new = folder != Path(LEDGER).parent and not folder.exists()
    ledger = Ledger(path)
    if new:
        say(f"attsvm: the ledger is {path}, in a new folder", file=sys.stderr)
    keep_from_git(Path(path))
    return ledger


def finds_beside(ledger: str, packs: Iterable[Pack] = ()) -> Path:
    """Return the folder for the counterexamples of a run: beside its ledger if that is a file.

    It is never a folder of curated counterexamples of these packs: the next run would replay them.
    """
    folder = Path(LEDGER if is_stream(ledger) else ledger).parent / "counterexamples"
    curated = any(folder.resolve() in pack.curated for pack in packs)
    return folder.with_name("finds") if curated else folder


def keep_from_git(path: Path) -> None:
    """Write a .gitignore beside `path` if that is in the folder `.attsvm`."""
    if path.parent == Path(LEDGER).parent:
        ignore = path.parent / ".gitignore"
        if not ignore.exists():
            write_whole(ignore, lambda file: file.write(b"*\n"))


def ensure_file(path: str, option: str) -> None:
    """Raise before the work if the file of an option cannot be written; streams are not checked.

    Raises:
        FileError: it cannot be written.
    """
    if not is_stream(path):
        ensure_writable(destination(path).parent, option)


def ensure_apart(**places: str | Path | None) -> None:
    """Raise before the work if two options name one file: one output would overwrite the other.

    Args:
        places: paths by the names of their options; `-` is standard output, None not given.

    Raises:
        UsageError: two of them lead to the same file.
    """
    results: dict[object, str] = {}
    for option, path in places.items():
        if path is None or path == "-":
            continue
        try:
            there = os.stat(path)
            own: object = (there.st_dev, there.st_ino)
            if not stat.S_ISREG(there.st_mode):
                continue
        except (OSError, ValueError):
            # the file does not exist yet; `ensure_file` reports a file that cannot be written
            own = os.path.abspath(path)
        if results.setdefault(own, option) != option:
            raise UsageError(
                f"--{option} and --{results[own]} name one file",
                value=str(path),
                remedy="Name another file: one of the two would be overwritten.",
            )


def ensure_json(path: str | None) -> None:
    """Raise before the work if the file of --json, if any, cannot be written.

    Raises:
        FileError: it cannot be written.
    """
    if path and path != "-":
        ensure_file(path, "--json")
