"""`attsvm gate` holds a run against the reviewed expectations."""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from attsvm._live import Live
from attsvm._words import counted
from attsvm.cli.actions import annotation, in_actions, summarise, within
from attsvm.cli.arguments import (
    DEFAULTS,
    LEDGER,
    Parsers,
    command,
    not_yours,
    recorded,
    split_packs,
    tell,
)
from attsvm.cli.running import ensure_apart
from attsvm.errors import FileError, LedgerError, UsageError

if TYPE_CHECKING:
    from attsvm._types import JsonObject
    from attsvm.theory.gate.expectations import Expectation
    from attsvm.theory.packs.packs import Pack
    from attsvm.theory.record.runs import Run


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = parsers.add(
        "gate", parsers.packs, parsers.only, help="compare a run with the reviewed expectations"
    )
    parser.add_argument(
        "--expect",
        metavar="FILE",
        help="reviewed expectations (default: the expectations.json of every pack; with --pack, "
        "of the named packs and of others that the run checked; with --only-pack, of the named "
        "packs only)",
    )
    parser.add_argument(
        "--ledger", metavar="FILE", default=LEDGER, help=f"record of the run (default {LEDGER})"
    )
    for name, usual in DEFAULTS.items():
        text = f"the {name} that the run must have (default {usual})"
        parser.add_argument(f"--{name}", type=type(usual), default=usual, help=text)
    parser.add_argument(
        "--update",
        action="store_true",
        help="show by what changes the expectations would fit the claims",
    )
    parser.add_argument(
        "--yes",
        action="store_true",
        help="with --update: write the shown changes to the expectations",
    )


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The result of a gate: all that it prints, and its exit code.

    Attributes:
        code: the exit code.
        document: the document of --json.
        lines: the printed lines.
        title, rows: heading and rows of the summary for a workflow; no title for no summary.
    """

    code: int
    document: JsonObject
    lines: list[str]
    title: str = ""
    rows: Sequence[Sequence[str]] = ()


def run(options: argparse.Namespace) -> int:
    """Compare the run with the expectations.

    Return 0 without differences, else 1 after the reasons.
    """
    if options.yes and not options.update:
        raise UsageError(
            "--yes is given without --update, but without it nothing is written",
            remedy="Give --update as well, or leave out --yes.",
        )
    with Live(line="comparing the run with the reviewed expectations"):  # it ends before printing
        outcome = _updated(options) if options.update else _compared(options)
    tell(options, outcome.document, outcome.lines)
    if outcome.title:
        summarise(outcome.title, ("reason", "statement"), outcome.rows)
    return outcome.code


def _compared(options: argparse.Namespace) -> _Outcome:
    """Return the reasons for which a run is not as reviewed."""
    from attsvm.theory.gate.expectations import UNREVIEWED, of_others, read_expectations, read_rest
    from attsvm.theory.gate.gate import Rank, brief, hold
    from attsvm.theory.gate.scope import absent, checked_out, only_of
    from attsvm.theory.packs.checkout import key_of
    from attsvm.theory.record.runs import last_run

    ensure_apart(ledger=options.ledger, json=options.json, expect=options.expect)
    whole = recorded(options, last_run)
    packs, others = split_packs(options, whole)
    run = only_of(whole, packs, others)
    asked = _asked(options, packs, run)
    held = _held(options, asked, run)
    for place in held:
        ensure_apart(json=options.json, expect=place)
    expectations: dict[str, Expectation] = {}
    rest: dict[str, str] = {}
    alone: list[str] = []
    for place in held:
        _ensure_there(place, packs, options)
        read = read_expectations(place)
        _ensure_said_once(place, expectations.keys() & read.keys())
        theirs, unknown = of_others(place, read, asked)
        expectations |= {name: entry for name, entry in read.items() if name not in theirs}
        alone += _left_alone(place, [read[name].pack for name in theirs], unknown)
        keys = {key_of(pack) for pack in asked}
        rest |= {name: digest for name, digest in read_rest(place).items() if name in keys}
    names = set(expectations).union(*held.values())
    checkout = checked_out(packs, names, whole, others, Path(options.ledger))
    reasons = hold(
        run,
        expectations,
        datetime.date.today(),
        checkout,
        rest,
        profile=options.profile,
        seed=options.seed,
    )
    left_out = [p.name for p in packs if not options.expect and p.expectations not in held]
    message = f"{counted(len(run.verdicts), 'verdict')} as reviewed"
    message = f"gate: {counted(len(reasons), 'reason')} to stop" if reasons else f"gate: {message}"
    shown = [(str(r), checkout.place(r.about)) for r in brief(run, expectations, reasons)]
    lines = _report_lines(options, shown)
    missing = [n for n in absent(run, expectations) if run.finished]
    left = [p for p in asked if any(c.id in missing for c in p.claims)]
    lines += filter(None, [not_yours(options, left, "compares")])
    if any(r.rank > Rank.MISSING and UNREVIEWED not in str(r) for r in reasons):
        lines.append(f"if the claims are right as they are now, see `{_gate(options, '--update')}`")
    lines.append(message)
    lines += alone
    lines += (
        f"the run checked nothing of the installed pack {n}, nor was it held to it"
        for n in left_out
    )
    if reasons:
        run_anew = any(r.rank is not Rank.REVIEW for r in reasons)
        verify = f"{command(options, 'verify')} && " if run_anew else ""
        lines.append(f"repeat it: {verify}{_gate(options)}")
    return _Outcome(
        code=1 if reasons else 0,
        document={
            "passed": not reasons,
            "reasons": [str(r) for r in reasons],
            "left_out": left_out,
            "left_alone": alone,
        },
        lines=lines,
        title=f"attsvm {message}",
        rows=[(text, *(_where(place) or [""])) for text, place in shown],
    )


def _report_lines(
    options: argparse.Namespace, shown: Sequence[tuple[str, tuple[Path, int] | None]]
) -> list[str]:
    """Return one line per reason, for people or for the workflow that runs this command."""
    if not in_actions():
        return [_line(text, place) for text, place in shown]
    lines = [annotation(text, place) for text, place in shown]
    if options.json == "-":  # standard output holds the document alone
        print("\n".join(lines), file=sys.stderr)
    return lines


def _line(text: str, place: tuple[Path, int] | None) -> str:
    """Return a reason in one line, with the place of its statement."""
    return " ".join([*text.splitlines(), *(f"[{where}]" for where in _where(place))])


def _where(place: tuple[Path, int] | None) -> list[str]:
    return [] if place is None else [f"{within(place[0], Path.cwd())}:{place[1]}"]


def _held(
    options: argparse.Namespace, asked: tuple[Pack, ...], run: Run
) -> dict[Path, frozenset[str]]:
    """Return the expectations files to compare, each with the claims that it must list."""
    if options.expect:
        return {Path(options.expect): frozenset(run.claims)}
    held: dict[Path, frozenset[str]] = {}
    for pack in asked:  # files of one folder share their expectations
        ids = frozenset(c.id for c in pack.claims)
        held[pack.expectations] = held.get(pack.expectations, frozenset()) | ids
    return held


def _asked(options: argparse.Namespace, packs: tuple[Pack, ...], run: Run) -> tuple[Pack, ...]:
    """Return the packs that the run is held to."""
    from attsvm.theory.gate.scope import concerned

    return concerned(packs, [] if options.only_pack else options.pack, run)


_UNKNOWN = (
    "it does not name its pack, and another file of the folder may have the claim: "
    "`attsvm gate --only-pack FILE --update --yes` for that file assigns it, or remove the "
    "entry by hand"
)


def _left_alone(place: Path, packs: Sequence[str], unknown: Collection[str]) -> list[str]:
    """Return remarks on the entries of a file that belong, or may belong, to other packs.

    Args:
        place: the file.
        packs: for each entry of another pack, the file of that pack.
        unknown: claims whose pack is unknown.
    """
    lines = [f"{name}: {_UNKNOWN}" for name in sorted(unknown)]
    if not packs:
        return lines
    entries = "1 entry" if len(packs) == 1 else f"{len(packs)} entries"
    files = ", ".join(sorted(set(packs)))
    return [f"left alone in {within(place, Path.cwd())}: {entries} of {files}", *lines]


def _ensure_said_once(place: Path, twice: Collection[str]) -> None:
    if twice:
        raise FileError(
            f"{place} has an expectation of a claim that another file has as well",
            value=min(twice),
            remedy="Keep it only in the file beside the pack that has the claim.",
        )


def _gate(options: argparse.Namespace, *more: str) -> str:
    """Return this gate as a command to paste, with more options."""
    expect = ["--expect", options.expect] if options.expect else []
    return command(options, "gate", *expect, *more)


def _ensure_there(place: Path, packs: tuple[Pack, ...], options: argparse.Namespace) -> None:
    for pack in packs:
        if pack.expectations == place and not place.is_file():
            raise UsageError(
                f"pack {pack.name} has no expectations.json beside it",
                remedy=f"`{_gate(options, '--update', '--yes')}` writes one, or name it "
                "(--expect).",
            )


def _updated(options: argparse.Namespace) -> _Outcome:
    """Return the changes by which the expectations would fit the claims; --yes writes them.

    The exit code is 1 if there are changes that were not written.
    """
    from attsvm._files import read_json, write_text
    from attsvm.theory.gate.expectations import of_others, owners_of, read_expectations
    from attsvm.theory.gate.renewal import by_hand, renewed, spelt
    from attsvm.theory.gate.scope import checked_out
    from attsvm.theory.packs.checkout import key_of
    from attsvm.theory.record.runs import Run, last_run

    try:
        run = last_run(options.ledger)
    except LedgerError:  # then the number of instances is unknown
        run = Run("", 0, (), {}, False, 0)
    packs, others = split_packs(options, run)
    changes: list[str] = []
    files: list[str] = []
    alone: list[str] = []
    differ: list[str] = []
    asked = _asked(options, packs, run)
    for place, ids in _held(options, asked, run).items():
        ensure_apart(ledger=options.ledger, json=options.json, expect=place)
        old = {"schema": 1, "claims": {}}
        read: dict[str, Expectation] = {}
        left: frozenset[str] = frozenset()
        if place.is_file():
            read = read_expectations(place)
            theirs, unknown = of_others(place, read, asked)
            left = theirs | unknown
            ids |= set(read) - left
            old = read_json(place)
            alone += _left_alone(place, [read[name].pack for name in theirs], unknown)
        checkout = checked_out(packs, ids, run, others)
        own = [pack for pack in asked if pack.expectations == place.resolve()]
        owners = owners_of(map(checkout.claims.__getitem__, checkout.reviewed), own, read)
        keys = [key_of(pack) for pack in asked if any(c.id in ids for c in pack.claims)]
        new, lines = renewed(old, checkout, run, owners, left, keys)
        changes += lines
        own_entries = {name: entry for name, entry in read.items() if name not in left}
        differ += by_hand(own_entries, checkout, within(place, Path.cwd()))
        if lines and options.yes:
            write_text(place, spelt(new))
            files.append(within(place, Path.cwd()))
    text = f"gate: {counted(len(changes), 'change')}"
    if not changes:
        text = "gate: nothing to write" if differ else "gate: the expectations are up to date"
    elif not files:
        text += f"; `{_gate(options, '--update', '--yes')}` writes them down"
    else:
        text += f" written to {', '.join(files)}"
    if differ:
        text += f"; {counted(len(differ), 'verdict')} to edit by hand"
    shown = [*(_line(change, None) for change in (*changes, *differ)), *alone, text]
    return _Outcome(
        code=1 if changes and not options.yes else 0,
        document={
            "changes": changes,
            "written": bool(files),
            "left_alone": alone,
            "by_hand": differ,
        },
        lines=shown,
    )
