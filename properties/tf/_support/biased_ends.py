"""Where descent on (K, Q) and on W ends at random, counted with exact binomial intervals.

The published protocol: n = 6, T = 8, d = 10, unit-norm Gaussian tokens, queries and head, random
labels; normalised descent, step 0.1, 2000 steps, on W from 0 and on (K, Q) of inner dimension d
from Gaussian starts of deviation 0.01. The solutions of a run are those for the tokens of largest
weight in the end. A data set on which the tokens of a run have none counts as a failure.

The curves are of gradient flow on the same data, from the same kinds of start, to a norm of 1e5.
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
from attsvm.svm.nuclear import NuclearAnswer, distance, solve_nuclear
from attsvm.theory import Slack
from attsvm.training import Trajectory, descend_kq, descend_w, follow, follow_kq
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


NORMS = 1e2, 1e3, 1e4, 1e5
CURVES, CURVES_AGAIN = 40, 60
"""How many curves are followed, and where that is repeated."""

few_seeds = st.sampled_from([0, 1, 2])
"""Half a second goes into a curve."""


@dataclass(frozen=True, slots=True)
class Curve:
    """What gradient flow on (K, Q), and on W, comes to at each of `NORMS`.

    Attributes:
        factored, whole: the distance of W/||W||_* to the nuclear solution set over C_*, for the
            tokens that (K, Q) selects in the end.
        slopes: d ln s_i/d ln s_1 of the singular values of K Q^T, decade by decade.
        certificate: singular values of the sum of the A_j with the multipliers of the programme.
    """

    factored: Array
    whole: Array
    slopes: Array
    certificate: Array


@functools.lru_cache(maxsize=8)
def curves(case: Draws, runs: int, stream: int) -> tuple[Curve | None, ...]:
    """A curve a data set; None where a norm was not reached, or the tokens have no solution."""
    generator = np.random.default_rng([case.seed, 2 + stream, runs])
    data = [gaussian_protocol(generator) for _ in range(runs)]
    d = data[0].d
    K, Q = DEVIATION * generator.normal(size=(2, runs, d, d))
    factored = follow_kq(data, K, Q, LOSS, NORMS, steps=200_000)
    whole = follow(data, np.zeros((d, d)), LOSS, NORMS, steps=200_000)
    return tuple(map(_curve, data, factored, whole))


def _curve(data: AttentionData, factored: Trajectory, whole: Trajectory) -> Curve | None:
    ends = [run.W[0, 1:] for run in (factored, whole)]
    if any(len(W) < len(NORMS) for W in ends):
        return None
    chosen = token_weights(data, ends[0][-1]).argmax(axis=-1)
    try:
        found = solve_nuclear(att_svm_programme(data, chosen))
        factored_apart, whole_apart = (np.array([_apart(found, W) for W in run]) for run in ends)
    except SolverError:
        return None
    growth = np.diff(np.log(np.linalg.svd(ends[0], compute_uv=False)), axis=0)
    sizes = np.linalg.svd(found.certificate, compute_uv=False)
    return Curve(factored_apart, whole_apart, growth / growth[:, :1], sizes)


def _apart(found: NuclearAnswer, W: Array) -> float:
    return distance(found, W * (found.value / float(np.linalg.norm(W, "nuc"))))[1] / found.value


def _bends(one: Curve, of: str, law: str) -> bool:
    """Distances fall; slopes are 1/5 from a law at most in the last decade, and nearer than before.

    The law is `S`, the singular values of the certificate, or `1`.
    """
    away = {"(K, Q)": one.factored, "W": one.whole}[of]
    rates = {"S": one.certificate, "1": np.ones_like(one.certificate)}[law]
    first, *_, last = np.abs(one.slopes - rates).mean(axis=1)
    return bool((np.diff(away) < 0).all() and last < first and last <= 0.2)


def _nears(case: Draws, of: str, law: str, runs: int, stream: int) -> Slack:
    found = curves(case, runs, stream)
    return at_least(0.5, sum(one is not None and _bends(one, of, law) for one in found), runs)


def nears(case: Draws, of: str = "(K, Q)", law: str = "S") -> Slack:
    """Both hold with a probability of at least 1/2; sure up to `counts.RISK`."""
    return _nears(case, of, law, CURVES, 0)


def nears_again(case: Draws, of: str = "(K, Q)", law: str = "S") -> Slack:
    """The same from other draws, half as many more."""
    return _nears(case, of, law, CURVES_AGAIN, 1)
