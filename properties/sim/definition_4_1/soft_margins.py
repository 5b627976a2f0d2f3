"""Rivals V of soft-margin solutions, and both sides of their comparison in floats and rationals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, fmpq
from hypothesis import strategies as st
from jaxtyping import Int

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import present
from attsvm.exact import ExactAnswer, ExactData, dot, rational, rationals
from attsvm.strategies import arrays, sizes
from attsvm.strategies.data import separable_data
from attsvm.svm import att_svm_programme
from attsvm.theory import Slack
from properties._support.descent_runs import answer
from properties._support.programmes import EPS, OPEN, optimum, solve


@dataclass(frozen=True, slots=True)
class Soft:
    """A data set, a price C, and a rival V = keep X^mm + move, or V = move."""

    data: AttentionData
    C: float
    keep: bool
    move: Array


@dataclass(frozen=True, slots=True)
class Queried:
    """The same where inputs are queries of sequences: `sequence` labels that of each input.

    The constraints of a token for the queries of one sequence share a slack, as definition 4.1
    prints it.
    """

    soft: Soft
    sequence: Int[Array, " n"]


@st.composite
def rivals(draw: st.DrawFn) -> Soft:
    """Separable data; prices and moves that are powers of two times grid numbers."""
    data = draw(separable_data())
    C = abs(float(draw(arrays(1))[0])) * 2.0 ** draw(sizes(-4, 3)) or 1.0
    move = draw(arrays(data.d, data.d)) * 2.0 ** -draw(sizes(0, 8))
    return Soft(data, C, draw(st.booleans()), move)


@st.composite
def cheap_rivals(draw: st.DrawFn) -> Soft:
    """The same with C a power of two just below 1 / ||sum_j A_j||, or half of it and less."""
    case = draw(rivals())
    programme = att_svm_programme(case.data, _first(case.data))
    summed = float(np.linalg.norm(programme.combine(np.ones(len(programme.D)))))
    power = -np.ceil(np.log2(summed)) if summed > 0 else 0.0
    return Soft(case.data, float(2.0 ** (power - draw(sizes(0, 2)))), False, case.move)


@st.composite
def queried(draw: st.DrawFn) -> Queried:
    """Sequences of up to three queries; the first ones separable, the others multiples or near."""
    case = draw(rivals())
    n = case.data.n
    inputs = np.repeat(np.arange(n), [draw(sizes(1, 3)) for _ in range(n)])
    Z = case.data.Z[inputs]
    if draw(st.booleans()):
        Z = Z * 2.0 ** (draw(arrays(len(inputs), 1)).round() % 2)
    else:
        Z = Z + draw(arrays(*Z.shape)) / 4
    data = AttentionData(case.data.X[inputs], Z, scores=case.data.gamma[inputs])
    return Queried(Soft(data, case.C, case.keep, case.move), inputs)


def _first(data: AttentionData) -> list[int]:
    return [int(t) for t in data.gamma.argmax(axis=1)]


def unique(case: Soft) -> bool:
    """Optimal tokens are unique."""
    return ExactData.of(case.data).unique


def separable(case: Soft) -> bool:
    """Some X gives every optimal token a positive margin (and there is something to separate)."""
    found = answer(case.data)
    return found is not None and found.status == "solved"


def whole_sequences(case: Queried) -> bool:
    """The queries of one sequence have the same tokens."""
    X, labels = case.soft.data.X, case.sequence.tolist()
    present = case.soft.data.present
    firsts = [labels.index(label) for label in labels]
    return bool(np.array_equal(X, X[firsts]) and np.array_equal(present, present[firsts]))


def shares(case: Queried) -> Int[Array, " m"]:
    """Which slack each constraint has: one a token of a sequence."""
    programme = att_svm_programme(case.soft.data, _first(case.soft.data))
    return case.sequence[programme.input] * programme.shape[1] + programme.token


def several(case: Soft) -> bool:
    """Some input has two tokens."""
    return bool((case.data.present.sum(axis=1) > 1).any())


def positive_price(case: Soft) -> bool:
    """C > 0."""
    return case.C > 0


def small_price(case: Soft) -> bool:
    """C ||sum_j A_j||_F <= 1."""
    return rational(case.C) ** 2 * _square(_summed(case.data)) <= 1


def moved(case: Soft) -> bool:
    """V is not zero."""
    return bool(case.move.any())


def objective(
    data: AttentionData, V: Array, C: float, groups: Array | None = None
) -> tuple[float, float]:
    """f_C(V), and a bound of its rounding; one slack a constraint, or a group of them."""
    programme = att_svm_programme(data)
    margins = programme.margins(V)
    hinges = np.maximum(0.0, 1.0 - margins)
    if groups is not None:
        hinges = np.array([hinges[groups == g].max() for g in np.unique(groups)])
    norm = float(np.linalg.norm(V))
    size = norm + abs(C) * float((1.0 + programme.norms * norm).sum())
    return norm + C * float(hinges.sum()), 16 * (data.d**2 + len(hinges)) * EPS * size


def _slacks(data: AttentionData, V: Any, groups: Array | None = None) -> fmpq:
    """The sum of slacks of V; one a constraint, or a group of them."""
    flat, rows = [x for row in V for x in row], _rows(data)
    largest: dict[int, fmpq] = {}
    for g, A in zip(range(len(rows)) if groups is None else groups.tolist(), rows, strict=True):
        largest[g] = max(largest.get(g, fmpq(0)), 1 - dot(A, flat))
    return sum(largest.values(), fmpq(0))


def _rows(data: AttentionData) -> list[list[fmpq]]:
    """The matrices A_j, flattened."""
    exact = ExactData.of(data)
    return [
        [(a - b) * c for a, b in zip(tokens[best[0]], token, strict=True) for c in z]
        for tokens, z, best in zip(exact.X, exact.Z, exact.optimal, strict=True)
        for t, token in enumerate(tokens)
        if t != best[0]
    ]


def _summed(data: AttentionData) -> Any:
    columns = zip(*_rows(data), strict=True)
    return [[sum(column, fmpq(0)) for column in columns]]


def _square(V: Any) -> fmpq:
    return sum((x * x for row in V for x in row), fmpq(0))


def _rival(case: Soft, solved: ExactAnswer) -> Any:
    move = rationals(case.move)
    if not case.keep:
        return move
    return [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(solved.W, move, strict=True)]


def against_hard(case: Soft, C: float, relative: float = 0.0, groups: Array | None = None) -> Slack:
    """f_C(V) - f_C(X^mm); `relative` bounds the error of C."""
    hard = solve(case.data, optimum(case.data))
    if hard is None or hard.answer is None:
        return OPEN
    V = case.move + (hard.W if case.keep else 0.0)
    left, error_left = objective(case.data, hard.W, C, groups)
    right, error_right = objective(case.data, V, C, groups)
    # f_C moves by at most this much for each unit that its argument moves
    steep = 1.0 + C * float(hard.answer.programme.norms.sum())
    away = (1 + case.keep) * hard.error + 2 * EPS * float(np.linalg.norm(V))
    error = error_left + error_right + steep * away + relative * (left + right)
    return Slack.at_most(left, right, error)


def certify_hard(case: Soft, C: fmpq, *, over_norm: bool, groups: Array | None = None) -> arb:
    """f_C(V) - f_C(X^mm) for C, or for C / ||X^mm||; exactly 0 where that is decided."""
    solved = present(answer(case.data), "the answer of the SVM")
    V = _rival(case, solved)
    slacks, v, x = _slacks(case.data, V, groups), _square(V), solved.square
    if over_norm:  # times ||X^mm||: ||V|| ||X^mm|| + C slacks - ||X^mm||^2
        rest = x - C * slacks
        if rest >= 0 and v * x == rest * rest:
            return arb(0)
        return arb(arb(v).sqrt() + arb(C * slacks) / arb(x).sqrt() - arb(x).sqrt())
    rest = x - v - (C * slacks) ** 2  # ||X^mm||^2 - ||V||^2 - (C slacks)^2 against 2 C slacks ||V||
    if rest >= 0 and rest * rest == 4 * (C * slacks) ** 2 * v:
        return arb(0)
    return arb(arb(v).sqrt() + arb(C * slacks) - arb(x).sqrt())


def certify_zero(case: Soft, growth: float = 1.0, pull: float = 1.0) -> arb:
    """f_C(V) - f_C(0) - (growth - pull C ||S||) ||V||; exactly 0 where that is decided."""
    C, V = rational(case.C), rationals(case.move)
    square = _square(V)
    rest = C * (_slacks(case.data, V) - len(_rows(case.data)))  # f_C(V) - f_C(0) = ||V|| + rest
    a, b, S = 1 - rational(growth), rational(pull) * C, _square(_summed(case.data))
    # ||V|| (a + b ||S||) + rest
    by_pull = a == 0 and b >= 0 and b * b * S * square == rest * rest
    by_growth = b == 0 and a >= 0 and a * a * square == rest * rest
    if rest <= 0 and (by_pull or by_growth):
        return arb(0)
    return arb(arb(square).sqrt() * (arb(a) + arb(b) * arb(S).sqrt()) + arb(rest))


def above_zero(case: Soft, growth: float, pull: float) -> tuple[float, float]:
    """f_C(V) - f_C(0) and (growth - pull C ||S||) ||V||, exact but for rounding."""
    programme = att_svm_programme(case.data)
    summed = float(np.linalg.norm(programme.combine(np.ones(len(programme.D)))))
    right, _ = objective(case.data, case.move, case.C)
    norm = float(np.linalg.norm(case.move))
    return right - case.C * len(programme.D), (growth - pull * case.C * summed) * norm


def rounding(case: Soft) -> float:
    """Of the two figures of `above_zero`."""
    programme = att_svm_programme(case.data)
    _, error = objective(case.data, case.move, case.C)
    return 4 * error + 32 * EPS * abs(case.C) * len(programme.D) * (1 + len(programme.D))
