"""The cost of figure 1 against m, n and d: `python -m benchmarks.language [TABLE ...]`.

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

from attsvm._threads import single_threaded

single_threaded()

import argparse
import time
from functools import partial

from attsvm.svm.soft import SoftAnswer
from benchmarks.timing import Row, asked, keep, seconds, shown
from properties.sim._support.causal_language import SETS, Setting, Task, draw, solve, train
from properties.sim.figures import figure_1, figure_2

RUNS = 5
CLOCK = time.process_time
SIZES = {"m": (10, 20, 40, 80), "n": (3, 5, 9, 17), "d": (50, 100, 200, 400)}


def drawn(size: Setting) -> list[Task]:
    """The runs of a configuration."""
    return [draw(0, run, size) for run in range(RUNS)]


def solutions(tasks: list[Task], tokens: str, shared: bool) -> list[SoftAnswer]:
    """That of each run."""
    return [solve(task, tokens, shared=shared) for task in tasks]


def growth(options: argparse.Namespace) -> list[Row]:
    """What each size costs."""
    rows: list[Row] = []
    for axis, values in SIZES.items():
        before: dict[str, float] = {}
        for value in values:
            size = Setting().varied(axis, value)
            spent, tasks = seconds(partial(drawn, size), options.repeats, CLOCK)
            times = {"draw": spent}
            for tokens in SETS:
                train(tasks, tokens, 1, [1])
                solve(tasks[0], tokens)  # both load compiled code
                step = partial(train, tasks, tokens, options.steps, [options.steps])
                times[f"train, {tokens}"], _ = seconds(step, options.repeats, CLOCK)
                for name, shared in (("solve", True), ("apart", False)):
                    solved = partial(solutions, tasks, tokens, shared)
                    times[f"{name}, {tokens}"], _ = seconds(solved, options.repeats, CLOCK)
            for name, spent in times.items():
                ratio = spent / before[name] if name in before else None
                rows.append({"what": f"{axis} = {value}: {name}", "seconds": spent, "ratio": ratio})
            before = times
    return sorted(rows, key=lambda row: (row["what"][0], row["what"].split(": ")[1]))


def figure(options: argparse.Namespace) -> list[Row]:
    """The default figures, by the clock on the wall and by processor time."""
    rows = []
    for made in (figure_1.figure, figure_2.figure):
        processor = time.process_time()
        wall, _ = seconds(partial(made.compute, 0))
        spent = {"wall": wall, "processor": time.process_time() - processor}
        rows += [{"what": f"{made.id}: {k}", "seconds": v, "ratio": None} for k, v in spent.items()]
    return rows


TABLES = {"growth": growth, "figure": figure}


def main() -> None:
    """Measure, print tables, write JSON where asked."""
    options = asked(__doc__, TABLES, steps=1000, repeats=3)
    columns = {"what": "<44", "seconds": ">10.3g", "ratio": ">8.2f"}
    names = options.parts or TABLES
    keep(options.json, tables={name: shown(columns, TABLES[name](options)) for name in names})


if __name__ == "__main__":
    main()
