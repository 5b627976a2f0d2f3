"""Points of a ball that are at least as good as the SVM point, and how far from it they can be.

Let W^mm be the Att-SVM solution with multipliers lambda, V = rho W^mm, R = rho ||W^mm||_F, and
||W||_F <= R with L(W) <= L(V). As <W^mm, W> = sum_j lambda_j m_j and sum_j lambda_j = ||W^mm||^2,
least margins of rho - c give ||W - V||^2 <= 2R^2 - 2 rho <W^mm, W> <= 2 rho c ||W^mm||^2, that is
||W / R - W^mm / ||W^mm|| ||^2 <= 2 c / rho.

A constant. The deficit of input i at W is at least delta_i / (1 + e^m) with m its least margin and
delta_i its least score gap, that of input j at V at most Delta_j (T_j - 1) e^-rho with Delta_j its
largest one. With b_i, a_j the least and largest |l'| between worst and best score and

    Gamma = max_i sum_j a_j Delta_j (T_j - 1) / (b_i delta_i) >= 1

L(W) <= L(V) gives 1 + e^m >= e^rho / Gamma, so that m >= rho - log(2 Gamma) once rho is that large.

The best constant. Put G = n (L(V) - L_*), p_j = lambda_j / sum lambda. Input i alone costs at most
G, hence its deficit at W is at most x_i = G / b_i and the weight of all its rivals at most
y_i = x_i / delta_i. So G >= sum_j c_j e^-m_j with c_j = b'_i (1 - y_i) delta_j, b'_i the least
|l'| within x_i of the best score, and by Jensen's inequality sum_j p_j m_j >= rho - kappa,

    kappa = rho + log G - sum_j p_j log(c_j / p_j).

Where all margins are tight kappa tends to the divergence KL(p || c / sum c) of the multipliers from
the score gaps times slopes as rho grows. It is attained: lengths are free orthogonal to all A_j.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb, ctx, fmpq
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import present
from attsvm.exact import ExactAnswer, ExactData, dot, rational, rationals
from attsvm.exact.attention import loss_slope, risk_gap
from attsvm.losses import LOSSES
from attsvm.paths import path_w
from attsvm.paths.objective import GapObjective, differences
from attsvm.strategies import arrays
from attsvm.strategies.data import separable_data
from attsvm.svm import att_svm
from attsvm.theory import Slack
from properties._support.descent_runs import answer
from properties._support.programmes import EPS
from properties.tf._support.regularisation_paths import PUBLISHED, STEEP
from properties.tf._support.risk_tradeoffs import ends, least_gaps, log_spread
from properties.tf._support.token_choices import separable

__all__ = [
    "AT_ZERO",
    "OUTWEIGHED",
    "Candidate",
    "candidates",
    "certify_distance",
    "constrained",
    "distance_slack",
    "extremal",
    "feasible",
    "good",
    "large",
    "unique",
]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A data set, a loss by name, rho, and a matrix W to be held against rho W^mm."""

    data: AttentionData
    loss: str
    rho: float
    W: Array


def _reaching(data: AttentionData, loss: str, rho: float, N: Array, share: float) -> Candidate:
    """W from the minimiser along N, a share of the way to where it is as good as V no more."""
    solved = att_svm(data)
    R = rho * solved.value * (1.0 - 1e-12)
    (best,) = path_w(data, LOSSES[loss], [R], starts=("svm",))
    objective = GapObjective.of(data, LOSSES[loss])
    D, Z = differences(data, objective)

    def at(h: float) -> Array:
        W = best.W + h * N
        moved: Array = W * (R / np.linalg.norm(W))
        return moved

    def gap(W: Array) -> float:
        return objective.value(((D @ W) * Z).sum(axis=1))

    goal = gap(rho * solved.W) - 1e-9
    low, high = 0.0, R / max(float(np.linalg.norm(N)), 1e-9)
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if gap(at(middle)) <= goal else (low, middle)
    return Candidate(data, loss, rho, at(share * low))


@st.composite
def candidates(draw: st.DrawFn) -> Candidate:
    """Separable data with points about as good as V; some data have no constraint."""
    data = draw(st.one_of(separable(), separable_data()))
    loss, rho = draw(st.sampled_from(STEEP)), draw(st.sampled_from([16.0, 64.0, 256.0]))
    N, share = draw(arrays(data.d, data.d)), draw(st.sampled_from([1.0, 0.5]))
    case = Candidate(data, loss, rho, np.zeros((data.d, data.d)))
    if not (unique(case) and constrained(case) and feasible(case)):
        return case
    return _reaching(data, loss, rho, N, share)


def extremal(generator: np.random.Generator) -> Candidate:
    """Data whose last axis is free, uneven score gaps, and W along that axis."""
    n, d = int(generator.integers(1, 4)), 4
    X = np.zeros((n, 2, d + 1))
    X[:, 0, :d] = np.eye(n, d) + np.round(generator.normal(size=(n, d)) * 4) / 16
    Z = np.ones((n, 1)) * np.eye(1, d + 1)
    scores = np.zeros((n, 2))
    scores[:, 0] = 2.0 ** generator.integers(-6, 3, size=n)
    data = AttentionData(X, Z, scores=scores)
    N = np.zeros((d + 1, d + 1))
    N[d, 0] = 1.0
    rho = float(generator.choice([64.0, 1024.0]))
    case = Candidate(data, str(generator.choice(STEEP)), rho, N)
    return _reaching(data, case.loss, rho, N, 1.0) if feasible(case) else case


AT_ZERO = Candidate(PUBLISHED.data, "log-loss", 64.0, np.zeros((2, 2)))
"""W = 0, which is worse than V."""
OUTWEIGHED = Candidate(
    AttentionData(
        np.stack([np.eye(4), np.zeros((4, 4))], axis=1),
        np.eye(1, 4) * np.ones((4, 1)),
        scores=np.array([[2.0**26, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]),
    ),
    "correlation",
    16.0,
    np.array([[17.0], [-15.0], [-15.0], [-15.0]]) * np.eye(1, 4),
)
"""Four inputs on axes of their own, the first one's gap 2^26: W, with margins 17 and -15, is better
than V, whose margins are 16 < log(2 Gamma) = 18.7."""


def unique(case: Candidate) -> bool:
    """Optimal tokens are unique."""
    return ExactData.of(case.data).unique


def constrained(case: Candidate) -> bool:
    """Some input has two tokens."""
    return answer(case.data) is not None


def feasible(case: Candidate) -> bool:
    """The Att-SVM has a solution."""
    found = answer(case.data)
    return found is None or found.status == "solved"


def good(case: Candidate) -> bool:
    """||W|| <= rho ||W^mm|| in rationals, L(W) <= L(rho W^mm) in balls (undecided for W = V)."""
    solved = answer(case.data)
    if solved is None or solved.status != "solved":
        return False
    W, rho = rationals(case.W), rational(case.rho)
    if sum((dot(row, row) for row in W), fmpq(0)) > rho * rho * solved.square:
        return False
    exact, V = ExactData.of(case.data), [[rho * x for x in row] for row in solved.W]
    for bits in (256, 1024, 4096):
        with ctx.workprec(bits):
            difference = risk_gap(exact, V, case.loss) - risk_gap(exact, W, case.loss)
            if not difference.contains(0):
                return bool(difference > 0)
    return False


@dataclass(frozen=True, slots=True)
class _Inputs:
    """Of each input with two tokens: scores, and |l'| as a function; numbers or balls."""

    best: list[arb]
    gaps: list[list[arb]]
    least: list[arb]
    most: list[arb]


def _inputs(exact: ExactData, loss: str) -> _Inputs:
    """Best scores, score gaps, least and largest |l'| between worst and best score."""
    kept = [g for g in exact.gamma if len(g) > 1]
    best = [max(g) for g in kept]
    gaps = [[b - x for x in sorted(g, reverse=True)[1:]] for b, g in zip(best, kept, strict=True)]
    least, most = [], []
    for b, g in zip(best, kept, strict=True):
        ends = [_steepness(loss, b), _steepness(loss, min(g))]
        least.append(ends[0].min(ends[1]))
        peak = loss == "logistic-loss" and min(g) <= 0 <= b
        most.append(arb(1) / 4 if peak else ends[0].max(ends[1]))
    return _Inputs(best, gaps, least, most)


def _steepness(loss: str, u: fmpq | arb) -> arb:
    return -loss_slope(loss, arb(u))


def _spread(case: Candidate) -> arb:
    """Gamma."""
    found = _inputs(ExactData.of(case.data), case.loss)
    whole = sum((a * max(g) * len(g) for a, g in zip(found.most, found.gaps, strict=True)), arb(0))
    ratios = [whole / (b * min(g)) for b, g in zip(found.least, found.gaps, strict=True)]
    most = ratios[0]
    for ratio in ratios[1:]:
        most = most.max(ratio)
    return most


def large(case: Candidate) -> bool:
    """Rho >= log(2 Gamma), so that e^-rho Gamma <= 1/2."""
    with ctx.workprec(128):
        return unique(case) and constrained(case) and bool((2 * _spread(case)).log() <= case.rho)


def _kappa(case: Candidate, solved: ExactAnswer, even: bool) -> arb:
    """kappa, with all score gaps counted as one where `even`."""
    exact, rho = ExactData.of(case.data), rational(case.rho)
    found = _inputs(exact, case.loss)
    V = [[rho * x for x in row] for row in solved.W]
    G = risk_gap(exact, V, case.loss) * len(exact.X)
    total, j = rho + G.log(), 0
    weights = dot(solved.duals, [fmpq(1)] * len(solved.duals))
    kept = [g for g in exact.gamma if len(g) > 1]
    for gamma, b, slope in zip(kept, found.best, found.least, strict=True):
        x = G / slope
        y = x / min(b - g for g in gamma if g != b)
        near = _steepness(case.loss, b).min(_steepness(case.loss, b - x))
        for g in gamma:
            if g != b:
                p = solved.duals[j] / weights
                if p != 0:
                    c = arb(1) if even else near * (1 - y) * (b - g)
                    total -= p * (c / p).log()
                j += 1
    return total


def certify_distance(
    case: Candidate, simple: bool, share: float, power: float, even: bool
) -> arb | None:
    """2 c rho ||W^mm||^2 - ||W - V||^2 over ||V||^2, c = log(2 Gamma) or kappa, times share."""
    solved = present(answer(case.data), "the answer of the SVM")
    W, rho = rationals(case.W), rational(case.rho)
    c = (2 * _spread(case)).log() if simple else _kappa(case, solved, even)
    away = sum(
        (
            (w - rho * x) ** 2
            for a, b in zip(W, solved.W, strict=True)
            for w, x in zip(a, b, strict=True)
        ),
        fmpq(0),
    )
    bound = 2 * c * arb(share) / arb(rho) ** arb(power)
    return bound - arb(away / (rho * rho * solved.square))


def distance_slack(case: Candidate, simple: bool, share: float, power: float, even: bool) -> Slack:
    """The same in floats, from the exact W^mm and multipliers, rounded."""
    solved = present(answer(case.data), "the answer of the SVM")
    V = np.array([[float(arb(x)) for x in row] for row in solved.W])
    size = float(np.linalg.norm(V))
    away = float(np.linalg.norm(case.W / case.rho - V)) / size
    off = 8 * EPS * (case.data.d + 4)
    if simple:
        c, error = log_spread(GapObjective.of(case.data, LOSSES[case.loss]), case.loss), 1e-12
    else:
        c, error = _float_kappa(case, solved, V, even)
    bound = 2.0 * c * share / case.rho**power
    slip = 2.0 * error * share / case.rho**power + 4 * EPS * abs(bound)
    return Slack.at_most(away**2, bound, 2 * away * off + off**2 + slip)


def _float_kappa(case: Candidate, solved: ExactAnswer, V: Array, even: bool) -> tuple[float, float]:
    """Kappa and a bound of its error."""
    objective = GapObjective.of(case.data, LOSSES[case.loss])
    D, Z = differences(case.data, objective)
    margins = case.rho * ((D @ V) * Z).sum(axis=1)
    log_G = objective.value(margins) + math.log(objective.count)
    first, last = ends(objective)
    x = np.exp(log_G - np.minimum(first, last))
    near = np.minimum(first, objective.loss.log_slope(objective.best - x))
    delta = objective.delta[objective.input, objective.token]
    log_c = (near + np.log1p(-x / least_gaps(objective)))[objective.input] + np.log(delta)
    p = np.array([float(arb(w)) for w in solved.duals])
    p = p / p.sum()
    used = p > 0.0
    terms = (0.0 if even else log_c[used]) - np.log(p[used])
    kappa = case.rho + log_G - float(p[used] @ terms)
    norms = np.linalg.norm(D, axis=1) * np.linalg.norm(Z, axis=1)
    sizes = 1.0 + case.rho * (1.0 + float(norms.max() * np.linalg.norm(V)))
    sizes += float(np.abs(terms).max()) + float(np.abs(margins).max())
    return kappa, 16 * EPS * (case.data.d**2 + len(p) + 4) * sizes
