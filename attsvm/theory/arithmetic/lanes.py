"""Lanes: scalars that hold one float for each of many instances, in numpy or in torch.

A formula is written for one instance and runs on a batch, because its scalars hold the batch.
Floats (numpy) screen many instances at once; tensors (torch) also have gradients. Neither decides
an instance: the judge handles rounding, overflow and cancellation.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction
from operator import methodcaller
from types import ModuleType
from typing import Any, NoReturn, TypeVar

import numpy as np

from attsvm._types import Array, Tensor
from attsvm.theory.arithmetic.base import Arithmetic, elementary
from attsvm.theory.arithmetic.entries import (
    CONSTANTS,
    Entries,
    Number,
    Numbers,
    Operation,
    Scalar,
    advice,
    entries,
    misuse,
    mixed,
)
from attsvm.theory.arithmetic.matrices import ensure_matrix
from attsvm.theory.arithmetic.namespace import Relation

Batch = Any
"""An array of numpy or a tensor of torch. Its last axis is the batch; for matrices, the first."""


class Lane(Scalar):
    """One number of each instance of a batch; it adds and multiplies, and never compares."""

    __slots__ = ("value",)

    def __init__(self, value: Batch) -> None:
        self.value = value

    def _joined(self, other: object, operation: Operation, *, swapped: bool) -> object:
        if isinstance(other, Lane):
            number = other.value
        elif isinstance(other, int) and not isinstance(other, bool):
            number = other if abs(other) < 2**53 else float_of(other)
        elif isinstance(other, Scalar) or _is_object(other):
            return NotImplemented  # an array of numbers, or a number that carries its derivatives
        else:
            raise mixed(other)
        return Lane(operation(number, self.value) if swapped else operation(self.value, number))

    def __neg__(self) -> Lane:
        return Lane(-self.value)

    def __abs__(self) -> Lane:
        return Lane(abs(self.value))

    def _sympy_(self) -> NoReturn:
        """Refuse to become an expression of sympy, which calls this method."""
        raise misuse("mixes a value of sympy with numbers of its arithmetic", CONSTANTS)

    def _refuse_float(self) -> NoReturn:
        raise misuse(
            "turns a number into a float, as functions of math do",
            "Use the functions of m, such as m.exp(x).",
        )

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **options: object
    ) -> Any:
        """Return NotImplemented if `Entries` handles the call, and refuse all other calls.

        Raises:
            ClaimError: no operand is an array of numbers.
        """
        if any(isinstance(value, Entries) for value in inputs):
            return NotImplemented
        raise misuse(
            f"uses numpy's {ufunc.__name__} on a number that is no float",
            advice(ufunc.__name__)
            or "Use the functions of m, and constants such as m.exact('0.95').",
        )

    __float__ = __int__ = _refuse_float
    __eq__ = __ne__ = Scalar._refuse
    __hash__ = None  # type: ignore[assignment]


def _is_object(value: object) -> bool:
    """Return whether a value is an array of objects, as arrays of formulas are."""
    return isinstance(value, np.ndarray) and value.dtype == object


def float_of(value: int | Fraction) -> float:
    """Return a rational as a float, infinite if it is too large."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def lanes(batch: Batch, number: Callable[[Batch], Lane] = Lane) -> Any:
    """Return numbers (..., B) of B instances as one `number`, or as an array of them."""
    shape = tuple(batch.shape[:-1])
    if not shape:
        return number(batch)
    return entries([number(row) for row in batch.reshape(-1, batch.shape[-1])], shape)


class Lanes(Arithmetic[Lane]):
    """The functions that numpy and torch share."""

    numbers = Lane

    library: Any
    """Numpy or torch."""

    @abstractmethod
    def zeros(self, batch: int) -> Batch:
        """Return a 0 for each instance of a batch, in an array or tensor (batch,)."""

    def _rational(self, value: Fraction) -> Lane:
        return Lane(self.zeros(1) + float_of(value))

    def maximum(self, x: object, y: object) -> Lane:
        """Return the larger number; either may be a plain integer."""
        x, y = (self.exact(z) if isinstance(z, int) else z for z in (x, y))
        return Lane(self.library.maximum(_value(x), _value(y)))

    def tanh(self, x: Number) -> Numbers:
        """Return the hyperbolic tangent, by exp(-2|x|), which does not overflow."""
        e = self.expm1(-2 * self.abs(x))
        return -e / (2 + e) * self.sign(x)

    def psd(self, A: Numbers) -> Relation:
        """Return that the norm is at most the norm plus the least eigenvalue.

        Rounding would drop singular matrices if the eigenvalue were compared with 0.
        """
        size = self.norm(A)
        return self.at_most(size, size + self.eigenvalues(A)[0])

    def pd(self, A: Numbers) -> Relation:
        """Return that the norm is below the norm plus the least eigenvalue."""
        size = self.norm(A)
        return self.below(size, size + self.eigenvalues(A)[0])

    def singular(self, A: Numbers) -> Numbers:
        ensure_matrix(A)
        if 1 in A.shape:
            return entries([self.norm(A)])
        values = self._by_matrix(A, self._singular)
        return entries([Lane(values[:, k]) for k in range(min(A.shape))])

    def _eigenvalues(self, S: Numbers) -> Numbers:
        values = self._by_matrix(S, self.library.linalg.eigvalsh)
        return entries([Lane(values[:, k]) for k in range(len(S))])

    def _singular(self, matrices: Batch) -> Batch:
        """Return the singular values of matrices (batch, rows, columns)."""
        raise NotImplementedError

    def _by_matrix(self, A: Numbers, function: Callable[[Batch], Batch]) -> Batch:
        """Return a function of each matrix of the batch, NaN for a matrix that is not finite."""
        raise NotImplementedError

    def _whole(self, name: str, *numbers: Number) -> Lane:
        values: Batch = np.frompyfunc(functools.partial(_whole_of_floats, name), len(numbers), 1)
        floats = values(*(self._host(self.exact(x).value) for x in numbers)).astype(float)
        return Lane(self.library.asarray(floats) + self.zeros(1))

    def _host(self, values: Batch) -> Array:
        """Return the numbers of a batch as an array of numpy."""
        return np.asarray(values)

    def logistic_slope(self, x: Number) -> Numbers:
        """Return g'(x), by exp(-|x|), which does not overflow."""
        e = self.exp(-self.abs(x))
        return e / ((1 + e) * (1 + e))

    def logistic_curvature(self, x: Number) -> Numbers:
        """Return g''(x) = -g'(x) tanh(x/2), without overflow."""
        return self.logistic_slope(x) * (1 - 2 * self.logistic(x))

    def softplus(self, x: Number) -> Numbers:
        """Return the logarithm of 1 + exp(x), without overflow."""
        size = self.abs(x)
        return (x + size) / 2 + self.log(1 + self.exp(-size))

    def _level(self, s: Numbers) -> Lane:
        return self.max(s)


def _elementary(function: Callable[[Batch], object]) -> Callable[..., Numbers]:
    """Return a function of batches as a method of the namespace."""
    return elementary(lambda lane: Lane(function(lane.value)))


_OF_FLOATS = 1024
"""Number of bits of the largest integer that is a float."""


def _whole_of_floats(name: str, *numbers: float) -> float:
    """Return a function of integers, infinite for values that are too large for floats."""
    if not all(number.is_integer() for number in numbers):
        return math.nan
    from attsvm.theory.arithmetic.whole_numbers import TooLarge, whole  # few formulas need it

    try:
        value = whole(name, *map(int, numbers), longest=_OF_FLOATS)
    except TooLarge:
        return math.inf
    return math.nan if value is None else float_of(value)


def _expit(x: Array) -> Array:
    from scipy.special import expit  # slow to import, and needed by few formulas

    return expit(x)


def _root(x: Tensor) -> Tensor:
    """Return the root of a tensor; at 0 and below, the root and its gradient are 0."""
    # torch differentiates both branches of `where`: the root of 0 would give an infinite gradient,
    # and 0 times it NaN, so the branch that is not used gets the argument 1
    positive = x > 0.0
    return x.where(positive, x.new_ones(())).sqrt().where(positive, 0.0 * x)


_M = TypeVar("_M", bound=Lanes)


def _once(norm: Callable[[_M, Numbers], Lane]) -> Callable[[_M, Numbers], Lane]:
    """Return a norm that is cached on the array, because hypotheses and conclusion share arrays.

    The array keeps the norm together with its entries, so that a changed entry is noticed.
    """
    name = norm.__name__

    def lane(m: _M, x: Numbers) -> Lane:
        numbers = x.ravel().tolist()
        known, value = x.__dict__.get(name, ((), None))
        if len(known) != len(numbers) or not all(map(operator.is_, known, numbers)):
            value = norm(m, x)
            x.__dict__[name] = numbers, value
        return value

    return lane


def _stacked(numbers: list[Lane]) -> Batch:
    """Return the numbers of lanes as one array (numbers, batch)."""
    values: Batch = [lane.value for lane in numbers]
    if len({value.shape for value in values}) > 1:  # a constant has one number for the batch
        values = np.broadcast_arrays(*values)
    return np.concatenate(values).reshape(len(values), -1)


class Floats(Lanes):
    """Batches of floats in numpy."""

    name = "floats"
    library = np

    exp = _elementary(np.exp)
    log = _elementary(np.log)
    expm1 = _elementary(np.expm1)
    log1p = _elementary(np.log1p)
    sqrt = _elementary(lambda x: np.sqrt(np.maximum(x, 0.0)))
    abs = _elementary(np.abs)
    logistic = _elementary(_expit)
    is_zero = _elementary(lambda x: np.where(x == 0.0, 1.0, 0.0))
    floor = _elementary(np.floor)
    tanh = _elementary(np.tanh)

    def zeros(self, batch: int) -> Array:
        """Return a 0 for each instance of a batch, in an array (batch,)."""
        return np.zeros(batch)

    @_once
    def norm(self, x: Numbers) -> Lane:
        """Return the Euclidean norm, scaled first if a square over- or underflows."""
        values = _stacked(x.ravel().tolist())
        norms = np.sqrt(_dot(values, values))
        extreme = ~((norms > _SMALL) & (norms < _LARGE))
        if extreme.any():
            parts, scale = _scaled(values[:, extreme])
            norms[extreme] = scale * np.sqrt(_dot(parts, parts))
        return Lane(norms)

    @_once
    def spectral(self, A: Numbers) -> Lane:
        """Return the largest singular value: in closed form up to two rows or columns."""
        ensure_matrix(A)
        if 1 in A.shape:
            return self.norm(A)
        if min(A.shape) > _TURNED:
            return Lane(self._by_matrix(A, self._singular)[:, 0])
        rows = A if A.shape[0] <= A.shape[1] else A.T
        values, scale = _scaled(_stacked(rows.ravel().tolist()))
        return Lane(scale * np.sqrt(_largest_eigenvalue(values.reshape(*rows.shape, -1))))

    def _singular(self, matrices: Batch) -> Batch:
        return np.linalg.svd(matrices, compute_uv=False)

    def _by_matrix(self, A: Numbers, function: Callable[[Batch], Batch]) -> Batch:
        matrices = np.moveaxis(_stacked(A.ravel().tolist()), -1, 0).reshape(-1, *A.shape)
        usable = np.isfinite(matrices).all(axis=(1, 2))
        results = function(np.where(usable[:, None, None], matrices, 0.0))
        return np.where(usable[:, None], results, np.nan)


_SMALL, _LARGE = 1e-140, 1e140
"""Limits between which the root of the sum of squares has no over- or underflow."""


def _scaled(values: Array) -> tuple[Array, Array]:
    """Divide numbers (numbers, batch) in place by the largest size of each instance.

    Return the quotients and the divisors. A divisor is 1 if all numbers are 0 or one is infinite.
    """
    top = np.abs(values).max(axis=0)
    scale = np.where((top > 0.0) & np.isfinite(top), top, 1.0)
    values /= scale
    return values, scale


def _dot(x: Array, y: Array) -> Array:
    """Return the inner products of vectors (numbers, batch)."""
    return np.einsum("kb,kb->b", x, y)


_TURNED = 4
"""Maximum number of rows or columns of matrices that are diagonalised by rotations."""


def _largest_eigenvalue(rows: Batch) -> Batch:
    """Return the largest eigenvalue of A A^T, for matrices (rows, columns, batch), by rotations.

    Each of Jacobi's rotations makes one off-diagonal entry 0; sweeps over all entries converge to a
    diagonal matrix.
    """
    k = len(rows)
    g: Any = [[_dot(rows[i], rows[j]) if i <= j else None for j in range(k)] for i in range(k)]
    pairs = list(itertools.combinations(range(k), 2))
    for p, q in pairs * (1 if k == 2 else k + 1):
        # The tangent t of the angle solves t^2 + 2 (half/entry) t = 1. Of both solutions, the
        # smaller one is taken: the angle is then at most 45 degrees, and the sweeps converge.
        half, entry = (g[q][q] - g[p][p]) * 0.5, g[p][q]
        whole = half + np.copysign(np.sqrt(half * half + entry * entry), half)
        tangent = entry / np.where(whole != 0.0, whole, 1.0)
        moved = tangent * entry
        g[p][p], g[q][q] = g[p][p] - moved, g[q][q] + moved
        if k == 2:  # one rotation makes the matrix diagonal
            break
        cosine = 1.0 / np.sqrt(1.0 + tangent * tangent)
        sine = tangent * cosine
        g[p][q] = np.zeros_like(whole)
        for r in set(range(k)) - {p, q}:
            (i, j), (s, t) = sorted((r, p)), sorted((r, q))
            left, right = g[i][j], g[s][t]
            g[i][j] = cosine * left - sine * right
            g[s][t] = sine * left + cosine * right
        if (p, q) == pairs[-1] and all((abs(g[i][j]) <= _SEEN_AS_0).all() for i, j in pairs):
            break
    return functools.reduce(np.maximum, [g[p][p] for p in range(k)])


_SEEN_AS_0 = 1e-17
"""Maximum absolute value of an off-diagonal entry that counts as 0. The largest entry of the matrix
is 1. The largest eigenvalue is therefore at least 1, and such an entry does not change it."""


class Tensors(Lanes):
    """Batches of floats in torch, with gradients; torch is imported with the first number."""

    name = "tensors"

    exp = _elementary(lambda x: x.clamp(max=600.0).exp())  # finite, so that heights are not NaN
    log = _elementary(methodcaller("log"))
    expm1 = _elementary(methodcaller("expm1"))
    log1p = _elementary(methodcaller("log1p"))
    sqrt = _elementary(_root)
    abs = _elementary(methodcaller("abs"))
    logistic = _elementary(methodcaller("sigmoid"))
    is_zero = _elementary(lambda x: (x == 0.0).to(x.dtype))
    floor = _elementary(methodcaller("floor"))
    tanh = _elementary(methodcaller("tanh"))

    @functools.cached_property
    def library(self) -> ModuleType:
        """Torch, imported on first use."""
        import torch

        return torch

    def zeros(self, batch: int) -> Batch:
        """Return a 0 for each instance of a batch, in a tensor (batch,)."""
        return self.library.zeros(batch, dtype=self.library.float64)

    def norm(self, x: Numbers) -> Lane:
        """Return the Euclidean norm, scaled first so that no square over- or underflows."""
        values, scale = self._scaled(x)
        return Lane(scale * self.library.linalg.vector_norm(values, dim=0))

    def _scaled(self, x: Numbers) -> tuple[Tensor, Tensor]:
        """Return numbers (numbers, batch) over the largest of each instance, and the divisors."""
        width = max(len(lane.value) for lane in x.ravel())
        values = self.library.stack([lane.value.expand(width) for lane in x.ravel()])
        top = values.detach().abs().amax(0)
        scale = top.where((top > 0.0) & top.isfinite(), top.new_ones(()))
        return values / scale, scale

    def spectral(self, A: Numbers) -> Lane:
        """Return the largest singular value."""
        ensure_matrix(A)
        if 1 in A.shape:
            return self.norm(A)
        return Lane(self._by_matrix(A, self._singular)[:, 0])

    def _singular(self, matrices: Batch) -> Batch:
        return self.library.linalg.svdvals(matrices)

    def _by_matrix(self, A: Numbers, function: Callable[[Batch], Batch]) -> Batch:
        values, scale = self._scaled(A)
        usable = values.isfinite().all(0)
        matrices = values.where(usable, 0.0 * scale).reshape(*A.shape, -1).movedim(-1, 0)
        results = function(matrices) * scale[:, None]
        return results.where(usable[:, None], results.new_tensor(math.nan))

    def _host(self, values: Batch) -> Array:
        return np.asarray(values.detach())


def _value(x: object) -> Batch:
    if not isinstance(x, Lane):
        raise mixed(x)
    return x.value


FLOATS = Floats()
"""The arithmetic of batches of floats; it has no state."""
