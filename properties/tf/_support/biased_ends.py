"""Where descent on (K, Q) and on W ends at random, counted with exact binomial intervals.

The published protocol: n = 6, T = 8, d = 10, unit-norm Gaussian tokens, queries and head, random
labels; normalised descent, step 0.1, 2000 steps, on W from 0 and on (K, Q) of inner dimension d
from Gaussian starts of deviation 0.01. The solutions of a run are those for the tokens of largest
weight in the end. A data set on which the tokens of a run have none counts as a failure.
"""

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import SolverError
from attsvm.plots import heading, token_weights
from attsvm.primitives.counts import at_least
from attsvm.svm import att_svm, att_svm_programme
from attsvm.svm.nuclear import solve_nuclear
from attsvm.theory import Slack
from attsvm.training import descend_kq, descend_w
from properties._support.published_data import gaussian_protocol

LOSS, DEVIATION, STEP, STEPS = "log-loss", 0.01, 0.1, 2000

RUNS, AGAIN = 60, 120
"""How many data sets are drawn, and where that is repeated."""


@dataclass(frozen=True, slots=True)
class Draws:
    """A seed of random data."""

    seed: int


seeds = st.integers(0, 2**16)


def lead(data: AttentionData, W: Array) -> float:
    """The cosine with the nuclear solution minus that with the Frobenius one, where a run ends.

    Not a number where its tokens have no solution.
    """
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
    data = [gaussian_protocol(generator) for _ in range(runs)]
    d = data[0].d
    K, Q = DEVIATION * generator.normal(size=(2, runs, d, d))
    how: dict[str, Any] = {"step": STEP, "steps": STEPS, "record": [STEPS], "normalised": True}
    factored = descend_kq(data, K, Q, LOSS, **how)
    whole = descend_w(data, np.zeros((d, d)), LOSS, **how)
    return tuple(
        (lead(one, a), lead(one, b)) for one, a, b in zip(data, factored.W, whole.W, strict=True)
    )


def _often(case: Draws, kq: str, w: str, runs: int, stream: int) -> Slack:
    signs = {"nuclear": 1.0, "Frobenius": -1.0}
    k = sum(signs[kq] * a > 0.0 and signs[w] * b > 0.0 for a, b in leads(case, runs, stream))
    return at_least(0.5, k, runs)


def often(case: Draws, kq: str = "nuclear", w: str = "Frobenius") -> Slack:
    """With a probability of at least 1/2; sure up to `counts.RISK`."""
    return _often(case, kq, w, RUNS, 0)


def often_again(case: Draws, kq: str = "nuclear", w: str = "Frobenius") -> Slack:
    """The same from other draws, twice as many."""
    return _often(case, kq, w, AGAIN, 1)
