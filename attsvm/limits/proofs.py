"""Limits that are theorems: decided in balls from the exact values of an iterate."""

from __future__ import annotations

import numpy as np
from flint import arb, ctx, fmpq
from jaxtyping import Float

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import present
from attsvm.exact import ExactData, certified_fate, rational, rationals, separate
from attsvm.exact.descent import basin
from attsvm.exact.numbers import Vector, dot
from attsvm.losses import Loss
from attsvm.theory.declaration.slack import Slack

PRECISIONS = (64, 128, 256, 512, 1024)
"""Bits that are tried until a sign is decided."""

ROUNDED = 1e-12
"""Sine of an angle that a target in floats may be off by."""


def in_basin(data: AttentionData, W: Float[Array, "d d"], loss: Loss) -> Slack:
    """The risk gap at W is below the threshold under which no optimal token is lost.

    1 - (L(W) - L_*) / min_i (1/n) [l(second-best score) - l(best score)], enclosed from the exact
    values of data and W. Above 0, every descent from W with a step of at most 1/smoothness has a
    norm that diverges and the direction of W^mm as its limit (`attsvm.exact.descent.basin` has the
    proof); below 0 nothing is said about limits, only that W is not in this basin. Unknown where
    optimal tokens are tied, the Att-SVM is infeasible, the loss does not decrease on the scores,
    nothing is to be selected, or W is not finite.
    """
    if not np.isfinite(W).all():
        return Slack.unknown("W is not finite")
    exact, point = ExactData.of(data), rationals(W)
    for bits in PRECISIONS:
        with ctx.workprec(bits):
            room = basin(exact, point, loss.name)
            if room is None:
                return Slack.unknown("optimal tokens tied or not separable, or no falling loss")
            middle = abs(float(room.mid()))
            if room.is_finite() and 4.0 * float(room.rad()) < middle:
                error = float(room.rad()) + float(np.spacing(middle))
                return Slack.below(0.0, float(room.mid()), error)
    return Slack.unknown(f"the sign is open at {PRECISIONS[-1]} bits")


def direction_is_proved(
    data: AttentionData,
    W: Float[Array, "d d"],
    loss: Loss,
    target: Float[Array, "d d"],
    *,
    step: float,
    steps: int = 0,
    bits: int = 128,
) -> Slack:
    """The direction of plain descent from W converges to that of `target`, by proof.

    The iterates are enclosed until a basin, a trap or a cone closes (`certified_fate`). Where the
    limit is proved, the target's angle to it is compared with rounding; where only the selected
    tokens are proved to be kept, a target that selects others is refuted. Unknown elsewhere.
    """
    if not (np.isfinite(W).all() and np.isfinite(target).all()):
        return Slack.unknown("W or the target is not finite")
    exact, aim = ExactData.of(data), rationals(target)
    if not target.any():
        return Slack(-1.0, 0.0)  # the zero matrix has no direction
    with ctx.workprec(bits):
        fate = certified_fate(exact, rationals(W), loss.name, rational(step), steps)
        if fate is None:
            return Slack.unknown(f"no proof closed within {steps} steps")
        if fate.settles:
            answer = present(separate(exact, fate.selected), "the SVM of the selected tokens")
            return _agreement([x for row in aim for x in row], [x for r in answer.W for x in r])
        for tokens, z, chosen in zip(exact.X, exact.Z, fate.selected, strict=True):
            values = [dot(x, [dot(row, z) for row in aim]) for x in tokens]
            if values[chosen] < max(values):
                return Slack(-1.0, 0.0)
    return Slack.unknown("the selected tokens are kept, the direction is open")


def _agreement(a: Vector, b: Vector) -> Slack:
    """The sine of the angle of two vectors, as an equality up to rounding."""
    inner = dot(a, b)
    sine = (1 - inner * inner / (dot(a, a) * dot(b, b))) if inner > 0 else fmpq(1)
    return Slack.equal(float(arb(sine).sqrt().mid()), ROUNDED)
