"""Arithmetic of batches of floats, each with a proved bound for its rounding error.

If the exact result of a sum or product is a float, no error is added. Therefore sums and products
below 2^53 of integers, and of short dyadic numbers, are exact. Otherwise the bound grows by the
rounding error of the operation.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction
from operator import add, and_, mul, or_, sub
from typing import Any

import numpy as np

from attsvm._types import Array
from attsvm.theory.arithmetic.base import Arithmetic, elementary
from attsvm.theory.arithmetic.entries import Number, Numbers, Operation, Scalar, entries, mixed
from attsvm.theory.arithmetic.lanes import (
    FLOATS,
    Batch,
    Lane,
    Lanes,
    _is_object,
    _stacked,
    float_of,
)
from attsvm.theory.arithmetic.matrices import ensure_matrix

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

    __slots__ = ("_exact", "_halves", "_live", "error")

    def __init__(self, value: Array, error: Array | float = 0.0) -> None:
        self.value = value
        self.error = error
        self._exact: bool | None = None
        self._halves: tuple[Array, Array] | None = None
        self._live: Array | None = None

    @property
    def exact(self) -> bool:
        """Whether all errors are 0."""
        if self._exact is None:
            self._exact = not np.any(self.error)
        return self._exact

    @property
    def live(self) -> Array:
        """Tell the instances with a number that may differ from 0."""
        if self._live is None:
            self._live = self.value != 0.0
            if not self.exact:
                self._live = self._live | (self.error > 0.0)
        return self._live

    @property
    def halves(self) -> tuple[Array, Array]:
        """Two floats with half of the digits each, whose sum is the number."""
        if self._halves is None:
            large = _SPLIT * self.value
            high = large - (large - self.value)
            self._halves = high, self.value - high
        return self._halves

    def _joined(self, other: object, operation: Operation, *, swapped: bool) -> object:
        if isinstance(other, int) and not isinstance(other, bool):
            other = BOUNDS._rational(Fraction(other))
        elif not isinstance(other, Bounded):
            if isinstance(other, Scalar) or _is_object(other):
                return NotImplemented
            raise mixed(other)
        if isinstance(self, Unbounded) or isinstance(other, Unbounded):
            return Unbounded()
        a, b = (other, self) if swapped else (self, other)
        with np.errstate(all="ignore"):
            if operation is mul:
                return _product(a, b)
            return _sum(a, b, operation) if operation in (add, sub) else _quotient(a, b)

    def __neg__(self) -> Bounded:
        return Bounded(-self.value, self.error)

    def __abs__(self) -> Bounded:
        return Bounded(abs(self.value), self.error)


class Unbounded(Bounded):
    """A number without an error bound on any instance; results computed from it have none either.

    The floats of a primitive give such numbers. Operations on them cost nothing.
    """

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(np.zeros(1), np.inf)

    def __neg__(self) -> Unbounded:
        return self

    __abs__ = __neg__


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


def _rounded_off(a: Bounded, b: Bounded, product: Array) -> Array:
    """Return the exact rounding error of a product of floats, by Dekker's splitting.

    Without underflow or overflow, the four partial products of halves are exact.
    """
    high, low = a.halves
    other_high, other_low = b.halves
    lost = high * other_high
    lost -= product
    lost += high * other_low
    lost += low * other_high
    lost += low * other_low
    return lost


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
    return np.where(_has_error(*numbers), _DUST, 0.0)


def _has_error(*numbers: Bounded) -> Array:
    """Return which instances have a positive error in one of the numbers."""
    some = [np.asarray(number.error > 0.0) for number in numbers if not number.exact]
    return functools.reduce(or_, some) if some else np.zeros(1, dtype=bool)


def _product(a: Bounded, b: Bounded) -> Bounded:
    """Return the product; |x y - x' y'| <= |y| |x - x'| + |x| |y - y'| + |x - x'| |y - y'|.

    A factor that is infinite or NaN gives the error NaN, which proves nothing in any comparison.
    """
    x, y = a.value, b.value
    result = x * y
    # Dekker's formula is exact unless a partial product underflows; `_dust` covers that case
    lost = _rounded_off(a, b, result)
    error = np.abs(lost, out=lost) + _dust(result, x, y)
    if a.exact and b.exact:
        return Bounded(result, error * _UP)
    if not a.exact:
        error = error + abs(y) * a.error
    if not b.exact:
        error = error + abs(x) * b.error
    if not (a.exact or b.exact):
        error = error + a.error * b.error
    # each product with an error may underflow, except products with an exact 0
    dust = np.where(_has_error(a, b) & a.live & b.live, _DUST, 0.0)
    return Bounded(result, (error + dust) * _UP)


def _quotient(a: Bounded, b: Bounded) -> Bounded:
    """Return the quotient, with an infinite error if the divisor may be 0.

    The remainder x - q y of the rounded quotient q is a float, so that the rounding error is this
    remainder over y. Errors e of x and f of y add at most (e + |q| f) / (|y| - f).
    """
    x, y = a.value, b.value
    result = x / y
    product = result * y
    lost = abs(((x - product) - _rounded_off(Bounded(result), b, product)) / y)
    small = (abs(result) < _LEAST) | (abs(x) < _LEAST) | (abs(product) < _LEAST)
    # the remainder may underflow for small numbers, and its error is divided by y
    lost = lost + np.where(small & (x != 0.0), _DUST / abs(y) + _DUST, 0.0)
    inside = abs(y) > b.error
    dust = _inexact(a, b)
    away = (a.error + abs(result) * b.error + dust) / (abs(y) - b.error) + dust
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
    root = Bounded(result)
    exact = (square == x.value) & (_rounded_off(root, root, square) == 0.0)
    exact = (exact & (square > _LEAST)) | (x.value == 0.0)
    away = np.where(x.error <= x.value, x.error / result, np.sqrt(np.maximum(x.value, 0) + x.error))
    away = np.where(x.error > 0.0, away + _DUST, 0.0)
    error = np.where(exact, 0.0, result * _UNITS) + away
    return Bounded(result, np.where(x.value + x.error < 0.0, np.inf, error * _UP))


def _is_zero(x: Bounded) -> Bounded:
    """Return 1 or 0, with an error of 1 if the bound of x leaves open whether x is 0."""
    sure = (abs(x.value) > x.error) | ((x.value == 0.0) & (x.error == 0.0))
    return Bounded(np.where(x.value == 0.0, 1.0, 0.0), np.where(sure, 0.0, 1.0))


def _floor(x: Bounded) -> Bounded:
    """Return the floor, with an error unless the bound of x decides it."""
    low, high = np.floor(x.value - x.error), np.floor(x.value + x.error)
    value = np.floor(x.value)
    return Bounded(value, np.where(low == high, 0.0, high - low + 1.0))


def _elementary(function: Callable[[Bounded], Bounded]) -> Callable[..., Numbers]:
    """Return a function of bounded numbers as a function of the namespace."""

    def quietly(x: Bounded) -> Bounded:
        if isinstance(x, Unbounded):
            return x if function is not _is_zero else Bounded(np.zeros(1), 1.0)
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
    floor = _elementary(_floor)

    def zeros(self, batch: int) -> Array:
        """Return one 0 for each instance of a batch."""
        return np.zeros(batch)

    def _rational(self, value: Fraction) -> Bounded:
        near = float_of(value)
        if np.isinf(near):
            return Bounded(self.zeros(1) + near, np.inf)
        error = float_of(abs(value - Fraction(near))) * _UP
        if value != Fraction(near):
            error += _DUST  # a subnormal difference may be rounded down
        return Bounded(self.zeros(1) + near, error)

    def maximum(self, x: Any, y: Any) -> Lane:
        """Return the larger one; either may be a plain integer."""
        x, y = (self.exact(z) if isinstance(z, int) else z for z in (x, y))
        if isinstance(x, Unbounded) or isinstance(y, Unbounded):
            return Unbounded()
        return Bounded(np.maximum(x.value, y.value), np.maximum(x.error, y.error))

    psd, pd, tanh = Arithmetic.psd, Arithmetic.pd, Arithmetic.tanh

    def _whole(self, name: str, *numbers: Number) -> Lane:
        """Return a function of integers, exact up to 2^53."""
        known: list[Batch] = [self.exact(x) for x in numbers]
        result = FLOATS._whole(name, *(Lane(x.value) for x in known)).value
        sure = functools.reduce(and_, [x.error == 0.0 for x in known], abs(result) <= 2.0**53)
        return Bounded(result, np.where(sure, 0.0, np.inf))

    def _eigenvalues(self, S: Numbers) -> Numbers:
        return self._near(S, FLOATS._eigenvalues)

    def singular(self, A: Numbers) -> Numbers:
        ensure_matrix(A)
        return entries([self.norm(A)]) if 1 in A.shape else self._near(A, FLOATS.singular)

    def _near(self, A: Numbers, function: Callable[[Numbers], Numbers]) -> Numbers:
        """Return singular values or eigenvalues; by Weyl, the error of the matrix bounds theirs."""
        results = function(entries([Lane(x.value) for x in A.ravel()], A.shape))
        numbers = [Lane(x.error + 0.0 * x.value) for x in A.ravel()]
        errors = np.abs(_stacked(numbers)).sum(axis=0)
        sizes = [Lane(abs(x.value)) for x in A.ravel()]
        errors = errors + _SPECTRAL * np.abs(_stacked(sizes)).sum(axis=0)
        return entries([Bounded(x.value, errors) for x in results])

    def spectral(self, A: Numbers) -> Lane:
        """Return the largest singular value; by Weyl's inequality, entries' errors add at most."""
        ensure_matrix(A)
        if 1 in A.shape:
            return self.norm(A)
        numbers = A.ravel().tolist()
        if any(isinstance(x, Unbounded) for x in numbers):
            return Unbounded()
        results = FLOATS.spectral(entries([Lane(x.value) for x in numbers], A.shape)).value
        errors = _stacked([Lane(x.error + 0.0 * x.value) for x in numbers])
        return Bounded(results, results * _SPECTRAL + np.abs(errors).sum(axis=0))


BOUNDS = Bounds()
"""The arithmetic of floats with bounds; it has no state."""
