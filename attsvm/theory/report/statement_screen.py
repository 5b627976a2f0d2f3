"""A statement on one screen of a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap

from attsvm.theory.report.statement_view import StatementView, definitions, meanings


def screen(view: StatementView) -> Iterator[str]:
    """The lines that `attsvm show` prints, as wide as the terminal."""
    places = ", ".join(dict.fromkeys(f"{_near(r.file)}:{r.line}" for r in view.readings))
    yield from _wrapped(f"{view.id}  ({view.source}, {view.place}; {places})")
    yield from _wrapped(view.printed and f"{view.origin}: {view.printed}")
    if fell := view.fell():
        yield ""
        yield from _wrapped(f"what fell: {fell}")
    if view.erratum:
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
        yield from _wrapped(reading.counterexample, "  ", "fails at: ")
        yield from _wrapped(reading.smallest, "  ", "smallest known: ")
    told = [f"{name}: {meaning}" for name, meaning in meanings(view.readings).items()]
    yield from _block("where", (*definitions(view.readings), *told))
    yield from _block("counterexamples", _commands(view), "; ")
    yield from _block("rests on", view.rests_on, ", ")
    yield from _block("what rests on it", view.carries, ", ")


def _commands(view: StatementView) -> Iterator[str]:
    """Where the smallest counterexamples lie, and how those on the screen are printed as code."""
    stored = [r for r in view.readings if r.stored]
    if stored:
        first = _below(stored[0].stored)
        where = first if len(stored) == 1 else first.rpartition("/")[0]
        yield f"the smallest ones known are stored in {where}"
        yield f"as scripts that need numpy alone: attsvm show --script {view.id}"
    if rational := [r.name for r in stored if r.rational]:
        yield f"in Python's fractions ({', '.join(rational)}): attsvm show --verifier {view.id}"


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


def _below(file: str | None) -> str:
    """A stored counterexample, by its folder and name alone where it lies elsewhere."""
    path = Path(_near(file or ""))
    return f"{path.parent.name}/{path.name}" if path.is_absolute() else str(path)
