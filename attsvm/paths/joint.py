"""The joint regularisation path: head v and prompt p in balls of their own (mm, theorem II)."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from attsvm._types import Array
from attsvm.attention import log_softmax_kernel
from attsvm.data import AttentionData
from attsvm.errors import AttsvmError, DataError
from attsvm.losses import Loss
from attsvm.paths.ball import minimise_on_ball
from attsvm.paths.drops import LOG_VALUES
from attsvm.paths.frobenius import continued, scaled
from attsvm.paths.grades import Attempt, angle_between, ensure_radii, stationarity
from attsvm.paths.objective import GapObjective, Jet, differences
from attsvm.risk import descent_direction
from attsvm.svm import joint_svm

__all__ = ["JointMinimum", "path_joint"]

_SWEEPS = 60


@dataclass(frozen=True, slots=True, eq=False)
class JointMinimum:
    """The best point found of min L(v, p) over ||v|| <= r and ||p|| <= R (mm, theorem II).

    Attributes:
        radii: (r, R).
        v, p: the point.
        log_risk: log L(v, p); the infimum of L over all v, p is at least 0.
        log_lower: no point of the balls has a smaller one: log l(r max_t ||x_it||) is the least
            that input i can contribute.
        residual_v, residual_p: first-order residuals of each ball.
        angle_v, angle_p: to the v-SVM and to the joint p-SVM for the tokens that p selects; NaN
            where they do not exist or a radius is 0.
        selected: the token of largest attention of each input.
        attempts: where each start led.
    """

    radii: tuple[float, float]
    v: Float[Array, " d"]
    p: Float[Array, " d"]
    log_risk: float
    log_lower: float
    residual_v: float
    residual_p: float
    angle_v: float
    angle_p: float
    selected: tuple[int, ...]
    attempts: tuple[Attempt, ...]

    @property
    def residual(self) -> float:
        """The larger of the two."""
        return max(self.residual_v, self.residual_p)

    @property
    def agreeing(self) -> int:
        """How many starts led to this value."""
        return sum(a.agrees(self.log_risk) for a in self.attempts)

    @property
    def spread(self) -> float:
        """Distance of the worst value that a start led to."""
        return max(a.value for a in self.attempts) - self.log_risk


def path_joint(
    data: AttentionData,
    loss: Loss,
    radii: object,
    *,
    starts: Sequence[object] = ("svm", "mean", "random", "random", "random"),
    seed: int = 0,
) -> tuple[JointMinimum, ...]:
    """Minimise L(v, p) over ||v|| <= r and ||p|| <= R, pair by pair (mm, theorem II).

    Head and prompt are minimised over in turn, each in the log domain: the head on log L, the
    prompt on log(L - L_*) for the scores of the head, so that neither underflows. A point that is
    first-order optimal in each ball is so in both, which the residuals say.

    Args:
        data: tokens and labels; queries and head play no part.
        loss: log-loss, logistic-loss or exponential.
        radii: pairs (r, R), each increasing, 0 allowed.
        starts: `svm` (v(alpha) and p(alpha) for the optimal tokens of the head that the data
            carry, where they exist), `mean` (p = 0, v along the sum of labelled tokens),
            `random`, or pairs (v, p).
        seed: of the random starts.

    Raises:
        DataError: data without labels, another loss, bad radii, or no start.
    """
    if data.y is None:
        raise DataError("the joint path needs labels", remedy="Give y and v instead of scores.")
    if not (
        isinstance(loss, Loss) and loss.name in LOG_VALUES and LOG_VALUES[loss.name][0] is loss
    ):
        raise DataError(
            "the joint path is for losses whose infimum is 0",
            value=loss,
            remedy=f"Use one of {', '.join(LOG_VALUES)}.",
        )
    pairs = _pairs(radii)
    begun = _starts(data, starts, seed)
    found: list[JointMinimum] = []
    followed: dict[str, tuple[Array, Array]] = {}
    for r, R in pairs:
        points = {}
        for name, (v, p) in (begun | followed).items():
            points[name] = _alternate(data, loss, scaled(v, r), scaled(p, R), r, R)
        ends = []
        for name, (v, p) in points.items():
            rest = _residuals(data, loss, v, p, r, R)
            ends.append(Attempt(name, _log_risk(data, loss, v, p), max(rest)))
        best = min(ends, key=lambda a: a.value).start
        v, p = points[best]
        found.append(_grade(data, loss, v, p, (r, R), tuple(ends)))
        followed = continued(points, best)
    return tuple(found)


def _pairs(radii: object) -> list[tuple[float, float]]:
    try:
        table = np.asarray(radii, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.zeros(0)
    if table.ndim != 2 or table.shape[1] != 2:
        raise DataError("radii must be pairs (r, R)", value=radii, remedy="Give a list of pairs.")
    of_v = ensure_radii("the radii of v", table[:, 0])
    return list(zip(of_v, ensure_radii("the radii of p", table[:, 1]), strict=True))


def _starts(
    data: AttentionData, starts: Sequence[object], seed: int
) -> dict[str, tuple[Array, Array]]:
    generator = np.random.default_rng(seed)
    assert data.y is not None
    points: dict[str, tuple[Array, Array]] = {}
    for k, start in enumerate(starts):
        if not isinstance(start, str):
            pair = np.asarray(start, dtype=np.float64)
            if pair.shape != (2, data.d) or not np.isfinite(pair).all():
                raise DataError(f"starts[{k}] must be a pair (v, p)", value=start)
            points[f"given {k}"] = pair[0], pair[1]
        elif start == "svm":
            with contextlib.suppress(AttsvmError):
                answer = joint_svm(data)
                if answer.p is not None and answer.solved:
                    points["svm"] = answer.v.vector, answer.p.vector
        elif start == "mean":
            weights = data.present / data.present.sum(axis=1, keepdims=True)
            v = np.einsum("n,nt,ntd->d", data.y, weights, data.X)
            points["mean"] = v, np.zeros(data.d)
        elif start == "random":
            points[f"random {k}"] = generator.normal(size=data.d), generator.normal(size=data.d)
        else:
            raise DataError(
                "a start of that name is not known",
                value=start,
                remedy="Use svm, mean, random or a pair (v, p).",
            )
    if not points:
        raise DataError("there is no start", value=starts, remedy="Add `random`.")
    return points


def _alternate(
    data: AttentionData, loss: Loss, v: Array, p: Array, r: float, R: float
) -> tuple[Array, Array]:
    """Head and prompt in turn until the risk falls no more and both residuals are small."""
    before = math.inf
    for _ in range(_SWEEPS):
        if r > 0.0:
            v = _best_head(data, loss, v, p, r)
        if R > 0.0:
            p = _best_prompt(data, loss, v, p, R)
        now = _log_risk(data, loss, v, p)
        still = before - now <= 1e-14 * max(1.0, abs(now))
        if max(_residuals(data, loss, v, p, r, R)) < 1e-12 or still:
            break
        before = now
    return v, p


def _attended(data: AttentionData, p: Array) -> Array:
    """y_i X_i^T softmax(X_i p)."""
    s = np.exp(log_softmax_kernel(data.X @ p, data.mask))
    assert data.y is not None
    rows: Array = data.y[:, None] * np.einsum("nt,ntd->nd", s, data.X)
    return rows


def _log_risk(data: AttentionData, loss: Loss, v: Array, p: Array) -> float:
    values = LOG_VALUES[loss.name][1](_attended(data, p) @ v)[0]
    top = float(values.max())
    return top + math.log(float(np.exp(values - top).mean()))


def _head_jet(rows: Array, loss: Loss, v: Array) -> Jet:
    values, slope, curved = LOG_VALUES[loss.name][1](rows @ v)
    top = float(values.max())
    share = np.exp(values - top)
    total = top + math.log(float(share.mean()))
    share = share / share.sum()
    g = rows.T @ (share * slope)
    H = (rows * (share * (curved + slope**2))[:, None]).T @ rows - np.outer(g, g)
    return Jet(total, g, H)


def _best_head(data: AttentionData, loss: Loss, v: Array, p: Array, r: float) -> Array:
    rows = _attended(data, p)
    return minimise_on_ball(
        lambda u: _head_jet(rows, loss, u), lambda u: _head_jet(rows, loss, u).value, v, r
    )


def _scored(data: AttentionData, v: Array) -> AttentionData:
    """The data with head v and the one query 1 in front of p."""
    return AttentionData(data.X, data.Z, y=data.y, v=v, mask=data.mask)


def _best_prompt(data: AttentionData, loss: Loss, v: Array, p: Array, R: float) -> Array:
    scored = _scored(data, v)
    try:
        objective = GapObjective.of(scored, loss)
    except DataError:  # every token has the same score: any prompt will do
        return p
    D, _ = differences(scored, objective)

    def jet(q: Array) -> Jet:
        found = objective.jet(D @ q)
        return Jet(found.value, D.T @ found.gradient, D.T @ found.hessian @ D)

    return minimise_on_ball(jet, lambda q: objective.value(D @ q), p, R)


def _residuals(
    data: AttentionData, loss: Loss, v: Array, p: Array, r: float, R: float
) -> tuple[float, float]:
    """First-order residuals of head and prompt."""
    rows = _attended(data, p)
    found = _head_jet(rows, loss, v)
    unit = max(float(np.linalg.norm(rows, axis=1).max()), 1e-300)
    of_v = stationarity(v, -found.gradient, 0.0, r, unit)
    scored = _scored(data, v)
    W = p[:, None]
    one = np.ones((data.n, 1))
    pull = descent_direction(data.X, one, scored.gamma, W, loss, data.mask)
    size = float(pull.log_scale) - _log_risk(data, loss, v, p)
    reach = np.linalg.norm(data.X - data.X[:, :1], axis=2).max()
    return of_v, stationarity(p, pull.matrix[:, 0], size, R, max(float(reach), 1e-300))


def _grade(
    data: AttentionData,
    loss: Loss,
    v: Array,
    p: Array,
    radii: tuple[float, float],
    attempts: tuple[Attempt, ...],
) -> JointMinimum:
    of_v, of_p = _residuals(data, loss, v, p, *radii)
    logits = np.where(data.present, data.X @ p, -np.inf)
    selected = logits.argmax(axis=1)
    angles = math.nan, math.nan
    try:
        answer = joint_svm(data, selected)
    except AttsvmError:
        pass
    else:
        if answer.v.solved:
            angles = angle_between(v, answer.v.vector), math.nan
        if answer.p is not None and answer.p.solved:
            angles = angles[0], angle_between(p, answer.p.vector)
    longest = np.where(data.present, np.linalg.norm(data.X, axis=2), 0.0).max(axis=1)
    least = LOG_VALUES[loss.name][1](radii[0] * longest)[0]
    top = float(least.max())
    return JointMinimum(
        radii=radii,
        v=v,
        p=p,
        log_risk=_log_risk(data, loss, v, p),
        log_lower=top + math.log(float(np.exp(least - top).mean())),
        residual_v=of_v,
        residual_p=of_p,
        angle_v=angles[0],
        angle_p=angles[1],
        selected=tuple(int(t) for t in selected),
        attempts=attempts,
    )
