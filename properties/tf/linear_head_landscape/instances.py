"""Runs on scores of labels and a linear head, and tokens at rest if no q has Y_i <z_i, q> > 0."""

import itertools

import numpy as np
from flint import fmpq
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.exact import ExactData, dot
from attsvm.exact.numbers import Matrix, Vector
from attsvm.primitives import descent_letters as letters
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.primitives.descent import Descent
from attsvm.primitives.hypotheses import labellings
from attsvm.primitives.losses import SLOPED as LOSSES
from attsvm.primitives.query_hypotheses import balance, queries_independent
from attsvm.strategies import arrays, composite, sizes
from attsvm.strategies.adversarial_starts import starts_about
from attsvm.theory import Hypothesis, concludes, stated
from attsvm.theory.types import Comparison, Namespace, Relation
from properties.tf._support import descent_instances as cases
from properties.tf.linear_head_landscape import letters as rest_letters

ANY_SCORES = cases.from_zero([[[1, 0, 0], [0, 0, 0], [-2, 0, 0]]], scores=[[1.0, -4.0, 0.0]])
"""No head gives these scores, and W = 0 is stationary."""
WITHIN = cases.from_zero([[[0], [1], [-1]]], scores=[[2.0, -1.0, -1.0]])
"""The best token lies between the others, which no linear head allows."""
TIED = cases.from_zero([[[1, 0], [1, 0], [0, 0]]], y=[1.0], v=[1.0, 0.0])
"""Two equal tokens are optimal."""
OPPOSED_LINE = cases.from_zero([[[1], [0]]] * 2, [[1.0], [-1.0]], y=[1.0, 1.0], v=[1.0])
OPPOSED_PLANE = cases.wide(OPPOSED_LINE, 2)
NO_QUERY = cases.from_zero([[[1, 0], [0, 0]]], [[0.0, 0.0]], y=[1.0], v=[1.0, 0.0])
FREE_ASIDE = cases.from_zero(
    [[[2, 0], [0, 0], [-4, 0]], [[0, 1], [3, 0], [-1, -1]]],
    [[1.0, 0.0], [1.0, 1.0]],
    y=[1.0, -1.0],
    v=[1.0, -2.0],
)
UNLIKE = cases.from_zero(
    [[[1, 0], [0, 0]], [[2, 0], [0, 0]]], [[1.0, 0.0], [-1.0, 0.0]], y=[1.0, 1.0], v=[1.0, 0.0]
)
"""Opposed queries, but the second input has more weight in the gradient, so that W = 0 moves."""
ALIKE = cases.from_zero([[[1, 0], [0, 1]]] * 2, [[1.0, 0.0]] * 2, y=[1.0, 1.0], v=[1.0, 0.0])
"""Equal queries and labels: dependent, but some q has Y_i <z_i, q> > 0 for both."""


@composite
def runs(draw: st.DrawFn) -> Descent:
    """Draw runs on a linear head; queries are drawn, nearly independent, equal or opposed."""
    n, T, d = draw(sizes(1, 3)), draw(sizes(1, 4)), draw(sizes(1, 3))
    kind, Z = draw(st.integers(0, 3)), draw(arrays(n, d))
    if kind == 1:
        Z = np.eye(n, d) + Z / 4
    elif kind > 1:
        Z = np.repeat(Z[:1], n, axis=0) * np.where(draw(arrays(n)) < kind - 2.5, -1.0, 1.0)[:, None]
    y = np.where(draw(arrays(n)) < 0.0, -1.0, 1.0)
    data = AttentionData(draw(arrays(n, T, d)), Z, y=y, v=draw(arrays(d)))
    return Descent(data, draw(starts_about(data, 0, 1)), draw(st.sampled_from(LOSSES)))


PLANE = Hypothesis("d >= 2", lambda case: case.data.d >= 2, proposition=rest_letters.plane)
QUERIED = Hypothesis(
    "no query is 0",
    lambda case: bool((case.data.Z != 0.0).any(axis=1).all()),
    proposition=rest_letters.queried,
)


@concludes(letters.solvable)
@stated("the Att-SVM has a solution, which has a margin above 0 if it is divided by its norm")
def solvable(m: Namespace, case: Descent) -> Comparison:
    """1/||W^mm|| > 0; it is 0 if there is no W^mm, and 1 if there are no constraints."""
    solved = exact_att_svm(case.data)
    if solved is None:
        return m.below(m.exact(0), m.exact(0))
    return m.below(-1 / m.sqrt(m.values(solved.square or 1)), m.exact(0))


def _direction(Z: Matrix) -> Vector:
    """Return some b with <z, b> != 0 for all queries, none of which is 0: powers of an integer."""
    powers = ([fmpq(k) ** e for e in range(len(Z[0]))] for k in itertools.count(1))
    return next(b for b in powers if all(dot(z, b) != 0 for z in Z))


def rests(m: Namespace, Z: Matrix, labels: list[int], parts: Vector) -> Relation:
    """Return that tokens sqrt(lambda_i) (2 Y_i, s_i), ... of the package are at rest and separable.

    At W = 0 all attended scores are 0, so that -grad L is |l'(0)|/n times the sum of Y_i C_i v
    z_i^T. W = (0, 1) b^T separates. An input of lambda_i = 0 has the single token 0. The factor
    sqrt(lambda_i) enters C_i as lambda_i, and no sign of a margin.
    """
    if len(Z[0]) < 2 or not all(any(z) for z in Z):
        return m.below(m.exact(0), m.exact(0))  # no such tokens are known
    b, v, up = _direction(Z), m.values([1, 0]), m.values([0, 1])
    gradient, leads = m.values([[0] * len(Z[0])] * 2), []
    for z, y, part in zip(Z, labels, parts, strict=True):
        if part == 0:
            continue
        turn = dot(z, b)
        s = 1 if turn > 0 else -1
        tokens = m.values([[2 * y, s], [y, -2 * s], [-3 * y, 0]])
        covariance = ((tokens @ v - m.sum(tokens @ v) / 3) @ tokens) / 3
        gradient = gradient + y * m.values(part) * m.outer(covariance, m.values(z))
        for rival in (1, 2):
            ahead = tokens[0] - tokens[rival]
            leads += [y * m.dot(ahead, v), m.values(turn) * m.dot(ahead, up)]
    return m.all_of(m.equal(gradient, 0 * gradient), *(m.below(m.exact(0), lead) for lead in leads))


@concludes(rest_letters.exactly)
@stated(
    "W is no stationary point if $by; otherwise $other with the same queries and labels, unique "
    "optimal tokens and an Att-SVM, W = 0 is stationary",
    symbols={
        "by": {
            "side": "some q has Y_i <z_i, q> > 0 for all i",
            "independent": "the queries are independent",
        },
        "other": {True: "for some other tokens", False: "for these tokens"},
    },
)
def exactly(m: Namespace, case: Descent, by: str = "side", other: bool = True) -> Relation:
    exact = ExactData.of(case.data)
    labels = next(labellings(case.data), [1] * case.data.n)
    parts = balance(case.data, labels)
    known = parts is None if by == "side" else queries_independent(case)
    if known:
        return cases.not_stationary(m, case)
    if not other or parts is None:
        slope = cases.not_stationary(m, case)
        return m.equal(slope.left, m.exact(0))
    return rests(m, exact.Z, labels, parts)
