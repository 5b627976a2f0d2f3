"""The command `attsvm hunt` searches for a counterexample to one claim."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from attsvm._files import ensure_writable
from attsvm.cli.arguments import (
    Parsers,
    command,
    load_alone,
    needed,
    positive_integer,
    say,
    seconds,
    tell,
)
from attsvm.cli.running import crew, ensure_apart, ensure_json, keep_from_git
from attsvm.errors import FileError, UsageError

if TYPE_CHECKING:
    from attsvm._types import JsonObject
    from attsvm.theory.run.workers import Workers
    from attsvm.theory.search.account import Hunt

HUNTED = ".attsvm/hunted"

_LISTED = 8
"""Maximum number of ids in a message."""

_QUIET = 30.0
"""Seconds between progress messages if standard error is not a terminal."""


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = parsers.add(
        "hunt",
        parsers.packs,
        parsers.only,
        parsers.run,
        help="search for a counterexample to one claim",
    )
    parser.add_argument("id", metavar="ID", help="the claim")
    parser.add_argument(
        "--seconds",
        type=seconds,
        help="time limit of the search in seconds of wall time (default 60)",
    )
    parser.add_argument(
        "--rounds",
        type=positive_integer,
        help="number of rounds; without --seconds the result is the same for any -n",
    )
    parser.add_argument(
        "--sibling", default="", metavar="NAME", help="hunt this sibling of the claim instead"
    )
    parser.add_argument(
        "--searchers", metavar="A,B,...", help="searchers to use (default: all that fit the claim)"
    )
    parser.add_argument(
        "--fresh",
        action="store_true",
        help="ignore the claim's explicit instances and stored counterexample",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        default=HUNTED,
        help=f"folder for counterexamples, each with a Python script and LaTeX (default {HUNTED})",
    )


def run(options: argparse.Namespace) -> int:
    """Hunt, and report the result however the hunt ends."""
    options.account, options.stored, options.told = None, {}, False
    options.unstored = None
    load_alone(options)
    try:
        with crew(options) as others:
            return _hunt(others, options)
    except KeyboardInterrupt:
        if not options.told:
            _tell_of_interruption(options)
        return 1 if options.stored else 130


_STORED = {"counterexample": "smallest", "worst": "worst"}
"""The name in the document of each file that a hunt stores."""


def _tell_of_interruption(options: argparse.Namespace) -> None:
    """Report the account of a hunt that was interrupted outside its search."""
    from attsvm.theory.report.hunt_text import hunt_text

    account = options.account
    if account is None:  # the interruption came before the claim was loaded
        document: JsonObject = {"schema": 1, "claim": options.id, "found": False}
        document |= {"rounds": 0, "examined": 0, "rejected": 0, "error": None}
        document |= {"sibling": options.sibling or None, "interrupted": True}
        document |= dict.fromkeys(_STORED)
        tell(options, document, [f"interrupted before any instance was examined: {options.id}"])
        return
    account.interrupted = True
    if account.smallest is not None:
        _store(options, account)
    document = account.json() | {"kept": False, "unfinished": account.unfinished(None)}
    document |= {name: options.stored.get(file) for name, file in _STORED.items()}
    tell(options, document, list(hunt_text(document, command(options, "replay"))))
    if options.unstored is not None:
        raise options.unstored


def _store(options: argparse.Namespace, account: Hunt) -> None:
    """Store the counterexample; keep an error in `options.unstored` for the end.

    The result is thus reported even if it cannot be stored.
    """
    from attsvm.theory.search.account import store

    try:
        options.stored.update(store(Path(options.out), account))
    except FileError as error:
        options.unstored = error


def _searchers(text: str | None) -> list[str] | None:
    """Return the names of the requested searchers; None if none are named.

    Raises:
        UsageError: a name is unknown, or no searcher draws instances.
    """
    if text is None:
        return None
    chosen = [word.strip() for word in text.split(",")]
    if not all(chosen):
        raise UsageError(
            "a name of a searcher is empty", value=repr(text), remedy="Name some, or leave it out."
        )
    from attsvm.theory.search import DRAWING, GUIDED

    strange = [name for name in chosen if name not in (*DRAWING, *GUIDED)]
    if strange:
        raise UsageError(
            "there is no searcher of that name",
            value=", ".join(strange),
            remedy=f"There are: {', '.join((*DRAWING, *GUIDED))}.",
        )
    if not set(DRAWING) & set(chosen):
        raise UsageError(
            "guided searchers start from instances that others draw",
            value=text,
            remedy="Add drawn.",
        )
    return chosen


def _hunt(crew: Workers, options: argparse.Namespace) -> int:
    """Hunt; return 1 if a counterexample is found, 0 if not, 130 if interrupted without one."""
    from attsvm._live import Live
    from attsvm.theory.declaration.verdict import Truth
    from attsvm.theory.packs.packs import find_claims, load_packs
    from attsvm.theory.record import counterexample
    from attsvm.theory.record.curated import file_name
    from attsvm.theory.report.hunt_text import hunt_line, hunt_text
    from attsvm.theory.search.account import Hunt
    from attsvm.theory.search.hunt import hunt

    chosen = _searchers(options.searchers)
    folder = Path(options.out)
    ensure_writable(folder, "--out")
    ensure_json(options.json)
    # with --only-pack, `load_alone` has put that among the packs that are named
    packs = load_packs(
        [] if options.only_pack else options.pack,
        options.pack if options.only_pack else [],
        needed(options),
    )
    claims = find_claims(packs, [options.id])
    if len(claims) != 1:
        raise UsageError(
            "a hunt is for one claim",
            value=options.id,
            remedy=f"Choose among {', '.join(c.id for c in claims)}."
            if len(claims) <= _LISTED
            else f"It names {len(claims)}: `{command(options, 'claims', options.id)}` lists them.",
        )
    claim = claims[0]
    claim.part(options.sibling)
    ensure_apart(json=options.json, out=folder / file_name(claim.id, options.sibling))
    options.account = Hunt(claim, options.sibling)
    if claim.expected.truth is Truth.PROVED and not options.sibling:
        say(
            f"attsvm: {claim.id} is expected to be proved; "
            f"`{command(options, 'verify', claim.id)}` executes the proof, and a hunt can only "
            "question it",
            file=sys.stderr,
        )
    stored: dict[str, str] = options.stored
    seconds = None if options.rounds and options.seconds is None else options.seconds or 60.0
    started = time.monotonic()
    with Live(_QUIET, line=f"hunting {claim.id}") as live:

        def progress(account: Hunt) -> None:
            options.account = account
            if options.stopped:
                raise KeyboardInterrupt
            if account.smallest is not None and not stored:
                _store(options, account)
            live.update(lambda: hunt_line(account, time.monotonic() - started, seconds))

        result = hunt(
            claim,
            part=options.sibling,
            seconds=seconds,
            rounds=options.rounds,
            seed=options.seed,
            crew=crew,
            searchers=chosen,
            known=not options.fresh,
            named=options.pack,
            progress=progress,
        )
    options.account = result
    if result.idle:
        raise UsageError(
            f"the hunt of {claim.id} ended before it looked at an instance",
            value=None if options.seconds is None else f"--seconds {options.seconds:g}",
            remedy="Give more seconds; if searchers are named, name one that draws.",
        )
    document = result.json()
    shown: list[str] = []
    kept: list[str] = []
    document["kept"] = False
    if result.smallest is None and result.closest is not None:
        shown = counterexample.in_python(claim, options.sibling, result.closest.document)
    if result.smallest is not None:
        _store(options, result)
        shown = counterexample.shown(claim, options.sibling, result.smallest)
        if options.unstored is None:
            keep_from_git(folder)
            there = counterexample.read(stored["smallest"])
            document["kept"] = there["instance"] != result.smallest.instance
        if document["kept"]:
            kept = counterexample.standing(stored["smallest"], claim, options.sibling)
    document["unfinished"] = result.unfinished(seconds)
    if result.smallest is None:  # the stored counterexample was withdrawn
        stored.clear()
    document |= {name: stored.get(file) for name, file in _STORED.items()}
    lines = list(hunt_text(document, command(options, "replay"), shown, kept))
    earlier = folder / file_name(claim.id, options.sibling)
    if result.smallest is None and earlier.is_file():
        again = command(options, "replay", str(earlier))
        lines.append(f"an earlier find is in {earlier}: {again}")
    tell(options, document, lines)
    options.told = True
    if options.unstored is not None:
        raise options.unstored
    if result.error is not None:
        say(f"attsvm: the hunt of {claim.id} broke: {result.error}", file=sys.stderr)
    if result.smallest is not None:
        return 1
    if result.interrupted:
        return 130
    return 3 if result.error is not None else 0
