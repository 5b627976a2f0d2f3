"""`attsvm show` prints one statement: its sentence, the formula that runs, its readings."""

from __future__ import annotations

import argparse

from attsvm.cli.arguments import Parsers, tell


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = parsers.add("show", parsers.packs, help="print one statement with its readings")
    parser.add_argument("id", metavar="ID", help="statement, or a claim of it")
    parser.add_argument("--latex", action="store_true", help="print the formulas as LaTeX")


def run(options: argparse.Namespace) -> int:
    """Print it; 0."""
    from attsvm.theory.declaration.packs import find_claims, load_packs
    from attsvm.theory.report.errata import find_source
    from attsvm.theory.report.statement_screen import screen
    from attsvm.theory.report.statement_view import formula_lines, statement_of, statement_view

    packs = load_packs(options.pack)
    statement = statement_of(find_claims(packs, [options.id]), options.id)
    every = find_claims(packs)
    claims = [c for c in every if c.statement_id == statement]
    source = find_source(packs, statement.partition("/")[0])
    view = statement_view(claims, source.names, every, source.erratum(statement))
    lines = formula_lines(view.readings, latex=True) if options.latex else screen(view)
    tell(options, view.json(), lines)
    return 0
