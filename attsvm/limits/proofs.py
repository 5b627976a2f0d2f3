"""Limits that are theorems: decided in balls from the exact values of an iterate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq

from attsvm._types import Array, Float
from attsvm._witness import proposed
from attsvm.data import AttentionData
from attsvm.errors import present
from attsvm.exact import ExactData, limit_certificate, rational, rationals, separate
from attsvm.exact.descent import basin, followed, followed_factors, smoothness
from attsvm.exact.minima import Minimum, factor_minimum_at, minimum_at
from attsvm.exact.numbers import Matrix, Vector, dot
from attsvm.losses import Loss
from attsvm.theory.declaration.slack import Slack
from attsvm.training import descend_kq, descend_w

PRECISIONS = (64, 128, 256, 512, 1024)
"""Precisions in bits that are tried until a sign is decided."""

STEPS = 1024
"""Maximum number of steps that are followed to a minimum at a finite norm."""

LEAST = 8
"""Minimum number of steps of a run that can count as being at rest."""

SLOW = 1e-6
"""Share of the first recorded move below which the last one counts as rest."""

LOOK = "number of steps to a minimum at a finite norm"
"""Name of the proposal of `finite_minimum`."""

ROUNDED = 1e-12
"""Maximum sine of the angle between a target in floats and the exact limit."""


def in_basin(data: AttentionData, W: Float[Array, "d d"], loss: Loss) -> Slack:
    """Judge whether the risk gap at W is below the threshold under which no optimal token is lost.

    The slack is 1 - (L(W) - L_*) / min_i (1/n) [l(second-best score) - l(best score)], enclosed
    from the exact values of data and W. If it is positive, every descent from W with a step of at
    most 1/smoothness has a norm that diverges and the limit direction of W^mm. The proof is in
    `attsvm.exact.descent.basin`. If it is negative, W is not in this basin, and nothing is said
    about limits. The result is unknown if optimal tokens are tied, the Att-SVM is infeasible, the
    loss does not decrease on the scores, no input has two scores, or W is not finite.
    """
    if not np.isfinite(W).all():
        return Slack.unknown("W is not finite")
    exact, point = ExactData.of(data), rationals(W)
    for bits in PRECISIONS:
        with ctx.workprec(bits):
            room = basin(exact, point, loss.name)
            if room is None:
                return Slack.unknown(
                    "optimal tokens are tied or not separable, or the loss does not decrease"
                )
            middle = abs(float(room.mid()))
            if room.is_finite() and 4.0 * float(room.rad()) < middle:
                error = float(room.rad()) + float(np.spacing(middle))
                return Slack.below(0.0, float(room.mid()), error)
    return Slack.unknown(f"the sign is undecided at {PRECISIONS[-1]} bits")


def finite_minimum(
    data: AttentionData, W0: Matrix, loss: str, step: fmpq, steps: int = STEPS
) -> Minimum | None:
    """Return the strict local minimum to which descent from W0 provably converges.

    Floats follow the run and propose a step at which their iterate is close enough to a minimum for
    `minimum_at`. The run is then enclosed in balls up to that step, and the enclosure decides. The
    result is None if nothing is proved within `steps` steps.

    Args:
        data: the data set.
        W0: the start, exact or an enclosure.
        loss: its name.
        step: the step size.
        steps: number of steps to follow; fewer than 8 prove nothing.
    """
    exact, e = ExactData.of(data), arb(step)

    def run(start: list[Array], **how: Any) -> list[Array]:
        return [descend_w(data, start[0], loss, **how).W[0]]

    # a step may widen an enclosure by the factor 1 + wider
    wider = float(smoothness(exact, loss) * e)
    bits = math.ceil(math.log2(1.0 + wider)) if math.isfinite(wider) else 1
    return _end(
        [W0],
        run,
        (step, steps, bits),
        lambda W: minimum_at(exact, W0, W, loss, e),
        lambda k: [followed(exact, W0, loss, step, k)],
    )


def finite_minimum_of_factors(
    data: AttentionData, K0: Matrix, Q0: Matrix, loss: str, step: fmpq
) -> Minimum | None:
    """Return the minimum of W = K Q^T under descent on (K, Q) from exact (K0, Q0), if proved."""
    exact, e = ExactData.of(data), arb(step)

    def run(start: list[Array], **how: Any) -> list[Array]:
        result = descend_kq(data, start[0], start[1], loss, **how)
        return [present(M, "the weights of a run on (K, Q)")[0] for M in (result.K, result.Q)]

    return _end(
        [K0, Q0],
        run,
        (step, STEPS, 1),
        lambda K, Q: factor_minimum_at(exact, K, Q, loss, e),
        lambda k: followed_factors(exact, K0, Q0, loss, step, k),
    )


def _end(
    start: list[Matrix],
    run: Callable[..., list[Array]],
    lengths: tuple[fmpq, int, int],
    end_at: Callable[..., Minimum | None],
    enclosed: Callable[[int], Iterable[Matrix]],
) -> Minimum | None:
    """Return the proved end of a run: floats propose a step number, and its enclosure decides.

    `lengths` has the step size, the maximum number of steps, and the bits of precision that a step
    costs.
    """
    steps, bits = lengths[1:]
    k = proposed(LOOK, lambda: _step_to_look_at(start, run, lengths[:2], end_at))
    if not isinstance(k, int) or not 0 <= k <= steps:
        return None
    with ctx.workprec(max(ctx.prec, PRECISIONS[0]) + k * bits):
        return end_at(*enclosed(k))


def _step_to_look_at(
    start: list[Matrix],
    run: Callable[..., list[Array]],
    lengths: tuple[fmpq, int],
    end_at: Callable[..., Minimum | None],
) -> int | None:
    """Return the first tested step number whose float iterate completes the proof, if any."""
    step, steps = lengths
    first = [np.array([[float(arb(x).mid()) for x in row] for row in M]) for M in start]
    size = float(arb(step))
    if not (all(np.isfinite(M).all() for M in first) and 0.0 < size < np.inf and steps >= LEAST):
        return None
    asked = [steps >> j for j in range(steps.bit_length() - 1, -1, -1)]
    with np.errstate(over="ignore", invalid="ignore"):
        result = run(first, step=size, steps=steps, record=asked)
        moved = sum((np.diff(M, axis=0) ** 2).sum(axis=(1, 2)) for M in result) ** 0.5
    if not all(np.isfinite(M).all() for M in result):
        return None
    if not moved[-1] < max(moved[-2] / 2, SLOW * moved[0]):
        return None
    points = [[rationals(M) for M in point] for point in zip(*result, strict=True)]
    if end_at(*points[-1]) is None:
        return None
    near = (end_at(*point) is not None for point in points[1:])
    return next(k for k, closes in zip(asked, near, strict=True) if closes)


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
    """Judge whether the direction of plain descent from W provably converges to that of `target`.

    Iterates are enclosed until a basin, a trap or a cone is reached (`limit_certificate`). If the
    limit is proved, its angle to the target is compared with rounding. If only the selected tokens
    are proved to be kept, a target that selects others is refuted. So is a target in another
    direction than a minimum at which the run ends (`finite_minimum`). Otherwise the result is
    unknown.
    """
    if not (np.isfinite(W).all() and np.isfinite(target).all()):
        return Slack.unknown("W or the target is not finite")
    exact, aim = ExactData.of(data), rationals(target)
    if not target.any():
        return Slack(-1.0, 0.0)  # the zero matrix has no direction
    with ctx.workprec(bits):
        certificate = limit_certificate(exact, rationals(W), loss.name, rational(step), steps)
        if certificate is None:
            end = finite_minimum(data, rationals(W), loss.name, rational(step), steps)
            apart = None if end is None else end.apart(aim)
            if apart is not None:
                return Slack(float(apart.mid()), float(apart.rad()))
            return Slack.unknown(f"no proof was completed within {steps} steps")
        if certificate.settles:
            answer = present(
                separate(exact, certificate.selected), "the SVM of the selected tokens"
            )
            return _agreement([x for row in aim for x in row], [x for r in answer.W for x in r])
        for tokens, z, chosen in zip(exact.X, exact.Z, certificate.selected, strict=True):
            values = [dot(x, [dot(row, z) for row in aim]) for x in tokens]
            if values[chosen] < max(values):
                return Slack(-1.0, 0.0)
    return Slack.unknown("the selected tokens are kept, but the direction is undecided")


def _agreement(a: Vector, b: Vector) -> Slack:
    """Return the slack of the equality sin(angle of a and b) = 0, up to `ROUNDED`.

    From 90 degrees on, the sine counts as 1.
    """
    inner = dot(a, b)
    sine = (1 - inner * inner / (dot(a, a) * dot(b, b))) if inner > 0 else fmpq(1)
    return Slack.equal(float(arb(sine).sqrt().mid()), ROUNDED)
