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


class Lane(Scalar):
    """One number of each instance of a batch; it adds and multiplies, and never compares."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
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


def lanes(batch: Any, number: Callable[[Any], Lane] = Lane) -> Any:
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
    def zeros(self, batch: int) -> Any:
        """Return a 0 for each instance of a batch, in an array or tensor (batch,)."""

    def _rational(self, value: Fraction) -> Lane:
        return Lane(self.zeros(1) + float_of(value))

    def maximum(self, x: object, y: object) -> Lane:
        """Return the larger number; either may be a plain integer."""
        x, y = (self.exact(z) if isinstance(z, int) else z for z in (x, y))
        return Lane(self.library.maximum(_value(x), _value(y)))

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


def _elementary(function: Callable[[Any], object]) -> Callable[..., Numbers]:
    """Return a function of batches as a method of the namespace."""
    return elementary(lambda lane: Lane(function(lane.value)))


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


def _stacked(numbers: list[Lane]) -> Any:
    """Return the numbers of lanes as one array (numbers, batch)."""
    values: Any = [lane.value for lane in numbers]
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
        if 1 in A.shape:
            return self.norm(A)
        if min(A.shape) > _TURNED:
            return self._decomposed(A)
        rows = A if A.shape[0] <= A.shape[1] else A.T
        values, scale = _scaled(_stacked(rows.ravel().tolist()))
        return Lane(scale * np.sqrt(_largest_eigenvalue(values.reshape(*rows.shape, -1))))

    def _decomposed(self, A: Numbers) -> Lane:
        matrices = np.moveaxis(_stacked(A.ravel().tolist()), -1, 0).reshape(-1, *A.shape)
        usable = np.isfinite(matrices).all(axis=(1, 2))
        top = np.linalg.svd(np.where(usable[:, None, None], matrices, 0.0), compute_uv=False)[:, 0]
        return Lane(np.where(usable, top, np.nan))


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


def _largest_eigenvalue(rows: Any, library: ModuleType = np) -> Any:
    """Return the largest eigenvalue of A A^T, for matrices (rows, columns, batch), by rotations.

    Each of Jacobi's rotations makes one off-diagonal entry 0; sweeps over all entries converge to a
    diagonal matrix.
    """
    k = len(rows)
    dot = _dot if library is np else lambda x, y: (x * y).sum(0)
    g: Any = [[dot(rows[i], rows[j]) if i <= j else None for j in range(k)] for i in range(k)]
    pairs = list(itertools.combinations(range(k), 2))
    for p, q in pairs * (1 if k == 2 else k + 1):
        # The tangent t of the angle solves t^2 + 2 (half/entry) t = 1. Of both solutions, the
        # smaller one is taken: the angle is then at most 45 degrees, and the sweeps converge.
        half, entry = (g[q][q] - g[p][p]) * 0.5, g[p][q]
        whole = half + library.copysign(library.sqrt(half * half + entry * entry), half)
        tangent = entry / library.where(whole != 0.0, whole, 1.0)
        moved = tangent * entry
        g[p][p], g[q][q] = g[p][p] - moved, g[q][q] + moved
        if k == 2:  # one rotation makes the matrix diagonal
            break
        cosine = 1.0 / library.sqrt(1.0 + tangent * tangent)
        sine = tangent * cosine
        g[p][q] = library.zeros_like(whole)
        for r in set(range(k)) - {p, q}:
            (i, j), (s, t) = sorted((r, p)), sorted((r, q))
            left, right = g[i][j], g[s][t]
            g[i][j] = cosine * left - sine * right
            g[s][t] = sine * left + cosine * right
        if (p, q) == pairs[-1] and all((abs(g[i][j]) <= _SEEN_AS_0).all() for i, j in pairs):
            break
    return functools.reduce(library.maximum, [g[p][p] for p in range(k)])


_SEEN_AS_0 = 1e-17
"""Maximum absolute value of an off-diagonal entry that counts as 0. The largest entry of the matrix
is 1. The largest eigenvalue is therefore at least 1, and such an entry does not change it."""


class Tensors(Lanes):
    """Batches of floats in torch, with gradients, on the processor or on a GPU.

    Torch is imported when the first number is made.
    """

    name = "tensors"

    exp = _elementary(lambda x: x.clamp(max=600.0).exp())  # finite, so that heights are not NaN
    log = _elementary(methodcaller("log"))
    expm1 = _elementary(methodcaller("expm1"))
    log1p = _elementary(methodcaller("log1p"))
    sqrt = _elementary(_root)
    abs = _elementary(methodcaller("abs"))
    logistic = _elementary(methodcaller("sigmoid"))
    is_zero = _elementary(lambda x: (x == 0.0).to(x.dtype))

    def __init__(self, device: str = "cpu") -> None:
        self.device = device

    @functools.cached_property
    def library(self) -> ModuleType:
        """Torch, imported on first use."""
        import torch

        return torch

    def zeros(self, batch: int) -> Any:
        """Return a 0 for each instance of a batch, in a tensor (batch,) on the device."""
        return self.library.zeros(batch, dtype=self.library.float64, device=self.device)

    def values(self, x: object) -> Numbers:
        """Return numbers (batch, ...) of many records as lanes; a shared number stays one."""
        if isinstance(x, self.library.Tensor):
            return lanes(x.movedim(0, -1))
        return super().values(x)

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
        if 1 in A.shape:
            return self.norm(A)
        rows = A if A.shape[0] <= A.shape[1] else A.T
        values, scale = self._scaled(rows)
        usable = values.isfinite().all(0)
        matrices = values.where(usable, 0.0 * scale).reshape(*rows.shape, -1)
        if self.device == "cpu" or len(rows) > _TURNED:
            top = self.library.linalg.svdvals(matrices.movedim(-1, 0))[:, 0]
        else:  # a GPU is slow at decomposing many small matrices; gradients are not used there
            top = _root(_largest_eigenvalue(matrices, self.library))
        return Lane(scale * top.where(usable, math.nan * scale))


def _value(x: object) -> Any:
    if not isinstance(x, Lane):
        raise mixed(x)
    return x.value


FLOATS = Floats()
"""The arithmetic of batches of floats; it has no state."""
