"""Least-norm programmes decided in rationals: a solution or a Farkas certificate, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from attsvm._types import Array
from attsvm.errors import SolverError
from attsvm.exact.numbers import (
    ExactData,
    Matrix,
    Vector,
    dot,
    integers,
    rational,
    rationals,
    subtract,
)
from attsvm.kernels.least_norm import pivot, scale_rows

if TYPE_CHECKING:
    from attsvm.svm.programme import Programme

__all__ = ["ExactAnswer", "ExactProgramme", "decide", "nearest", "separate", "solve_exactly"]

Status = Literal["solved", "unseparable"]


@dataclass(frozen=True, slots=True)
class ExactProgramme:
    """Rows of min 1/2 ||W||_F^2 subject to D_j^T W z_j >= bound_j, = bound_j where `equal`.

    D and Z are integer matrices over the denominators `unit_left` and `unit_right`.
    """

    D: fmpz_mat
    Z: fmpz_mat
    unit_left: fmpz
    unit_right: fmpz
    bound: list[fmpq]
    equal: list[bool]

    @classmethod
    def of_rows(
        cls, D: Matrix, Z: Matrix, bound: Vector | None = None, equal: list[bool] | None = None
    ) -> ExactProgramme:
        """From rows of rationals; bounds are 1 and rows are inequalities unless said otherwise."""
        numer_D, unit_D = fmpq_mat(D).numer_denom()
        numer_Z, unit_Z = fmpq_mat(Z).numer_denom()
        m = len(D)
        return cls(numer_D, numer_Z, unit_D, unit_Z, bound or [fmpq(1)] * m, equal or [False] * m)

    @classmethod
    def of(cls, programme: Programme) -> ExactProgramme:
        """The exact values of a float programme, its rounded differences taken anew."""
        kept, unit_kept = integers(programme.kept)
        rival, unit_rival = integers(programme.rival)
        D, unit_D = kept * unit_rival - rival * unit_kept, unit_kept * unit_rival
        if programme.keys is not None:
            keys, unit_keys = integers(programme.keys)
            D, unit_D = D * keys.transpose(), unit_D * unit_keys
        Z, unit_Z = integers(programme.Z)
        return cls(D, Z, unit_D, unit_Z, rationals(programme.bound), programme.equal.tolist())

    def gram(self, rows: Sequence[int], columns: Sequence[int]) -> list[list[fmpz]]:
        """Inner products of the integer constraint matrices."""
        left_D, left_Z = _take(self.D, rows), _take(self.Z, rows)
        right_D, right_Z = _take(self.D, columns), _take(self.Z, columns)
        one, two = left_D * right_D.transpose(), left_Z * right_Z.transpose()
        ours, theirs = one.tolist(), two.tolist()
        return [
            [x * y for x, y in zip(a, b, strict=True)] for a, b in zip(ours, theirs, strict=True)
        ]

    def combine(self, weights: Vector) -> tuple[fmpz_mat, fmpz, list[fmpz]]:
        """sum_j weights_j A_j and its margins in integers: the matrix, its denominator, margins.

        The matrix is over the denominator times unit_left unit_right, margins over that times
        unit_left unit_right once more.
        """
        used = [j for j, w in enumerate(weights) if w != 0]
        if not used:
            zero = fmpz_mat(self.D.ncols(), self.Z.ncols())
            return zero, fmpz(1), [fmpz(0)] * self.D.nrows()
        scaled, unit = fmpq_mat([[weights[j] for j in used]]).numer_denom()
        left = _take(self.D, used).transpose().tolist()
        weighted = fmpz_mat([[x * scaled[0, k] for k, x in enumerate(row)] for row in left])
        W = weighted * _take(self.Z, used)
        product = (self.D * W).tolist()
        margins = [dot(a, b) for a, b in zip(product, self.Z.tolist(), strict=True)]
        return W, unit, margins


def _take(matrix: fmpz_mat, rows: Sequence[int]) -> fmpz_mat:
    table = matrix.tolist()
    return fmpz_mat([table[j] for j in rows])


@dataclass(frozen=True, slots=True)
class ExactAnswer:
    """A programme's answer in rationals, with the conditions that prove it already checked.

    `solved`: every margin meets its bound, multipliers of inequalities are at least 0,
    W = sum_j duals_j A_j, and no multiplier on a constraint that is not tight: W is the unique
    minimiser of the Frobenius norm. `unseparable`: multipliers, those of inequalities at least 0,
    with sum_j duals_j A_j = 0 and sum_j duals_j bound_j > 0: no W meets the bounds.

    Attributes:
        numerator, denominator: the solution as an integer matrix over an integer; zero where
            unseparable.
        duals, margins, bound: one value a constraint.
        equal: which constraints are equalities.
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


def separate(data: ExactData, chosen: list[int], duals: Array | None = None) -> ExactAnswer | None:
    """Decide the Att-SVM that selects the row `chosen[i]` of each input, from exact values alone.

    Constraints run over inputs, and over the other rows of each; `duals` is as in `decide`. None
    where every input has a single token, so that nothing is constrained.

    Raises:
        SolverError: the pivots did not end within their bound.
    """
    D, Z = [], []
    for tokens, z, best in zip(data.X, data.Z, chosen, strict=True):
        for t, token in enumerate(tokens):
            if t != best:
                D.append(subtract(tokens[best], token))
                Z.append(z)
    return solve_exactly(ExactProgramme.of_rows(D, Z), duals) if D else None


def decide(programme: Programme, duals: Array | None = None) -> ExactAnswer:
    """Decide a programme from the exact values of its tokens, queries and bounds.

    Args:
        programme: any least-norm programme of the family.
        duals: a guess of the multipliers (one a constraint), of a solution or of a Farkas
            certificate, whose support is tried first.

    Raises:
        SolverError: the pivots did not end within their bound.
    """
    return solve_exactly(ExactProgramme.of(programme), duals)


def solve_exactly(programme: ExactProgramme, duals: Array | None = None) -> ExactAnswer:
    """Decide an exact programme; see `decide`."""
    guess = _float_guess(programme) if duals is None else duals
    support = [j for j, w in enumerate(guess) if w != 0]
    if support:
        for weights, status in _guesses(programme, support):
            answer = _proved(programme, weights, status)
            if answer is not None:
                return answer
    weights, status = _pivot(programme, support)
    answer = _proved(programme, weights, status)
    if answer is None:
        raise SolverError("the exact conditions of optimality do not hold", value=status)
    return answer


def _float_guess(programme: ExactProgramme) -> Array:
    """Multipliers that the float method proposes; nothing rests on them but the time taken."""
    D, sizes_D = _unit_rows(programme.D)
    Z, sizes_Z = _unit_rows(programme.Z)
    unit_D, unit_Z, norms = scale_rows(D, Z)
    pairs = zip(programme.bound, sizes_D, sizes_Z, norms.tolist(), strict=True)
    right = [b / (x * z) / rational(norm or 1.0) for b, x, z, norm in pairs]
    largest = max(map(abs, right)) or fmpq(1)
    c = np.array([nearest(x / largest) for x in right])
    equal = np.array(programme.equal, dtype=np.bool_)
    gram = (unit_D @ unit_D.T) * (unit_Z @ unit_Z.T)
    nothing = np.empty(0, dtype=np.int64), np.empty((0, 0))
    return pivot(gram, c, equal, *nothing, 10 * len(c) + 100)[0]


def _unit_rows(matrix: fmpz_mat) -> tuple[Array, list[fmpz]]:
    """Rows divided by their largest entry, as floats, and these entries (1 for zero rows)."""
    rows = [[int(x) for x in row] for row in matrix.tolist()]
    sizes = [max(map(abs, row)) or 1 for row in rows]
    floats = [[x / size for x in row] for row, size in zip(rows, sizes, strict=True)]
    return np.array(floats), [fmpz(size) for size in sizes]


def nearest(value: fmpq) -> float:
    """The float nearest to a rational; infinite where it exceeds them all."""
    try:
        return int(value.p) / int(value.q)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _guesses(programme: ExactProgramme, support: list[int]) -> Any:
    """Weights on the support that make its margins tight, or that cancel its rows."""
    block = programme.gram(support, support)
    right = [programme.bound[j] for j in support]
    scale = (programme.unit_left * programme.unit_right) ** 2
    tight = _solve(block, list(range(len(support))), right)
    if tight is not None:
        yield _spread(programme, support, [w * scale for w in tight]), "solved"
        return
    null, rank = fmpz_mat(block).nullspace()
    if rank == 1:
        ray = [fmpq(null[k, 0]) for k in range(len(support))]
        gain = dot(ray, right)
        if gain < 0:
            ray = [-w for w in ray]
        yield _spread(programme, support, ray), "unseparable"


def _spread(programme: ExactProgramme, support: list[int], weights: Vector) -> Vector:
    spread: Vector = [fmpq(0)] * len(programme.bound)
    for j, w in zip(support, weights, strict=True):
        spread[j] = w
    return spread


def _proved(programme: ExactProgramme, weights: Vector, status: Status) -> ExactAnswer | None:
    """The answer if every one of its conditions holds exactly, else None."""
    bound, equal = programme.bound, programme.equal
    if any(w < 0 for w, e in zip(weights, equal, strict=True) if not e):
        return None
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
    return ExactAnswer(
        status=status,
        numerator=W,
        denominator=matrix_unit,
        duals=weights,
        margins=exact_margins,
        bound=bound,
        equal=equal,
    )


def _solve(gram: list[list[fmpz]], active: list[int], right: Vector) -> Vector | None:
    """Solve the active block, or None where it is singular."""
    numer, unit = fmpq_mat([[x] for x in right]).numer_denom()
    block = fmpz_mat([[gram[j][k] for k in active] for j in active])
    try:
        solution = block.solve(numer)
    except ZeroDivisionError:
        return None
    return [fmpq(solution[k, 0]) / unit for k in range(len(active))]


def _pivot(programme: ExactProgramme, guess: list[int]) -> tuple[Vector, Status]:
    """Maximise bound^T w - 1/2 w^T G w over w >= 0 (free on equalities); rays are certificates.

    A primal active-set method: the active block stays nonsingular, the entering constraint is
    the lowest violated index (so that it cannot cycle), and a constraint that depends on the
    active ones either replaces one of them or yields the ray.
    """
    m = len(programme.bound)
    everything = list(range(m))
    gram = programme.gram(everything, everything)
    scale = (programme.unit_left * programme.unit_right) ** 2
    bound, equal = programme.bound, programme.equal
    weights, active = _start(gram, bound, equal, guess)
    implied: set[int] = set()
    for _ in range(50 * (m + 1)):
        rest = [j for j in range(m) if j not in active and j not in implied]
        entering = next((j for j in rest if equal[j]), None)
        if entering is None:
            entering = next((j for j in rest if bound[j] > dot(gram[j], weights)), None)
        if entering is None:
            return [w * scale for w in weights], "solved"
        while True:
            # direction: move the entering weight, keep the active margins where they are
            slope = bound[entering] - dot(gram[entering], weights)
            sign = fmpq(1) if slope >= 0 else fmpq(-1)
            reply = _solve(gram, active, [-sign * gram[j][entering] for j in active])
            assert not active or reply is not None
            direction: Vector = [fmpq(0)] * m
            direction[entering] = sign
            for j, x in zip(active, reply or [], strict=True):
                direction[j] = x
            curvature = dot(gram[entering], direction) * sign
            if curvature == 0 and slope == 0:  # an equality that the active ones imply
                implied.add(entering)
                break
            blocking = [
                (weights[j] / -direction[j], j) for j in active if direction[j] < 0 and not equal[j]
            ]
            limit = min(blocking) if blocking else None
            if curvature == 0 and limit is None:
                return direction, "unseparable"
            full = None if curvature == 0 else slope * sign / curvature
            if limit is not None and (full is None or limit[0] < full):
                length, leaving = limit
            else:
                assert full is not None
                length, leaving = full, None
            weights = [w + length * x for w, x in zip(weights, direction, strict=True)]
            if leaving is None:
                active = sorted([*active, entering])
                break
            weights[leaving] = fmpq(0)
            active = [j for j in active if j != leaving]
    raise SolverError("the exact active-set method did not end", value=m, remedy="Report this.")


def _start(
    gram: list[list[fmpz]], bound: Vector, equal: list[bool], guess: list[int]
) -> tuple[Vector, list[int]]:
    """The guess without dependent members and without those whose weight is not positive."""
    weights: Vector = [fmpq(0)] * len(bound)
    members = list(guess)
    while members:
        independent: list[int] = []
        for j in members:
            trial = [*independent, j]
            if fmpz_mat([[gram[a][b] for b in trial] for a in trial]).rank() == len(trial):
                independent = trial
        start = _solve(gram, independent, [bound[j] for j in independent])
        assert start is not None
        bad = {j for j, w in zip(independent, start, strict=True) if w <= 0 and not equal[j]}
        if not bad:
            for j, w in zip(independent, start, strict=True):
                weights[j] = w
            return weights, independent
        members = [j for j in independent if j not in bad]
    return weights, []
