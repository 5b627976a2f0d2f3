"""Instances of definition 4.1: data sets with a price and a rival of the solution."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from flint import arb, fmpq
from hypothesis import strategies as st

from attsvm._types import Array, Int
from attsvm.data import AttentionData
from attsvm.exact import ExactData, dot, rational
from attsvm.exact.numbers import combine
from attsvm.primitives.att_svm import exact_att_svm, exact_constraints
from attsvm.strategies import arrays, composite, sizes
from attsvm.strategies.data import attention_data, separable_data
from attsvm.svm import att_svm_programme
from properties.sim._support.redundant_tokens import EQUAL
from properties.sim.definition_4_1.prices import price


@dataclass(frozen=True, slots=True)
class Soft:
    """A data set, a price C, and a rival V: X^mm + move if `keep`, else move."""

    data: AttentionData
    C: float
    keep: bool
    move: Array


@dataclass(frozen=True, slots=True)
class Queried:
    """Data whose inputs are queries of sequences: `sequence` labels the sequence of each input.

    The constraints of a token for the queries of one sequence share a slack, as definition 4.1
    prints it. Labels of shape (n, T) name the slack of each token of each input instead.
    """

    soft: Soft
    sequence: Int[Array, "n ..."]

    @property
    def data(self) -> AttentionData:
        """The queries with their tokens."""
        return self.soft.data


def single(x: float, C: float, keep: bool, move: float) -> Soft:
    """Return one input with tokens x and 0 and query 1, a price and a rival."""
    data = AttentionData.of([[[x], [0.0]]], [[1.0]], scores=[[1.0, 0.0]])
    return Soft(data, C, keep, np.array([[move]]))


@composite
def rivals(draw: st.DrawFn, *, separable: bool = True) -> Soft:
    """Draw data, separable unless not asked for, with a price and a rival of various sizes."""
    data = draw(separable_data() if separable else st.one_of(separable_data(), attention_data()))
    C = abs(float(draw(arrays(1))[0])) * 2.0 ** draw(sizes(-4, 3)) or 1.0
    move = draw(arrays(data.d, data.d)) * 2.0 ** -draw(sizes(0, 8))
    return Soft(data, C, draw(st.booleans()), move)


@composite
def cheap_rivals(draw: st.DrawFn) -> Soft:
    """Draw rivals at a price C that is a power of two below 1 / ||sum_j A_j||."""
    case = draw(rivals())
    programme = att_svm_programme(case.data, case.data.gamma.argmax(axis=1).tolist())
    summed = float(np.linalg.norm(programme.combine(np.ones(len(programme.D)))))
    power = -np.ceil(np.log2(summed)) if summed > 0 else 0.0
    return Soft(case.data, float(2.0 ** (power - draw(sizes(0, 2)))), False, case.move)


@composite
def queried(draw: st.DrawFn, *, whichever: bool = False) -> Queried:
    """Draw data in which each input of separable data becomes up to three queries.

    The queries are doubled or not, or moved a little. With `whichever`, arbitrary constraints share
    a slack half of the time.
    """
    case = draw(rivals())
    n = case.data.n
    inputs = np.repeat(np.arange(n), [draw(sizes(1, 3)) for _ in range(n)])
    Z = case.data.Z[inputs]
    if draw(st.booleans()):
        Z = Z * 2.0 ** (draw(arrays(len(inputs), 1)).round() % 2)
    else:
        Z = Z + draw(arrays(*Z.shape)) / 4
    data = AttentionData(case.data.X[inputs], Z, scores=case.data.gamma[inputs])
    shared = inputs
    if whichever and draw(st.booleans()):
        rows = [[draw(sizes(0, 2)) for _ in range(data.T)] for _ in range(data.n)]
        shared = np.array(rows)
    return Queried(Soft(data, case.C, case.keep, case.move), shared)


@composite
def priced(draw: st.DrawFn) -> Queried:
    """Draw such queries with a price near the least one at which X^mm minimises.

    Arbitrary constraints may share a slack.
    """
    case = draw(queried(whichever=True))
    factor = draw(st.sampled_from([1.0, 1.03125, 0.96875, 2.0, 0.5]))
    svm = exact_att_svm(case.data)
    if svm is None or not svm.A:
        return case
    least = price(svm, dict(zip(svm.A, shares(case), strict=True))).least
    return at(case, factor * float(arb(least) / arb(svm.square).sqrt()))


def at(case: Queried, C: float) -> Queried:
    """Return the same instance at another price."""
    return replace(case, soft=replace(case.soft, C=C))


def soft_of(case: Soft | Queried) -> Soft:
    """Return the data set with its price and its rival."""
    return case.soft if isinstance(case, Queried) else case


def shares(case: Soft | Queried) -> list[tuple[int, ...]]:
    """Return the slack of each constraint: its own, one a token of a sequence, or a named one."""
    places = list(exact_constraints(ExactData.of(case.data)))
    if isinstance(case, Soft):
        return list(places)
    if case.sequence.ndim == 2:
        return [(int(case.sequence[place]),) for place in places]
    return [(int(case.sequence[i]), t) for i, t in places]


def whole_sequences(case: Queried) -> bool:
    """Return whether the queries of each sequence have the same tokens."""
    X, labels = case.soft.data.X, case.sequence.tolist()
    present = case.soft.data.present
    firsts = [labels.index(label) for label in labels]
    return bool(np.array_equal(X, X[firsts]) and np.array_equal(present, present[firsts]))


def is_moved(case: Soft) -> bool:
    """Return whether V is not 0."""
    return bool(case.move.any())


def small_price(case: Soft) -> bool:
    """Return whether C ||sum_j A_j||_F <= 1."""
    exact = ExactData.of(case.data)
    A = list(exact_constraints(exact).values())
    summed = combine([fmpq(1)] * len(A), A)
    return bool(rational(case.C) ** 2 * dot(summed, summed) <= 1)


REPEATED = replace(single(1.0, 1.0, False, 0.5), data=EQUAL)
"""Multipliers of X^mm are not unique."""
TIED = replace(
    single(1.0, 1.0, True, -0.25), data=AttentionData.of([[[1], [0]]], [[1]], scores=[[1, 1]])
)
"""Both tokens are optimal; constraints are those of the first one."""
OPPOSED = replace(
    single(1.0, 1.0, False, 0.0),
    data=AttentionData.of([[[1], [0]]] * 2, [[1], [-1]], scores=[[1, 0]] * 2),
)
"""There is no X^mm."""
ALONE = Queried(single(0.0625, 10.0, False, 0.0), np.array([0]))
E = np.eye(2)
OWN_QUERIES = Queried(
    Soft(AttentionData.of([E, E], E, scores=[[0.0, 1.0]] * 2), 0.5, False, np.zeros((2, 2))),
    np.array([0, 0]),
)
"""A sequence of two tokens, the queries; the second one is optimal for both."""


PRICES = (1.0, 0.5, 1.03125, 0.96875, 0.9995, 1.0005, -2.0)
"""Prices at which `OWN_QUERIES` is examined; X^mm minimises from C = 1 on."""
