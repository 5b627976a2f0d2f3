"""`attsvm show` prints one statement: its sentence, the formula that runs, its readings."""

from __future__ import annotations

import argparse
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap
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
    from attsvm.theory.report.statement_view import definitions, meanings

    places = ", ".join(dict.fromkeys(f"{_near(r.file)}:{r.line}" for r in view.readings))
    yield from _wrapped(f"{view.id}  ({view.source}, {view.place}; {places})")
    yield from _wrapped(view.printed and f"printed: {view.printed}")
    if view.erratum:
        yield ""
        yield from _wrapped(f"found: {view.erratum['found']} This {view.erratum['weight']}.")
        for word in ("fails", "repair"):
            yield from _wrapped(f"{word}: {view.erratum[word]}")
    formula = ""
    for reading in sorted(view.readings, key=lambda r: not r.name.startswith("literal")):
        yield ""
        yield f"{reading.name}: {reading.expected}"
        yield from _wrapped(reading.says, "  ")
        if reading.formula.conclusion.plain != formula:
            formula = reading.formula.conclusion.plain
            yield from _wrapped(f"runs: {formula}", "  ")
        yield from _wrapped("; ".join(reading.formula.hypotheses), "  ", "if: ")
        telling = view.erratum.get(f"telling {reading.name}", reading.counterexample)
        yield from _wrapped(telling, "  ", "fails at: ")
    told = [f"{name}: {meaning}" for name, meaning in meanings(view.readings).items()]
    yield from _block("where", (*definitions(view.readings), *told))
    yield from _block("rests on", view.rests_on, ", ")
    yield from _block("what rests on it", view.carries, ", ")


def _wrapped(text: str | None, indent: str = "", lead: str = "") -> Iterator[str]:
    """A paragraph in lines that fit the terminal; nothing for no text."""
    if text:
        width = max(40, min(100, get_terminal_size().columns))
        yield from wrap(
            lead + text,
            width,
            initial_indent=indent,
            subsequent_indent=indent + "  ",
            break_long_words=False,
            break_on_hyphens=False,
        )


def _block(title: str, words: Iterable[str], between: str = "; ") -> Iterator[str]:
    """A paragraph after an empty line; nothing where there are no words."""
    if joined := between.join(words):
        yield ""
        yield from _wrapped(f"{title}: {joined}")


def _near(file: str) -> str:
    """A path from the current folder on, where the file lies below it."""
    path, here = Path(file), Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
