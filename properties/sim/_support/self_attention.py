"""The paper's own setting: self-attention over whole sequences, every token a query.

Sequence l0 has tokens A_{l0} in R^{n x d}, which are queries, keys and values alike. Position j0
attends with the logits a_{j0}^T X a_t of definition 3.3, to all tokens as printed there, or, where
attention is causal, to the tokens up to j0. Column i0 of the values y gives the entry
g(b_{l0,j0,i0} <f_{l0,j0}, A_{l0} y_{i0}>) of the loss, and the loss is the sum of all entries. An
entry of label 0 is constant and asks for no token; with one-hot rows of labels, as section 1 has
them, each position counts once.

The reduction: an entry is one input of `AttentionData`, with query a_{j0}, the tokens that it
attends to, and the scores b A_{l0} y_{i0} of definition 3.9. The risk there is the mean over inputs
in place of the sum, which multiplies L_X and divides the step by one number; and W = X^T, as logits
there are x_t^T W z. So whatever is proved of descent on W with step 1/L is proved of X here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from flint import arb
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from attsvm._types import Array, Float
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.exact import ExactData, rationals
from attsvm.exact.numbers import Matrix, dot, transpose
from attsvm.exact.traps import is_stationary_start
from attsvm.limits import direction_converges
from attsvm.losses import LOGISTIC_LOSS, LOSSES
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import max_margin
from attsvm.primitives.growth_rates import arrives
from attsvm.primitives.hypotheses import (
    unique_optimum,
)
from attsvm.primitives.limit_certificates import certified_direction
from attsvm.primitives.many_runs import rival_lead
from attsvm.primitives.steps import (
    TARGET,
    Stepped,
    by_gradient_flow,
    converges_in_direction,
    solutions,
)
from attsvm.strategies import arrays, composite, sizes
from attsvm.theory import Slack
from properties.sim._support.training import PRINTED


@dataclass(frozen=True, slots=True)
class SelfAttention(Stepped):
    """Sequences, values, labels, and the start of descent on the sum of all entries of the loss.

    Raises:
        DataError: shapes that do not fit, or no label other than 0.
    """

    tokens: Float[Array, "m n d"]
    values: Float[Array, "d k"]
    labels: Float[Array, "m n k"]
    start: Float[Array, "d d"]
    causal: bool
    loss: str = LOGISTIC_LOSS.name

    def __post_init__(self) -> None:
        Stepped.__post_init__(self)
        m, n, d = self.tokens.shape
        k = self.values.shape[1]
        shapes = self.values.shape, self.labels.shape, self.start.shape
        if shapes != ((d, k), (m, n, k), (d, d)):
            raise DataError("values, labels or start do not fit the tokens", value=shapes)
        if not self.labels.any():
            raise DataError("no label differs from 0, so that no entry of the loss depends on X")
        if _inexact(self):
            raise DataError("a score b <a_t, y_i0> is no float")

    @classmethod
    def of(
        cls,
        tokens: ArrayLike,
        labels: ArrayLike,
        values: ArrayLike | None = None,
        start: ArrayLike | None = None,
        *,
        causal: bool,
    ) -> SelfAttention:
        """Sequences with the identity as values and X(0) = 0, unless others are given."""
        A, d = np.array(tokens, dtype=np.float64), np.shape(tokens)[-1]
        given = (np.eye(d) if values is None else values), labels, start
        y, b, X = (np.zeros((d, d)) if x is None else np.array(x, np.float64) for x in given)
        return cls(A, y, b, X, causal)

    @property
    def data(self) -> AttentionData:
        """An input for each entry that depends on X."""
        sequence, position, column = np.nonzero(self.labels)
        there = np.ones((len(sequence), self.tokens.shape[1]), dtype=np.bool_)
        if self.causal:
            there = np.tri(there.shape[1], dtype=np.bool_)[position]
        scores = self.scores[sequence, position, column]
        return AttentionData(
            np.where(there[..., None], self.tokens[sequence], 0.0),
            self.tokens[sequence, position],
            scores=np.where(there, scores, 0.0),
            mask=there,
        )

    @property
    def scores(self) -> Float[Array, "m n k n"]:
        """The score b_{l0,j0,i0} <a_t, y_{i0}> of each token for each entry."""
        scores: Array = np.einsum("mjk,mtd,dk->mjkt", self.labels, self.tokens, self.values)
        return scores

    @property
    def W(self) -> Array:
        """The transpose of the start."""
        return self.start.T

    @property
    def run(self) -> Descent:
        """Descent on W = X^T."""
        return Descent(self.data, self.start.T, self.loss, step=self.step)


def _inexact(case: SelfAttention) -> bool:
    """Whether a score is no float."""
    A, y, b = rationals(case.tokens), rationals(case.values.T), rationals(case.labels)
    scores = rationals(case.scores)
    return any(
        scores[i][j][k][t] != b[i][j][k] * dot(a, y[k])
        for i, tokens in enumerate(A)
        for j in range(len(tokens))
        for k in range(len(y))
        for t, a in enumerate(tokens)
    )


# where X(k) goes


def goals(data: AttentionData, towards: str, side: str) -> list[Matrix] | None:
    """Where W = X^T has to go so that X, its transpose, or either of them goes to a target.

    The `towards` are those of `max_margin`; None where there is no target.
    """
    target = max_margin(data, towards)
    if target is None:
        return None
    sides = {"X(k)": [transpose(target)], "X(k)^T": [target]}
    return sides.get(side, [target, transpose(target)])


def converges(run: Descent, aims: list[Matrix] | None) -> Slack:
    """A run of W converges in direction to one of these, by its rate."""
    if aims is None:
        return Slack(-1.0, 0.0)  # there is nothing to converge to
    slacks = []
    for aim in aims:
        W = np.array([[float(arb(x)) for x in row] for row in aim])
        slacks.append(direction_converges(run.data, run.start, LOSSES[run.loss], W))
    return max(slacks, key=lambda slack: (slack.kind == "unknown", slack.value))


def proved(run: Descent, aims: list[Matrix] | None) -> arb | None:
    """The same by proof: 1 where it does, negative where it does not, None without one."""
    if aims is None:
        return arb(-1)
    balls = [_limit(run, aim) for aim in aims]
    known = [ball for ball in balls if ball is not None]
    if any(ball > 0 for ball in known):
        return arb(1)
    return max(known, key=lambda ball: ball.mid()) if len(known) == len(balls) else None


def _limit(run: Descent, aim: Matrix) -> arb | None:
    start = rationals(run.start)
    still = is_stationary_start(ExactData.of(run.data), start, run.loss)
    if still or (run.loss != PRINTED and unique_optimum(run)):
        return certified_direction(run.data, start, run.loss, aim, run.step)
    return arrives(run.data, run.start, run.loss, aim, run.step)


@by_gradient_flow
def reaches(case: SelfAttention, towards: str = "optimal", side: str = "X(k)^T") -> Slack:
    """X(k), or what the side says, converges in direction to the target, by its rate."""
    return converges(case.run, goals(case.data, towards, side))


def decided(case: SelfAttention, towards: str = "optimal", side: str = "X(k)^T") -> arb | None:
    """The same by proof."""
    return proved(case.run, goals(case.data, towards, side))


DIRECTION = converges_in_direction(
    "descent on the sum of the loss $loss, U = $side",
    "U",
    TARGET,
    floats=reaches,
    balls=decided,
    many=rival_lead,
    symbols=solutions("X"),
)


# instances


@composite
def sequences(draw: st.DrawFn, *powers: int) -> SelfAttention:
    """One or two sequences of up to three tokens, from zero or a start of any of the powers of two.

    Tokens are orthogonal ones, a multiple of each axis, or any; values are the identity or any, and
    labels one-hot or any.
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
    return SelfAttention(tokens, values, labels, scale * draw(arrays(d, d)), draw(st.booleans()))


@composite
def near_solution(draw: st.DrawFn) -> SelfAttention:
    """The same, started at a multiple of the transpose of X^mm with a random part."""
    case = draw(sequences())
    noise, size = draw(arrays(*case.start.shape)) / 8, draw(st.sampled_from([4.0, 8.0, 1.0]))
    target = max_margin(case.data, "optimal")
    along = 0.0 if target is None else np.array([[float(arb(x)) for x in row] for row in target]).T
    return replace(case, start=np.round(64.0 * size * along) / 64 + noise)


def asking(tokens: ArrayLike, columns: ArrayLike, *, causal: bool = False) -> SelfAttention:
    """Return sequences with identity values; each position is labelled by one column."""
    labels = np.eye(np.shape(tokens)[-1])[np.array(columns)]
    return SelfAttention.of(tokens, labels, causal=causal)


LINE = asking([[[1], [2]]], [[0, 0]])

NO_QUERY = SelfAttention.of([[[1], [0]]], [[[0], [1]]], causal=False)
"""The only position with a label is the token 0, so that all its logits are 0."""

ONE_EACH = asking([[[1]]], [[0]])
"""One token, so that X^mm = 0."""

SECOND_BEST = SelfAttention.of(
    [[[1, -1], [-1, 0], [0, 3]]], [[[1], [0], [0]]], [[1], [0]], [[0, 8], [0, 0]], causal=False
)
"""One entry with scores 1, -1 and 0, started where the last token keeps the attention for ever."""

ORTHOGONAL = asking(np.eye(3)[None], [[2, 0, 1]])

NEAR_BEST = replace(ORTHOGONAL, start=2.0 * np.eye(3)[[2, 0, 1]])
"""The same from the logits of 2 X^mm, in the basin."""


SENTENCE = asking([[[0, 3], [-4, 4]]], [[0, 1]])

SIDEWAYS = SelfAttention.of([[[1, 1], [1, 0]]], [[[0, 0], [0, 1]]], causal=False)
"""The query (1, 0) asks for (1, 1): X(k)^T has the direction of X^mm, X(k) another."""

TIED = SelfAttention.of([[[1, 1], [1, -1]]], [[[1, 0], [0, 1]]], causal=False)
"""The tokens are tied in coordinate 0, which position 1 asks for: its gradient is 0."""
