"""Runs of descent towards a max-margin solution, shared by the claims about limits."""

from dataclasses import replace

import numpy as np
from flint import arb, fmpq
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from attsvm._dyadic import composite
from attsvm.data import AttentionData
from attsvm.exact import ExactData, rationals
from attsvm.exact.numbers import Matrix
from attsvm.exact.traps import moves_along_margins
from attsvm.limits import direction_converges
from attsvm.losses import LOSSES
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.primitives.descent import Descent
from attsvm.primitives.limit_certificates import certified_direction, ends_at
from attsvm.primitives.steps import by_gradient_flow
from attsvm.strategies import arrays, numbers, sizes
from attsvm.strategies.adversarial_starts import starts_about
from attsvm.theory import OPEN, Slack
from attsvm.theory.types import Values


def max_margin(data: AttentionData, towards: str) -> Matrix | None:
    """Return the exact target of a run; None if it does not exist.

    `optimal` is X^mm, `worst` the solution for the worst tokens, `opposite` is -X^mm, `mean` is the
    sum of all constraint matrices. `turned` is X^mm with its first entry increased by 1/64 of the
    sum of the absolute values of all entries.
    """
    exact = ExactData.of(data)
    worst = [kept[g.index(min(g))] for kept, g in zip(exact.kept, exact.gamma, strict=True)]
    solved = exact_att_svm(data, worst if towards == "worst" else None)
    if solved is None or not solved.A:
        return None
    if towards == "mean":
        total = [sum(column, fmpq(0)) for column in zip(*solved.A.values(), strict=True)]
        return [total[k : k + data.d] for k in range(0, data.d**2, data.d)]
    if towards == "turned":
        size = sum((abs(x) for row in solved.W for x in row), fmpq(0))
        first = [solved.W[0][0] + size / 64, *solved.W[0][1:]]
        return [first, *solved.W[1:]]
    sign = -1 if towards == "opposite" else 1
    return [[sign * x for x in row] for row in solved.W]


@by_gradient_flow
def reaches(run: Values, towards: str = "optimal") -> Slack:
    """Return the slack of "descent from the start converges in direction to the target"."""
    target = max_margin(run.data, towards)
    if target is None:
        return Slack(-1.0, 0.0)  # there is nothing to converge to
    W = np.array([[float(arb(x)) for x in row] for row in target])
    return direction_converges(run.data, run.W, LOSSES[run.loss], W)


def certified_limit(run: Values, towards: str) -> arb | None:
    """Return 1 if the direction provably converges to the target, a negative number if not.

    The result is negative if the target does not exist. It is negative if the loss increases and
    <X, X^mm> decreases forever, or the run ends at a finite norm. Otherwise it is the result of
    `certified_direction`. None without a proof.
    """
    exact = ExactData.of(run.data)
    target = max_margin(run.data, towards)
    if target is None:
        return arb(-1)
    solved = exact_att_svm(run.data)
    if solved is None or not exact.unique:
        return None
    if LOSSES[run.loss].direction > 0:
        if towards == "optimal" and (solved.all_tight or moves_along_margins(exact)):
            return arb(-1)
        end = ends_at(run.data, rationals(run.W), run.loss, run.step)
        return None if end is None else end.apart(target)
    return certified_direction(run.data, rationals(run.W), run.loss, target, run.step)


def tight_data() -> st.SearchStrategy[AttentionData]:
    """Return a strategy of data sets in which mostly all tokens are support vectors.

    Rivals differ along orthogonal axes, so that X^mm is mostly the only local solution, or inputs
    have opposed gradients.
    """
    return st.one_of(axes_data(), axes_data(), opposed_data())


@composite
def axes_data(draw: st.DrawFn) -> AttentionData:
    """Draw inputs of up to three tokens, with rivals on orthogonal axes and a little noise."""
    n, T = draw(sizes(1, 2)), draw(sizes(1, 3))
    d = max(n * (T - 1), 1)
    X = np.repeat(draw(arrays(n, d))[:, None, :], T, axis=1)
    best = [draw(sizes(0, T - 1)) for _ in range(n)]
    axis = 0
    for i in range(n):
        for t in range(T):
            if t != best[i]:
                X[i, t, axis] -= draw(st.sampled_from([1.0, 2.0, 0.5, -1.0]))
                axis += 1
    if draw(st.booleans()):
        X = X + draw(arrays(n, T, d)) / 16
    scores = -np.abs(draw(arrays(n, T)))
    scores[np.arange(n), best] = np.abs(draw(arrays(n)))
    return AttentionData(X, draw(arrays(n, d)) + np.eye(1, d), scores=scores)


def rival_data() -> st.SearchStrategy[AttentionData]:
    """Return a strategy of data sets with one score for all rivals of the optimal token.

    Tokens are arbitrary, or those of inputs with opposed gradients.
    """
    return st.one_of(levelled_data(), levelled_data(), opposed_data())


@composite
def levelled_data(draw: st.DrawFn) -> AttentionData:
    """Draw arbitrary tokens, with one score for all rivals of the optimal one."""
    n, T, d = draw(sizes(1, 2)), draw(sizes(1, 3)), draw(sizes(1, 3))
    scores = np.repeat(draw(arrays(n, 1)), T, axis=1)
    best = [draw(sizes(0, T - 1)) for _ in range(n)]
    scores[np.arange(n), best] += 1.0 + np.abs(draw(arrays(n)))
    Z = draw(arrays(n, d)) + np.eye(n, d)
    return AttentionData(draw(arrays(n, T, d)), Z, scores=scores)


@composite
def opposed_data(draw: st.DrawFn) -> AttentionData:
    """Draw two inputs of two tokens in the plane with a common query and opposed gradients."""
    reach, lift = draw(st.sampled_from([2.0, 3.0, 4.0, 1.0])), draw(st.sampled_from([1.0, 2.0]))
    gaps = [draw(st.sampled_from([2.0, 4.0, 1.0, 0.5])) for _ in range(2)]
    level = draw(numbers())
    return AttentionData.of(
        [[[1.0, 0.0], [0.0, 0.0]], [[-reach, lift], [0.0, 0.0]]],
        [[1.0, 0.0], [1.0, 0.0]],
        scores=[[gaps[0], -gaps[0]], [level + gaps[1], level]],
    )


@composite
def runs(draw: st.DrawFn, data: SearchStrategy[AttentionData], *powers: int) -> Descent:
    """Draw a run on data of the strategy from one of `starts_about` the data."""
    drawn = draw(data)
    return Descent(drawn, draw(starts_about(drawn, *powers)))


LEAPING = replace(
    Descent.of(
        [[[1, 0], [0, 0]], [[-2, 1], [0, 0]]], [[1, 0]] * 2, [[2, 0], [10, 0]], scores=[[1, 0]] * 2
    ),
    step=256.0,
)
"""A run in the basin with a long step: after one step the second input selects its worse token
forever."""

LOCAL_TRAP = Descent.of(
    [[[1, 0], [0, 2], [0, 1], [0, -1]]], [[1, 0]], [[0, 0], [20, 0]], scores=[[3, 2, 1, -1]]
)
"""A run of one input, all of whose tokens are support vectors; it selects the second-best token
forever."""


def towards_solution(generator: np.random.Generator) -> Descent:
    """Return a run on larger data with rivals on orthogonal axes, started near the ray of X^mm."""
    n, T = int(generator.integers(1, 4)), int(generator.integers(2, 5))
    d = n * (T - 1)
    X = np.zeros((n, T, d))
    for i in range(n):
        for t in range(1, T):
            X[i, t, i * (T - 1) + t - 1] = -1.0
    scores = generator.integers(-4, 1, size=(n, T)) / 4
    scores[:, 0] = 1.0
    Z = np.eye(n, d) if n <= d else np.ones((n, d))
    start = 6.0 * sum(np.outer(-X[i, t], Z[i]) for i in range(n) for t in range(1, T))
    return Descent(
        AttentionData(X, Z, scores=scores), start + generator.integers(-4, 5, size=(d, d)) / 4
    )


def or_more_bits(ball: arb | None) -> arb:
    """Return the ball; for None, an undecided ball, which the judge evaluates with more bits."""
    return OPEN if ball is None else ball
