"""The soft-margin Att-SVM of queries that share tokens, with one shortfall for each query.

  min ||W||_F + C sum_i xi_i   subject to   (x_target - x_t)^T W z_i >= 1 - xi_i,   xi >= 0

The dual is max sum_it w_it over w >= 0 with ||sum_it w_it A_it||_F <= 1 and sums of at most C over
each query. With half the squared norm in place of the norm the same W is the solution for the price
C ||W||. Accelerated steps on the tables solve that form.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from attsvm._types import Array, Float
from attsvm.exact.deadline import Deadline, is_over, rounds
from attsvm.svm.bounds import DOWN, TOLERANCE, UP, gamma
from attsvm.svm.contradictions import own_constraints
from attsvm.svm.growing import SAFETY
from attsvm.svm.shared_programme import SharedProgramme, combine, combined_up, margins_of, token_ids
from attsvm.svm.soft_ascent import STEPS, Caps, climb
from attsvm.svm.support import GramOperator

DEARER = 10.0
"""The default price, as a multiple of n / ||sum_i A_i||^2.

With all multipliers at their bound, W is the price times sum_i A_i. At n / ||sum_i A_i||^2 its
margins are then 1 on average.
"""

SERIES = 20
"""Maximum number of series of steps without a deadline."""


@dataclass(frozen=True, slots=True, eq=False)
class SharedSoft:
    """A soft margin with its bracket.

    Attributes:
        programme: the constraints, those of equal queries once for each.
        C: the price of slack.
        W: a matrix.
        shortfalls: how far the least margin of each query stays below 1.
        objective: ||W||_F + C sum_i shortfalls_i.
        bracket: bounds of the least objective. The lower one includes rounding.
    """

    programme: SharedProgramme
    C: float
    W: Float[Array, "d e"]
    shortfalls: Float[Array, " n"]
    objective: float
    bracket: tuple[float, float]

    @property
    def gap(self) -> float:
        """The width of the bracket, relative to its upper end."""
        low, high = self.bracket
        return 1.0 - low / high if high > 0.0 else 0.0

    def __repr__(self) -> str:
        short = int((self.shortfalls > TOLERANCE).sum())
        count = int(self.programme.rivals.any(axis=1).sum())
        low, high = self.bracket
        return (
            f"<soft margin, C = {self.C:.4g}: {short} of {count} queries stay below their margin, "
            f"objective in [{low:.6g}, {high:.6g}]>"
        )


def repeated(programme: SharedProgramme) -> SharedProgramme:
    """Return the programme that lists the constraints of equal queries once for each of them."""
    used = programme.seen.copy()
    used[[pair.queries[-1] for pair in programme.aside]] = False
    ids = token_ids(programme.X)
    rivals = own_constraints(ids, programme.owners, used, programme.targets)
    return replace(programme, rivals=rivals)


def solve_soft_shared(
    programme: SharedProgramme, price: float | None = None, deadline: Deadline | None = None
) -> SharedSoft:
    """Return a soft margin, to a relative gap of 1e-9 or as far as the time allows.

    Args:
        programme: the constraints.
        price: the price of slack beside half the squared norm, which is C ||W||. By default it is
            `DEARER` times n / ||sum_i A_i||^2, with A_i the mean of the constraints of query i.
        deadline: the end of the search; without one there are at most `SERIES` series of steps.
    """
    programme = repeated(programme)  # each of several equal queries has a shortfall
    tables = programme.tables()
    counts = np.maximum(programme.rivals.sum(axis=1), 1)
    if price is None:
        size = float(np.linalg.norm(combine(programme, programme.rivals / counts[:, None])))
        price = DEARER * len(counts) / size**2 if size > 0.0 else 1.0
    operator = GramOperator.over(tables, programme.Z)
    queries, _ = tables.places(np.arange(len(tables)))
    caps = Caps.of(queries, np.ones(len(programme.Z)))
    u, best = np.zeros(len(tables)), _graded(programme, price, np.zeros(programme.rivals.shape))
    largest = operator.largest() if len(tables) else 0.0
    rate = 1.0 / (SAFETY * largest) if largest > 0.0 else 0.0
    for _ in rounds(deadline, SERIES):
        if not 0.0 < rate < math.inf or best.gap <= TOLERANCE:
            break
        u, _ = climb(operator, tables.scale, caps, u, price, rate, STEPS, deadline, fixed=True)
        best = min(best, _graded(programme, price, tables.table(u, 0.0)), key=lambda s: s.gap)
        if is_over(deadline):
            break
    return best


def _graded(programme: SharedProgramme, price: float, weights: Array) -> SharedSoft:
    """Return the best multiple of the matrix of these multipliers, and the dual bound."""
    direction = combine(programme, weights)
    size = combined_up(programme, weights, direction)
    C = price / size if size > 0.0 else price
    least = margins_of(programme, direction).min(axis=1)
    rows = np.isfinite(least)

    def objective(length: float) -> float:
        return length * size + C * float(np.maximum(1.0 - length * least[rows], 0.0).sum())

    # the objective is convex and piecewise linear in the length
    length = min([0.0, *(1.0 / least[rows & (least > 0.0)]).tolist()], key=objective)
    shortfalls = np.zeros(len(least))
    shortfalls[rows] = np.maximum(1.0 - length * least[rows], 0.0)
    excess = float(weights.sum(axis=1).max(initial=0.0)) / price * UP
    gain = float(weights.sum()) * (1.0 - gamma(weights.size + 8)) * DOWN
    low = gain / (size * max(1.0, excess)) if size > 0.0 else 0.0
    value = objective(length)
    return SharedSoft(programme, C, length * direction, shortfalls, value, (low, value * UP))
