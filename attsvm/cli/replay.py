"""`attsvm replay` re-executes stored counterexamples."""

from __future__ import annotations

import argparse

from attsvm.cli.arguments import Parsers, command, tell
from attsvm.cli.working import working


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = parsers.add(
        "replay", parsers.packs, parsers.only, help="re-execute stored counterexamples"
    )
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="a stored file, or a folder of them"
    )


def run(options: argparse.Namespace) -> int:
    """Replay files; return 0 if all are confirmed, else 1."""
    from attsvm.theory.packs.packs import load_packs
    from attsvm.theory.record.counterexample import claims_in, gathered, replay

    results = []
    with working("loading claims") as live:
        files = gathered(options.files)
        packs = load_packs(options.pack, options.only_pack, claims_in(files))
        for k, path in enumerate(files, 1):
            text = f"replaying {path}" + (f", {k} of {len(files)}" if len(files) > 1 else "")
            live.update(text.__str__, worth=False)
            results.append(replay(path, packs))
    fallen = [r.file for r in results if not r.confirmed]
    lines = [str(r) for r in results]
    if fallen:
        lines.append(
            f"replay {'it' if len(fallen) == 1 else 'them'} again: "
            f"{command(options, 'replay', *fallen)}"
        )
    tell(options, {"files": [r.json() for r in results], "confirmed": not fallen}, lines)
    return 1 if fallen else 0
