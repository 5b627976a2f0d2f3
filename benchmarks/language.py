"""The cost of figure 1 against m, n and d: `python benchmarks/language.py [TABLE ...]`.

Tables: `growth`, seconds of processor time for five runs of `--steps` steps (train) and for their
soft-margin solutions, slacks shared as printed (solve) or not (apart), sizes other than the named
one as in the default figure, each beside the ratio to the row before; `figure`, the default
`sim/figure-1` and `sim/figure-2` as `attsvm reproduce` computes them. Drawing a run, its embeddings
in R^d with their factorisation, counts as `draw`. Everything runs on one thread, but the figure
trains on two.

What to expect: training costs in proportion to m and nothing more for a larger d. A solution costs
what its distinct matrices do, of which 20 tokens with 3 successors have at most 1140 over the
vocabulary, and beyond that in proportion to the constraints: where the queries of a sentence share
slacks only sentences that ask for the same merge, but a matrix is held once. A draw costs d^2, the
entries of X(0).
"""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from attsvm.svm.soft import SoftAnswer
from properties.sim._support.causal_language import SETS, Setting, Task, draw, solve, train
from properties.sim.figures import figure_1, figure_2

RUNS = 5
SIZES = {"m": (10, 20, 40, 80), "n": (3, 5, 9, 17), "d": (50, 100, 200, 400)}


def seconds(
    action: Callable[[], Any], repeats: int, clock: Callable[[], float] = time.process_time
) -> tuple[float, Any]:
    """Median time, and the last result."""
    times, result = [], None
    for _ in range(repeats):
        start = clock()
        result = action()
        times.append(clock() - start)
    return statistics.median(times), result


def drawn(size: Setting) -> list[Task]:
    """The runs of a configuration."""
    return [draw(0, run, size) for run in range(RUNS)]


def solutions(tasks: list[Task], tokens: str, shared: bool) -> list[SoftAnswer]:
    """That of each run."""
    return [solve(task, tokens, shared=shared) for task in tasks]


def growth(options: argparse.Namespace) -> list[dict[str, Any]]:
    """What each size costs."""
    rows: list[dict[str, Any]] = []
    for axis, values in SIZES.items():
        before: dict[str, float] = {}
        for value in values:
            size = Setting().varied(axis, value)
            spent, tasks = seconds(partial(drawn, size), options.repeats)
            times = {"draw": spent}
            for tokens in SETS:
                train(tasks, tokens, 1, [1])
                solve(tasks[0], tokens)  # both load compiled code
                step = partial(train, tasks, tokens, options.steps, [options.steps])
                times[f"train, {tokens}"], _ = seconds(step, options.repeats)
                for name, shared in (("solve", True), ("apart", False)):
                    solved = partial(solutions, tasks, tokens, shared)
                    times[f"{name}, {tokens}"], _ = seconds(solved, options.repeats)
            for name, spent in times.items():
                ratio = spent / before[name] if name in before else None
                rows.append({"what": f"{axis} = {value}: {name}", "seconds": spent, "ratio": ratio})
            before = times
    return sorted(rows, key=lambda row: (row["what"][0], row["what"].split(": ")[1]))


def figure(options: argparse.Namespace) -> list[dict[str, Any]]:
    """The default figures, by the clock on the wall and by processor time."""
    rows = []
    for made in (figure_1.figure, figure_2.figure):
        processor = time.process_time()
        wall, _ = seconds(partial(made.compute, 0), 1, time.perf_counter)
        spent = {"wall": wall, "processor": time.process_time() - processor}
        rows += [{"what": f"{made.id}: {k}", "seconds": v, "ratio": None} for k, v in spent.items()]
    return rows


TABLES = {"growth": growth, "figure": figure}


def main() -> None:
    """Measure, print tables, write JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], default=[])
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    results = {}
    for table in options.tables or TABLES:
        results[table] = TABLES[table](options)
        print(f"{table:<44}{'seconds':>10}{'ratio':>8}")
        for line in results[table]:
            ratio = "" if line["ratio"] is None else f"{line['ratio']:.2f}"
            print(f"{line['what']:<44}{line['seconds']:>10.3g}{ratio:>8}")
    if options.json:
        Path(options.json).write_text(json.dumps({"schema": 1, "tables": results}, indent=1))


if __name__ == "__main__":
    main()
