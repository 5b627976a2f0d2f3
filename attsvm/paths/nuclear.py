"""The regularisation path of (K, Q): minimisers over balls of ||K||_F^2 + ||Q||_F^2."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import DataError, SolverError
from attsvm.losses import Loss
from attsvm.paths.factors import Factored
from attsvm.paths.frobenius import continued, scaled, separating_matrix, starting_points
from attsvm.paths.grades import Attempt, ensure_radii, lower_bound, on_sphere, stationarity
from attsvm.paths.local import local_value, settled
from attsvm.paths.objective import GapObjective, differences
from attsvm.risk import descent_direction
from attsvm.svm.nuclear import NuclearAnswer, distance, solve_nuclear
from attsvm.svm.programme import att_svm_programme

__all__ = ["FactorMinimum", "path_kq"]


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
    problem = Factored.of(objective, D, Z, inner)
    generator = np.random.default_rng(seed)
    noise = 1e-3 * generator.normal(size=problem.size) / math.sqrt(problem.size)
    found, followed = [], dict[str, Array]()

    def lead(y: Array, R: float) -> Array:
        return settled(
            objective,
            scaled(y, math.sqrt(2.0 * R)),
            problem.margins,
            lambda gap, y: replace(problem, gap=gap).descend(y, R),
            lambda y: _residual(data, problem, y, R),
        )

    begun = {name: [problem.factor(W) for W in points] for name, points in fresh.items()}
    for R in values:
        if R == 0.0:
            zero = np.zeros(problem.size)
            found.append(_grade(data, problem, zero, R, solution, (), inner))
            continue
        first = {name: problem.best(points, R) + noise for name, points in begun.items()}
        branches = {name: lead(y, R) for name, y in (first | followed).items()}
        ends = tuple(_attempt(data, problem, name, y, R) for name, y in branches.items())
        best = min(ends, key=lambda a: a.value).start
        followed, y = continued(branches, best), branches[best]
        found.append(_grade(data, problem, y, R, solution, ends, inner))
    return tuple(found)


def _nuclear(data: AttentionData) -> NuclearAnswer | None:
    W = separating_matrix(data)
    if W is None:
        return None
    try:
        return solve_nuclear(att_svm_programme(data), start=W)
    except SolverError:
        return None


def _attempt(data: AttentionData, problem: Factored, name: str, y: Array, radius: float) -> Attempt:
    local = local_value(problem.objective, problem.margins(y))
    return Attempt(name, problem.value(y), _residual(data, problem, y, radius), local)


def _pull(data: AttentionData, problem: Factored, y: Array) -> Array:
    """-grad L(W) in short coordinates, its largest term of size 1."""
    K, Q = problem.parts(y)
    W = problem.left @ K @ Q.T @ problem.right.T
    found = descent_direction(data.X, data.Z, data.gamma, W, problem.objective.loss, data.mask)
    pull: Array = problem.left.T @ found.matrix @ problem.right
    return pull


def _residual(data: AttentionData, problem: Factored, y: Array, radius: float) -> float:
    G, reach = _pull(data, problem, y), math.sqrt(2.0 * radius)
    K, Q = problem.parts(y)
    pull = np.concatenate([(G @ Q).ravel(), (G.T @ K).ravel()])
    return stationarity(y, pull, 0.0, reach, reach)


def _grade(
    data: AttentionData,
    problem: Factored,
    y: Array,
    radius: float,
    solution: NuclearAnswer | None,
    attempts: tuple[Attempt, ...],
    inner: int,
) -> FactorMinimum:
    own = _attempt(data, problem, "zero", y, radius)
    K, Q = problem.parts(y)
    G = _pull(data, problem, y)
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
