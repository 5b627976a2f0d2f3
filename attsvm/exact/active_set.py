"""An active-set method in rationals that ends with multipliers of a solution or with a ray."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat, fmpz, fmpz_mat, nmod_mat

from attsvm.errors import present
from attsvm.exact.deadline import Deadline
from attsvm.exact.numbers import Vector
from attsvm.exact.programme import PRIME, ExactProgramme

Status = Literal["solved", "unseparable"]

Table = Sequence[list[fmpz]] | Mapping[int, list[fmpz]]
"""Rows of a symmetric matrix: all of them, or the needed ones by index."""

TRIED, GROWTH = 48, 40.0
"""Maximum number of rows of a system that is solved without a forecast of its time.

The second number is an upper bound of its time over that of a third of its rows. This ratio would
be 27 for numbers of equal length; it is larger, as solutions of larger systems have longer numbers.
"""

BITS, ROUNDS = 256, 60
"""Precision in bits in which a support is proposed, and maximum number of exchanges."""

CUBED = 3e-8
"""Seconds divided by n^3 that a system of n rows takes at `BITS` bits, on a slow processor."""


def solve(
    gram: Table, active: list[int], right: Vector, deadline: Deadline | None = None
) -> Vector | None:
    """Return the solution of the system of the rows and columns `active`; None if it is singular.

    Raises:
        OutOfTimeError: the deadline passed, or the system would probably not end before it.
    """
    if deadline is not None:
        deadline.ensure()
        if len(active) > TRIED:
            start, part = time.process_time(), len(active) // 3
            solve(gram, active[:part], right[:part])
            deadline.ensure(GROWTH * (time.process_time() - start))
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
) -> tuple[list[int], Vector] | None:
    """Return the support of a solution with multipliers, by exchanging all violations at once.

    Numbers are floats of 256 bits, and nothing is proved. The result is None if a system is
    singular, or if the exchanges do not end within `ROUNDS`, as may happen with dependent
    constraints.
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
                    results = block.solve(arb_mat([right[j] for j in active]), algorithm="approx")
                except ZeroDivisionError:
                    return None
                for k, j in enumerate(active):
                    weights[j] = results[k, 0].mid().fmpq()
            reached = whole * arb_mat([[w] for w in weights])
            size = sizes * arb_mat([[abs(w)] for w in weights])
            wrong = {j for j in active if not equal[j] and weights[j] <= 0}
            for j in range(m):
                missing = bound[j] - reached[j, 0].mid()
                if j not in inside and missing > noise * (size[j, 0].mid() + bound[j]):
                    wrong.add(j)
            if not wrong:
                return active, weights
            if len(wrong) < fewest:
                fewest, patience = len(wrong), 8
            elif patience:
                patience -= 1
            else:  # change the last one only: this rule (Murty's) cannot cycle
                wrong = {max(wrong)}
            inside ^= wrong
    return None


class _Gram:
    """The Gram matrix of integer constraint matrices; columns are computed when first needed."""

    __slots__ = ("_columns", "_programme")

    def __init__(self, programme: ExactProgramme) -> None:
        self._programme = programme
        self._columns: dict[int, list[fmpz]] = {}

    def column(self, j: int) -> list[fmpz]:
        """Return the inner products of constraint j with all constraints."""
        if j not in self._columns:
            every = range(len(self._programme.bound))
            self._columns[j] = [row[0] for row in self._programme.gram(every, [j])]
        return self._columns[j]

    def block(self, members: list[int]) -> dict[int, list[fmpz]]:
        """Return the columns of some constraints, by constraint."""
        return {j: self.column(j) for j in members}

    def times(self, weights: Vector) -> tuple[list[fmpz], fmpz]:
        """Return the Gram matrix times `weights`, as integers and their common denominator."""
        members = [j for j, w in enumerate(weights) if w != 0]
        if not members:
            return [fmpz(0)] * len(weights), fmpz(1)
        numer, unit = fmpq_mat([[weights[j]] for j in members]).numer_denom()
        columns = fmpz_mat([self.column(j) for j in members])
        return (numer.transpose() * columns).tolist()[0], unit


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """The arithmetic of pivots: rationals, or floats of `BITS` bits, stored as rationals.

    Attributes:
        solve: solves the active block for a right side; None if it is singular.
        tidy: rounds a number to `BITS` bits; the identity for rationals.
        noise: relative size up to which a sum counts as 0 and a violated bound as met; 0 for
            rationals.
    """

    solve: Callable[[Table, list[int], Vector, Deadline | None], Vector | None]
    tidy: Callable[[fmpq], fmpq]
    noise: fmpq

    def is_zero(self, value: fmpq, terms: Vector) -> bool:
        """Return whether a sum of these terms is zero, up to `noise` times their sizes."""
        if not self.noise:
            return bool(value == 0)
        return bool(abs(value) <= self.noise * sum(map(abs, terms), fmpq(0)))


def _solve_long(
    gram: Table, active: list[int], right: Vector, deadline: Deadline | None = None
) -> Vector | None:
    """Return what `solve` returns, in floats of `BITS` bits."""
    if deadline is not None:
        deadline.ensure(CUBED * len(active) ** 3)
    with ctx.workprec(BITS):
        block = arb_mat([[arb(gram[j][k]) for k in active] for j in active])
        try:
            results = block.solve(arb_mat([[arb(x)] for x in right]), algorithm="approx")
        except ZeroDivisionError:
            return None
        return [results[k, 0].mid().fmpq() for k in range(len(active))]


def _rounded(value: fmpq) -> fmpq:
    """Return a number rounded to `BITS` bits."""
    with ctx.workprec(BITS):
        return arb(value).mid().fmpq()


EXACT = Arithmetic(solve, lambda value: value, fmpq(0))
LONG = Arithmetic(_solve_long, _rounded, fmpq(1, 1 << (BITS // 4)))


def pivot(
    programme: ExactProgramme,
    guess: list[int],
    deadline: Deadline | None = None,
    arithmetic: Arithmetic = EXACT,
) -> tuple[Vector, Status] | None:
    """Maximise bound^T w - 1/2 w^T G w over w >= 0 (free on equalities).

    Return multipliers of a solution, or a ray: a Farkas certificate that no W meets the bounds.

    This is a primal active-set method. The active block of G stays nonsingular. The most violated
    constraint enters. If it depends on the active constraints, it replaces one of them or yields a
    ray: a direction in which the objective grows without bound. Each entering constraint raises the
    objective, so no active set occurs twice and the loop ends. In long floats nothing is
    proved, and the result is None if rounding errors prevent an answer.
    """
    m, tidy = len(programme.bound), arithmetic.tidy
    gram, scale = _Gram(programme), programme.gram_unit
    bound, equal = programme.bound, programme.equal
    weights, active = _start(gram, bound, equal, guess, arithmetic, deadline)
    sizes = programme.squares()
    implied: set[int] = set()
    for _ in range(50 * (m + 1)):
        if deadline is not None:
            deadline.ensure()
        reached, unit = gram.times(weights)
        skipped = implied.union(active)
        entering = _most_violated(programme, reached, unit, sizes, skipped, arithmetic.noise)
        if entering is None:
            return [w * scale for w in weights], "solved"
        column = gram.column(entering)
        while True:
            # Move the entering weight by t * sign. The active weights move by t * moves with
            # G_active moves = -sign * column, so that active margins stay at their bounds.
            # Along this line the objective is t |slope| - t^2 curvature / 2.
            terms = [bound[entering], *(-column[j] * weights[j] for j in [*active, entering])]
            slope = sum(terms, fmpq(0))
            sign = fmpq(1) if slope >= 0 else fmpq(-1)
            moves: Vector = []
            if active:
                right = [-sign * column[j] for j in active]
                reply = arithmetic.solve(gram.block(active), active, right, deadline)
                if reply is None:
                    return None
                moves = reply
            parts = [sign * column[j] * x for j, x in zip(active, moves, strict=True)]
            parts.append(fmpq(column[entering]))
            curvature = sum(parts, fmpq(0))
            flat = arithmetic.is_zero(curvature, parts)
            # An equality implied by the active ones has slope and curvature 0: it needs no weight.
            if flat and arithmetic.is_zero(slope, terms):
                implied.add(entering)
                break
            pairs = list(zip(active, moves, strict=True))
            # The first inequality whose weight reaches 0 limits the step. Without such a limit
            # and without curvature the objective is unbounded: the direction is the certificate.
            blocking = [(weights[j] / -x, j) for j, x in pairs if x < 0 and not equal[j]]
            limit = min(blocking) if blocking else None
            if flat and limit is None:
                ray: Vector = [fmpq(0)] * m
                for j, x in [*pairs, (entering, sign)]:
                    ray[j] = x
                return ray, "unseparable"
            full = None if flat else slope * sign / curvature
            # After a full step the entering margin meets its bound, and the constraint becomes
            # active. A shorter step removes the blocking constraint first; then try again.
            if limit is not None and (full is None or limit[0] < full):
                length, leaving = limit
            else:
                length, leaving = present(full, "the length of a full step"), None
            weights[entering] = tidy(weights[entering] + length * sign)
            for j, x in pairs:
                weights[j] = tidy(weights[j] + length * x)
            if leaving is None:
                active = sorted([*active, entering])
                break
            weights[leaving] = fmpq(0)
            active = [j for j in active if j != leaving]
    return None


def _most_violated(
    programme: ExactProgramme,
    reached: list[fmpz],
    unit: fmpz,
    sizes: list[fmpz],
    skipped: set[int],
    noise: fmpq,
) -> int | None:
    """Return the first equality that is not skipped, else the most violated constraint, or None.

    Shortfalls are divided by ||A_j|| and compared by their logarithms in floats. Rounding there is
    harmless, as any violated constraint may enter.
    """
    worst, entering = -math.inf, None
    for j, b in enumerate(programme.bound):
        if j in skipped:
            continue
        if programme.equal[j]:
            return j
        if reached[j] < b * unit:
            missing = b * unit - reached[j]
            if missing <= noise * abs(b) * unit:
                continue
            miss = _log(missing.p) - _log(missing.q) - (0.5 * _log(sizes[j]) if sizes[j] else 0.0)
            if miss > worst:
                worst, entering = miss, j
    return entering


def _log(value: fmpz) -> float:
    """Return the logarithm of a positive integer of any length, in floats."""
    number = int(value)
    shift = max(number.bit_length() - 60, 0)
    return math.log(number >> shift) + shift * math.log(2.0)


def _start(
    gram: _Gram,
    bound: Vector,
    equal: list[bool],
    guess: list[int],
    arithmetic: Arithmetic,
    deadline: Deadline | None,
) -> tuple[Vector, list[int]]:
    """Return multipliers that make the guess tight, and their support.

    Members that depend on earlier ones and inequalities of nonpositive weight are left out, until
    none is left to remove. Without a usable guess, multipliers are 0 and the support is empty.
    """
    weights: Vector = [fmpq(0)] * len(bound)
    members = list(guess)
    while members:
        kept = independent(gram.block(members), members)
        start = arithmetic.solve(gram.block(kept), kept, [bound[j] for j in kept], deadline)
        if start is None:
            break
        bad = {j for j, w in zip(kept, start, strict=True) if w <= 0 and not equal[j]}
        if not bad:
            for j, w in zip(kept, start, strict=True):
                weights[j] = w
            return weights, kept
        members = [j for j in kept if j not in bad]
    return weights, []


def independent(gram: Table, members: list[int]) -> list[int]:
    """Return the members that do not depend on earlier ones, modulo a prime.

    Members that are independent modulo a prime are independent; the converse can fail, which only
    makes the set smaller.
    """
    block = nmod_mat([[int(gram[j][k]) % PRIME for k in members] for j in members], PRIME)
    echelon, rank = block.rref()
    rows = echelon.tolist()[:rank]
    leads = [next(k for k, x in enumerate(row) if int(x) != 0) for row in rows]
    return [members[k] for k in leads]
