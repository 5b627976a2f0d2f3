"""Arithmetic of upper bounds of |x| for integers x, which show that floats need no rounding."""

from __future__ import annotations

from fractions import Fraction
from operator import add, mul, sub
from typing import Any

from attsvm.theory.arithmetic.base import Arithmetic, elementary
from attsvm.theory.arithmetic.entries import Operation, Scalar, mixed
from attsvm.theory.arithmetic.quantities import Numbers

_MOST = 2**53
"""Largest size up to which floats hold every integer."""


class Magnitude(Scalar):
    """A bound of the size of an integer, None for a number that floats may round."""

    __slots__ = ("size",)

    def __init__(self, size: int | None) -> None:
        self.size = size if size is not None and size <= _MOST else None

    def _joined(self, other: object, operation: Operation, *, swapped: bool) -> object:
        if isinstance(other, int) and not isinstance(other, bool):
            other = Magnitude(abs(other))
        if not isinstance(other, Magnitude):
            raise mixed(other)
        if self.size is None or other.size is None or operation not in (add, sub, mul):
            return Magnitude(None)
        return Magnitude((mul if operation is mul else add)(self.size, other.size))

    def __neg__(self) -> Magnitude:
        return self

    __abs__ = __neg__


def _rounded(x: Magnitude) -> Magnitude:
    return Magnitude(None)


class Magnitudes(Arithmetic[Magnitude]):
    """Bounds for the size of integers."""

    name = "magnitudes"
    numbers = Magnitude

    exp = log = sqrt = elementary(_rounded)
    abs = elementary(abs)
    is_zero = elementary(lambda x: Magnitude(None if x.size is None else 1))

    def _rational(self, value: Fraction) -> Magnitude:
        return Magnitude(abs(value.numerator) if value.denominator == 1 else None)

    def maximum(self, x: Any, y: Any) -> Magnitude:
        """Return the larger one; either may be a plain integer."""
        x, y = (self.exact(z) for z in (x, y))
        return Magnitude(None if None in (x.size, y.size) else max(x.size, y.size))

    def spectral(self, A: Numbers) -> Magnitude:
        """Return no bound, because floats round a spectral norm."""
        return Magnitude(None)


MAGNITUDES = Magnitudes()
"""The arithmetic of bounds for the size of integers; it has no state."""
