"""Convergence to a set of solutions: the distance falls as the norm grows."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.limits.growth import falls
from attsvm.limits.settled import three_iterates
from attsvm.losses import Loss
from attsvm.svm.nuclear import NuclearAnswer, distance
from attsvm.theory.declaration.slack import Slack

FLOOR = 1e-6
"""Relative distance that solution sets and iterates resolve."""


def distance_falls(
    data: AttentionData,
    iterates: Float[Array, "k d d"],
    loss: Loss,
    answer: NuclearAnswer,
    *,
    rate: float = 0.5,
) -> Slack:
    """W / ||W||_* approaches the solutions of a nuclear-norm programme over their norm (tf, thm 3).

    For iterates of growing norm, products K Q^T say: the Frobenius distance of W ||V||_*/||W||_*
    to the set of solutions V, over ||V||_*, falls like 1/norm^rate: 1/2 is the rate of factors
    whose own residuals stay bounded while W is their product. The slack is that of `falls`, taken
    for the lower and the upper bound of the distance; where they disagree it is undecided. Unknown
    where the norm did not grow tenfold twice or the run has not settled.
    """
    if not np.isfinite(iterates).all():
        return Slack.unknown("an iterate is not finite")
    norms = np.linalg.svd(iterates, compute_uv=False).sum(axis=1)
    prepared = three_iterates(data, iterates, loss, norms)
    if isinstance(prepared, Slack):
        return prepared
    found, chosen = prepared
    scales = [answer.value / size for size in found.norms]
    bounds = [distance(answer, scale * W) for scale, W in zip(scales, chosen, strict=True)]
    low, high = (np.array(side) / answer.value for side in zip(*bounds, strict=True))
    below, above = (falls(side, found.norms, FLOOR, rate) for side in (low, high))
    if "unknown" in (below.kind, above.kind):
        return above if above.kind == "unknown" else below
    value = min(below.value, above.value)
    error = above.error + abs(below.value - above.value)
    return Slack(value, error) if math.isfinite(error) else Slack.unknown("no distance")
