"""Points of a ball that are at least as good as the SVM point, and their largest distance from it.

Let W^mm be the Att-SVM solution with multipliers lambda, V = rho W^mm, and W a matrix of at most
the norm of V with L(W) <= L(V). If sum_j lambda_j m_j >= (rho - c) ||W^mm||^2 for the margins m_j
of W, then ||W/||V|| - W^mm/||W^mm|| ||^2 <= 2 c/rho. Two numbers c are computed.

The first is log(2 Gamma), if rho >= log(2 Gamma), with

    Gamma = max_i sum_j a_j Delta_j (T_j - 1) / (b_i delta_i) >= 1.

Here delta_i and Delta_j are the least and the largest gap to the best score of an input. b_i and
a_j are the least and the largest |l'| between its worst and best score.

The second one, kappa, is best possible as rho grows. With G = n (L(V) - L_*), p_j = lambda_j / sum
lambda, x_i = G / b_i, y_i = x_i / delta_i and b'_i the least |l'| within x_i of the best score,

    kappa = rho + log G - sum_j p_j log(c_j / p_j),  c_j = b'_i (1 - y_i) delta_j,

where delta_j is the gap of the rival of constraint j. The proofs are in
docs/proofs/near_optimal_points.md.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import ctx, fmpq
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import present
from attsvm.exact import ExactData, dot, rational, rationals
from attsvm.exact.attention import risk_gap
from attsvm.losses import LOSSES as FLOAT_LOSSES
from attsvm.paths import path_w
from attsvm.paths.objective import GapObjective, differences
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.primitives.hypotheses import exists, feasible, unique_optimum
from attsvm.primitives.loss_hypotheses import sloped
from attsvm.primitives.losses import LOSSES, SLOPED
from attsvm.strategies import arrays, composite
from attsvm.svm import att_svm
from attsvm.theory import Hypothesis, concludes, stated
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.types import Comparison, Namespace, Number, Numbers
from properties._support.small_runs import TIED_APART
from properties.tf._support import regularisation_paths as cases
from properties.tf._support import regularisation_paths as paths
from properties.tf.theorem_2 import near_letters as letters


@dataclass(frozen=True, slots=True)
class Candidate:
    """A data set, a loss by name, rho, and a matrix W to be compared with rho W^mm."""

    data: AttentionData
    loss: str
    rho: float
    W: Array


def _reaching(case: Candidate, N: Array, share: float) -> Candidate:
    """Return W a share of the way along N from the minimiser to the last point as good as V.

    Points are scaled to the norm R. The last one has about the risk of V.
    """
    solved, loss = att_svm(case.data), FLOAT_LOSSES[case.loss]
    R = case.rho * solved.value * (1.0 - 1e-12)
    (best,) = path_w(case.data, loss, [R], starts=("svm",))
    objective = GapObjective.of(case.data, loss)
    D, Z = differences(case.data, objective)

    def at(h: float) -> Array:
        W = best.W + h * N
        moved: Array = W * (R / np.linalg.norm(W))
        return moved

    def gap(W: Array) -> float:
        return objective.value(((D @ W) * Z).sum(axis=1))

    goal = gap(case.rho * solved.W) - 1e-9
    low, high = 0.0, R / max(float(np.linalg.norm(N)), 1e-9)
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if gap(at(middle)) <= goal else (low, middle)
    return replace(case, W=at(share * low))


@composite
def candidates(draw: st.DrawFn, *lower: float) -> Candidate:
    """Draw separable data with points about as good as V; some data have no constraint.

    rho is 16, 64, 256, or one of `lower`.
    """
    data = draw(paths.SEPARABLE)
    loss, rho = draw(st.sampled_from(SLOPED)), draw(st.sampled_from([16.0, 64.0, 256.0, *lower]))
    N, share = draw(arrays(data.d, data.d)), draw(st.sampled_from([1.0, 0.5]))
    case = Candidate(data, loss, rho, np.zeros((data.d, data.d)))
    return _reaching(case, N, share) if defined(case) else case


def extremal(generator: np.random.Generator) -> Candidate:
    """Return data with a free last axis, uneven score gaps, and W along that axis."""
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
    case = Candidate(data, str(generator.choice(SLOPED)), rho, N)
    return _reaching(case, N, 1.0) if feasible(case) else case


AT_ZERO = Candidate(paths.PUBLISHED.data, "log-loss", 64.0, np.zeros((2, 2)))
"""W = 0, which is worse than V."""
RISING = Candidate(
    AttentionData.of([[[1], [0]]], [[1]], scores=[[1, 0]]), "logistic", 1.0, np.zeros((1, 1))
)
"""On a loss that increases with the score, W = 0 is better than V."""
TIED, ONE_TOKEN, NO_SOLUTION = (
    Candidate(data, "log-loss", 64.0, np.zeros((data.d, data.d)))
    for data in (TIED_APART.data, paths.ONE_TOKEN.data, paths.NO_SOLUTION.data)
)
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
"""Four inputs on axes of their own; the first one has the score gap 2^26. W has margins 17 and -15
and is better than V, whose margins are 16 < log(2 Gamma) = 18.7."""


def defined(case: Candidate) -> bool:
    """Return whether W^mm has a direction and no best scores are tied: Gamma has a value."""
    return unique_optimum(case) and exists(case)


def large(case: Candidate) -> bool:
    """Return whether rho >= log(2 Gamma), so e^-rho Gamma <= 1/2; True if Gamma has no value."""
    with ctx.workprec(128):
        if not defined(case):
            return True
        spread: Any = paths.log_spread(BALLS, case)
        return bool(spread <= case.rho)


def cheap(case: Candidate) -> bool:
    """Return whether G = n (L(V) - L_*) < m_i d_i for every input i, so that kappa has a value.

    The loss must have a slope that is continuous and below 0. For such a loss the result is True if
    there is no V.
    """
    if not sloped(case):
        return False
    if not defined(case):
        return True
    with ctx.workprec(128):
        inputs = paths.inputs(BALLS, case)
        G = _cost(BALLS, case, inputs)
        return all(bool(own.least * BALLS.min(own.gaps) > G) for own in inputs)


def cheap_if_sloped(case: Candidate) -> bool:
    """Return `cheap` for losses with a slope that is continuous and below 0, else True."""
    return not sloped(case) or cheap(case)


def good(case: Candidate) -> bool:
    """Return whether ||W|| <= rho ||W^mm|| (rationals) and L(W) <= L(rho W^mm) (balls).

    The latter is undecided, and counts as False, for W = V. True if there is no W^mm to compare
    with, or if best scores are tied.
    """
    if not defined(case):
        return True
    solved = present(exact_att_svm(case.data), "the answer of the SVM")
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


LARGE = Hypothesis(
    "rho is at least log(2 Gamma)",
    large,
    says="rho is at least ln(2 Gamma)",
    proposition=letters.large,
)
SMALL_COST = Hypothesis(
    "n (L(R U) - L_*) < m_i d_i for every i, if l' is continuous and below 0",
    cheap_if_sloped,
    proposition=letters.cheap,
)
GOOD = Hypothesis("||W|| <= R and L(W) <= L(R U)", good, proposition=letters.good)


def distance(m: Namespace, case: Candidate) -> Number:
    """Return ||W / rho - W^mm||^2 / ||W^mm||^2."""
    solved, rho = present(exact_att_svm(case.data), "the answer of the SVM"), m.values(case.rho)
    V = rho * m.values(solved.W)
    return m.sum(m.square(m.values(case.W) - V)) / m.sum(m.square(V))


def _cost(m: Namespace, case: Candidate, inputs: list[paths.Input]) -> Any:
    """Return G = n (L(V) - L_*)."""
    solved = present(exact_att_svm(case.data), "the answer of the SVM")
    V, G = m.values(case.rho) * m.values(solved.W), m.exact(0)
    for own in inputs:
        deficit = m.dot(m.softmax(own.tokens @ (V @ own.query)), own.best - own.gamma)
        G = G + LOSSES[case.loss].drop(m, own.best, deficit)
    return G


def kappa(m: Namespace, case: Candidate, gaps: str = "own") -> Numbers:
    """Return kappa; with `gaps` = "one" every product of a score gap and a slope counts as 1."""
    solved, inputs = (
        present(exact_att_svm(case.data), "the answer of the SVM"),
        paths.inputs(m, case),
    )
    rho, G = m.values(case.rho), _cost(m, case, inputs)
    total, held = rho + m.log(G), sum(solved.duals.values(), fmpq(0))
    duals = iter(solved.duals.values())
    for own in inputs:
        x = G / own.least
        near = m.minimum(own.first, paths.steepness(m, case.loss, own.best - x))
        for gap, dual in zip(own.gaps, duals, strict=False):
            if dual != 0:
                p, c = m.values(dual / held), near * (1 - x / m.min(own.gaps)) * gap
                total = total - p * m.log((1 if gaps == "one" else c) / p)
    return total


POINT = "U = W^mm/||W^mm|| and rho = R/||W^mm||"


@concludes(letters.close)
@stated(
    "",
    r"\|\frac{W}{R} - U\|^2 \le $share \frac{2 \ln(2 \Gamma)}{\rho^$power}",
    where=f"{POINT}, and Gamma is the largest over inputs i of several tokens of sum_j M_j D_j "
    "(T_j - 1)/(m_i d_i), D and d being the largest and least score gap of an input, M and m the "
    "largest and least |l'| between its worst and best score",
)
def close(m: Namespace, case: Candidate, share: Number = 1, power: int = 1) -> Comparison:
    return _within(m, case, cases.log_spread, share, power)


@concludes(letters.closest)
@stated(
    "$formula",
    r"\|\frac{W}{R} - U\|^2 \le $share \frac{2 $gaps}{\rho^$power}",
    {"gaps": {"own": r"\kappa", "one": r"\kappa_1"}},
    where=f"{POINT}, kappa = rho + ln G - sum_j p_j ln(c_j/p_j) over tokens j of positive "
    "multiplier, G = n (L(R U) - L_*), p_j is the share of j in the sum of multipliers, c_j = b_i "
    "(score gap of j) (1 - G/(m_i d_i)) in its input i, b_i is the least |l'| from the best score "
    "down to G/m_i below it, and d_i and m_i are the least score gap and the least |l'| of input i",
)
def closest(
    m: Namespace, case: Candidate, share: Number = 1, power: int = 1, gaps: str = "own"
) -> Comparison:
    if defined(case) and not cheap(case):
        return m.below(m.exact(0), m.exact(0))  # kappa would be the logarithm of a number <= 0
    return _within(m, case, lambda m, case: kappa(m, case, gaps), share, power)


def _within(
    m: Namespace,
    case: Candidate,
    constant: Callable[[Namespace, Candidate], Number],
    share: Number,
    power: int,
) -> Comparison:
    if not defined(case):
        return m.below(m.exact(0), m.exact(0))  # there is no U, or no Gamma
    bound = 2 * share * constant(m, case) / m.power(m.values(case.rho), power)
    return m.at_most(distance(m, case), bound)
