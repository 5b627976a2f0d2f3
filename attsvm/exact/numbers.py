"""Exact values: floats as rationals, vectors and matrices of rationals, norms, exact data sets."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from flint import arb, fmpq, fmpq_mat, fmpz, fmpz_mat

from attsvm._types import Array
from attsvm._witness import memory
from attsvm.data import AttentionData
from attsvm.errors import DataError, present

Number = Any  # fmpq or arb
Vector = list[Number]
Matrix = list[list[Number]]

_Answer = TypeVar("_Answer")
_More = ParamSpec("_More")

_REMEMBERED = 256
"""Maximum number of cached results of a function."""


def remembered(
    function: Callable[Concatenate[AttentionData, _More], _Answer],
) -> Callable[Concatenate[AttentionData, _More], _Answer]:
    """Return a cached version of a function of a data set; see `remembered_by`.

    The key is the content of the arrays and the further arguments, which must be hashable.
    """

    def key(data: AttentionData, /, *more: _More.args, **named: _More.kwargs) -> object:
        arrays = data.X, data.Z, data.y, data.v, data.scores, data.mask
        return tuple(map(key_of, arrays)), more, tuple(sorted(named.items()))

    return remembered_by(key)(function)


def key_of(array: Array | None) -> object:
    """Return a key of an array: its shape, its type and its bytes."""
    return None if array is None else (array.shape, array.dtype.str, array.tobytes())


def remembered_by(
    key: Callable[_More, object],
) -> Callable[[Callable[_More, _Answer]], Callable[_More, _Answer]]:
    """Return a decorator that caches the last `_REMEMBERED` results of a function by key.

    The hypotheses, the conclusion and the certificate of a claim compute the same things for one
    instance. If a trace function is set, which counts steps, nothing is cached: the count must not
    depend on earlier calls. Each caller receives a copy, so that a claim cannot change a result
    that is used to confirm it. While a witness is recorded or read, results may depend on its
    proposals; they are then cached for that time only.
    """

    def remembering(function: Callable[_More, _Answer]) -> Callable[_More, _Answer]:
        known: dict[object, _Answer] = {}

        @functools.wraps(function)
        def asked(*arguments: _More.args, **named: _More.kwargs) -> _Answer:
            own = memory(function)
            if own is None and sys.gettrace() is not None:
                return function(*arguments, **named)
            recent = known if own is None else own
            place = key(*arguments, **named)
            if place not in recent:
                result = function(*arguments, **named)
                if len(recent) >= _REMEMBERED:
                    del recent[next(iter(recent))]
                recent[place] = result
            answer: _Answer = _copied(recent[place])
            return answer

        return asked

    return remembering


_ATOMS = frozenset({fmpq, arb, float, int, bool, str, type(None)})
_MATRICES = frozenset({fmpq_mat, fmpz_mat})


@functools.cache
def _names(kind: Any) -> tuple[str, ...]:
    """Return the names of the fields of a dataclass; empty for other types."""
    return tuple(f.name for f in fields(kind)) if is_dataclass(kind) else ()


def _copied(answer: Any) -> Any:
    """Return a deep copy of lists, dicts, arrays, matrices and dataclasses of numbers."""
    kind: Any = type(answer)
    if kind in _ATOMS:
        return answer
    if kind is list and (not answer or type(answer[0]) in _ATOMS):
        return answer[:]  # entries of a list have one type
    if isinstance(answer, list | tuple):
        return kind([_copied(x) for x in answer])
    if kind is dict:
        return {key: _copied(x) for key, x in answer.items()}
    if kind is np.ndarray:
        return answer.copy()
    if kind in _MATRICES:
        return kind(answer)
    if names := _names(kind):
        return kind(**{name: _copied(getattr(answer, name)) for name in names})
    return answer


def rational(value: float | int | Fraction | fmpq) -> fmpq:
    """Return the exact value of a float, integer or fraction.

    Raises:
        DataError: the value is NaN or infinite.
    """
    if isinstance(value, fmpq):
        return value
    try:
        # a float converts to the same number as through Fraction, in a third of the time
        ratio = value if isinstance(value, float) else Fraction(value)
        return fmpq(*ratio.as_integer_ratio())
    except (ValueError, OverflowError) as error:
        raise DataError("a value that is not finite has no exact value", value=value) from error


def rationals(array: Array) -> Any:
    """Return the exact values of an array of any number of dimensions, as nested lists."""
    if array.dtype == object:
        whole = array.ndim == 0
        return rational(array.item()) if whole else [rationals(np.asarray(x)) for x in array]
    return _rationals(array.tolist())


def _rationals(values: Any) -> Any:
    return [_rationals(x) for x in values] if isinstance(values, list) else rational(values)


def integers(matrix: Array) -> tuple[fmpz_mat, fmpz]:
    """Return a float matrix as an integer matrix over one power of two, exactly.

    Raises:
        DataError: an entry is NaN or infinite.
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
    """Return the inner product of two vectors."""
    total: Number = fmpq(0)
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


def norm(a: Vector) -> arb:
    """Return the Euclidean norm as a ball; if the squared norm may be 0, the ball contains 0."""
    square = arb(dot(a, a))
    return square.sqrt() if square >= 0 else arb(0).union(square.upper().sqrt())


def subtract(a: Vector, b: Vector) -> Vector:
    """Return the difference of two vectors."""
    return [x - y for x, y in zip(a, b, strict=True)]


def combine(weights: Vector, rows: Matrix) -> Vector:
    """Return the sum of weights times rows."""
    return [dot(weights, list(column)) for column in zip(*rows, strict=True)]


def transpose(matrix: Matrix) -> Matrix:
    """Return the transpose."""
    return [list(column) for column in zip(*matrix, strict=True)]


def product(A: Matrix, B: Matrix) -> Matrix:
    """Return the matrix product A B."""
    return [combine(row, B) for row in A]


def is_positive_semidefinite(matrix: Matrix) -> bool:
    """Return whether a symmetric rational matrix is positive semidefinite.

    Its eigenvalues are real. Hence none is negative if and only if the coefficients of its
    characteristic polynomial alternate in sign, zeros aside.
    """
    falling: Any = reversed(fmpq_mat(matrix).charpoly().coeffs())
    return all(c <= 0 if k % 2 else c >= 0 for k, c in enumerate(falling))


def eigenvalues(matrix: Matrix) -> list[tuple[arb, int]]:
    """Return the eigenvalues of a symmetric rational matrix with their multiplicities.

    They are the roots of its characteristic polynomial, which are real, isolated at the working
    precision.
    """
    roots: Any = fmpq_mat(matrix).charpoly().complex_roots()
    return [(root.real, int(count)) for root, count in roots]


def spectral_norm(matrix: Matrix) -> arb:
    """Return the largest singular value of a rational matrix, as a ball."""
    if len(matrix) == 1 or len(matrix[0]) == 1:
        return norm([x for row in matrix for x in row])
    top = arb(0)
    for value, _ in eigenvalues(gram(matrix)):
        top = top.max(value)
    return top.sqrt()  # nonzero eigenvalues are isolated from 0, and 0 is exact


def gram(matrix: Matrix) -> Matrix:
    """Return M M^T or M^T M of a matrix M, whichever is smaller."""
    rows = matrix if len(matrix) <= len(matrix[0]) else transpose(matrix)
    return [[dot(a, b) for b in rows] for a in rows]


@dataclass(frozen=True, slots=True)
class ExactData:
    """The exact values of a data set; absent tokens are left out of each input.

    Attributes:
        X: tokens by input.
        Z: queries.
        gamma: token scores by input, exact even if computed from labels and a head.
        kept: the token index in the data set of each row of X.
    """

    X: list[Matrix]
    Z: Matrix
    gamma: list[Vector]
    kept: list[list[int]]

    @staticmethod
    @remembered
    def of(data: AttentionData) -> ExactData:
        """Return the exact values of `data`."""
        kept = [[int(t) for t in np.flatnonzero(row)] for row in data.present]
        X = [[rationals(data.X[i, t]) for t in tokens] for i, tokens in enumerate(kept)]
        if data.scores is not None:
            gamma = [[rational(data.scores[i, t].item()) for t in ts] for i, ts in enumerate(kept)]
        else:
            y, v = present(data.y, "the labels y"), rationals(present(data.v, "the head v"))
            gamma = [[rational(y[i].item()) * dot(v, x) for x in rows] for i, rows in enumerate(X)]
        return ExactData(X=X, Z=rationals(data.Z), gamma=gamma, kept=kept)

    @property
    def optimal(self) -> list[list[int]]:
        """Rows of highest score, all of them, input by input."""
        return [[t for t, g in enumerate(row) if g == max(row)] for row in self.gamma]

    @property
    def unique(self) -> bool:
        """Whether every input has one optimal token."""
        return all(len(rows) == 1 for rows in self.optimal)


def nuclear_norm(matrix: Matrix) -> arb:
    """Return the sum of the singular values of a rational matrix, as a ball."""
    total = arb(0)
    for value, count in eigenvalues(gram(matrix)):
        total += count * value.sqrt()
    return total


def exact_mid(ball: arb) -> fmpq:
    """Return the midpoint of a ball as a rational."""
    mantissa, exponent = ball.mid().man_exp()
    return fmpq(mantissa) * fmpq(2) ** int(exponent)
