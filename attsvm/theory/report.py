"""What a person sees: the table of verdicts, live progress."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO

from attsvm._words import counted
from attsvm.theory.verdict import Evidence, Truth, Validity

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

__all__ = [
    "NOT_SHOWN",
    "NOT_SHOWN_MEANING",
    "Live",
    "aligned",
    "not_shown_text",
    "outcome",
    "print_claims",
    "table_text",
    "tell_hunt",
    "verdict_rows",
]

NOT_SHOWN = "hypothesis not shown to be needed"
NOT_SHOWN_MEANING = (
    "A hypothesis is not shown to be needed where this run found no counterexample without it. "
    "Either the claim holds without it, or the search was too short: another seed or a longer "
    "profile may find one. That is a hint about the statement and no verdict on it."
)

_COLOURS = {"proved": "green", "holds": "green", "undecided": "yellow", "refuted": "red"}


def _console(file: TextIO | None = None, width: int | None = None) -> Console:
    from rich.console import Console

    stream = file or sys.stdout
    return Console(file=stream, width=width or (None if stream.isatty() else 400), highlight=False)


def verdict_rows(entries: Iterable[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """One row a claim from entries in the form of `verify --json`."""
    rows: list[tuple[str, ...]] = []
    for entry in entries:
        siblings = entry["siblings"]
        fallen = sum(bool(s["refuted"]) for s in siblings)
        tight = entry.get("tightness")
        if entry["truth"] == "refuted" and tight is not None and tight < 1.0:
            tight = None  # floats are unsure of what the certificate refutes
        rows.append(
            (
                "" if entry["as_expected"] else "!",
                entry["id"],
                entry["truth"],
                entry["evidence"],
                entry["validity"],
                f"{fallen}/{len(siblings)}",
                str(entry["examples"]),
                "" if tight is None else f"{tight:.3g}",
            )
        )
    return rows


def table_text(
    entries: Iterable[Mapping[str, Any]], file: TextIO | None = None, width: int | None = None
) -> None:
    """Print the table of verdicts, then a line for every claim that is not as expected.

    Where the table is wider than the terminal, each id stands above its figures.

    Args:
        entries: in the form of `verify --json`.
        file: where to; standard output where None.
        width: letters a line; those of the terminal where None.
    """
    from rich.text import Text

    entries = list(entries)
    rows = verdict_rows(entries)
    console = _console(file, width)
    titles = ("", "claim", "truth", "evidence", "validity", "siblings", "instances", "tight")
    widths = [max(len(cell) for cell in column) for column in zip(titles, *rows, strict=True)]
    narrow = sum(widths) + 2 * (len(widths) - 1) > console.width
    for row in (titles, *rows):
        sides = (str.ljust,) * 5 + (str.rjust,) * 3
        cells = [Text(side(x, k)) for side, x, k in zip(sides, row, widths, strict=True)]
        if row is titles:
            for cell in cells:
                cell.stylize("bold")
        cells[2].stylize(_COLOURS.get(row[2], ""))
        cells[0].stylize("bold red")
        if narrow:
            cells[1].rstrip()
            console.print(Text(" ").join(cells[:2]), soft_wrap=True)
            console.print(Text("  ").join([Text("  "), *cells[2:]]), soft_wrap=True)
        else:
            console.print(Text("  ").join(cells), soft_wrap=True)
    for entry in entries:
        if not entry["as_expected"]:
            want = entry["expected"]
            console.print(
                Text(
                    f"! {entry['id']}: expected {want['truth']}, {want['evidence']}, "
                    f"{want['validity']}; {entry['reason'].rstrip('.')}. {_meanings(entry)}"
                )
            )


def not_shown_text(entries: Iterable[Mapping[str, Any]]) -> list[str]:
    """A line for every claim with hypotheses that were not shown to be needed, and what it means.

    Args:
        entries: in the form of `verify --json`.
    """
    lines = [
        f"  {entry['id']}: {'; '.join(entry['not_shown_to_be_needed'])}"
        for entry in entries
        if entry.get("not_shown_to_be_needed")
    ]
    return ["Hypotheses not shown to be needed", *lines, NOT_SHOWN_MEANING] if lines else []


def outcome(wrong: int, fallen: int) -> str:
    """What a run came to.

    Args:
        wrong: verdicts that are not the expected ones.
        fallen: curated counterexamples that were not confirmed.
    """
    said = f"{wrong} not as expected" if wrong else "every verdict as expected"
    if not fallen:
        return said
    curated = "curated counterexamples were" if fallen > 1 else "curated counterexample was"
    return f"{said}, {'and' if wrong else 'but'} {fallen} {curated} not confirmed"


def _meanings(entry: Mapping[str, Any]) -> str:
    """What the words mean that are not the expected ones."""
    axes = {"truth": Truth, "evidence": Evidence, "validity": Validity}
    wrong = [name for name in axes if entry[name] != entry["expected"][name]]
    if "validity" in wrong:  # nothing else means anything then
        wrong = ["validity"]
    return " ".join(f"{entry[name]}: {axes[name].read(entry[name]).meaning}" for name in wrong)


def print_claims(entries: Iterable[Mapping[str, Any]]) -> None:
    """Print the list of claims: id, expected verdict, statement."""
    wants = ((e, e["expected"]) for e in entries)
    rows = [(e["id"], f"{w['truth']}, {w['evidence']}", e["statement"]) for e, w in wants]
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    print(*aligned([("claim", "expected", "statement"), *rows], width), sep="\n")


def aligned(rows: Sequence[tuple[str, ...]], width: int | None = None) -> Iterator[str]:
    """Rows as columns of text; the last one is wrapped where the lines have a width."""
    columns = [max(map(len, column)) for column in zip(*rows, strict=True)]
    left = sum(columns[:-1]) + 2 * len(columns[:-1])
    room = max((width or sys.maxsize) - left, 20)
    for row in rows:
        lead = "".join(f"{cell:{k}}  " for cell, k in zip(row[:-1], columns[:-1], strict=True))
        for line in textwrap.wrap(row[-1], room) or [""]:
            yield f"{lead}{line}".rstrip()
            lead = " " * left


class Live:
    """Progress on standard error: a bar on a terminal, a line a claim elsewhere."""

    def __init__(self, total: int | None) -> None:
        self.total = total
        self.bar: Progress | None = None

    def __enter__(self) -> Live:
        """Start drawing."""
        if sys.stderr.isatty():
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

            self.bar = Progress(
                TextColumn("checking"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.description}"),
                console=_console(sys.stderr),
                transient=True,
            )
            self.bar.start()
            self.bar.add_task("", total=self.total)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop drawing."""
        if self.bar is not None:
            self.bar.stop()

    def update(self, done: int, text: str | None) -> None:
        """Show that `done` tasks are done; `text` names a claim that has just ended."""
        if self.bar is not None:
            task = self.bar.task_ids[0]
            self.bar.update(task, completed=done)
            if text:
                self.bar.update(task, description=text)
        elif text:
            print(f"[{done}/{self.total or '...'}] {text}", file=sys.stderr, flush=True)


def tell_hunt(
    document: Mapping[str, Any],
    packs: Iterable[str],
    shown: Iterable[str] = (),
    kept: Iterable[str] = (),
) -> None:
    """Print how a hunt went.

    Args:
        document: of `hunt --json`.
        packs: those that the user named.
        shown: the counterexample for people, a line each.
        kept: the same for another one, no larger, that its file keeps.
    """
    name = document["claim"] + (f", {document['sibling']}" if document["sibling"] else "")
    looked = f"{counted(document['examples'], 'instance')} in "
    looked += counted(document["rounds"], "round")
    if document["interrupted"] and document["examples"] == document["rejected"] == 0:
        print(f"interrupted before anything was looked at: {name}")
        return
    if document["interrupted"]:
        print("interrupted; what was found is kept")
    if document["found"]:
        print(f"refuted, {document['evidence']}: {name} after {looked}, by {document['found_by']}")
        _tell_find(document, packs, shown, kept)
        _tell_searchers(document)
        return
    if document["error"] is not None:
        print(f"no answer: {name}, the hunt broke after {looked}")
    else:
        print(f"not refuted: {name} after {looked}; that is no proof")
    if document["tightness"] is not None:
        print(f"closest: left side over right side reached {document['tightness']:.6g}")
    elif document["min_slack"] is not None:
        print(f"closest: slack {document['min_slack']:.6g}")
    if document["undecided"]:
        print(f"open: {counted(document['undecided'], 'instance')} could be settled neither way")
    if document["open"]:
        print(f"open: {_left_open(document['open'], document['unexamined'])}")
    if document["broke"]:
        print(
            f"raised: on {counted(document['broke'], 'made-up instance')} a hypothesis, the "
            "conclusion or what confirms a violation raised an exception, the first time "
            f"{document['broke_note']}"
        )
    _tell_searchers(document)
    _tell_search(document)


def _left_open(number: int, unexamined: int) -> str:
    """What is not known of the instances that guided searchers made up."""
    made = counted(number, "made-up instance")
    was, them = ("was", "it") if number == 1 else ("were", "them")
    if unexamined == number:
        said = f"{made} {was} not checked exactly"
    else:
        said = f"{made} {was} not settled"
        said += f", {unexamined} of {them} not checked exactly" if unexamined else ""
    return f"{said}; floats see no violation in {them}"


def _tell_find(
    document: Mapping[str, Any], packs: Iterable[str], shown: Iterable[str], kept: Iterable[str]
) -> None:
    """Print the counterexample and where it is."""
    for line in shown:
        print(f"  {line}")
    least = document["unfinished"]
    least = f"not made minimal: {least}" if least else "no single move makes it smaller"
    print(f"  ({least})")
    path = document["counterexample"]
    if document["kept"]:
        print(f"counterexample: {path} keeps another one, no larger, that was there:")
        for line in kept:
            print(f"  {line}")
        print("it holds a Python script and LaTeX to paste")
    else:
        print(f"counterexample: {path}; it holds a Python script and LaTeX to paste")
    if document["worst"]:
        print(f"the worst found: {document['worst']}")
    with_pack = "".join(f" --pack {pack}" for pack in packs)
    print(f"replay it: attsvm replay{with_pack} {path}")


_NEEDS = {"gradient": "PyTorch is missing"}


def _tell_searchers(document: Mapping[str, Any]) -> None:
    """Print who looked, and who could not."""
    for name, effort in document["searchers"].items():
        print(
            f"  {name:10} {counted(effort['turns'], 'turn'):>8}, "
            f"{effort['accepted']:7} instances, "
            f"{effort['rejected']:7} refused, {effort['closer']:3} times closer, "
            f"{effort['seconds']:.1f} s"
        )
    for name in document["absent"]:
        print(f"  {name} is not available: {_NEEDS.get(name, 'a library is missing')}")


def _tell_search(document: Mapping[str, Any]) -> None:
    """Print what the search was blind to."""
    looked = document["ordinary"]
    for name, count in document["hypotheses"].items():
        print(f"  satisfied by {count} of {looked} drawn: {name}")
    for kind, words in document["coverage"].items():
        ranked = sorted(words.items(), key=lambda item: (-item[1], item[0]))
        shown = ", ".join(f"{word} ({count})" for word, count in ranked[:6])
        more = f" and {len(ranked) - 6} more" if len(ranked) > 6 else ""
        print(f"  {kind}: {shown}{more}")
    for warning in document["warnings"]:
        print(f"warning: {warning}")
