"""The regularisation path of W: minimisers of the risk over balls of the Frobenius norm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attsvm._types import Array, Float
from attsvm.data import AttentionData
from attsvm.losses import Loss
from attsvm.paths.ball import minimise_on_ball
from attsvm.paths.grades import (
    Attempt,
    angle_between,
    ensure_radii,
    lower_bound,
    on_sphere,
    stationarity,
)
from attsvm.paths.local import LocalGap, of_margins
from attsvm.paths.objective import GapObjective, differences
from attsvm.paths.search import (
    Gap,
    Problem,
    RegularisationPath,
    along,
    separating_matrix,
    starting_points,
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Minimum(Gap):
    """The best point found of min L(W) over ||W||_F <= radius.

    The problem is not convex: `log_gap` bounds the minimum of log(L - L_*) from above, and
    `log_lower` bounds it from below.

    Attributes:
        W: the point.
        angle: the angle between W and W^mm; NaN if one of them is zero or does not exist.
    """

    W: Float[Array, "d d"]
    angle: float

    def row(self) -> tuple[dict[str, float], dict[str, float]]:
        """Return the radius, and the figures log gap and angle."""
        return {"radius": self.radius}, {"log gap": self.log_gap, "angle to W^mm": self.angle}


def path_w(
    data: AttentionData,
    loss: Loss,
    radii: object,
    *,
    starts: Sequence[object] = ("svm", "gradient", "random", "random", "random"),
    seed: int = 0,
) -> RegularisationPath[Minimum]:
    """Minimise L(W) over ||W||_F <= R for increasing R, from several starts.

    At each radius every start is scaled to this radius and descended from. Results at the previous
    radius are continued as well. Newton steps act on log(L - L_*), so that the radius may be 1e4
    and more.

    Args:
        data: tokens, queries and scores.
        loss: a decreasing loss.
        radii: increasing, 0 allowed.
        starts: `svm` (along W^mm, if it exists), `gradient` (along -grad L(0)), `random` (the best
            of 32 Gaussian directions), or matrices.
        seed: seed of the random starts.

    Raises:
        DataError: the loss does not decrease, the risk is constant, radii are invalid, no start
            exists and is nonzero, or a start has an unknown name.
    """
    values, objective = ensure_radii("radii", radii), GapObjective.of(data, loss)
    rows, separating = _Rows.of(data, objective), separating_matrix(data)
    points = starting_points(data, loss, starts, seed, separating)
    begun = {name: [rows.short(W) for W in stack] for name, stack in points.items()}

    def grade(x: Array, R: float, attempts: tuple[Attempt, ...]) -> Minimum:
        W, own = rows.long(x), min(attempts, key=lambda a: a.value)
        return Minimum(
            radius=R,
            W=W,
            log_gap=own.value,
            log_lower=lower_bound(objective, rows.D, rows.Z, rows.graded(x), R),
            residual=own.residual,
            inside=not on_sphere(W, R),
            angle=math.nan if separating is None else angle_between(W, separating),
            attempts=attempts,
        )

    return along(
        values,
        lambda R: {name: rows.best(points, R) for name, points in begun.items()},
        rows.lead,
        rows.attempt,
        grade,
        zero=np.zeros(len(rows.basis)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Rows(Problem):
    """The problem in coordinates x of W in the span of the A_j: margins are B x, ||x|| = ||W||."""

    data: AttentionData
    objective: GapObjective
    D: Float[Array, "m d"]
    Z: Float[Array, "m e"]
    basis: Float[Array, "k de"]
    B: Float[Array, "m k"]

    @classmethod
    def of(cls, data: AttentionData, objective: GapObjective) -> _Rows:
        D, Z = differences(data, objective)
        A = (D[:, :, None] * Z[:, None, :]).reshape(len(D), -1)
        Q, triangle = np.linalg.qr(A.T)
        return cls(data, objective, D, Z, np.ascontiguousarray(Q.T), triangle.T.copy())

    def reach(self, R: float) -> float:
        return R

    def short(self, W: Array) -> Array:
        x: Array = self.basis @ W.ravel()
        return x

    def long(self, x: Array) -> Array:
        return (x @ self.basis).reshape(self.D.shape[1], self.Z.shape[1])

    def margins(self, x: Array) -> Array:
        margins: Array = self.B @ x
        return margins

    def graded(self, x: Array) -> Array:
        margins: Array = ((self.D @ self.long(x)) * self.Z).sum(axis=1)
        return margins

    def residual(self, x: Array, R: float) -> float:
        W = self.long(x)
        return stationarity(W, self.negative_gradient(W), R)

    def descend(self, gap: GapObjective | LocalGap, x: Array, R: float) -> Array:
        return minimise_on_ball(*of_margins(gap, self.B), x, R)
