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
        telling = view.erratum.get(f"telling {reading.name}", reading.counterexample)
        yield from _wrapped(telling, "  ", "fails at: ")
        if reading.counterexample:
            yield from _wrapped(_below(reading.stored), "  ", "stored in: ")
            yield f"  as a script: attsvm show --script {view.id}:{reading.name}"
            if reading.rational:
                yield f"  in fractions: attsvm show --verifier {view.id}:{reading.name}"
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


def _below(file: str | None) -> str:
    """A stored counterexample, by its folder and name alone where it lies elsewhere."""
    near = _near(file or "")
    path = Path(near)
    return f"{path.parent.name}/{path.name} beside the claims" if path.is_absolute() else near
