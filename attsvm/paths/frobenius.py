"""The regularisation path of W: minimisers of the risk over balls of the Frobenius norm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from jaxtyping import Float

from attsvm._types import Array
from attsvm._validate import ensure_array
from attsvm.data import AttentionData
from attsvm.errors import DataError, SolverError
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
from attsvm.paths.local import LocalGap, local_value, settled
from attsvm.paths.objective import GapObjective, Jet, differences
from attsvm.risk import descent_direction
from attsvm.svm import att_svm

T = TypeVar("T")

_DRAWS = 32

__all__ = ["Minimum", "continued", "path_w", "scaled", "separating_matrix", "starting_points"]


@dataclass(frozen=True, slots=True, eq=False)
class Minimum:
    """The best point found of min L(W) over ||W||_F <= radius (tf, theorem 2).

    The problem is not convex: `log_gap` is an upper bound of the optimal value, `log_lower` a
    lower one for every W of the ball.

    Attributes:
        radius: R.
        W: the point.
        log_gap: log(L(W) - L_*), with L_* the risk at the optimal tokens.
        log_lower: no W of the ball has a smaller one, up to rounding; -inf where none is known.
        residual: first-order residual, from W alone; see `stationarity`.
        inside: whether ||W||_F < radius, so that no multiplier is there.
        angle: between W and W^mm; NaN where one of them is zero or does not exist.
        attempts: where each start led.
    """

    radius: float
    W: Float[Array, "d d"]
    log_gap: float
    log_lower: float
    residual: float
    inside: bool
    angle: float
    attempts: tuple[Attempt, ...]

    @property
    def gap(self) -> float:
        """L(W) - L_*; 0 where it underflows."""
        return math.exp(self.log_gap)

    @property
    def excess(self) -> float:
        """How far log(L - L_*) may lie above its least value on the ball, at most."""
        return self.log_gap - self.log_lower

    @property
    def agreeing(self) -> int:
        """How many starts led to this value."""
        return sum(a.agrees(self.log_gap) for a in self.attempts)

    @property
    def spread(self) -> float:
        """Distance of the worst value that a start led to."""
        return max(a.value for a in self.attempts) - self.log_gap


def path_w(
    data: AttentionData,
    loss: Loss,
    radii: object,
    *,
    starts: Sequence[object] = ("svm", "gradient", "random", "random", "random"),
    seed: int = 0,
) -> tuple[Minimum, ...]:
    """Minimise L(W) over ||W||_F <= R for increasing R, from several starts (tf, theorem 2).

    At each radius every start is scaled to it, and what it led to at the radius before is followed
    as well. Newton steps act on log(L - L_*), so that the radius may be 1e4 and beyond.

    Args:
        data: tokens, queries and scores.
        loss: a decreasing loss.
        radii: increasing, 0 allowed.
        starts: `svm` (along W^mm, where it exists), `gradient` (along -grad L(0)), `random` (the
            best of 32 Gaussian directions), or matrices.
        seed: of the random starts.

    Raises:
        DataError: a loss that does not decrease, a risk that is the same everywhere, bad radii, no
            start that exists or is not zero, or one of unknown name.
    """
    values, objective = ensure_radii("radii", radii), GapObjective.of(data, loss)
    D, Z = differences(data, objective)
    separating = separating_matrix(data)
    fresh = starting_points(data, loss, starts, seed, separating)
    followed: dict[str, Array] = {}
    rows = _Rows.of(D, Z)
    begun = {name: [rows.short(W) for W in points] for name, points in fresh.items()}
    found = []

    def lead(x: Array, R: float) -> Array:
        return settled(
            objective,
            scaled(x, R),
            lambda x: rows.B @ x,
            lambda gap, x: rows.descend(gap, x, R),
            lambda x: _residual(data, loss, rows.long(x), R),
        )

    for R in values:
        if R == 0.0:
            zero = np.zeros((data.d, data.d))
            found.append(_grade(data, objective, D, Z, zero, R, separating, ()))
            continue
        first = {name: rows.best(objective, points, R) for name, points in begun.items()}
        branches = {name: lead(x, R) for name, x in (first | followed).items()}
        ends = [
            _attempt(data, objective, D, Z, name, rows.long(x), R) for name, x in branches.items()
        ]
        best = min(ends, key=lambda a: a.value).start
        followed, W = continued(branches, best), rows.long(branches[best])
        found.append(_grade(data, objective, D, Z, W, R, separating, tuple(ends)))
    return tuple(found)


def starting_points(
    data: AttentionData, loss: Loss, starts: Sequence[object], seed: int, svm: Array | None
) -> dict[str, Array]:
    """Stacks of matrices by name, those that exist and are not zero; the best of each counts.

    Raises:
        DataError: a name that is not known, or no start.
    """
    generator = np.random.default_rng(seed)
    points: dict[str, Array] = {}
    for k, start in enumerate(starts):
        if not isinstance(start, str):
            given = ensure_array(f"starts[{k}]", start, ("d", "d"), {"d": data.d})
            points[f"given {k}"] = given[None]
        elif start == "svm":
            if svm is not None:
                points["svm"] = svm[None]
        elif start == "gradient":
            zero = np.zeros((data.d, data.d))
            pull = descent_direction(data.X, data.Z, data.gamma, zero, loss, data.mask)
            points["gradient"] = pull.matrix[None]
        elif start == "random":
            points[f"random {k}"] = generator.normal(size=(_DRAWS, data.d, data.d))
        else:
            raise DataError(
                "a start of that name is not known",
                value=start,
                remedy="Use svm, gradient, random or a matrix.",
            )
    points = {name: W for name, W in points.items() if W.any()}
    if not points:
        raise DataError("there is no start that is not zero", value=starts, remedy="Add `random`.")
    return points


def continued(branches: dict[str, T], best: str) -> dict[str, T]:
    """Starts for the next radius: where each start led at this one, and the best of all."""
    own = {f"{name}, followed": y for name, y in branches.items() if "," not in name}
    return own | ({} if f"{best}, followed" in own else {"best, followed": branches[best]})


def scaled(y: Array, radius: float) -> Array:
    """The same direction on the sphere; zero stays."""
    size = float(np.linalg.norm(y))
    return y * (radius / size) if size > 0.0 else y


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Coordinates x of W in the span of the constraint matrices: margins = B x, ||x|| = ||W||."""

    basis: Float[Array, "k de"]
    B: Float[Array, "m k"]
    shape: tuple[int, int]

    @classmethod
    def of(cls, D: Array, Z: Array) -> _Rows:
        A = (D[:, :, None] * Z[:, None, :]).reshape(len(D), -1)
        Q, triangle = np.linalg.qr(A.T)
        return cls(np.ascontiguousarray(Q.T), triangle.T.copy(), (D.shape[1], Z.shape[1]))

    def short(self, W: Array) -> Array:
        x: Array = self.basis @ W.ravel()
        return x

    def long(self, x: Array) -> Array:
        return (x @ self.basis).reshape(self.shape)

    def value(self, objective: GapObjective, x: Array) -> float:
        return objective.value(self.B @ x)

    def best(self, objective: GapObjective, points: Sequence[Array], radius: float) -> Array:
        """The direction of least value at that radius."""
        return min(points, key=lambda x: self.value(objective, scaled(x, radius)))

    def descend(self, gap: GapObjective | LocalGap, x: Array, radius: float) -> Array:
        def jet(x: Array) -> Jet:
            found = gap.jet(self.B @ x)
            return Jet(found.value, self.B.T @ found.gradient, self.B.T @ found.hessian @ self.B)

        return minimise_on_ball(jet, lambda x: gap.value(self.B @ x), x, radius)


def separating_matrix(data: AttentionData) -> Array | None:
    """W^mm, or None where it does not exist or optimal tokens are tied."""
    try:
        answer = att_svm(data)
    except (DataError, SolverError):  # ties, or no answer with a proof
        return None
    return answer.W if answer.solved else None


def _attempt(
    data: AttentionData,
    objective: GapObjective,
    D: Array,
    Z: Array,
    name: str,
    W: Array,
    radius: float,
) -> Attempt:
    margins = ((D @ W) * Z).sum(axis=1)
    residual = _residual(data, objective.loss, W, radius)
    return Attempt(name, objective.value(margins), residual, local_value(objective, margins))


def _residual(data: AttentionData, loss: Loss, W: Array, radius: float) -> float:
    pull = descent_direction(data.X, data.Z, data.gamma, W, loss, data.mask)
    return stationarity(W, pull.matrix, 0.0, radius, 1.0)


def _grade(
    data: AttentionData,
    objective: GapObjective,
    D: Array,
    Z: Array,
    W: Array,
    radius: float,
    separating: Array | None,
    attempts: tuple[Attempt, ...],
) -> Minimum:
    own = _attempt(data, objective, D, Z, "zero", W, radius)
    return Minimum(
        radius=radius,
        W=W,
        log_gap=own.value,
        log_lower=lower_bound(objective, D, Z, ((D @ W) * Z).sum(axis=1), radius),
        residual=own.residual,
        inside=not on_sphere(W, radius),
        angle=math.nan if separating is None else angle_between(W, separating),
        attempts=attempts or (own,),
    )
