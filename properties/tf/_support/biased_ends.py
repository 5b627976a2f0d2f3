"""Where gradient flow on (K, Q) and on W ends at random, counted with exact binomial intervals.

A run is followed to the norms `NORMS` of its weights, (K, Q) from Gaussian starts of deviation
0.01 and W from 0. Its solutions are those for the tokens of largest weight at the last norm. A run
that does not get there, or whose tokens have no solution, counts for nothing.
"""

import functools
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import SolverError
from attsvm.plots import heading, token_weights
from attsvm.svm import att_svm, att_svm_programme
from attsvm.svm.nuclear import NuclearAnswer, distance, solve_nuclear
from attsvm.theory import Slack
from attsvm.training import follow, follow_kq
from properties._support.counts import interval
from properties._support.published_data import gaussian_protocol

LOSS, DEVIATION, STEPS = "log-loss", 0.01, 100_000
NORMS = (1e2, 1e4)

RISK = 1e-9
"""How likely a confidence interval may be wrong, on either side."""

RUNS, AGAIN = 60, 120
"""How many data sets are drawn, and where that is repeated."""


@dataclass(frozen=True, slots=True)
class Draws:
    """A seed of random data."""

    seed: int


ENDS = ("nuclear", "Frobenius", "approaching", "tenfold")
"""Nearer in angle to one of the solutions; nearer to the nuclear ones than before, or 10 times."""

seeds = st.integers(0, 2**16)


def as_in_the_talk(generator: np.random.Generator) -> AttentionData:
    """The law of the talk's protocol at about half of its sizes."""
    return gaussian_protocol(generator, n=3, T=4, d=8)


def on_axes(generator: np.random.Generator, d: int = 3) -> AttentionData:
    """Tokens b_i e_i, 0 with queries e_i, b_i between 1/2 and 2: constraints on W_ii alone."""
    X = np.zeros((d, 2, d))
    X[:, 0] = np.diag(generator.uniform(0.5, 2.0, size=d))
    return AttentionData(X, np.eye(d), scores=np.tile([1.0, 0.0], (d, 1)))


LAWS = {"talk": as_in_the_talk, "axes": on_axes}


@functools.lru_cache(maxsize=64)
def counted(case: Draws, law: str, runs: int, stream: int) -> dict[str, int]:
    """How many runs end nearer to which solution, and how many approach the nuclear ones."""
    generator = np.random.default_rng([case.seed, stream, runs, sorted(LAWS).index(law)])
    data = [LAWS[law](generator) for _ in range(runs)]
    d = data[0].d
    K, Q = DEVIATION * generator.normal(size=(2, runs, d, d))
    curves = {
        "KQ": follow_kq(data, K, Q, LOSS, NORMS, steps=STEPS),
        "W": follow(data, np.zeros((d, d)), LOSS, NORMS, steps=STEPS),
    }
    hits = {f"{of} {at}": 0 for of in curves for at in ENDS}
    for of, found in curves.items():
        for one, run in zip(data, found, strict=True):
            W = run.W[0, 1:]
            if len(W) < len(NORMS):
                continue
            chosen = token_weights(one, W[-1]).argmax(axis=-1)
            try:
                nuclear = solve_nuclear(att_svm_programme(one, chosen))
                frobenius = att_svm(one, chosen).W
            except SolverError:
                continue
            cosines = [float(heading(W, V).cosine[-1]) for V in (nuclear.W, frobenius)]
            hits[f"{of} nuclear"] += cosines[0] > cosines[1]
            hits[f"{of} Frobenius"] += cosines[0] < cosines[1]
            before, after = _away(nuclear, W[0])[0], _away(nuclear, W[-1])[1]
            hits[f"{of} approaching"] += after < before
            hits[f"{of} tenfold"] += 10.0 * after < before
    return hits


def _away(nuclear: NuclearAnswer, W: Array) -> tuple[float, float]:
    """Bounds of the distance of C_* W/||W||_* to the solutions, C_* their norm."""
    return distance(nuclear, W * (nuclear.value / np.linalg.svd(W, compute_uv=False).sum()))


def _often(case: Draws, of: str, at: str, law: str, runs: int, stream: int) -> Slack:
    k = counted(case, law, runs, stream)[f"{of} {at}"]
    low, high = interval(k, runs, RISK)
    share = k / runs
    return Slack(share - 0.5, max(share - low, high - share))


def often(case: Draws, of: str = "KQ", at: str = "nuclear", law: str = "talk") -> Slack:
    """With a probability of at least 1/2; sure up to `RISK`."""
    return _often(case, of, at, law, RUNS, 0)


def often_again(case: Draws, of: str = "KQ", at: str = "nuclear", law: str = "talk") -> Slack:
    """The same from other draws, twice as many."""
    return _often(case, of, at, law, AGAIN, 1)
