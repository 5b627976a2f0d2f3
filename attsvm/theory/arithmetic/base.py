"""The namespace `m` over which a formula is written once.

A formula is a function of `m` and of values; what it means is written here, once for every
arithmetic: numbers are scalars of one arithmetic, vectors and matrices are arrays of them
(`Entries`), and `+ - * / @` and `.T` work as in numpy. An arithmetic supplies a handful of
primitives (exponential, logarithm, root, absolute value, maximum, spectral norm); all else follows.
No function has a truth value: a comparison is returned, and the engine decides it.
"""

from __future__ import annotations

import functools
import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from attsvm.theory.arithmetic.entries import Entries, entries, misuse
from attsvm.theory.arithmetic.relations import All, AnyOf, Comparison, Relation

Scalar = Any
"""A number of one arithmetic."""

Values = Any
"""An array of numbers of one arithmetic: `Entries`, or text where the formula is written down."""


def each(function: Callable[[Scalar], Scalar], x: Any) -> Any:
    """A function of a number, on each entry of an array."""
    if isinstance(x, Entries):
        return entries([function(value) for value in x.ravel().tolist()], x.shape)
    return function(x)


def elementary(function: Callable[[Scalar], Scalar]) -> Callable[..., Any]:
    """A function of a number as one of the namespace, which takes integers and arrays as well."""
    return lambda m, x: each(function, m.exact(x) if isinstance(x, int) else x)


class Arithmetic(ABC):
    """The functions that a formula may use; see the module."""

    name: str
    """One word: balls, floats, tensors, symbols, text."""

    numbers: Any
    """The type of its numbers, or several."""

    # what each arithmetic supplies

    @abstractmethod
    def _rational(self, value: Fraction) -> Scalar:
        """A rational number."""

    @abstractmethod
    def exp(self, x: Scalar) -> Scalar:
        """The exponential of a number, or of each entry."""

    @abstractmethod
    def log(self, x: Scalar) -> Scalar:
        """The natural logarithm of a positive number, or of each entry."""

    @abstractmethod
    def sqrt(self, x: Scalar) -> Scalar:
        """The root of a number that is not negative: rounding below 0 counts as 0."""

    @abstractmethod
    def abs(self, x: Scalar) -> Scalar:
        """The absolute value of a number, or of each entry."""

    @abstractmethod
    def maximum(self, x: Scalar, y: Scalar) -> Scalar:
        """The larger one of two numbers."""

    @abstractmethod
    def is_zero(self, x: Scalar) -> Scalar:
        """1 where a number, or an entry, is 0, and 0 elsewhere."""

    @abstractmethod
    def spectral(self, A: Entries) -> Scalar:
        """The spectral norm of a matrix, its largest singular value."""

    # numbers

    def exact(self, value: int | str | Fraction) -> Scalar:
        """A constant: an integer such as a length, a fraction, or decimals in quotes, '0.95'.

        A number of this arithmetic, such as a constant of the reading, stays as it is.

        Raises:
            ClaimError: a float, whose decimals would not be those that were written.
        """
        if isinstance(value, self.numbers):
            return value
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

    def values(self, x: Any) -> Any:
        """The numbers of a field of a record: one or an array of floats, integers or rationals."""
        if isinstance(x, np.ndarray | list | tuple):
            array = np.array(x, dtype=object)
            return entries([self._given(number) for number in array.ravel()], array.shape)
        return self._given(x)

    def _given(self, number: Any) -> Scalar:
        return self._rational(Fraction(*number.as_integer_ratio()))

    def minimum(self, x: Scalar, y: Scalar) -> Scalar:
        """The smaller one of two numbers."""
        return -self.maximum(-x, -y)

    def power(self, x: Scalar, k: int) -> Scalar:
        """The k-th power of a number or of each entry, by multiplication; k is at least 0."""
        result = self.exact(1)
        for _ in range(k):
            result = result * x
        return result

    def square(self, x: Scalar) -> Scalar:
        """The square of a number, or of each entry."""
        return x * x

    def logistic(self, x: Scalar) -> Scalar:
        """g(x) = 1 / (1 + exp(-x))."""
        return 1 / (1 + self.exp(-x))

    def logistic_slope(self, x: Scalar) -> Scalar:
        """g'(x) = g (1 - g)."""
        e = self.exp(-x)
        return e / ((1 + e) * (1 + e))

    def logistic_curvature(self, x: Scalar) -> Scalar:
        """g''(x) = g (1 - g) (1 - 2 g)."""
        e = self.exp(-x)
        return e * (e - 1) / ((1 + e) * (1 + e) * (1 + e))

    def softplus(self, x: Scalar) -> Scalar:
        """The logarithm of 1 + exp(x)."""
        return self.log(1 + self.exp(x))

    def expm1(self, x: Scalar) -> Scalar:
        """exp(x) - 1, where the arithmetic can without cancellation; exactly 0 at 0."""
        return self.exp(x) - 1

    def log1p(self, x: Scalar) -> Scalar:
        """ln(1 + x), where the arithmetic can without cancellation; exactly 0 at 0."""
        return self.log(1 + x)

    # arrays

    def array(self, values: Iterable[Any]) -> Values:
        """A vector of numbers, a matrix of rows, and so on."""
        return entries(list(values))

    def size(self, x: Entries) -> Any:
        """The number of entries."""
        return x.size

    def sum(self, x: Entries) -> Scalar:
        """The sum of all entries."""
        return functools.reduce(lambda a, b: a + b, self._flat(x))

    def sums(self, A: Entries) -> Values:
        """The sum of each row of a matrix."""
        return entries([self.sum(row) for row in A])

    def trace(self, A: Entries) -> Scalar:
        """The sum of the diagonal of a square matrix."""
        return self.sum(entries([A[i, i] for i in range(len(A))]))

    def max(self, x: Entries) -> Scalar:
        """The largest entry."""
        return functools.reduce(self.maximum, self._flat(x))

    def min(self, x: Entries) -> Scalar:
        """The smallest entry."""
        return functools.reduce(self.minimum, self._flat(x))

    def oscillation(self, x: Entries) -> Scalar:
        """The largest entry minus the smallest."""
        return self.max(x) - self.min(x)

    def dot(self, x: Entries, y: Entries) -> Scalar:
        """The inner product of two vectors."""
        return x @ y

    def norm(self, x: Entries) -> Scalar:
        """The Euclidean norm of a vector; of a matrix, its Frobenius norm."""
        return self.sqrt(self.sum(self.square(x)))

    def largest(self, x: Entries) -> Scalar:
        """The largest absolute value of an entry."""
        return self.max(self.abs(x))

    def outer(self, x: Entries, y: Entries) -> Values:
        """The matrix x y^T."""
        return x.reshape(-1, 1) * y.reshape(1, -1)

    def differences(self, x: Entries) -> Values:
        """The matrix of the differences x_i - x_j of the entries of a vector."""
        return x.reshape(-1, 1) - x.reshape(1, -1)

    def diagonal(self, x: Entries) -> Values:
        """The diagonal matrix of a vector."""
        zero = self.exact(0)
        places = range(len(x))
        return entries([[x[i] if i == j else zero for j in places] for i in places])

    def identity(self, n: int) -> Values:
        """The identity matrix."""
        return self.diagonal(entries([self.exact(1)] * n))

    def vec(self, X: Entries) -> Values:
        """The entries of a matrix row by row."""
        return X.reshape(-1)

    def mat(self, x: Entries, rows: int) -> Values:
        """The matrix of so many rows whose entries row by row are those of a vector."""
        return entries(x.ravel(), (rows, x.size // rows))

    def kron(self, A: Entries, B: Entries) -> Values:
        """The Kronecker product of two matrices."""
        (m, r), (n, c) = A.shape, B.shape
        return (A.reshape(m, 1, r, 1) * B.reshape(1, n, 1, c)).reshape(m * n, r * c)

    def diameter(self, A: Entries) -> Scalar:
        """The largest distance of two rows."""
        apart = (row - other for row, other in itertools.combinations(A, 2))
        squares = (d @ d for d in apart)  # one at a time, as there may be millions
        first = next(squares, None)
        if first is None:
            return self.exact(0)
        return self.sqrt(functools.reduce(self.maximum, squares, first))

    def spread(self, A: Entries) -> Scalar:
        """The largest distance of two rows over the root of 2; at most the spectral norm."""
        return self.diameter(A) / self.sqrt(self.exact(2))

    def softmax(self, s: Entries) -> Values:
        """exp(s) over the sum of its entries; of a matrix, that of each row."""
        if s.ndim == 2:
            return entries([self.softmax(row) for row in s])
        if len(s) == 1:
            return entries([self.exact(1)])
        powers = self.exp(s - self._level(s))
        return powers / self.sum(powers)

    def covariance(self, f: Entries, h: Entries) -> Values:
        """(diag(f) - f f^T) h for weights f of sum 1."""
        return f * (h - f @ h)

    # comparisons

    def at_most(self, left: Scalar, right: Scalar) -> Relation:
        """The comparison left <= right."""
        return Comparison("at most", left, right)

    def at_least(self, left: Scalar, right: Scalar) -> Relation:
        """The comparison left >= right."""
        return Comparison("at most", right, left)

    def below(self, left: Scalar, right: Scalar) -> Relation:
        """The comparison left < right."""
        return Comparison("below", left, right)

    def above(self, left: Scalar, right: Scalar) -> Relation:
        """The comparison left > right."""
        return Comparison("below", right, left)

    def equal(self, left: Any, right: Any) -> Relation:
        """The comparison left = right, of numbers or entry by entry."""
        return Comparison("equal", left, right)

    def all_of(self, *parts: Relation) -> Relation:
        """Return the conjunction of these relations; without any it is true, as 0 <= 1."""
        return All(parts) if parts else self.at_most(self.exact(0), self.exact(1))

    def any_of(self, *parts: Relation) -> Relation:
        """Return the disjunction of these relations; without any it is false, as 1 <= 0."""
        return AnyOf(parts) if parts else self.at_most(self.exact(1), self.exact(0))

    # helpers of subclasses

    def _level(self, s: Entries) -> Scalar:
        """What softmax subtracts from all logits so that no exponential overflows."""
        return self.exact(0)

    def _flat(self, x: Any) -> list[Scalar]:
        if isinstance(x, list | tuple):
            x = self.array(x)
        return x.ravel().tolist() if isinstance(x, Entries) else [x]
