"""Derivatives: numbers that carry their gradient, over any arithmetic, by the rules of calculus.

`gradient(m, f, x)` is the exact gradient of a formula at x, in the arithmetic m: no closed form of
it is used, so it can judge one.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from attsvm.theory.arithmetic.base import Arithmetic
from attsvm.theory.arithmetic.entries import Entries, entries
from attsvm.theory.arithmetic.misuse import misuse

__all__ = ["gradient"]


def gradient(m: Arithmetic, f: Callable[[Arithmetic, Entries], Any], x: Entries) -> Entries:
    """The gradient at the vector x of a formula f(m, x) with one number as its value."""
    if m.name == "text":
        return m.gradient(f, x)  # type: ignore[attr-defined, no-any-return]
    zero, one = m.exact(0), m.exact(1)
    places = range(len(x))
    duals = [_Dual(m, x[i], [one if i == j else zero for j in places]) for i in places]
    value = f(_Duals(m), entries(duals))
    if not isinstance(value, _Dual):
        return entries([zero] * len(x))
    return entries(value.slopes)


class _Dual:
    """A number and its partial derivatives."""

    __slots__ = ("m", "slopes", "value")

    def __init__(self, m: Arithmetic, value: Any, slopes: list[Any]) -> None:
        self.m = m
        self.value = value
        self.slopes = slopes

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Entries):
            return NotImplemented
        if not isinstance(other, _Dual):
            return _Dual(self.m, self.value + other, self.slopes)
        slopes = [a + b for a, b in zip(self.slopes, other.slopes, strict=True)]
        return _Dual(self.m, self.value + other.value, slopes)

    __radd__ = __add__

    def __neg__(self) -> _Dual:
        return _Dual(self.m, -self.value, [-a for a in self.slopes])

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, Entries) else self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, Entries) else (-self) + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Entries):
            return NotImplemented
        if not isinstance(other, _Dual):
            return _Dual(self.m, self.value * other, [a * other for a in self.slopes])
        slopes = [
            a * other.value + self.value * b for a, b in zip(self.slopes, other.slopes, strict=True)
        ]
        return _Dual(self.m, self.value * other.value, slopes)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Entries):
            return NotImplemented
        if not isinstance(other, _Dual):
            return _Dual(self.m, self.value / other, [a / other for a in self.slopes])
        value = self.value / other.value
        slopes = [
            (a - value * b) / other.value for a, b in zip(self.slopes, other.slopes, strict=True)
        ]
        return _Dual(self.m, value, slopes)

    def __rtruediv__(self, other: Any) -> Any:
        if isinstance(other, Entries):
            return NotImplemented
        value = other / self.value
        return _Dual(self.m, value, [-(value * a) / self.value for a in self.slopes])

    def _refuse(self, *_: Any) -> Any:
        raise misuse("compares numbers or asks for the truth of one", "Return a comparison.")

    __bool__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse


class _Duals(Arithmetic):
    """Numbers with gradients over another arithmetic; derivatives of kinks are refused."""

    name = "derivatives"

    def __init__(self, m: Arithmetic) -> None:
        self.m = m

    def _rational(self, value: Fraction) -> Any:
        return self.m.exact(value)

    def _chain(self, f: Callable[[Any], Any], slope: Callable[[Any], Any], x: Any) -> Any:
        def one(t: Any) -> Any:
            if not isinstance(t, _Dual):
                return f(t)
            factor = slope(t.value)
            return _Dual(self.m, f(t.value), [factor * a for a in t.slopes])

        return self._each(one, x)

    def exp(self, x: Any) -> Any:
        """The exponential."""
        return self._chain(self.m.exp, self.m.exp, x)

    def log(self, x: Any) -> Any:
        """The logarithm."""
        return self._chain(self.m.log, lambda t: 1 / t, x)

    def sqrt(self, x: Any) -> Any:
        """The root, of a positive number."""
        return self._chain(self.m.sqrt, lambda t: 1 / (2 * self.m.sqrt(t)), x)

    def logistic(self, x: Any) -> Any:
        """The logistic function."""
        return self._chain(self.m.logistic, self.m.logistic_slope, x)

    def logistic_slope(self, x: Any) -> Any:
        """Its derivative."""
        return self._chain(self.m.logistic_slope, self.m.logistic_curvature, x)

    def softplus(self, x: Any) -> Any:
        """The logarithm of 1 + exp(x)."""
        return self._chain(self.m.softplus, self.m.logistic, x)

    def abs(self, x: Any) -> Any:
        """Of what does not depend on the point; it has no derivative at 0."""
        self._ensure_fixed("an absolute value", x)
        return self.m.abs(x)

    def maximum(self, x: Any, y: Any) -> Any:
        """Of what does not depend on the point; it has no derivative where both are equal."""
        self._ensure_fixed("a maximum", x, y)
        return self.m.maximum(x, y)

    def is_zero(self, x: Any) -> Any:
        """Of what does not depend on the point; it has no derivative at 0."""
        self._ensure_fixed("an indicator", x)
        return self.m.is_zero(x)

    def spectral(self, A: Entries) -> Any:
        """Of what does not depend on the point; no derivative where singular values meet."""
        self._ensure_fixed("a spectral norm", A)
        return self.m.spectral(A)

    def _ensure_fixed(self, what: str, *values: Any) -> None:
        if any(isinstance(t, _Dual) for value in values for t in self._flat(value)):
            raise misuse(f"differentiates {what}", "Write its derivative out.")

    def _level(self, s: Entries) -> Any:
        return self.m._level(entries([t.value if isinstance(t, _Dual) else t for t in s]))
