"""Arithmetic of batches of floats, each with a proved bound for its rounding error.

If the exact result of a sum or product is a float, no error is added. Therefore sums and products
below 2^53 of integers, and of short dyadic numbers, are exact. Otherwise the bound grows by the
rounding error of the operation.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction
from operator import add, mul, or_, sub
from typing import Any

import numpy as np

from attsvm._types import Array
from attsvm.theory.arithmetic.base import elementary
from attsvm.theory.arithmetic.entries import Numbers, Operation, Scalar, entries, mixed
from attsvm.theory.arithmetic.lanes import FLOATS, Lane, Lanes, _is_object, _stacked, float_of

_UP = 1.0 + 2.0**-40
"""Factor that covers the rounding errors of a bound's own computation."""

_UNITS = 2.0**-49
"""Maximum relative error of a function of numpy: eight units in the last place."""

_LEAST = 2.0**-900
"""Size of a product or quotient below which underflow may spoil its computed rounding error."""

_DUST = 2.0**-1000
"""Bound of the error that underflow causes."""

_SPLIT = 2.0**27 + 1.0

_SPECTRAL = 1e-13
"""Maximum relative error of a spectral norm of floats."""


class Bounded(Lane):
    """One number of each instance of a batch, and a bound for its error."""

    __slots__ = ("error",)

    def __init__(self, value: Array, error: Array | float = 0.0) -> None:
        self.value = value
        self.error = error

    def _joined(self, other: object, operation: Operation, *, swapped: bool) -> object:
        if isinstance(other, int) and not isinstance(other, bool):
            other = BOUNDS._rational(Fraction(other))
        elif not isinstance(other, Bounded):
            if isinstance(other, Scalar) or _is_object(other):
                return NotImplemented
            raise mixed(other)
        a, b = (other, self) if swapped else (self, other)
        with np.errstate(all="ignore"):
            if operation is mul:
                return _product(a, b)
            return _sum(a, b, operation) if operation in (add, sub) else _quotient(a, b)

    def __neg__(self) -> Bounded:
        return Bounded(-self.value, self.error)

    def __abs__(self) -> Bounded:
        return Bounded(abs(self.value), self.error)


def _sum(a: Bounded, b: Bounded, operation: Operation) -> Bounded:
    """Return the sum or difference; Knuth's formula gives its exact rounding error.

    The error of the result is at most the two errors plus the rounding error. On overflow the
    formula gives NaN, which proves nothing in any comparison.
    """
    x, y = a.value, b.value if operation is add else -b.value
    result = x + y
    back = result - x
    lost = abs((x - (result - back)) + (y - back))
    return Bounded(result, (a.error + b.error + lost) * _UP)


def _rounded_off(x: Array, y: Array, product: Array) -> Array:
    """Return the exact rounding error of a product of floats, by Dekker's splitting.

    Without underflow or overflow, the four partial products of halves are exact.
    """
    high, low = _split(x)
    other_high, other_low = (high, low) if y is x else _split(y)
    lost = high * other_high - product + high * other_low + low * other_high
    return lost + low * other_low


def _split(z: Any) -> tuple[Any, Any]:
    """Return two floats with half of the digits each, whose sum is the given float."""
    large = _SPLIT * z
    high = large - (large - z)
    return high, z - high


def _dust(result: Array, *factors: Array) -> Array:
    """Return a bound of the error that underflow causes in a product or quotient of nonzeros."""
    small = abs(result) < _LEAST
    if not small.any():
        return np.zeros(1)
    for factor in factors:
        small = small & (factor != 0.0)
    return np.where(small, _DUST, 0.0)


def _inexact(*numbers: Bounded) -> Array:
    """Return a bound of the underflow in products of errors; 0 if no error is positive."""
    any_error = functools.reduce(or_, [number.error > 0.0 for number in numbers])
    return np.where(any_error, _DUST, 0.0)


def _is_exact(number: Bounded) -> bool:
    """Return whether all errors are 0."""
    error = number.error
    return not error.any() if isinstance(error, np.ndarray) else error == 0.0


def _product(a: Bounded, b: Bounded) -> Bounded:
    """Return the product; |x y - x' y'| <= |y| |x - x'| + |x| |y - y'| + |x - x'| |y - y'|."""
    x, y = a.value, b.value
    result = x * y
    # Dekker's formula is exact unless a partial product underflows; `_dust` covers that case
    error = abs(_rounded_off(x, y, result)) + _dust(result, x, y)
    rounded = [number for number in (a, b) if not _is_exact(number)]
    for other in rounded:
        one = b if other is a else a
        # `where` and not a product alone: infinity times an error of 0 would be NaN
        error = error + np.where(other.error > 0.0, abs(one.value) * other.error, 0.0)
    if rounded:  # each product with an error may underflow
        error = error + a.error * b.error + _inexact(a, b)
    return Bounded(result, error * _UP)


def _quotient(a: Bounded, b: Bounded) -> Bounded:
    """Return the quotient, with an infinite error if the divisor may be 0.

    The remainder x - q y of the rounded quotient q is a float, so that the rounding error is this
    remainder over y. Errors e of x and f of y add at most (e + |q| f) / (|y| - f).
    """
    x, y = a.value, b.value
    result = x / y
    product = result * y
    lost = abs(((x - product) - _rounded_off(result, y, product)) / y)
    small = (abs(result) < _LEAST) | (abs(x) < _LEAST) | (abs(product) < _LEAST)
    # the remainder may underflow for small numbers, and its error is divided by y
    lost = lost + np.where(small & (x != 0.0), _DUST / abs(y) + _DUST, 0.0)
    inside = abs(y) > b.error
    away = (a.error + abs(result) * b.error + _inexact(a, b)) / (abs(y) - b.error) + _inexact(a, b)
    return Bounded(result, np.where(inside, (lost + away) * _UP, np.inf))


def _exp(x: Bounded) -> Bounded:
    """Return the exponential; |exp(x + e) - exp(x)| <= exp(x) (exp(|e|) - 1)."""
    result = np.exp(x.value)
    error = result * (np.expm1(x.error) * _UP + _UNITS) + _dust(result)
    return Bounded(result, np.where((x.value == 0.0) & (x.error == 0.0), 0.0, error))


def _log(x: Bounded) -> Bounded:
    """Return the logarithm; its slope is at most 1/(x - e) on the interval x +- e."""
    result = np.log(x.value)
    error = abs(result) * _UNITS + x.error / (x.value - x.error)
    return Bounded(result, np.where(x.value > x.error, error * _UP, np.inf))


def _sqrt(x: Bounded) -> Bounded:
    """Return the root; |sqrt(x + e) - sqrt(x)| <= |e|/sqrt(x) if |e| <= x.

    If the interval x +- e holds negative numbers, the root of the largest one bounds the error.
    """
    result = np.sqrt(np.maximum(x.value, 0.0))
    square = result * result
    exact = (square == x.value) & (_rounded_off(result, result, square) == 0.0)
    exact = (exact & (square > _LEAST)) | (x.value == 0.0)
    away = np.where(x.error <= x.value, x.error / result, np.sqrt(np.maximum(x.value, 0) + x.error))
    away = np.where(x.error > 0.0, away + _DUST, 0.0)
    error = np.where(exact, 0.0, result * _UNITS) + away
    return Bounded(result, np.where(x.value + x.error < 0.0, np.inf, error * _UP))


def _is_zero(x: Bounded) -> Bounded:
    """Return 1 or 0, with an error of 1 if the bound of x leaves open whether x is 0."""
    sure = (abs(x.value) > x.error) | ((x.value == 0.0) & (x.error == 0.0))
    return Bounded(np.where(x.value == 0.0, 1.0, 0.0), np.where(sure, 0.0, 1.0))


def _elementary(function: Callable[[Bounded], Bounded]) -> Callable[..., Numbers]:
    """Return a function of bounded numbers as a function of the namespace."""

    def quietly(x: Bounded) -> Bounded:
        with np.errstate(all="ignore"):
            return function(x)

    return elementary(quietly)


class Bounds(Lanes):
    """Batches of floats in numpy, each with a bound for its error."""

    name = "bounds"
    library = np
    numbers = Bounded

    exp = _elementary(_exp)
    log = _elementary(_log)
    sqrt = _elementary(_sqrt)
    abs = _elementary(abs)
    is_zero = _elementary(_is_zero)

    def zeros(self, batch: int) -> Array:
        """Return one 0 for each instance of a batch."""
        return np.zeros(batch)

    def _rational(self, value: Fraction) -> Bounded:
        near = float_of(value)
        error = np.inf if np.isinf(near) else float_of(abs(value - Fraction(near))) * _UP
        if value != Fraction(near):
            error += _DUST  # a subnormal difference may be rounded down
        return Bounded(self.zeros(1) + near, error)

    def maximum(self, x: Any, y: Any) -> Lane:
        """Return the larger one; either may be a plain integer."""
        x, y = (self.exact(z) if isinstance(z, int) else z for z in (x, y))
        return Bounded(np.maximum(x.value, y.value), np.maximum(x.error, y.error))

    def spectral(self, A: Numbers) -> Lane:
        """Return the largest singular value; by Weyl's inequality, entries' errors add at most."""
        if 1 in A.shape:
            return self.norm(A)
        numbers = A.ravel().tolist()
        results = FLOATS.spectral(entries([Lane(x.value) for x in numbers], A.shape)).value
        errors = _stacked([Lane(x.error + 0.0 * x.value) for x in numbers])
        return Bounded(results, results * _SPECTRAL + np.abs(errors).sum(axis=0))


BOUNDS = Bounds()
"""The arithmetic of floats with bounds; it has no state."""
