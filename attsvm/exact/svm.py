"""The Frobenius programme decided in rationals: a solution or a Farkas certificate, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from flint import fmpq, fmpq_mat

from attsvm._types import Array
from attsvm.errors import SolverError
from attsvm.exact.numbers import ExactData, Matrix, Vector, dot, rationals, subtract
from attsvm.svm.programme import Programme

__all__ = ["ExactAnswer", "decide", "separate"]


@dataclass(frozen=True, slots=True)
class ExactAnswer:
    """A programme's answer in rationals, with the conditions that prove it already checked.

    `solved`: margins at least 1, multipliers at least 0, W = sum_j duals_j A_j, and no multiplier
    on a constraint that is not tight: W is the unique minimiser. `unseparable`: multipliers at
    least 0, not all 0, with sum_j duals_j A_j = 0: no W has positive margins.
    """

    status: Literal["solved", "unseparable"]
    W: Matrix
    duals: Vector
    margins: Vector

    @property
    def all_tight(self) -> bool:
        """Whether every constraint is tight: all tokens are support vectors."""
        return self.status == "solved" and all(m == 1 for m in self.margins)


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
    return _answer(D, Z, duals) if D else None


def decide(programme: Programme, duals: Array | None = None) -> ExactAnswer:
    """Decide a float programme, its entries taken as exact, by an active-set method in rationals.

    Args:
        programme: constraints; its token differences may have been rounded, see `separate`.
        duals: a guess of the multipliers (one a constraint) whose support is tried first.

    Raises:
        SolverError: the pivots did not end within their bound.
    """
    return _answer(rationals(programme.D), rationals(programme.Z), duals)


def _answer(D: Matrix, Z: Matrix, duals: Array | None) -> ExactAnswer:
    m = len(D)
    gram = [[dot(D[j], D[k]) * dot(Z[j], Z[k]) for k in range(m)] for j in range(m)]
    guess = [] if duals is None else [j for j in range(m) if duals[j] > 0]
    weights, status = _pivot(gram, guess)
    W = [
        [
            sum((w * D[j][r] * Z[j][c] for j, w in enumerate(weights) if w != 0), fmpq(0))
            for c in range(len(Z[0]))
        ]
        for r in range(len(D[0]))
    ]
    margins = [dot([dot(row, Z[j]) for row in W], D[j]) for j in range(m)]
    nonnegative = all(w >= 0 for w in weights)
    if status == "solved":
        proved = (
            nonnegative
            and all(x >= 1 for x in margins)
            and all(w == 0 or x == 1 for w, x in zip(weights, margins, strict=True))
        )
    else:
        proved = (
            nonnegative and any(w > 0 for w in weights) and all(x == 0 for row in W for x in row)
        )
    if not proved:
        raise SolverError("the exact conditions of optimality do not hold", value=status)
    return ExactAnswer(status=status, W=W, duals=weights, margins=margins)


def _solve(gram: Matrix, active: list[int], right: Vector) -> Vector | None:
    """Solve the active block, or None where it is singular."""
    block = fmpq_mat([[gram[j][k] for k in active] for j in active])
    try:
        solution = block.solve(fmpq_mat([[x] for x in right]))
    except ZeroDivisionError:
        return None
    return [solution[k, 0] for k in range(len(active))]


def _pivot(gram: Matrix, guess: list[int]) -> tuple[Vector, Literal["solved", "unseparable"]]:
    """Maximise sum w - 1/2 w^T G w over w >= 0; an unbounded ray is a Farkas certificate.

    A primal active-set method: the active block stays nonsingular, the entering constraint is
    the lowest violated index (so that it cannot cycle), and a constraint that depends on the
    active ones either replaces one of them or yields the ray.
    """
    m = len(gram)
    weights: Vector = [fmpq(0)] * m
    active: list[int] = []
    if guess:
        independent: list[int] = []
        for j in guess:
            if _solve(gram, [*independent, j], [fmpq(0)] * (len(independent) + 1)) is not None:
                independent.append(j)
        start = _solve(gram, independent, [fmpq(1)] * len(independent))
        if start is not None and all(w > 0 for w in start):
            active = independent
            for j, w in zip(active, start, strict=True):
                weights[j] = w
    for _ in range(50 * (m + 1)):
        gradient = [1 - dot(gram[j], weights) for j in range(m)]
        entering = next((j for j in range(m) if j not in active and gradient[j] > 0), None)
        if entering is None:
            return weights, "solved"
        while True:
            # direction: raise the entering weight, keep the active margins where they are
            column = [-gram[j][entering] for j in active]
            reply = _solve(gram, active, column) if active else []
            assert reply is not None
            direction: Vector = [fmpq(0)] * m
            direction[entering] = fmpq(1)
            for j, x in zip(active, reply, strict=True):
                direction[j] = x
            curvature = gram[entering][entering] + dot([gram[entering][j] for j in active], reply)
            slope = 1 - dot(gram[entering], weights)
            blocking = [(weights[j] / -direction[j], j) for j in active if direction[j] < 0]
            limit = min(blocking) if blocking else None
            if curvature == 0 and limit is None:
                return direction, "unseparable"
            full = None if curvature == 0 else slope / curvature
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
