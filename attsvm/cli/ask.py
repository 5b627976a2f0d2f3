"""The command `attsvm ask` answers the questions of a file."""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from attsvm._live import Live
from attsvm.cli.arguments import Parsers, positive_integer, seconds, tell
from attsvm.cli.running import crew, ensure_json

if TYPE_CHECKING:
    from attsvm._types import Entry
    from attsvm.theory.run.workers import Asked

_SECONDS = 10.0
"""Default wall time, in seconds, of the search for one question."""


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = parsers.add("ask", parsers.run, help="answer the open questions of a file")
    parser.add_argument(
        "file", metavar="FILE", help="a Python file with lines NAME = question(...)"
    )
    # with no default, argparse would count NAME among the missing arguments
    parser.add_argument(
        "names",
        nargs="*",
        default=[],
        metavar="NAME",
        help="names of the questions to answer (default: all)",
    )
    parser.add_argument(
        "--seconds",
        type=seconds,
        default=_SECONDS,
        help=f"wall time of the search for each question (default {_SECONDS:g})",
    )
    parser.add_argument(
        "--rounds", type=positive_integer, help="number of rounds of the search for each question"
    )


def run(options: argparse.Namespace) -> int:
    """Answer the questions; return 1 if one is broken or not answered as expected, else 0.

    Raises:
        ClaimError: the file cannot be loaded, or has no question of a given name.
        UsageError: --cluster needs dask.distributed, which is not installed.
    """
    from attsvm.theory.packs.questions import chosen
    from attsvm.theory.report.answer import answer_job

    ensure_json(options.json)
    options.pack = []  # the workers load the file when they get a question
    names = chosen(options.file, options.names)
    answers: dict[str, Entry] = {}
    with (
        Live(line=f"answering {names[0]}") as live,
        crew(options) as workers,
    ):
        asked: dict[Asked, str] = {}
        for name in names:
            order = {
                "file": os.path.abspath(options.file),
                "name": name,
                "seconds": options.seconds,
                "rounds": options.rounds,
                "seed": options.seed,
            }
            asked[workers.submit(answer_job, json.dumps(order))] = name
        for job in workers.completed(asked):
            answers[asked[job]] = json.loads(job.result())
            live.update(_progress(names, answers).__str__, worth=False)
    entries = [answers[name] for name in names]
    wrong = [entry for entry in entries if not entry["as_expected"]]
    document = {"questions": entries, "as_expected": not wrong}
    tell(options, document, _lines(entries))
    return 1 if wrong else 0


def _progress(names: Sequence[str], answers: Collection[str]) -> str:
    """Return one line: the number of answered questions, and the next one."""
    left = [name for name in names if name not in answers]
    return f"[{len(answers)}/{len(names)}] {f'answering {left[0]}' if left else ''}".rstrip()


def _lines(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield the lines to print: each question with its answer, then the number of each answer."""
    for entry in entries:
        yield f"{entry['name']}:"
        yield from (f"  {line}" for line in entry["lines"])
        if not entry["as_expected"] and entry["answer"] != "broken":
            yield f"  ! expected: {entry['expected']}"
        yield ""
    counts = Counter(entry["answer"] for entry in entries)
    yield ", ".join(f"{count} {answer}" for answer, count in sorted(counts.items()))
