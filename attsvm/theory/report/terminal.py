"""Text for a terminal: the table of verdicts, the list of claims, the account of a hunt."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from shutil import get_terminal_size
from typing import TYPE_CHECKING, TextIO

from attsvm._types import Entry
from attsvm._words import KEPT, counted, kept
from attsvm.theory.declaration.verdict import IN_PROSE, Evidence, Truth, Validity, in_prose

if TYPE_CHECKING:
    from attsvm.theory.search.account import Hunt

NOT_SHOWN = "hypothesis not shown to be needed"
NOT_SHOWN_MEANING = (
    "A hypothesis is not shown to be needed if this run found no counterexample without it. "
    "Either the claim holds without it, or the search was too short: another seed or a longer "
    "profile may find one. That is a hint about the statement and no verdict on it."
)

_MARK = "*"
PROSE_MEANING = (
    f"{_MARK} {IN_PROSE}: each of its steps was executed or cites a textbook, but text connects "
    "them, so the reading is not proved. `attsvm show --proof ID` prints the steps."
)

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
    A star marks the truth of a reading whose proof is in prose.
    """
    return [
        (
            ("=" if entry.get("reused") else "") if entry.get("as_expected") else "!",
            entry["id"],
            f"{entry['truth']}{_MARK if in_prose(entry) else ''}",
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
        figures = [paint(cells[2], _COLOURS.get(row[2].rstrip(_MARK), "")), *cells[3:]]
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
    if any(map(in_prose, entries)):
        lines.append(PROSE_MEANING)
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
        (e["id"], f"{w['truth']}, {w['evidence']}{_prose_expected(e)}", e["statement"])
        for e, w in wants
    ]
    yield from aligned([("claim", "expected", "statement"), *rows], columns(sys.stdout))


def _prose_expected(entry: Entry) -> str:
    """Return a mark for a claim that is expected to have a proof in prose."""
    return f", {IN_PROSE}" if entry.get("in_prose") else ""


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


def hunt_line(account: Hunt, elapsed: float, seconds: float | None) -> str:
    """Return one line: seconds left, instances, the closest, rounds, instances a second."""
    left = [] if seconds is None else [f"{max(seconds - elapsed, 0.0):.0f} s left"]
    words = [
        *left,
        f"{account.claim.id}{account.part and ' '}{account.part}: "
        f"{counted(account.examples, 'instance')}",
    ]
    if account.smallest is not None:
        words.append("refuted, making it smaller and worse")
    elif account.seen.tightness is not None:
        words.append(f"closest {_ratio(account.seen.tightness)} of the bound")
    elif account.seen.min_slack is not None:
        words.append(f"closest slack {account.seen.min_slack:.6g}")
    words += [f"round {account.rounds}", f"{account.examples / max(elapsed, 1e-3):.3g}/s"]
    return ", ".join(words)


def _ratio(value: float, digits: int = 6) -> str:
    """Return a ratio of both sides; a ratio below 1 that rounds to 1 is written as 1 - x."""
    text = f"{value:.{digits}g}"
    return f"1 - {1.0 - value:.2g}" if text == "1" and value < 1.0 else text


_KNOWN = ("stored counterexample", "explicit instance")
"""Names of searchers for instances that were known before the hunt."""


def hunt_text(
    document: Entry,
    replay: str = "attsvm replay",
    shown: Iterable[str] = (),
    kept: Iterable[str] = (),
) -> Iterator[str]:
    """Yield the lines of a report on a hunt.

    Args:
        document: the document of `hunt --json`.
        replay: the command that replays a file, with the packs that the user named.
        shown: lines that show the counterexample, or the closest instance.
        kept: lines that show another counterexample, no larger, that the file keeps.
    """
    name = document["claim"] + (f", {document['sibling']}" if document["sibling"] else "")
    looked = counted(document["examined"], "instance")
    if document["screened"]:
        looked += f" examined and {document['screened']} screened"
    looked += f" in {counted(document['rounds'], 'round')}"
    if document["interrupted"] and document["examined"] == document["rejected"] == 0:
        yield f"interrupted before any instance was examined: {name}"
        return
    if document["interrupted"]:
        yield "interrupted; results so far are kept"
    if document["found"]:
        by = document["found_by"]
        yield f"refuted, {document['evidence']}: {name} after {looked}, by {by}"
        if by in _KNOWN:
            yield "(known before this hunt; --fresh ignores known counterexamples)"
        yield from _find_text(document, replay, shown, kept)
        yield from _searchers_text(document)
        return
    if document["error"] is not None:
        yield f"no answer: {name}, the hunt broke after {looked}"
    elif document["settled"]:
        met = document["searchers"]["every"]["accepted"]
        yield f"holds within its domain: {name} after {looked}"
        yield (
            f"all {document['settled']} instances of the domain were evaluated exactly; on all of "
            f"the {met} that are proved to meet the hypotheses the claim holds"
        )
    else:
        yield f"not refuted: {name} after {looked}; that is no proof"
    if document["tightness"] is not None:
        yield f"closest: left side over right side reached {_ratio(document['tightness'])}"
    elif document["min_slack"] is not None:
        yield f"closest: slack {document['min_slack']:.6g}"
    if document["closest"]:
        yield f"  by {document['closest']['by']}, at"
    yield from (f"    {line}" for line in shown)
    yield from _growth_text(document["growth"])
    if document["undecided"]:
        text = f"open: {counted(document['undecided'], 'instance')} could be settled neither way"
        yield f"{text}: {document['note']}"
    if document["open"]:
        yield f"open: {_left_open(document['open'], document['unexamined'])}"
    if document["unjudged"]:
        yield (
            f"not judged: {counted(document['unjudged'], 'screened instance')}, in which rounding "
            "may hide a violation"
        )
    if document["given_up"] and document.get("given_up_note"):
        yield (
            f"skipped: {counted(document['given_up'], 'evaluation')} of too many steps of Python, "
            f"first {document['given_up_note']}; larger values were not tried"
        )
    elif document["given_up"]:
        yield (
            f"skipped: {counted(document['given_up'], 'evaluation')} of made-up records, with "
            "other integers, lengths or members, took too many steps of Python; larger values were "
            "not tried"
        )
    if document["broke"]:
        yield (
            f"raised: on {counted(document['broke'], 'made-up instance')} a hypothesis, the "
            f"conclusion or the certificate raised an exception; first {document['broke_note']}"
        )
    yield from _searchers_text(document)
    by_searchers: dict[str, list[str]] = {}
    for variable, who in document["moved"].items():
        by_searchers.setdefault(", ".join(who) or "no searcher", []).append(variable)
    yield from (f"  {', '.join(v)}: varied by {who}" for who, v in by_searchers.items())
    if document["exhausted"]:
        reported = (
            f"{low} <= {name} <= {high}" for name, (low, high) in document["exhausted"].items()
        )
        yield f"  every choice of {', '.join(reported)} was screened"
    looked = document["ordinary"]
    for hypothesis, count in document["hypotheses"].items():
        yield f"  satisfied by {count} of {looked} drawn: {hypothesis}"
    yield from (f"  {kind}: {ranked(words, 6)}" for kind, words in document["coverage"].items())
    yield from (f"warning: {warning}" for warning in document["warnings"])


_STEPS = 6
"""Maximum number of steps towards violation that are printed, first and last included."""


def _growth_text(steps: Sequence[Entry]) -> Iterator[str]:
    """Yield how a hunt came closer over time."""
    shown = [s for s in steps if s["height"] is not None]
    if not shown:
        return
    last = len(shown) - 1
    chosen = sorted({round(k * last / (_STEPS - 1)) for k in range(_STEPS)})
    yield "  over time (ratio of the sides, or minus the slack):"
    for step in (shown[k] for k in chosen):
        looked = f"{step['examined']} examined"
        looked += f", {step['screened']} screened" if step["screened"] else ""
        yield f"    {_ratio(step['height'], 10):<14} {step['seconds']:6.1f} s, {looked}"


def _left_open(number: int, unexamined: int) -> str:
    """Return how many made-up instances are not settled, and how many were not checked exactly."""
    made = counted(number, "made-up instance")
    was, them = ("was", "it") if number == 1 else ("were", "them")
    if unexamined == number:
        text = f"{made} {was} not checked exactly"
    else:
        text = f"{made} {was} not settled"
        text += f", {unexamined} of {them} not checked exactly" if unexamined else ""
    return f"{text}; floats see no violation in {them}"


_MINIMAL = (
    "minimal: no move that makes it smaller leaves a counterexample; docs/hunting.md lists "
    "the moves"
)


def _find_text(
    document: Entry, replay: str, shown: Iterable[str], kept: Iterable[str]
) -> Iterator[str]:
    """Yield the counterexample, and the command that replays its file, if there is one."""
    yield from (f"  {line}" for line in shown)
    least = document["unfinished"]
    yield f"  ({f'not made minimal: {least}' if least else _MINIMAL})"
    if document["counterexample"] is None:
        return
    if document["kept"]:
        yield "the file keeps another one, no larger, that was there:"
        yield from (f"  {line}" for line in kept)
    yield f"replay it: {replay} {document['counterexample']}"
    yield "  (the file holds a Python script and LaTeX to paste)"
    if document["worst"]:
        yield f"the worst found: {document['worst']}"


_NEEDS = {"gradient": "PyTorch is missing"}


def _searchers_text(document: Entry) -> Iterator[str]:
    """Yield the lines on searchers that worked, and on searchers that could not work."""
    for name, effort in document["searchers"].items():
        screened = f", {effort['screened']} screened" if effort["screened"] else ""
        took = "" if effort["seconds"] is None else f", {effort['seconds']:.1f} s"
        yield (
            f"  {name:10} {counted(effort['turns'], 'turn'):>8}, "
            f"{effort['accepted']:6} instances, "
            f"{effort['rejected']:5} refused, {effort['closer']:2} times closer{screened}{took}"
        )
    if document["no_turn"] and not document["found"]:
        yield f"  no turn in this hunt, give more time: {', '.join(document['no_turn'])}"
    if document["nothing_to_move"] and not document["found"]:
        text = ", ".join(document["nothing_to_move"])
        yield f"  not run, as no instance has a variable that they can change: {text}"
    if document["done"] and not document["found"]:
        text = ", ".join(document["done"])
        yield f"  no further turn, as they had nothing more to propose: {text}"
    if document["repeated"]:
        yield f"  {document['repeated']} drawn instances equal one that was drawn before"
    for name in document["absent"]:
        yield f"  {name} is not available: {_NEEDS.get(name, 'a library is missing')}"
