"""Rigorous enclosures of Lipschitz constants, by the kernels of `attsvm.lipschitz` on balls."""

import functools
import heapq
import itertools
from collections.abc import Callable
from typing import Any

from flint import arb, arb_series, ctx, fmpq

from attsvm import lipschitz as kernels
from attsvm.errors import DataError
from attsvm.exact.numbers import Number

Height = Callable[[arb, int], list[arb]]
"""A function of a ball and a number k: the first k Taylor coefficients of a height there."""

_Cell = tuple[float, fmpq, fmpq, arb]


def _root(value: Number | int) -> arb:
    return arb(value).sqrt()


def _size(value: Number) -> Number:
    """Return the number.

    Raises:
        DataError: it may be negative or infinite.
    """
    if not (value >= 0 and arb(value).is_finite()):
        raise DataError(
            "a size must be a finite number that is not negative",
            value=str(value),
            remedy="Pass a norm, or max(h) - min(h) of finite values.",
        )
    return value


def log_loss_gradient_constant(oscillation: Number) -> arb:
    """Return an enclosure of `attsvm.lipschitz.log_loss_gradient_constant` at a rational."""
    D = _size(fmpq(oscillation))
    if D * D <= 12:
        return arb(kernels.log_loss_below(arb(D), _root))
    return arb(kernels.log_loss_beyond(D))


def squared_gradient_constant(oscillation: Number, reach: Number) -> arb:
    """Return an enclosure of `attsvm.lipschitz.squared_gradient_constant` at rationals w and r.

    The critical point is the only one in [0, 3/5]. It is bisected in rationals until the bracket is
    2^-prec wide. The height is rational and its slope at most 4 (r + w) w. The maximum is therefore
    at most this slope times the width above the height at the bracket's middle.

    Raises:
        DataError: 2r < w, which is impossible.
    """
    w, r = _size(fmpq(oscillation)), _size(fmpq(reach))
    middle = r - w / 2
    if middle < 0:
        raise DataError(
            "max |h - b| is below half of max(h) - min(h), which is impossible",
            value=(str(w), str(r)),
            remedy="Pass max(h) - min(h) and max |h - b|.",
        )
    low, high = bisected(lambda a: kernels.squared_slope(w, middle, a))
    value = arb(kernels.squared_height(w, middle, (low + high) / 2))
    return value.union(value + arb(4 * (r + w) * w * (high - low)))


def squared_normed_constant(h2: Number, label: Number) -> arb:
    """Return an enclosure of `attsvm.lipschitz.squared_normed_constants` at ||h||^2 and |b|."""
    h2, b = _size(fmpq(h2)), _size(fmpq(label))
    bracket = _interval(*bisected(lambda a: kernels.normed_slope(h2, b * b, a)))
    return arb(kernels.normed_height(arb(h2).sqrt(), arb(b), bracket, _root))


def bisected(slope: Callable[[fmpq], fmpq]) -> tuple[fmpq, fmpq]:
    """Return a bracket of the only sign change of `slope` in [0, 3/5], about 2^-prec wide."""
    low, high = fmpq(0), fmpq(3, 5)
    for _ in range(ctx.prec):
        a = (low + high) / 2
        low, high = (a, high) if slope(a) > 0 else (low, a)
    return low, high


def softmax_gradient_constant(oscillation: Number, splits: int = 20) -> arb:
    """Return an enclosure of K(D) of `attsvm.lipschitz.softmax_gradient_constant`.

    It is as tight as the precision. Branch and bound over a in [0, 1] leaves a short interval that
    contains the maximum. If the second derivative is provably negative there, the maximum is
    bracketed by the sign of the first derivative and enclosed by the mean value theorem. Otherwise
    the bounds of the search are returned.
    """
    size = _size(oscillation)
    if size == 0:
        return arb(0)
    if isinstance(size, fmpq):
        return _remembered_constant(int(size.p), int(size.q), splits, ctx.prec)
    return _softmax_constant(size, splits)


@functools.lru_cache(maxsize=4096)
def _remembered_constant(p: int, q: int, splits: int, precision: int) -> arb:
    """Return the enclosure at a rational p/q; cached, as many instances share the value."""
    with ctx.workprec(precision):
        return _softmax_constant(arb(fmpq(p, q)), splits)


def _softmax_constant(D: arb, splits: int) -> arb:
    """Return an enclosure of K(D) for a ball D above 0."""

    def above(a: arb) -> arb:
        # 0 <= c <= 1/sqrt 3 always: this bound replaces a ball of c that is too wide
        return arb(kernels.softmax_height(D, D * D, a, 1 / arb(3).sqrt()) * 3 / 2).upper()

    return enclosed_maximum(functools.partial(_height, D), above, splits)


def enclosed_maximum(height: Height, above: Callable[[arb], arb], splits: int) -> arb:
    """Return an enclosure of the maximum of a function on [0, 1], which is not negative.

    Args:
        height: the function, by its Taylor coefficients.
        above: returns an upper bound of the function on a ball, even if `height` is NaN there.
        splits: number of bisections between two tests of concavity.
    """
    # Branch and bound: `lower` is a value that the function attains, so an interval whose upper
    # bound is below it has no maximum. Bisection alone would need ever more intervals as they get
    # short compared with the flat top; once the function is concave on all that remain, the sign of
    # its slope brackets the maximum, and the mean value theorem encloses it.
    heap = [_cell(height, above, fmpq(0), fmpq(1))]
    lower = arb(0)
    for count in itertools.count():
        if count % splits == 0:
            left = [cell for cell in heap if not cell[3] < lower]
            low, high = min(cell[1] for cell in left), max(cell[2] for cell in left)
            concave = is_concave(height, low, high)
            if concave or count >= 24 * splits:
                break
        _, low, high, _ = heapq.heappop(heap)
        middle = (low + high) / 2
        value = height(arb(middle), 1)[0].lower()
        lower = value if value > lower else lower
        for half in ((low, middle), (middle, high)):
            heapq.heappush(heap, _cell(height, above, *half))
    if not concave:
        return lower.union(max(cell[3] for cell in left))
    low, high = _narrowed(height, low, high)
    bracket, centre = _interval(low, high), arb((low + high) / 2)
    return height(centre, 1)[0] + height(bracket, 2)[1] * (bracket - centre)


def _narrowed(height: Height, low: fmpq, high: fmpq) -> tuple[fmpq, fmpq]:
    """Return a short interval with the maximum of a height that is concave on [low, high]."""
    for _ in range(ctx.prec // 2):
        middle = (low + high) / 2
        slope = height(arb(middle), 2)[1]
        if slope > 0:
            low = middle
        elif slope < 0:
            high = middle
        else:  # undecided at this precision: further bisection would test the same point again
            break
    return low, high


def is_concave(height: Height, low: fmpq, high: fmpq, pieces: int = 32) -> bool:
    """Return whether the second derivative is provably negative on every piece of the interval."""
    width = (high - low) / pieces
    edges = [low + k * width for k in range(pieces + 1)]
    return all(height(_interval(a, b), 3)[2] < 0 for a, b in itertools.pairwise(edges))


def _interval(low: fmpq, high: fmpq) -> arb:
    return arb(low).union(arb(high))


def _height(D: arb, a: arb, terms: int) -> list[arb]:
    """Return Taylor coefficients at a of the maximum of `softmax_height` over c, or NaN."""
    x: Any = arb_series([a, arb(1)], terms)
    w = (1 - x * x) / 4 * D
    root = (x * x + 3 * w * w).sqrt()
    if not (x + root)[0] > 0:
        return [arb("nan")] * terms  # the interval is too wide to divide by
    c = kernels.best_level(w, x, root)
    value = kernels.softmax_height(D, D * D, x, c)
    return [value[k] for k in range(terms)]


def _cell(height: Height, above: Callable[[arb], arb], low: fmpq, high: fmpq) -> _Cell:
    """Return an interval with an upper bound of the height on it; the largest bound sorts first."""
    ball = _interval(low, high)
    upper = min(
        above(ball), height(ball, 1)[0].upper()
    )  # `min` returns its first argument if the second is NaN
    return -float(upper), low, high, upper
