"""An active-set method in rationals that ends with multipliers of a solution or with a ray."""

from __future__ import annotations

import time
from typing import Literal

from flint import arb_mat, ctx, fmpq, fmpq_mat, fmpz, fmpz_mat, nmod_mat

from attsvm.errors import SolverError, present
from attsvm.exact.deadline import Deadline
from attsvm.exact.numbers import Vector, dot
from attsvm.exact.programme import ExactProgramme

Status = Literal["solved", "unseparable"]

PRIME = 2**61 - 1
"""Rows that are independent modulo this prime are independent."""

TRIED, GROWTH = 48, 40.0
"""Under a deadline a larger system is tried first on a third of its rows; the whole takes
3^3 times as long where numbers have the same length, and so up to this many times."""

BITS, ROUNDS = 256, 60
"""The precision in which a support is proposed, and how often it is exchanged at most."""


def solve(
    gram: list[list[fmpz]], active: list[int], right: Vector, deadline: Deadline | None = None
) -> Vector | None:
    """Solve the active block, or None where it is singular."""
    if deadline is not None:
        deadline.ensure()
        if len(active) > TRIED:
            start, part = time.monotonic(), len(active) // 3
            solve(gram, active[:part], right[:part])
            deadline.ensure(GROWTH * (time.monotonic() - start))
    numer, unit = fmpq_mat([[x] for x in right]).numer_denom()
    block = fmpz_mat([[gram[j][k] for k in active] for j in active])
    try:
        solution = block.solve(numer)
    except ZeroDivisionError:
        return None
    return [fmpq(solution[k, 0]) / unit for k in range(len(active))]


def exchange(
    gram: list[list[fmpz]],
    bound: Vector,
    equal: list[bool],
    guess: list[int],
    deadline: Deadline | None = None,
) -> list[int] | None:
    """Members of the support of a solution, by exchanges of all violated constraints at once.

    Everything is computed in floats of 256 bits and nothing is proved. None where the exchanges
    do not settle, as where constraints depend on each other.
    """
    m, inside = len(bound), set(guess)
    fewest, patience = m + 1, 8
    with ctx.workprec(BITS):
        whole, right = arb_mat(fmpz_mat(gram)), [[b] for b in bound]
        sizes = arb_mat(fmpz_mat([[abs(x) for x in row] for row in gram]))
        noise = fmpq(1, 1 << (BITS // 2))
        for _ in range(ROUNDS):
            if deadline is not None:
                deadline.ensure()
            inside |= {j for j in range(m) if equal[j]}
            active = sorted(inside)
            weights: Vector = [fmpq(0)] * m
            if active:
                block = arb_mat([[whole[j, k] for k in active] for j in active])
                try:
                    found = block.solve(arb_mat([right[j] for j in active]), algorithm="approx")
                except ZeroDivisionError:
                    return None
                for k, j in enumerate(active):
                    weights[j] = found[k, 0].mid()
            reached = whole * arb_mat([[w] for w in weights])
            size = sizes * arb_mat([[abs(w)] for w in weights])
            wrong = {j for j in active if not equal[j] and weights[j] <= 0}
            for j in range(m):
                missing = bound[j] - reached[j, 0].mid()
                if j not in inside and missing > noise * (size[j, 0].mid() + bound[j]):
                    wrong.add(j)
            if not wrong:
                return active
            if len(wrong) < fewest:
                fewest, patience = len(wrong), 8
            elif patience:
                patience -= 1
            else:  # one at a time, which cannot cycle
                wrong = {max(wrong)}
            inside ^= wrong
    return None


def pivot(
    programme: ExactProgramme, guess: list[int], deadline: Deadline | None = None
) -> tuple[Vector, Status]:
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
    whole = fmpz_mat(gram)
    weights, active = _start(gram, bound, equal, guess, deadline)
    implied: set[int] = set()
    for _ in range(50 * (m + 1)):
        rest = [j for j in range(m) if j not in active and j not in implied]
        entering = next((j for j in rest if equal[j]), None)
        if entering is None:
            numer, unit = fmpq_mat([[w] for w in weights]).numer_denom()
            reached = whole * numer
            entering = next((j for j in rest if bound[j] * unit > reached[j, 0]), None)
        if entering is None:
            return [w * scale for w in weights], "solved"
        while True:
            # direction: move the entering weight, keep the active margins where they are
            slope = bound[entering] - dot(gram[entering], weights)
            sign = fmpq(1) if slope >= 0 else fmpq(-1)
            right = [-sign * gram[j][entering] for j in active]
            reply = solve(gram, active, right, deadline)
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
    gram: list[list[fmpz]],
    bound: Vector,
    equal: list[bool],
    guess: list[int],
    deadline: Deadline | None,
) -> tuple[Vector, list[int]]:
    """The guess without dependent members and without those whose weight is not positive."""
    weights: Vector = [fmpq(0)] * len(bound)
    members = list(guess)
    while members:
        independent = _independent(gram, members)
        start = solve(gram, independent, [bound[j] for j in independent], deadline)
        if start is None:
            break
        bad = {j for j, w in zip(independent, start, strict=True) if w <= 0 and not equal[j]}
        if not bad:
            for j, w in zip(independent, start, strict=True):
                weights[j] = w
            return weights, independent
        members = [j for j in independent if j not in bad]
    return weights, []


def _independent(gram: list[list[fmpz]], members: list[int]) -> list[int]:
    """The members that do not depend on those before them, modulo a prime."""
    block = nmod_mat([[int(gram[j][k]) % PRIME for k in members] for j in members], PRIME)
    echelon, rank = block.rref()
    rows = echelon.tolist()[:rank]
    leads = [next(k for k, x in enumerate(row) if int(x) != 0) for row in rows]
    return [members[k] for k in leads]
