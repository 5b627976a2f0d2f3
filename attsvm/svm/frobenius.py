"""Least-norm programmes: methods propose multipliers, and every figure is recomputed from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from attsvm._types import Array, Bool, Float
from attsvm.data import AttentionData
from attsvm.errors import OutOfTimeError, SolverError
from attsvm.exact.deadline import Deadline, is_over
from attsvm.exact.numbers import rational
from attsvm.exact.programme import ExactProgramme
from attsvm.exact.svm import ExactAnswer, decide, nearest
from attsvm.kernels.least_norm import figures
from attsvm.svm.answered import Answered, Facts, bracket_in_words
from attsvm.svm.bounds import (
    TIGHT,
    TOLERANCE,
    certain_margins,
    frobenius_bracket,
    margins_about,
    size_up,
)
from attsvm.svm.farkas import exists
from attsvm.svm.methods import METHODS
from attsvm.svm.programme import Programme, Tokens, Unlisted, att_svm_programme, subset
from attsvm.svm.shared import cancelled, solve_shared
from attsvm.svm.shared_programme import least_margin, programme_of


@dataclass(frozen=True, slots=True, eq=False)
class FrobeniusAnswer(Answered):
    """min ||W||_F under the programme's constraints, or a proof that no W meets them.

    Attributes:
        programme: the constraints.
        status: `solved`, or `unseparable` with Farkas multipliers in `weights`. `solve` also
            returns `solved in rationals`: the exact solution is known but W, the closest float
            matrix, misses the bounds by more than 1e-9. And it returns `bracketed`: W meets the
            bounds, `weights` bound the least norm from below, and the gap is wider than 1e-9.
        W: the solution sum_j weights_j A_j (a column if the unknown is a vector); zero if
            unseparable; a matrix that meets the bounds if bracketed.
        value: ||W||_F; infinite if unseparable.
        weights: multipliers, one per constraint, nonnegative on inequalities. If solved, those of
            min 1/2 ||W||_F^2. If unseparable, sum_j weights_j A_j = 0 and sum_j weights_j bound_j =
            1.
        reached: the margins D_j^T W z_j, one per constraint; zero if unseparable.
        primal_residual: the largest shortfall of a margin, relative to its bound. For bounds of 0
            and for equalities it is relative to ||A_j||_F ||W||_F. In answers of `solve_programme`
            and `solve` the figure bounds the shortfall of exact margins below positive bounds:
            rounding is included.
        dual_residual: if solved, minus the least multiplier of an inequality, relative to the
            largest, if it is negative. If unseparable, ||sum_j weights_j A_j||_F relative to sum_j
            weights_j ||A_j||_F; NaN if a sign or the gain is wrong.
        gap: 1/2 ||W||_F^2 minus the dual value, relative to it; zero if unseparable.
        known: bounds of the least norm from exact arithmetic, or None. They can be finite even if
            multipliers or W leave float64.
    """

    programme: Programme
    status: Literal["solved", "solved in rationals", "bracketed", "unseparable"]
    W: Float[Array, "d e"]
    value: float
    weights: Float[Array, " m"]
    reached: Float[Array, " m"]
    primal_residual: float
    dual_residual: float
    gap: float
    known: tuple[float, float] | None = None

    @property
    def solved(self) -> bool:
        """Whether some W meets the constraints.

        It is the least one unless the status is `bracketed`.
        """
        return self.status != "unseparable"

    @property
    def margins(self) -> Float[Array, "n T"]:
        """Margins by input and token; infinite without a constraint or a solution."""
        nothing = np.full_like(self.reached, np.inf)
        return self.programme.table(self.reached if self.solved else nothing, np.inf)

    @property
    def duals(self) -> Float[Array, "n T"]:
        """Multipliers by input and token."""
        return self.programme.table(self.weights, 0.0)

    @property
    def vector(self) -> Float[Array, " d"]:
        """The solution of a programme whose unknown is a vector (p-SVM, v-SVM).

        Raises:
            SolverError: the unknown is a matrix.
        """
        if not self.programme.is_vector:
            raise SolverError(
                "the unknown of this programme is a matrix",
                value=self.programme.name,
                remedy="Read W.",
            )
        return self.W[:, 0]

    @property
    def is_tight(self) -> Bool[Array, " m"]:
        """Whether each constraint holds with equality, to 1e-7 of the largest bound."""
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
        """Bounds of the least norm that include rounding errors; infinite if unseparable."""
        if not self.solved:
            return np.inf, np.inf
        if self.known is not None:
            return self.known
        return frobenius_bracket(self.programme, self.W, self.weights)

    @property
    def remarks(self) -> Facts:
        """A line that names the function that certifies in rationals."""
        return [("", "(attsvm.svm.certify does it in rationals, on request)")]

    @property
    def optimum(self) -> Facts:
        """The norm of W and the bracket of the least norm."""
        return self.about_norm(self.bracket)

    def about_norm(self, bracket: tuple[float, float]) -> Facts:
        """Return the norm of W with a bracket of the least norm, as a line of a page."""
        return [("norm", f"{self.value:.12g}, {bracket_in_words(bracket)}")]

    def __repr__(self) -> str:
        """Return a summary in one line."""
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
    """Solve the Frobenius Att-SVM for the optimal tokens, or the Local-SVM for `targets`.

    Raises:
        TiedTokensError, DataError: as `att_svm_programme`.
        SolverError: no answer has recomputed residuals below 1e-9.
    """
    return solve_programme(att_svm_programme(data, targets))


def solve_programme(
    programme: Programme, deadline: Deadline | None = None, *, rationals: bool = True
) -> FrobeniusAnswer:
    """Solve any least-norm programme of the family.

    Methods propose multipliers: pivoting, block exchanges with conjugate gradients, a growing
    working set or accelerated steps for many constraints, and rationals if floats do not settle it.
    Proposals are not trusted. W, margins, signs, gap and residuals are recomputed from the
    multipliers alone, and the first answer whose figures are all below 1e-9 is returned.

    Args:
        programme: the constraints.
        deadline: the time limit of the methods; None for no limit.
        rationals: whether the exact method may propose if floats do not settle the problem.

    Raises:
        OutOfTimeError: the deadline passed.
        SolverError: there is no answer; the message lists the methods tried and the smallest error.
    """
    search = searched(programme, deadline, rationals=rationals)
    if search.answer is not None:
        return search.answer
    cause = "no method reached a proof to 1e-9"
    remedy = (
        "Constraints are barely separable or unseparable, or ill-conditioned: ask attsvm.solve "
        "for a bracket, or attsvm.exact.decide for rationals; rescale, or drop nearly parallel "
        "tokens."
    )
    if is_over(deadline):
        cause, remedy = f"{cause} in the time given", "Give more seconds."
    raise SolverError(
        f"{cause} (tried {', '.join(search.tried) or 'none'})", value=search.error, remedy=remedy
    )


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """The graded proposals of the methods.

    Attributes:
        answer: the first answer whose figures are below 1e-9, or None.
        weights: multipliers of the rejected answers.
        tried: names of their methods.
        error: the smallest of the largest figures of these answers.
        bracketed: a matrix that meets the constraints, with a bracket, or None.
    """

    answer: FrobeniusAnswer | None
    weights: tuple[Float[Array, " m"], ...] = ()
    tried: tuple[str, ...] = ()
    error: float = np.inf
    bracketed: FrobeniusAnswer | None = None


def searched(
    programme: Programme, deadline: Deadline | None = None, *, rationals: bool = True
) -> Search:
    """Return the first proposal that is an answer, or all proposals; see `solve_programme`.

    Raises:
        OutOfTimeError: the deadline passed in rational arithmetic.
    """
    search = Search(None)
    if isinstance(programme, Unlisted):
        first = by_tables(programme, deadline)
        if first is not None and first.status != "bracketed":
            return Search(first)
        error = np.inf if first is None else first.gap
        search = Search(None, tried=("tables",), error=error, bracketed=first)
    for name, method in METHODS.items():
        if (name == "rationals" and not rationals) or (search.tried and is_over(deadline)):
            continue
        with np.errstate(all="ignore"):  # figures that overflow are rejected
            proposal = method(programme, deadline)
            if proposal is None:
                continue
            answer, certain = _graded(programme, proposal[0], proposal[1])
            error = _error(answer)
            if error <= TOLERANCE:
                try:
                    missed = missed_by(answer, certain, deadline)
                except OutOfTimeError:  # multipliers without a rational proof in time
                    missed = np.inf
                if not missed <= answer.primal_residual:
                    answer, error = replace(answer, primal_residual=missed), max(error, missed)
        if error <= TOLERANCE:
            return Search(answer)
        search = replace(
            search,
            weights=(*search.weights, answer.weights) if answer.solved else search.weights,
            tried=(*search.tried, name),
            error=min(search.error, error),
        )
    return search


def by_tables(programme: Unlisted, deadline: Deadline | None) -> FrobeniusAnswer | None:
    """Solve a large Att-SVM without writing out its rows; None if it stays undecided.

    Inputs that share tokens use one copy of them, and multipliers are tables.
    All figures include rounding.
    """
    with np.errstate(all="ignore"):  # figures that are not finite are rejected
        shared = programme_of(programme.data, programme.targets)
        weights = cancelled(shared)
        if weights is not None:
            return unseparable(programme, weights[programme.input, programme.token], 0.0)
        answer = solve_shared(shared, deadline=deadline)
    weights = answer.weights[programme.input, programme.token]
    if answer.status == "unseparable":
        return unseparable(programme, weights, answer.stationarity)
    if not answer.solved:
        return None
    return FrobeniusAnswer(
        programme=programme,
        status="solved" if answer.status == "solved" else "bracketed",
        W=answer.W,
        value=answer.value,
        weights=weights,
        reached=programme.margins(answer.W),
        primal_residual=max(0.0, 1.0 - least_margin(shared, answer.W)),
        dual_residual=answer.dual_residual,
        gap=answer.gap,
        known=answer.bracket,
    )


def bracketed(
    programme: Programme, proposals: Iterable[Float[Array, " m"]]
) -> FrobeniusAnswer | None:
    """Return the tightest bracket that multipliers prove, with a W that meets all bounds.

    Each W = sum_j weights_j A_j is scaled up until its margins provably meet the bounds. The result
    is None if no W does, or if the least norm has no lower bound.
    """
    low, high, best = 0.0, np.inf, None
    with np.errstate(all="ignore"):
        for weights in proposals:
            W = programme.combine(weights)
            size = float(np.linalg.norm(W))
            if not 0.0 < size < np.inf:
                continue
            below, above = frobenius_bracket(programme, W, weights)
            if below > low:
                low, best = below, weights * (float(weights @ programme.bound) / size**2)
            longer = W * (above / size)
            short = _shortfall(programme, longer)
            if above < high and short <= TOLERANCE:
                high, feasible, missed = above, longer, max(short, 0.0)
    if best is None or not high < np.inf:
        return None
    return FrobeniusAnswer(
        programme=programme,
        status="bracketed",
        W=feasible,
        value=high,
        weights=best,
        reached=programme.margins(feasible),
        primal_residual=missed,
        dual_residual=0.0,
        gap=1.0 - (low / high) ** 2,
    )


def _shortfall(programme: Programme, W: Array) -> float:
    """Return the largest violation of a bound by a margin, relative to the scale of the bounds."""
    short = programme.bound - programme.margins(W)
    short = np.where(programme.equal, np.abs(short), short)
    return float(short.max()) / _scale(programme)


def missed_by(answer: FrobeniusAnswer, certain: float, deadline: Deadline | None) -> float:
    """Return an upper bound of the shortfall of exact margins, relative to positive bounds.

    It is infinite for Farkas multipliers if no exact multipliers near them are proved to exist.
    Float margins are no proof: constraints may be separable by less than 1e-9, and then the exact
    margins of W can be far from the computed ones. If bounds of the rounding errors are too wide,
    the margins are evaluated in rationals.
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
        return (
            np.inf
        )  # weak duality needs w >= 0: a negative multiplier, however small, proves nothing
    return worst if np.isfinite(worst) and np.isfinite(answer.value) == answer.solved else np.inf


def unseparable(
    programme: Programme, weights: Float[Array, " m"], residual: float
) -> FrobeniusAnswer:
    """Return the answer `unseparable` with these Farkas multipliers and their residual."""
    W = np.zeros(programme.sides)
    nothing = np.zeros_like(weights)
    return FrobeniusAnswer(
        programme, "unseparable", W, np.inf, weights, nothing, 0.0, residual, 0.0
    )


def certify(answer: FrobeniusAnswer) -> ExactAnswer:
    """Return the exact answer of the programme: solution or Farkas certificate, in rationals.

    Its conditions are checked. The float multipliers only determine the support tried first.

    Raises:
        SolverError: the exact status differs from the answer's, or the method did not end.
    """
    exact = decide(answer.programme, answer.weights)
    if exact.status != answer.status:
        raise SolverError(
            f"the exact answer is `{exact.status}`, but floats gave `{answer.status}`",
            value=answer.value,
            remedy="Use the exact answer (attsvm.exact.decide): rounding errors exceed the margin.",
        )
    return exact


def grade(programme: Programme, weights: Float[Array, " m"], *, solved: bool) -> FrobeniusAnswer:
    """Recompute every figure of an answer from its multipliers alone."""
    return _graded(programme, weights, solved)[0]


def _graded(programme: Programme, weights: Array, solved: bool) -> tuple[FrobeniusAnswer, float]:
    """Return the answer, and a lower bound of the least exact margin over positive bounds."""
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
    # 1/2 ||W||^2 - (b^T w - 1/2 ||W||^2), which is sum_j w_j (m_j - b_j) for W = sum_j w_j A_j
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
