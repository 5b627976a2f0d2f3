"""Least-norm programmes decided in rationals: a solution or a Farkas certificate, checked."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpz, fmpz_mat

from attsvm._types import Array
from attsvm._witness import indices, proposed
from attsvm.errors import SolverError
from attsvm.exact.active_set import LONG, Status, exchange, independent, pivot, solve
from attsvm.exact.deadline import Deadline
from attsvm.exact.numbers import ExactData, Matrix, Vector, dot, subtract
from attsvm.exact.programme import ExactProgramme, FloatProgramme
from attsvm.kernels.least_norm import least_norm

Note = Callable[[Vector], None]
"""A callback that receives multipliers, one per constraint."""


@dataclass(frozen=True, slots=True)
class ExactAnswer:
    """The answer of a programme in rationals, with its optimality conditions already checked.

    If `solved`: every margin meets its bound, multipliers of inequalities are nonnegative, W =
    sum_j duals_j A_j, and only tight constraints have a multiplier. Hence W is the unique minimiser
    of the Frobenius norm. If `unseparable`: the multipliers of inequalities are nonnegative, sum_j
    duals_j A_j = 0 and sum_j duals_j bound_j > 0. Hence no W meets the bounds.

    Attributes:
        numerator, denominator: the solution as an integer matrix over an integer; zero if
            unseparable.
        duals, margins, bound: one value per constraint.
        equal: whether each constraint is an equality.
    """

    status: Status
    numerator: fmpz_mat
    denominator: fmpz
    duals: Vector
    margins: Vector
    bound: Vector
    equal: list[bool]

    @property
    def W(self) -> Matrix:
        """The solution, row by row."""
        return [[fmpq(x, self.denominator) for x in row] for row in self.numerator.tolist()]

    @property
    def square(self) -> fmpq:
        """||W||_F^2, which by duality is sum_j duals_j bound_j."""
        return dot(self.duals, self.bound) if self.status == "solved" else fmpq(0)

    @property
    def tight(self) -> list[int]:
        """Constraints that hold with equality."""
        return [j for j, (m, b) in enumerate(zip(self.margins, self.bound, strict=True)) if m == b]

    @property
    def degenerate(self) -> list[int]:
        """Tight inequalities with multiplier zero."""
        return [j for j in self.tight if self.duals[j] == 0 and not self.equal[j]]

    @property
    def all_tight(self) -> bool:
        """Whether every constraint is tight: all tokens are support vectors."""
        return self.status == "solved" and len(self.tight) == len(self.margins)

    @property
    def rank(self) -> int:
        """The rank of W."""
        return int(self.numerator.rank())


def separate(data: ExactData, chosen: list[int]) -> ExactAnswer | None:
    """Decide the Att-SVM that selects the row `chosen[i]` of each input, from exact values alone.

    Constraints are ordered by input, and by the other rows of each. The result is None if every
    input has a single token, so that there are no constraints.

    Raises:
        SolverError: the pivots did not end within their maximum number.
    """
    programme = selecting(data, chosen)
    return None if programme is None else solve_exactly(programme)


def selecting(data: ExactData, chosen: list[int]) -> ExactProgramme | None:
    """Return the constraints of `separate`; None if every input has a single token."""
    D, Z = [], []
    for tokens, z, best in zip(data.X, data.Z, chosen, strict=True):
        for t, token in enumerate(tokens):
            if t != best:
                D.append(subtract(tokens[best], token))
                Z.append(z)
    return ExactProgramme.of_rows(D, Z) if D else None


SUPPORT = "support of a solution, or of a proof that there is none"
"""Name of the proposal of `solve_exactly`. Any support leads to a proof; a good one saves time."""

MANY = 24
"""Minimum number of constraints for which long floats propose a support before rationals pivot."""

WIDE, LARGE = 250, 1000
"""Maximum numbers of constraints for block exchanges: in general, and if at most `rank_bound`
constraints are given, so that all of them may be independent."""


def decide(
    programme: FloatProgramme,
    duals: Array | None = None,
    deadline: Deadline | None = None,
    note: Note | None = None,
) -> ExactAnswer:
    """Decide a programme from the exact values of its tokens, queries and bounds.

    Args:
        programme: any least-norm programme of the family.
        duals: a guess of the multipliers (one per constraint), of a solution or of a Farkas
            certificate; its support is tried first.
        deadline: the time limit; None for no limit.
        note: called with intermediate multipliers, from which a bracket of the least norm follows.

    Raises:
        OutOfTimeError: the deadline passed.
        SolverError: the pivots did not end within their maximum number.
    """
    return solve_exactly(ExactProgramme.of(programme), duals, deadline, note)


def solve_exactly(
    programme: ExactProgramme,
    duals: Array | None = None,
    deadline: Deadline | None = None,
    note: Note | None = None,
) -> ExactAnswer:
    """Decide an exact programme; see `decide`."""
    if deadline is not None:
        deadline.ensure()
    m = len(programme.bound)
    if duals is None:
        result = proposed(SUPPORT, lambda: [*_members(float_guess(programme))])
        support = indices(result, m)
    else:
        support = _members(duals)
    answer = _guessed(programme, support, deadline)
    if answer is None and m >= MANY:
        support = _long_support(programme, support, deadline, note)
        answer = _guessed(programme, support, deadline)
    if answer is not None:
        return answer
    pivoted = pivot(programme, support, deadline)
    answer = None if pivoted is None else proved(programme, *pivoted)
    if answer is None:
        raise SolverError(
            "the exact active-set method did not end with a proof",
            value=m,
            remedy="This is a defect of attsvm: please report it.",
        )
    return answer


def _members(guess: Array) -> list[int]:
    """Return the constraints whose multiplier is not 0."""
    return [j for j, w in enumerate(guess) if w != 0]


def _long_support(
    programme: ExactProgramme, guess: list[int], deadline: Deadline | None, note: Note | None
) -> list[int]:
    """Return the support that long floats propose, by block exchanges or pivots, else the guess."""
    m = len(programme.bound)
    if m <= WIDE or (m <= LARGE and m <= programme.rank_bound):
        everything = range(m)
        gram = programme.gram(everything, everything)
        result = exchange(gram, programme.bound, programme.equal, guess, deadline)
        if result is not None:
            support, weights = result
            if note is not None:
                note([w * programme.gram_unit for w in weights])
            return support
    pivoted = pivot(programme, guess, deadline, LONG)
    if pivoted is None:
        return guess
    if note is not None and pivoted[1] == "solved":
        note(pivoted[0])
    return [j for j, w in enumerate(pivoted[0]) if w != 0]


def float_guess(programme: ExactProgramme) -> Array:
    """Return multipliers proposed by the float method; they affect only the running time."""
    D, sizes_D = _unit_rows(programme.D)
    Z, sizes_Z = _unit_rows(programme.Z)
    sizes = [x * z for x, z in zip(sizes_D, sizes_Z, strict=True)]
    shift = min(size.bit_length() for size in sizes)  # the sizes may exceed the range of floats
    ratios = [nearest(b * (1 << shift) / z) for b, z in zip(programme.bound, sizes, strict=True)]
    bound, equal = np.array(ratios), np.array(programme.equal, dtype=np.bool_)
    filled = D.any(axis=1) & Z.any(axis=1)
    guess: Array = (~filled & ((bound > 0.0) | (equal & (bound != 0.0)))).astype(np.float64)
    if filled.any() and not guess.any():
        rows = D[filled], Z[filled], bound[filled], equal[filled]
        guess[filled] = least_norm(*rows, 10 * len(ratios) + 100)[0]
    return guess


def _unit_rows(matrix: fmpz_mat) -> tuple[Array, list[int]]:
    """Return rows divided by their largest entry, as floats, and these entries (1 if zero)."""
    rows = [[int(x) for x in row] for row in matrix.tolist()]
    sizes = [max(map(abs, row)) or 1 for row in rows]
    floats = [[x / size for x in row] for row, size in zip(rows, sizes, strict=True)]
    return np.array(floats), sizes


def nearest(value: fmpq) -> float:
    """Return the float nearest to a rational; infinite if the rational exceeds all floats."""
    try:
        return int(value.p) / int(value.q)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _guessed(
    programme: ExactProgramme, support: list[int], deadline: Deadline | None
) -> ExactAnswer | None:
    """Return the answer that a support proves; None if it proves nothing.

    If its rows are independent, the multipliers that make them tight are tried as a solution. If
    all but one are, the combination that cancels the rows is tried as a Farkas certificate.
    """
    if not support:
        return None
    block = programme.gram(support, support)
    right = [programme.bound[j] for j in support]
    tight = solve(block, list(range(len(support))), right, deadline)
    if tight is not None:
        scaled = [w * programme.gram_unit for w in tight]
        return proved(programme, _spread(programme, support, scaled), "solved")
    if deadline is not None:
        deadline.ensure()
    kept = independent(block, list(range(len(support))))
    if len(kept) != len(support) - 1:
        return None
    (last,) = set(range(len(support))) - set(kept)
    others = solve(block, kept, [fmpq(-block[j][last]) for j in kept], deadline)
    if others is None:
        return None
    ray = [*others[:last], fmpq(1), *others[last:]]
    gains = 1 if dot(ray, right) > 0 else -1
    return proved(programme, _spread(programme, support, [gains * w for w in ray]), "unseparable")


def _spread(programme: ExactProgramme, support: list[int], weights: Vector) -> Vector:
    spread: Vector = [fmpq(0)] * len(programme.bound)
    for j, w in zip(support, weights, strict=True):
        spread[j] = w
    return spread


def proved(programme: ExactProgramme, weights: Vector, status: Status) -> ExactAnswer | None:
    """Return the answer if every one of its conditions holds exactly, else None."""
    bound, equal = programme.bound, programme.equal
    if any(w < 0 for w, e in zip(weights, equal, strict=True) if not e):
        return None
    # Nothing before this point is trusted. Of a solution, W = sum_j w_j A_j holds by construction;
    # what is checked is the signs, the margins, and that only tight margins have a multiplier.
    W, unit, margins = programme.combine(weights)
    matrix_unit = unit * programme.unit_left * programme.unit_right
    margin_unit = matrix_unit * programme.unit_left * programme.unit_right
    exact_margins = [fmpq(m, margin_unit) for m in margins]
    if status == "unseparable":
        if fmpz_mat(W.nrows(), W.ncols()) != W or not dot(weights, bound) > 0:
            return None
    else:
        for m, b, w, e in zip(exact_margins, bound, weights, equal, strict=True):
            if not (m == b or (m > b and w == 0 and not e)):
                return None
    return ExactAnswer(status, W, matrix_unit, weights, exact_margins, bound, equal)
