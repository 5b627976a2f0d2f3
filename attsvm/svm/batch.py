"""Many Att-SVMs of one shape in one call; each answer is graded like a single one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attsvm._types import Array, Bool, Float, Int
from attsvm._words import counted
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.kernels import read_only
from attsvm.kernels.batch import solve_many
from attsvm.kernels.least_norm import SOLVED, UNBOUNDED
from attsvm.svm.bounds import TOLERANCE
from attsvm.svm.farkas import exists
from attsvm.svm.frobenius import solve_programme
from attsvm.svm.programme import LARGEST, SMALLEST, att_svm_programme
from attsvm.tokens import target_tokens
from attsvm.training import stack


@dataclass(frozen=True, slots=True, eq=False)
class BatchAnswer:
    """Answers of B programmes; the axes after the first are those of a single answer.

    Attributes:
        solved: whether the programme has a solution; if not, `duals` are Farkas multipliers.
        W: solutions, zero if unseparable.
        value: ||W||_F, infinite if unseparable.
        targets: the token that each input selects.
        margins: margins; infinite for tokens without a constraint and for unseparable programmes.
        duals: multipliers of a solution, or Farkas multipliers with sum 1.
        primal_residual: an upper bound of how far an exact margin of W falls below 1.
        dual_residual: for Farkas multipliers as in `FrobeniusAnswer`; zero if solved.
        gap: relative duality gap; zero if unseparable.
    """

    solved: Bool[Array, " B"]
    W: Float[Array, "B d d"]
    value: Float[Array, " B"]
    targets: Int[Array, "B n"]
    margins: Float[Array, "B n T"]
    duals: Float[Array, "B n T"]
    primal_residual: Float[Array, " B"]
    dual_residual: Float[Array, " B"]
    gap: Float[Array, " B"]

    def __len__(self) -> int:
        """Return the number of programmes."""
        return len(self.solved)

    def __repr__(self) -> str:
        """Return a summary in one line."""
        n, T = self.duals.shape[1:]
        return (
            f"<{counted(len(self), 'Att-SVM')} of {counted(n, 'input')}, "
            f"{counted(T, 'token')}: {int(self.solved.sum())} solved, "
            f"{int((~self.solved).sum())} unseparable>"
        )


def att_svm_batch(
    sets: Sequence[AttentionData], targets: Int[Array, "B n"] | None = None
) -> BatchAnswer:
    """Solve the Frobenius Att-SVM of every data set, all of one shape (n, T, d).

    Raises:
        TiedTokensError, DataError, SolverError: as `att_svm`; shapes differ, or there is no data
            set.
    """
    batch = stack(sets)
    if targets is not None and len(targets) != len(sets):
        raise DataError(
            "targets must have one row per data set",
            value=len(targets),
            remedy=f"Give {len(sets)} rows of token indices.",
        )
    chosen = np.stack(
        [target_tokens(s, None if targets is None else targets[b]) for b, s in enumerate(sets)]
    )
    return _solve(sets, batch.X, batch.Z, chosen, np.arange(len(sets)))


def solve_choices(data: AttentionData, choices: Int[Array, "B n"]) -> BatchAnswer:
    """Solve the Local-SVM of one data set for many choices of tokens.

    Raises:
        DataError, SolverError: as `local_svm`.
    """
    chosen = np.stack([target_tokens(data, row) for row in choices])
    which = np.zeros(len(chosen), dtype=np.int64)
    return _solve([data], data.X[None], data.Z[None], chosen, which)


def _solve(
    sets: Sequence[AttentionData], X: Array, Z: Array, chosen: Array, which: Array
) -> BatchAnswer:
    present = np.stack([s.present for s in sets])
    with np.errstate(all="ignore"):
        W, margins, duals, ended, numbers = solve_many(
            read_only(X), read_only(Z), present, which, chosen, LARGEST, SMALLEST
        )
        square, linear, summed, shortfall, least, certain = numbers.T
        gap = np.abs(square - linear) / (0.5 * square)
        cancelled = np.where(summed > 0.0, np.sqrt(square) / summed, 0.0)
    signs = least >= 0.0
    solved = (ended == SOLVED) & signs & (shortfall <= TOLERANCE) & (gap <= TOLERANCE)
    farkas = (ended == UNBOUNDED) & signs & (linear > 0.0) & (cancelled <= TOLERANCE)
    solved &= certain >= 1.0 - TOLERANCE
    for b in np.flatnonzero(farkas):
        programme = att_svm_programme(sets[int(which[b])], chosen[b])
        farkas[b] = exists(programme, duals[b][programme.input, programme.token])
    value = np.where(solved, np.sqrt(square), np.inf)
    missed = np.maximum(shortfall, 1.0 - np.where(solved, certain, 1.0))
    primal, dual = np.where(solved, missed, 0.0), np.where(farkas, cancelled, 0.0)
    gap = np.where(solved, gap, 0.0)
    W[farkas], margins[farkas] = 0.0, np.inf
    # solve the remaining ones separately, with all methods
    for b in np.flatnonzero(~solved & ~farkas):
        answer = solve_programme(att_svm_programme(sets[int(which[b])], chosen[b]))
        solved[b], W[b], value[b] = answer.solved, answer.W, answer.value
        margins[b], duals[b] = answer.margins, answer.duals
        primal[b], dual[b], gap[b] = answer.primal_residual, answer.dual_residual, answer.gap
    return BatchAnswer(solved, W, value, chosen, margins, duals, primal, dual, gap)
