"""The Frobenius Att-SVM by its least-distance dual; every figure of the answer is recomputed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import SolverError
from attsvm.svm.programme import Programme, att_svm_programme

__all__ = ["FrobeniusAnswer", "att_svm", "grade", "solve_programme"]

TOLERANCE = 1e-9
"""Largest relative residual or gap of an answer that is called solved or unseparable."""


@dataclass(frozen=True, slots=True)
class FrobeniusAnswer:
    """min ||W||_F subject to all margins at least 1, or a reason why no W exists.

    Attributes:
        status: `solved`, or `unseparable` with Farkas multipliers in `duals`.
        W: the solution sum_j duals_j A_j; zero where unseparable.
        value: ||W||_F; infinite where unseparable.
        targets: the token that each input selects.
        margins: (x_target - x_t)^T W z by input and token; infinite where nothing is constrained.
        duals: multipliers by input and token, nonnegative. Solved: of min 1/2 ||W||_F^2.
            Unseparable: summing to 1, with sum_j duals_j A_j = 0.
        primal_residual: how far the smallest margin falls short of 1.
        dual_residual: ||sum_j duals_j A_j||_F of Farkas multipliers, relative to
            sum_j duals_j ||A_j||_F; zero where solved, because W is that sum.
        gap: 1/2 ||W||_F^2 minus the dual value, relative to it; zero where unseparable.
    """

    status: Literal["solved", "unseparable"]
    W: Float[Array, "d d"]
    value: float
    targets: Int[Array, " n"]
    margins: Float[Array, "n T"]
    duals: Float[Array, "n T"]
    primal_residual: float
    dual_residual: float
    gap: float

    @property
    def solved(self) -> bool:
        """Whether a separating W exists and was found."""
        return self.status == "solved"

    @property
    def support(self) -> tuple[tuple[int, ...], ...]:
        """Tokens whose constraint is tight, input by input (tf, definition 2)."""
        tight = np.abs(self.margins - 1.0) <= 1e-7
        return tuple(tuple(int(t) for t in np.flatnonzero(row)) for row in tight)


def att_svm(data: AttentionData, targets: object = None) -> FrobeniusAnswer:
    """Solve the Frobenius Att-SVM for the optimal tokens, or for `targets` (tf, Att-SVM).

    A non-negative least-squares problem on a square root of the Gram matrix either yields the
    multipliers or, by its zero residual, Farkas multipliers. Neither is believed: margins, signs,
    gap and residuals are recomputed from W, and an answer that fails them is refined on its
    active set, then refused.

    Raises:
        TiedTokensError, DataError: as `att_svm_programme`.
        SolverError: no answer whose recomputed residuals stay below 1e-9.
    """
    return solve_programme(att_svm_programme(data, targets))


def solve_programme(programme: Programme) -> FrobeniusAnswer:
    """Solve the programme; see `att_svm`."""
    best: FrobeniusAnswer | None = None
    with np.errstate(over="ignore", invalid="ignore"):  # figures that overflow are refused
        for duals, solved in _candidates(programme.gram):
            answer = grade(programme, duals, solved=solved)
            if best is None or _error(answer) < _error(best):
                best = answer
    if best is None or not _error(best) <= TOLERANCE:
        raise SolverError(
            "neither a solution nor a Farkas certificate reached a residual of 1e-9",
            value=None if best is None else _error(best),
            remedy="The tokens are separable or not by a hair: rescale, or decide the programme "
            "exactly with attsvm.exact.",
        )
    return best


def _candidates(gram: Array) -> list[tuple[Array, bool]]:
    """Multipliers to grade, as a solution (True) or as a Farkas certificate (False)."""
    from scipy.optimize import nnls

    found: list[tuple[Array, bool]] = []
    if (gram.diagonal() == 0.0).any():
        found.append((_single(gram), False))
    scale = float(np.sqrt(gram.diagonal().max()))
    if scale == 0.0:
        return found
    values, vectors = np.linalg.eigh(gram / scale**2)
    rank = values > len(values) * np.finfo(float).eps * values.max()
    root = vectors[:, rank] * np.sqrt(values[rank])
    stacked = np.vstack([root.T, np.ones(len(gram))])
    target = np.zeros(len(stacked))
    target[-1] = 1.0
    try:
        weights, residual = nnls(stacked, target, maxiter=30 * max(stacked.shape))
    except RuntimeError as error:
        raise SolverError(
            "non-negative least squares did not terminate",
            value=str(error),
            remedy="Rescale the tokens or drop duplicated ones.",
        ) from error
    if residual**2 > 0:
        duals = weights / (residual**2 * scale**2)
        found += [(duals, True), (_polish(gram, duals), True)]
    total = weights.sum()
    if total > 0:
        found += [(weights / total, False), (_polish_farkas(gram, weights), False)]
    return found


def _error(answer: FrobeniusAnswer) -> float:
    figures = np.array([answer.primal_residual, answer.dual_residual, answer.gap])
    least = float(np.minimum(answer.duals, 0.0).min() / max(np.abs(answer.duals).max(), 1e-300))
    unnormed = 0.0 if answer.solved else float(answer.duals.sum()) - 1.0
    worst = float(np.max([*np.abs(figures), -least, abs(unnormed)]))
    return worst if np.isfinite(worst) else np.inf


def _single(gram: Array) -> Array:
    """Multipliers on one constraint 0 >= 1 (a zero query, or a token equal to the target)."""
    weights = np.zeros(len(gram))
    weights[int(np.argmin(gram.diagonal()))] = 1.0
    return weights


def _polish(gram: Array, duals: Array) -> Array:
    """Solve for margins exactly 1 on the active set."""
    active = np.flatnonzero(duals > 0)
    if active.size == 0:
        return duals
    block = gram[np.ix_(active, active)]
    solution = np.linalg.lstsq(block, np.ones(active.size), rcond=None)[0]
    for _ in range(2):
        solution = solution + np.linalg.lstsq(block, 1.0 - block @ solution, rcond=None)[0]
    polished = np.zeros_like(duals)
    polished[active] = np.maximum(solution, 0.0)
    return polished


def _polish_farkas(gram: Array, weights: Array) -> Array:
    """The null vector of the active block, normalised to sum 1."""
    active = np.flatnonzero(weights > 0)
    _, vectors = np.linalg.eigh(gram[np.ix_(active, active)])
    null = np.maximum(vectors[:, 0] * np.sign(vectors[:, 0].sum()), 0.0)
    if not null.any():
        return weights
    polished = np.zeros_like(weights)
    polished[active] = null / null.sum()
    return polished


def grade(programme: Programme, duals: Float[Array, " m"], *, solved: bool) -> FrobeniusAnswer:
    """Recompute every figure of an answer from its multipliers alone."""
    W = programme.combine(duals)
    norms = np.linalg.norm(programme.D, axis=1) * np.linalg.norm(programme.Z, axis=1)
    if not solved:
        summed = float(norms @ np.abs(duals))
        residual = float(np.linalg.norm(W)) / summed if summed != 0.0 else 0.0
        return FrobeniusAnswer(
            status="unseparable",
            W=np.zeros_like(W),
            value=np.inf,
            targets=programme.targets,
            margins=programme.table(np.zeros(len(duals)), np.inf),
            duals=programme.table(duals, 0.0),
            primal_residual=0.0,
            dual_residual=residual,
            gap=0.0,
        )
    margins = programme.margins(W)
    half = 0.5 * float((W**2).sum())
    dual_value = float(duals.sum()) - half
    return FrobeniusAnswer(
        status="solved",
        W=W,
        value=float(np.linalg.norm(W)),
        targets=programme.targets,
        margins=programme.table(margins, np.inf),
        duals=programme.table(duals, 0.0),
        primal_residual=max(0.0, 1.0 - float(margins.min())),
        dual_residual=0.0,
        gap=abs(half - dual_value) / max(half, 1e-300),
    )
