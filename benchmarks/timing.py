"""What timings share: options, medians, tables that are printed row by row, JSON where asked."""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def asked(doc: str | None, parts: Iterable[str] = (), **defaults: int | float) -> Any:
    """The options of a command: `--json`, numbers by their defaults, which parts of it to run."""
    parser = argparse.ArgumentParser(description=(doc or "").split("\n")[0])
    if parts:
        parser.add_argument("parts", nargs="*", choices=[*parts, []], default=[])
    for name, default in defaults.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def seconds(
    action: Callable[[], Any],
    runs: int = 1,
    clock: Callable[[], float] = time.perf_counter,
    of: Callable[[list[float]], float] = statistics.median,
) -> tuple[float, Any]:
    """The median time, and the last result."""
    times, result = [], None
    for _ in range(runs):
        start = clock()
        result = action()
        times.append(clock() - start)
    return of(times), result


def shown(columns: Mapping[str, str], rows: Iterable[Row]) -> list[Row]:
    """Print rows as they come below the names of their columns, which have formats; the rows."""
    widths = {name: form.partition(".")[0] for name, form in columns.items()}  # those of words
    print(" ".join(format(name.replace("_", " "), width) for name, width in widths.items()))
    kept = []
    for row in rows:
        kept.append(row)
        cells = []
        for name, form in columns.items():
            value = row.get(name)
            number = isinstance(value, int | float)
            said = "" if value is None else value if number else str(value)
            cells.append(format(said, form if number else widths[name]))
        print(" ".join(cells), flush=True)
    return kept


def keep(path: str | None, **document: Any) -> None:
    """Write the document where a path is given."""
    if path:
        Path(path).write_text(json.dumps({"schema": 1, **document}, indent=1))
