"""`attsvm gate` holds a run against the reviewed expectations."""

from __future__ import annotations

import argparse
import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from attsvm._words import counted
from attsvm.cli.arguments import LEDGER, Parsers, tell
from attsvm.errors import LedgerError, UsageError

if TYPE_CHECKING:
    from attsvm.theory.declaration.packs import Pack
    from attsvm.theory.record.gate import Expectation
    from attsvm.theory.record.ledger import Run

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
    parser.add_argument(
        "--profile", default="quick", help="what the run has to be of (default quick)"
    )
    parser.add_argument("--seed", type=int, default=0, help="what the run has to be of (default 0)")
    parser.add_argument(
        "--update",
        action="store_true",
        help="show how the expectations differ from the claims as they are now",
    )
    parser.add_argument("--yes", action="store_true", help="with --update: write it down")


def run(options: argparse.Namespace) -> int:
    """Hold; 0 where nothing differs, 1 with a reason a line."""
    from attsvm.theory.declaration.packs import load_packs
    from attsvm.theory.record.gate import brief, checked_out, hold, read_expectations
    from attsvm.theory.record.ledger import last_run

    if options.update:
        return _update(options)
    if options.yes:
        raise UsageError("--yes goes with --update", remedy="Nothing else is written.")
    run = last_run(options.ledger)
    packs = load_packs(options.pack)
    held = _held(options, packs, run)
    expectations: dict[str, Expectation] = {}
    for place in held:
        _ensure_there(place, packs)
        expectations.update(read_expectations(place))
    checkout = checked_out(packs, set(expectations).union(*held.values()), run)
    reasons = hold(
        run,
        expectations,
        datetime.date.today(),
        checkout,
        profile=options.profile,
        seed=options.seed,
    )
    left_out = [p.name for p in packs if not options.expect and p.expectations not in held]
    passed = f"gate: {counted(len(run.verdicts), 'verdict')} as reviewed"
    lines = [
        *brief(run, expectations, reasons, checkout),
        f"gate: {counted(len(reasons), 'reason')} to stop" if reasons else passed,
        *(
            f"the run checked nothing of the installed pack {n}, nor was it held to it"
            for n in left_out
        ),
    ]
    document = {"passed": not reasons, "reasons": [str(r) for r in reasons]}
    tell(options, {**document, "left_out": left_out}, lines)
    return 1 if reasons else 0


def _held(
    options: argparse.Namespace, packs: tuple[Pack, ...], run: Run
) -> dict[Path, frozenset[str]]:
    """The expectations files that count, each with the claims that it has to speak of."""
    from attsvm.theory.record.gate import concerned

    if options.expect:
        return {Path(options.expect): frozenset(run.claims)}
    return {
        pack.expectations: frozenset(c.id for c in pack.claims)
        for pack in concerned(packs, options.pack, run)
    }


def _ensure_there(place: Path, packs: tuple[Pack, ...]) -> None:
    for pack in packs:
        if pack.expectations == place and not place.is_file():
            raise UsageError(
                f"pack {pack.name} has no expectations.json beside it",
                remedy="`attsvm gate --update --yes` writes one, or name it (--expect).",
            )


def _update(options: argparse.Namespace) -> int:
    """Show, or with --yes write, what differs; 1 where something does and was not written."""
    from attsvm.theory.declaration.packs import load_packs
    from attsvm.theory.record.files import read_json, write_text
    from attsvm.theory.record.gate import checked_out, read_expectations, renewed, spelt
    from attsvm.theory.record.ledger import Run, last_run

    try:
        run = last_run(options.ledger)
    except LedgerError:  # then nothing is known of instances
        run = Run("", 0, (), {}, False, 0)
    packs = load_packs(options.pack)
    changes: list[str] = []
    for place, ids in _held(options, packs, run).items():
        old = {"schema": 1, "claims": {}}
        if place.is_file():
            ids |= set(read_expectations(place))
            old = read_json(place)
        new, lines = renewed(old, checked_out(packs, ids, run), run)
        changes += lines
        if lines and options.yes:
            write_text(place, spelt(new))
    written = bool(options.yes and changes)
    said = f"gate: {counted(len(changes), 'change')}"
    if not changes:
        said = "gate: the expectations are up to date"
    elif not written:
        said += "; --yes writes them down"
    else:
        said += " written"
    tell(options, {"changes": changes, "written": written}, [*changes, said])
    return 1 if changes and not options.yes else 0
