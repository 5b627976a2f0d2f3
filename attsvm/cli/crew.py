"""The worker processes of a run, and the handling of its interruption."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from attsvm._threads import single_threaded
from attsvm.cli.arguments import needed

if TYPE_CHECKING:
    from attsvm.theory.run.workers import Workers


@contextlib.contextmanager
def crew(options: argparse.Namespace) -> Iterator[Workers]:
    """Yield the workers; SIGTERM interrupts like Ctrl-C, and both set `options.stopped`.

    KeyboardInterrupt alone is not enough, as code that runs at that moment may swallow it.
    """
    options.stopped = False

    def stop(*_: object) -> None:
        options.stopped = True
        raise KeyboardInterrupt

    single_threaded()
    ours = threading.current_thread() is threading.main_thread()
    blows = (signal.SIGINT, signal.SIGTERM) if ours else ()
    before = {blow: signal.signal(blow, stop) for blow in blows}
    try:
        if options.cluster:
            from attsvm.theory.verification.cluster import cluster

            # workers may run in other folders
            options.pack = [os.path.abspath(p) if p.endswith(".py") else p for p in options.pack]
            with cluster(options.cluster, options.pack) as others:
                yield others
        else:
            from attsvm.theory.run.workers import processes

            with processes(options.workers, options.pack, needed(options)) as others:
                yield others
    finally:
        for blow, handler in before.items():
            signal.signal(blow, handler)
