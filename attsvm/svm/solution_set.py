"""All solutions of a nuclear-norm programme: a slice of a cone of positive semidefinite matrices.

Let w be any optimal multipliers, S = sum_j w_j A_j, and U, V the left and right singular vectors of
S at singular value 1 (S V = U, S^T U = V). A feasible W is a solution if and only if ||W||_* = <S,
W> and its margins are 1 for w_j > 0. The first condition means W = U B V^T with B positive
semidefinite. So the solutions are

  { U B V^T : B >= 0, margins equal to 1 for w_j > 0, at least 1 elsewhere }.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attsvm._types import Array, Bool, Float

RESOLUTION = 1e-7
"""Upper bound of singular values of unit rows that count as zero."""

EXACT = 1e-12
"""Maximum rounding error by which a member may miss an inequality or have a negative eigenvalue."""


@dataclass(frozen=True, slots=True, eq=False)
class Slice:
    """The matrices B >= 0 with rows @ vec(B) = c in the `equal` rows, and >= c in the others.

    vec lists the lower triangle with off-diagonal entries times sqrt(2), so that it preserves inner
    products.

    Attributes:
        rows: vec of the symmetric part of U^T A_j V / ||A_j||_F, one per constraint.
        c: 1 / ||A_j||_F.
        equal: the constraints with a nonzero multiplier.
    """

    rows: Float[Array, "m k"]
    c: Float[Array, " m"]
    equal: Bool[Array, " m"]

    @classmethod
    def of(
        cls,
        D: Float[Array, "m d"],
        Z: Float[Array, "m e"],
        U: Float[Array, "d r"],
        V: Float[Array, "e r"],
        equal: Bool[Array, " m"],
    ) -> Slice:
        """Return the slice of the face U, V under rows D_j, z_j that are not zero."""
        lengths_D, lengths_Z = np.linalg.norm(D, axis=1), np.linalg.norm(Z, axis=1)
        left = (D @ U) / lengths_D[:, None]
        right = (Z @ V) / lengths_Z[:, None]
        outer = left[:, :, None] * right[:, None, :]
        return cls(
            pack(0.5 * (outer + outer.transpose(0, 2, 1))), 1.0 / (lengths_D * lengths_Z), equal
        )

    @property
    def dimension(self) -> int:
        """Dimension of the symmetric B with the equalities alone; -1 if the face is empty."""
        rows = self.rows[self.equal]
        size = rows.shape[1]
        if size == 0 or len(rows) == 0:
            return size if size else -1
        values = np.linalg.svd(rows, compute_uv=False)
        return int(size - (values > RESOLUTION).sum())

    def project(self, x: Float[Array, " k"], inside: Float[Array, " k"]) -> tuple[float, Array]:
        """Return a lower bound of the distance of x to the slice, and the best member found.

        The dual of the projection is max_y c^T y + ||x||^2 / 2 - ||(x + rows^T y)_+||^2 / 2 with
        y_j >= 0 on inequalities. It bounds the distance from below for any y. Its gradient is the
        violation of the constraints by the positive part. That part is moved onto the equalities,
        and then towards the member `inside` until it is a member.
        """
        from scipy.optimize import minimize

        scale = float(np.abs(self.c).max())
        rows, c, equal = self._resolved(self.c / scale)
        point = x / scale

        def negative(y: Array) -> tuple[float, Array]:
            raised = positive_part(point + rows.T @ y)
            return 0.5 * float(raised @ raised) - float(c @ y), rows @ raised - c

        limits = [(None, None) if fixed else (0.0, None) for fixed in equal]
        reply = minimize(
            negative,
            np.zeros(len(c)),
            jac=True,
            bounds=limits,
            method="L-BFGS-B",
            options={"maxiter": 2000, "maxfun": 4000, "ftol": 1e-16, "gtol": 1e-13, "maxcor": 30},
        )
        dual = -negative(reply.x)[0] + 0.5 * float(point @ point)
        nearest = positive_part(point + rows.T @ reply.x)
        member = self.nearest_member(nearest, inside / scale, self.c / scale)
        return float(np.sqrt(max(2.0 * dual, 0.0))) * scale, member * scale

    def _resolved(self, c: Array) -> tuple[Array, Array, Array]:
        """Return the rows with independent equalities, and which rows are equalities.

        Rounding of the face makes dependent equalities differ slightly, and together they would fix
        directions that none of them fixes. Inequalities get the tolerance of members.
        """
        U, values, Vt = np.linalg.svd(self.rows[self.equal], full_matrices=False)
        kept = values > RESOLUTION
        free = ~self.equal
        fixed = (U.T @ c[self.equal])[kept] / values[kept]
        return (
            np.concatenate([Vt[kept], self.rows[free]]),
            np.concatenate([fixed, c[free] - EXACT]),
            np.arange(kept.sum() + free.sum()) < kept.sum(),
        )

    def nearest_member(self, x: Array, inside: Array, c: Array) -> Array:
        """Return the last member between `inside` and the projection of x on the equalities.

        Inequalities that fail there are added to the equalities, the worst first. If two of them
        force an equality, the segment to any other point contains no second member.
        """
        held, goal = self.equal.copy(), x
        for _ in range(len(c)):
            rows = self.rows[held]
            goal = x + np.linalg.lstsq(rows, c[held] - rows @ x, rcond=RESOLUTION)[0]
            short = np.where(held, 0.0, c - self.rows @ goal)
            if not short.max() > EXACT:
                break
            held[short.argmax()] = True
        low, high = 0.0, 1.0
        if self.holds(goal, c):
            low = 1.0
        while high - low > 1e-12:
            middle = 0.5 * (low + high)
            if self.holds(inside + middle * (goal - inside), c):
                low = middle
            else:
                high = middle
        member: Array = inside + low * (goal - inside)
        return member

    def holds(self, x: Array, c: Array) -> bool:
        """Return whether x is positive semidefinite and meets the inequalities, to `EXACT`."""
        least = float(np.linalg.eigvalsh(unpack(x))[0])
        slack = self.rows[~self.equal] @ x - c[~self.equal]
        return least >= -EXACT * float(np.linalg.norm(x)) and bool((slack >= -EXACT).all())


def pack(B: Float[Array, "*n r r"]) -> Float[Array, "*n k"]:
    """Return the lower triangles of symmetric matrices, entries off the diagonal times sqrt(2)."""
    lower = np.tril_indices(B.shape[-1])
    packed: Array = B[..., lower[0], lower[1]] * np.where(lower[0] == lower[1], 1.0, np.sqrt(2.0))
    return packed


def unpack(x: Float[Array, " k"]) -> Float[Array, "r r"]:
    """Return the symmetric matrix of a packed triangle."""
    r = int(np.sqrt(2.0 * len(x)))
    lower = np.tril_indices(r)
    half = np.zeros((r, r))
    half[lower] = x * np.where(lower[0] == lower[1], 0.5, np.sqrt(0.5))
    whole: Array = half + half.T
    return whole


def positive_part(x: Float[Array, " k"]) -> Float[Array, " k"]:
    """Return the nearest positive semidefinite matrix, packed."""
    values, vectors = np.linalg.eigh(unpack(x))
    return pack((vectors * np.maximum(values, 0.0)) @ vectors.T)
