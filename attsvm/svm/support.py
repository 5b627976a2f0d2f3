"""Guesses of which constraints are active, for programmes too large to pivot from nothing.

Block pivoting exchanges all constraints of wrong sign at once. The systems in between are solved
loosely: by conjugate gradients on an operator that never forms the Gram matrix, or by Cholesky on
a small one. What comes out is a guess; the caller solves on it in full precision and judges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attsvm._types import Array, Bool, Float, Int


@dataclass(frozen=True, slots=True)
class GramOperator:
    """Products with G_jk = (D_j^T D_k)(z_j^T z_k) in time m d + n^2 d and without G.

    Attributes:
        D: left factors.
        start: first row of every run of rows that share a query.
        run: the run that each row belongs to.
        queries: inner products of the runs' queries.
    """

    D: Float[Array, "m d"]
    start: Int[Array, " n"]
    run: Int[Array, " m"]
    queries: Float[Array, "n n"]

    @classmethod
    def of(cls, D: Array, Z: Array, input: Array) -> GramOperator:
        """The operator of rows whose inputs come in runs, each with one query."""
        start = np.flatnonzero(np.diff(input, prepend=-1))
        run = np.repeat(np.arange(len(start)), np.diff(start, append=len(input)))
        return cls(D, start, run, Z[start] @ Z[start].T)

    def __call__(self, w: Float[Array, " m"]) -> Float[Array, " m"]:
        """The product G w."""
        summed = np.add.reduceat(self.D * w[:, None], self.start, axis=0)
        product: Array = np.einsum("md,md->m", self.D, (self.queries @ summed)[self.run])
        return product


def conjugate_gradients(
    operator: GramOperator,
    inside: Bool[Array, " m"],
    c: Float[Array, " m"],
    start: Float[Array, " m"],
    tolerance: float,
    steps: int,
) -> Float[Array, " m"]:
    """Solve G w = c on the rows `inside` to a relative residual, or as far as the steps go."""
    w = np.where(inside, start, 0.0)
    residual = np.where(inside, c - operator(w), 0.0)
    direction = residual
    square = float(residual @ residual)
    goal = tolerance**2 * float(c[inside] @ c[inside])
    for _ in range(steps):
        if not square > goal:
            break
        image = np.where(inside, operator(direction), 0.0)
        curvature = float(direction @ image)
        if not curvature > 0.0:
            break
        length = square / curvature
        w = w + length * direction
        residual = residual - length * image
        fresh = float(residual @ residual)
        direction = residual + (fresh / square) * direction
        square = fresh
    return w


def guess_by_blocks(
    operator: GramOperator, c: Float[Array, " m"], equal: Bool[Array, " m"]
) -> tuple[Bool[Array, " m"], Float[Array, " m"]]:
    """The rows that seem to carry positive weight, and their approximate weights."""
    inside = np.ones(len(c), dtype=np.bool_)
    w = np.zeros(len(c))
    tolerance, best, patience = 1e-1, len(c) + 1, 3
    for _ in range(25):
        w = conjugate_gradients(operator, inside, c, w, tolerance, 200)
        surplus = operator(w) - c
        wrong = np.where(inside, w < 0.0, surplus < -1e-2 * tolerance * np.abs(c)) & ~equal
        count = int(wrong.sum())
        if count == 0 and tolerance <= 1e-4:
            break
        if 0 < count < best:
            best, patience = count, 3
        elif count > 0:
            patience -= 1
            if patience < 0:
                break  # it cycles, as on dependent rows
        tolerance = max(1e-7, 0.1 * tolerance)
        inside = inside ^ wrong
    return inside, w
