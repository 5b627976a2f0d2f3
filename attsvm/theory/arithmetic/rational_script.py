"""Verifiers: scripts that evaluate a formula on one rational instance with Python's fractions.

Every number has a rational value and the expression that computes it. The lines of the script
therefore compute the same value from the instance alone. Exponentials of 0, logarithms of 1 and
roots of squares are rational; a formula with other values of these functions has no verifier.
"""

from __future__ import annotations

import inspect
import operator
import re
from collections.abc import Callable
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
from flint import fmpq

from attsvm._types import Array
from attsvm.errors import ClaimError
from attsvm.theory.arithmetic.base import Arithmetic, elementary
from attsvm.theory.arithmetic.entries import Number, Numbers, Operation, Scalar, entries
from attsvm.theory.arithmetic.script import ATOM, PRODUCT, SUM, Expression, Lines

_SIGNS: dict[Operation, tuple[str, int]] = {
    operator.add: (" + ", SUM),
    operator.sub: (" - ", SUM),
    operator.mul: ("*", PRODUCT),
    operator.truediv: (" / ", PRODUCT),
}


class Irrational(ClaimError):
    """A value of the formula at this instance is no rational number."""


def exp(x: Fraction) -> Fraction:  # noqa: D103  # written into verifiers as it is
    if x != 0:
        raise ValueError("irrational")
    return Fraction(1)


def log(x: Fraction) -> Fraction:  # noqa: D103  # the same
    if x != 1:
        raise ValueError("irrational")
    return Fraction(0)


def sqrt(x: Fraction) -> Fraction:  # noqa: D103  # the same
    root = Fraction(isqrt(x.numerator), isqrt(x.denominator))
    if root * root != x:
        raise ValueError("irrational")
    return root


class Term(Expression, Scalar):
    """A rational number, with the expression that computes it."""

    __slots__ = ()
    m: Verifiers

    def _joined(self, other: object, operation: Operation, *, swapped: bool) -> object:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, int):
            other = self.m.exact(other)
        if not isinstance(other, Term):
            return NotImplemented
        a, b = (other, self) if swapped else (self, other)
        sign, binds = _SIGNS[operation]
        if sign == " / " and b.value == 0:
            raise Irrational("a formula divides by 0")
        if (a.text, sign) in (("0", " + "), ("1", "*")) or (b.text, sign) == ("0", "*"):
            return b
        if (b.text, sign) in (("0", " + "), ("0", " - "), ("1", "*"), ("1", " / ")):
            return a
        if (a.text, sign) == ("0", "*"):
            return a
        if sign == " / ":  # the quotient of two integers of Python would be a float
            return self.m.named(f"Fraction({a.text}, {b.text})", a.value / b.value)
        right = binds + 1 if sign == " - " else binds
        text = f"{a.within(binds)}{sign}{b.within(right)}"
        return self.m.named(text, operation(a.value, b.value), binds)

    def __neg__(self) -> Term:
        return self.m.named(f"-{self.within(ATOM)}", -self.value, SUM)

    def __abs__(self) -> Term:
        return self.m.named(f"abs({self.text})", abs(self.value))


class Verifiers(Lines[Term], Arithmetic[Term]):
    """Expressions in Python's fractions, with the lines and the helpers of one verifier."""

    name = "verifier"
    numbers = Term

    def __init__(self, longest: int = 76) -> None:
        super().__init__(longest)

    # values

    def input_value(self, name: str, value: object) -> Any:
        """Return a value of the instance, by its name."""
        array = np.asarray(value)
        exact = [_exact(x) for x in array.ravel().tolist()]
        self.lines[name] = _nested(np.array(exact, dtype=object).reshape(array.shape))
        places = [name + "".join(f"[{k}]" for k in at) for at in np.ndindex(array.shape)]
        terms = [Term(self, text, x) for text, x in zip(places, exact, strict=True)]
        made = entries(terms, array.shape) if array.ndim else terms[0]
        self._given_names[id(value)] = made
        return made

    def values(self, x: object) -> Any:
        """Return the numbers of a field of a record."""
        known = self._given_names.get(id(x))
        return super().values(x) if known is None else known

    def _literal(self, number: Any) -> Term:
        return self._rational(_exact(number))

    def _rational(self, value: Fraction) -> Term:
        if value.denominator == 1:
            return Term(self, str(value), value, ATOM if value >= 0 else SUM)
        return Term(self, literal(value), value)

    # functions

    def _by(self, helper: Callable[[Fraction], Fraction], x: Term) -> Term:
        try:
            value = helper(x.value)
        except ValueError as error:
            raise Irrational(f"a formula takes an irrational {helper.__name__}") from error
        source = inspect.getsource(helper)
        source = re.sub(r"  # noqa.*|: Fraction| -> Fraction", "", source)
        self.helpers[helper.__name__] = source.rstrip()
        return self.named(f"{helper.__name__}({x.text})", value)

    exp = elementary(lambda x: x.m._by(exp, x))
    log = elementary(lambda x: x.m._by(log, x))
    sqrt = elementary(lambda x: x.m._by(sqrt, x))
    abs = elementary(abs)
    is_zero = elementary(lambda x: x.m.named(f"int({x.text} == 0)", Fraction(int(x.value == 0))))

    def maximum(self, x: Number, y: Number) -> Term:
        return self._extreme("max", max, x, y)

    def minimum(self, x: Number, y: Number) -> Term:
        return self._extreme("min", min, x, y)

    def _extreme(self, name: str, function: Callable[..., Any], *operands: Any) -> Term:
        terms = [self.exact(x) if isinstance(x, int) else x for x in operands]
        if len(terms) == 1:
            return terms[0]
        text = f"{name}({', '.join(t.text for t in terms)})"
        return self.named(text, function(t.value for t in terms))

    def max(self, x: Numbers) -> Term:
        return self._extreme("max", max, *self._flat(x))

    def min(self, x: Numbers) -> Term:
        return self._extreme("min", min, *self._flat(x))

    def spectral(self, A: Numbers) -> Term:
        if 1 in A.shape:
            return self.norm(A)
        raise Irrational("a formula takes the spectral norm of a matrix")

    def _level(self, s: Numbers) -> Term:
        return self.max(s)


def _exact(number: Any) -> Fraction:
    if isinstance(number, fmpq):
        return Fraction(int(number.p), int(number.q))
    return Fraction(*number.as_integer_ratio())


def literal(value: Fraction) -> str:
    """Return an expression for a rational, with powers for large powers of two."""
    above, below = value.numerator, value.denominator
    if below == 1:
        return _integer(above)
    return f"Fraction({_integer(above)}, {_integer(below)})"


def _integer(value: int) -> str:
    power = (value & -value).bit_length() - 1 if value else 0
    if power <= 40:
        return str(value)
    odd = value >> power
    return f"2**{power}" if odd == 1 else f"{odd} * 2**{power}"


def _nested(value: Array | Fraction) -> str:
    if isinstance(value, np.ndarray):
        return f"[{', '.join(map(_nested, value))}]" if value.ndim else _nested(value.item())
    return literal(value)
