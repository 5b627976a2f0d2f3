"""Rigorous enclosures of Lipschitz constants."""

from __future__ import annotations

import heapq

from flint import arb, fmpq

from attsvm.exact.numbers import Number

__all__ = ["logistic_curvature", "softmax_gradient_constant"]


def logistic_curvature() -> arb:
    """Sup |g''| = 1/(6 sqrt 3)."""
    return 1 / (6 * arb(3).sqrt())


def softmax_gradient_constant(oscillation: Number, splits: int = 300) -> arb:
    """Enclosure of K(D) of `attsvm.lipschitz.softmax_gradient_constant` by branch and bound.

    The cells of a in [0, 1] with the largest upper bound are halved; the answer spans from the
    best value at a midpoint to the largest remaining upper bound.
    """
    D = arb(oscillation)
    if oscillation == 0:
        return arb(0)

    def height(a: arb) -> arb:
        p = (1 - a * a) / 4
        w = D * p
        c = w / (a + (a * a + 3 * w * w).sqrt())
        return D * p * (1 - c * c) * (a + w * c) / 2

    def cell(low: fmpq, high: fmpq) -> tuple[float, fmpq, fmpq, arb]:
        ball = arb((low + high) / 2, (high - low) / 2)
        slope_free = height(ball)
        # c <= 1/sqrt 3 and c >= 0 always, so these hold where the ball of c blows up
        p = (1 - ball * ball) / 4
        crude = D * p * (ball + D * p / arb(3).sqrt()) / 2
        upper = slope_free.upper()
        if not upper.is_finite() or crude.upper() < upper:
            upper = crude.upper()
        return -float(upper), low, high, upper

    heap = [cell(fmpq(0), fmpq(1))]
    lower = arb(0)
    for _ in range(splits):
        _, low, high, _ = heapq.heappop(heap)
        middle = (low + high) / 2
        value = height(arb(middle)).lower()
        lower = value if value > lower else lower
        for half in (cell(low, middle), cell(middle, high)):
            heapq.heappush(heap, half)
    top = heap[0][3]
    for entry in heap:
        top = entry[3] if entry[3] > top else top
    return lower.union(top)
