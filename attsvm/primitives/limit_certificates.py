"""Proofs about descents from a point, exact or an enclosure, towards any target."""

import sys

from flint import arb, ctx, fmpq

from attsvm.data import AttentionData
from attsvm.exact import ExactData, dot, limit_certificate, rational, separate
from attsvm.exact.descent import smoothness
from attsvm.exact.minima import Minimum
from attsvm.exact.numbers import Matrix, remembered
from attsvm.exact.traps import is_stationary_start
from attsvm.limits import finite_minimum

STEPS = 256
"""Maximum number of steps after which a limit must be proved."""

STEP_BITS = 64
"""Precision in bits of the smoothness L, from which step sizes are computed."""


def short_step(data: AttentionData, loss: str, step: float = 1.0) -> fmpq:
    """Return the step size step/L, rounded down, where L is the smoothness of the risk.

    1/L is 1 if L is 0.
    """
    return rational(step) * _longest(data, loss)


@remembered
def _longest(data: AttentionData, loss: str) -> fmpq:
    """Return 1/L, rounded down from an enclosure, so that every machine takes the same step."""
    with ctx.workprec(STEP_BITS):
        bound = smoothness(ExactData.of(data), loss)
        if bound == 0:
            return fmpq(1)
        least = (1 / bound).lower()
    size = float(least)
    if sys.float_info.min < size <= sys.float_info.max:
        return rational((1.0 - 2.0**-30) * size)
    mantissa, exponent = least.man_exp()
    return fmpq(mantissa) * fmpq(2) ** int(exponent) * (1 - fmpq(1, 2**30))


def agreement(target: Matrix, limit: Matrix) -> arb:
    """Return 1 if the matrices have equal directions, else minus the squared sine of the angle."""
    a, b = [x for row in target for x in row], [x for row in limit for x in row]
    inner = dot(a, b)
    sine = 1 - inner * inner / (dot(a, a) * dot(b, b)) if dot(a, a) != 0 else fmpq(1)
    if inner > 0 and sine == 0:
        return arb(1)
    return arb(-(sine if inner > 0 else fmpq(1)))


def ends_at(data: AttentionData, W0: Matrix, loss: str, step: float = 1.0) -> Minimum | None:
    """Return the point at which descent with step/smoothness ends, if that is proved.

    It is a strict local minimum, or the start itself if it is exactly stationary.
    """
    known = all(isinstance(x, fmpq) for row in W0 for x in row)  # else it is an enclosure
    if known and is_stationary_start(ExactData.of(data), W0, loss):
        return Minimum(W0, arb(0))
    return finite_minimum(data, W0, loss, short_step(data, loss, step))


def certified_direction(
    data: AttentionData, W0: Matrix, loss: str, target: Matrix | None, step: float = 1.0
) -> arb | None:
    """Return 1 if descent with step/smoothness provably converges in direction to the target.

    The result is negative in five cases:

    - there is no target;
    - the run never moves;
    - it settles at the tokens of another direction;
    - it keeps tokens that the target does not select;
    - it ends at a minimum of finite norm in another direction.

    The result is None if nothing is proved at the working precision.
    """
    if target is None:
        return arb(-1)
    exact = ExactData.of(data)
    known = all(isinstance(x, fmpq) for row in W0 for x in row)  # else it is an enclosure
    if known and is_stationary_start(exact, W0, loss):
        return agreement(target, W0) if any(x != 0 for row in W0 for x in row) else arb(-1)
    certificate = limit_certificate(exact, W0, loss, short_step(data, loss, step), STEPS)
    if certificate is None:
        end = ends_at(data, W0, loss, step)
        return None if end is None else end.apart(target)
    if certificate.settles:
        limit = separate(exact, certificate.selected)
        return None if limit is None else agreement(target, limit.W)
    for tokens, z, chosen in zip(exact.X, exact.Z, certificate.selected, strict=True):
        values = [dot(x, [dot(row, z) for row in target]) for x in tokens]
        if values[chosen] < max(values):
            return arb(-1)
    return None
