"""The regularisation path of (K, Q): minimisers over balls of ||K||_F^2 + ||Q||_F^2."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attsvm._types import Array, Float
from attsvm.data import AttentionData
from attsvm.errors import DataError, SolverError
from attsvm.losses import Loss
from attsvm.paths.ball import minimise_on_ball
from attsvm.paths.grades import Attempt, ensure_radii, lower_bound, on_sphere, stationarity
from attsvm.paths.local import LocalGap
from attsvm.paths.objective import GapObjective, Jet, differences
from attsvm.paths.search import (
    Gap,
    Problem,
    RegularisationPath,
    along,
    scaled,
    separating_matrix,
    starting_points,
)
from attsvm.svm.nuclear import NuclearAnswer, distance, solve_nuclear
from attsvm.svm.programme import att_svm_programme

_LIFTS = 3
"""Maximum number of directions that `Factored.descend` adds."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class FactorMinimum(Gap):
    """The best point found of min L(K Q^T) over ||K||_F^2 + ||Q||_F^2 <= 2 radius.

    `radius` bounds ||K Q^T||_*, and `log_lower` holds for every W of that nuclear norm, whatever
    its rank. At `residual` 0, -grad_K = mu K and -grad_Q = mu Q with mu >= 0.

    Attributes:
        K, Q: the point, with the requested inner dimension.
        excess_of_operator: 1 - <G, W> / (||G||_op R) with G = -grad L(W): 0 if W meets the
            first-order condition of the nuclear ball, which a small inner dimension may prevent;
            NaN if G is zero.
        distance: bounds of the Frobenius distance of W / R to the solutions of Att-SVM* divided by
            their nuclear norm; NaN if there is none, or R = 0.
    """

    K: Float[Array, "d r"]
    Q: Float[Array, "d r"]
    excess_of_operator: float
    distance: tuple[float, float]

    def row(self) -> tuple[dict[str, float], dict[str, float]]:
        """Return the radius, and the figures log gap and distance (its upper bound)."""
        figures = {"log gap": self.log_gap, "distance to Att-SVM*": self.distance[1]}
        return {"radius": self.radius}, figures

    @property
    def W(self) -> Float[Array, "d d"]:
        """K Q^T."""
        W: Array = self.K @ self.Q.T
        return W


def path_kq(
    data: AttentionData,
    loss: Loss,
    radii: object,
    *,
    inner: int | None = None,
    starts: Sequence[object] = ("svm", "gradient", "random", "random"),
    seed: int = 0,
) -> RegularisationPath[FactorMinimum]:
    """Minimise L(K Q^T) over ||K||_F^2 + ||Q||_F^2 <= 2R for increasing R.

    Args:
        data: tokens, queries and scores.
        loss: a decreasing loss.
        radii: increasing, 0 allowed.
        inner: number of columns of K and Q, by default d; more than the rank of W change nothing.
        starts: as in `path_w`. Matrices W are factored by singular values and cut to the inner
            dimension; `svm` is along a solution of Att-SVM*.
        seed: seed of the random starts, and of a small part that keeps unused columns off zero. It
            is too small to change the sign of a margin of a solution of Att-SVM*.

    Raises:
        DataError: as `path_w`, or an inner dimension below 1.
    """
    inner = data.d if inner is None else inner
    if inner < 1:
        raise DataError("the inner dimension is below 1", value=inner, remedy="Use 1 or more.")
    values, objective = ensure_radii("radii", radii), GapObjective.of(data, loss)
    problem, solution = Factored.of(data, objective, inner), _nuclear(data)
    svm = None if solution is None else solution.W
    points = starting_points(data, loss, starts, seed, svm)
    begun = {name: [problem.factor(W) for W in stack] for name, stack in points.items()}
    noise = np.random.default_rng(seed).normal(size=problem.size) / math.sqrt(problem.size)
    noise *= 1e-3 / max(1.0, problem.steepest * (0.0 if solution is None else solution.value))

    def grade(y: Array, R: float, attempts: tuple[Attempt, ...]) -> FactorMinimum:
        own, G = min(attempts, key=lambda a: a.value), problem.short_negative_gradient(y)
        K, Q = problem.parts(y)
        largest = float(np.linalg.norm(G, 2)) * R
        off = 1.0 - float((G * (K @ Q.T)).sum()) / largest if largest > 0.0 else math.nan
        wide = [np.zeros((data.d, inner)), np.zeros((data.d, inner))]
        wide[0][:, : problem.inner] = problem.left @ K
        wide[1][:, : problem.inner] = problem.right @ Q
        away = (math.nan, math.nan)
        if solution is not None and R > 0.0:
            low, high = distance(solution, wide[0] @ wide[1].T * (solution.value / R))
            away = (low / solution.value, high / solution.value)
        return FactorMinimum(
            radius=R,
            K=wide[0],
            Q=wide[1],
            log_gap=own.value,
            log_lower=lower_bound(
                objective, problem.D, problem.Z, problem.margins(y), R, nuclear=True
            ),
            residual=own.residual,
            excess_of_operator=off,
            inside=not on_sphere(y, problem.reach(R)),
            distance=away,
            attempts=attempts,
        )

    return along(
        values,
        lambda R: {
            name: scaled(problem.best(points, R), 1.0) + noise for name, points in begun.items()
        },
        problem.lead,
        problem.attempt,
        grade,
        zero=np.zeros(problem.size),
    )


def _nuclear(data: AttentionData) -> NuclearAnswer | None:
    W = separating_matrix(data)
    if W is None:
        return None
    try:
        return solve_nuclear(att_svm_programme(data), start=W)
    except SolverError:
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Factored(Problem):
    """The problem in coordinates y of K (p, r) and Q (q, r), in the bases `left` and `right`."""

    data: AttentionData
    objective: GapObjective
    D: Float[Array, "m p"]
    Z: Float[Array, "m q"]
    left: Float[Array, "d p"]
    right: Float[Array, "e q"]
    inner: int

    @classmethod
    def of(cls, data: AttentionData, objective: GapObjective, inner: int) -> Factored:
        """Return the problem of an objective with `inner` columns of K and Q at most."""
        D, Z = differences(data, objective)
        left, right = np.linalg.qr(D.T)[0], np.linalg.qr(Z.T)[0]
        inner = min(inner, left.shape[1], right.shape[1])
        return cls(data, objective, D @ left, Z @ right, left, right, inner)

    def reach(self, R: float) -> float:
        """Return the norm of balanced factors whose product has nuclear norm R."""
        return math.sqrt(2.0 * R)

    @property
    def size(self) -> int:
        """Number of entries of K and Q."""
        return int(self.D.shape[1] + self.Z.shape[1]) * self.inner

    @property
    def steepest(self) -> float:
        """Upper bound of the change of a margin by a W of norm 1: the largest ||A_j||_F."""
        sizes = np.linalg.norm(self.D, axis=1) * np.linalg.norm(self.Z, axis=1)
        return float(sizes.max(initial=0.0))

    def parts(self, y: Array) -> tuple[Array, Array]:
        """Return K and Q in short coordinates."""
        cut = self.D.shape[1] * self.inner
        return y[:cut].reshape(-1, self.inner), y[cut:].reshape(-1, self.inner)

    def factor(self, W: Array) -> Array:
        """Return the balanced factors of W, cut to the largest `inner` singular values."""
        U, sizes, Vt = np.linalg.svd(self.left.T @ W @ self.right, full_matrices=False)
        roots = np.sqrt(sizes[: self.inner])
        K, Q = U[:, : self.inner] * roots, Vt[: self.inner].T * roots
        return np.concatenate([K.ravel(), Q.ravel()])

    def margins(self, y: Array) -> Array:
        """Return the margins m_j = D_j^T K Q^T z_j."""
        K, Q = self.parts(y)
        margins: Array = ((self.D @ K) * (self.Z @ Q)).sum(axis=1)
        return margins

    def short_negative_gradient(self, y: Array) -> Array:
        """Return -grad L(K Q^T) in short coordinates."""
        K, Q = self.parts(y)
        result: Array = (
            self.left.T @ self.negative_gradient(self.left @ K @ Q.T @ self.right.T) @ self.right
        )
        return result

    def residual(self, y: Array, R: float) -> float:
        """Return the first-order residual of the factors; see `stationarity`."""
        G, (K, Q) = self.short_negative_gradient(y), self.parts(y)
        negative = np.concatenate([(G @ Q).ravel(), (G.T @ K).ravel()])
        return stationarity(y, negative, self.reach(R), self.reach(R))

    def _jet(self, gap: GapObjective | LocalGap, y: Array) -> Jet:
        """Return the gap with gradient and Hessian in y."""
        K, Q = self.parts(y)
        keys, queries = self.D @ K, self.Z @ Q
        result = gap.jet((keys * queries).sum(axis=1))
        m, r = len(self.D), self.inner
        J = np.hstack(
            [
                (self.D[:, :, None] * queries[:, None, :]).reshape(m, -1),
                (self.Z[:, :, None] * keys[:, None, :]).reshape(m, -1),
            ]
        )
        in_w = (self.D * result.gradient[:, None]).T @ self.Z
        hessian = J.T @ result.hessian @ J
        cut = self.D.shape[1] * r
        cross = (in_w[:, None, :, None] * np.eye(r)[:, None, :]).reshape(cut, -1)
        hessian[:cut, cut:] += cross
        hessian[cut:, :cut] += cross.T
        return Jet(result.value, J.T @ result.gradient, hessian)

    def descend(self, gap: GapObjective | LocalGap, y: Array, R: float) -> Array:
        """Return the result of descents from y, also into directions outside the rank of W."""

        def value(y: Array) -> float:
            return gap.value(self.margins(y))

        def jet(y: Array) -> Jet:
            return self._jet(gap, y)

        y = minimise_on_ball(jet, value, y, self.reach(R))
        for _ in range(_LIFTS):
            lifted = self.lift(gap, y)
            if lifted is None:
                break
            after = minimise_on_ball(jet, value, scaled(lifted, self.reach(R)), self.reach(R))
            if not value(after) < value(y):
                break
            y = after
        return y

    def lift(self, gap: GapObjective | LocalGap, y: Array) -> Array | None:
        """Return factors whose weakest column is replaced by the steepest direction of rank one.

        None if W meets the first-order condition of the nuclear ball, or if no column is weak.
        """
        K, Q = self.parts(y)
        result = gap.jet(self.margins(y))
        negative = -(self.D * result.gradient[:, None]).T @ self.Z
        U, sizes, Vt = np.linalg.svd(negative, full_matrices=False)
        whole = 0.5 * float(y @ y)
        if not (negative * (K @ Q.T)).sum() < sizes[0] * whole * (1.0 - 1e-9):
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
