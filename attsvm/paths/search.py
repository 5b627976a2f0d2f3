"""The common part of all paths: starts, and results that are continued from radius to radius."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import TypeVar

import numpy as np

from attsvm._types import Array
from attsvm._validate import ensure_array
from attsvm._words import counted
from attsvm.data import AttentionData
from attsvm.errors import DataError, SolverError
from attsvm.losses import Loss
from attsvm.paths.grades import Attempt
from attsvm.paths.local import LocalGap, local_value, settled
from attsvm.paths.objective import GapObjective
from attsvm.risk import normalised_gradient
from attsvm.svm import att_svm

_DRAWS = 32
"""Number of Gaussian directions of a `random` start, of which the best one is used."""

Point = TypeVar("Point")
Radius = TypeVar("Radius")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Best(ABC):
    """The best result of several starts, with the results of all of them (`attempts`)."""

    attempts: tuple[Attempt, ...]

    @abstractmethod
    def row(self) -> tuple[dict[str, float], dict[str, float]]:
        """Return the radius or radii by name, and the figures that a plot shows against them."""

    @property
    def agreeing(self) -> int:
        """The number of starts that led to this value."""
        best = min(a.value for a in self.attempts)
        return sum(a.agrees(best) for a in self.attempts)

    @property
    def spread(self) -> float:
        """Difference of the worst and the best value that starts led to."""
        values = [a.value for a in self.attempts]
        return max(values) - min(values)

    def _figures(self) -> dict[str, str]:
        """Return the fields as text, arrays by their shapes, and the number of agreeing starts."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "attempts"}
        shown = {
            name: f"of shape {value.shape}"
            if isinstance(value, np.ndarray)
            else f"{value:.6g}"
            if isinstance(value, float)
            else str(value)
            for name, value in values.items()
        }
        return shown | {"starts": f"{self.agreeing} of {len(self.attempts)} agree"}

    def __repr__(self) -> str:
        lines = ", ".join(f"{name} {figure:.60}" for name, figure in self._figures().items())
        return f"<{type(self).__name__}: {lines}>"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Gap(Best):
    """A minimum over a ball of the gap to the optimal risk.

    Attributes:
        radius: R.
        log_gap: log(L - L_*) at the point, where L_* is the risk of the optimal tokens.
        log_lower: a lower bound of log(L - L_*) on the ball, up to rounding; -inf if none is known.
        residual: first-order residual of the point; see `stationarity`.
        inside: whether the norm is below the radius.
    """

    radius: float
    log_gap: float
    log_lower: float
    residual: float
    inside: bool

    @property
    def gap(self) -> float:
        """L - L_*; 0 if it underflows."""
        return math.exp(self.log_gap)

    @property
    def excess(self) -> float:
        """An upper bound of how far log(L - L_*) lies above its least value on the ball."""
        return self.log_gap - self.log_lower


Minimum = TypeVar("Minimum", bound=Best)


class RegularisationPath(tuple[Minimum, ...]):
    """The minima by radius: a tuple whose `repr` shows the figures of both ends."""

    __slots__ = ()

    def __repr__(self) -> str:
        ends = [
            ", ".join(
                f"{name} {value:.4g}" for part in minimum.row() for name, value in part.items()
            )
            for minimum in (*self[:1], *self[1:][-1:])
        ]
        return f"<RegularisationPath of {counted(len(self), 'point')}: {' to '.join(ends)}>"


class Problem(ABC):
    """The problem min log(L - L_*) over a ball, in coordinates x with the norm of the ball."""

    data: AttentionData
    objective: GapObjective

    @abstractmethod
    def reach(self, R: float) -> float:
        """Return the Euclidean norm of x on the sphere of radius R."""

    @abstractmethod
    def margins(self, x: Array) -> Array:
        """Return the margins m_j = D_j^T W z_j."""

    @abstractmethod
    def residual(self, x: Array, R: float) -> float:
        """Return the first-order residual at x; see `stationarity`."""

    @abstractmethod
    def descend(self, gap: GapObjective | LocalGap, x: Array, R: float) -> Array:
        """Return the result of Newton steps from x on a gap."""

    def graded(self, x: Array) -> Array:
        """Return the margins of the point as returned to the user, after rounding."""
        return self.margins(x)

    def negative_gradient(self, W: Array) -> Array:
        """Return -grad L(W), scaled so that its largest term has size 1."""
        data = self.data
        loss = self.objective.loss
        return normalised_gradient(data.X, data.Z, data.gamma, W, loss, data.mask).matrix

    def best(self, points: Iterable[Array], R: float) -> Array:
        """Return the point whose multiple on the sphere of radius R has the least risk."""
        reach = self.reach(R)
        return min(points, key=lambda x: self.objective.value(self.margins(scaled(x, reach))))

    def lead(self, x: Array, R: float) -> Array:
        """Return the result of descents from x, scaled to the sphere of radius R."""
        return settled(
            self.objective,
            scaled(x, self.reach(R)),
            self.margins,
            lambda gap, x: self.descend(gap, x, R),
            lambda x: self.residual(x, R),
        )

    def attempt(self, name: str, x: Array, R: float) -> Attempt:
        """Return the record of the point x to which the start `name` led."""
        margins = self.graded(x)
        local = local_value(self.objective, margins)
        return Attempt(name, self.objective.value(margins), self.residual(x, R), local)


def along(
    radii: Iterable[Radius],
    fresh: Callable[[Radius], dict[str, Point]],
    lead: Callable[[Point, Radius], Point],
    attempt: Callable[[str, Point, Radius], Attempt],
    grade: Callable[[Point, Radius, tuple[Attempt, ...]], Minimum],
    zero: Point | None = None,
) -> RegularisationPath[Minimum]:
    """Return the best result at each radius, from fresh starts and from results at the last radius.

    Args:
        radii: the radii, or other parameters of the problems, in order.
        fresh: returns the starts at a radius by name.
        lead: returns the point to which a start leads.
        attempt: returns the record of such a point; the least `value` is the best.
        grade: returns the result of a radius from its best point and all records.
        zero: the point at radius 0, which is then not searched for; None for no such point.
    """
    results = []
    followed: dict[str, Point] = {}
    for R in radii:
        if zero is not None and R == 0.0:
            results.append(grade(zero, R, (attempt("zero", zero, R),)))
            continue
        branches = {name: lead(x, R) for name, x in (fresh(R) | followed).items()}
        ends = tuple(attempt(name, x, R) for name, x in branches.items())
        best = min(ends, key=lambda a: a.value).start
        own = {f"{name}, followed": y for name, y in branches.items() if "," not in name}
        left = {} if f"{best}, followed" in own else {"best, followed": branches[best]}
        followed = own | left
        results.append(grade(branches[best], R, ends))
    return RegularisationPath(results)


def starting_points(
    data: AttentionData, loss: Loss, starts: Sequence[object], seed: int, svm: Array | None
) -> dict[str, Array]:
    """Return stacks of matrices by name; the best matrix of each stack is used.

    Raises:
        DataError: a name is unknown, or all starts are 0 or do not exist.
    """
    generator = np.random.default_rng(seed)
    points: dict[str, Array] = {}
    for k, start in enumerate(starts):
        if not isinstance(start, str):
            values = ensure_array(f"starts[{k}]", start, ("d", "d"), {"d": data.d})
            points[f"given {k}"] = values[None]
        elif start == "svm":
            if svm is not None:
                points["svm"] = svm[None]
        elif start == "gradient":
            zero = np.zeros((data.d, data.d))
            direction = normalised_gradient(data.X, data.Z, data.gamma, zero, loss, data.mask)
            points["gradient"] = direction.matrix[None]
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


def scaled(y: Array, radius: float) -> Array:
    """Return y scaled to norm `radius`; 0 stays 0."""
    size = float(np.linalg.norm(y))
    return y * (radius / size) if size > 0.0 else y


def separating_matrix(data: AttentionData) -> Array | None:
    """Return W^mm; None if it does not exist or optimal tokens are tied."""
    try:
        answer = att_svm(data)
    except (DataError, SolverError):  # ties, or no answer with a proof
        return None
    return answer.W if answer.solved else None
