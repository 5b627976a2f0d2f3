"""Lanes: a scalar that holds one float of each of many instances, in numpy or in torch.

A formula reads as for one instance and runs on a batch: the batch lives inside its scalars. Floats
(numpy) screen many instances at once, tensors (torch) know the gradient as well. Neither decides
anything: rounding, overflow and cancellation are sorted out by the judge.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from attsvm.theory.arithmetic.base import Arithmetic
from attsvm.theory.arithmetic.entries import Entries, entries
from attsvm.theory.arithmetic.misuse import misuse

__all__ = ["FLOATS", "Floats", "Lane", "Tensors", "lanes"]


class Lane:
    """One number of each instance of a batch; it adds and multiplies, and never compares."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __add__(self, other: Any) -> Any:
        return _binary(self, other, lambda a, b: a + b)

    def __radd__(self, other: Any) -> Any:
        return _binary(self, other, lambda a, b: b + a)

    def __sub__(self, other: Any) -> Any:
        return _binary(self, other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return _binary(self, other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return _binary(self, other, lambda a, b: a * b)

    def __rmul__(self, other: Any) -> Any:
        return _binary(self, other, lambda a, b: b * a)

    def __truediv__(self, other: Any) -> Any:
        return _binary(self, other, lambda a, b: a / b)

    def __rtruediv__(self, other: Any) -> Any:
        return _binary(self, other, lambda a, b: b / a)

    def __neg__(self) -> Lane:
        return Lane(-self.value)

    def __pow__(self, k: int) -> Lane:
        if not isinstance(k, int) or k < 1:
            raise misuse(
                "raises a number to a power that is no positive integer", "Use m.exp, m.sqrt."
            )
        return Lane(self.value**k)

    def _refuse(self, *_: Any) -> Any:
        raise misuse(
            "compares numbers or asks for the truth of one",
            "Return m.at_most, m.below or m.equal; use m.maximum or m.abs in place of an if.",
        )

    def _refuse_float(self) -> Any:
        raise misuse(
            "turns a number into a float, as functions of math do",
            "Use the functions of m, such as m.exp(x).",
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Leave arrays of numbers to `Entries`, refuse the rest."""
        if any(isinstance(value, Entries) for value in inputs):
            return NotImplemented
        raise misuse(
            f"uses numpy's {ufunc.__name__} on a number that is no float",
            "Use the functions of m, and constants such as m.exact('0.95').",
        )

    __bool__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __float__ = __int__ = _refuse_float
    __eq__ = __ne__ = _refuse
    __hash__ = None  # type: ignore[assignment]


def _binary(lane: Lane, other: Any, operation: Callable[[Any, Any], Any]) -> Any:
    if isinstance(other, Lane):
        return Lane(operation(lane.value, other.value))
    if isinstance(other, int) and not isinstance(other, bool):
        return Lane(operation(lane.value, other if abs(other) < 2**53 else _float(other)))
    if not isinstance(other, float | np.number | Fraction) and not _is_batch(other):
        return NotImplemented  # an array of numbers, or a number that carries its derivatives
    raise misuse(
        f"mixes a value of type {type(other).__name__} with numbers of its arithmetic",
        "Write constants as integers, or as m.exact('0.95') or m.exact(Fraction(1, 3)).",
    )


def _is_batch(value: Any) -> bool:
    """Whether a value is a raw array of floats, which times a lane would be one of each pair."""
    return isinstance(value, np.ndarray) and value.dtype != object


def _float(value: int | Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def lanes(batch: Any) -> Any:
    """Numbers (..., B) of a batch of B instances as one number or an array of them."""
    shape = tuple(batch.shape[:-1])
    if not shape:
        return Lane(batch)
    return entries([Lane(row) for row in batch.reshape(-1, batch.shape[-1])], shape)


class _Lanes(Arithmetic):
    """What numpy and torch have in common."""

    def _rational(self, value: Fraction) -> Lane:
        return Lane(np.array([_float(value)]))

    def logistic_slope(self, x: Any) -> Any:
        """g'(x), by exp(-|x|), which does not overflow."""
        e = self.exp(-self.abs(x))
        return e / ((1 + e) * (1 + e))

    def logistic_curvature(self, x: Any) -> Any:
        """g''(x) = -g'(x) tanh(x/2), in the same way."""
        return self.logistic_slope(x) * (1 - 2 * self.logistic(x))

    def softplus(self, x: Any) -> Any:
        """The logarithm of 1 + exp(x), without overflow."""
        size = self.abs(x)
        return (x + size) / 2 + self.log(1 + self.exp(-size))

    def _level(self, s: Entries) -> Any:
        return self.max(s)


class Floats(_Lanes):
    """Batches of floats in numpy."""

    name = "floats"

    def exp(self, x: Any) -> Any:
        """The exponential."""
        return self._each(lambda lane: Lane(np.exp(lane.value)), x)

    def log(self, x: Any) -> Any:
        """The natural logarithm."""
        return self._each(lambda lane: Lane(np.log(lane.value)), x)

    def expm1(self, x: Any) -> Any:
        """exp(x) - 1."""
        return self._each(lambda lane: Lane(np.expm1(lane.value)), x)

    def log1p(self, x: Any) -> Any:
        """ln(1 + x)."""
        return self._each(lambda lane: Lane(np.log1p(lane.value)), x)

    def sqrt(self, x: Any) -> Any:
        """The root."""
        return self._each(lambda lane: Lane(np.sqrt(np.maximum(lane.value, 0.0))), x)

    def abs(self, x: Any) -> Any:
        """The absolute value."""
        return self._each(lambda lane: Lane(np.abs(lane.value)), x)

    def logistic(self, x: Any) -> Any:
        """g(x) = 1 / (1 + exp(-x))."""
        from scipy.special import expit  # dear to import, and needed by few formulas

        return self._each(lambda lane: Lane(expit(lane.value)), x)

    def maximum(self, x: Any, y: Any) -> Any:
        """The larger one."""
        return Lane(np.maximum(_value(x), _value(y)))

    def is_zero(self, x: Any) -> Any:
        """1 or 0, as floats see it."""
        return self._each(lambda lane: Lane(np.where(lane.value == 0.0, 1.0, 0.0)), x)

    def norm(self, x: Entries) -> Any:
        """The Euclidean norm, its scale taken out so that no square over- or underflows."""
        values = [lane.value for lane in x.ravel()]
        top = np.abs(values[0])
        for value in values[1:]:
            top = np.maximum(top, np.abs(value))
        scale = np.where((top > 0.0) & np.isfinite(top), top, 1.0)
        total = sum((value / scale) ** 2 for value in values)
        return Lane(scale * np.sqrt(total))

    def spectral(self, A: Entries) -> Any:
        """The largest singular value: in closed form up to two rows or columns."""
        if 1 in A.shape:
            return self.norm(A)
        if 2 in A.shape:
            rows = A if A.shape[0] == 2 else A.T
            scale = self.norm(A)
            safe = Lane(np.where(scale.value > 0.0, scale.value, 1.0))
            first, second = rows[0] / safe, rows[1] / safe
            p, q, r = first @ first, second @ second, first @ second
            gap = self.norm(entries([p - q, 2 * r]))
            return scale * self.sqrt((p + q + gap) / 2)
        stacked = np.stack([np.broadcast_to(lane.value, _width(A)) for lane in A.ravel()], axis=-1)
        matrices = stacked.reshape(-1, *A.shape)
        usable = np.isfinite(matrices).all(axis=(1, 2))
        top = np.linalg.svd(np.where(usable[:, None, None], matrices, 0.0), compute_uv=False)[:, 0]
        return Lane(np.where(usable, top, np.nan))


class Tensors(_Lanes):
    """Batches of floats in torch, which know their gradients; torch is imported when first used."""

    name = "tensors"

    def __init__(self) -> None:
        import torch

        self.torch = torch

    def _rational(self, value: Fraction) -> Lane:
        return Lane(self.torch.tensor([_float(value)], dtype=self.torch.float64))

    def values(self, x: Any) -> Any:
        """Numbers (batch, ...) of many records as lanes; a number that they share as one."""
        if isinstance(x, self.torch.Tensor):
            return lanes(x.movedim(0, -1))
        return super().values(x)

    def exp(self, x: Any) -> Any:
        """The exponential; of more than 600 that of 600, so that heights stay numbers."""
        return self._each(lambda lane: Lane(lane.value.clamp(max=600.0).exp()), x)

    def log(self, x: Any) -> Any:
        """The natural logarithm."""
        return self._each(lambda lane: Lane(lane.value.log()), x)

    def expm1(self, x: Any) -> Any:
        """exp(x) - 1."""
        return self._each(lambda lane: Lane(lane.value.expm1()), x)

    def log1p(self, x: Any) -> Any:
        """ln(1 + x)."""
        return self._each(lambda lane: Lane(lane.value.log1p()), x)

    def sqrt(self, x: Any) -> Any:
        """The root; at 0 and below it is 0, and so is its gradient."""

        def root(lane: Lane) -> Lane:
            positive = lane.value > 0.0
            safe = self.torch.where(positive, lane.value, 1.0)
            return Lane(self.torch.where(positive, safe.sqrt(), 0.0 * lane.value))

        return self._each(root, x)

    def abs(self, x: Any) -> Any:
        """The absolute value."""
        return self._each(lambda lane: Lane(lane.value.abs()), x)

    def logistic(self, x: Any) -> Any:
        """g(x) = 1 / (1 + exp(-x))."""
        return self._each(lambda lane: Lane(lane.value.sigmoid()), x)

    def maximum(self, x: Any, y: Any) -> Any:
        """The larger one."""
        return Lane(self.torch.maximum(_value(x), _value(y)))

    def is_zero(self, x: Any) -> Any:
        """1 or 0, as floats see it, without a gradient."""
        return self._each(lambda lane: Lane((lane.value == 0.0).to(lane.value.dtype)), x)

    def spectral(self, A: Entries) -> Any:
        """The largest singular value."""
        if 1 in A.shape:
            return self.norm(A)
        width = _width(A)
        stacked = self.torch.stack([lane.value.expand(width) for lane in A.ravel()], -1)
        matrices = stacked.reshape(-1, *A.shape).nan_to_num(0.0, 0.0, 0.0)
        return Lane(self.torch.linalg.svdvals(matrices)[..., 0])


def _value(x: Any) -> Any:
    if not isinstance(x, Lane):
        raise misuse(
            f"mixes a value of type {type(x).__name__} with numbers of its arithmetic",
            "Write constants as m.exact(0), m.exact('0.95').",
        )
    return x.value


def _width(A: Entries) -> int:
    return max(len(lane.value) for lane in A.ravel())


FLOATS = Floats()
"""The arithmetic of batches of floats; it has no state."""
