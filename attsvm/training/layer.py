"""One data set for the compiled loops, in at most n T coordinates of tokens and n of queries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attsvm._types import Array
from attsvm.kernels import descent as loops
from attsvm.losses import LOSSES, Loss
from attsvm.training.batch import Batch


@dataclass(frozen=True, slots=True)
class Layer:
    """One data set for the loops, with tokens and queries in short coordinates.

    Attributes:
        X: tokens by input, one column per token (n, p, T).
        rows: the same, one row per token (n, T, p).
        Z: queries (n, q).
        gamma: token scores (n, T).
        base: constant part of the logits (n, T), minus infinity at absent tokens.
        U, V: orthonormal columns, such that a token is U times its coordinates and a query V times
            its coordinates; None for the identity.
    """

    X: Array
    rows: Array
    Z: Array
    gamma: Array
    base: Array
    U: Array | None
    V: Array | None

    @classmethod
    def of(cls, batch: Batch, b: int, start: Array | None = None, linear: bool = False) -> Layer:
        """Return the layer of one data set of a batch; a `start` (d, e) gives constant logits.

        Absent tokens get logits of minus infinity; for linear attention they are zero.
        """
        X, Z, gamma, base = batch.X[b], batch.Z[b], batch.gamma[b], np.zeros(batch.gamma.shape[1:])
        mask = None if batch.mask is None else batch.mask[b]
        if start is not None:
            base = np.matmul(X, np.matmul(start, Z[..., None]))[..., 0]
        if linear and mask is not None:
            X, gamma, base = X * mask[..., None], gamma * mask, base * mask
            mask = None
        n, T, d = X.shape
        U = V = None
        if n * T < d:
            U = np.linalg.qr(X.reshape(n * T, d).T)[0]
            X = X @ U
        if n < Z.shape[1]:
            V, R = np.linalg.qr(Z.T)
            Z = R.T  # lower triangular: query i has at most i + 1 coordinates
        if mask is not None:
            base = np.where(mask, base, -np.inf)
        tokens = np.ascontiguousarray(np.swapaxes(X, 1, 2))
        X, Z, gamma, base = (np.ascontiguousarray(a) for a in (X, Z, gamma, base))
        return cls(tokens, X, Z, gamma, base, U, V)

    def short(self, W: Array) -> Array:
        """Return the coordinates (q, p) of a matrix (d, e)."""
        left = W if self.U is None else self.U.T @ W
        both = left if self.V is None else left @ self.V
        return np.ascontiguousarray(both.T)

    def long(self, short: Array, start: Array) -> Array:
        """Return the matrices (k, d, e) whose change from `start` has coordinates (k, q, p)."""
        left = _expanded(short, self.U).swapaxes(1, 2)
        added: Array = _expanded(left, self.V) + start
        return added

    @property
    def size(self) -> tuple[int, int]:
        """The numbers (q, p) of coordinates of queries and of tokens."""
        return self.Z.shape[1], self.X.shape[1]


def _expanded(rows: Array, basis: Array | None) -> Array:
    """Return the rows with coordinates (k, q, p) in a basis; None is the identity.

    The product sums in a fixed order, so that the bits of a run do not depend on its batch.
    """
    if basis is None:
        return rows
    out = np.empty((*rows.shape[:2], len(basis)))
    flat = np.ascontiguousarray(rows).reshape(-1, rows.shape[2])
    loops.product(flat, np.ascontiguousarray(basis), out.reshape(-1, len(basis)))
    return out


def split(side: Array, basis: Array | None) -> tuple[Array, Array]:
    """Return the coordinates of a factor (d, r) in the basis, and its part orthogonal to it."""
    if basis is None:
        return np.array(side), np.zeros((1, side.shape[1]))
    short = basis.T @ side
    return short, side - basis @ short


def restored(short: Array, start: Array, basis: Array | None) -> Array:
    """Return factors (k, d, r) from their coordinates.

    The part orthogonal to the basis is unchanged.
    """
    if basis is None:
        return short.copy()
    result: Array = start + basis @ (short - basis.T @ start)
    return result


def loss_number(loss: Loss) -> int | None:
    """Return the code number of a loss in compiled loops; None if they do not implement it."""
    known = LOSSES.get(loss.name) is loss
    return loops.LOSS_NUMBERS[loss.name] if known else None
