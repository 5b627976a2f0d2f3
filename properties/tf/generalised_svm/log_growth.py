"""The growth of W - ln k W_svm along descent under a linear head: bounded if no multiplier is 0.

If each input has two tokens and the (x_o - x_t) z_i^T are orthogonal, each margin has an equation
of its own and grows like ln k. In `HIDDEN` a tight constraint has multiplier 0, and its margin
exceeds the other one by more and more. So no multiple of W_svm stays near W.
"""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.exact import ExactData, dot
from attsvm.exact.numbers import subtract
from attsvm.primitives.gradients import loss_slope
from attsvm.primitives.losses import SLOPED
from attsvm.strategies import arrays, composite, sizes
from attsvm.theory import Hypothesis, concludes, stated
from attsvm.theory.types import Namespace, Nested, Number, Relation
from properties.tf._support.descent_steps import Step, advanced, logarithmic
from properties.tf.generalised_svm import growth_letters, hidden_letters

SIZES_OF_STEPS = (1.0, 0.125, 16.0, 64.0)

HIDDEN = AttentionData(
    np.array([[[0.0, 0.0], [-1.0, 0.0], [-1.0, -1.0]]]),
    np.array([[1.0, 0.0]]),
    scores=np.array([[2.0, -1.0, -1.0]]),
)
"""The margins are w_1 and w_1 + w_2 for w = W z. W_svm has w = (1, 0), and the second constraint
has multiplier 0."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """A start, a loss by its name and the size of a step, for the data of `HIDDEN`."""

    start: Array
    loss: str
    size: float

    def __post_init__(self) -> None:
        if self.start.shape != (2, 2):
            raise DataError("the start is not a 2 x 2 matrix", value=self.start.shape)

    @property
    def data(self) -> AttentionData:
        """The data of `HIDDEN`."""
        return HIDDEN


PAIRS = "each input have two tokens, x_1 of score gamma_1 and x_2 of score gamma_2"
"""Words that define the data of such steps, for the sentence of a reading."""


@dataclass(frozen=True, slots=True)
class Several:
    """Data of two tokens an input, a loss, and a number of steps from zero of one size."""

    data: AttentionData
    loss: str
    size: float
    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.count <= 3 or self.data.T != 2:
            raise DataError("a run has one to three steps, an input two tokens", value=self.count)


@composite
def hidden(draw: st.DrawFn) -> Hidden:
    """Draw a step on the data of `HIDDEN`, from any start."""
    start = draw(arrays(2, 2)) * draw(st.sampled_from([1.0, 4.0, 0.25]))
    loss, size = draw(st.sampled_from(SLOPED)), draw(st.sampled_from(SIZES_OF_STEPS))
    return Hidden(start, loss, size)


@composite
def separate(draw: st.DrawFn) -> Several:
    """Draw steps from zero on two tokens an input, with orthogonal queries or differences."""
    n, d = draw(sizes(1, 2)), draw(sizes(1, 3))
    d = max(n, d)
    axes, free = np.diag(1.0 + np.abs(draw(arrays(d))))[:n], draw(arrays(n, d))
    away, Z = (axes, free) if draw(st.booleans()) else (free, axes)
    other, low, gap = draw(arrays(n, d)), draw(arrays(n)), np.abs(draw(arrays(n))) + 0.125
    X = np.stack([other + away, other], axis=1)
    data = AttentionData(X, Z, scores=np.stack([low + gap, low], axis=1))
    loss, size = draw(st.sampled_from(SLOPED)), draw(st.sampled_from(SIZES_OF_STEPS))
    return Several(data, loss, size, draw(st.integers(1, 3)))


def separated(
    X: Nested, Z: Nested, scores: Nested, loss: str = "log-loss", size: float = 1.0
) -> Several:
    """Return one step from zero on data of nested lists."""
    tokens, queries, gamma = (np.array(part, dtype=float) for part in (X, Z, scores))
    return Several(AttentionData(tokens, queries, scores=gamma), loss, size, 1)


def hidden_step(size: float, loss: str = "log-loss") -> Hidden:
    """Return a step from zero on the data of `HIDDEN`."""
    return Hidden(np.zeros((2, 2)), loss, size)


PAIR, SCORES = [[[1], [0]]], [[1, 0]]
ALONE, FAR = separated(PAIR, [[1]], SCORES), separated(PAIR, [[4]], SCORES, size=16)
BACK = separated(PAIR, [[1]], SCORES, size=-1)
BENT = separated(PAIR, [[1]], [[3, -3]], "logistic-loss")
EQUAL = separated(PAIR, [[1]], [[1, 1]])
TWICE = separated(PAIR * 8, [[1]] * 8, SCORES * 8, "correlation", 0.5)
BACK_HIDDEN, FLAT_HIDDEN, SHORT = hidden_step(-1), hidden_step(1, "cubic"), hidden_step(0.125)


def orthogonal(case: Several) -> bool:
    """Return whether the matrices (x_1 - x_2) z_i^T are orthogonal to each other and none is 0."""
    exact = ExactData.of(case.data)
    pairs = [(subtract(X[0], X[1]), z) for X, z in zip(exact.X, exact.Z, strict=True)]
    products = [[dot(a, b) * dot(y, z) for b, z in pairs] for a, y in pairs]
    return all((x != 0) == (i == j) for i, row in enumerate(products) for j, x in enumerate(row))


def ordered(case: Several) -> bool:
    """Return whether the first token of each input scores more than the second."""
    return all(first > second for first, second in ExactData.of(case.data).gamma)


@concludes(hidden_letters.lags)
@stated(
    "",
    r"0 < w'_1 - w_1 \text{ and } $share (w'_1 - w_1) \le w'_2 + \exp(w'_2) - w_2 - \exp(w_2)",
    where="w and w' are W z before and after a step, for tokens 0, (-1, 0), (-1, -1) of scores 2, "
    "-1, -1 and the query z = (1, 0)",
)
def lags(m: Namespace, case: Hidden, share: Number = 1) -> Relation:
    W = m.values(case.start)
    moved = advanced(m, Step(HIDDEN, case.loss, case.start, case.size), W)
    first, second = moved[0, 0] - W[0, 0], moved[1, 0] - W[1, 0]
    room = second + m.exp(W[1, 0]) * m.expm1(second)
    return m.all_of(m.below(m.exact(0), first), m.at_most(share * first, room))


@concludes(growth_letters.logarithmic)
@stated(
    "",
    r"0 < \exp(m_i) - 1 \text{ and } \frac{c_i k}{$over} \le \exp(m_i) - 1 \le C_i k "
    r"\exp\left($power \frac{C_i}{4}\right)",
    where="m_i is the margin of input i after k steps of size e from W = 0, c_i = -e l'(gamma_1) "
    "||A_i||^2 (gamma_1 - gamma_2)/n, C_i is the same with l'(gamma_2), and A_i = (x_1 - x_2) "
    "z_i^T",
)
def follows_logarithm(m: Namespace, case: Several, over: Number = 4, power: Number = 1) -> Relation:
    """c_i and C_i are e ||A_i||^2 (gamma_1 - gamma_2)/n times -l' at gamma_1 and at gamma_2."""
    exact, k = ExactData.of(case.data), case.count
    start = np.zeros((case.data.d, case.data.d))
    W = m.values(start)
    for _ in range(k):
        W = advanced(m, Step(case.data, case.loss, start, case.size), W)
    each = []
    for X, z, gamma in zip(exact.X, exact.Z, exact.gamma, strict=True):
        along = subtract(X[0], X[1])
        square = m.values(dot(along, along) * dot(z, z) * (gamma[0] - gamma[1]) / case.data.n)
        factor = m.values(case.size) * square
        low, high = (-factor * loss_slope(m, case.loss, m.values(score)) for score in gamma)
        grown = m.expm1(m.values(along) @ (W @ m.values(z)))
        each.append(logarithmic(m, grown, k, low, high, over, power))
    return m.all_of(*each)


BETTER = Hypothesis(
    "the first token of each input scores more", ordered, proposition=growth_letters.better
)
ORTHOGONAL = Hypothesis(
    "the (x_1 - x_2) z_i^T are orthogonal and none is 0",
    orthogonal,
    proposition=growth_letters.orthogonal,
)
