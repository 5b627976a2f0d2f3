"""Minimisers of the risk with a penalty at a given lambda, and bounds of their distance to W^mm.

With the risk gap r = L - L_*, W_lambda minimises F(W) = r(W) + lambda ||W||_F^2 / 2, and (K_lambda,
Q_lambda) minimises r(K Q^T) + lambda R, R = (||K||_F^2 + ||Q||_F^2) / 2. Each minimises r over the
ball of its own norm, at which -grad r is lambda W, or has the operator norm lambda. So floats
follow the regularisation path to the radius R with this multiplier. Let F* be the value of F there.
Every minimiser has a penalty and an r of at most F*. So its norm is above any R_1 whose ball has a
lower bound of r above F*. Hence F is at least the penalty at R_1 everywhere; this bound has to be
within a tenth of F*.

In balls no minimiser is computed. Let F* be the value of F at rho W^mm, rho = ln(1/lambda), and R_2
the norm whose penalty is F*. A minimiser has a norm of at most R_2 and a risk gap of at most F*. So
`properties.tf._support.path_certificates` bounds its margins from below by some m: the cosine of
its angle to W^mm is at least m ||W^mm|| / R_2. As lambda falls it tends to 1 like 1 - 2 ln
ln(1/lambda) / ln(1/lambda). For (K_lambda, Q_lambda) the argument is the same with R at most R_2 =
F*/lambda, where F* is the value at rho V for a V that is nearly a nuclear-norm solution.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeVar

import numpy as np
from flint import arb, fmpq
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import DataError, present
from attsvm.exact.numbers import Matrix, remembered
from attsvm.losses import LOSSES
from attsvm.paths import path_kq, path_w
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.primitives.descent_runs import max_margin
from attsvm.primitives.loss_hypotheses import sloped
from attsvm.primitives.steps import TARGET, ZERO, along, solutions, tends
from attsvm.risk import normalised_gradient
from attsvm.theory import Slack
from properties.tf._support import path_certificates as certificates
from properties.tf._support import path_letters
from properties.tf._support import regularisation_paths as paths

DECAYS = (1.0, 2.0, 0.5)
"""Sizes of ln(1/lambda), in the unit that `exponents` explains."""

TURNS, NEAR, LOOSE = 8, 1e-3, 0.1
"""Maximum number of corrections of a radius, tolerance of ln lambda, and maximum excess of ln F
over its least value."""


@dataclass(frozen=True, slots=True)
class Path(paths.Path):
    """A data set, a loss, and the size of lambda: see `exponents`.

    Raises:
        DataError: lambda is too large for floats to decide the limit.
    """

    decay: float = 1.0

    def __post_init__(self) -> None:
        if not min(DECAYS) <= self.decay < math.inf:
            raise DataError("lambda of a path is not small, or not above 0", value=self.decay)


def penalised(case: paths.Path, decay: float = 1.0) -> Path:
    """Return the path with its values of lambda."""
    return Path(case.data, case.loss, decay)


def drawn(cases: st.SearchStrategy[paths.Path]) -> st.SearchStrategy[Path]:
    """Return a strategy of these paths with values of lambda."""
    return st.builds(penalised, cases, st.sampled_from(DECAYS))


def larger(generator: np.random.Generator) -> Path:
    """Return a larger path with values of lambda."""
    return penalised(paths.protocol(generator), float(generator.choice(DECAYS)))


def exponents(case: Path) -> list[float]:
    """Return ln(1/lambda) for the two values of lambda: 1e3 and 1e4 times the decay.

    Like radii in `regularisation_paths.follows`, they grow if parts of the risk outweigh others.
    """
    unit = case.decay * paths.late(case)
    return [1e3 * unit, 1e4 * unit]


class Found(Protocol):
    """A minimiser over a ball, with its values."""

    @property
    def radius(self) -> float:
        """The radius of the ball."""

    @property
    def log_gap(self) -> float:
        """The value of ln r at the point."""

    @property
    def log_lower(self) -> float:
        """A lower bound of ln r on the ball."""

    @property
    def W(self) -> Array:
        """The point."""


Point = TypeVar("Point", bound=Found)
Find = Callable[[float, tuple[object, ...]], Point]
"""A function that minimises over the ball of a radius, from given starts."""


def stationary(case: Path, find: Find[Point], size: float, power: int, k: float) -> Point | None:
    """Return the minimiser over a ball whose multiplier is exp(-k); None if none is found.

    Args:
        case: the path.
        find: minimises over a ball.
        size: the least norm with margins of 1; ln r falls like the radius over it.
        power: 2 for the penalty R^2 / 2 of the Frobenius norm, 1 for R of the nuclear norm.
        k: ln(1/lambda).
    """
    data, radius = case.data, size * k
    starts: tuple[object, ...] = paths.STARTS
    for _ in range(TURNS):
        point = find(radius, starts)
        gradient = normalised_gradient(
            data.X, data.Z, data.gamma, point.W, LOSSES[case.loss], data.mask
        )
        slope = float(np.linalg.norm(gradient.matrix, "fro" if power == 2 else 2))
        if not slope > 0.0:
            return None
        steepest = float(gradient.log_scale) + math.log(slope)
        off = steepest - (power - 1) * math.log(radius) + k
        if abs(off) <= NEAR:
            return point
        starts = (point.W,)
        radius += off / (math.exp(steepest - point.log_gap) + (power - 1) / radius)
        if not radius > 0.0:
            return None
    return None


def at_each_lambda(case: Path, find: Find[Point], size: float, power: int) -> list[Point] | None:
    """Return minimisers for both lambda, by `stationary`; None if one is uncertain."""
    points = []
    for k in exponents(case):
        point = stationary(case, find, size, power, k)
        if point is None or (sloped(case) and not _is_least(point, find, size, k, power)):
            return None
        points.append(point)
    return points


def _is_least(point: Point, find: Find[Point], size: float, k: float, power: int) -> bool:
    """Return whether the objective is proved to be within a tenth of its least value."""

    def penalty(radius: float) -> float:
        return power * math.log(radius) - math.log(power) - k

    value = float(np.logaddexp(point.log_gap, penalty(point.radius)))
    least = point.radius - size * (value - point.log_gap + 1.0)
    if not 0.0 < least < point.radius:
        return False
    return find(least, (point.W,)).log_lower > value and value - penalty(least) <= LOOSE


def follows(case: Path, towards: str = "optimal") -> Slack:
    """Return the slack of "W_lambda / ||W_lambda|| tends to the target", from two lambda.

    The slack is that of `regularisation_paths.ray_slack`.
    """
    target = max_margin(case.data, towards)
    if target is None or not any(x != 0 for row in target for x in row):
        return Slack(-1.0, 0.0)
    if case.loss == paths.FLAT_FROM_ONE:
        return paths.UNFOLLOWED

    minima = minimisers(case.data, case.loss, case.decay, 2)
    return paths.UNSURE if minima is None else paths.ray_slack(case, minima, target)


def follows_set(case: Path, target: str = "solutions", share: int | Fraction = 1) -> Slack:
    """Return the slack of `follows` for K_lambda Q_lambda^T / R_lambda and a set of targets.

    The targets are those of `regularisation_paths.follows_set`.
    """
    both = functools.partial(minimisers, case.data, case.loss, case.decay, 1)
    return paths.set_slack(case, both, target, share)


@remembered
def minimisers(data: AttentionData, loss: str, decay: float, power: int) -> list[Any] | None:
    """Return minimisers for both lambda over W (power 2) or (K, Q) (power 1), or None."""
    case = Path(data, loss, decay)
    path: Any = path_w if power == 2 else path_kq
    size = paths.length(case) if power == 2 else paths.nuclear(data).value

    def find(radius: float, starts: tuple[object, ...]) -> Any:
        return path(data, LOSSES[loss], [radius], starts=starts)[0]

    return at_each_lambda(case, find, size, power)


def certified_direction(case: Path, towards: str = "optimal") -> arb | None:
    """Return a negative number if the limit has another direction, else a rate of the angle.

    Every W_lambda lies within a proved angle of W^mm, for both lambda. The result is the squared
    sine allowed at the smaller lambda, minus the proved one (`falls`).
    """
    wrong = certificates.misses_direction(case, towards)
    if wrong is not None or towards != "optimal" or not certificates.bounded(case):
        return wrong
    return certificates.falls(lambda k: squared_sine(case, k), exponents(case))


def certified_set(case: Path, target: str = "solutions", share: int | Fraction = 1) -> arb | None:
    """Return a negative number if limits lie outside the target, else a rate of the distance.

    The rate is known if the solution is provably one point, of any rank.
    """
    wrong = certificates.misses_set(case, target, share)
    if wrong is not None or target != "solutions" or not certificates.bounded(case):
        return wrong
    return certificates.falls(lambda k: squared_distance(case, k), exponents(case))


def squared_sine(case: Path, k: fmpq) -> arb:
    """Return a bound of the squared sine of the angle of W_lambda and W^mm for lambda = exp(-k).

    The bound is 1 if no margin is proved.
    """
    solved = present(exact_att_svm(case.data), "the answer")
    value, margin = _value_and_margin(case, k, solved.W, arb(k * k * solved.square / 2))
    return arb(1) if margin is None else 1 - margin * margin * solved.square / (2 * value)


def squared_distance(case: Path, k: fmpq) -> arb:
    """Return a bound of dist(K_lambda Q_lambda^T/R_lambda, W_*^mm/C_*)^2 for lambda = exp(-k).

    The bound is at most 4, which always holds.
    """
    return certificates.squared_distance(
        case, lambda V, size: _value_and_margin(case, k, V, k * size)
    )


def _value_and_margin(case: Path, k: fmpq, V: Matrix, penalty: arb) -> tuple[arb, arb | None]:
    """Return F*/lambda, for F* at the feasible k V, and a bound of a minimiser's margins.

    The argument `penalty` is the penalty of k V over lambda. The bound is None if none is proved.
    """
    value = certificates.risk_gap_at(case, k, V) * arb(k).exp() + penalty
    return value, certificates.least_margin(case, value * arb(-k).exp())


W_LAMBDA = r"W_{\lambda}"
DIRECTION = tends(
    "$formula as lambda falls to 0",
    along(W_LAMBDA),
    along(TARGET),
    floats=follows,
    balls=certified_direction,
    checked=certificates.checked,
    proposition=path_letters.turns,
    symbols=solutions("W"),
    where="W_lambda is a minimiser of L(W) + (lambda/2) ||W||^2",
)
SET = tends(
    "$formula as lambda falls to 0",
    r"\mathrm{dist}\left(\frac{K_{\lambda} Q_{\lambda}^{\top}}{R}, $share $target\right)",
    ZERO,
    floats=follows_set,
    balls=certified_set,
    checked=functools.partial(certificates.checked, factors=True),
    proposition=path_letters.factors_turn,
    symbols={"target": certificates.TARGETS},
    where="(K_lambda, Q_lambda) in R^{d x d} is a minimiser of L(K Q^T) + (lambda/2) (||K||^2 + "
    "||Q||^2), R is half of that sum of squares, W_*^mm are the matrices of least nuclear "
    "norm, C_*, that meet the constraints of the Att-SVM, and dist is the Frobenius distance",
)
