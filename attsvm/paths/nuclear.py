"""The regularisation path of (K, Q): minimisers over balls of ||K||_F^2 + ||Q||_F^2."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import DataError, SolverError
from attsvm.losses import Loss
from attsvm.paths.ball import minimise_on_ball
from attsvm.paths.frobenius import continued, scaled, separating_matrix, starting_points
from attsvm.paths.grades import Attempt, ensure_radii, lower_bound, on_sphere, stationarity
from attsvm.paths.objective import GapObjective, Jet, differences
from attsvm.risk import descent_direction
from attsvm.svm.nuclear import NuclearAnswer, distance, solve_nuclear
from attsvm.svm.programme import att_svm_programme

__all__ = ["FactorMinimum", "path_kq"]

_LIFTS = 3


@dataclass(frozen=True, slots=True, eq=False)
class FactorMinimum:
    """The best point found of min L(K Q^T) over ||K||_F^2 + ||Q||_F^2 <= 2 radius (tf, theorem 3).

    Attributes:
        radius: R, which bounds ||K Q^T||_*.
        K, Q: the point, of the inner dimension asked for.
        log_gap: log(L - L_*) there.
        log_lower: no W with ||W||_* <= R has a smaller one, whatever its rank, up to rounding.
        residual: first-order residual in (K, Q): -grad_K = mu K and -grad_Q = mu Q, mu >= 0.
        excess_of_operator: 1 - <G, W> / (||G||_op R) with G = -grad L(W): 0 where W meets the
            first-order condition of the nuclear ball, which a small inner dimension may forbid;
            NaN where G is zero.
        inside: whether the constraint is not active.
        distance: bounds of the Frobenius distance of W / R to the solutions of Att-SVM* divided by
            their nuclear norm; NaN where there is none, or R = 0.
        attempts: where each start led.
    """

    radius: float
    K: Float[Array, "d r"]
    Q: Float[Array, "d r"]
    log_gap: float
    log_lower: float
    residual: float
    excess_of_operator: float
    inside: bool
    distance: tuple[float, float]
    attempts: tuple[Attempt, ...]

    @property
    def W(self) -> Float[Array, "d d"]:
        """K Q^T."""
        W: Array = self.K @ self.Q.T
        return W

    @property
    def gap(self) -> float:
        """L - L_*; 0 where it underflows."""
        return math.exp(self.log_gap)

    @property
    def excess(self) -> float:
        """How far log(L - L_*) may lie above its least value on the nuclear ball, at most."""
        return self.log_gap - self.log_lower

    @property
    def agreeing(self) -> int:
        """How many starts led to this value."""
        return sum(a.agrees(self.log_gap) for a in self.attempts)

    @property
    def spread(self) -> float:
        """Distance of the worst value that a start led to."""
        return max(a.value for a in self.attempts) - self.log_gap


def path_kq(
    data: AttentionData,
    loss: Loss,
    radii: object,
    *,
    inner: int | None = None,
    starts: Sequence[object] = ("svm", "gradient", "random", "random"),
    seed: int = 0,
) -> tuple[FactorMinimum, ...]:
    """Minimise L(K Q^T) over ||K||_F^2 + ||Q||_F^2 <= 2R for increasing R (tf, theorem 3).

    Args:
        data: tokens, queries and scores.
        loss: a decreasing loss.
        radii: increasing, 0 allowed.
        inner: columns of K and Q, d where left out; from the rank of W on it does not matter.
        starts: as in `path_w`, matrices W that are factored at their singular values and cut to
            the inner dimension; `svm` is along a solution of Att-SVM*.
        seed: of the random starts, and of a small part that keeps unused columns off zero.

    Raises:
        DataError: as `path_w`, or an inner dimension below 1.
    """
    inner = data.d if inner is None else inner
    if inner < 1:
        raise DataError("the inner dimension is below 1", value=inner, remedy="Use 1 or more.")
    values, objective = ensure_radii("radii", radii), GapObjective.of(data, loss)
    D, Z = differences(data, objective)
    solution = _nuclear(data)
    svm = None if solution is None else solution.W
    fresh = starting_points(data, loss, starts, seed, svm)
    problem = _Factored.of(objective, D, Z, inner)
    generator = np.random.default_rng(seed)
    noise = 1e-3 * generator.normal(size=problem.size) / math.sqrt(problem.size)
    found, followed = [], dict[str, Array]()
    begun = {name: [problem.factor(W) for W in points] for name, points in fresh.items()}
    for R in values:
        if R == 0.0:
            zero = np.zeros(problem.size)
            found.append(_grade(data, problem, zero, R, solution, (), inner))
            continue
        first = {name: problem.best(points, R) + noise for name, points in begun.items()}
        branches = {name: problem.descend(y, R) for name, y in (first | followed).items()}
        ends = tuple(_attempt(data, problem, name, y, R) for name, y in branches.items())
        best = min(ends, key=lambda a: a.value).start
        followed, y = continued(branches, best), branches[best]
        found.append(_grade(data, problem, y, R, solution, ends, inner))
    return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class _Factored:
    """The problem in short coordinates: y stacks K (p, r) and Q (q, r)."""

    objective: GapObjective
    D: Array
    Z: Array
    left: Array
    right: Array
    inner: int

    @classmethod
    def of(cls, objective: GapObjective, D: Array, Z: Array, inner: int) -> _Factored:
        left, right = np.linalg.qr(D.T)[0], np.linalg.qr(Z.T)[0]
        inner = min(inner, left.shape[1], right.shape[1])
        return cls(objective, D @ left, Z @ right, left, right, inner)

    @property
    def size(self) -> int:
        """Number of entries of K and Q."""
        return int(self.D.shape[1] + self.Z.shape[1]) * self.inner

    def parts(self, y: Array) -> tuple[Array, Array]:
        cut = self.D.shape[1] * self.inner
        return y[:cut].reshape(-1, self.inner), y[cut:].reshape(-1, self.inner)

    def factor(self, W: Array) -> Array:
        """Balanced factors of the leading singular values."""
        U, sizes, Vt = np.linalg.svd(self.left.T @ W @ self.right, full_matrices=False)
        roots = np.sqrt(sizes[: self.inner])
        K, Q = U[:, : self.inner] * roots, Vt[: self.inner].T * roots
        return np.concatenate([K.ravel(), Q.ravel()])

    def margins(self, y: Array) -> Array:
        K, Q = self.parts(y)
        margins: Array = ((self.D @ K) * (self.Z @ Q)).sum(axis=1)
        return margins

    def value(self, y: Array) -> float:
        """log(L - L_*)."""
        return self.objective.value(self.margins(y))

    def best(self, points: Sequence[Array], radius: float) -> Array:
        """The unit vector of least value at that radius."""
        reach = math.sqrt(2.0 * radius)
        return scaled(min(points, key=lambda y: self.value(scaled(y, reach))), 1.0)

    def jet(self, y: Array) -> Jet:
        K, Q = self.parts(y)
        keys, queries = self.D @ K, self.Z @ Q
        found = self.objective.jet((keys * queries).sum(axis=1))
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
        y = minimise_on_ball(self.jet, self.value, scaled(y, reach), reach)
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
        found = self.objective.jet(self.margins(y))
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


def _nuclear(data: AttentionData) -> NuclearAnswer | None:
    W = separating_matrix(data)
    if W is None:
        return None
    try:
        return solve_nuclear(att_svm_programme(data), start=W)
    except SolverError:
        return None


def _attempt(
    data: AttentionData, problem: _Factored, name: str, y: Array, radius: float
) -> Attempt:
    return Attempt(name, problem.value(y), _residual(data, problem, y, radius))


def _pull(data: AttentionData, problem: _Factored, y: Array) -> tuple[Array, float]:
    """-grad L(W) in short coordinates, and the log of its scale."""
    K, Q = problem.parts(y)
    W = problem.left @ K @ Q.T @ problem.right.T
    loss = problem.objective.loss
    found = descent_direction(data.X, data.Z, data.gamma, W, loss, data.mask)
    return problem.left.T @ found.matrix @ problem.right, float(found.log_scale)


def _residual(data: AttentionData, problem: _Factored, y: Array, radius: float) -> float:
    G, log_scale = _pull(data, problem, y)
    K, Q = problem.parts(y)
    pull = np.concatenate([(G @ Q).ravel(), (G.T @ K).ravel()])
    norms = np.linalg.norm(problem.D, axis=1) * np.linalg.norm(problem.Z, axis=1)
    unit = float(norms.max()) * math.sqrt(2.0 * radius)
    size = log_scale - problem.value(y)
    return stationarity(y, pull, size, math.sqrt(2.0 * radius), unit)


def _grade(
    data: AttentionData,
    problem: _Factored,
    y: Array,
    radius: float,
    solution: NuclearAnswer | None,
    attempts: tuple[Attempt, ...],
    inner: int,
) -> FactorMinimum:
    own = _attempt(data, problem, "zero", y, radius)
    K, Q = problem.parts(y)
    G, _ = _pull(data, problem, y)
    largest = float(np.linalg.norm(G, 2))
    aligned = float((G * (K @ Q.T)).sum())
    off = 1.0 - aligned / (largest * radius) if largest * radius > 0.0 else math.nan
    wide = [np.zeros((len(G), inner)) for G in (problem.left, problem.right)]
    wide[0][:, : problem.inner] = problem.left @ K
    wide[1][:, : problem.inner] = problem.right @ Q
    away = (math.nan, math.nan)
    if solution is not None and radius > 0.0:
        low, high = distance(solution, wide[0] @ wide[1].T * (solution.value / radius))
        away = (low / solution.value, high / solution.value)
    margins = problem.margins(y)
    return FactorMinimum(
        radius=radius,
        K=wide[0],
        Q=wide[1],
        log_gap=own.value,
        log_lower=lower_bound(
            problem.objective, problem.D, problem.Z, margins, radius, nuclear=True
        ),
        residual=own.residual,
        excess_of_operator=off,
        inside=not on_sphere(y, math.sqrt(2.0 * radius)),
        distance=away,
        attempts=attempts or (own,),
    )
