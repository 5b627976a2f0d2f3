"""Rigorous enclosures of Lipschitz constants."""

from __future__ import annotations

import heapq
import itertools

from flint import arb, arb_series, ctx, fmpq

from attsvm.exact.numbers import Matrix, Number, dot, subtract

_Cell = tuple[float, fmpq, fmpq, arb]

__all__ = [
    "log_loss_gradient_constant",
    "logistic_curvature",
    "softmax_entry_constant",
    "softmax_gradient_constant",
    "softmax_outer_constant",
    "spread",
    "squared_gradient_constant",
]


def logistic_curvature() -> arb:
    """Sup |g''| = 1/(6 sqrt 3)."""
    return 1 / (6 * arb(3).sqrt())


def log_loss_gradient_constant(oscillation: Number) -> arb:
    """Enclosure of `attsvm.lipschitz.log_loss_gradient_constant` at a rational."""
    D = fmpq(oscillation)
    if D * D <= 12:
        return arb(D) / (3 * arb(3).sqrt())
    return arb((D / 4 + 1 / D) ** 2 / 2)


def squared_gradient_constant(oscillation: Number, reach: Number) -> arb:
    """Enclosure of `attsvm.lipschitz.squared_gradient_constant` at rationals w and r.

    The critical point, the only one in [0, 3/5], is bisected in rationals until the bracket is
    2^-prec wide; the height is rational and its slope below 4 (r + w) w: the maximum is at most
    that times the width above the height at the bracket's middle.
    """
    w, r = fmpq(oscillation), fmpq(reach)
    middle = r - w / 2
    low, high = fmpq(0), fmpq(3, 5)
    for _ in range(ctx.prec):
        a = (low + high) / 2
        rising = middle * (1 - 3 * a * a) > w * a * (2 - 3 * a * a)
        low, high = (a, high) if rising else (low, a)
    a = (low + high) / 2
    value = arb(w * (1 - a * a) * (middle * a + w * (1 - 3 * a * a) / 4))
    return value.union(value + arb(4 * (r + w) * w * (high - low)))


def softmax_gradient_constant(oscillation: Number, splits: int = 60) -> arb:
    """Enclosure of K(D) of `attsvm.lipschitz.softmax_gradient_constant`, as tight as the precision.

    Branch and bound over a in [0, 1] leaves a short interval that must hold the maximum. Where
    the second derivative is proved negative there, the maximum is bracketed by the sign of the
    first, and lies above the value at the bracket's middle by at most slope times width; else
    the bounds of the search are returned.
    """
    D = arb(oscillation)
    if oscillation == 0:
        return arb(0)
    heap = [_cell(D, fmpq(0), fmpq(1))]
    lower = arb(0)
    for count in itertools.count():
        if count >= splits and count % splits == 0:
            left = [cell for cell in heap if not cell[3] < lower]
            low, high = min(cell[1] for cell in left), max(cell[2] for cell in left)
            concave = _is_concave(D, low, high)
            if concave or count >= 8 * splits:
                break
        _, low, high, _ = heapq.heappop(heap)
        middle = (low + high) / 2
        value = _height(D, arb(middle), 1)[0].lower()
        lower = value if value > lower else lower
        for half in (_cell(D, low, middle), _cell(D, middle, high)):
            heapq.heappush(heap, half)
    if not concave:
        top = left[0][3]
        for cell in left:
            top = cell[3] if cell[3] > top else top
        return lower.union(top)
    for _ in range(ctx.prec // 2):
        middle = (low + high) / 2
        slope = _height(D, arb(middle), 2)[1]
        if slope > 0:
            low = middle
        elif slope < 0:
            high = middle
        else:
            break
    bracket = _interval(low, high)
    base = _height(D, arb((low + high) / 2), 1)[0]
    rise = abs(_height(D, bracket, 2)[1]) * arb(high - low)
    return base.union(base + rise.upper())


def _is_concave(D: arb, low: fmpq, high: fmpq, pieces: int = 32) -> bool:
    """Whether the second derivative is proved negative on every piece of the interval."""
    width = (high - low) / pieces
    edges = [low + k * width for k in range(pieces + 1)]
    return all(_height(D, _interval(a, b), 3)[2] < 0 for a, b in itertools.pairwise(edges))


def _interval(low: fmpq, high: fmpq) -> arb:
    return arb(low).union(arb(high))


def _height(D: arb, a: arb, terms: int) -> list[arb]:
    """D (1-a^2)/8 max_c (1-c^2)(a + w c), w = D (1-a^2)/4, and its Taylor coefficients at a."""
    x = arb_series([a, arb(1)], terms)
    p = (1 - x * x) / 4
    w = p * D
    square = x * x + 3 * w * w
    bottom = x + square.sqrt() if square[0] > 0 else square
    if not (square[0] > 0 and bottom[0] > 0):
        return [arb("nan")] * terms  # the interval is too wide to divide by
    c = w / bottom
    value = D * p * (1 - c * c) * (x + w * c) / 2
    return [value[k] for k in range(terms)]


def _cell(D: arb, low: fmpq, high: fmpq) -> _Cell:
    """An interval of a with an upper bound of the height on it, first in a heap where largest."""
    ball = _interval(low, high)
    # 0 <= c <= 1/sqrt 3 always: a bound that holds where the ball of c blows up
    p = (1 - ball * ball) / 4
    upper = (D * p * (ball + D * p / arb(3).sqrt()) / 2).upper()
    fine = _height(D, ball, 1)[0].upper()
    if fine.is_finite() and fine < upper:
        upper = fine
    return -float(upper), low, high, upper


def softmax_entry_constant() -> arb:
    """sqrt(2)/4 of `attsvm.lipschitz.SOFTMAX_ENTRY_LIPSCHITZ`."""
    return arb(2).sqrt() / 4


def softmax_outer_constant() -> arb:
    """3^(-3/4) of `attsvm.lipschitz.SOFTMAX_OUTER_LIPSCHITZ`."""
    return 1 / arb(27).sqrt().sqrt()


def spread(A: Matrix) -> arb:
    """Largest ||A_i - A_j|| / sqrt 2 over the rows of a rational matrix."""
    moved = [subtract(a, b) for a, b in itertools.combinations(A, 2)]
    return (arb(max((dot(v, v) for v in moved), default=fmpq(0))) / 2).sqrt()
