"""How the seconds of the programmes grow with n, T and d, and single causal heads of real sizes.

`growth` has Gaussian tokens of which a Gaussian W selects the best, (n, T, d) = (40, 16, 24) but
for the size that grows. The exponent is the slope of log seconds over log size; methods change
with the size, so it describes these sizes alone.

`causal` has heads whose queries share their tokens, as `Head.compare` solves them: T queries in
dimension d, and a Gaussian W of rank 64. Nearly all queries are nearly tied. Memory is the peak of
what numpy's arrays took, without the data; the bound is twelve tables of queries by tokens and two
Gram matrices of the support. Seconds are processor time.
"""

import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from attsvm import solve
from attsvm.data import AttentionData
from attsvm.svm import att_svm
from attsvm.svm.shared import SharedAnswer, solve_shared
from attsvm.svm.shared_programme import shared_programme
from benchmarks.hard_margins import separable
from benchmarks.timers.timing import Timer, Way

GROWTH = {"n": (20, 40, 80, 160), "T": (8, 16, 32, 64), "d": (12, 24, 48, 96)}
WAYS: dict[str, Callable[[AttentionData], Any]] = {
    "att_svm": att_svm,
    "solve": solve,
    "solve, nuclear norm": partial(solve, norm="nuc"),
    "solve, soft margin": partial(solve, soft=1.0),
}
RANK = 64
TABLES = 12
SIZES = (*((T, 64) for T in (64, 128, 256, 512, 1024)), *((T, 768) for T in (64, 128, 256, 512)))
"""T and d: of keys, and of the inputs of a layer."""


def growth() -> Iterator[Timer]:
    """Yield timers of each programme as one size grows; the nuclear norm skips the largest size."""
    for name, run in WAYS.items():
        for axis, values in GROWTH.items():
            for value in values[:-1] if "nuclear" in name else values:
                sizes = {"n": 40, "T": 16, "d": 24, axis: value}
                cases = partial(_separable, sizes)
                ours = Way(run, runs=1)
                yield Timer(name, f"{axis} = {value}", cases, ours, note=_status, clock=CLOCK)


CLOCK = time.process_time


def _separable(sizes: dict[str, int]) -> list[AttentionData]:
    return [separable(**sizes)]


def _status(cases: Sequence[AttentionData], ours: Sequence[Any], others: Any) -> str:
    """Return the number of constraints, and what is known of the answers."""
    words = {f"{a.status}, {getattr(a, 'kind', 'float')}" for a in ours}
    return f"m {cases[0].n * (cases[0].T - 1)}, {' / '.join(sorted(words))}"


def causal() -> Iterator[Timer]:
    """Yield timers of single causal heads, to a bracket of relative width 1e-9 or for 60 s."""
    for T, d in SIZES:
        cases = partial(_head, T, d)
        ours = Way(_solved, runs=1)
        yield Timer("causal head", f"T = {T}, d = {d}", cases, ours, note=_account, clock=CLOCK)


def _head(T: int, d: int) -> list[tuple[Any, Any]]:
    """Return the tokens and W of a head."""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(T, d))
    return [(X, draw.normal(size=(d, RANK)) @ draw.normal(size=(RANK, d)))]


def _solved(case: tuple[Any, Any]) -> SharedAnswer:
    X, W = case
    seen = np.tri(len(X), dtype=np.bool_)
    targets = np.where(seen, X @ W.T @ X.T, -np.inf).argmax(axis=1)
    return solve_shared(shared_programme(X, X, seen, targets), W)


def _account(cases: Sequence[Any], ours: Sequence[SharedAnswer], others: Any) -> str:
    """Return the size of the problem, the bracket, and the memory of another run."""
    ((X, _),), (answer,) = cases, ours
    T, support = len(X), int(answer.is_support.sum())
    tracemalloc.start()
    _solved(cases[0])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    bound = 8 * (TABLES * T * T + 2 * support**2)
    low, high = answer.bracket
    return (
        f"m {T * (T - 1) // 2}, {answer.status}, support {support}, "
        f"bracket {high / low - 1.0:.0e}, residual {answer.primal_residual:.0e}, "
        f"{peak / 1e6:.1f} MB, {peak / bound:.2f} of the bound"
    )
