"""Tables of timings: `python -m benchmarks.timers [TABLE ...] [--json FILE] [--write FILE]`.

Each row times our code and its alternatives on the same cases, in the same process and on one
thread. The ratio is the time of the fastest alternative over ours. Without names the tables of
`USUAL` run. The alternatives of the solvers need `pip install -c constraints.txt -e '.[bench]'`.
"""

import argparse
import os
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

from benchmarks.timers.timing import Timer, keep, page, shown

TABLES = {
    **dict.fromkeys(("frobenius", "nuclear", "soft", "separability", "sizes"), "svm"),
    **dict.fromkeys(("descent", "descent-growth"), "descent"),
    **dict.fromkeys(("growth", "causal"), "growth"),
    **dict.fromkeys(("paths", "screening", "heads"), ""),
}
"""Tables, each with the module that declares it; "" if the module has the same name."""

USUAL = ("frobenius", "nuclear", "soft", "separability", "descent", "paths")
"""Tables that run by default; the others take minutes."""


def module_of(table: str) -> ModuleType:
    """Return the module that declares a table; its docstring says what is compared."""
    return import_module(f"benchmarks.timers.{TABLES[table] or table}")


def timers(table: str) -> Iterator[Timer]:
    """Yield the rows of a table."""
    rows: Callable[[], Iterator[Timer]] = getattr(module_of(table), table.replace("-", "_"))
    yield from rows()


def main() -> None:
    """Measure, print the tables, and write them if asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.timers", description=__doc__)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"of {', '.join(TABLES)}")
    parser.add_argument("--json", metavar="FILE", help="also write the rows there")
    parser.add_argument("--write", metavar="FILE", help="also write the tables as Markdown there")
    options = parser.parse_args()
    if unknown := {*options.tables} - {*TABLES}:
        parser.error(f"no such table: {', '.join(sorted(unknown))}")
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    names = options.tables or USUAL
    tables = {name: shown(timers(name)) for name in names}
    keep(options.json, tables=tables)
    if options.write:
        command = f"python -m benchmarks.timers {' '.join(names)} --write {options.write}"
        about = (
            f"Written by `{command}`, on one thread. `ratio`: time of the fastest other over ours."
        )
        words = [about, *dict.fromkeys(module_of(name).__doc__ or "" for name in names)]
        about = "\n\n".join(text.strip() for text in words)
        rows = [row for table in tables.values() for row in table]
        Path(options.write).write_text(page(f"Timers: {', '.join(names)}", about, rows))


if __name__ == "__main__":
    main()
