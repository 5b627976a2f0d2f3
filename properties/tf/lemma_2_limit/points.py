"""Instances after lemma 2: matrices W on data with a loss, drawn and published."""

import itertools
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.exact import ExactData
from attsvm.exact.numbers import subtract
from attsvm.exact.programme import ExactProgramme
from attsvm.exact.svm import ExactAnswer, solve_exactly
from attsvm.primitives.losses import LOSSES
from attsvm.strategies import arrays, composite, sizes
from attsvm.strategies.data import ragged
from attsvm.theory.types import Nested
from properties.tf._support.regularisation_paths import SEPARABLE

STRICT = tuple(name for name, loss in LOSSES.items() if loss.strictly_decreasing)


@dataclass(frozen=True, slots=True)
class Point:
    """A data set, a loss by its name, and a matrix W."""

    data: AttentionData
    loss: str
    W: Array


@composite
def anywhere(draw: st.DrawFn) -> AttentionData:
    """Draw tokens and queries anywhere, with scores of few values: often nothing separates."""
    n, T, d = draw(sizes(1, 3)), draw(sizes(1, 3)), draw(sizes(1, 2))
    scores = np.round(draw(arrays(n, T)))
    return AttentionData(draw(arrays(n, T, d)), draw(arrays(n, d)), scores=scores)


@composite
def points(draw: st.DrawFn) -> Point:
    """Draw points on any data, along M or anywhere, at several norms."""
    data = draw(st.one_of(SEPARABLE, ragged(anywhere()), ragged(anywhere())))
    W, answer = draw(arrays(data.d, data.d)), separation(data)
    if answer is not None and draw(st.booleans()):
        W = np.array([[float(x.p) / float(x.q) for x in row] for row in answer.W])
    return Point(data, draw(st.sampled_from(STRICT)), W * draw(st.sampled_from([1.0, 4.0, 0.0])))


def point(X: Nested, Z: Nested, scores: Nested, W: Nested, loss: str = "log-loss") -> Point:
    """Return a point, of nested lists."""
    tokens, queries, gamma, matrix = (np.array(part, dtype=float) for part in (X, Z, scores, W))
    return Point(AttentionData(tokens, queries, scores=gamma), loss, matrix)


ONE_TOKEN = point([[[1]]], [[1]], [[0]], [[1]])
FAINT = point([[[1], [0]]], [[2.0**-11]], [[1, 0]], [[0]])
ZERO_QUERY = point([[[1], [0]]], [[0]], [[1, 0]], [[1]])
PAIR = point([[[1], [0]]], [[1]], [[1, 0]], [[3]])
SPREAD = point([[[1], [0], [-1]]], [[1]], [[1, 0, -1]], [[1]])
BOTH_TIED = point([[[1], [2], [0]]], [[1]], [[1, 1, 0]], [[3]], "cubic")
OPPOSED = point([[[1], [0]], [[1], [0]]], [[1], [1]], [[1, 0], [-1, 0]], [[0]], "correlation")
PUBLISHED = point(
    [[[-0.1, 1], [1, 0], [0, 0]]], [[1, 0]], [[1, 0.9, 0.9]], [[0, 0], [2, 0]], "exponential"
)


def separation(data: AttentionData) -> ExactAnswer | None:
    """Return M, the least matrix that separates for some choice of optimal tokens, or None."""
    solved = [a for a in separations(data) if a is not None and a.status == "solved"]
    return min(solved, key=lambda answer: answer.square, default=None)


def separations(data: AttentionData) -> list[ExactAnswer | None]:
    """Return the answer for each choice of optimal tokens; None without tokens of lower score."""
    exact = ExactData.of(data)
    answers = []
    for chosen in itertools.product(*exact.optimal):
        D, Z = [], []
        for tokens, z, tied, best in zip(exact.X, exact.Z, exact.optimal, chosen, strict=True):
            lower = [x for t, x in enumerate(tokens) if t not in tied]
            D += [subtract(tokens[best], x) for x in lower]
            Z += [z] * len(lower)
        answers.append(solve_exactly(ExactProgramme.of_rows(D, Z)) if D else None)
    return answers
