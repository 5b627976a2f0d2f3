"""A statement on one screen of a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap

from attsvm.theory.report.statement_view import ReadingView, StatementView, definitions, meanings

SCREEN = 50
"""Lines of one screen; what a statement has beyond them is folded."""


@dataclass(frozen=True, slots=True)
class _Fold:
    """How much of a statement is left on the screen.

    Attributes:
        paragraph: the most lines of what is printed, what was found, and the repair.
        fails: the most lines on why it fails.
        sentence: the most lines of a reading's sentence.
        instances: of how many refuted readings the counterexample is shown.
        rests: whether it says what rests on what.
    """

    paragraph: int
    fails: int
    sentence: int
    instances: int
    rests: bool


_FOLDS = [
    _Fold(paragraph, fails, sentence, instances, rests)
    for paragraph, fails, sentence, instances, rests in (
        (9, 9, 4, 9, True), (6, 6, 4, 3, True), (6, 4, 3, 3, True), (5, 3, 3, 1, True),
        (5, 3, 3, 1, False), (4, 2, 3, 1, False), (4, 2, 2, 1, False), (4, 0, 2, 1, False),
        (3, 0, 2, 1, False), (3, 0, 1, 1, False),
    )
]  # fmt: skip
"""From the mildest on; the first that fits is taken, or the last."""


def screen(view: StatementView, *, whole: bool = False, asked: str = "") -> Iterator[str]:
    """The lines that `attsvm show` prints, as wide as the terminal.

    What does not fit one screen is folded, the least telling first, unless the `whole` is wanted;
    the reading that is `asked` for is never folded.
    """
    lines = [*_head(view), *_every_reading(view), *_foot(view)]
    if whole or len(lines) <= SCREEN:
        yield from lines
        return
    for fold in _FOLDS:
        lines = list(_folded(view, fold, asked))
        if len(lines) <= SCREEN:
            break
    yield from lines


def _head(view: StatementView, most: int | None = None, fails: int | None = None) -> Iterator[str]:
    """What is printed, what fell and why, and the repair."""
    yield from _wrapped(f"{view.id}  ({view.source}, {view.place}; {_places(view)})")
    yield from _wrapped(view.printed and f"{view.origin}: {view.printed}", most=most)
    if fell := view.fell():
        yield ""
        yield from _wrapped(f"what fell: {fell}", most=most)
    if view.erratum:
        found = f"found: {view.erratum['found']} This {view.erratum['weight']}."
        yield from _wrapped(found, most=most)
        yield from _wrapped(f"fails: {view.erratum['fails']}", most=fails)
        yield from _wrapped(f"repair: {view.erratum['repair']}", most=most)


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


def _folded(view: StatementView, fold: _Fold, asked: str) -> Iterator[str]:
    """The statement with each reading in a few lines, and how the rest is seen."""
    readings = _in_order(view)
    yield from _head(view, fold.paragraph, fold.fails)
    yield ""
    first = readings[0].formula
    yield from _wrapped(f"runs: {first.conclusion.plain}", most=fold.paragraph)
    yield from _wrapped("; ".join(first.hypotheses), lead="if: ", most=fold.sentence)
    shown = [readings[0], *(r for r in readings[1:] if r.name == asked)]
    yield from _wrapped("; ".join(definitions(shown)), lead="where: ", most=fold.sentence)
    yield ""
    left = fold.instances
    for reading in readings:
        if reading.name == asked:
            yield from _reading(reading)
            continue
        said = f"{reading.name} ({reading.expected}): {reading.says}"
        yield from _both_ends(said, fold.sentence)
        if reading.counterexample and left:
            left -= 1
            yield from _wrapped(reading.counterexample, "  ", "fails at: ", most=fold.paragraph)
    yield from _foot(view, fold.sentence if fold.rests else 0)
    yield ""
    yield f"folded to one screen; all of it: attsvm show --all {view.id}"


def _foot(view: StatementView, most: int | None = None) -> Iterator[str]:
    """Where the counterexamples lie, and what rests on what."""
    yield from _block("counterexamples", _commands(view), "; ")
    yield from _block("rests on", view.rests_on, ", ", most)
    yield from _block("what rests on it", view.carries, ", ", most)


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


def _both_ends(text: str, most: int) -> Iterator[str]:
    """A sentence in `most` lines, without its middle: the conclusion stands at its end."""
    words = text.split(" ")
    head, tail = (len(words) + 1) // 2, len(words) // 2
    while len(lines := list(_wrapped(text))) > most and head > 2:
        head, tail = (head - 1, tail) if head >= tail else (head, tail - 1)
        text = " ".join([*words[:head], "...", *words[len(words) - tail :]])
    return iter(lines)


def _wrapped(
    text: str | None, indent: str = "", lead: str = "", *, most: int | None = None
) -> Iterator[str]:
    """A paragraph in lines that fit the terminal, in `most` lines; nothing for no text."""
    if text and most != 0:
        width = max(40, min(100, get_terminal_size().columns))
        yield from wrap(
            lead + text,
            width,
            initial_indent=indent,
            subsequent_indent=indent + "  ",
            break_long_words=False,
            break_on_hyphens=False,
            max_lines=most,
            placeholder=" ...",
        )


def _block(
    title: str, words: Iterable[str], between: str = "; ", most: int | None = None
) -> Iterator[str]:
    """A paragraph after an empty line; nothing where there are no words."""
    if (joined := between.join(words)) and most != 0:
        yield ""
        yield from _wrapped(f"{title}: {joined}", most=most)


def _near(file: str) -> str:
    """A path from the current folder on, where the file lies below it."""
    path, here = Path(file), Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _below(file: str | None) -> str:
    """A stored counterexample, by its folder and name alone where it lies elsewhere."""
    path = Path(_near(file or ""))
    return f"{path.parent.name}/{path.name}" if path.is_absolute() else str(path)
