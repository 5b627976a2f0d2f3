"""Two arithmetics of upper bounds: the size of integers, and the length of rationals.

Bounds of |x| for integers x show that floats need no rounding. Bounds of the number of bits of
rationals show whether a formula has long numbers. Rationals gain digits with every operation:
x - x^2, thirty times, has 2^30 times as many as x.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from contextvars import ContextVar
from fractions import Fraction
from operator import add, mul, sub
from typing import Any

from flint import fmpq

from attsvm.theory.arithmetic.base import Arithmetic, elementary
from attsvm.theory.arithmetic.entries import (
    Entries,
    Number,
    Numbers,
    Operation,
    Scalar,
    entries,
    mixed,
)

_MOST = 2**53
"""Largest size up to which floats hold every integer."""

_SMALL = 64
"""Largest bound of n for which n! and the binomial coefficients of n get a bound."""


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
    floor = elementary(lambda x: x)

    def _whole(self, name: str, *numbers: Number) -> Magnitude:
        sizes = [s for s in (self.exact(x).size for x in numbers) if s is not None]
        if len(sizes) < len(numbers):
            return Magnitude(None)
        if name == "gcd":
            return Magnitude(max(sizes))
        if max(sizes) > _SMALL:
            return Magnitude(None)
        return Magnitude(2 ** sizes[0] if name == "binomial" else math.factorial(sizes[0]))

    def _rational(self, value: Fraction) -> Magnitude:
        return Magnitude(abs(value.numerator) if value.denominator == 1 else None)

    def maximum(self, x: Any, y: Any) -> Magnitude:
        """Return the larger one; either may be a plain integer."""
        x, y = (self.exact(z) for z in (x, y))
        return Magnitude(None if None in (x.size, y.size) else max(x.size, y.size))

    def _eigenvalues(self, S: Numbers) -> Numbers:
        return entries([Magnitude(None)] * len(S))

    def spectral(self, A: Numbers) -> Magnitude:
        """Return no bound, because floats round a spectral norm."""
        return Magnitude(None)


MAGNITUDES = Magnitudes()
"""The arithmetic of bounds for the size of integers; it has no state."""


LONGEST = 2**20
"""Maximum number of bits of a rational."""

SHORT, WORK = 2**12, 2**23
"""Number of bits up to which a result is cheap and not counted, and maximum number of bits of all
longer results together. Bits are counted instead of seconds, so the limit is the same on every
machine."""


class LongNumbers(Exception):
    """The rationals of a formula have too many bits together."""


_bits: ContextVar[list[float] | None] = ContextVar("_bits", default=None)
"""Number of bits that are left for longer rationals; None if bits are not counted."""


@contextlib.contextmanager
def counted_bits() -> Iterator[None]:
    """Count the bits of longer rationals in this context, and raise `LongNumbers` at the limit."""
    token = _bits.set([WORK])
    try:
        yield
    finally:
        _bits.reset(token)


class Digits(Scalar):
    """An upper bound of the length of a rational p / (2^k q) with odd q, or a ball.

    Attributes:
        size: number of bits of the part before the point.
        places: k, the number of binary places.
        odd: number of bits of q.
        ball: whether it is a ball, which has as many bits as the working precision.
        longest: number of bits of the longest rational on the way to this number, numerator and
            denominator together.
    """

    __slots__ = ("ball", "longest", "odd", "places", "size")

    def __init__(
        self,
        size: float,
        places: float = 0.0,
        odd: float = 0.0,
        *of: Digits,
        ball: bool = False,
    ) -> None:
        self.size, self.places, self.odd, self.ball = size, places, odd, ball
        own = 0.0 if ball else size + 2.0 * (places + odd)
        self.longest: float = max([own, *(x.longest for x in of)])
        left = _bits.get()
        if own > SHORT and left is not None:
            left[0] -= own
            if own > LONGEST or left[0] < 0:
                raise LongNumbers

    def _joined(self, other: object, operation: Operation, *, swapped: bool) -> object:
        if isinstance(other, int) and not isinstance(other, bool):
            other = Digits(other.bit_length())
        if isinstance(other, Entries):
            return NotImplemented
        if not isinstance(other, Digits):
            raise mixed(other)
        if self.ball or other.ball:
            return enclosed(self, other)
        a, b = (other, self) if swapped else (self, other)
        if operation in (add, sub):
            size, places = max(a.size, b.size) + 1.0, max(a.places, b.places)
            return Digits(size, places, a.odd + b.odd, a, b)
        if operation is not mul:
            # the numerator of b becomes a denominator, and may be odd or a power of two
            above = b.size + b.places + b.odd
            return Digits(a.size + b.places + b.odd, a.places + above, a.odd + above, a, b)
        return Digits(a.size + b.size, a.places + b.places, a.odd + b.odd, a, b)

    def __neg__(self) -> Digits:
        return self

    __abs__ = __neg__


def enclosed(*of: Digits) -> Digits:
    """Return a ball that is computed from these numbers."""
    return Digits(0.0, 0.0, 0.0, *of, ball=True)


def _root(x: Digits) -> Digits:
    """Return the length of an exact root; other roots are balls, which are shorter."""
    return x if x.ball else Digits(x.size / 2 + 1, x.places / 2 + 1, x.odd / 2 + 1, x)


class BitLengths(Arithmetic[Digits]):
    """Bounds for the length of rationals."""

    name = "bit lengths"
    numbers = Digits

    exp = log = elementary(enclosed)
    sqrt = elementary(_root)
    abs = elementary(abs)
    is_zero = elementary(lambda x: enclosed(x) if x.ball else Digits(1.0, 0.0, 0.0, x))
    floor = elementary(lambda x: enclosed(x) if x.ball else Digits(x.size + 1.0, 0.0, 0.0, x))

    def _whole(self, name: str, *numbers: Number) -> Digits:
        lengths = [self.exact(x) for x in numbers]
        most = max(x.size for x in lengths)
        # a factorial or binomial coefficient of numbers up to 2^s has at most s 2^s bits
        return Digits(most if name == "gcd" else most * 2.0 ** min(most, 64.0), 0.0, 0.0, *lengths)

    def _eigenvalues(self, S: Numbers) -> Numbers:
        """Return the length of the norm for each eigenvalue, as eigenvalues may be rational."""
        return entries([self.norm(S)] * len(S))

    def _rational(self, value: Fraction) -> Digits:
        p, q = value.numerator, value.denominator
        places = (q & -q).bit_length() - 1
        size = max(p.bit_length() - q.bit_length() + 1, 1)
        return Digits(size, places, (q >> places).bit_length())

    def power(self, x: Any, k: int) -> Numbers:
        """Return the length of a power, that is k times that of the number."""

        def powered(n: Digits) -> Digits:
            return enclosed(n) if n.ball else Digits(k * n.size, k * n.places, k * n.odd, n)

        return elementary(powered)(self, x)

    def maximum(self, x: object, y: object) -> Digits:
        """Return the length of the larger number; either may be a plain integer."""
        x, y = (self.exact(z) for z in (x, y))
        if x.ball or y.ball:
            return enclosed(x, y)
        pairs = ((x.size, y.size), (x.places, y.places), (x.odd, y.odd))
        size, places, odd = (max(pair) for pair in pairs)
        return Digits(size, places, odd, x, y)

    def spectral(self, A: Numbers) -> Digits:
        """Return the length of the Frobenius norm in place of that of the spectral norm."""
        return self.norm(A)


BIT_LENGTHS = BitLengths()
"""The arithmetic of the length of rationals; it has no state."""


def digits_of(number: fmpq) -> Digits:
    """Return the length of a rational that stems from floats, rounded up to a power of two.

    Few different lengths remain, so that results can be cached by length.
    """
    bits = 2.0 ** int(number.height_bits()).bit_length()
    return Digits(bits, bits)
