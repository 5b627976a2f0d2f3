"""`attsvm verify` checks claims and their siblings."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from attsvm.cli.arguments import LEDGER, Parsers
from attsvm.cli.crew import crew
from attsvm.cli.places import ensure_json, open_ledger

if TYPE_CHECKING:
    from attsvm.theory.workers import Workers

__all__ = ["add", "run"]


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = parsers.add(
        "verify", parsers.packs, parsers.run, help="check claims and their siblings"
    )
    parser.add_argument("ids", nargs="*", metavar="ID", help="claim, statement or prefix")
    parser.add_argument("--profile", choices=["quick", "ci", "deep"], default="quick")
    parser.add_argument("--ledger", metavar="FILE", default=LEDGER, help=f"default {LEDGER}")


def run(options: argparse.Namespace) -> int:
    """Check; 0 where every verdict is as expected, 1 where not."""
    with crew(options) as those:
        return _verify(those, options)


def _verify(crew: Workers, options: argparse.Namespace) -> int:
    from attsvm.theory.curated import summary
    from attsvm.theory.files import write_json
    from attsvm.theory.packs import find_claims, load_packs
    from attsvm.theory.profiles import profile_named
    from attsvm.theory.report import Live, outcome, table_text
    from attsvm.theory.verify import Checked, plan, verify

    ensure_json(options.json)
    packs = load_packs(options.pack)
    total = len(plan(find_claims(packs, options.ids), profile_named(options.profile)))
    with open_ledger(options.ledger) as ledger, Live(total) as live:

        def progress(done: int, _: int, checked: Checked | None) -> None:
            if options.stopped:
                raise KeyboardInterrupt
            live.update(done, None if checked is None else f"{checked.claim.id}: {checked.verdict}")

        report = verify(
            packs,
            options.ids,
            profile=options.profile,
            seed=options.seed,
            crew=crew,
            named=options.pack,
            ledger=ledger,
            examples_folder=Path(options.ledger).parent / "counterexamples",
            progress=progress,
        )
    document = report.json()
    if options.json:
        write_json(options.json, document)
    if options.json != "-":
        table_text(document["claims"])
        for line in summary(report.replayed):
            print(line)
        examples = sum(c.reading.examples for c in report.checked)
        wrong = sum(not c.as_expected for c in report.checked)
        print(
            f"{len(report.checked)} claims on {examples} instances, profile {report.profile}, "
            f"seed {report.seed}: " + outcome(wrong, sum(not r.confirmed for r in report.replayed))
        )
        stored = [c.counterexample for c in report.checked if c.counterexample]
        if stored:
            with_pack = "".join(f" --pack {pack}" for pack in options.pack)
            print(
                f"{len(stored)} counterexample(s) in {Path(stored[0]).parent}; "
                f"replay them: attsvm replay{with_pack} FILE"
            )
    return 0 if report.matched else 1
