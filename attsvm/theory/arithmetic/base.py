"""The base of all arithmetics: each function of the namespace, written once for all of them.

An arithmetic supplies a few primitives (exponential, logarithm, root, absolute value, maximum,
spectral norm), from which all other functions are computed. Arrays are `Entries`.
"""

import functools
from abc import abstractmethod
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, Generic, TypeVar

import numpy as np

from attsvm.theory.arithmetic.entries import (
    Entries,
    Number,
    Numbers,
    ensure_natural,
    entries,
    misuse,
    mixed,
)
from attsvm.theory.arithmetic.relations import Composed, each

_N = TypeVar("_N", bound=Number)
"""The type of the numbers of an arithmetic."""


def elementary(function: Callable[..., object]) -> Callable[..., Numbers]:
    """Return a method of the namespace that applies a function to a number or to each entry.

    The method also accepts integers, which become numbers of the arithmetic. It refuses floats,
    also those that a quotient of two integers of Python gives.
    """

    def checked(x: object) -> object:
        if isinstance(x, float):
            raise mixed(x)
        return function(x)

    return lambda m, x: each(checked, m.exact(x) if isinstance(x, int) else x)


class Arithmetic(Composed, Generic[_N]):
    """An arithmetic: its numbers, and the functions of the namespace on them."""

    numbers: Any
    """The type of its numbers, or several."""

    @abstractmethod
    def _rational(self, value: Fraction) -> _N:
        """Return a rational number."""

    # numbers

    def exact(self, value: object) -> _N:
        if isinstance(value, self.numbers):
            number: _N = value
            return number
        if isinstance(value, bool) or not isinstance(value, int | str | Fraction):
            raise misuse(
                f"takes the constant {value!r}, which is not exact",
                "Write an integer, a Fraction, or decimals in quotes such as '0.95'.",
            )
        try:
            return self._rational(Fraction(value))
        except (ValueError, ZeroDivisionError) as error:
            raise misuse(
                f"takes the constant {value!r}, which is no number",
                "Write an integer, a Fraction, or decimals in quotes such as '0.95'.",
            ) from error

    def values(self, x: object) -> Numbers:
        if isinstance(x, np.ndarray | list | tuple):
            array = np.array(x, dtype=object)
            return entries([self._literal(number) for number in array.ravel()], array.shape)
        return self._literal(x)

    def _literal(self, number: Any) -> Any:
        return self._rational(Fraction(*number.as_integer_ratio()))

    def minimum(self, x: Number, y: Number) -> _N:
        return -self.maximum(-x, -y)

    def power(self, x: Number, k: int) -> Numbers:
        ensure_natural(k, "the power")
        result: Any = x
        if k == 0:
            return 0 * result + self.exact(1)  # an array keeps its shape
        for _ in range(k - 1):
            result = result * x
        return result

    def square(self, x: Number) -> Numbers:
        return x * x

    def logistic(self, x: Number) -> Numbers:
        return 1 / (1 + self.exp(-x))

    def logistic_slope(self, x: Number) -> Numbers:
        e = self.exp(-x)
        return e / ((1 + e) * (1 + e))

    def logistic_curvature(self, x: Number) -> Numbers:
        e = self.exp(-x)
        return e * (e - 1) / ((1 + e) * (1 + e) * (1 + e))

    def softplus(self, x: Number) -> Numbers:
        return self.log(1 + self.exp(x))

    def floor(self, x: Number) -> Numbers:
        raise misuse("takes the floor of a letter", "Use it on known numbers.")

    def expm1(self, x: Number) -> Numbers:
        return self.exp(x) - 1

    def log1p(self, x: Number) -> Numbers:
        return self.log(1 + x)

    # arrays

    def array(self, values: Iterable[Number]) -> Numbers:
        numbers = entries(list(values))
        flat = numbers.ravel().tolist()
        if not any(type(x) is int for x in flat):
            return numbers
        # a norm or an eigenvalue of floats takes numbers of their arithmetic alone
        return entries([self.exact(x) if type(x) is int else x for x in flat], numbers.shape)

    def size(self, x: Numbers) -> Number:
        return x.size

    def sum(self, x: Numbers) -> _N:
        return functools.reduce(lambda a, b: a + b, self._flat(x))

    def max(self, x: Numbers) -> _N:
        return functools.reduce(self.maximum, self._flat(x))

    def min(self, x: Numbers) -> _N:
        return functools.reduce(self.minimum, self._flat(x))

    def oscillation(self, x: Numbers) -> _N:
        return self.max(x) - self.min(x)

    def dot(self, x: Numbers, y: Numbers) -> _N:
        product: Any = x @ y
        return product

    def norm(self, x: Numbers) -> _N:
        root: Any = self.sqrt(self.sum(self.square(x)))
        return root

    def largest(self, x: Numbers) -> _N:
        return self.max(self.abs(x))

    def softmax(self, s: Numbers) -> Numbers:
        if s.ndim == 2:
            return entries([self.softmax(row) for row in s])
        if len(s) == 1:  # exactly 1; a quotient of two balls would only contain 1
            return entries([self.exact(1)])
        powers = self.exp(s - self._level(s))
        return powers / self.sum(powers)

    def covariance(self, f: Numbers, h: Numbers) -> Numbers:
        return f * (h - f @ h)

    # how a formula is written down

    def symbol(self, latex: str, says: str, *, rows: bool = False) -> Numbers:
        raise misuse(
            "asks for the notation of a primitive in an arithmetic that computes",
            'Call m.symbol only if m.name == "text".',
        )

    # helpers of subclasses

    def _level(self, s: Numbers) -> _N:
        """Return the number that softmax subtracts from all logits to prevent overflow."""
        return self.exact(0)

    def _flat(self, x: object) -> list[Any]:
        if isinstance(x, list | tuple):
            x = self.array(x)
        return x.ravel().tolist() if isinstance(x, Entries) else [x]
