"""Instances of the conjecture: data sets and starts in many dimensions, explicit and drawn."""

import itertools
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.exact import ExactData, dot
from attsvm.primitives.descent import Descent
from attsvm.primitives.hypotheses import UNIQUE
from attsvm.primitives.losses import SLOPED as LOSSES
from attsvm.primitives.steps import SHORT_STEPS, is_short
from attsvm.strategies import arrays, composite, sizes
from attsvm.strategies.adversarial_starts import starts_about
from attsvm.theory import Hypothesis
from properties._support import token_choices as choices
from properties._support.suppositions import BENT_LOSS
from properties.tf._support import descent_instances as cases

OBTUSE, PASSED = (cases.wide(case, 3) for case in (cases.OBTUSE, cases.PASSED))
DRAGGED, OWN_TOKEN = (cases.wide(case, 4) for case in (cases.NOT_ALIGNED, cases.OWN_TOKEN))
"""From zero the second input goes to its worse token. In `OWN_TOKEN` queries are first tokens."""
OUTRUN = replace(
    cases.from_zero(
        [
            [[2, 4, 4, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
            [[2, 2, 0, 1], [0, 0, 0, 0], [0, 0, 0, 2], [0, 2, 0, 1]],
        ],
        y=[1.0, 1.0],
        v=[8.0, -0.75, -3.5, -0.5],
        mask=[[True, True, False, False], [True] * 4],
    ),
    loss="correlation",
)
"""All tokens support all Local-SVMs; from zero the first input keeps its worse token."""
LONG, LONG_OF_THREE = (
    replace(cases.from_zero([np.eye(T)], scores=[np.arange(T)[::-1]]), step=256.0) for T in (4, 3)
)
TIED = cases.from_zero([[[1], [0]]], scores=[[0.0, 0.0]])
NO_SOLUTION = cases.from_zero([[[1], [1]]], scores=[[1.0, 0.0]])
"""Two equal tokens: no Local-SVM has a solution."""


@composite
def staircases(draw: st.DrawFn) -> AttentionData:
    """Draw one input whose tokens step along one axis after the other, so multipliers are 0."""
    T = draw(sizes(2, 4))
    order = np.array(draw(st.permutations(range(T))))
    scores = order + np.abs(draw(arrays(T))) / 16
    return AttentionData(np.tri(T, T - 1, -1)[None], np.eye(1, T - 1), scores=scores[None])


@composite
def edges(draw: st.DrawFn) -> AttentionData:
    """Draw two or three inputs of one query; the last one is opposed as far as is feasible."""
    n = draw(sizes(2, 3))
    share, X = draw(st.sampled_from([0.5, 0.25, 0.75])), np.zeros((n, 2, n))
    X[:, 0] = np.eye(n) * np.append(np.ones(n - 1), draw(st.sampled_from([1.0, 0.5, 2.0])))
    X[-1, 0, : n - 1] = [-1.0] if n == 2 else [-share, share - 1.0]
    scores = np.stack([np.abs(draw(arrays(n))) + 0.125, np.zeros(n)], axis=1)
    return AttentionData(X, np.eye(1, n).repeat(n, axis=0), scores=scores)


@composite
def supported(draw: st.DrawFn) -> Descent:
    """Draw runs on data of `staircases`, `edges` or `on_axes`, from starts of any kind."""
    kind = draw(st.integers(0, 3))
    data = draw(edges() if kind == 3 else staircases() if kind == 2 else choices.on_axes())
    return Descent(data, draw(starts_about(data, 0, 1, 3)), draw(st.sampled_from(LOSSES)))


def at_rest() -> st.SearchStrategy[Descent]:
    """Return a strategy of the data of `supported`, from zero."""
    return supported().map(cases.at_zero)


@composite
def simplices(draw: st.DrawFn) -> Descent:
    """Draw runs on inputs near regular simplices, with scores in any order.

    Queries are orthogonal, similar or equal.
    """
    n = draw(sizes(1, 3))
    T = draw(sizes(2, 5 - n))
    X = np.eye(n * T).reshape(n, T, n * T) * draw(st.sampled_from([1.0, 2.0]))
    X = X + draw(arrays(n, T, n * T)) / 32
    if n > 1:  # inputs that raise or lower each other's margins
        X[-1, 0] += draw(st.sampled_from([0.0, 0.5, -0.5])) * (X[0, 0] - X[0, 1])
    Z = np.eye(n, n * T) * draw(st.sampled_from([1.0, 0.5]))
    Z[1:] = [Z[1:], Z[:1] + Z[1:], Z[:1]][draw(st.integers(0, 2))]
    ranks = np.array([draw(st.permutations(range(T))) for _ in range(n)], dtype=float)
    scores = ranks * draw(st.sampled_from([1.0, 0.5, 2.0])) + draw(arrays(n, 1))
    data = AttentionData(X, Z, scores=scores)
    return Descent(data, draw(starts_about(data, 0, 1, 3)), draw(st.sampled_from(LOSSES)))


@composite
def apart(draw: st.DrawFn) -> Descent:
    """Draw runs on inputs of orthogonal queries, each near a regular simplex or a staircase."""
    n = draw(sizes(1, 2))
    T = draw(sizes(3, 5 - n))
    X, Z = np.zeros((n, T, T + n)), np.eye(n, T + n)
    for tokens in X:
        if draw(st.booleans()):
            tokens[draw(st.permutations(range(T)))] = np.tri(T, T + n, -1)
        else:
            tokens[:] = np.eye(T, T + n) * draw(st.sampled_from([1.0, 2.0]))
            tokens += draw(arrays(T, T + n)) / 32
    if n > 1 and draw(st.booleans()):
        Z[:2] = [Z[0] + Z[1], Z[0] - Z[1]]
    ranks = np.array([draw(st.permutations(range(T))) for _ in range(n)], dtype=float)
    scores = (ranks + draw(arrays(n, T)) / 16) * draw(st.sampled_from([1.0, 0.5, 2.0]))
    fewer = [np.arange(T) < T - draw(st.integers(0, 1)) for _ in range(n)]
    data = AttentionData(X, Z, scores=scores, mask=np.array(fewer))
    return Descent(data, draw(starts_about(data, 0, 1, 3)), draw(st.sampled_from(LOSSES)))


@composite
def acting(draw: st.DrawFn) -> Descent:
    """Draw runs on inputs of one query that move each other's margins, with two tokens each.

    The first input may have three tokens.
    """
    data, powers = draw(edges()), [0, 1]  # from further away runs take too long
    if draw(st.booleans()):
        n = draw(sizes(2, 3))
        X = np.zeros((n, 3, n + 2))
        X[:, 0, :n], X[0, 1, n], X[0, 2, n + 1] = np.eye(n), 1.0, 1.0
        X += draw(arrays(n, 3, n + 2)) / 32
        X[-1, 0] += draw(st.sampled_from([0.25, -0.25])) * (X[0, 0] - X[0, 1])
        scores = np.array([draw(st.permutations(range(3))) for _ in range(n)], dtype=float)
        mask = np.arange(3) < np.array([draw(sizes(2, 3)), *[2] * (n - 1)])[:, None]
        Z = np.eye(1, n + 2).repeat(n, axis=0)
        data = AttentionData(X, Z, scores=scores + draw(arrays(n, 1)), mask=mask)
        powers = [0, 1, 3]
    return Descent(data, draw(starts_about(data, *powers)), draw(st.sampled_from(LOSSES)))


# hypotheses


def orthogonal(case: Descent) -> bool:
    """Return whether the queries are orthogonal to each other."""
    pairs = itertools.combinations(ExactData.of(case.data).Z, 2)
    return all(dot(a, b) == 0 for a, b in pairs)


def few(case: Descent) -> bool:
    """Return whether at most one input has three tokens, and the others have at most two."""
    counts = sorted(case.data.present.sum(axis=1))
    return bool(counts[-1] <= 3 and all(count <= 2 for count in counts[:-1]))


def short_or_few(case: Descent) -> bool:
    """Return whether the step is at most 1/L, or queries are orthogonal and T <= 3."""
    few = case.data.present.sum(axis=1).max() <= 3 and orthogonal(case)
    return bool(few) or is_short(case)


def different(case: Descent) -> bool:
    """Return whether no two tokens of an input have the same score."""
    return all(len(set(gamma)) == len(gamma) for gamma in ExactData.of(case.data).gamma)


SHORT_OR_FEW = Hypothesis(
    "the step is at most 1/L, or queries are orthogonal and no input has more than three tokens",
    short_or_few,
    says=f"the step is {SHORT_STEPS}, or queries are orthogonal and no input has more than three "
    "tokens",
    implies=(BENT_LOSS,),
)
ORTHOGONAL = Hypothesis("queries are orthogonal", orthogonal)
FEW = Hypothesis("at most one input has three tokens, and the others have at most two", few)
DIFFERENT = Hypothesis("no two scores of an input are equal", different, implies=(UNIQUE,))
BETTER = Hypothesis(
    "in the Local-SVM of each choice but the best, if it has a solution, all better tokens "
    "are support vectors, one of them with a positive multiplier",
    lambda case: choices.better_support(case.data),
)
SUPPORTED = Hypothesis(
    "all better tokens are support vectors",
    lambda case: choices.better_support(case.data, positive=False),
)
