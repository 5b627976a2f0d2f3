"""Judgements on the norm of descent: whether it diverges, and whether it grows like rate * ln k."""

from __future__ import annotations

import numpy as np

from attsvm._types import Array, Float
from attsvm.data import AttentionData
from attsvm.limits.settled import unsettled
from attsvm.losses import Loss
from attsvm.risk import normalised_gradient
from attsvm.theory.declaration.slack import Slack
from attsvm.training import follow_w


def norm_diverges(data: AttentionData, W0: Float[Array, "d d"], loss: Loss) -> Slack:
    """Judge whether the norm of descent from W0 grows without bound.

    The curve is followed by arc length. Its norm must reach ten and a hundred times the unit of the
    data: ||W0|| plus the norm that moves some margin by one. There -grad L must point outwards: the
    slack is a quarter of 1 plus the cosine of its angle to W. It is negative only if the gradient
    at W0 is zero, so that the run never moves. A run that ends earlier is unknown.
    """
    reach = np.linalg.norm(data.X - data.X.mean(axis=1, keepdims=True), axis=2).max()
    longest = float(reach * np.linalg.norm(data.Z, axis=1).max())
    unit = float(np.linalg.norm(W0)) + (1.0 / longest if longest > 0 else 1.0)
    goals = [10.0 * unit, 100.0 * unit]
    if not normalised_gradient(data.X, data.Z, data.gamma, W0, loss, data.mask).matrix.any():
        return Slack(-0.5, 0.25)
    run = follow_w(data, W0, loss, goals)
    passed = run.W.shape[1] - 1
    if passed < len(goals):
        return Slack.unknown(f"the norm did not reach {goals[passed]:.3g}")
    W = run.W[0, -1]
    steepest = normalised_gradient(data.X, data.Z, data.gamma, W, loss, data.mask).matrix
    size = float(np.linalg.norm(steepest) * np.linalg.norm(W))
    if not size > 0.0:
        return Slack.unknown("the gradient vanishes at the end of the curve")
    outwards = float((steepest * W).sum()) / size
    return Slack(0.25 * (1.0 + outwards), 0.25)


def norm_grows_like_log(
    data: AttentionData, W0: Float[Array, "d d"], loss: Loss, rate: float
) -> Slack:
    """Judge whether the norm of plain descent grows like rate * ln k.

    Between the norms 50 rate and 500 rate the norm over the rate increases by 450. The increase of
    ln k, from the time of gradient flow, must agree with it up to 10, or up to 1/45 of larger
    increases. A rate that is wrong by 5% is off by more than 20. Larger norms are used if ||W0|| is
    large, or if |l'| at the best scores differs by large factors between inputs, which is
    compensated only at larger margins. The result is
    unknown if the norms are not reached or the run has not settled.
    """
    if not 0.0 < rate < np.inf:
        return Slack(-1.0, 0.0)
    slopes = loss.log_slope(np.where(data.present, data.gamma, -np.inf).max(axis=1))
    spread = float(np.ptp(slopes)) if np.isfinite(slopes).all() else 0.0
    low = 50.0 * max(rate, float(np.linalg.norm(W0)) / 5.0, rate * spread / 10.0)
    run = follow_w(data, W0, loss, [low, 10.0 * low])
    if run.log_time is None or len(run.log_time) < 3:
        return Slack.unknown(f"the norm did not reach {10.0 * low:.3g}")
    reason = unsettled(data, run.W[0, 1], run.W[0, 2], loss)
    if reason:
        return Slack.unknown(reason)
    waited, grown = (float(t[2] - t[1]) for t in (run.log_time, run.norms[0]))
    off = abs(grown / rate - waited) / max(waited / 450.0, 1.0)
    return Slack(10.0 - off, 5.0) if np.isfinite(off) else Slack.unknown("not finite")
