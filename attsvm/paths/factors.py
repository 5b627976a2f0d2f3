"""min log(L - L_*) over ||K||_F^2 + ||Q||_F^2 <= 2R, in the coordinates that tokens span."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from attsvm._types import Array
from attsvm.paths.ball import minimise_on_ball
from attsvm.paths.frobenius import scaled
from attsvm.paths.local import LocalGap
from attsvm.paths.objective import GapObjective, Jet

__all__ = ["Factored"]

_LIFTS = 3


@dataclass(frozen=True, slots=True, eq=False)
class Factored:
    """The problem in short coordinates: y stacks K (p, r) and Q (q, r).

    Values and derivatives are those of `gap`, log(L - L_*) at first; the bases of the spaces are
    `left` and `right`.
    """

    objective: GapObjective
    gap: GapObjective | LocalGap
    D: Float[Array, "m p"]
    Z: Float[Array, "m q"]
    left: Float[Array, "d p"]
    right: Float[Array, "e q"]
    inner: int

    @classmethod
    def of(cls, objective: GapObjective, D: Array, Z: Array, inner: int) -> Factored:
        """For the differences of tokens and the queries of all margins."""
        left, right = np.linalg.qr(D.T)[0], np.linalg.qr(Z.T)[0]
        inner = min(inner, left.shape[1], right.shape[1])
        return cls(objective, objective, D @ left, Z @ right, left, right, inner)

    @property
    def size(self) -> int:
        """Number of entries of K and Q."""
        return int(self.D.shape[1] + self.Z.shape[1]) * self.inner

    def parts(self, y: Array) -> tuple[Array, Array]:
        """K and Q in short coordinates."""
        cut = self.D.shape[1] * self.inner
        return y[:cut].reshape(-1, self.inner), y[cut:].reshape(-1, self.inner)

    def factor(self, W: Array) -> Array:
        """Balanced factors of the leading singular values."""
        U, sizes, Vt = np.linalg.svd(self.left.T @ W @ self.right, full_matrices=False)
        roots = np.sqrt(sizes[: self.inner])
        K, Q = U[:, : self.inner] * roots, Vt[: self.inner].T * roots
        return np.concatenate([K.ravel(), Q.ravel()])

    def margins(self, y: Array) -> Array:
        """Margins m_j = D_j^T K Q^T z_j."""
        K, Q = self.parts(y)
        margins: Array = ((self.D @ K) * (self.Z @ Q)).sum(axis=1)
        return margins

    def value(self, y: Array) -> float:
        """log(L - L_*), or the local gap."""
        return self.gap.value(self.margins(y))

    def best(self, points: Sequence[Array], radius: float) -> Array:
        """The unit vector of least value at that radius."""
        reach = math.sqrt(2.0 * radius)
        return scaled(min(points, key=lambda y: self.value(scaled(y, reach))), 1.0)

    def jet(self, y: Array) -> Jet:
        """The value with gradient and Hessian in y."""
        K, Q = self.parts(y)
        keys, queries = self.D @ K, self.Z @ Q
        found = self.gap.jet((keys * queries).sum(axis=1))
        m, r = len(self.D), self.inner
        J = np.hstack(
            [
                (self.D[:, :, None] * queries[:, None, :]).reshape(m, -1),
                (self.Z[:, :, None] * keys[:, None, :]).reshape(m, -1),
            ]
        )
        pull = (self.D * found.gradient[:, None]).T @ self.Z
        hessian = J.T @ found.hessian @ J
        cut = self.D.shape[1] * r
        cross = np.kron(pull, np.eye(r))
        hessian[:cut, cut:] += cross
        hessian[cut:, :cut] += cross.T
        return Jet(found.value, J.T @ found.gradient, hessian)

    def descend(self, y: Array, radius: float) -> Array:
        """From y, and again with a new direction where the nuclear ball has a better one."""
        reach = math.sqrt(2.0 * radius)
        y = minimise_on_ball(self.jet, self.value, y, reach)
        for _ in range(_LIFTS):
            lifted = self._lift(y)
            if lifted is None:
                break
            after = minimise_on_ball(self.jet, self.value, scaled(lifted, reach), reach)
            if not self.value(after) < self.value(y):
                break
            y = after
        return y

    def _lift(self, y: Array) -> Array | None:
        """The weakest column replaced by the direction that the gradient prefers, if there is."""
        K, Q = self.parts(y)
        found = self.gap.jet(self.margins(y))
        pull = -(self.D * found.gradient[:, None]).T @ self.Z
        U, sizes, Vt = np.linalg.svd(pull, full_matrices=False)
        whole = 0.5 * float(y @ y)
        if not (pull * (K @ Q.T)).sum() < sizes[0] * whole * (1.0 - 1e-9):
            return None
        A, strengths, Bt = np.linalg.svd(K @ Q.T, full_matrices=False)
        strengths = strengths[: self.inner].copy()
        if strengths[-1] > 1e-6 * strengths[0]:
            return None
        K, Q = A[:, : self.inner] * np.sqrt(strengths), Bt[: self.inner].T * np.sqrt(strengths)
        K[:, -1], Q[:, -1] = U[:, 0], Vt[0]
        root = math.sqrt(1e-2 * whole)
        K[:, -1] *= root
        Q[:, -1] *= root
        return np.concatenate([K.ravel(), Q.ravel()])
