"""Exact values: floats as rationals, vectors and matrices of rationals, exact data sets."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, fmpq, fmpz, fmpz_mat

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import DataError

__all__ = [
    "ExactData",
    "combine",
    "dot",
    "integers",
    "is_positive_semidefinite",
    "norm",
    "rational",
    "rationals",
    "spectral_norm",
    "subtract",
]

Number = Any  # fmpq or arb
Vector = list[Number]
Matrix = list[list[Number]]


def rational(value: float | int | Fraction | fmpq) -> fmpq:
    """The exact value of a float, integer or fraction.

    Raises:
        DataError: NaN or infinite.
    """
    if isinstance(value, fmpq):
        return value
    try:
        exact = Fraction(value)
    except (ValueError, OverflowError) as error:
        raise DataError("a value that is not finite has no exact value", value=value) from error
    return fmpq(exact.numerator, exact.denominator)


def rationals(array: Array) -> Any:
    """Nested lists of the exact values of an array, of any number of dimensions."""
    if array.ndim == 0:
        return rational(array.item())
    return [rationals(np.asarray(part)) for part in array]


def integers(matrix: Array) -> tuple[fmpz_mat, fmpz]:
    """A float matrix as an integer matrix over one power of two, exactly.

    Raises:
        DataError: NaN or infinite entries.
    """
    if not np.isfinite(matrix).all():
        raise DataError("a matrix that is not finite has no exact value", value=matrix.shape)
    mantissas, exponents = np.frexp(matrix)
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    powers = np.where(whole == 0, 0, exponents - 53).astype(np.int64)
    least = min(int(powers.min()), 0)
    rows = zip(whole.tolist(), (powers - least).tolist(), strict=True)
    return (
        fmpz_mat([[x << p for x, p in zip(xs, ps, strict=True)] for xs, ps in rows]),
        fmpz(1) << -least,
    )


def dot(a: Vector, b: Vector) -> Number:
    """Inner product of two vectors."""
    total: Number = fmpq(0)
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


def norm(a: Vector) -> arb:
    """Euclidean norm, as a ball."""
    return arb(dot(a, a)).sqrt()


def subtract(a: Vector, b: Vector) -> Vector:
    """The difference of two vectors."""
    return [x - y for x, y in zip(a, b, strict=True)]


def combine(weights: Vector, rows: Matrix) -> Vector:
    """The sum of weights times rows."""
    return [dot(weights, list(column)) for column in zip(*rows, strict=True)]


def is_positive_semidefinite(matrix: Matrix) -> bool:
    """Decide positive semidefiniteness of a symmetric rational matrix by elimination."""
    rows = [list(row) for row in matrix]
    while rows:
        pivot = next((k for k in range(len(rows)) if rows[k][k] != 0), None)
        if pivot is None:
            return all(x == 0 for row in rows for x in row)
        if rows[pivot][pivot] < 0:
            return False
        lead = rows.pop(pivot)
        head = lead.pop(pivot)
        for row in rows:
            factor = row.pop(pivot) / head
            for k, x in enumerate(lead):
                row[k] = row[k] - factor * x
    return True


def spectral_norm(matrix: Matrix) -> arb:
    """Enclosure of the largest singular value: of a vector to the precision, else to 2^-40.

    A float guess of the square is moved up and down until elimination on the shifted Gram matrix
    proves both sides.
    """
    if len(matrix) == 1 or len(matrix[0]) == 1:
        return norm([x for row in matrix for x in row])
    gram = [[dot(a, b) for b in matrix] for a in matrix]
    if all(x == 0 for row in gram for x in row):
        return arb(0)
    trace = sum((gram[k][k] for k in range(len(gram))), fmpq(0))
    floats = np.array([[float(arb(x / trace)) for x in row] for row in gram])
    guess = rational(float(np.linalg.eigvalsh(floats)[-1])) * trace
    bits = 40
    while True:
        width = fmpq(1, 2**bits)
        low, high = guess * (1 - width), guess * (1 + width)
        if _bounded(gram, high) and not _bounded(gram, low):
            return arb(low).sqrt().union(arb(high).sqrt())
        bits -= 4
        if bits < 4:
            raise DataError("the spectral norm of a matrix could not be enclosed")


def _bounded(gram: Matrix, level: fmpq) -> bool:
    return is_positive_semidefinite(
        [
            [(level if j == k else fmpq(0)) - x for k, x in enumerate(row)]
            for j, row in enumerate(gram)
        ]
    )


@dataclass(frozen=True, slots=True)
class ExactData:
    """The exact values of a data set; absent tokens are left out of each input.

    Attributes:
        X: tokens by input.
        Z: queries.
        gamma: token scores by input, exact also where they come from labels and a head.
        kept: the token index that each row of X had in the data set.
    """

    X: list[Matrix]
    Z: Matrix
    gamma: list[Vector]
    kept: list[list[int]]

    @classmethod
    def of(cls, data: AttentionData) -> ExactData:
        """The exact values of `data`."""
        kept = [[int(t) for t in np.flatnonzero(row)] for row in data.present]
        X = [[rationals(data.X[i, t]) for t in tokens] for i, tokens in enumerate(kept)]
        if data.scores is not None:
            gamma = [[rational(data.scores[i, t].item()) for t in ts] for i, ts in enumerate(kept)]
        else:
            assert data.y is not None
            assert data.v is not None
            v = rationals(data.v)
            gamma = [
                [rational(data.y[i].item()) * dot(v, x) for x in rows] for i, rows in enumerate(X)
            ]
        return cls(X=X, Z=rationals(data.Z), gamma=gamma, kept=kept)

    @property
    def optimal(self) -> list[list[int]]:
        """Rows of highest score, all of them, input by input."""
        return [[t for t, g in enumerate(row) if g == max(row)] for row in self.gamma]

    @property
    def unique(self) -> bool:
        """Whether every input has one optimal token."""
        return all(len(rows) == 1 for rows in self.optimal)
