"""Functions of vectors and matrices, written once for all arithmetics."""

import functools
import itertools
from collections.abc import Iterable
from typing import Protocol

from attsvm.theory.arithmetic.entries import Number, Numbers, ensure_natural, entries, misuse

_BY_MINORS = 8
"""Largest size of a matrix whose determinant is expanded by minors; else Faddeev-LeVerrier."""


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
        return self.sum(entries([A[i, i] for i in range(_size(A))]))

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
        result: Numbers = x.reshape(rows, -1)
        return result

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


class Spectra(Matrices, Protocol):
    """Determinants, inverses, eigenvalues, singular values and operator norms of matrices."""

    def max(self, x: Numbers) -> Number:
        """Return the largest entry."""

    def array(self, values: Iterable[Number]) -> Numbers:
        """Return a vector of numbers."""

    def abs(self, x: Number) -> Numbers:
        """Return the absolute value of a number, or of each entry."""

    def matrix_power(self, A: Numbers, k: int) -> Numbers:
        """Return the k-th power of a square matrix, for k >= 0."""
        ensure_natural(k, "the power")
        result = self.identity(len(A))
        for _ in range(k):
            result = result @ A
        return result

    def det(self, A: Numbers) -> Number:
        """Return the determinant of a square matrix, a polynomial in its entries."""
        n = _size(A)
        if n > _BY_MINORS:
            return self.symmetric_functions(A)[n - 1]
        minors = {1 << j: A[0, j] for j in range(n)}  # of the first rows, by the set of columns
        for row in range(1, n):
            larger: dict[int, Number] = {}
            for columns, minor in minors.items():
                for j in (j for j in range(n) if not columns >> j & 1):
                    term = A[row, j] * minor
                    term = -term if (columns >> j).bit_count() % 2 else term
                    both = columns | 1 << j
                    larger[both] = larger[both] + term if both in larger else term
            minors = larger
        return minors[(1 << n) - 1]

    def inverse(self, A: Numbers) -> Numbers:
        """Return the inverse of a square matrix; a singular matrix divides by 0."""
        functions, adjugate = self._leverrier(A)
        return adjugate / functions[-1]

    def solve(self, A: Numbers, b: Numbers) -> Numbers:
        """Return the solution x of A x = b for a square matrix A."""
        return self.inverse(A) @ b

    def symmetric_functions(self, A: Numbers) -> Numbers:
        """Return the n elementary symmetric functions of the eigenvalues of a square matrix.

        The first is the trace, the last is the determinant.
        """
        return self.array(self._leverrier(A)[0])

    def _leverrier(self, A: Numbers) -> tuple[list[Number], Numbers]:
        """Return the symmetric functions of the eigenvalues and the adjugate, by Faddeev-LeVerrier.

        With M_1 = I, e_k = tr(A M_k) / k and M_(k+1) = e_k I - A M_k, the adjugate is M_n.
        """
        n, functions = _size(A), list[Number]()
        one = self.identity(n)
        adjugate = one
        for k in range(1, n + 1):
            product = A @ adjugate
            functions.append(self.trace(product) / k)
            if k < n:
                adjugate = one * functions[-1] - product
        return functions, adjugate

    def eigenvalues(self, A: Numbers) -> Numbers:
        """Return the eigenvalues of the symmetric part (A + A^T)/2 in ascending order."""
        n = _size(A)
        if n == 1:
            return self.array([A[0, 0]])
        if n > 2:
            return self._eigenvalues(self._symmetric(A))
        middle, half = (A[0, 0] + A[1, 1]) / 2, (A[0, 0] - A[1, 1]) / 2
        apart = (A[0, 1] + A[1, 0]) / 2
        root = self.sqrt(half * half + apart * apart)
        return self.array([middle - root, middle + root])

    def _symmetric(self, A: Numbers) -> Numbers:
        """Return the symmetric part of a square matrix."""
        _size(A)
        return (A + A.T) / 2

    def _eigenvalues(self, S: Numbers) -> Numbers:
        """Return the eigenvalues of a symmetric matrix of size 3 or more in ascending order."""
        raise misuse("takes eigenvalues of a matrix of size 3 or more here", "Use m.psd or m.det.")

    def singular(self, A: Numbers) -> Numbers:
        """Return the singular values of a matrix in descending order."""
        ensure_matrix(A)
        rows = A if A.shape[0] <= A.shape[1] else A.T
        values = self.eigenvalues(rows @ rows.T)
        return self.array([self.sqrt(values[k]) for k in reversed(range(len(rows)))])

    def norm_1(self, A: Numbers) -> Number:
        """Return the 1-norm of a vector, or the operator 1-norm: the largest sum of a column."""
        sizes = self.abs(A)
        return self.sum(sizes) if A.ndim == 1 else self.max(self.sums(sizes.T))

    def norm_inf(self, A: Numbers) -> Number:
        """Return the infinity norm of a vector, or the operator norm: the largest sum of a row."""
        sizes = self.abs(A)
        return self.max(sizes if A.ndim == 1 else self.sums(sizes))


def ensure_matrix(A: Numbers) -> None:
    """Raise unless an array is a matrix.

    Raises:
        ClaimError: it has another number of axes.
    """
    if A.ndim != 2:
        raise misuse("takes singular values of an array that is no matrix", "Use m.norm(x).")


def _size(A: Numbers) -> int:
    """Return the size of a square matrix.

    Raises:
        ClaimError: the matrix is not square.
    """
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise misuse("takes a function of square matrices", "Give a square matrix.")
    return A.shape[0]
