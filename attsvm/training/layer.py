"""One data set as the compiled loops take it, in coordinates whose size does not grow with d."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attsvm._types import Array
from attsvm.kernels import descent as loops
from attsvm.losses import LOSSES, Loss
from attsvm.training.batch import Batch


@dataclass(frozen=True, slots=True)
class Layer:
    """One data set as the loops take it, tokens and queries in short coordinates.

    Attributes:
        X: tokens by input, transposed (n, p, T).
        rows: the same as they were (n, T, p).
        Z: queries (n, q).
        gamma: token scores (n, T).
        base: logits of what does not move (n, T), minus infinity at absent tokens.
        U, V: orthonormal columns with x = U (its coordinates), z = V (its coordinates), up to
            what is orthogonal to all; None for the identity.
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
        """Return the layer of a data set of a batch; of a `start` (d, e) the logits do not move.

        Absent tokens get logits of minus infinity; of linear attention they are zero.
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
            Z = R.T  # lower triangular
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
        """Return the matrices (k, d, e) that coordinates (k, q, p) make of a start (d, e)."""
        left = _expanded(short, self.U).swapaxes(1, 2)
        added: Array = _expanded(left, self.V) + start
        return added

    @property
    def size(self) -> tuple[int, int]:
        """(q, p)."""
        return self.Z.shape[1], self.X.shape[1]


def _expanded(rows: Array, basis: Array | None) -> Array:
    """Rows of coordinates (k, q, p) in the space of the basis; a run's bits are those of any batch.

    None is the identity.
    """
    if basis is None:
        return rows
    out = np.empty((*rows.shape[:2], len(basis)))
    flat = np.ascontiguousarray(rows).reshape(-1, rows.shape[2])
    loops.product(flat, np.ascontiguousarray(basis), out.reshape(-1, len(basis)))
    return out


def split(side: Array, basis: Array | None) -> tuple[Array, Array]:
    """Coordinates of a factor (d, r), and what they leave out."""
    if basis is None:
        return np.array(side), np.zeros((1, side.shape[1]))
    short = basis.T @ side
    return short, side - basis @ short


def restored(short: Array, start: Array, basis: Array | None) -> Array:
    """Factors (k, d, r) from their coordinates: what these leave out stays as it was."""
    if basis is None:
        return short.copy()
    result: Array = start + basis @ (short - basis.T @ start)
    return result


def loss_number(loss: Loss) -> int | None:
    """How the loops call a loss, or None where they do not know it."""
    known = LOSSES.get(loss.name) is loss
    return loops.LOSS_NUMBERS[loss.name] if known else None
