"""The cosine of X(k) with X_soft on sentences of a language: where it goes, what a step adds."""

from __future__ import annotations

import numpy as np
from flint import arb, fmpq

from attsvm.exact import ExactData, dot, rational, rationals
from attsvm.exact.descent import descend
from attsvm.losses import LOSSES
from attsvm.risk import gradient_w
from attsvm.theory import Slack
from attsvm.theory.limits import direction_converges
from properties._support.descent_runs import answer
from properties._support.limit_certificates import agreement, short_step
from properties._support.programmes import EPS, OPEN, flat, optimum, solve
from properties.sim._support.token_sequences import (
    Spoken,
    enough,
    limit,
    on_soft_ray,
    soft,
    stays_at_zero,
    summed,
)

__all__ = ["certified_end", "certified_rise", "ends", "rises"]


def ends(case: Spoken, loss: str, towards: str) -> Slack:
    """Whether the direction of X(k) tends to that of a target."""
    found = soft(case.data)
    if found is None:
        return OPEN
    mean = found.programme.combine(np.ones(len(found.programme.D)))
    target = {"soft": found.W, "opposite": -found.W, "mean": mean}[towards]
    if not target.any():
        return Slack.unknown("the target is zero")
    return direction_converges(case.data, case.start, LOSSES[loss], target)


def certified_end(case: Spoken, loss: str, towards: str) -> arb | None:
    """The same where it is proved."""
    if stays_at_zero(case):
        return arb(-1)
    X = limit(case, loss)
    if X is None:
        return None
    if towards == "mean":
        M = summed(case.data)
        return agreement([M], [X]) if any(M) else arb(-1)
    return on_soft_ray(case.data, X if towards == "soft" else [-x for x in X])


def rises(case: Spoken, loss: str, sign: float) -> Slack:
    """What a step of 1/L_X adds to the cosine, times a sign; unknown where X_soft is not X^mm."""
    M = solve(case.data, optimum(case.data)) if enough(case) else None
    if M is None or not case.start.any():
        return OPEN
    G, size = gradient_w(case.data, case.start, LOSSES[loss]), float(np.linalg.norm(M.W))
    X = case.start - float(short_step(case.data, loss)) * G
    old, new = (float((W * M.W).sum() / np.linalg.norm(W) / size) for W in (case.start, X))
    reach = 1.0 + float(np.linalg.norm(case.start) * np.abs(case.data.X).max() ** 2)
    error = 256 * EPS * (case.data.d**2 + case.data.X.size) * reach + 4 * M.error / size
    error *= 1.0 + float(np.linalg.norm(case.start) / np.linalg.norm(X))
    return Slack(sign * (new - old), error)


def certified_rise(case: Spoken, loss: str, sign: float) -> arb | fmpq | None:
    """The same as a ball."""
    solved = answer(case.data)
    if not enough(case) or solved is None:
        return None
    M, W = flat(solved.W), rationals(case.start)
    moved = descend(ExactData.of(case.data), W, loss, short_step(case.data, loss), 1)
    old, new = flat(W), flat(moved)
    length = arb(dot(M, M)).sqrt()
    change = dot(new, M) / arb(dot(new, new)).sqrt() - dot(old, M) / arb(dot(old, old)).sqrt()
    if len(M) == 1 and (dot(new, M) > 0) == (dot(old, M) > 0):
        return fmpq(0)  # in R^1 the cosine is 1 or -1
    return arb(change / length * rational(sign))
