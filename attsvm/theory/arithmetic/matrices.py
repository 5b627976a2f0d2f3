"""Functions of vectors and matrices that any arithmetic computes by its sums and products."""

from __future__ import annotations

import functools
import itertools
from typing import Protocol

from attsvm.theory.arithmetic.entries import entries
from attsvm.theory.arithmetic.quantities import Number, Numbers


class Matrices(Protocol):
    """Functions of vectors and matrices; what they need of an arithmetic is declared first."""

    def exact(self, value: object) -> Number:
        """Return a constant of this arithmetic."""

    def sqrt(self, x: Number) -> Numbers:
        """Return the root of a number."""

    def sum(self, x: Numbers) -> Number:
        """Return the sum of all entries."""

    def maximum(self, x: Number, y: Number) -> Number:
        """Return the larger of two numbers."""

    def sums(self, A: Numbers) -> Numbers:
        """Return the sum of each row of a matrix."""
        return entries([self.sum(row) for row in A])

    def trace(self, A: Numbers) -> Number:
        """Return the sum of the diagonal of a square matrix."""
        return self.sum(entries([A[i, i] for i in range(len(A))]))

    def outer(self, x: Numbers, y: Numbers) -> Numbers:
        """Return the matrix x y^T."""
        return x.reshape(-1, 1) * y.reshape(1, -1)

    def differences(self, x: Numbers) -> Numbers:
        """Return the matrix of the differences x_i - x_j of the entries of a vector."""
        return x.reshape(-1, 1) - x.reshape(1, -1)

    def diagonal(self, x: Numbers) -> Numbers:
        """Return the diagonal matrix of a vector."""
        zero = self.exact(0)
        places = range(len(x))
        return entries([[x[i] if i == j else zero for j in places] for i in places])

    def identity(self, n: int) -> Numbers:
        """Return the identity matrix."""
        return self.diagonal(entries([self.exact(1)] * n))

    def vec(self, X: Numbers) -> Numbers:
        """Return the entries of a matrix row by row."""
        return X.reshape(-1)

    def mat(self, x: Numbers, rows: int) -> Numbers:
        """Return the matrix with this number of rows that a vector fills row by row."""
        return entries(x.ravel(), (rows, x.size // rows))

    def kron(self, A: Numbers, B: Numbers) -> Numbers:
        """Return the Kronecker product of two matrices."""
        (m, r), (n, c) = A.shape, B.shape
        return (A.reshape(m, 1, r, 1) * B.reshape(1, n, 1, c)).reshape(m * n, r * c)

    def diameter(self, A: Numbers) -> Number:
        """Return the largest distance of two rows."""
        apart = (row - other for row, other in itertools.combinations(A, 2))
        squares = (d @ d for d in apart)  # lazily, as there may be millions
        first = next(squares, None)
        if first is None:
            return self.exact(0)
        return self.sqrt(functools.reduce(self.maximum, squares, first))

    def spread(self, A: Numbers) -> Number:
        """Return the diameter divided by the root of 2, which is at most the spectral norm."""
        return self.diameter(A) / self.sqrt(self.exact(2))
