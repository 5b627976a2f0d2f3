"""A statement on one screen of a terminal, and the lines of its formulas."""

import functools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap

from attsvm._words import KEPT, kept
from attsvm.theory.report.view import ReadingView, StatementView

SCREEN = 50
"""Maximum number of lines of one screen."""


def screen(view: StatementView, *, whole: bool = False, asked: str = "") -> Iterator[str]:
    """Yield the lines that `attsvm show` prints, as wide as the terminal.

    Unless `whole` is true, one screen is filled: less important parts are left out first, and a
    sentence is printed whole or not at all. The reading `asked` is printed with all its parts.
    """
    stored, places = "; ".join(_commands(view)), _places(view)
    lines = [*_head(view, places), *_every_reading(view)]
    lines += [*_words(_vocabulary(view, lines)), *_foot(view, stored)]
    if not whole and len(lines) > SCREEN:
        parts: set[str] = set()
        for part in _by_weight(view):
            if len(list(_folded(view, {*parts, part}, asked, stored, places))) <= SCREEN:
                parts.add(part)
        lines = list(_folded(view, parts, asked, stored, places))
    yield from lines


def _by_weight(view: StatementView) -> Iterator[str]:
    """Yield the parts that a screen may leave out, the most important first.

    The parts of a reading are its name, and `fails at` with its name.
    """
    readings = view.readings
    stands = view.stands()
    refuted = [r.name for r in readings if r.counterexample]
    yield readings[0].name
    yield from (part for name in refuted[:1] for part in (name, f"fails at {name}"))
    yield from ("repair", "runs", "if")
    yield from stands[:1]
    sentences = [text for r in readings for text in (r.formula["conclusion"]["plain"], r.says)]
    yield from (f"word {name}" for name in _vocabulary(view, sentences))
    yield from stands[1:]
    yield from (r.name for r in readings if r.name.startswith("literal"))
    yield "fails"
    yield from (f"word {name}" for name in view.notation)
    yield from (r.name for r in readings if r.name not in stands)
    yield "where"
    yield from (f"fails at {name}" for name in refuted[1:])
    yield from ("rests on", "what rests on it")


def _head(
    view: StatementView, places: str, parts: Collection[str] = ("fails", "repair")
) -> Iterator[str]:
    """Yield the lines with the printed sentence, the refuted parts with reasons, and the repair."""
    yield from _wrapped(f"{view.id}  ({view.source}, {view.place}; {places})")
    yield from _wrapped(view.printed and f"{view.origin}: {view.printed}")
    if fell := view.fell():
        yield ""
        yield from _wrapped(f"what fell: {fell}")
    if words := view.words:
        yield from _wrapped(f"found: {words['found']} This {words['weight']}.")
        for part in ("fails", "repair"):
            if part in parts and part in words:
                yield from _wrapped(f"{part}: {words[part]}")


def _every_reading(view: StatementView) -> Iterator[str]:
    """Yield every reading with all its parts, and the meanings of the names in them."""
    formula = ""
    for reading in view.readings:
        yield ""
        yield from _reading(reading, formula)
        formula = reading.formula["conclusion"]["plain"]
    shown = [f"{name}: {meaning}" for name, meaning in meanings(view.readings).items()]
    yield from _block("where", "; ".join((*definitions(view.readings), *shown)))


def _reading(reading: ReadingView, before: str = "") -> Iterator[str]:
    """Yield a reading with all its parts; its formula only if it differs from that `before`."""
    yield f"{reading.name}: {_verdict(reading)}"
    yield from _wrapped(reading.says, "  ")
    if reading.formula["conclusion"]["plain"] != before:
        yield from _wrapped(f"runs: {reading.formula['conclusion']['plain']}", "  ")
    yield from _wrapped("; ".join(reading.formula["hypotheses"]), "  ", "if: ")
    yield from _wrapped(reading.counterexample, "  ", "fails at: ")
    yield from _wrapped(reading.smallest, "  ", "smallest known: ")
    names = [s.name for s in reading.claim.siblings] if reading.claim else []
    siblings = "; ".join(map(reading.sibling, names))
    yield from _wrapped(siblings, "  ", "siblings, which have to fall: ")


def _verdict(reading: ReadingView) -> str:
    """Return the verdict, and the fairness of a literal reading unless it is plain."""
    words = f"{reading.verdict}{reading.mark and f', {reading.mark}'}"
    return f"{words}; {reading.unlike}" if reading.unlike else words


def _folded(
    view: StatementView, parts: Collection[str], asked: str, stored: str, places: str
) -> Iterator[str]:
    """Yield the statement with these parts alone, and the command that prints the rest."""
    lines = [*_head(view, places, parts), *_chosen_readings(view, parts, asked)]
    yield from lines
    words = _vocabulary(view, lines)
    yield from _words({name: words[name] for name in words if f"word {name}" in parts})
    yield from _foot(view, stored, parts, _FEW)
    yield ""
    yield f"folded to one screen; all of it: attsvm show --all {view.id}"


def _vocabulary(view: StatementView, lines: Iterable[str]) -> dict[str, str]:
    """Return words of the source that the lines use, with their meanings.

    Letters that the readings themselves declare or define are left out, and "A", an article.
    """
    text = " ".join(line.strip() for line in lines)
    words = [word for name in view.notation for word in name.split(", ") if word in text]
    present = [word for word in words if _expression(word).search(text)]
    if not present:
        return {}
    known = {"A", "a"}
    known |= {name for r in view.readings if r.claim for name in r.claim.formula.variables}
    known |= {re.split(r"[( ]", line)[0] for line in definitions(view.readings)}
    used = {word for word in present if word not in known}
    return {
        name: " ".join(meaning.split()).rstrip(".")
        for name, meaning in view.notation.items()
        if not used.isdisjoint(name.split(", "))
    }


@functools.lru_cache(maxsize=1024)
def _expression(word: str) -> re.Pattern[str]:
    """Return an expression that finds a word; it looks back last, which is quicker."""
    text = re.escape(word)
    return re.compile(rf"{text}(?<![\w^]{text})(?![\w^'])")


def _words(words: Mapping[str, str]) -> Iterator[str]:
    """Yield an empty line and the words with their meanings; nothing without words."""
    return _block("words", "; ".join(f"{name}: {meaning}" for name, meaning in words.items()))


def _chosen_readings(view: StatementView, parts: Collection[str], asked: str) -> Iterator[str]:
    """Yield the formula of the first reading, and the readings that are among the parts."""
    readings = view.readings
    first = readings[0].formula
    named = [readings[0], *(r for r in readings[1:] if r.name == asked)]
    for part, words in (
        ("runs", first["conclusion"]["plain"]),
        ("if", "; ".join(first["hypotheses"])),
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
            yield from _wrapped(f"{reading.name} ({_verdict(reading)}): {reading.says}")
            if f"fails at {reading.name}" in parts:
                yield from _wrapped(reading.counterexample, "  ", "fails at: ")
    others = [r for r in readings if r.name != asked and r.name not in parts]
    yield from _wrapped(
        "; ".join(f"{r.name} ({_verdict(r)})" for r in others), lead="further readings: "
    )


_FEW = 6
"""Maximum number of statements that rest on this one that a screen names."""


def _foot(
    view: StatementView,
    stored: str,
    parts: Collection[str] = ("rests on", "what rests on it"),
    most: int | None = None,
) -> Iterator[str]:
    """Yield the places of the counterexamples, and the dependencies."""
    yield from _block("counterexamples", stored)
    for part, names in (("rests on", view.rests_on), ("what rests on it", view.carries)):
        if part in parts:
            more = f" and {len(names) - most} more" if most and len(names) > most else ""
            yield from _block(part, f"{', '.join(names[:most])}{more}")


def _places(view: StatementView) -> str:
    claims = (r.claim for r in view.readings if r.claim)
    return ", ".join(dict.fromkeys(_place(c.file, c.line) for c in claims))


def _place(file: str, line: int) -> str:
    """Return the place of a declaration; a notebook cell has a name and no file."""
    return f"{_near(file)}:{line}" if Path(file).is_file() else f"typed, line {line}"


def _commands(view: StatementView) -> Iterator[str]:
    """Yield the places of the counterexamples, and commands that print them as code."""
    stored = [r for r in view.readings if r.stored]
    files = [r.stored.file for r in stored if r.stored]
    if files:
        first = _below(files[0])
        yield f"stored in {first if len(files) == 1 else first.rpartition('/')[0]}"
        yield f"in numpy alone: attsvm show --script {view.id}"
    if checked := [r.name for r in stored if r.has_verifier]:
        names = f" ({', '.join(checked)})" if len(checked) < len(stored) else ""
        yield f"in Python alone{names}: --verifier"


def _wrapped(text: str | None, indent: str = "", lead: str = "") -> Iterator[str]:
    """Yield a paragraph in lines that fit the terminal; nothing for an empty text."""
    if text:
        width = max(40, min(100, get_terminal_size().columns))
        yield from _in_lines(kept(lead + text), width, indent)


@functools.lru_cache(maxsize=1024)
def _in_lines(text: str, width: int, indent: str) -> tuple[str, ...]:
    """Return a paragraph in lines; cached, as a screen is laid out often until its parts fit."""
    lines = wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return tuple(line.replace(KEPT, " ") for line in lines)


def _block(title: str, words: str) -> Iterator[str]:
    """Yield an empty line and a paragraph; nothing without words."""
    if words:
        yield ""
        yield from _wrapped(f"{title}: {words}")


def _near(file: str | Path) -> str:
    """Return a path relative to the current folder if the file lies below it."""
    path, present = Path(file), Path.cwd()
    return str(path.relative_to(present) if path.is_relative_to(present) else path)


def _below(file: Path) -> str:
    """Return a path relative to the current folder; of a file elsewhere, its folder and name."""
    path = Path(_near(file))
    return f"{path.parent.name}/{path.name}" if path.is_absolute() else str(path)


def formula_lines(readings: Sequence[ReadingView], *, latex: bool = False) -> list[str]:
    """Return every distinct formula of these readings, hypothesis and definition, a line each."""
    form = "latex" if latex else "plain"
    by_formula: dict[str, list[str]] = {}
    conditions: dict[str, str] = {}
    for reading in readings:
        by_formula.setdefault(reading.formula["conclusion"][form], []).append(reading.name)
        for name, condition in reading.formula["hypotheses"].items():
            meaning = _meaning(name, condition)
            conditions[name] = f"{name}, that is {meaning}" if meaning else name
            if latex:
                conditions[name] = condition["latex"]
    many = len(by_formula) > 1
    lines = [
        f"{text}    ({', '.join(names)})" if many and not latex else text
        for text, names in by_formula.items()
    ]
    lead = r"\text{if } " if latex else "if "
    lines += [lead + condition for condition in conditions.values()]
    lead = r"\text{where } " if latex else "where "
    return lines + [lead + line for line in definitions(readings, latex=latex)]


def _meaning(name: str, condition: Mapping[str, str]) -> str:
    """Return a condition as evaluated; "" if its name is the same text."""
    turned = " <= ".join(reversed(name.split(" >= ")))
    turned = " < ".join(reversed(turned.split(" > ")))
    same = condition["plain"].replace(" ", "") in (w.replace(" ", "") for w in (name, turned))
    return "" if same else condition["plain"]


def meanings(readings: Iterable[ReadingView]) -> dict[str, str]:
    """Return the evaluated hypotheses of these readings, by name, unless equal to their names."""
    every = {n: _meaning(n, c) for r in readings for n, c in r.formula["hypotheses"].items()}
    return {name: meaning for name, meaning in every.items() if meaning}


def definitions(readings: Iterable[ReadingView], *, latex: bool = False) -> list[str]:
    """Return the definitions in these formulas, a line each.

    If readings define a name differently, each line names its readings.
    """
    where: dict[str, list[str]] = {}
    for reading in readings:
        for line in reading.formula["where"]:
            where.setdefault(line["latex" if latex else "plain"], []).append(reading.name)
    left = [line.partition(" = ")[0] for line in where]
    return [
        f"{line}    ({', '.join(names)})"
        if left.count(line.partition(" = ")[0]) > 1 and not latex
        else line
        for line, names in where.items()
    ]
