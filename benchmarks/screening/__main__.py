"""Instances a second and core, beside rivals: `python -m benchmarks.screening [--write FILE]`.

With `--device cuda` the same on a GPU, by the clock: the formula and a whole turn of the searcher
there, beside a torch batch by hand on that GPU and the formula in numpy on a core of that machine.

One run, one thread, processor time. For each statement: the formula on one batch, as the searcher
`screen` evaluates it; a whole turn of the searcher, which also draws, moves and judges instances of
all sizes; Hypothesis alone (it draws an instance, the conclusion is evaluated); the conclusion
written by hand, for numpy in a loop over instances and for a torch batch; and the number of its
multiplications and exponentials beside what the processor does of each in a second. What is written
by hand is compared with the formula on the same instances first. Hard-margin problems and runs of
descent are timed by `benchmarks.svm` and `benchmarks.descent`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.screening import device, processor


def main() -> None:
    """Measure, print the table, write it where asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.screening", description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each figure")
    parser.add_argument("--write", metavar="FILE", help="the table as a page")
    parser.add_argument("--device", help="measure there, such as cuda")
    options = parser.parse_args()
    command = f"python -m benchmarks.screening --write {options.write}"
    if options.device:
        text = device.table(options.device, options.seconds)
    else:
        text = processor.table(options.seconds, command)
    if options.write:
        Path(options.write).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
