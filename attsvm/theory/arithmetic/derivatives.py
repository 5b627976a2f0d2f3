"""Derivatives: numbers with their gradient, over any arithmetic, by the rules of calculus.

`gradient(m, f, x)` is the exact gradient of a formula at x, in the arithmetic m. It uses no closed
form, so that it can judge one.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from operator import add, mul, sub, truediv
from typing import Any, cast

from attsvm.theory.arithmetic.base import Arithmetic
from attsvm.theory.arithmetic.entries import (
    Entries,
    Number,
    Numbers,
    Operation,
    Scalar,
    entries,
    misuse,
)
from attsvm.theory.arithmetic.namespace import Namespace
from attsvm.theory.arithmetic.relations import each


def gradient(m: Namespace, f: Callable[[Namespace, Entries], Number], x: Numbers) -> Numbers:
    """Return the gradient at the vector x of a formula f(m, x) with one number as its value."""
    if m.name in ("text", "script", "letters"):
        return m.gradient(f, x)  # type: ignore[attr-defined]
    zero, one = m.exact(0), m.exact(1)
    places = range(len(x))  # `len` refuses arrays whose length is a letter
    duals = [_Dual(m, x[i], {i: one}) for i in places]
    value = f(Duals(cast("Arithmetic[Any]", m)), entries(duals))
    slopes = value.slopes if isinstance(value, _Dual) else {}
    return entries([slopes.get(i, zero) for i in places])


class _Dual(Scalar):
    """A number and its partial derivatives by the index of the coordinate; missing ones are 0."""

    __slots__ = ("m", "slopes", "value")

    def __init__(self, m: Namespace, value: Number, slopes: dict[int, Number]) -> None:
        self.m = m
        self.value = value
        self.slopes = slopes

    def _joined(self, other: object, operation: Operation, *, swapped: bool) -> object:
        if isinstance(other, Entries):
            return NotImplemented
        first, second = (other, self) if swapped else (self, other)
        a, b = _value(first), _value(second)
        value = operation(a, b)
        by_first, by_second = _RULES[operation]
        slopes: dict[int, Number] = {}
        if isinstance(first, _Dual):
            slopes = {i: by_first(slope, b) for i, slope in first.slopes.items()}
        if isinstance(second, _Dual):
            for i, slope in second.slopes.items():
                part = by_second(slope, a, b, value)
                slopes[i] = slopes[i] + part if i in slopes else part
        return _Dual(self.m, value, slopes)

    def __neg__(self) -> _Dual:
        return _Dual(self.m, -self.value, {i: -a for i, a in self.slopes.items()})


def _value(number: object) -> Any:
    return number.value if isinstance(number, _Dual) else number


_RULES: dict[Operation, tuple[Callable[..., Any], Callable[..., Any]]] = {
    add: (lambda s, b: s, lambda s, a, b, value: s),
    sub: (lambda s, b: s, lambda s, a, b, value: -s),
    mul: (lambda s, b: s * b, lambda s, a, b, value: a * s),
    truediv: (lambda s, b: s / b, lambda s, a, b, value: -(value * s) / b),
}
"""For each operation, the derivatives of its value in direction of the first and second operand.

Each function gets the operand's slope s, the operands, and the value of the operation. For
quotients, (a/b)' = -(a/b) b'/b in direction of b.
"""


def _chained(name: str, slope: Callable[[Namespace, Any], Number]) -> Callable[..., Numbers]:
    """Return a function with its derivative, by the chain rule."""

    def function(self: Duals, x: Any) -> Any:
        f = getattr(self.m, name)

        def one(t: Any) -> Any:
            if not isinstance(t, _Dual):
                return f(t)
            factor = slope(self.m, t.value)
            return _Dual(self.m, f(t.value), {i: factor * a for i, a in t.slopes.items()})

        return each(one, x)

    return function


def _fixed(name: str, what: str) -> Callable[..., Numbers]:
    """Return a function with kinks, which refuses arguments that depend on the point."""

    def function(self: Duals, *values: Any) -> Any:
        if any(isinstance(t, _Dual) for value in values for t in self._flat(value)):
            raise misuse(f"differentiates {what}", "Write its derivative out.")
        return getattr(self.m, name)(*values)

    return function


class Duals(Arithmetic[Any]):
    """Numbers with gradients over another arithmetic, which refuse functions with kinks."""

    name = "derivatives"

    def __init__(self, m: Arithmetic[Any]) -> None:
        self.m = m
        self.numbers = (_Dual, m.numbers)

    def _rational(self, value: Fraction) -> Any:
        return self.m.exact(value)

    exp = _chained("exp", lambda m, t: m.exp(t))
    log = _chained("log", lambda m, t: 1 / t)
    sqrt = _chained("sqrt", lambda m, t: 1 / (2 * m.sqrt(t)))
    logistic = _chained("logistic", lambda m, t: m.logistic_slope(t))
    logistic_slope = _chained("logistic_slope", lambda m, t: m.logistic_curvature(t))
    softplus = _chained("softplus", lambda m, t: m.logistic(t))
    abs = _fixed("abs", "an absolute value")
    maximum = _fixed("maximum", "a maximum")
    is_zero = _fixed("is_zero", "an indicator")
    floor = _fixed("floor", "a floor")
    _whole = _fixed("_whole", "a function of integers")
    _eigenvalues = _fixed("_eigenvalues", "eigenvalues")
    spectral = _fixed("spectral", "a spectral norm")

    def _level(self, s: Numbers) -> Any:
        return self.m._level(entries([_value(t) for t in s]))
