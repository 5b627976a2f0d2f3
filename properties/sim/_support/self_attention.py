"""Limits of X(k) under self-attention, and instances; see `attsvm.primitives.self_attention`."""

from dataclasses import replace

import numpy as np
from flint import arb
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from attsvm.data import AttentionData
from attsvm.exact import ExactData, rationals
from attsvm.exact.numbers import Matrix, transpose
from attsvm.exact.traps import is_stationary_start
from attsvm.limits import direction_converges
from attsvm.losses import LOSSES
from attsvm.primitives import run_programs
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_letters import transposed
from attsvm.primitives.descent_runs import max_margin
from attsvm.primitives.growth_rates import arrives
from attsvm.primitives.hypotheses import unique_optimum
from attsvm.primitives.limit_certificates import certified_direction
from attsvm.primitives.self_attention import SelfAttention
from attsvm.primitives.steps import (
    ITERATED,
    SHARES,
    TARGET,
    by_gradient_flow,
    converges_in_direction,
    solutions,
    stepped,
)
from attsvm.strategies import arrays, composite, sizes
from attsvm.theory import Records, Slack
from attsvm.theory.arithmetic.namespace import Proposition
from attsvm.theory.arithmetic.programs import Programs
from properties.sim import LOSS_NAMES, PRINTED


def descending(
    tokens: ArrayLike,
    labels: ArrayLike,
    values: ArrayLike | None = None,
    start: ArrayLike | None = None,
    *,
    causal: bool,
) -> Descent:
    """Return descent on self-attention; by default values are the identity and X(0) = 0."""
    A, d = np.array(tokens, dtype=np.float64), np.shape(tokens)[-1]
    parts = (np.eye(d) if values is None else values), labels, start
    y, b, X = (np.zeros((d, d)) if x is None else np.array(x, np.float64) for x in parts)
    return Descent(SelfAttention(A, y, b, causal), X)


def runs(
    drawn: st.SearchStrategy[Descent],
    fixed: tuple[str, ...] = (),
    steps: tuple[float, ...] = SHARES,
) -> Records:
    """Return the records of descent on self-attention, with steps of these sizes."""
    lets = (
        f"{ITERATED}, on sequences; a position with a column of the values is an entry, if its "
        "label b is not 0, and an input: its token is the query z, the tokens x_t that it attends "
        "to have the scores b <x_t, y>, y the column"
    )
    return replace(stepped(Descent, drawn, fixed=fixed, steps=steps), lets=lets)


# the limit of X(k)


def goals(data: AttentionData, towards: str, side: str) -> list[Matrix] | None:
    """Return the limits of W = X^T under which the named side of X(k) converges to the target.

    The sides are "X(k)", "X(k)^T" and, with any other word, either of both. The `towards` are those
    of `max_margin`. None if there is no target.
    """
    target = max_margin(data, towards)
    if target is None:
        return None
    sides = {"X(k)": [transpose(target)], "X(k)^T": [target]}
    return sides.get(side, [target, transpose(target)])


def converges(run: Descent, aims: list[Matrix] | None) -> Slack:
    """Return the slack of "W converges in direction to one of these aims", measured by its rate."""
    if aims is None:
        return Slack(-1.0, 0.0)  # there is nothing to converge to
    slacks = []
    for aim in aims:
        W = np.array([[float(arb(x)) for x in row] for row in aim])
        slacks.append(direction_converges(run.data, run.W, LOSSES[run.loss], W))
    return max(slacks, key=lambda slack: (slack.kind == "unknown", slack.value))


def proved(run: Descent, aims: list[Matrix] | None) -> arb | None:
    """Return 1 if the run provably converges to one of the aims, a negative number if provably not.

    None without a proof.
    """
    if aims is None:
        return arb(-1)
    balls = [_limit(run, aim) for aim in aims]
    known = [ball for ball in balls if ball is not None]
    if any(ball > 0 for ball in known):
        return arb(1)
    return max(known, key=lambda ball: ball.mid()) if len(known) == len(balls) else None


def _limit(run: Descent, aim: Matrix) -> arb | None:
    start = rationals(run.W)
    still = is_stationary_start(ExactData.of(run.data), start, run.loss)
    if still or (run.loss != PRINTED and unique_optimum(run)):
        return certified_direction(run.data, start, run.loss, aim, run.step)
    return arrives(run.data, run.W, run.loss, aim, run.step)


@by_gradient_flow
def reaches(case: Descent, towards: str = "optimal", side: str = "X(k)^T") -> Slack:
    """Return the slack of "the named side of X(k) converges in direction to the target"."""
    return converges(case, goals(case.data, towards, side))


def decided(case: Descent, towards: str = "optimal", side: str = "X(k)^T") -> arb | None:
    """Return 1 if the named side of X(k) provably converges to the target, negative if not.

    None without a proof.
    """
    return proved(case, goals(case.data, towards, side))


def checked(
    m: Programs, case: Descent, towards: str = "optimal", side: str = "X(k)^T"
) -> Proposition:
    """Return the same in the words of the checker; the run follows W = X(k)^T."""
    if side == "X(k)":
        return run_programs.converges(m, case, towards, turned=True)
    return run_programs.converges(m, case, towards, sides=side != "X(k)^T")


DIRECTION = converges_in_direction(
    "under descent on the sum of $loss over all entries U = $side has $formula",
    "U",
    TARGET,
    floats=reaches,
    balls=decided,
    proposition=transposed,
    checked=checked,
    symbols={**solutions("X"), **LOSS_NAMES},
    where="X^mm and X^low are the max-margin solutions of the tokens of best and of lowest score",
)


# instances


@composite
def sequences(draw: st.DrawFn, *powers: int) -> Descent:
    """Draw one or two sequences of up to three tokens, from zero or a start of a given size.

    Each sequence has either multiples of different axes or any tokens. Values are the identity or
    any, and labels are one-hot or any. Starts have the sizes 2^power.
    """
    m, n, d = draw(sizes(1, 2)), draw(sizes(1, 3)), draw(sizes(1, 3))
    if draw(st.booleans()):
        d = max(n, d)
        axes = np.stack([np.eye(d)[draw(st.permutations(range(d)))][:n] for _ in range(m)])
        tokens = axes * draw(st.sampled_from([1.0, 2.0, -1.0, 0.5]))
    else:
        tokens = draw(arrays(m, n, d))
    values = np.eye(d) if draw(st.booleans()) else draw(arrays(d, d))
    hot = np.array([[draw(sizes(0, d - 1)) for _ in range(n)] for _ in range(m)])
    labels = np.eye(d)[hot] if draw(st.booleans()) else draw(arrays(m, n, d))
    if not labels.any():
        labels = np.eye(d)[hot]
    scale = draw(st.sampled_from([0.0, *(2.0**power for power in powers)]))
    start = scale * draw(arrays(d, d))
    return Descent(SelfAttention(tokens, values, labels, draw(st.booleans())), start)


@composite
def near_solution(draw: st.DrawFn) -> Descent:
    """Draw sequences started at a multiple of the transpose of X^mm plus a random part."""
    case = draw(sequences())
    noise, size = draw(arrays(*case.start.shape)) / 8, draw(st.sampled_from([4.0, 8.0, 1.0]))
    target = max_margin(case.data, "optimal")
    along = 0.0 if target is None else np.array([[float(arb(x)) for x in row] for row in target]).T
    return replace(case, start=np.round(64.0 * size * along) / 64 + noise)


def asking(tokens: ArrayLike, columns: ArrayLike, *, causal: bool = False) -> Descent:
    """Return sequences with identity values; each position is labelled by one column."""
    labels = np.eye(np.shape(tokens)[-1])[np.array(columns)]
    return descending(tokens, labels, causal=causal)


LINE = asking([[[1], [2]]], [[0, 0]])

NO_QUERY = descending([[[1], [0]]], [[[0], [1]]], causal=False)
"""The only position with a label is the token 0, so that all its logits are 0."""

ONE_EACH = asking([[[1]]], [[0]])
"""One token, so that X^mm = 0."""

SECOND_BEST = descending(
    [[[1, -1], [-1, 0], [0, 3]]], [[[1], [0], [0]]], [[1], [0]], [[0, 8], [0, 0]], causal=False
)
"""One entry with scores 1, -1, 0, started so that the last token keeps the attention for ever."""

ORTHOGONAL = asking(np.eye(3)[None], [[2, 0, 1]])

NEAR_BEST = replace(ORTHOGONAL, start=2.0 * np.eye(3)[[2, 0, 1]])
"""`ORTHOGONAL` started at the logits of 2 X^mm, in the basin."""


SENTENCE = asking([[[0, 3], [-4, 4]]], [[0, 1]])

SIDEWAYS = descending([[[1, 1], [1, 0]]], [[[0, 0], [0, 1]]], causal=False)
"""The query (1, 0) asks for (1, 1): X(k)^T has the direction of X^mm, X(k) another."""

TIED = descending([[[1, 1], [1, -1]]], [[[1, 0], [0, 1]]], causal=False)
"""The tokens are tied in coordinate 0, which position 1 asks for: its gradient is 0."""
