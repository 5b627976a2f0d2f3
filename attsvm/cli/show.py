"""`attsvm show` prints one statement: its sentence, the formula that runs, its readings."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, TypeVar

from attsvm.cli.arguments import Parsers, command, tell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from attsvm.theory.declaration.claim import Claim
    from attsvm.theory.packs.packs import Pack
    from attsvm.theory.report.errata import Erratum


_T = TypeVar("_T")
_SMALLEST = "# Of the smallest counterexample known; the one on the screen has none."


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = parsers.add(
        "show", parsers.packs, parsers.only, help="print one statement with its readings"
    )
    parser.add_argument("id", metavar="ID", help="statement, or a claim of it")
    parser.add_argument(
        "--all", action="store_true", help="print all of it, also what one screen has no room for"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--latex", action="store_true", help="print the formulas as LaTeX")
    form.add_argument(
        "--script",
        action="store_true",
        help="print the stored counterexamples as scripts that need numpy alone",
    )
    form.add_argument(
        "--verifier",
        action="store_true",
        help="print those that are rational as verifiers that need Python alone",
    )


def run(options: argparse.Namespace) -> int:
    """Print it; 0."""
    from attsvm.theory.packs.packs import find_claims, load_packs
    from attsvm.theory.report.errata import find_source
    from attsvm.theory.report.statement_screen import screen
    from attsvm.theory.report.statement_view import formula_lines, statement_of, statement_view

    ids = [] if options.script else [options.id]  # any module of a pack may write scripts
    packs = load_packs(options.pack, options.only_pack, ids, dependents=True)
    statement = statement_of(find_claims(packs, [options.id]), options.id)
    every = find_claims(packs)
    claims = [c for c in every if c.statement_id == statement]
    source = find_source(packs, statement.partition("/")[0])
    view = statement_view(claims, source.names, every, source.erratum(statement))
    if options.script or options.verifier:
        asked = [c for c in claims if options.id in (c.id, statement)] or claims
        shown = _shown(asked, source.erratum(statement))
        scripts = _scripts(shown, packs, options) if options.script else _verifiers(shown, options)
        tell(options, view.json(), scripts)
        return 0
    if options.latex:
        lines: Iterable[str] = formula_lines(view.readings, latex=True)
    else:
        lines = screen(view, whole=options.all, asked=options.id.partition(":")[2])
    tell(options, view.json(), lines)
    return 0


def _shown(claims: Iterable[Claim], words: Erratum | None) -> Iterator[tuple[Claim, Sequence[Any]]]:
    """Each reading with its counterexamples: the one on the screen, the smallest one known."""
    from attsvm.theory.declaration.verdict import Truth
    from attsvm.theory.record import curated
    from attsvm.theory.report.errata import to_show

    for claim in claims:
        known = curated.known(claim) if claim.expected.truth is Truth.REFUTED else ()
        yield claim, to_show(words, claim, known)


def _scripts(
    shown: Iterable[tuple[Claim, Sequence[Any]]], packs: Iterable[Pack], options: argparse.Namespace
) -> Iterator[str]:
    """Yield the script of each refuted reading, or why it has none."""
    from attsvm.theory.report.script import script, writers

    own = writers(packs)
    for claim, cases in shown:
        k, found = _first(script(claim, case, own) for case in cases)
        if not cases:
            yield _none(claim, options)
        elif found is None:
            yield f"# {claim.id}: no short script; the one in its file needs attsvm"
        else:
            if k:
                yield _SMALLEST
            if not found.shows:
                yield "# The two sides differ by less than floats tell; exact arithmetic decides."
            yield found.text.rstrip()


def _verifiers(
    shown: Iterable[tuple[Claim, Sequence[Any]]], options: argparse.Namespace
) -> Iterator[str]:
    """Yield the verifier of each refuted reading, or why it has none."""
    from attsvm.theory.report.script import verifier

    for claim, cases in shown:
        k, found = _first(verifier(claim, case) for case in cases)
        if not cases:
            yield _none(claim, options)
        elif found is None:
            yield f"# {claim.id}: no verifier, it takes irrational numbers or a run"
        else:
            if k:
                yield _SMALLEST
            yield found.rstrip()


def _none(claim: Claim, options: argparse.Namespace) -> str:
    """Return a line for a reading without a stored counterexample, and how to get one."""
    from attsvm.theory.declaration.verdict import Truth

    if claim.expected.truth is not Truth.REFUTED:
        return f"# {claim.id} is expected to stand and has no stored counterexample"
    return (
        f"# {claim.id} has no stored counterexample: copy the file that "
        f"`{command(options, 'hunt', claim.id)}` writes into a folder `counterexamples` beside the "
        "claim"
    )


def _first(made: Iterable[_T | None]) -> tuple[int, _T | None]:
    """Return the first that is not None, with its place."""
    return next(((k, one) for k, one in enumerate(made) if one is not None), (0, None))
