"""`attsvm replay` re-executes stored counterexamples."""

from __future__ import annotations

import argparse

from attsvm.cli.arguments import Parsers, tell


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = parsers.add(
        "replay", parsers.packs, parsers.only, help="re-execute stored counterexamples"
    )
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="a stored file, or a folder of them"
    )


def run(options: argparse.Namespace) -> int:
    """Replay; 0 where all are confirmed, 1 where not."""
    from attsvm.theory.declaration.packs import load_packs
    from attsvm.theory.record.counterexample import gathered, replay

    packs = load_packs(options.pack, options.only_pack)
    results = [replay(path, packs) for path in gathered(options.files)]
    confirmed = all(r.confirmed for r in results)
    tell(options, {"files": [r.json() for r in results], "confirmed": confirmed}, results)
    return 0 if confirmed else 1
