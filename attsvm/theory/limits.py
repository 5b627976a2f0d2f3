"""Conclusions about limits of trajectories, decided by rates and never by a fixed threshold."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.descent import follow_w
from attsvm.losses import Loss
from attsvm.theory.slack import Slack

__all__ = ["ALLOWANCE", "direction_converges", "norm_diverges", "norm_grows_like_log"]

ALLOWANCE = 0.1
"""Error granted to a growth exponent for what a finite run and its steps leave open."""

_FIRST = 10.0
_FLOOR = 1e-7
_DECADES = 3


def direction_converges(
    data: AttentionData, W0: Float[Array, "d d"], loss: Loss, target: Float[Array, "d d"]
) -> Slack:
    """The direction of descent from W0 converges to that of `target`.

    Measured while the norm runs through a decade from N to 10 N, N being ten times the larger of
    ||target|| and ||W0||. The residual of W against the ray of the target must stay bounded: its
    growth exponent log10(r(10 N) / r(N)) is 0 for the right direction and tends to 1 for a wrong
    one. And what W gains over the last half of the decade must point along the target up to an
    angle of 1/200, which exposes a direction that is wrong by a hundredth while old residuals
    still hide it. The slack is the smaller of 1/2 minus the exponent and 1/2 minus 100 times the
    angle. While the two do not agree, up to two more decades are followed. Unknown where the norm
    is not reached.
    """
    size = float(np.linalg.norm(target))
    if not size > 0.0:
        return Slack(-1.0, 0.0)  # the zero matrix has no direction
    unit = target / size
    low = _FIRST * max(size, float(np.linalg.norm(W0)))
    slack = math.nan
    for _ in range(_DECADES):
        run = follow_w(data, W0, loss, [low, low * math.sqrt(10.0), low * 10.0])
        if run.W.shape[1] < 4:
            passed = float(run.norms.max())
            return Slack.unknown(f"the norm did not reach {10.0 * low:.3g} (passed {passed:.3g})")
        first, middle, last = run.W[0, 1:]
        residuals = [_residual(W, unit) + _FLOOR * low for W in (first, last)]
        grown = float(run.norms[0, 3] / run.norms[0, 1])
        exponent = math.log(residuals[1] / residuals[0]) / math.log(grown)
        gain = last - middle
        angle = _residual(gain, unit) / float(np.linalg.norm(gain))
        slack = 0.5 - max(exponent, 100.0 * angle)
        if slack >= 0.2 or exponent >= 0.9:
            break
        W0, low = first, 10.0 * low
    return Slack(slack, ALLOWANCE)


def _residual(W: Array, unit: Array) -> float:
    """Distance of W from the ray of a unit matrix."""
    along = max(float((W * unit).sum()), 0.0)
    return float(np.linalg.norm(W - along * unit))


def norm_diverges(data: AttentionData, W0: Float[Array, "d d"], loss: Loss) -> Slack:
    """The norm of descent from W0 grows without bound.

    Followed by arc length it must pass ten times and a hundred times the unit of the data
    (||W0|| plus the norm that moves some margin by one); the slack is the share of the way that
    was covered, minus a half.
    """
    reach = np.linalg.norm(data.X - data.X.mean(axis=1, keepdims=True), axis=2).max()
    pull = float(reach * np.linalg.norm(data.Z, axis=1).max())
    unit = float(np.linalg.norm(W0)) + (1.0 / pull if pull > 0 else 1.0)
    goals = [10.0 * unit, 100.0 * unit]
    run = follow_w(data, W0, loss, goals)
    passed = run.W.shape[1] - 1
    if passed == 1:
        return Slack.unknown(f"the norm did not reach {goals[1]:.3g}")
    return Slack(passed / 2.0 - 0.5, 0.25)


def norm_grows_like_log(
    data: AttentionData, W0: Float[Array, "d d"], loss: Loss, rate: float
) -> Slack:
    """The norm of plain descent grows like rate * ln k.

    Between the norms 50 rate and 500 rate the increase of the norm over the rate is 450; the
    increase of ln k, from the time that gradient flow takes, must agree with it up to 10. A rate
    that is wrong by 5% is off by more than 20. Unknown where the norms are not reached.
    """
    if not rate > 0.0:
        return Slack(-1.0, 0.0)
    low = 50.0 * max(rate, float(np.linalg.norm(W0)) / 5.0)
    run = follow_w(data, W0, loss, [low, 10.0 * low])
    if run.log_time is None or len(run.log_time) < 3:
        return Slack.unknown(f"the norm did not reach {10.0 * low:.3g}")
    grown = float(run.norms[0, 2] - run.norms[0, 1]) / rate
    waited = float(run.log_time[2] - run.log_time[1])
    return Slack(10.0 - abs(grown - waited), 5.0)
