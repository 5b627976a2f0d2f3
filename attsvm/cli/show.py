"""`attsvm show` prints one statement: its sentence, the formula that runs, its readings."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from attsvm.cli.arguments import Parsers, tell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from attsvm.theory.report.statement_view import StatementView


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = parsers.add("show", parsers.packs, help="print one statement with its readings")
    parser.add_argument("id", metavar="ID", help="statement, or a claim of it")
    parser.add_argument("--latex", action="store_true", help="print the formulas as LaTeX")


def run(options: argparse.Namespace) -> int:
    """Print it; 0."""
    from attsvm.theory.declaration.packs import find_claims, load_packs
    from attsvm.theory.report.errata import find_source
    from attsvm.theory.report.statement_view import formula_lines, statement_of, statement_view

    packs = load_packs(options.pack)
    statement = statement_of(find_claims(packs, [options.id]), options.id)
    every = find_claims(packs)
    claims = [c for c in every if c.statement_id == statement]
    source = find_source(packs, statement.partition("/")[0])
    view = statement_view(claims, source.names, every, source.erratum(statement))
    lines = formula_lines(view.readings, latex=True) if options.latex else _screen(view)
    tell(options, view.json(), lines)
    return 0


def _screen(view: StatementView) -> Iterator[str]:
    from attsvm.theory.report.statement_view import formula_lines
    from attsvm.theory.report.terminal import aligned

    yield view.id
    yield f"{view.source}, {view.place}"
    if view.printed:
        yield from _block("printed", [view.printed])
    yield from _block("runs", formula_lines(view.readings))
    rows = [(r.name, r.expected, "; ".join(r.differs)) for r in view.readings]
    yield from _block("readings", aligned([("reading", "expected", "differs in"), *rows]))
    yield from _block("in words", aligned([(r.name, r.says) for r in view.readings]))
    found = [(r.name, r.counterexample) for r in view.readings if r.counterexample]
    yield from _block("counterexamples", aligned(found))
    yield from _block("erratum", aligned(list(view.erratum.items())))
    yield from _block("rests on", [", ".join(view.rests_on)] if view.rests_on else [])
    yield from _block("what rests on it", [", ".join(view.carries)] if view.carries else [])
    yield ""
    places = dict.fromkeys(f"{_near(r.file)}:{r.line}" for r in view.readings)
    yield f"declared in {', '.join(places)}"


def _near(file: str) -> str:
    """A path from the current folder on, where the file lies below it."""
    path, here = Path(file), Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _block(title: str, lines: Iterable[str]) -> Iterator[str]:
    """A title with lines under it; nothing where there are none."""
    found = list(lines)
    if found:
        yield ""
        yield title
        yield from (f"  {line}" for line in found)
