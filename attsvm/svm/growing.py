"""A working-set method for the dual of least-norm programmes, by products with the Gram matrix.

A few accelerated steps on all rows come first. Each round then takes such steps on a set of rows.
After them the most violated rows join the set, and rows of weight 0 with a wide margin leave it.
If there are no more rows than W has entries, most of them carry weight, and the set is all rows.

Once margins are nearly met, the system of the rows of positive weight is solved to rounding. Rows
of negative weight leave it and violated rows join it until there are neither.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from attsvm._types import Array, Bool, Float
from attsvm.exact.deadline import Deadline, is_over, rounds
from attsvm.svm.support import GramOperator, ascend_dual, conjugate_gradients

STEPS, ROUNDS = 150, 60
"""Accelerated steps in a round; maximum number of rounds without a deadline."""

FIRST = 50
"""Accelerated steps on all rows before the first round, which often give some W that separates."""

FEWEST = 256
"""Minimum number of rows that may join in a round; otherwise there are two for each query."""

IDLE = 0.15
"""Rows of weight 0 leave if their margin exceeds the bound by this share of it."""

NEAR = 0.03
"""Largest relative shortfall of a margin at which the system of the support is solved."""

LARGEST_SYSTEM = 4500
"""Maximum size of a system that is solved by its Cholesky factor; others by conjugate gradients."""

EXCHANGES = 8
"""Maximum number of systems that are solved in a row."""

SAFETY = 1.1
"""Factor on the largest eigenvalue of a Gram matrix, as power iteration underestimates it."""

FLOPS = 2e9
"""Floating-point operations per second that a factorisation is expected to reach at least."""


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """Multipliers after a round.

    Attributes:
        u: multipliers of the rows.
        image: the product of the Gram matrix with u, which has the margins of W.
        is_final: whether u is optimal to rounding.
        count: number of rows of the working set.
    """

    u: Float[Array, " m"]
    image: Float[Array, " m"]
    is_final: bool
    count: int


def grow(
    operator: GramOperator,
    c: Float[Array, " m"],
    equal: Bool[Array, " m"],
    live: Bool[Array, " m"],
    deadline: Deadline | None = None,
    *,
    whole: bool = False,
) -> Iterator[Round]:
    """Yield better and better u for: maximise c^T u - 1/2 u^T G u over u >= 0, G the Gram matrix.

    Args:
        operator: products with G, whose rows have about unit length.
        c: the bounds of the rows; some bound is positive.
        equal: rows whose multiplier may have any sign.
        live: rows that count; the other rows are zero.
        deadline: the end of the rounds; without one there are at most `ROUNDS`.
        whole: whether every round takes all rows.
    """
    goal = np.where(c > 0.0, c, float(np.abs(c).max()))
    u = np.where(live, np.maximum(c, 0.0), 0.0)
    image = operator(u)
    # the multiple of u of largest dual value
    length = float(c @ u) / float(u @ image) if float(u @ image) > 0.0 else 0.0
    u *= length
    image *= length
    largest = operator.largest()
    if not 0.0 < largest < math.inf:  # products underflow or overflow
        return
    rate = 1.0 / (SAFETY * largest)
    inside, share = live.copy(), NEAR
    if not whole:
        u = ascend_dual(operator, c, equal, u, rate, FIRST, deadline)
        image = operator(u)
        yield Round(u, image, False, int(inside.sum()))
        if is_over(deadline):
            return
        inside &= equal
    for _ in rounds(deadline, ROUNDS):
        if whole:
            u = ascend_dual(operator, c, equal, u, rate, STEPS, deadline)
        else:
            short = _shortfall(c, image, equal, live)
            inside &= (u != 0.0) | (short > -IDLE * goal) | equal
            _join(inside, short, max(FEWEST, 2 * len(operator.Z)))
            rows = np.flatnonzero(inside)
            part, bound = operator.restricted(rows), c[rows]
            largest = part.largest()
            if not 0.0 < largest < math.inf:  # no row is left
                return
            own_rate = 1.0 / (SAFETY * largest)
            own = ascend_dual(part, bound, equal[rows], u[rows], own_rate, STEPS, deadline)
            u = np.zeros(len(c))
            u[rows] = own
        image = operator(u)
        if not np.isfinite(image).all():
            return
        worst = float((_shortfall(c, image, equal, live) / goal).max())
        support = (u > 0.0) | (live & equal)
        if worst <= share and not is_over(deadline):
            share = 0.5 * worst  # after a failure, wait until misses halve
            solved = on_support(operator, c, equal, live, u, deadline)
            if solved is not None:
                yield Round(solved, operator(solved), True, int(support.sum()))
                return
        yield Round(u, image, False, int(inside.sum()))
        if is_over(deadline):
            return


def _shortfall(c: Array, image: Array, equal: Array, live: Array) -> Array:
    """Return how far each row misses its bound; minus infinity for rows that do not count."""
    short = c - image
    np.abs(short, out=short, where=equal)
    short[~live] = -np.inf
    return short


def _join(inside: Array, short: Array, count: int) -> None:
    """Mark the rows that miss their bounds most, at most `count` of them, as inside."""
    short = np.where(inside, -np.inf, short)
    violated = int((short > 1e-12 * float(np.abs(short[short > -np.inf]).max(initial=0.0))).sum())
    count = min(count, violated)
    if count:
        inside[np.argpartition(-short, count - 1)[:count]] = True


def on_support(
    operator: GramOperator,
    c: Array,
    equal: Array,
    live: Array,
    u: Array,
    deadline: Deadline | None = None,
) -> Array | None:
    """Return the optimum to rounding, by exchanges from the support of u; None on failure."""
    inside: Array = (u > 0.0) | (live & equal)
    for _ in range(EXCHANGES):
        k = min(int(inside.sum()), LARGEST_SYSTEM)
        if deadline is not None and deadline.left < k**3 / (3.0 * FLOPS):
            return None
        w = solve_on(operator, inside, c, u, deadline)
        image = operator(w)
        if is_optimal(image, c, equal, w, live):
            return np.where(equal, w, np.maximum(w, 0.0))
        if is_over(deadline):
            return None
        negative = inside & ~equal & (w < 0.0)
        room = 1e-13 * float(np.abs(w).sum()) + 1e-10 * np.abs(c)
        inside = (inside & ~negative) | (live & ~inside & (c - image > room))
        u = np.where(inside, w, 0.0)
    return None


def solve_on(
    operator: GramOperator, inside: Array, c: Array, start: Array, deadline: Deadline | None = None
) -> Array:
    """Return w with G w = c on the rows `inside` to rounding, and 0 elsewhere.

    A block that is too large or singular is left to conjugate gradients from `start`. Otherwise
    memory holds the block and its factor.
    """
    if int(inside.sum()) <= LARGEST_SYSTEM:
        factored = _factored(operator, c, inside)
        if factored is not None:
            return factored
    return conjugate_gradients(operator, inside, c, start, 1e-15, 4 * STEPS, deadline)


def _factored(operator: GramOperator, c: Array, inside: Array) -> Array | None:
    """Return the solution by the Cholesky factor of the block; None if it is singular."""
    from scipy.linalg.lapack import dpotrf, dpotrs

    chosen = np.flatnonzero(inside)
    w = np.zeros(len(c))
    if not chosen.size:
        return w
    rows = operator.left.restricted(chosen)
    D, Z = rows.D, operator.Z[rows.owners()]
    block = (D @ D.T).T  # in the order of Fortran: LAPACK copies nothing but the factor
    for start in range(0, len(chosen), 256):  # in parts, so that there is no third matrix
        block[:, start : start + 256] *= Z @ Z[start : start + 256].T
    del rows, D, Z  # beside the block and its factor they would be the third largest
    factor, failed = dpotrf(block, lower=1)
    if failed:
        return None
    solution = dpotrs(factor, c[chosen], lower=1)[0]
    for _ in range(2):
        solution += dpotrs(factor, c[chosen] - block @ solution, lower=1)[0]
    w[chosen] = solution
    return w


def is_optimal(image: Array, c: Array, equal: Array, w: Array, live: Array) -> bool:
    """Return whether w has no negative multiplier and every row is met, to rounding."""
    missing = _shortfall(c, image, equal, live)
    room = 1e-13 * float(np.abs(w).sum()) + 1e-10 * np.abs(c)
    least = float(w[~equal].min(initial=0.0))
    return least >= -1e-12 * float(np.abs(w).max()) and bool((missing <= room).all())


def bracket(u: Array, image: Array, c: Array, live: Array) -> tuple[float, float]:
    """Return bounds of the least norm by u >= 0 and the margins of its W, up to rounding."""
    size = math.sqrt(max(float(u @ image), 0.0))
    gain = float(c @ u)
    least = float((image[live] / c[live]).min())
    low = gain / size if size > 0.0 else 0.0
    return low, size / least if least > 0.0 else math.inf
