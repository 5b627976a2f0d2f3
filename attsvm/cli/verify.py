"""`attsvm verify` checks claims and their siblings."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from attsvm._words import counted
from attsvm.cli.arguments import LEDGER, Parsers
from attsvm.cli.crew import crew
from attsvm.cli.places import ensure_json, finds_beside, open_ledger

if TYPE_CHECKING:
    from attsvm.theory.run.verify import Checked
    from attsvm.theory.run.workers import Workers

_LISTED = 5
"""Up to so many claims that an interrupted run did not check are named in full."""


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = parsers.add(
        "verify",
        parsers.packs,
        parsers.only,
        parsers.run,
        help="check claims and their siblings",
    )
    parser.add_argument("ids", nargs="*", metavar="ID", help="claim, statement or prefix")
    parser.add_argument("--profile", choices=["quick", "ci", "deep"], default="quick")
    parser.add_argument("--ledger", metavar="FILE", default=LEDGER, help=f"default {LEDGER}")


def run(options: argparse.Namespace) -> int:
    """Check; 0 where every verdict is as expected, 1 where not."""
    options.wanted, options.checked = [], {}
    if options.only_pack:  # workers load them too, and so do the commands that are printed
        from attsvm.theory.declaration.packs import sources_of

        options.pack = [*options.pack, *sources_of(options.only_pack)]
    try:
        with crew(options) as those:
            return _verify(those, options)
    except KeyboardInterrupt:
        if options.wanted:
            _tell_of_the_part_done(options)
        raise


def _tell_of_the_part_done(options: argparse.Namespace) -> None:
    """Print the verdicts that an interrupted run came to, and what to do next."""
    from attsvm.theory.report.terminal import outcome

    checked = [options.checked[c] for c in options.wanted if c in options.checked]
    if checked and options.json != "-":
        _tell(checked, options)
    left = [c for c in options.wanted if c not in options.checked]
    said = f"{len(checked)} of {counted(len(options.wanted), 'claim')}"
    out = sys.stderr if options.json == "-" else sys.stdout
    if checked:
        said += f": {outcome(sum(not c.as_expected for c in checked), 0)}"
    print(said, file=out)
    if left:
        command = f"attsvm verify{_packs(options)} --profile {options.profile}"
        command += f" --seed {options.seed}"
        few = len(left) <= _LISTED
        rest = " ".join(left) if few else "ID ..., by id or prefix, the first " + left[0]
        print(f"check the rest: {command} {rest}", file=out)


def _tell(checked: list[Checked], options: argparse.Namespace) -> None:
    """Print the table, and the counterexample of every claim that fell against expectation."""
    from attsvm.theory.record.counterexample import shown
    from attsvm.theory.report.terminal import not_shown_text, table_text

    entries = [c.json() for c in checked]
    table_text(entries)
    for line in not_shown_text(entries):
        print(line)
    for each in checked:
        if each.as_expected or each.reading.refuted is None:
            continue
        print(f"{each.claim.id} is refuted by")
        for line in shown(each.claim, "", each.reading.refuted):
            print(f"  {line}")
        print(f"replay it: attsvm replay{_packs(options)} {each.counterexample}")


def _packs(options: argparse.Namespace) -> str:
    return "".join(f" --pack {pack}" for pack in options.pack)


def _verify(crew: Workers, options: argparse.Namespace) -> int:
    from attsvm._files import write_json
    from attsvm.theory.declaration.packs import find_claims, load_packs
    from attsvm.theory.record.curated import summary
    from attsvm.theory.report.terminal import Live, outcome
    from attsvm.theory.run.verify import verify

    ensure_json(options.json)
    packs = load_packs(options.pack, options.only_pack)
    options.wanted = [c.id for c in find_claims(packs, options.ids)]
    text = "checking"
    with open_ledger(options.ledger) as ledger, Live() as live:

        def progress(done: int, total: int, checked: Checked | None) -> None:
            nonlocal text
            if checked is not None:
                options.checked[checked.claim.id] = checked
            if options.stopped:
                raise KeyboardInterrupt
            if checked is not None:
                text = f"{checked.claim.id}: {checked.verdict}"
            live.update(lambda: f"[{done}/{total}] {text}", checked is not None)

        report = verify(
            packs,
            options.ids,
            profile=options.profile,
            seed=options.seed,
            crew=crew,
            named=options.pack,
            ledger=ledger,
            examples_folder=finds_beside(options.ledger),
            progress=progress,
        )
    if options.json:
        write_json(options.json, report.json())
    if options.json != "-":
        _tell(list(report.checked), options)
        for line in summary(report.replayed):
            print(line)
        examples = sum(c.reading.examples for c in report.checked)
        wrong = sum(not c.as_expected for c in report.checked)
        print(
            f"{counted(len(report.checked), 'claim')} on {counted(examples, 'instance')}, "
            f"profile {report.profile}, "
            f"seed {report.seed}: " + outcome(wrong, sum(not r.confirmed for r in report.replayed))
        )
        stored = [c.counterexample for c in report.checked if c.counterexample]
        if stored:
            print(
                f"{counted(len(stored), 'counterexample')} of this run in "
                f"{Path(stored[0]).parent}; replay one: attsvm replay{_packs(options)} FILE"
            )
    return 0 if report.matched else 1
