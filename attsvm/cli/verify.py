"""`attsvm verify` checks claims and their siblings."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from attsvm._words import counted, duration
from attsvm.cli.arguments import (
    LEDGER,
    Parsers,
    command,
    load_alone,
    needed,
    not_yours,
    positive_integer,
    recorded,
    say,
    write_document,
)
from attsvm.cli.running import crew, ensure_apart, ensure_json, finds_beside, open_ledger
from attsvm.errors import UsageError

if TYPE_CHECKING:
    from attsvm.theory.run.workers import Workers
    from attsvm.theory.verification.verdicts import Checked

_LISTED = 5
"""Maximum number of claims that the command to check them again names one by one."""
_FEW = 24
"""Maximum number of claims that are all listed; of more claims only unexpected verdicts are listed,
and one row per source."""


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = parsers.add(
        "verify",
        parsers.packs,
        parsers.only,
        parsers.run,
        help="check claims and their siblings",
    )
    parser.add_argument(
        "ids",
        nargs="*",
        metavar="ID",
        help="claims, statements or prefixes of ids to check (default: all)",
    )
    parser.add_argument(
        "--profile",
        choices=["quick", "deep"],
        default="quick",
        help="quick, or deep with more instances (default quick)",
    )
    parser.add_argument(
        "--ledger", metavar="FILE", default=LEDGER, help=f"record of the run (default {LEDGER})"
    )
    parser.add_argument(
        "--all", action="store_true", help=f"list all claims, even if there are more than {_FEW}"
    )
    parser.add_argument(
        "--lf",
        action="store_true",
        help="check only claims that the last run in the ledger did not finish, or whose verdict "
        "was not as expected; check all if there are none",
    )
    parser.add_argument(
        "--reuse",
        action="store_true",
        help="take over the outcome of a claim if a finished run of all claims in the ledger had "
        "the same code, libraries, profile and seed; check only the other claims",
    )
    parser.add_argument(
        "--durations",
        type=positive_integer,
        metavar="N",
        help="list the N claims that took longest",
    )


def run(options: argparse.Namespace) -> int:
    """Check claims; return 0 if every verdict is as expected, else 1."""
    options.wanted, options.checked = [], {}
    load_alone(options)
    try:
        with crew(options) as others:
            return _verify(others, options)
    except KeyboardInterrupt:
        if options.wanted:
            _tell_of_the_part_done(options)
        raise


def _tell_of_the_part_done(options: argparse.Namespace) -> None:
    """Print the verdicts of an interrupted run, and what to do next."""
    from attsvm.theory.report.terminal import outcome

    checked = [options.checked[c] for c in options.wanted if c in options.checked]
    if checked and options.json != "-":
        _tell(checked, options)
    left = [c for c in options.wanted if c not in options.checked]
    text = f"{len(checked)} of {counted(len(options.wanted), 'claim')}"
    out = sys.stderr if options.json == "-" else sys.stdout
    if checked:
        text += f": {outcome(sum(not c.as_expected for c in checked), 0)}"
    say(text, file=out)
    if left:
        say(f"check the rest: {_again(options, left)}", file=out)


def _again(options: argparse.Namespace, ids: list[str]) -> str:
    """Return the command that checks these claims in the same way."""
    return command(options, "verify", *(ids if len(ids) <= _LISTED else ["--lf"]))


def _tell(checked: list[Checked], options: argparse.Namespace) -> None:
    """Print the table, and the counterexample of every claim that was refuted unexpectedly."""
    from attsvm.theory.report.terminal import not_shown_text, slowest_text, summary_text, table_text

    entries = [c.json() for c in checked]
    brief = len(entries) > _FEW and not options.all
    listed = [entry for entry in entries if not (brief and entry["as_expected"])]
    if listed:
        table_text(listed)
    for line in not_shown_text(entries):
        say(line)
    if brief:
        say(*summary_text(entries))
    if options.durations:
        say(*slowest_text(entries, options.durations))
    for each in checked:
        if each.as_expected or each.reading.refuted is None:
            continue
        from attsvm.theory.record.counterexample import shown

        say(f"{each.claim.id} is refuted by")
        for line in shown(each.claim, "", each.reading.refuted):
            say(f"  {line}")
        say(f"replay it: {command(options, 'replay', str(each.counterexample))}")


def _verify(crew: Workers, options: argparse.Namespace) -> int:
    from attsvm._live import Live
    from attsvm.theory.packs.packs import NO_CLAIMS, find_claims, load_packs
    from attsvm.theory.record.curated import summary
    from attsvm.theory.report.terminal import outcome
    from attsvm.theory.verification.verify import verify

    ensure_json(options.json)
    ensure_apart(ledger=options.ledger, json=options.json)
    packs = load_packs(options.pack, options.only_pack, needed(options))
    options.wanted = [c.id for c in find_claims(packs, options.ids)]
    if not options.wanted:
        raise UsageError("there is no claim to check", remedy=NO_CLAIMS)
    if options.lf:
        amiss = _amiss(options)
        if not amiss:
            say(
                f"attsvm: the last run of {options.ledger} left none of these unfinished or not as "
                f"expected: checking all {counted(len(options.wanted), 'claim')}",
                file=sys.stderr,
            )
        options.wanted = amiss or options.wanted
    elif not options.ids and (remark := not_yours(options, packs, "checks")):
        say(f"attsvm: {remark}", file=sys.stderr)
    started = time.monotonic()
    with open_ledger(options.ledger) as ledger, Live() as live:
        live.update(lambda: _first_left(options), worth=False)

        def progress(done: int, total: int, checked: Checked | None) -> None:
            if checked is not None:
                options.checked[checked.claim.id] = checked
            if options.stopped:
                raise KeyboardInterrupt
            took = time.monotonic() - started
            known = took > 5 and done
            text = f"about {duration(took / done * (total - done))} left, " if known else ""
            at_hand = f"[{done}/{total}] {text}{_first_left(options)}".rstrip(", ")
            live.update(lambda: at_hand, worth=False)

        report = verify(
            packs,
            options.wanted,
            profile=options.profile,
            seed=options.seed,
            crew=crew,
            named=options.pack,
            ledger=ledger,
            examples_folder=finds_beside(options.ledger, packs),
            progress=progress,
            reuse=options.reuse,
            replaying=lambda file: live.update(f"replaying {file.name}".__str__, worth=False),
        )
    if options.json:
        write_document(options.json, report.json())
    if options.json != "-":
        _tell(list(report.checked), options)
        for line in summary(report.replayed):
            say(line)
        examples = sum(c.reading.examples for c in report.checked)
        wrong = sum(not c.as_expected for c in report.checked)
        say(
            f"{counted(len(report.checked), 'claim')} on {counted(examples, 'instance')}, "
            f"profile {report.profile}, "
            f"seed {report.seed}: " + outcome(wrong, sum(not r.confirmed for r in report.replayed))
        )
        chosen = sum(c.reused is not None for c in report.checked)
        if chosen:
            say(f"{counted(chosen, 'claim')} taken over from earlier runs (=), as nothing changed")
        elif options.reuse:
            say(
                f"no claim taken over: {options.ledger} has no finished run of all claims with "
                "this code, these libraries, this profile and seed"
            )
        stored = [c.counterexample for c in report.checked if c.counterexample]
        if stored:
            of_run = f"{counted(len(stored), 'counterexample')} of this run in"
            message = "" if wrong else f"; replay one: {command(options, 'replay', 'FILE')}"
            say(f"{of_run} {Path(stored[0]).parent}{message}")
        amiss = [c.claim.id for c in report.checked if not c.as_expected]
        if amiss:
            say(f"check again: {_again(options, amiss)}")
    return 0 if report.matched else 1


def _amiss(options: argparse.Namespace) -> list[str]:
    """Return the wanted claims that the last run left unfinished or not as expected.

    Raises:
        LedgerError: there is no last run.
    """
    from attsvm.theory.record.runs import last_run

    run = recorded(options, last_run)
    fine = {name for name, verdict in run.verdicts.items() if verdict.get("as_expected") is True}
    return [name for name in options.wanted if name in {*run.claims} - fine]


def _first_left(options: argparse.Namespace) -> str:
    """Return the first claim that is not decided yet."""
    return next((name for name in options.wanted if name not in options.checked), "")
