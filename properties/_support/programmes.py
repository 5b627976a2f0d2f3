"""Att-SVM programmes for claims: solved in floats with a bound of the error, and in rationals.

The bound rests on weak duality. With multipliers w >= 0 and A_j = (x_opt - x_t) z^T,
2 sum_j w_j - ||sum_j w_j A_j||^2 <= ||X^mm||^2 <= ||V||^2 for every V that meets the constraints,
such as W over its least margin, and such a V lies within sqrt(||V||^2 - ||X^mm||^2) of X^mm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import DataError, SolverError
from attsvm.exact import ExactData, dot, separate
from attsvm.exact.numbers import Matrix, Vector, subtract
from attsvm.svm import FrobeniusAnswer, att_svm_programme, solve_programme
from attsvm.theory import Slack
from attsvm.tokens import optimal_tokens

__all__ = [
    "EPS",
    "OPEN",
    "Exact",
    "Solution",
    "Token",
    "anything",
    "best_margin",
    "constraints",
    "exactly",
    "first_optimal",
    "flat",
    "optimum",
    "solve",
    "without",
]

EPS = float(np.finfo(np.float64).eps)
Token = tuple[int, int]
OPEN = Slack.unknown("floats came to no solution")
"""What a conclusion returns where `solve` returns None: the certificate decides."""


@dataclass(frozen=True, slots=True)
class Solution:
    """X^mm in floats.

    Attributes:
        W: the matrix, zero where nothing is constrained.
        error: bound of ||W - X^mm||_F.
        low, high: bounds of ||X^mm||_F^2.
        answer: what the solver said, None where nothing is constrained.
    """

    W: Array
    error: float
    low: float
    high: float
    answer: FrobeniusAnswer | None

    @property
    def square(self) -> float:
        """||X^mm||_F^2, within (high - low)/2."""
        return (self.low + self.high) / 2


def anything(data: AttentionData) -> bool:
    """Whether some input has two tokens, so that there is a constraint."""
    return bool((data.present.sum(axis=1) > 1).any())


def optimum(data: AttentionData) -> Array | None:
    """Optimal tokens, the first of each tie; None where a tie may come from rounded scores."""
    found = optimal_tokens(data)
    return found.index if found.unique or data.scores is not None else None


def solve(data: AttentionData, chosen: Array | None) -> Solution | None:
    """X^mm for the chosen tokens; None where it does not exist or floats come to no answer."""
    if not anything(data):
        return Solution(np.zeros((data.d, data.d)), 0.0, 0.0, 0.0, None)
    a = _answer(data, chosen)
    if a is None or not a.solved:
        return None
    size, lowest, rounding = _sizes(a)
    if not lowest > 0.0:
        return None
    high = (size / lowest) ** 2 * (1 + 8 * EPS)
    low = 2.0 * float(a.weights.sum()) - (size + rounding) ** 2
    low -= 4 * EPS * (len(a.weights) + data.d**2) * high
    error = math.sqrt(max(high - low, 0.0)) + size * abs(1 - 1 / lowest) + 8 * EPS * size
    return Solution(a.W, error, low, high, a)


def best_margin(data: AttentionData, chosen: Array | None) -> tuple[float, float]:
    """Bounds of max over ||U||_F <= 1 of min_j <A_j, U>: 1/||X^mm||, or 0 where there is none."""
    a = _answer(data, chosen)
    if a is None:
        return 0.0, math.inf
    size, lowest, rounding = _sizes(a)
    if a.solved:
        return lowest / size * (1 - 8 * EPS), (size + rounding) / float(a.weights.sum())
    shares = a.weights / a.weights.sum()
    residual = float(np.linalg.norm(a.programme.combine(shares)))
    return 0.0, residual + EPS * (len(shares) + 8) * float(shares @ a.programme.norms)


def _answer(data: AttentionData, chosen: Array | None) -> FrobeniusAnswer | None:
    try:
        return None if chosen is None else solve_programme(att_svm_programme(data, chosen))
    except (DataError, SolverError):
        return None


def _sizes(a: FrobeniusAnswer) -> tuple[float, float, float]:
    """||W||, a lower bound of its least margin, and the rounding of W as sum of the w_j A_j."""
    norms, size = a.programme.norms, float(np.linalg.norm(a.W))
    lost = EPS * (2 * a.W.shape[0] + 8) * norms * size
    rounding = EPS * (len(norms) + 8) * float(np.abs(a.weights) @ norms)
    return size, float((a.reached - lost).min()), rounding


@dataclass(frozen=True, slots=True)
class Exact:
    """X^mm in rationals; constraints are named by input and token.

    Attributes:
        W: the matrix.
        A: of each constraint the matrix (x_chosen - x_t) z^T, row by row.
        duals: the multipliers.
        margins: the margins under W.
    """

    W: Matrix
    A: dict[Token, Vector]
    duals: dict[Token, fmpq]
    margins: dict[Token, fmpq]

    @property
    def square(self) -> fmpq:
        """||X^mm||_F^2."""
        square: fmpq = dot(flat(self.W), flat(self.W))
        return square

    def gram(self, tokens: Sequence[Token]) -> fmpq_mat:
        """Inner products of the constraints of some tokens."""
        return fmpq_mat([[dot(self.A[s], self.A[t]) for t in tokens] for s in tokens])


def exactly(data: AttentionData, chosen: Array | None = None) -> Exact | None:
    """X^mm for the chosen tokens, else the first optimal ones; None where it does not exist."""
    exact = ExactData.of(data)
    rows = first_optimal(exact)
    if chosen is not None:
        rows = [ts.index(int(c)) for ts, c in zip(exact.kept, chosen, strict=True)]
    found, A = separate(exact, rows), constraints(exact, rows)
    if found is None:
        return Exact([[fmpq(0)] * data.d for _ in range(data.d)], {}, {}, {})
    if found.status != "solved":
        return None
    duals, margins = (dict(zip(A, x, strict=True)) for x in (found.duals, found.margins))
    return Exact(found.W, A, duals, margins)


def first_optimal(exact: ExactData) -> list[int]:
    """The first row of highest score of each input."""
    return [tied[0] for tied in exact.optimal]


def constraints(exact: ExactData, rows: list[int]) -> dict[Token, Vector]:
    """(x_chosen - x_t) z^T row by row, for every token t that is not the chosen one."""
    inputs = zip(exact.X, exact.Z, exact.kept, rows, strict=True)
    return {
        (i, t): [a * c for a in subtract(tokens[row], x) for c in z]
        for i, (tokens, z, kept, row) in enumerate(inputs)
        for x, t in zip(tokens, kept, strict=True)
        if t != kept[row]
    }


def flat(W: Matrix) -> Vector:
    """The entries of a matrix, row by row."""
    return [x for row in W for x in row]


def without(data: AttentionData, dropped: Array) -> AttentionData:
    """The data set less some tokens."""
    mask = data.present & ~dropped
    return AttentionData(data.X, data.Z, data.y, data.v, data.scores, mask)
