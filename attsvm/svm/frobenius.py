"""Least-norm programmes by an active-set method on the dual; every figure is recomputed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from attsvm._types import Array, Bool, Float
from attsvm.data import AttentionData
from attsvm.errors import SolverError
from attsvm.exact.deadline import Deadline
from attsvm.exact.numbers import rational
from attsvm.exact.programme import ExactProgramme
from attsvm.exact.svm import ExactAnswer, decide, nearest
from attsvm.kernels.least_norm import (
    FAILED,
    SOLVED,
    figures,
    least_norm,
    scale_rows,
)
from attsvm.svm.answered import Answered, Facts, bracket_in_words
from attsvm.svm.bounds import certain_margins, frobenius_bracket, margins_about, size_up
from attsvm.svm.farkas import exists
from attsvm.svm.programme import Programme, Tokens, att_svm_programme, subset
from attsvm.svm.support import GramOperator, conjugate_gradients, guess_by_blocks

TOLERANCE = 1e-9
"""Largest relative residual or gap of an answer that is called solved or unseparable."""

TIGHT = 1e-7
"""How near to its bound a margin counts as tight."""

COLD, DENSE = 256, 3000
"""Up to so many constraints pivot from nothing; up to so many may form a Gram matrix."""

EXACT = 150
"""Up to so many constraints that floats cannot settle are proposed by the exact method."""


Proposal = tuple[Array, bool] | None
"""Multipliers, and whether they are of a solution (else of a Farkas certificate)."""


@dataclass(frozen=True, slots=True, eq=False)
class FrobeniusAnswer(Answered):
    """min ||W||_F under the programme's constraints, or a reason why no W meets them.

    Attributes:
        programme: the constraints.
        status: `solved`, or `unseparable` with Farkas multipliers in `weights`. `solve` also
            gives `solved in rationals`, where the exact solution is known but W, the matrix of
            floats nearest to it, misses the bounds by more than 1e-9.
        W: the solution sum_j weights_j A_j (a column where the unknown is a vector); zero where
            unseparable.
        value: ||W||_F; infinite where unseparable.
        weights: multipliers, one a constraint, nonnegative on inequalities. Solved: of
            min 1/2 ||W||_F^2. Unseparable: sum_j weights_j A_j = 0 and
            sum_j weights_j bound_j = 1.
        reached: the margins D_j^T W z_j, one a constraint; zero where unseparable.
        primal_residual: how far a margin falls short of its bound, relative to it; where the bound
            is 0 and for equalities, how far it is off relative to ||A_j||_F ||W||_F. Of an answer
            of `solve_programme` and of `solve` the exact margins of W fall short of positive
            bounds by no more: rounding is part of the figure.
        dual_residual: solved: minus the least multiplier of an inequality, relative to the
            largest, where it is negative. Unseparable: ||sum_j weights_j A_j||_F relative to
            sum_j weights_j ||A_j||_F; NaN where a sign or the gain is wrong.
        gap: 1/2 ||W||_F^2 minus the dual value, relative to it; zero where unseparable.
    """

    programme: Programme
    status: Literal["solved", "solved in rationals", "unseparable"]
    W: Float[Array, "d e"]
    value: float
    weights: Float[Array, " m"]
    reached: Float[Array, " m"]
    primal_residual: float
    dual_residual: float
    gap: float

    @property
    def solved(self) -> bool:
        """Whether some W meets the constraints and the least one was found."""
        return self.status != "unseparable"

    @property
    def margins(self) -> Float[Array, "n T"]:
        """Margins by input and token; infinite where nothing is constrained or solvable."""
        nothing = np.full_like(self.reached, np.inf)
        return self.programme.table(self.reached if self.solved else nothing, np.inf)

    @property
    def duals(self) -> Float[Array, "n T"]:
        """Multipliers by input and token."""
        return self.programme.table(self.weights, 0.0)

    @property
    def vector(self) -> Float[Array, " d"]:
        """The solution of a programme whose unknown is a vector (p-SVM, v-SVM)."""
        if not self.programme.is_vector:
            raise SolverError(
                "the unknown of this programme is a matrix",
                value=self.programme.name,
                remedy="Read W.",
            )
        return self.W[:, 0]

    @property
    def is_tight(self) -> Bool[Array, " m"]:
        """Which constraints hold with equality, to 1e-7 of the largest bound."""
        distance = np.abs(self.reached - self.programme.bound)
        tight: Array = (distance <= TIGHT * _scale(self.programme)) & self.solved
        return tight

    @property
    def support(self) -> Tokens:
        """Tokens whose constraint is tight, input by input."""
        return self.programme.by_input(self.is_tight)

    @property
    def degenerate(self) -> Tokens:
        """Tight tokens whose multiplier is zero, input by input."""
        idle = np.abs(self.weights) <= TIGHT * np.abs(self.weights).max()
        return self.programme.by_input(self.is_tight & idle & ~self.programme.equal)

    @property
    def rank(self) -> int:
        """Number of singular values of W above 1e-9 of the largest."""
        sizes = np.linalg.svd(self.W, compute_uv=False)
        return int((sizes > TOLERANCE * sizes[0]).sum()) if self.solved else 0

    @property
    def bracket(self) -> tuple[float, float]:
        """Bounds of the least norm that hold in spite of rounding; infinite where unseparable."""
        if not self.solved:
            return np.inf, np.inf
        return frobenius_bracket(self.programme, self.W, self.weights)

    @property
    def remarks(self) -> Facts:
        """Where a certificate in rationals is to be had."""
        return [("", "(attsvm.svm.certify does it in rationals, on request)")]

    @property
    def optimum(self) -> Facts:
        """The norm and the bracket of the least one."""
        return self.about_norm(self.bracket)

    def about_norm(self, bracket: tuple[float, float]) -> Facts:
        """The norm, with a bracket of the least one."""
        return [("norm", f"{self.value:.12g}, {bracket_in_words(bracket)}")]

    def __repr__(self) -> str:
        """What a reader wants first."""
        what = f"{self.programme.name} of {self.programme.sizes}: {self.status}"
        if not self.solved:
            return f"<{what}, Farkas residual {self.dual_residual:.1e}>"
        return (
            f"<{what}, norm {self.value:.10g}, {int(self.is_tight.sum())} of "
            f"{len(self.weights)} constraints tight, gap {self.gap:.1e}>"
        )


def _scale(programme: Programme) -> float:
    return float(np.abs(programme.bound).max()) or 1.0


def att_svm(data: AttentionData, targets: object = None) -> FrobeniusAnswer:
    """Solve the Frobenius Att-SVM for the optimal tokens, or Local-SVM for `targets`.

    Raises:
        TiedTokensError, DataError: as `att_svm_programme`.
        SolverError: no answer whose recomputed residuals stay below 1e-9.
    """
    return solve_programme(att_svm_programme(data, targets))


def propose(programme: Programme) -> Proposal:
    """Multipliers that the first method to end proposes, and whether as a solution; not graded."""
    with np.errstate(all="ignore"):
        for method in _METHODS.values():
            proposal = method(programme)
            if proposal is not None:
                return proposal
    return None


def solve_programme(
    programme: Programme, deadline: Deadline | None = None, *, rationals: bool = True
) -> FrobeniusAnswer:
    """Solve any least-norm programme of the family.

    Methods propose multipliers: pivoting, block exchanges with conjugate gradients and a growing
    working set where there are many constraints, rationals where floats do not settle it. None is
    believed: W, margins, signs, gap and residuals are recomputed from the multipliers alone, and
    the first answer whose figures all stay below 1e-9 is returned.

    Args:
        programme: the constraints.
        deadline: when the rational arithmetic gives up; None to take the time that it takes.
        rationals: whether what floats do not settle is proposed by the exact method.

    Raises:
        OutOfTimeError: the deadline passed.
        SolverError: there was none; it says what was tried and how near it came.
    """
    best, tried = np.inf, []
    for name, propose in _METHODS.items():
        if propose is _rationals and not rationals:
            continue
        with np.errstate(all="ignore"):  # figures that overflow are refused
            proposal = (
                _rationals(programme, deadline) if propose is _rationals else propose(programme)
            )
            if proposal is None:
                continue
            answer, certain = _graded(programme, proposal[0], proposal[1])
            error = _error(answer)
            if error <= TOLERANCE:
                missed = _missed(answer, certain, deadline)
                if not missed <= answer.primal_residual:
                    answer, error = replace(answer, primal_residual=missed), max(error, missed)
        if error <= TOLERANCE:
            return answer
        tried.append(name)
        best = min(best, error)
    raise SolverError(
        f"no method reached a proof to 1e-9 (tried {', '.join(tried) or 'none'})",
        value=best,
        remedy="The condition of the constraints is beyond float64, or they are separable or not "
        "by a hair: rescale, drop nearly parallel tokens, or decide the programme exactly with "
        "attsvm.exact.decide.",
    )


def _zero_rows(programme: Programme) -> Proposal:
    """Nothing to meet, or one constraint 0 >= 1 (a zero query, or a repeated target)."""
    bound, equal = programme.bound, programme.equal
    if not (bound > 0.0).any() and not (equal & (bound != 0.0)).any():
        return np.zeros(len(bound)), True
    empty: Array = np.asarray(~(programme.D.any(axis=1) & programme.Z.any(axis=1)))
    if not empty.any():
        return None
    unmet = empty & ((bound > 0.0) | (equal & (bound != 0.0)))
    weights = np.zeros(len(bound))
    if unmet.any():
        worst = int(unmet.argmax())
        weights[worst] = np.sign(bound[worst])
        return weights, False
    inner = _METHODS["pivots" if len(bound) <= DENSE else "working set"](subset(programme, ~empty))
    if inner is None:
        return None
    weights[~empty] = inner[0]
    return weights, inner[1]


def _pivots(programme: Programme) -> Proposal:
    """The active-set method from nothing."""
    m = len(programme.bound)
    if m > DENSE:
        return None
    weights, status, _ = least_norm(
        programme.D, programme.Z, programme.bound, programme.equal, 20 * m + 100
    )
    return None if status == FAILED else (weights, status == SOLVED)


def _blocks(programme: Programme) -> Proposal:
    """Block exchanges on the scaled rows, then one system in full precision."""
    D, Z, norms = scale_rows(programme.D, programme.Z)
    rank = min(D.shape) * min(Z.shape)
    if len(norms) > rank or not (norms > 0.0).all():
        return None  # dependent rows make block exchanges cycle
    c = programme.bound / norms
    largest = float(np.abs(c).max())
    c = c / largest
    operator = GramOperator.of(D, Z, programme.input)
    inside, w = guess_by_blocks(operator, c, programme.equal)
    chosen = np.flatnonzero(inside)
    if chosen.size == 0:
        return None
    if len(chosen) <= DENSE:
        from scipy.linalg.lapack import dpotrf, dpotrs

        block = (D[chosen] @ D[chosen].T) * (Z[chosen] @ Z[chosen].T)
        factor, failed = dpotrf(block, lower=1)
        if failed:
            return None
        solution = dpotrs(factor, c[chosen], lower=1)[0]
        solution += dpotrs(factor, c[chosen] - block @ solution, lower=1)[0]
        w = np.zeros(len(c))
        w[chosen] = solution
    else:
        w = conjugate_gradients(operator, inside, c, w, 1e-15, 500)
        w = conjugate_gradients(operator, inside, c, w, 1e-15, 50)
    return np.where(programme.equal, w, np.maximum(w, 0.0)) / norms * largest, True


def _working_set(programme: Programme) -> Proposal:
    """Pivots on a subset of the rows that grows by the most violated ones."""
    m = len(programme.bound)
    _, _, norms = scale_rows(programme.D, programme.Z)
    inside = programme.equal.copy()
    inside[np.argsort(norms * np.where(programme.bound > 0, 1.0, np.inf))[:COLD]] = True
    weights = np.zeros(m)
    for _ in range(200):
        chosen = np.flatnonzero(inside)
        if len(chosen) > DENSE:
            return None
        inner = _pivots(subset(programme, inside))
        if inner is None:
            return None
        weights = np.zeros(m)
        weights[chosen] = inner[0]
        if not inner[1]:
            return weights, False
        missing = (programme.bound - programme.margins(programme.combine(weights))) / norms
        missing[inside] = -np.inf
        violated = np.flatnonzero(missing > 1e-12 * float(np.abs(weights * norms).sum()))
        if violated.size == 0:
            return weights, True
        # rows that carry nothing may return; the dual value grows, so that this ends
        inside = programme.equal | (weights != 0.0)
        worst = violated[np.argsort(-missing[violated])]
        inside[worst[: max(COLD, int(inside.sum()))]] = True
    return None


def _rationals(programme: Programme, deadline: Deadline | None = None) -> Proposal:
    """The exact answer, rounded."""
    if len(programme.bound) > EXACT:
        return None
    exact = decide(programme, None, deadline)
    solved = exact.status == "solved"
    scale = 1 if solved else max(map(abs, exact.duals))
    return np.array([nearest(w / scale) for w in exact.duals]), solved


_METHODS = {
    "empty rows": _zero_rows,
    "pivots from nothing": lambda p: _pivots(p) if len(p.bound) <= COLD else None,
    "block exchanges": _blocks,
    "working set": _working_set,
    "pivots": _pivots,
    "rationals": _rationals,
}


def _missed(answer: FrobeniusAnswer, certain: float, deadline: Deadline | None) -> float:
    """An upper bound of how far exact margins of W fall short of positive bounds, relative to them.

    Infinite for Farkas multipliers near which none are proved to exist. Residuals of 1e-9 in
    floats may belong to constraints that are separable, or not, by less, and to a W whose exact
    margins are far off: where rounding leaves too much open, rationals evaluate the margins.
    """
    programme = answer.programme
    if not answer.solved:
        return 0.0 if exists(programme, answer.weights, deadline) else np.inf
    needed = (programme.bound > 0.0) & ~programme.equal
    bound = programme.bound[needed]
    if bound.size == 0:
        return 0.0
    if programme.keys is None:
        missed = 1.0 - float(np.nextafter(certain / bound.max(), -np.inf))
        if missed <= TOLERANCE:
            return max(missed, 0.0)
        lower = certain_margins(programme.D, programme.Z, answer.W)  # entry by entry
    else:
        reached, noise = margins_about(programme, answer.W, size_up(answer.W))
        lower = np.nextafter(reached - noise, -np.inf)
    missed = 1.0 - float(np.nextafter(lower[needed] / bound, -np.inf).min())
    if not missed <= TOLERANCE:
        margins = ExactProgramme.of(subset(programme, needed)).float_margins(answer.W)
        short = max(1 - m / rational(b) for m, b in zip(margins, bound.tolist(), strict=True))
        missed = float(np.nextafter(nearest(short), np.inf)) if short > 0 else 0.0
    return max(missed, 0.0)


def _error(answer: FrobeniusAnswer) -> float:
    figures_ = (answer.primal_residual, answer.dual_residual, answer.gap)
    worst = float(np.max(np.abs(figures_)))
    if answer.solved and answer.dual_residual != 0.0:
        return np.inf  # methods clip; a negative multiplier proves nothing, however small
    return worst if np.isfinite(worst) and np.isfinite(answer.value) == answer.solved else np.inf


def unseparable(
    programme: Programme, weights: Float[Array, " m"], residual: float
) -> FrobeniusAnswer:
    """The answer of Farkas multipliers."""
    W = np.zeros((programme.D.shape[1], programme.Z.shape[1]))
    nothing = np.zeros_like(weights)
    return FrobeniusAnswer(
        programme, "unseparable", W, np.inf, weights, nothing, 0.0, residual, 0.0
    )


def certify(answer: FrobeniusAnswer) -> ExactAnswer:
    """The exact answer of the same programme: solution or Farkas certificate, in rationals.

    Its conditions are checked; the float multipliers only say which support is tried first.

    Raises:
        SolverError: the exact status differs from the answer's, or the method did not end.
    """
    exact = decide(answer.programme, answer.weights)
    if exact.status != answer.status:
        raise SolverError(
            f"the exact answer is `{exact.status}` where floats said `{answer.status}`",
            value=answer.value,
            remedy="Trust the exact one (attsvm.exact.decide): they are separable or not by a "
            "hair.",
        )
    return exact


def grade(programme: Programme, weights: Float[Array, " m"], *, solved: bool) -> FrobeniusAnswer:
    """Recompute every figure of an answer from its multipliers alone."""
    return _graded(programme, weights, solved)[0]


def _graded(programme: Programme, weights: Array, solved: bool) -> tuple[FrobeniusAnswer, float]:
    """The answer, and the least margin that must be positive and that rounding leaves certain."""
    bound, equal = programme.bound, programme.equal
    W, reached, square, linear, summed, shortfall, least, certain = figures(
        programme.D, programme.Z, bound, equal, weights
    )
    largest = float(np.abs(weights).max())
    negative = max(0.0, -least) / largest if largest > 0.0 else 0.0
    if not solved:
        weights = weights / linear  # a certificate must gain: linear > 0, else NaN or negative
        cancelled = float(np.sqrt(square)) / summed if summed != 0.0 else 0.0
        gains = 0.0 if linear > 0.0 and negative == 0.0 else np.nan
        return unseparable(programme, weights, float(np.max([cancelled, gains]))), certain
    # 1/2 |W|^2 - (b^T w - 1/2 |W|^2), which is sum_j w_j (m_j - b_j)
    difference = abs(square - linear)
    answer = FrobeniusAnswer(
        programme=programme,
        status="solved",
        W=W,
        value=float(np.sqrt(square)),
        weights=weights,
        reached=reached,
        primal_residual=shortfall,
        dual_residual=negative,
        gap=difference / (0.5 * square) if square > 0.0 else difference,
    )
    return answer, certain
