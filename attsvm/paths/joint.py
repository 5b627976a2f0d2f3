"""The joint regularisation path: the least risk over a head v and a prompt p, each in a ball."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attsvm._types import Array, Float
from attsvm.data import AttentionData
from attsvm.errors import AttsvmError, DataError, present
from attsvm.losses import Loss
from attsvm.paths.drops import LOG_VALUES
from attsvm.paths.grades import Attempt, angle_between, ensure_radii
from attsvm.paths.pair import Pair, Point
from attsvm.paths.pair_search import descend
from attsvm.paths.search import Best, RegularisationPath, along, scaled
from attsvm.svm import joint_svm


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class JointMinimum(Best):
    """The best point found of min L(v, p) over ||v|| <= r and ||p|| <= R.

    Attributes:
        radii: (r, R).
        v, p: the point.
        log_risk: log L(v, p).
        log_lower: a lower bound of log L over the balls, as input i contributes at least
            l(r max_t ||x_it||).
        residual_v, residual_p: first-order residuals in v and in p; see `stationarity`.
        angle_v, angle_p: angles to the v-SVM and to the joint p-SVM for the tokens that p selects;
            NaN if they do not exist or a radius is 0.
        selected: the token of largest attention of each input.
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

    def row(self) -> tuple[dict[str, float], dict[str, float]]:
        """Return both radii, and the figures log risk and angles."""
        r, R = self.radii
        angles = {"angle of v": self.angle_v, "angle of p": self.angle_p}
        return {"r": r, "R": R}, {"log risk": self.log_risk, **angles}

    @property
    def residual(self) -> float:
        """The larger of `residual_v` and `residual_p`."""
        return max(self.residual_v, self.residual_p)


def path_joint(
    data: AttentionData,
    loss: Loss,
    radii: object,
    *,
    starts: Sequence[object] = ("svm", "mean", "random", "random", "random"),
    seed: int = 0,
) -> RegularisationPath[JointMinimum]:
    """Minimise L(v, p) over ||v|| <= r and ||p|| <= R, pair by pair.

    Head and prompt are minimised alternately, each in the log domain. The head acts on log L. The
    prompt acts on log(L - L_*) or, if it cannot select the head's best tokens, on L minus the risk
    of the tokens it selects. Newton steps on both complete the search. The result is a first-order
    point of both balls up to its residuals. The prompt selects one of exponentially many choices of
    tokens, so a better choice may have been missed.

    Residuals stay near 1 in two known cases. One is data with integer entries or of dimension 1
    whose inputs oppose each other: the risk tends to the constant of inputs that v cannot move. The
    other is the logistic loss, which is not convex in v, from some starts.

    Args:
        data: tokens and labels; queries and head are ignored.
        loss: log-loss, logistic-loss or exponential.
        radii: pairs (r, R), each increasing, 0 allowed.
        starts: `svm` (v(alpha) and p(alpha) for the optimal tokens of the data's head, if they
            exist), `mean` (p = 0, v along the sum of labelled tokens), `random`, or pairs (v, p).
        seed: seed of the random starts.

    Raises:
        DataError: data without labels, another loss, invalid radii, or no start.
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
    pairs = [Pair(data, loss, r, R) for r, R in _pairs(radii)]
    begun = _starts(data, starts, seed)

    def attempt(name: str, x: Point, pair: Pair) -> Attempt:
        return Attempt(name, pair.log_risk(*x), max(pair.residuals(*x)), pair.local_value(*x))

    return along(
        pairs,
        lambda pair: begun,
        lambda x, pair: descend(pair, *_begin(pair, x[0], x[1])),
        attempt,
        lambda x, pair, ends: _grade(pair, x[0], x[1], ends),
    )


def _pairs(radii: object) -> list[tuple[float, float]]:
    try:
        table = np.asarray(radii, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.zeros(0)
    if table.ndim != 2 or table.shape[1] != 2:
        raise DataError("radii must be pairs (r, R)", value=radii, remedy="Give a list of pairs.")
    of_v = ensure_radii("the radii of v", table[:, 0])
    return list(zip(of_v, ensure_radii("the radii of p", table[:, 1]), strict=True))


def _starts(data: AttentionData, starts: Sequence[object], seed: int) -> dict[str, Point]:
    generator = np.random.default_rng(seed)
    labels = present(data.y, "the labels y")
    points: dict[str, Point] = {}
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
            v = np.einsum("n,nt,ntd->d", labels, weights, data.X)
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


def _begin(pair: Pair, v: Array, p: Array) -> tuple[Array, Array]:
    """Return the point scaled to both spheres, or itself if it is feasible with less risk."""
    out = scaled(v, pair.r), scaled(p, pair.R)
    fits = float(np.linalg.norm(v)) <= pair.r and float(np.linalg.norm(p)) <= pair.R
    return (v, p) if fits and pair.log_risk(v, p) < pair.log_risk(*out) else out


def _grade(pair: Pair, v: Array, p: Array, attempts: tuple[Attempt, ...]) -> JointMinimum:
    data, (of_v, of_p) = pair.data, pair.residuals(v, p)
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
    least = LOG_VALUES[pair.loss.name][1](pair.r * longest)[0]
    top = float(least.max())
    return JointMinimum(
        radii=(pair.r, pair.R),
        v=v,
        p=p,
        log_risk=pair.log_risk(v, p),
        log_lower=top + math.log(float(np.exp(least - top).mean())),
        residual_v=of_v,
        residual_p=of_p,
        angle_v=angles[0],
        angle_p=angles[1],
        selected=tuple(int(t) for t in selected),
        attempts=attempts,
    )
