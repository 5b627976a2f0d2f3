"""An active-set method in rationals that ends with multipliers of a solution or with a ray."""

from __future__ import annotations

from typing import Literal

from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from attsvm.errors import SolverError, present
from attsvm.exact.numbers import Vector, dot
from attsvm.exact.programme import ExactProgramme

__all__ = ["Status", "pivot", "solve"]

Status = Literal["solved", "unseparable"]


def solve(gram: list[list[fmpz]], active: list[int], right: Vector) -> Vector | None:
    """Solve the active block, or None where it is singular."""
    numer, unit = fmpq_mat([[x] for x in right]).numer_denom()
    block = fmpz_mat([[gram[j][k] for k in active] for j in active])
    try:
        solution = block.solve(numer)
    except ZeroDivisionError:
        return None
    return [fmpq(solution[k, 0]) / unit for k in range(len(active))]


def pivot(programme: ExactProgramme, guess: list[int]) -> tuple[Vector, Status]:
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
            reply = solve(gram, active, [-sign * gram[j][entering] for j in active])
            moves = present(reply, "the answer of active constraints") if active else []
            direction: Vector = [fmpq(0)] * m
            direction[entering] = sign
            for j, x in zip(active, moves, strict=True):
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
                length, leaving = present(full, "the length of a full step"), None
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
        reply = solve(gram, independent, [bound[j] for j in independent])
        start = present(reply, "the answer of independent constraints")
        bad = {j for j, w in zip(independent, start, strict=True) if w <= 0 and not equal[j]}
        if not bad:
            for j, w in zip(independent, start, strict=True):
                weights[j] = w
            return weights, independent
        members = [j for j in independent if j not in bad]
    return weights, []
