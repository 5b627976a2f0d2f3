"""Margins of a matrix, and the locally optimal choices of tokens."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from attsvm._types import Array, Float
from attsvm._validate import ensure_array
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.exact.numbers import ExactData
from attsvm.exact.svm import decide
from attsvm.svm.bounds import TIGHT
from attsvm.svm.frobenius import att_svm
from attsvm.svm.programme import att_svm_programme
from attsvm.tokens import target_tokens


def margins(
    data: AttentionData, W: Float[Array, "d d"], targets: object = None
) -> Float[Array, "n T"]:
    """Return (x_target - x_t)^T W z by input and token; infinite at targets and absent tokens.

    Raises:
        TiedTokensError, DataError: targets as in `att_svm`; W is not (d, d) or not finite.
    """
    chosen = target_tokens(data, targets)
    matrix = ensure_array("W", W, ("d", "e"), {"d": data.d, "e": data.d})
    kept = data.X[np.arange(data.n), chosen][:, None]
    tokens = np.where(data.present[:, :, None], data.X, kept)  # absent tokens may have any values
    table: Array = ((kept - tokens) * (data.Z @ matrix.T)[:, None]).sum(axis=2)
    hidden = ~data.present
    hidden[np.arange(data.n), chosen] = True
    return np.where(hidden, np.inf, table)


@dataclass(frozen=True, slots=True)
class LocalOptimum:
    """A locally optimal choice of tokens.

    Attributes:
        targets: the token of each input.
        support: the tokens whose constraint is tight, input by input.
        norm: ||W^mm(targets)||_F.
    """

    targets: tuple[int, ...]
    support: tuple[tuple[int, ...], ...]
    norm: float


def is_locally_optimal(data: AttentionData, targets: object) -> bool:
    """Return whether the Local-SVM has a solution and its support tokens score below the targets.

    This is decided in rationals: tight means exactly tight, and scores are compared exactly.

    Raises:
        DataError: targets are out of range, or there are no constraints.
        SolverError: the exact method did not end.
    """
    programme = att_svm_programme(data, targets)
    answer = decide(programme)
    if answer.status != "solved":
        return False
    exact = ExactData.of(data)
    scores = [
        dict(zip(kept, row, strict=True)) for kept, row in zip(exact.kept, exact.gamma, strict=True)
    ]
    pairs = ((int(programme.input[j]), int(programme.token[j])) for j in answer.tight)
    return all(scores[i][t] < scores[i][int(programme.targets[i])] for i, t in pairs)


def locally_optimal(data: AttentionData, limit: int = 100_000) -> tuple[LocalOptimum, ...]:
    """Return all locally optimal choices, by solving the Local-SVM of every choice of tokens.

    Tight means within 1e-7 of the margin; `is_locally_optimal` decides one choice exactly.

    Raises:
        DataError: there are more than `limit` choices, or there are no constraints.
        SolverError: a Local-SVM could not be settled.
    """
    tokens = [np.flatnonzero(row).tolist() for row in data.present]
    count = math.prod(map(len, tokens))
    if count > limit:
        raise DataError(
            f"there are more than {limit} choices of tokens",
            value=count,
            remedy="Raise the limit; each choice is a programme of its own.",
        )
    optima = (_optimum(data, choice) for choice in itertools.product(*tokens))
    return tuple(optimum for optimum in optima if optimum is not None)


def _optimum(data: AttentionData, choice: tuple[int, ...]) -> LocalOptimum | None:
    """Return the local optimum for a choice of tokens, or None if it is not locally optimal."""
    answer = att_svm(data, choice)
    if not answer.solved:
        return None
    tight = np.abs(answer.margins - 1.0) <= TIGHT
    gamma = np.where(data.present, data.gamma, -np.inf)
    if (tight & (gamma >= gamma[np.arange(data.n), list(choice)][:, None])).any():
        return None
    support = tuple(tuple(np.flatnonzero(row).tolist()) for row in tight)
    return LocalOptimum(choice, support, answer.value)
