"""Ends of descent on (K, Q) and on W from random starts, counted with exact binomial intervals.

The published protocol has n = 6, T = 8, d = 10, unit-norm Gaussian tokens, queries and head, and
random labels. Normalised descent of 2000 steps of 0.1 runs on W from 0, and on (K, Q) of inner
dimension d from Gaussian starts of deviation 0.01. The solutions of a run are those for the tokens
of largest weight in the end. A data set on which the tokens of a run have none counts as a failure.

The curves are of gradient flow on the same data, from the same kinds of start, to a norm of 1e5.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import DataError, SolverError
from attsvm.plots import heading, token_weights
from attsvm.primitives.counts import at_least
from attsvm.svm import att_svm, att_svm_programme
from attsvm.svm.nuclear import NuclearAnswer, distance, solve_nuclear
from attsvm.theory import Slack
from attsvm.training import Trajectory, descend_kq, descend_w, follow, follow_kq
from attsvm.training.flow import Limits
from attsvm.training.rule import WeightOptions
from properties._support.published_data import gaussian_protocol

LOSS, DEVIATION, STEP, STEPS = "log-loss", 0.01, 0.1, 2000

RUNS = 60
"""Number of data sets drawn, at first and on repetition."""


SEEDS = (0, 1)
"""The seeds that are counted; every seed draws from the same distribution."""


@dataclass(frozen=True, slots=True)
class Draws:
    """A seed of random data, one of `SEEDS`."""

    seed: int

    def __post_init__(self) -> None:
        if self.seed not in SEEDS:
            raise DataError("no counts are stored for this seed", value=self.seed)


seeds = st.sampled_from(SEEDS)


def lead(data: AttentionData, *ends: Array) -> tuple[float, ...]:
    """Return the cosine with the nuclear minus that with the Frobenius solution at each run's end.

    NaN if the tokens of the run have no solution. Runs that end at the same tokens share both.
    """
    solutions: dict[bytes, tuple[Array, Array] | None] = {}
    leads = []
    for W in ends:
        chosen = token_weights(data, W).argmax(axis=-1)
        of = chosen.tobytes()
        if of not in solutions:
            try:
                programme = att_svm_programme(data, chosen)
                solutions[of] = solve_nuclear(programme).W, att_svm(data, chosen).W
            except SolverError:
                solutions[of] = None
        both = solutions[of]
        if both is None:
            leads.append(math.nan)
            continue
        nuclear, frobenius = (float(heading(W[None], V).cosine[-1]) for V in both)
        leads.append(nuclear - frobenius)
    return tuple(leads)


@functools.lru_cache(maxsize=64)
def leads(case: Draws, runs: int, stream: int) -> tuple[tuple[float, ...], ...]:
    """Return `lead` of (K, Q) and of W on each of `runs` data sets."""
    generator = np.random.default_rng([case.seed, stream, runs])
    data = [gaussian_protocol(generator) for _ in range(runs)]
    d = data[0].d
    K, Q = DEVIATION * generator.normal(size=(2, runs, d, d))
    how: WeightOptions = {"step": STEP, "steps": STEPS, "record": [STEPS], "normalised": True}
    factored = descend_kq(data, K, Q, LOSS, **how)
    whole = descend_w(data, np.zeros((d, d)), LOSS, **how)
    return tuple(
        lead(one, a[-1], b[-1]) for one, a, b in zip(data, factored.W, whole.W, strict=True)
    )


def _often(case: Draws, kq: str, w: str, runs: int, stream: int) -> Slack:
    signs = {"nuclear": 1.0, "Frobenius": -1.0}
    k = sum(signs[kq] * a > 0.0 and signs[w] * b > 0.0 for a, b in leads(case, runs, stream))
    return at_least(0.5, k, runs)


def often(case: Draws, kq: str = "nuclear", w: str = "Frobenius") -> Slack:
    """Return the slack of "both cosines are larger with the named solutions half the time".

    The exact interval is wrong with probability at most `counts.RISK`.
    """
    return _often(case, kq, w, RUNS, 0)


def often_again(case: Draws, kq: str = "nuclear", w: str = "Frobenius") -> Slack:
    """Return the slack of `often` from other draws."""
    return _often(case, kq, w, RUNS, 1)


NORMS = 1e2, 1e3, 1e4, 1e5
"""The norms for which points of curves are recorded."""
CURVES, CURVES_AGAIN = 40, 60
"""Number of curves followed, at first and on repetition."""

_LIMITS: Limits = {"steps": 200_000, "measured": False}


@dataclass(frozen=True, slots=True)
class Curve:
    """Values of gradient flow on (K, Q) at each of `NORMS`.

    Attributes:
        solved: the nuclear solution for the tokens that it selects in the end.
        away: the distance of K Q^T/||K Q^T||_* to the nuclear solution set over C_*.
        slopes: d ln s_i/d ln s_1 of the singular values of K Q^T, decade by decade.
        certificate: singular values of the sum of the A_j, weighted by the programme's multipliers.
    """

    solved: NuclearAnswer
    away: Array
    slopes: Array
    certificate: Array


@functools.lru_cache(maxsize=8)
def _data(case: Draws, runs: int, stream: int) -> tuple[list[AttentionData], Array]:
    """Return data sets, and starts (2, runs, d, d) of K and Q."""
    generator = np.random.default_rng([case.seed, 2 + stream, runs])
    data = [gaussian_protocol(generator) for _ in range(runs)]
    return data, DEVIATION * generator.normal(size=(2, runs, data[0].d, data[0].d))


@functools.lru_cache(maxsize=8)
def curves(case: Draws, runs: int, stream: int) -> tuple[Curve | None, ...]:
    """Return a curve for each data set; None if a norm was not reached or no solution exists."""
    data, (K, Q) = _data(case, runs, stream)
    return tuple(map(_curve, data, follow_kq(data, K, Q, LOSS, NORMS, **_LIMITS)))


@functools.lru_cache(maxsize=8)
def distances_of_w(case: Draws, runs: int, stream: int) -> tuple[Array | None, ...]:
    """Return distances of gradient flow on W from 0 to the solutions of `curves`; None as there."""
    data, _ = _data(case, runs, stream)
    followed = follow(data, np.zeros((data[0].d,) * 2), LOSS, NORMS, **_LIMITS)
    return tuple(
        None if one is None else _distances(one.solved, run)
        for one, run in zip(curves(case, runs, stream), followed, strict=True)
    )


def _curve(data: AttentionData, run: Trajectory) -> Curve | None:
    W = run.W[0, 1:]
    if len(W) < len(NORMS):
        return None
    chosen = token_weights(data, W[-1]).argmax(axis=-1)
    try:
        answer = solve_nuclear(att_svm_programme(data, chosen))
    except SolverError:
        return None
    away = _distances(answer, run)
    if away is None:
        return None
    growth = np.diff(np.log(np.linalg.svd(W, compute_uv=False)), axis=0)
    sizes = np.linalg.svd(answer.certificate, compute_uv=False)
    return Curve(answer, away, growth / growth[:, :1], sizes)


def _distances(answer: NuclearAnswer, run: Trajectory) -> Array | None:
    """Return the distance to the solution set at each of `NORMS`; None if some is unknown."""
    W = run.W[0, 1:]
    if len(W) < len(NORMS):
        return None
    scale = answer.value / np.linalg.norm(W, "nuc", axis=(1, 2))
    try:
        return np.array([distance(answer, s * V)[1] for s, V in zip(scale, W, strict=True)]) / (
            answer.value
        )
    except SolverError:
        return None


def _nears(case: Draws, of: str, law: str, runs: int, stream: int) -> Slack:
    """Return the slack of "a curve nears the solutions with probability at least 1/2".

    Its distances must fall. Its slopes must be within 1/5 of a law in the last decade, and nearer
    to it than in the first. The law is `S`, the singular values of the certificate, or `1`.
    """
    followed = curves(case, runs, stream)
    whole = distances_of_w(case, runs, stream) if of == "W" else None
    hits = 0
    for k, one in enumerate(followed):
        if one is None:
            continue
        away = one.away if whole is None else whole[k]
        if away is None:
            continue
        rates = {"S": one.certificate, "1": np.ones_like(one.certificate)}[law]
        first, *_, last = np.abs(one.slopes - rates).mean(axis=1)
        hits += bool((np.diff(away) < 0).all() and last < first and last <= 0.2)
    return at_least(0.5, hits, runs)


def nears(case: Draws, of: str = "(K, Q)", law: str = "S") -> Slack:
    """Return the slack of `_nears`; the interval errs with probability at most `counts.RISK`."""
    return _nears(case, of, law, CURVES, 0)


def nears_again(case: Draws, of: str = "(K, Q)", law: str = "S") -> Slack:
    """Return the slack of `nears` from other draws, half as many again."""
    return _nears(case, of, law, CURVES_AGAIN, 1)
