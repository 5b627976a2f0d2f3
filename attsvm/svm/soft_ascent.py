"""Soft margins of programmes that are too large for a Gram matrix.

The dual of min ||W||_F + sum_g C_g xi_g is solved through that of the squared norm,

  max  sum_j u_j - 1/2 ||sum_j u_j A_j||^2,   u >= 0,   sums over each group at most t C_g,

whose W is the same for t = ||W||. Accelerated projected steps, which never form the Gram matrix,
find which groups are full and which multipliers are positive; t is repeatedly set to ||W||. With
these sets fixed the solution is affine in t, so that one linear system and a quadratic equation
complete the search. The results are not trusted: `attsvm.svm.soft` grades them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from attsvm._types import Array, Float, Int
from attsvm.exact.deadline import Deadline, is_over, rounds
from attsvm.kernels.ascent import cap_groups
from attsvm.svm.growing import SAFETY
from attsvm.svm.methods import DENSE
from attsvm.svm.programme import Programme
from attsvm.svm.support import CHECKED, GramOperator

STEPS, CYCLES = 300, 12
"""Number of accelerated steps between attempts to solve on their support; maximum number of
attempts without a deadline."""

EXCHANGES = 10
"""Maximum number of linear systems between two series of steps."""


@dataclass(frozen=True, slots=True, eq=False)
class Caps:
    """Groups of multipliers whose sums are bounded.

    Attributes:
        order: the multipliers, group by group.
        starts: the start of each group in `order`, and the total length.
        prices: the bound of each sum, up to a common factor.
    """

    order: Int[Array, " m"]
    starts: Int[Array, " h"]
    prices: Float[Array, " g"]

    @classmethod
    def of(cls, groups: Int[Array, " m"], prices: Float[Array, " g"]) -> Caps:
        """Return the caps of groups that are labelled 0, 1, ..."""
        order = np.argsort(groups, kind="stable")
        starts = np.append(0, np.cumsum(np.bincount(groups, minlength=len(prices))))
        return cls(order, starts, prices)

    def project(self, u: Array, t: float) -> None:
        """Move u to the nearest point with u >= 0 and sums at most t times the prices."""
        cap_groups(u, self.order, self.starts, t * self.prices)


def ascended(
    programme: Programme,
    groups: Int[Array, " m"],
    prices: Float[Array, " g"],
    deadline: Deadline | None = None,
) -> Iterator[tuple[Array, Array]]:
    """Yield directions of W with multipliers of the dual of the norm, from ever more steps.

    Steps end at the deadline; without one, after `CYCLES` series of them.
    """
    operator, caps = (
        GramOperator.of(programme.D, programme.Z, programme.input),
        Caps.of(groups, prices),
    )
    largest = operator.largest()
    if not 0.0 < largest < math.inf:
        return
    u = np.zeros(len(groups))
    t = math.sqrt(len(u) / largest)  # of the size of ||W||, as u is about 1 / largest
    rate = 1.0 / (SAFETY * largest)
    for _ in rounds(deadline, CYCLES):
        u, t = climb(operator, np.ones(len(u)), caps, u, t, rate, STEPS, deadline)
        if not (np.isfinite(u).all() and t > 0.0):
            return
        yield programme.combine(u), u / t
        if is_over(deadline):
            return
        guess = u, t
        for _ in range(EXCHANGES):
            refined = on_support(programme, groups, prices, *guess)
            if refined is None or is_over(deadline):
                break
            exact, t_exact = refined
            step = exact + rate * (1.0 - operator(exact))
            caps.project(step, t_exact)
            if (np.sign(step) == np.sign(guess[0])).all():
                yield programme.combine(exact), exact / t_exact
                break
            guess = step, t_exact


def climb(
    operator: GramOperator,
    c: Array,
    caps: Caps,
    u: Array,
    t: float,
    rate: float,
    steps: int,
    deadline: Deadline | None,
    *,
    fixed: bool = False,
) -> tuple[Array, float]:
    """Take accelerated projected steps from u, and let t follow ||sum_j u_j A_j|| if not fixed.

    The bounds c are 1, and 0 for rows that are zero.
    Momentum starts anew whenever it points downwards and whenever t changes.
    """
    y, momentum = u.copy(), 1.0
    for step in range(steps):
        if step % CHECKED == 0:
            if is_over(deadline):
                break
            size = math.sqrt(max(0.0, float(u @ operator(u))))
            if step and not fixed and abs(size - t) > 1e-12 * t:
                t, momentum = size, 1.0
                caps.project(u, t)
                y = u.copy()
        following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum**2))
        moved = y + rate * (c - operator(y))
        caps.project(moved, t)
        if float((y - moved) @ (moved - u)) > 0.0:
            following, y = 1.0, moved.copy()
        else:
            y = moved + (momentum - 1.0) / following * (moved - u)
        u, momentum = moved, following
    return u, t


def on_support(
    programme: Programme, groups: Array, prices: Array, u: Array, t: float
) -> tuple[Array, float] | None:
    """Return the solution with the positive multipliers and full groups of u, and its t.

    In full groups with several positive multipliers the margins are equal; in other groups they are
    1. A multiplier that alone fills its group equals t times its price. The result is None if a
    system is too large or singular, or if there is no such t.
    """
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    positive = u > 0.0
    sums, count = np.bincount(groups, u), np.bincount(groups, positive)
    full = sums >= (1.0 - 1e-9) * t * prices
    alone = positive & (full & (count == 1.0))[groups]
    free = np.flatnonzero(positive & ~alone)
    if len(free) > DENSE:
        return None
    # u = first + t second on the free rows, and t times the price on those that are alone
    fixed = np.where(alone, prices[groups], 0.0)
    D, Z = programme.D[free], programme.Z[free]
    pull = programme.margins(programme.combine(fixed))[free]
    shared = np.flatnonzero(full & (count > 1.0))
    member = (groups[free] == shared[:, None]).astype(np.float64)
    first, second = np.zeros(len(u)), fixed
    if len(free):
        block = (D @ D.T) * (Z @ Z.T)
        try:
            factor = cho_factor(block, lower=True)
            plain = cho_solve(factor, np.column_stack([np.ones(len(free)), -pull]))
            plain += cho_solve(factor, np.column_stack([np.ones(len(free)), -pull]) - block @ plain)
            if len(shared):
                spread = cho_solve(factor, member.T)
                lack = np.column_stack([np.zeros(len(shared)), prices[shared]]) - member @ plain
                plain += spread @ np.linalg.solve(member @ spread, lack)
        except (LinAlgError, np.linalg.LinAlgError):
            return None
        first[free], second[free] = plain[:, 0], plain[:, 1]
    root = _length(programme.combine(first), programme.combine(second), t)
    if root is None:
        return None
    return first + root * second, root


def _length(first: Array, second: Array, near: float) -> float | None:
    """Return the t > 0 closest to `near` with ||first + t second|| = t; None without one."""
    a = float((second * second).sum()) - 1.0
    b = float((first * second).sum())
    c = float((first * first).sum())
    square = b * b - a * c
    if not square >= 0.0:
        return None
    # the roots of a t^2 + 2 b t + c, written without cancellation
    q = -(b + math.copysign(math.sqrt(square), b))
    roots = [r for r in ((q / a) if a else math.nan, (c / q) if q else math.nan) if r > 0.0]
    return min(roots, key=lambda r: abs(r - near), default=None)
