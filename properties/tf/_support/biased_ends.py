"""Where gradient flow on (K, Q) and on W ends at random, counted with exact binomial intervals.

A run is followed to the norm `NORM` of its weights, (K, Q) from Gaussian starts of deviation 0.01
and W from 0. Its solutions are those for the tokens of largest weight at that norm. A data set on
which a run does not get there, or whose tokens have no solution, counts as a failure.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import SolverError
from attsvm.plots import heading, token_weights
from attsvm.svm import att_svm, att_svm_programme
from attsvm.svm.nuclear import solve_nuclear
from attsvm.theory import Slack
from attsvm.training import follow, follow_kq
from properties._support.counts import interval
from properties._support.published_data import gaussian_protocol

LOSS, DEVIATION, STEPS = "log-loss", 0.01, 100_000
NORM = 1e4

RISK = 1e-9
"""How likely a confidence interval may be wrong, on either side."""

RUNS, AGAIN = 60, 120
"""How many data sets are drawn, and where that is repeated."""


@dataclass(frozen=True, slots=True)
class Draws:
    """A seed of random data."""

    seed: int


seeds = st.integers(0, 2**16)


def as_in_the_talk(generator: np.random.Generator) -> AttentionData:
    """The law of the talk's protocol at about half of its sizes."""
    return gaussian_protocol(generator, n=3, T=4, d=8)


def lead(data: AttentionData, norms: Array, W: Array) -> float:
    """The cosine with the nuclear solution minus that with the Frobenius one, where a run ends.

    Not a number where it does not get to the norm, or has no solution there.
    """
    if len(norms) < 2:
        return math.nan
    chosen = token_weights(data, W[-1]).argmax(axis=-1)
    try:
        solutions = solve_nuclear(att_svm_programme(data, chosen)).W, att_svm(data, chosen).W
    except SolverError:
        return math.nan
    nuclear, frobenius = (float(heading(W[-1:], V).cosine[-1]) for V in solutions)
    return nuclear - frobenius


@functools.lru_cache(maxsize=64)
def leads(case: Draws, runs: int, stream: int) -> tuple[tuple[float, float], ...]:
    """`lead` of (K, Q) and of W on each of so many data sets."""
    generator = np.random.default_rng([case.seed, stream, runs])
    data = [as_in_the_talk(generator) for _ in range(runs)]
    d = data[0].d
    K, Q = DEVIATION * generator.normal(size=(2, runs, d, d))
    factored = follow_kq(data, K, Q, LOSS, [NORM], steps=STEPS)
    whole = follow(data, np.zeros((d, d)), LOSS, [NORM], steps=STEPS)
    return tuple(
        (lead(one, a.norms[0], a.W[0]), lead(one, b.norms[0], b.W[0]))
        for one, a, b in zip(data, factored, whole, strict=True)
    )


def _often(case: Draws, kq: str, w: str, runs: int, stream: int) -> Slack:
    signs = {"nuclear": 1.0, "Frobenius": -1.0}
    k = sum(signs[kq] * a > 0.0 and signs[w] * b > 0.0 for a, b in leads(case, runs, stream))
    low, high = interval(k, runs, RISK)
    share = k / runs
    return Slack(share - 0.5, max(share - low, high - share))


def often(case: Draws, kq: str = "nuclear", w: str = "Frobenius") -> Slack:
    """With a probability of at least 1/2; sure up to `RISK`."""
    return _often(case, kq, w, RUNS, 0)


def often_again(case: Draws, kq: str = "nuclear", w: str = "Frobenius") -> Slack:
    """The same from other draws, twice as many."""
    return _often(case, kq, w, AGAIN, 1)
