"""The command `attsvm compile` compiles all kernels now, such as while an image is built."""

import argparse
import sys

from attsvm._live import watched
from attsvm.cli.arguments import Parsers, tell


def add(parsers: Parsers) -> None:
    """Add the command."""
    parsers.add("compile", help="compile solvers and training now, so that no call waits for it")


def run(options: argparse.Namespace) -> int:
    """Compile each kernel that is not compiled yet; print how long each took."""
    seconds: dict[str, float] = {}

    def heard(name: str, took: float | None) -> None:
        if took is None:
            print(f"compiling {name}", file=sys.stderr, flush=True)
        else:
            seconds[name] = round(took, 1)

    with watched(heard):
        call_all()
    lines = [f"{name}: {took} s" for name, took in seconds.items()]
    tell(options, {"seconds": seconds}, lines or ["All kernels were compiled before."])
    return 0


def call_all() -> None:
    """Call everything that runs a kernel, on small data."""
    import numpy as np

    from attsvm.data import AttentionData
    from attsvm.svm.answer import solve
    from attsvm.training.flow import follow
    from attsvm.training.steps import descend_w

    rng = np.random.default_rng(0)
    many, few = (  # 380 constraints, more than are solved by pivots alone; and 6
        AttentionData(
            rng.standard_normal((n, T, d)),
            rng.standard_normal((n, d)),
            scores=rng.standard_normal((n, T)),
        )
        for n, T, d in ((20, 20, 20), (3, 3, 4))
    )
    for data in (many, few):
        solve(data)
        for price in (0.01, 0.1, 1.0):
            solve(data, soft=price)
    solve(few, norm="nuc")
    start = np.zeros((4, 4))
    descend_w(few, start, "logistic", step=0.1, steps=2)
    follow(few, start, "logistic", [0.1])
