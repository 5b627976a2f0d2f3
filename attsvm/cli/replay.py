"""`attsvm replay` re-executes stored counterexamples."""

import argparse
import time
from pathlib import Path

from attsvm._live import Live
from attsvm._words import duration
from attsvm.cli.arguments import Parsers, command, tell


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = parsers.add(
        "replay", parsers.packs, parsers.only, help="re-execute stored counterexamples"
    )
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="a stored counterexample, or a folder of them"
    )


def run(options: argparse.Namespace) -> int:
    """Replay files; return 0 if all are confirmed, 2 if some cannot be read, else 1."""
    from attsvm.theory.packs.packs import load_packs
    from attsvm.theory.record.counterexample import claims_in, gathered, replay

    results = []
    started = time.monotonic()
    with Live(line="loading claims") as live:
        files = gathered(options.files)
        packs = load_packs(options.pack, options.only_pack, claims_in(files))
        for done, path in enumerate(files):
            took = time.monotonic() - started
            known = took > 5 and done
            text = f"about {duration(took / done * (len(files) - done))} left, " if known else ""
            text = f"[{done}/{len(files)}] {text}replaying {path}"
            live.update(text.__str__, worth=False)
            results.append(replay(path, packs))
    fallen = [r.file for r in results if not r.confirmed]
    lines = [str(r) for r in results]
    ids = [file for file in fallen if ":" in file and not Path(file).exists()]
    if ids:
        lines.append(
            f"for the id of a claim, {command(options, 'show', ids[0])} says where its file is"
        )
    elif fallen:
        lines.append(
            f"replay {'it' if len(fallen) == 1 else 'them'} again: "
            f"{command(options, 'replay', *fallen)}"
        )
    tell(options, {"files": [r.json() for r in results], "confirmed": not fallen}, lines)
    if any(r.result == "ERROR" for r in results):
        return 2
    return 1 if fallen else 0
