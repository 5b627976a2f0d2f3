"""Text for a terminal: the table of verdicts, the list of claims, lines of a given width."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from shutil import get_terminal_size
from typing import TYPE_CHECKING, TextIO

from attsvm._types import Entry
from attsvm._words import KEPT, kept
from attsvm.theory.declaration.verdict import (
    BY_INSTANCES,
    IN_PROSE,
    SHARP,
    Evidence,
    Truth,
    Validity,
    in_prose,
    mark,
    mark_of,
)

if TYPE_CHECKING:
    pass


NOT_SHOWN = "hypothesis not shown to be needed"


NOT_SHOWN_MEANING = (
    "A hypothesis is not shown to be needed if this run found no counterexample without it. "
    "Either the claim holds without it, or the search was too short: another seed or a longer "
    "profile may find one. That is a hint about the statement and no verdict on it."
)


_MARKS = {IN_PROSE: "*", BY_INSTANCES: "+"}
"""The signs for marks in a table."""

MARK_MEANINGS = {
    IN_PROSE: f"* {IN_PROSE}: each of its steps was executed or cites a textbook, but text "
    "connects them, so the reading is not proved. `attsvm show --proof ID` prints the steps.",
    BY_INSTANCES: f"+ {BY_INSTANCES}: a linked proof gives the bound. No fact of it says that "
    f"{SHARP}; that rests on instances, which refute siblings with slightly smaller ones.",
}
"""The meaning of each mark, with its sign."""


_BOLD, _RED = "1", "31"


_COLOURS = {"proved": "32", "holds": "32", "undecided": "33", "refuted": _RED}
"""Codes of a terminal for bold letters and colours."""


def _paint(stream: TextIO) -> Callable[[str, str], str]:
    """Return a function that colours a text; it does nothing if the stream shows no colours."""
    plain = not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return lambda text, code: text if plain or not code else f"\x1b[{code}m{text}\x1b[0m"


def columns(stream: TextIO) -> int | None:
    """Return the number of characters in a line of a terminal; None for another stream."""
    return get_terminal_size().columns if stream.isatty() else None


def verdict_rows(entries: Iterable[Entry]) -> list[tuple[str, ...]]:
    """Return one row for each claim from entries in the form of `verify --json`.

    A row begins with ! if the verdict is not as expected, and with = if it is from an earlier run.
    A star marks the truth of a reading whose proof is in prose. A plus marks that of a proved bound
    whose constant is the least one by instances alone.
    """
    return [
        (
            ("=" if entry.get("reused") else "") if entry.get("as_expected") else "!",
            entry["id"],
            f"{entry['truth']}{_MARKS.get(mark_of(entry), '')}",
            *(entry[key] for key in ("evidence", "validity")),
            f"{sum(bool(s['refuted']) for s in entry['siblings'])}/{len(entry['siblings'])}",
            str(entry.get("examples", 0)),
            tight(entry),
        )
        for entry in entries
    ]


def tight(entry: Entry) -> str:
    """Return the largest ratio of left to right side as text; "" if there is none to show.

    A ratio below 1 beside a refutation is not shown: floats do not see that violation.
    """
    ratio = entry.get("tightness")
    unsure = entry.get("truth") == "refuted" and (ratio or 0) < 1
    return "" if ratio is None or unsure else f"{ratio:.3g}"


def ranked(words: Mapping[str, int], most: int) -> str:
    """Return the most frequent words with their counts, in one line."""
    every = sorted(words.items(), key=lambda item: (-item[1], item[0]))
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(f"{word} ({count})" for word, count in every[:most]) + more


def table_text(
    entries: Iterable[Entry], file: TextIO | None = None, width: int | None = None
) -> None:
    """Print the table of verdicts, the meaning of its star, and each claim not as expected.

    If the table is wider than the terminal, each id stands above its figures.

    Args:
        entries: verdicts in the form of `verify --json`.
        file: the output; standard output if None.
        width: number of characters of a line; the width of the terminal if None.
    """
    entries = list(entries)
    stream = file or sys.stdout
    width, paint = width or columns(stream), _paint(stream)
    rows = verdict_rows(entries)
    titles = ("", "claim", "truth", "evidence", "validity", "siblings", "instances", "tight")
    widths = [max(len(cell) for cell in column) for column in zip(titles, *rows, strict=True)]
    narrow = width is not None and sum(widths) + 2 * (len(widths) - 1) > width
    for row in (titles, *rows):
        sides = (str.ljust,) * 5 + (str.rjust,) * 3
        cells = [side(x, k) for side, x, k in zip(sides, row, widths, strict=True)]
        if row is titles:
            cells = [paint(cell, _BOLD) for cell in cells]
        mark, name = paint(cells[0], f"{_BOLD};{_RED}"), cells[1]
        figures = [
            paint(cells[2], _COLOURS.get(row[2].rstrip("".join(_MARKS.values())), "")),
            *cells[3:],
        ]
        if narrow:
            print(mark, name.rstrip(), file=stream)
            print("  ", *figures, sep="  ", file=stream)
        else:
            print(mark, name, *figures, sep="  ", file=stream)
    lines, unexpected = [], [entry for entry in entries if not entry["as_expected"]]
    for entry in unexpected:
        want = entry["expected"]
        lines.append(
            f"! {entry['id']}: expected {want['truth']}, {want['evidence']}, "
            f"{want['validity']}; {entry['reason'].rstrip('.')}."
        )
    lines += dict.fromkeys(meaning for entry in unexpected for meaning in _meanings(entry))
    seen = {mark_of(entry) for entry in entries}
    lines += [meaning for mark, meaning in MARK_MEANINGS.items() if mark in seen]
    for line in fitted(lines, width):
        print(line, file=stream)


_HANGING = re.compile(r"\s*\d+ |\s*\S+ {2,}|\s*")
"""The start of a line, a number or a label; the continuation lines are indented by its length."""


_COMMAND = re.compile(r"(.*?: |\s*)(attsvm [^`'\"]*)")
"""A command to paste, after the words that introduce it."""


_KEYWORD = re.compile(r"\s+\w+=")
"""The start of an argument in Python."""


def fitted(lines: Iterable[object], width: int | None) -> Iterator[str]:
    """Yield lines of at most that width, broken at spaces alone; all as they are for None.

    A command is continued after a backslash, so that it can be pasted. Arguments in Python, quoted
    commands and long words stay whole.
    """
    for line in (one for text in lines for one in str(text).split("\n")):
        if width is None or len(line) <= width or _KEYWORD.match(line):
            yield line
        elif command := _COMMAND.fullmatch(line):
            parts = _broken(command[2], width - 2, "    ", command[1])
            yield from (f"{part} \\" for part in parts[:-1])
            yield parts[-1]
        else:
            text = kept(line)
            lead = _HANGING.match(line)
            room = len(lead[0]) if lead and len(lead[0]) <= width // 3 else 0
            yield from _broken(text, width, " " * (room or 2))


def _broken(text: str, width: int, indent: str, lead: str = "") -> list[str]:
    """Return a text, after words that introduce it, in lines of that width."""
    parts = textwrap.wrap(
        lead + text,
        width,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [part.replace(KEPT, " ") for part in parts]


def summary_text(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield a row for each source: readings by truth, refuted siblings, instances.

    A separate column counts the readings that hold and have a proof in prose.
    """
    sources: dict[str, list[Entry]] = {}
    for entry in entries:
        sources.setdefault(entry["id"].partition("/")[0], []).append(entry)
    words = [*map(str, Truth)]
    place = words.index(str(Truth.HOLDS)) + 1
    titles = (*words[:place], "(in prose)", *words[place:])
    rows = [("source", "readings", *titles, "siblings", "instances", "not as expected")]
    for source, own in sources.items():
        siblings = [s["refuted"] for entry in own for s in entry["siblings"]]
        counts = [sum(entry["truth"] == word for entry in own) for word in words]
        counts.insert(place, sum(map(in_prose, own)))
        figures = (len(own), *counts, f"{sum(map(bool, siblings))}/{len(siblings)}")
        figures += (sum(entry.get("examples", 0) for entry in own),)
        rows.append((source, *map(str, figures), str(sum(not e["as_expected"] for e in own))))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        right = (cell.rjust(k) for cell, k in zip(others, widths[1:], strict=True))
        yield "  ".join((first.ljust(widths[0]), *right))


def slowest_text(entries: Iterable[Entry], most: int) -> Iterator[str]:
    """Yield the claims that took longest, with their seconds."""
    yield "seconds, siblings included"
    for entry in sorted(entries, key=lambda entry: (-entry["seconds"], entry["id"]))[:most]:
        yield f"{entry['seconds']:9.2f}  {entry['id']}"


def not_shown_text(entries: Iterable[Entry]) -> list[str]:
    """Return a line for every claim with hypotheses not shown to be needed, and the meaning."""
    lines = [
        f"  {entry['id']}: {'; '.join(entry['not_shown_to_be_needed'])}"
        for entry in entries
        if entry.get("not_shown_to_be_needed")
    ]
    return ["Hypotheses not shown to be needed", *lines, NOT_SHOWN_MEANING] if lines else []


def outcome(wrong: int, fallen: int) -> str:
    """Return a summary: unexpected verdicts, and counterexamples that were not confirmed.

    Args:
        wrong: number of verdicts that are not as expected.
        fallen: number of curated counterexamples that were not confirmed.
    """
    text = f"{wrong} not as expected" if wrong else "every verdict as expected"
    if not fallen:
        return text
    curated = "curated counterexamples were" if fallen > 1 else "curated counterexample was"
    return f"{text}, {'and' if wrong else 'but'} {fallen} {curated} not confirmed"


def _meanings(entry: Entry) -> list[str]:
    """Return the meanings of the words that differ from the expected ones."""
    axes = {"truth": Truth, "evidence": Evidence, "validity": Validity}
    wrong = [name for name in axes if entry[name] != entry["expected"][name]]
    if "validity" in wrong:  # without validity, the other words mean nothing
        wrong = ["validity"]
    return [f"{entry[name]}: {axes[name].read(entry[name]).meaning}" for name in wrong]


def claims_text(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield the list of claims: id, expected verdict, statement."""
    wants = ((e, e["expected"]) for e in entries)
    rows = [
        (e["id"], f"{w['truth']}, {w['evidence']}{_mark_expected(e)}", e["statement"])
        for e, w in wants
    ]
    yield from aligned([("claim", "expected", "statement"), *rows], columns(sys.stdout))


def _mark_expected(entry: Entry) -> str:
    """Return what the expected verdict of a claim leaves to prose or to instances, as a mark."""
    prose = bool(entry.get("in_prose"))
    left = mark(entry["expected"]["truth"], entry["statement"], prose=prose)
    return f", {left}" if left else ""


_BESIDE = 40
"""Minimum number of columns for the last column of a table beside the others."""


def aligned(rows: Sequence[tuple[str, ...]], width: int | None = None) -> Iterator[str]:
    """Yield rows as columns of text; the last column is wrapped to the width, if there is one.

    If fewer than 40 characters are left beside the other columns, the last one goes below them.
    """
    columns = [max(map(len, column)) for column in zip(*rows, strict=True)]
    left = sum(columns[:-1]) + 2 * len(columns[:-1])
    below = width is not None and width - left < _BESIDE
    for row in rows:
        lead = "".join(f"{cell:{k}}  " for cell, k in zip(row[:-1], columns[:-1], strict=True))
        if below:
            yield "  ".join(row[:-1])
            yield from fitted([f"  {row[-1]}"], width)
        elif width is None or len(row[-1]) <= width - left:
            yield f"{lead}{row[-1]}".rstrip()
        else:
            for line in _broken(row[-1], width - left, ""):
                yield f"{lead}{line}"
                lead = " " * left
