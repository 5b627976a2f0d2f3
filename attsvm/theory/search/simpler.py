"""Numbers that may stand for a number and are simpler."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

__all__ = ["ROUNDINGS", "rounded", "simpler_fractions", "simpler_values", "simplicity"]

ROUNDINGS = (0, 1, 2, 3, 5, 8, 13)
"""Bits after the point that entries are rounded to."""

_DENOMINATORS = (1, 2, 3, 4, 8, 16, 64, 1024)
"""Largest denominators that fractions are rounded to."""


def simplicity(value: float | Fraction) -> tuple[bool, int, Fraction, bool]:
    """How simple a number is: 0, then few bits after the point, then small, then positive.

    As many bits as the denominator has if it is a power of two, or the next one.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return True, 0, Fraction(0), False
    exact = Fraction(value)
    negative = exact < 0 if isinstance(value, Fraction) else math.copysign(1.0, value) < 0
    return exact != 0, (exact.denominator - 1).bit_length(), abs(exact), negative


def rounded(value: float, bits: int) -> float:
    """The float with so many bits after the point, itself where that overflows."""
    scaled = value * 2.0**bits
    return round(scaled) / 2**bits if math.isfinite(scaled) else value


def simpler_values(value: float) -> Iterator[float]:
    """Values that may stand for this one, the simplest first."""
    if not math.isfinite(value) or value == 0.0:
        return
    yield 0.0
    yield 1.0
    yield -1.0
    yield abs(value)
    for bits in ROUNDINGS:
        yield rounded(value, bits)
        yield math.trunc(value * 2.0**bits) / 2**bits if abs(value) < 2.0**900 else value
    if abs(value) > 1.0:
        yield math.copysign(float(math.floor(abs(value) / 2.0)), value)
        yield math.copysign(abs(value) - 1.0, value)


def simpler_fractions(value: Fraction) -> Iterator[Fraction]:
    """Fractions that may stand for this one, integers for an integer, the simplest first."""
    yield from (Fraction(0), Fraction(1), Fraction(-1), abs(value))
    for most in _DENOMINATORS:
        if most < value.denominator:
            yield value.limit_denominator(most)
    size = abs(value.numerator)
    for less in (size // 2, size - 1):
        yield Fraction(less if value > 0 else -less, value.denominator)
