"""Choices of one token an input, their Local-SVM, and conditions for local optimality."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import DataError, present
from attsvm.exact import ExactData
from attsvm.primitives import run_programs
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.primitives.query_hypotheses import data_of
from attsvm.strategies import arrays, composite, sizes
from attsvm.strategies.data import ragged, ragged_larger
from attsvm.strategies.separable_data import (
    preferring,
    separated,
    separated_larger,
    with_redundant_tokens,
)
from attsvm.theory import Hypothesis
from properties._support.token_letters import everywhere


@dataclass(frozen=True, slots=True)
class Choice:
    """A data set and the token alpha_i that each input selects."""

    data: AttentionData
    alpha: Array

    def __post_init__(self) -> None:
        n, T = self.data.X.shape[:2]
        fits = self.alpha.shape == (n,) and bool(((self.alpha >= 0) & (self.alpha < T)).all())
        if not (fits and self.data.present[np.arange(n), self.alpha].all()):
            raise DataError("alpha does not name a token of each input", value=self.alpha.tolist())
        if self.data.scores is None:
            raise DataError("the data have no token scores", remedy="Give them: they tell rivals.")


@composite
def separable(draw: st.DrawFn) -> AttentionData:
    """Draw data whose optimal tokens are unique and separable."""
    X, Z, chosen, _ = draw(separated())
    return AttentionData(X, Z, scores=preferring(chosen, draw(arrays(*X.shape[:2]))))


def separable_larger(generator: np.random.Generator) -> AttentionData:
    """Return larger data whose optimal tokens are unique and separable."""
    X, Z, chosen, _ = separated_larger(generator)
    scores = generator.integers(-8, 9, size=X.shape[:2]) / 4
    return ragged_larger(generator, AttentionData(X, Z, scores=preferring(chosen, scores)))


@composite
def choices(draw: st.DrawFn) -> Choice:
    """Draw separable choices with rivals at the margin and beyond it."""
    X, Z, alpha, _ = draw(separated())
    n, T = X.shape[:2]
    scores, by = draw(arrays(n, T + 1)), draw(sizes(1, T - 1))
    if draw(st.booleans()):
        scores[:, :T] = preferring(alpha, scores[:, :T])
    factor = np.full(n, draw(st.sampled_from([2.0, 1.0, 1.5])))
    whole = _rivalled(X, Z, alpha, by, factor, scores)
    return replace(whole, data=draw(ragged(st.just(whole.data), lambda _: _named(whole))))


def choices_larger(generator: np.random.Generator) -> Choice:
    """Return a choice at larger sizes."""
    X, Z, alpha, _ = separated_larger(generator)
    n, T = X.shape[:2]
    scores = generator.integers(-8, 9, size=(n, T + 1)) / 4
    if generator.random() < 0.5:
        scores[:, :T] = preferring(alpha, scores[:, :T])
    whole = _rivalled(X, Z, alpha, 1, generator.choice([2.0, 1.0], size=n), scores)
    return replace(whole, data=ragged_larger(generator, whole.data, _named(whole)))


def _named(whole: Choice) -> Array:
    """Return a mask (n, T) of the chosen tokens and the rival of the first input."""
    named: Array = np.arange(whole.data.T) == whole.alpha[:, None]
    named[0, -1] = True
    return named


def _rivalled(X: Array, Z: Array, alpha: Array, by: int, factor: Array, scores: Array) -> Choice:
    """Return the choice with one more token an input; in the first input it scores above alpha.

    The new token is that of `with_redundant_tokens`, made from the token `by` places after alpha.
    """
    wide = with_redundant_tokens(X, alpha, (alpha + by) % X.shape[1], factor, np.ones(len(X)))
    scores[0, -1] = scores[0, alpha[0]] + 1.0
    return Choice(AttentionData(wide, np.pad(Z, ((0, 0), (0, 1))), scores=scores), alpha)


def separates(case: Choice) -> bool:
    """Return whether the Local-SVM of alpha has a solution."""
    return exact_att_svm(case.data, case.alpha) is not None


def has_rival(case: Choice) -> bool:
    """Return whether some other token scores at least as much as the chosen one of its input."""
    return bool(rivals(case).any())


def rivals(case: Choice) -> Array:
    """Return a mask (n, T) of the other tokens that score at least as much as the chosen one."""
    rows = np.arange(case.data.n)
    scores = present(case.data.scores, "the scores")
    mask: Array = scores >= scores[rows, case.alpha][:, None]
    mask[rows, case.alpha] = False
    return mask & case.data.present


@composite
def on_axes(draw: st.DrawFn) -> AttentionData:
    """Draw tokens near separate axes: mostly all tokens are support vectors of every Local-SVM."""
    n = draw(sizes(1, 2))
    T = draw(sizes(1, 4 - n))
    d = n * T
    X = np.eye(d).reshape(n, T, d) * draw(st.sampled_from([1.0, 2.0]))
    if draw(st.booleans()):
        X = X + draw(arrays(n, T, d)) / 16
    Z = draw(arrays(n, d)) / 4 + np.eye(n, d)
    return AttentionData(X, Z, scores=draw(arrays(n, T)))


def every(data: AttentionData) -> Iterator[Array]:
    """Yield all choices of one token an input."""
    tokens = (np.flatnonzero(row) for row in data.present)
    return (np.array(alpha) for alpha in itertools.product(*tokens))


def all_solved(data: AttentionData) -> bool:
    """Return whether every Local-SVM has a solution."""
    return all(exact_att_svm(data, alpha) is not None for alpha in every(data))


def all_support_everywhere(data: AttentionData) -> bool:
    """Return whether all tokens are support vectors in every Local-SVM that has a solution."""
    answers = (exact_att_svm(data, alpha) for alpha in every(data))
    return all(answer is None or answer.all_tight for answer in answers)


def locally_optimal(data: AttentionData, alpha: Array) -> bool:
    """Return whether W^mm(alpha) exists and its tokens of margin 1 score below the chosen ones."""
    answer, exact = exact_att_svm(data, alpha), ExactData.of(data)
    if answer is None:
        return False
    scores = [dict(zip(*pair, strict=True)) for pair in zip(exact.kept, exact.gamma, strict=True)]
    return all(
        allowed(scores[i][int(alpha[i])], scores[i][t], margin)
        for (i, t), margin in answer.margins.items()
    )


def allowed(chosen: Any, other: Any, margin: Any) -> Any:
    """Return whether the other token scores below the chosen one, or lies beyond the margin."""
    return chosen > other or margin > 1


def optimal(data: AttentionData, alpha: Array) -> bool:
    """Return whether no token scores more than the chosen one of its input."""
    exact = ExactData.of(data)
    return all(
        row[kept.index(int(a))] == max(row)
        for row, kept, a in zip(exact.gamma, exact.kept, alpha, strict=True)
    )


def input_of(data: AttentionData, i: int) -> AttentionData:
    """Return one input as a data set."""
    y, scores, mask = (
        None if part is None else part[i : i + 1] for part in (data.y, data.scores, data.mask)
    )
    return AttentionData(data.X[i : i + 1], data.Z[i : i + 1], y, data.v, scores, mask)


def better_support(data: AttentionData, *, positive: bool = True) -> bool:
    """Return whether in each choice but the best one all better tokens are support vectors.

    Choices whose Local-SVM has no solution are left out. Better tokens are those that score more
    than the chosen one of their input. With `positive`, one of them must have a positive
    multiplier.
    """
    exact = ExactData.of(data)
    scores = [dict(zip(*pair, strict=True)) for pair in zip(exact.kept, exact.gamma, strict=True)]
    for alpha in every(data):
        chosen = [row[int(a)] for row, a in zip(scores, alpha, strict=True)]
        better = [(i, t) for i, row in enumerate(scores) for t in row if row[t] > chosen[i]]
        answer = exact_att_svm(data, alpha) if better else None
        if answer is None:
            continue
        if any(answer.margins[at] != 1 for at in better):
            return False
        if positive and not any(answer.duals[at] > 0 for at in better):
            return False
    return True


EVERYWHERE = Hypothesis(
    "all tokens are support vectors in each Local-SVM that has a solution",
    lambda case: all_support_everywhere(data_of(case)),
    proposition=everywhere,
    checked=run_programs.supported_everywhere,
)
SOLVED = Hypothesis(
    "each Local-SVM has a solution",
    lambda case: all_solved(data_of(case)),
    checked=run_programs.all_solved,
)


ZERO_QUERY = AttentionData.of([[[1.0], [0.0]]], [[0.0]], scores=[[1.0, 0.0]])

TIED = AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[0.0, 0.0]])

ONE_TOKEN = AttentionData.of([[[1.0]]], [[0.0]], scores=[[0.0]])
