"""Runs of descent: instances, mostly with all tokens as support vectors, and their limits."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from attsvm.data import AttentionData
from attsvm.errors import present
from attsvm.primitives import descent_letters as letters
from attsvm.primitives import descent_limits as limits
from attsvm.primitives import run_programs
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_limits import Letters, limit
from attsvm.primitives.descent_runs import LEAPING, LOCAL_TRAP, tight_data, towards_solution
from attsvm.primitives.gradients import negative_gradient
from attsvm.primitives.hypotheses import BASIN, EXISTS, UNIQUE
from attsvm.primitives.loss_hypotheses import SLOPED_LOSS
from attsvm.primitives.losses import SLOPED
from attsvm.primitives.steps import SHORT, W_K, solutions
from attsvm.strategies import arrays, composite, sizes
from attsvm.strategies.adversarial_starts import starts_about
from attsvm.strategies.data import ragged, ragged_larger
from attsvm.theory import changed, concludes, stated
from attsvm.theory.types import Comparison, Namespace
from properties._support import small_runs as small


@composite
def descents(draw: st.DrawFn, losses: Sequence[str] = SLOPED) -> Descent:
    """Draw runs whose data mostly have all tokens as support vectors, some masked.

    Starts are adversarial, zero, small or large.
    """
    data = draw(ragged(tight_data()))
    loss = draw(st.sampled_from(losses))
    return Descent(data, draw(starts_about(data, 0, 2)), loss)


@composite
def opposed(draw: st.DrawFn) -> Descent:
    """Draw two inputs of the same tokens and scores with opposed queries."""
    T, d = draw(sizes(2, 3)), draw(sizes(1, 2))
    X, z, gamma = draw(arrays(1, T, d)), draw(arrays(1, d)), draw(arrays(1, T))
    factor = draw(st.sampled_from([1.0, 2.0, 0.5]))
    data = AttentionData(
        np.repeat(X, 2, axis=0),
        np.concatenate([z, -factor * z]),
        scores=np.repeat(gamma, 2, axis=0),
    )
    loss = draw(st.sampled_from(SLOPED))
    return Descent(data, np.zeros((d, d)), loss)


def larger(generator: np.random.Generator, losses: Sequence[str] = SLOPED) -> Descent:
    """Return a run on up to three inputs of four tokens, from a random start."""
    run = towards_solution(generator)
    start = generator.integers(-8, 9, size=run.start.shape) / 4
    return Descent(ragged_larger(generator, run.data), start, str(generator.choice(losses)))


def started_right(generator: np.random.Generator) -> Descent:
    """Return a run on up to three inputs of four tokens, started along W^mm plus a random part."""
    run = towards_solution(generator)
    data = ragged_larger(generator, run.data)
    return Descent(data, run.start, str(generator.choice(SLOPED)))


def at_zero(run: Descent) -> Descent:
    """Return the run from zero."""
    return replace(run, start=np.zeros_like(run.start))


def descent(run: Descent, loss: str = "log-loss") -> Descent:
    """Return the run with another loss."""
    return replace(run, loss=loss)


def from_zero(tokens: object, queries: ArrayLike | None = None, **head: Any) -> Descent:
    """Return descent from 0 on the log-loss.

    Queries are e_1 by default; `head` has the scores, or labels y and a head v.
    """
    X = np.array(tokens, dtype=np.float64)
    n, _, d = X.shape
    Z = np.eye(1, d).repeat(n, axis=0) if queries is None else queries
    return Descent(AttentionData.of(X, Z, **head), np.zeros((d, d)), "log-loss")


TIED = from_zero([[[1], [0]]], y=[1.0], v=[0.0])
ONE_TOKEN = from_zero([[[1]]], scores=[[1.0]])
OPPOSED = from_zero([[[1], [0]], [[1], [0]]], [[1.0], [-1.0]], scores=[[1.0, 0.0]] * 2)
TRAP = descent(LOCAL_TRAP)
NO_QUERY, PASSED_OVER, TIED_ASIDE = (
    descent(run) for run in (small.NO_QUERY, small.PASSED_OVER, small.TIED_ASIDE)
)
FLAT = replace(from_zero([[[2], [0]]], y=[1.0], v=[1.0]), loss="squared")
"""(1 - u)^2 has no slope at the score 1 that attention starts with."""
FLAT_AT_ZERO = replace(from_zero([[[1], [-1]]], scores=[[1.0, -1.0]]), loss="cubic")
"""The loss -u^3 is strictly decreasing, and has no slope at the score 0 that attention starts with.

W^mm is 1/2, and both tokens are support vectors."""


LETTERS = Letters("W_0", W_K, solutions("W")["towards"])
DIRECTION = limit(limits.DIRECTION, LETTERS)
DIVERGES, RATE = limit(limits.NORM, LETTERS), limit(limits.RATE, LETTERS)

WORST = {"towards the worst tokens": changed(towards="worst")}
WRONG = {**WORST, "W^mm turned by about a 64th": changed(towards="turned")}
"""Siblings of a limit of directions that name another limit."""

VIOLATING = {
    EXISTS: [from_zero([[[1], [1]]], scores=[[1.0, 0.0]])],
    SLOPED_LOSS: [FLAT],
    UNIQUE: [descent(small.TIED_APART)],
    BASIN: [descent(small.NOT_ALIGNED, "correlation")],
    SHORT: [descent(LEAPING)],
}
"""Runs that each violate one hypothesis on descent from the basin."""


NOT_ALIGNED = replace(
    from_zero([[[1, 0], [0, 0]], [[-2, 1], [0, 0]]], y=[1.0, 1.0], v=[4.0, 9.0]),
    loss="correlation",
)
OWN_TOKEN = from_zero([[[1, 0], [0, 0]], [[1, 0], [3, -1]]], y=[1.0, 1.0], v=[4.0, 9.0])
"""The second input of `NOT_ALIGNED` is moved so that each query is the input's own first token."""
PASSED = replace(
    from_zero([[[1, 0], [4, -4], [2, 0]]], y=[1.0], v=[-3.0, -2.0]), loss="correlation"
)
"""From zero descent goes to the second-best token; the query is the first and best one."""
ONE_OF_FOUR = replace(
    from_zero([[[1, 0], [0, 2], [0, 1], [0, -1]]], y=[1.0], v=[5.0, 2.0]), loss="correlation"
)
"""All tokens of the one input are support vectors; from zero descent goes to the second one."""
SHARED_TOKEN = from_zero(
    [[[0, 1], [1, 4], [-4, 3]], [[0, 1], [-1, 4], [4, 3]]],
    [[0.0, 1.0]] * 2,
    y=[1.0, -1.0],
    v=[1.0, 0.0],
)
"""Self-attention at rest: the query of each input is its first token, which both inputs share.

The inputs are mirror images with opposite labels, so that their parts of the gradient cancel at W =
0 for every loss. The second tokens are optimal, and W = (0, 0; 0, 1) gives them the margins 3 and
1.
"""
OBTUSE = replace(
    from_zero([[[1, 0], [-1, -1], [0, 0]]], y=[1.0], v=[2.0, -3.0]),
    start=np.array([[-20.0, 0.0], [-20.0, 0.0]]),
)
"""Three tokens, started at the second best, which is no support vector; the query is the first."""


def wide(case: Descent, d: int) -> Descent:
    """Return the run in a space of d dimensions; tokens, queries and head are 0 in the new ones."""
    more, data = d - case.data.d, case.data
    parts = data.X, data.Z, present(data.v, "the head v")
    X, Z, v = (np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, more)]) for x in parts)
    inputs = AttentionData(X, Z, y=data.y, v=v, mask=data.mask)
    return replace(case, inputs=inputs, start=np.pad(case.start, (0, more)))


@concludes(letters.not_stationary)
@stated(
    "W is no stationary point, that is $formula",
    r"\|\nabla L(W)\| > 0",
    checked=run_programs.moves,
)
def not_stationary(m: Namespace, case: Descent) -> Comparison:
    """The gradient at W is not 0."""
    return m.below(
        -m.norm(negative_gradient(m, case.inputs, case.start, case.loss).matrix), m.exact(0)
    )
