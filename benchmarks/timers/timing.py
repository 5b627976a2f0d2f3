"""The code common to all timers; a timer is one row with our time, alternatives and a ratio."""

import json
import math
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Action = Callable[[Any], Any]
"""A function that does the work on one case and returns its answer."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to do the work of a timer.

    Attributes:
        run: does the work on a case.
        share: the part of the work that one run does; its seconds are divided by this.
        runs: number of runs on each case; the fastest counts.
        took: returns the seconds of a run from its answer; None for the clock of the timer.
    """

    run: Action
    share: float = 1.0
    runs: int = 3
    took: Callable[[Any], float] | None = None

    def time(self, case: Any, clock: Callable[[], float]) -> tuple[float, Any]:
        """Return the seconds for the whole work on a case, and the last answer."""
        best, answer = float("inf"), None
        for _ in range(self.runs):
            start = clock()
            answer = self.run(case)
            seconds = clock() - start if self.took is None else self.took(answer)
            best = min(best, seconds)
        return best / self.share, answer


def _no_note(cases: Sequence[Any], ours: Sequence[Any], others: Mapping[str, Any]) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Timer:
    """One row of a table: the same work by our code and by alternatives, in the same run.

    Attributes:
        name, sizes: the timed work, and the sizes of its inputs.
        cases: returns the inputs; the row has the medians over them.
        ours: our code.
        others: alternatives by name; the ratio is that of the fastest one to ours.
        note: words about the cases, our answers and those of each alternative, such as accuracy.
        clock: returns the time in seconds; unused for a way with `took`.
        work: number of instances of a case; unless it is 1, the table has instances per second.
    """

    name: str
    sizes: str
    cases: Callable[[], Sequence[Any]]
    ours: Way
    others: Mapping[str, Way] = field(default_factory=dict)
    note: Callable[[Sequence[Any], Sequence[Any], Mapping[str, list[Any]]], str] = _no_note
    clock: Callable[[], float] = time.perf_counter
    work: float = 1.0

    def row(self) -> Row:
        """Return the median seconds, the ratio to the fastest alternative, and the note."""
        cases = self.cases()
        self.ours.run(cases[0])  # a first run compiles kernels and loads modules
        ways = {"ours": self.ours, **self.others}
        times: dict[str, list[float]] = {name: [] for name in ways}
        answers: dict[str, list[Any]] = {name: [] for name in ways}
        for case in cases:
            for name, path in ways.items():
                seconds, answer = path.time(case, self.clock)
                times[name].append(seconds)
                answers[name].append(answer)
        note = self.note(cases, answers.pop("ours"), answers)
        row: Row = {"name": self.name, "sizes": self.sizes, "work": self.work, "note": note}
        row["seconds"] = {name: statistics.median(values) for name, values in times.items()}
        if self.others:
            best = min(self.others, key=lambda name: row["seconds"][name])
            ratios = [b / a for a, b in zip(times["ours"], times[best], strict=True)]
            row |= {"best": best, "ratio": statistics.median(ratios)}
        return row


def shown(timers: Iterable[Timer]) -> list[Row]:
    """Print the rows of timers as they are measured; return them."""
    print(f"{'what':<44}{'sizes':<22}{'ours':>10} {'ratio':>8}  alternatives; note")
    rows = []
    for timer in timers:
        row = timer.row()
        rows.append(row)
        others = ", ".join(f"{name} {_figure(row, name)}" for name in timer.others)
        ratio = f"{row['ratio']:>8.3g}" if others else f"{'':>8}"
        words = "; ".join(filter(None, (others, row["note"])))
        line = f"{row['name']:<44}{row['sizes']:<22}{_figure(row, 'ours'):>10} {ratio}  {words}"
        print(line, flush=True)
    for words in exponents(rows):
        print(words)
    return rows


def exponents(rows: Iterable[Row]) -> list[str]:
    """Return a line for each work whose rows differ by one size, such as `T = 8`.

    It has the slope of the logarithm of our seconds over that of the size.
    """
    groups: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for row in rows:
        axis, is_equal, value = row["sizes"].partition(" = ")
        if is_equal and value.isdigit():
            points = groups.setdefault((row["name"], axis), [])
            points.append((math.log(float(value)), math.log(row["seconds"]["ours"])))
    return [
        f"{name}: seconds grow with {axis} to the power "
        f"{statistics.linear_regression(*zip(*points, strict=True)).slope:.1f}"
        for (name, axis), points in groups.items()
        if len(points) > 2
    ]


def _figure(row: Row, name: str) -> str:
    """Return the time of a way in milliseconds, or its instances per second if a case has many."""
    seconds = row["seconds"][name]
    if row["work"] != 1.0:
        rate = float(format(row["work"] / seconds, ".2g"))
        return f"{rate:,.0f}/s"
    return f"{1e3 * seconds:.4g} ms"


def page(title: str, about: str, rows: Sequence[Row]) -> str:
    """Return rows as a page in Markdown, with a column for each alternative."""
    names = list(dict.fromkeys(name for row in rows for name in row["seconds"]))
    lines = [f"# {title}", "", about, "", f"| | sizes | {' | '.join(names)} | ratio |"]
    lines.append("| --- | --- |" + " ---: |" * (len(names) + 1))
    for row in rows:
        cells = [_figure(row, name) if name in row["seconds"] else "" for name in names]
        ratio = f"{row['ratio']:.3g}" if "ratio" in row else ""
        lines.append("| " + " | ".join([row["name"], row["sizes"], *cells, ratio]) + " |")
    if fits := exponents(rows):
        lines += ["", *(f"- {words}" for words in fits)]
    return "\n".join([*lines, ""])


def keep(path: str | None, **document: Any) -> None:
    """Write the document as JSON if a path is given."""
    if path:
        Path(path).write_text(json.dumps({"schema": 1, **document}, indent=1))
