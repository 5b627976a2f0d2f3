"""One data set as the compiled loops take it, in coordinates whose size does not grow with d."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attsvm._types import Array
from attsvm.kernels import descent as loops
from attsvm.losses import LOSSES, Loss


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
    def of(
        cls,
        X: Array,
        Z: Array,
        gamma: Array,
        mask: Array | None,
        base: Array,
        linear: bool = False,
    ) -> Layer:
        """The layer of tokens, queries and scores, with logits `base` that do not move.

        Absent tokens get logits of minus infinity; of linear attention they are zero.
        """
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
        """The coordinates (q, p) of a matrix (d, e)."""
        left = W if self.U is None else self.U.T @ W
        both = left if self.V is None else left @ self.V
        return np.ascontiguousarray(both.T)

    def long(self, short: Array, start: Array) -> Array:
        """The matrices (k, d, e) that coordinates (k, q, p) make of a start (d, e)."""
        out = np.empty((len(short), *start.shape))
        none = np.empty((0, 0))
        U, V = none if self.U is None else self.U, none if self.V is None else self.V
        loops.expand(short, U, V, np.ascontiguousarray(start), out)
        return out

    @property
    def size(self) -> tuple[int, int]:
        """(q, p)."""
        return self.Z.shape[1], self.X.shape[1]


def loss_number(loss: Loss) -> int | None:
    """How the loops call a loss, or None where they do not know it."""
    known = LOSSES.get(loss.name) is loss
    return loops.LOSS_NUMBERS[loss.name] if known else None
