"""`attsvm gate` holds a run against the reviewed expectations."""

from __future__ import annotations

import argparse
import datetime

from attsvm._words import counted
from attsvm.cli.arguments import LEDGER, Parsers
from attsvm.errors import UsageError

__all__ = ["add", "run"]


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = parsers.add("gate", parsers.packs, help="hold a run against the reviewed expectations")
    parser.add_argument(
        "--expect",
        metavar="FILE",
        help="default: the expectations.json of every pack; with --pack, of those named and of "
        "others that the run checked",
    )
    parser.add_argument("--ledger", metavar="FILE", default=LEDGER, help=f"default {LEDGER}")


def run(options: argparse.Namespace) -> int:
    """Hold; 0 where nothing differs, 1 with a reason a line."""
    from attsvm.theory.files import write_json
    from attsvm.theory.gate import brief, concerned, hold, read_expectations
    from attsvm.theory.ledger import last_run
    from attsvm.theory.packs import load_packs

    run = last_run(options.ledger)
    left_out: list[str] = []
    if options.expect:
        expectations = read_expectations(options.expect)
    else:
        expectations = {}
        packs = load_packs(options.pack)
        held = concerned(packs, options.pack, run)
        left_out = [pack.name for pack in packs if pack not in held]
        for pack in held:
            if not pack.expectations.is_file():
                raise UsageError(
                    f"pack {pack.name} has no expectations.json beside it",
                    remedy="Write one like properties/expectations.json, or name it (--expect).",
                )
            expectations.update(read_expectations(pack.expectations))
    reasons = hold(run, expectations, datetime.date.today())
    if options.json:
        document = {"schema": 1, "passed": not reasons, "reasons": list(reasons)}
        write_json(options.json, {**document, "left_out": left_out})
    if options.json != "-":
        for line in brief(run, expectations, reasons):
            print(line)
        print(
            f"gate: {counted(len(reasons), 'reason')} to stop"
            if reasons
            else f"gate: {counted(len(run.verdicts), 'verdict')} as reviewed"
        )
        for name in left_out:
            print(f"the run checked nothing of the installed pack {name}, nor was it held to it")
    return 1 if reasons else 0
