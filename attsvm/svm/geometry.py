"""Margins of a matrix, and the locally optimal choices of tokens: all of them, or a sample."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from attsvm._types import Array, Float
from attsvm._validate import ensure_array
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.exact.numbers import ExactData
from attsvm.exact.svm import decide
from attsvm.svm.batch import solve_choices
from attsvm.svm.bounds import TIGHT
from attsvm.svm.programme import att_svm_programme
from attsvm.tokens import target_tokens

CHUNK = 4096
"""Maximum number of choices of tokens that are solved together."""


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


def locally_optimal(data: AttentionData, limit: int = 1_000_000) -> tuple[LocalOptimum, ...]:
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
            remedy="Raise the limit, or use sample_locally_optimal.",
        )
    results: list[LocalOptimum] = []
    choices: Iterator[tuple[int, ...]] = itertools.product(*tokens)
    while block := list(itertools.islice(choices, CHUNK)):
        results += [optimum for optimum, _ in _judge(data, np.array(block)) if optimum is not None]
    return tuple(results)


def sample_locally_optimal(
    data: AttentionData, generator: np.random.Generator, draws: int = 1000
) -> tuple[LocalOptimum, ...]:
    """Return the distinct locally optimal choices that are reached from random choices.

    If the support of a choice contains a token that scores at least as high as the chosen one, the
    choice moves to the best such token of every input. This is repeated; unseparable choices are
    dropped. Scores increase with every move, so the search ends.

    Raises:
        DataError, SolverError: as `locally_optimal`; draws below 1.
    """
    if draws < 1:
        raise DataError("at least one draw is needed", value=draws)
    tokens = [np.flatnonzero(row) for row in data.present]
    columns = [generator.choice(options, size=draws) for options in tokens]
    current = np.unique(np.stack(columns, axis=1), axis=0)
    results: dict[tuple[int, ...], LocalOptimum] = {}
    seen: set[tuple[int, ...]] = set()
    while len(current):
        following = []
        for start in range(0, len(current), CHUNK):
            for optimum, better in _judge(data, current[start : start + CHUNK]):
                if optimum is not None:
                    results[optimum.targets] = optimum
                elif better is not None:
                    following.append(better)
        seen |= {tuple(row) for row in current.tolist()}
        fresh = sorted({tuple(int(t) for t in row) for row in following} - seen)
        current = np.array(fresh, dtype=np.int64).reshape(-1, data.n)
    return tuple(results[key] for key in sorted(results))


def _judge(
    data: AttentionData, choices: Array
) -> Iterator[tuple[LocalOptimum | None, Array | None]]:
    """Yield for each choice (optimum, None), (None, better choice), or (None, None).

    The last case is a choice that is unseparable, or whose support only has tokens of equal score.
    """
    answers = solve_choices(data, choices)
    gamma = np.where(data.present, data.gamma, -np.inf)
    for b in range(len(answers)):
        if not answers.solved[b]:
            yield None, None
            continue
        chosen = answers.targets[b]
        own = np.take_along_axis(gamma, chosen[:, None], axis=1)
        tight = np.abs(answers.margins[b] - 1.0) <= TIGHT
        if not (tight & (gamma >= own)).any():
            support = tuple(tuple(int(t) for t in np.flatnonzero(row)) for row in tight)
            yield LocalOptimum(tuple(chosen.tolist()), support, float(answers.value[b])), None
            continue
        rivals = np.where(tight & (gamma > own), gamma, -np.inf)
        better = np.where(rivals.max(axis=1) > -np.inf, rivals.argmax(axis=1), chosen)
        yield None, (better if (better != chosen).any() else None)
