"""The nuclear-norm Att-SVM: a solution, a bracket that includes rounding, and the solution set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from attsvm._types import Array, Bool, Float
from attsvm._validate import ensure_array
from attsvm.errors import DataError, SolverError
from attsvm.exact.deadline import Deadline
from attsvm.svm.answered import ENCLOSED, Answered, Facts, bracket_in_words
from attsvm.svm.bounds import nuclear_bracket, spectrum
from attsvm.svm.nuclear_search import propose
from attsvm.svm.programme import Programme, Tokens
from attsvm.svm.solution_set import Slice, pack, unpack

TOLERANCE = 1e-9
"""Largest relative width of the bracket of an answer."""

CLOSE, EXACT = 1e-11, 1e-13
"""Width of a bracket at which the search stops; residual below which rounding allows no better."""

TIGHT = 1e-7
"""Tolerance within which a margin counts as 1 (tight) and a singular value of S as 1 (on the face).
Multipliers and singular values of W below this share of the largest one count as 0."""


@dataclass(frozen=True, slots=True, eq=False)
class NuclearAnswer(Answered):
    """min ||W||_* subject to all margins at least 1.

    Attributes:
        programme: the constraints.
        status: `solved`, or `bracketed` if a bracket wider than 1e-9 was accepted.
        W: a solution; one of many if the solution set is not a point.
        value: ||W||_*.
        bracket: bounds of the least nuclear norm that include rounding errors.
        weights: multipliers w_j, one per constraint, nonnegative.
        reached: the margins D_j^T W z_j, one per constraint.
        primal_residual: how far the smallest margin falls below 1.
        dual_residual: how far ||S||_op exceeds 1.
        gap: ||W||_* minus sum_j w_j, relative to ||W||_*.
        certificate: S = sum_j w_j A_j, which proves optimality by ||S||_op <= 1.
        face: U and V, singular vectors of S at singular value 1, so that S V = U; every solution is
            U B V^T with B positive semidefinite.
        rank: number of singular values of W above 1e-7 of the largest.
        dimension: dimension of the symmetric B whose margins are 1 wherever w_j > 0. It is an upper
            bound of the dimension of the solution set. The two are equal if B of the answer is
            positive definite (its rank is the width of the face) and no tight constraint is
            degenerate: then small moves of B stay solutions. 0 means unique. -1 means that the
            multipliers have no face; no answer of `solve_nuclear` has that.
    """

    programme: Programme
    status: Literal["solved", "bracketed"]
    W: Float[Array, "d e"]
    value: float
    bracket: tuple[float, float]
    weights: Float[Array, " m"]
    reached: Float[Array, " m"]
    primal_residual: float
    dual_residual: float
    gap: float
    certificate: Float[Array, "d e"]
    face: tuple[Float[Array, "d r"], Float[Array, "e r"]]
    rank: int
    dimension: int

    @property
    def solved(self) -> bool:
        """Always True: programmes without a solution raise an error."""
        return True

    @property
    def unique(self) -> bool:
        """Whether the solution set is provably a point; False if that is unknown."""
        return self.dimension == 0

    @property
    def width(self) -> float:
        """Relative width of the bracket."""
        return self.bracket[1] / self.bracket[0] - 1.0 if self.bracket[0] > 0.0 else np.inf

    @property
    def margins(self) -> Float[Array, "n T"]:
        """Margins by input and token; infinite without a constraint."""
        return self.programme.table(self.reached, np.inf)

    @property
    def duals(self) -> Float[Array, "n T"]:
        """Multipliers by input and token."""
        return self.programme.table(self.weights, 0.0)

    @property
    def is_tight(self) -> Bool[Array, " m"]:
        """Whether each constraint holds with equality, to 1e-7."""
        tight: Array = np.abs(self.reached - 1.0) <= TIGHT
        return tight

    @property
    def support(self) -> Tokens:
        """Tokens whose constraint is tight at W, input by input."""
        return self.programme.by_input(self.is_tight)

    @property
    def degenerate(self) -> Tokens:
        """Tight tokens whose multiplier is zero, input by input."""
        return self.programme.by_input(self.is_tight & ~_weighty(self.programme, self.weights))

    @property
    def heading(self) -> str:
        """The beginning of a heading: the quantity that is minimised."""
        return "Nuclear-norm"

    @property
    def proof(self) -> str:
        """The proof of the floats in this answer, in words."""
        return ENCLOSED

    @property
    def optimum(self) -> Facts:
        """The norm, the bracket of the least norm, and the size of the solution set."""
        size = "a point" if self.dimension == 0 else f"of dimension {self.dimension}"
        return [
            ("norm", f"{self.value:.12g}, {bracket_in_words(self.bracket)}"),
            ("solutions", f"rank {self.rank}, the solution set is {size}"),
        ]

    def __repr__(self) -> str:
        """Return a summary in one line."""
        size = "unique" if self.unique else f"of a set of dimension up to {self.dimension}"
        return (
            f"<nuclear-norm {self.programme.name} of {self.programme.sizes}: {self.status}, "
            f"norm {self.value:.10g}, rank {self.rank}, {size}, gap {self.gap:.1e}>"
        )


def solve_nuclear(
    programme: Programme,
    start: Float[Array, "d e"] | None = None,
    deadline: Deadline | None = None,
    *,
    bracketed: bool = False,
) -> NuclearAnswer:
    """Solve the nuclear-norm Att-SVM of a separable programme.

    A primal-dual path on the dual, max sum_j w_j with ||sum_j w_j A_j||_op <= 1, proposes
    solutions. Newton steps from its end refine them. Every proposal is graded from W and w alone.

    Args:
        programme: inequalities with bound 1.
        start: a matrix with positive margins, or None. It only decides which error is raised: with
            it, the programme is known to be separable.
        deadline: the time limit; None for no limit.
        bracketed: whether to return an answer with a bracket wider than 1e-9 instead of an error.

    Raises:
        DataError: a bound differs from 1, or a constraint is an equality.
        SolverError: the programme is unseparable, or no answer has a bracket of relative width up
            to 1e-9.
    """
    _ensure_plain(programme)
    best: NuclearAnswer | None = None
    try:
        for L, R, weights in propose(programme, deadline):
            answer = grade_nuclear(programme, (L, R), weights)
            if best is None or _is_better(_error(answer), _error(best)):
                best = answer
            if is_settled(best):
                break
    except SolverError as error:
        if best is None and start is not None and (programme.margins(start) > 0.0).all():
            raise SolverError(
                "the programme is separable, but the central path ended before its goal",
                value=error.value,
                remedy="Rescale the tokens or the queries; drop constraints that others imply.",
            ) from error
        if best is None:
            raise
    if best is not None and bracketed and TOLERANCE < _error(best) < np.inf:
        return replace(best, status="bracketed")
    if best is None or not _error(best) <= TOLERANCE:
        raise SolverError(
            "no bracket of the nuclear norm reached a relative width of 1e-9, neither from the "
            "central path nor from Newton steps on its end",
            value=None if best is None else _error(best),
            remedy="Rescale the tokens or the queries: they are barely separable.",
        )
    return best


def grade_nuclear(
    programme: Programme,
    factors: tuple[Float[Array, "d r"], Float[Array, "e r"]],
    weights: Float[Array, " m"],
) -> NuclearAnswer:
    """Recompute every figure of an answer from the factors of W = L R^T and the multipliers.

    Negative multipliers are set to zero. Figures that cannot be computed are NaN or infinite, and
    a proposal that is not a solution has a wide bracket.

    Raises:
        DataError: another bound than 1, or an equality.
    """
    _ensure_plain(programme)
    L, R = factors
    with np.errstate(all="ignore"):
        weights = np.maximum(weights, 0.0)
        result = spectrum(programme, weights)
        bracket = nuclear_bracket(programme, L, R, weights, result.top)
        W = L @ R.T
        values = _singular_values(L, R)
        value = float(values.sum())
        reached = programme.margins(W)
        on_face = np.abs(result.values - 1.0) <= TIGHT
        U, V = result.U[:, on_face], result.V[:, on_face]
        certificate = programme.combine(weights)
        solutions = Slice.of(programme.D, programme.Z, U, V, _weighty(programme, weights))
        return NuclearAnswer(
            programme=programme,
            status="solved",
            W=W,
            value=value,
            bracket=bracket,
            weights=weights,
            reached=reached,
            primal_residual=float(np.maximum(1.0 - reached.min(), 0.0)),
            dual_residual=float(np.maximum(result.values.max() - 1.0, 0.0)),
            gap=float((value - weights.sum()) / value),
            certificate=certificate,
            face=(U, V),
            rank=int((values > TIGHT * values.max()).sum()),
            dimension=solutions.dimension,
        )


def distance(answer: NuclearAnswer, G: Float[Array, "d e"]) -> tuple[float, float]:
    """Return bounds of the Frobenius distance of G to the set of solutions.

    If the solution is unique, both are ||G - W||_F. Otherwise the upper bound is the distance to a
    member that is feasible up to rounding. The lower bound is a dual value of the projection. It
    refers to the face and the rows as floats, so it holds up to the error of the face.

    Raises:
        DataError: G does not have the shape of W, or is not finite.
    """
    d, e = answer.W.shape
    G = ensure_array("G", G, ("d", "e"), {"d": d, "e": e})
    if answer.unique:
        away = float(np.linalg.norm(G - answer.W))
        return away, away
    programme, (U, V) = answer.programme, answer.face
    equal = _weighty(programme, answer.weights)
    solutions = Slice.of(programme.D, programme.Z, U, V, equal)
    x = pack(_even(U.T @ G @ V))
    off = float(np.linalg.norm(G - U @ unpack(x) @ V.T))
    lower, member = solutions.project(x, pack(_even(U.T @ answer.W @ V)))
    upper = float(np.linalg.norm(G - U @ unpack(member) @ V.T))
    return min(float(np.hypot(off, lower)), upper), upper


def _ensure_plain(programme: Programme) -> None:
    if programme.equal.any() or not (programme.bound == 1.0).all():
        raise DataError(
            "the nuclear norm is minimised under margins of at least 1 alone",
            value=programme.name,
            remedy="Use the Frobenius norm for other bounds and for equalities.",
        )


def is_settled(answer: NuclearAnswer) -> bool:
    """Return whether the bracket is narrow, or as narrow as rounding permits."""
    figures = (answer.primal_residual, answer.dual_residual, abs(answer.gap))
    return _error(answer) <= (TOLERANCE if max(figures) <= EXACT else CLOSE)


def _is_better(error: float, before: float) -> bool:
    """Return whether a later proposal replaces an earlier one, whose face is more accurate."""
    return error < 0.1 * before or error <= TOLERANCE < before


def _error(answer: NuclearAnswer) -> float:
    """Return the largest of residuals, gap and relative width of the bracket; infinite for NaN."""
    figures = (answer.primal_residual, answer.dual_residual, abs(answer.gap), answer.width)
    worst = float(np.max(figures))
    return worst if worst < np.inf else np.inf


def _singular_values(L: Array, R: Array) -> Array:
    """Return the singular values of L R^T, computed from small matrices."""
    if not (np.isfinite(L).all() and np.isfinite(R).all()):
        return np.full(1, np.nan)
    if L.shape[1] == 0:
        return np.zeros(1)
    first: Array = np.linalg.qr(L)[1]
    second: Array = np.linalg.qr(R)[1]
    values: Array = np.linalg.svd(first @ second.T, compute_uv=False)
    return values


def _weighty(programme: Programme, weights: Array) -> Array:
    """Return which constraints have a multiplier above 1e-7 of the largest, both times ||A_j||."""
    loads = weights * programme.norms
    weighty: Array = loads > TIGHT * loads.max()
    return weighty


def _even(B: Array) -> Array:
    return 0.5 * (B + B.T)
