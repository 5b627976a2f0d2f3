"""A statement on one screen of a terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap

from attsvm.theory.report.statement_view import ReadingView, StatementView, definitions, meanings

SCREEN = 50
"""Lines of one screen; what a statement has beyond them is left out of it."""


def screen(view: StatementView, *, whole: bool = False, asked: str = "") -> Iterator[str]:
    """The lines that `attsvm show` prints, as wide as the terminal.

    What does not fit one screen is left out, the least telling first, unless the `whole` is wanted:
    a sentence is there from its first word to its last or not at all. The reading that is `asked`
    for is there with all that it has.
    """
    lines = [*_head(view), *_every_reading(view), *_foot(view)]
    if not whole and len(lines) > SCREEN:
        parts: set[str] = set()
        for part in _by_weight(view):
            if len(list(_folded(view, {*parts, part}, asked))) <= SCREEN:
                parts.add(part)
        lines = list(_folded(view, parts, asked))
    yield from lines


def _by_weight(view: StatementView) -> Iterator[str]:
    """The parts of a statement that a screen may leave out, the most telling first.

    Those of a reading are its name, and `fails at` with its name.
    """
    readings = _in_order(view)
    stands = view.stands()
    refuted = [r.name for r in readings if r.counterexample]
    yield readings[0].name
    yield from (part for name in refuted[:1] for part in (name, f"fails at {name}"))
    yield from ("repair", "runs", "if")
    yield from stands
    yield from (r.name for r in readings if r.name.startswith("literal"))
    yield "fails"
    yield from (r.name for r in readings if r.name not in stands)
    yield "where"
    yield from (f"fails at {name}" for name in refuted[1:])
    yield from ("rests on", "what rests on it")


def _head(view: StatementView, parts: Collection[str] = ("fails", "repair")) -> Iterator[str]:
    """What is printed, what fell and why, and the repair."""
    yield from _wrapped(f"{view.id}  ({view.source}, {view.place}; {_places(view)})")
    yield from _wrapped(view.printed and f"{view.origin}: {view.printed}")
    if fell := view.fell():
        yield ""
        yield from _wrapped(f"what fell: {fell}")
    if view.erratum:
        yield from _wrapped(f"found: {view.erratum['found']} This {view.erratum['weight']}.")
        for part in ("fails", "repair"):
            if part in parts and part in view.erratum:
                yield from _wrapped(f"{part}: {view.erratum[part]}")


def _every_reading(view: StatementView) -> Iterator[str]:
    """Every reading with all that it has, and what the names in them stand for."""
    formula = ""
    for reading in _in_order(view):
        yield ""
        yield from _reading(reading, formula)
        formula = reading.formula.conclusion.plain
    told = [f"{name}: {meaning}" for name, meaning in meanings(view.readings).items()]
    yield from _block("where", (*definitions(view.readings), *told))


def _reading(reading: ReadingView, before: str = "") -> Iterator[str]:
    """A reading with all that it has; its formula where it is another than that `before`."""
    yield f"{reading.name}: {reading.expected}"
    yield from _wrapped(reading.says, "  ")
    if reading.formula.conclusion.plain != before:
        yield from _wrapped(f"runs: {reading.formula.conclusion.plain}", "  ")
    yield from _wrapped("; ".join(reading.formula.hypotheses), "  ", "if: ")
    yield from _wrapped(reading.counterexample, "  ", "fails at: ")
    yield from _wrapped(reading.smallest, "  ", "smallest known: ")
    yield from _wrapped("; ".join(reading.siblings), "  ", "siblings, which have to fall: ")


def _folded(view: StatementView, parts: Collection[str], asked: str) -> Iterator[str]:
    """The statement with these parts alone, and how the rest is seen."""
    readings = _in_order(view)
    yield from _head(view, parts)
    first = readings[0].formula
    named = [readings[0], *(r for r in readings[1:] if r.name == asked)]
    for part, words in (
        ("runs", first.conclusion.plain),
        ("if", "; ".join(first.hypotheses)),
        ("where", "; ".join(definitions(named))),
    ):
        if part in parts:
            yield from ("",) if part == "runs" else ()
            yield from _wrapped(words, lead=f"{part}: ")
    yield ""
    for reading in readings:
        if reading.name == asked:
            yield from _reading(reading)
        elif reading.name in parts:
            yield from _wrapped(f"{reading.name} ({reading.expected}): {reading.says}")
            if f"fails at {reading.name}" in parts:
                yield from _wrapped(reading.counterexample, "  ", "fails at: ")
    others = [r for r in readings if r.name != asked and r.name not in parts]
    yield from _wrapped(
        "; ".join(f"{r.name} ({r.expected})" for r in others), lead="further readings: "
    )
    yield from _foot(view, parts, _FEW)
    yield ""
    yield f"folded to one screen; all of it: attsvm show --all {view.id}"


_FEW = 6
"""A screen names so many of the statements that rest on one."""


def _foot(
    view: StatementView,
    parts: Collection[str] = ("rests on", "what rests on it"),
    most: int | None = None,
) -> Iterator[str]:
    """Where the counterexamples lie, and what rests on what."""
    yield from _block("counterexamples", _commands(view), "; ")
    for part, names in (("rests on", view.rests_on), ("what rests on it", view.carries)):
        if part in parts:
            more = f" and {len(names) - most} more" if most and len(names) > most else ""
            yield from _block(part, (f"{', '.join(names[:most])}{more}",))


def _in_order(view: StatementView) -> Sequence[ReadingView]:
    """The readings, literal ones first."""
    return sorted(view.readings, key=lambda r: not r.name.startswith("literal"))


def _places(view: StatementView) -> str:
    return ", ".join(dict.fromkeys(_place(r.file, r.line) for r in view.readings))


def _place(file: str, line: int) -> str:
    """Where a reading is declared; the file of a notebook's cell is a name without a file."""
    return f"{_near(file)}:{line}" if Path(file).is_file() else f"typed, line {line}"


def _commands(view: StatementView) -> Iterator[str]:
    """Where the smallest counterexamples lie, and how those on the screen are printed as code."""
    stored = [r for r in view.readings if r.stored]
    if stored:
        first = _below(stored[0].stored)
        yield f"stored in {first if len(stored) == 1 else first.rpartition('/')[0]}"
        yield f"in numpy alone: attsvm show --script {view.id}"
    if rational := [r.name for r in stored if r.rational]:
        yield f"in Python's fractions ({', '.join(rational)}): attsvm show --verifier {view.id}"


def _wrapped(text: str | None, indent: str = "", lead: str = "") -> Iterator[str]:
    """A paragraph in lines that fit the terminal; nothing for no text."""
    if text:
        yield from wrap(
            lead + text,
            max(40, min(100, get_terminal_size().columns)),
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
