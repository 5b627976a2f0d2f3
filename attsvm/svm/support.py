"""Guesses of the active constraints, for programmes too large to pivot from an empty set.

All methods use products with the Gram matrix, which is never formed. Accelerated projected gradient
steps find nearly all of the support, even if rows are dependent. Block exchanges then exchange all
constraints of wrong sign at once, and solve the systems in between by conjugate gradients. The
result is a guess: the caller recomputes every figure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from attsvm._types import Array, Bool, Float, Int
from attsvm.exact.deadline import Deadline, is_over
from attsvm.kernels.ascent import ascend, pair_runs, sum_runs

PRODUCTS = 30
"""Number of products by which the largest eigenvalue of the Gram matrix is estimated."""

CHECKED = 10
"""Number of steps between checks of the deadline."""


@runtime_checkable
class Left(Protocol):
    """Left factors D_j of constraints, grouped by the query that multiplies them."""

    def __len__(self) -> int:
        """Return the number of constraints."""
        ...

    def sums(self, w: Float[Array, " m"]) -> Float[Array, "n d"]:
        """Return sum_j w_j D_j over the constraints of each query."""
        ...

    def pair(self, V: Float[Array, "n d"]) -> Float[Array, " m"]:
        """Return the inner product of each D_j with the vector of its query."""
        ...

    def restricted(self, rows: Int[Array, " s"]) -> Rows:
        """Return some constraints, given in rising order, as explicit rows."""
        ...

    def ascend(
        self, V: Array, c: Array, equal: Array, u: Array, y: Array,
        rate: float, momentum: float, sums: Array,
    ) -> float:  # fmt: skip
        """Take a projected gradient step as `attsvm.kernels.ascent.ascend` does."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Left factors that are stored one by one.

    Attributes:
        D: left factors, sorted by query.
        ends: first row of every run of rows that share a query, and the number of rows.
    """

    D: Float[Array, "m d"]
    ends: Int[Array, " k"]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.D)

    def sums(self, w: Float[Array, " m"]) -> Float[Array, "n d"]:
        """Return sum_j w_j D_j over each run."""
        return sum_runs(self.D, self.ends, w)

    def pair(self, V: Float[Array, "n d"]) -> Float[Array, " m"]:
        """Return the inner product of each row with the vector of its run."""
        return pair_runs(self.D, self.ends, V)

    def restricted(self, rows: Int[Array, " s"]) -> Rows:
        """Return some rows, given in rising order."""
        return Rows(self.D[rows], np.searchsorted(rows, self.ends))

    def owners(self) -> Int[Array, " m"]:
        """Return the run of each row."""
        return np.repeat(np.arange(len(self.ends) - 1), np.diff(self.ends))

    def ascend(
        self, V: Array, c: Array, equal: Array, u: Array, y: Array,
        rate: float, momentum: float, sums: Array,
    ) -> float:  # fmt: skip
        """Take a projected gradient step as `attsvm.kernels.ascent.ascend` does."""
        return ascend(self.D, self.ends, V, c, equal, u, y, rate, momentum, sums)


@dataclass(frozen=True, slots=True)
class GramOperator:
    """Products with G_jk = (D_j^T D_k)(z_j^T z_k), without G and without a copy of D.

    Attributes:
        left: left factors, as rows or as tables of shared tokens.
        Z: queries of the runs.
        queries: inner products of the runs' queries; None if products by Z cost less.
    """

    left: Left
    Z: Float[Array, "n e"]
    queries: Float[Array, "n n"] | None

    @classmethod
    def of(cls, D: Array, Z: Array, input: Array) -> GramOperator:
        """Return the operator of rows grouped by input, each input with one query."""
        starts = np.flatnonzero(np.diff(input, prepend=-1))
        rows = Rows(np.ascontiguousarray(D), np.append(starts, len(input)))
        return cls.over(rows, Z[starts])

    @classmethod
    def over(cls, left: Left, Z: Array) -> GramOperator:
        """Return the operator of left factors and of the query of each of their groups."""
        return cls(left, Z, Z @ Z.T if len(Z) < 2 * Z.shape[1] else None)

    def __call__(self, w: Float[Array, " m"]) -> Float[Array, " m"]:
        """Return the product G w."""
        return self.left.pair(self.mixed(self.left.sums(w)))

    def mixed(self, sums: Float[Array, "n d"]) -> Float[Array, "n d"]:
        """Return for each run the vector whose inner products with its rows are entries of G w.

        `sums` has sum_j w_j D_j over each run.
        """
        if self.queries is not None:
            few: Array = self.queries @ sums
            return few
        many: Array = self.Z @ (self.Z.T @ sums)
        return many

    def restricted(self, rows: Int[Array, " s"]) -> GramOperator:
        """Return the operator of some rows, given in rising order."""
        return GramOperator(self.left.restricted(rows), self.Z, self.queries)

    def largest(self) -> float:
        """Return an estimate of the largest eigenvalue of G by power iteration.

        It is at most the eigenvalue, and mostly too small by a few percent.
        """
        m = len(self.left)
        w, size = 1.0 + 0.5 * np.cos(np.arange(m)), 0.0
        for _ in range(PRODUCTS):
            w = self(w)
            size = float(np.linalg.norm(w))
            if not 0.0 < size < math.inf:
                break
            w = w / size
        return size


def ascend_dual(
    operator: GramOperator,
    c: Float[Array, " m"],
    equal: Bool[Array, " m"],
    u: Float[Array, " m"],
    rate: float,
    steps: int,
    deadline: Deadline | None = None,
) -> Float[Array, " m"]:
    """Maximise c^T u - 1/2 u^T G u over u >= 0 by `steps` accelerated steps from u.

    Entries of equalities are free. `rate` is at most 1 over the largest eigenvalue of G. Momentum
    restarts whenever it points downwards. Steps end early at the deadline.
    """
    u, left = u.copy(), operator.left
    y, sums, t = u.copy(), left.sums(u), 1.0
    for step in range(steps):
        if step % CHECKED == 0 and is_over(deadline):
            break
        following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * t * t))
        V, momentum = operator.mixed(sums), (t - 1.0) / following
        if left.ascend(V, c, equal, u, y, rate, momentum, sums) > 0.0:
            following = 1.0
            y[:] = u
            sums = left.sums(u)
        t = following
    return u


def conjugate_gradients(
    operator: GramOperator,
    inside: Bool[Array, " m"],
    c: Float[Array, " m"],
    start: Float[Array, " m"],
    tolerance: float,
    steps: int,
    deadline: Deadline | None = None,
    *,
    listed: bool = True,
) -> Float[Array, " m"]:
    """Solve G w = c on the rows `inside` to a relative residual, within a number of steps.

    If the rows are not to be listed, `inside` must be all rows that are not zero.
    """
    rows = np.flatnonzero(inside) if listed else np.arange(len(inside))
    part, c = operator.restricted(rows) if listed else operator, c[rows]
    w: Array = start[rows]
    residual = c - part(w)
    direction = residual
    square = float(residual @ residual)
    goal = tolerance**2 * float(c @ c)
    for step in range(steps):
        if not square > goal or (step % CHECKED == 0 and is_over(deadline)):
            break
        image = part(direction)
        curvature = float(direction @ image)
        if not curvature > 0.0:
            break
        length = square / curvature
        w = w + length * direction
        residual = residual - length * image
        fresh = float(residual @ residual)
        direction = residual + (fresh / square) * direction
        square = fresh
    spread = np.zeros(len(inside))
    spread[rows] = w
    return spread


def guess_by_blocks(
    operator: GramOperator,
    c: Float[Array, " m"],
    equal: Bool[Array, " m"],
    deadline: Deadline | None = None,
) -> tuple[Bool[Array, " m"], Float[Array, " m"]]:
    """Return the rows that seem to carry positive weight, and their approximate weights.

    Exchanges begin with all rows.
    """
    m = len(c)
    w, inside = np.zeros(m), np.ones(m, dtype=np.bool_)
    tolerance, best, patience = 1e-1, m + 1, 3
    for _ in range(25):
        w = conjugate_gradients(operator, inside, c, w, tolerance, 200, deadline)
        surplus = operator(w) - c
        wrong = np.where(inside, w < 0.0, surplus < -1e-2 * tolerance * np.abs(c)) & ~equal
        count = int(wrong.sum())
        if (count == 0 and tolerance <= 1e-4) or is_over(deadline):
            break
        if 0 < count < best:
            best, patience = count, 3
        elif count > 0:
            patience -= 1
            if patience < 0:
                break  # the exchanges cycle, for example on dependent rows
        tolerance = max(1e-7, 0.1 * tolerance)
        inside = inside ^ wrong
    return inside, w
