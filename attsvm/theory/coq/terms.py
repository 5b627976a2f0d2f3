"""Coq terms: real numbers of Coq, and the arithmetic that evaluates a formula on an instance.

An instance becomes a theorem about real numbers. Each value is the text of a Coq term. Long terms
get a definition of their own, so that the text stays short.
"""

from __future__ import annotations

import operator
from fractions import Fraction
from typing import Any, NoReturn

from flint import fmpq

from attsvm.errors import NotExpressible
from attsvm.theory.arithmetic.base import Arithmetic, elementary
from attsvm.theory.arithmetic.entries import Number, Numbers, Operation, Scalar

_LONG = 60
"""Maximum number of characters of a term inside another; a longer term gets a definition."""

SUM, PRODUCT, APPLICATION, ATOM = range(4)
"""Precedence of a Coq term, from loose to tight. A negation has that of a sum, so that it always
gets brackets inside another term."""

_SIGNS: dict[Operation, tuple[str, int]] = {
    operator.add: ("+", SUM),
    operator.sub: ("-", SUM),
    operator.mul: ("*", PRODUCT),
    operator.truediv: ("/", PRODUCT),
}


class Term(Scalar):
    """A real number of Coq.

    Attributes:
        m: the arithmetic that it belongs to.
        text: a Coq term in scope R.
        depends: whether the number depends on a value of the instance. Python has computed all
            other numbers, so that Coq would learn nothing from a comparison of them.
        binds: the precedence of the text.
    """

    __slots__ = ("binds", "depends", "m", "text")

    def __init__(self, m: Any, text: str, depends: bool, binds: int = ATOM) -> None:
        self.m, self.text, self.depends, self.binds = m, text, depends, binds

    def within(self, least: int) -> str:
        """Return the text, in brackets if its precedence is lower."""
        return self.text if self.binds >= least else f"({self.text})"

    def _joined(self, other: object, operation: Operation, *, swapped: bool) -> object:
        if isinstance(other, int):
            other = self.m.exact(other)
        if not isinstance(other, Term):
            return NotImplemented
        a, b = (other, self) if swapped else (self, other)
        sign, binds = _SIGNS[operation]
        text = f"{a.within(binds)} {sign} {b.within(binds + 1)}"
        return self.m.named(text, a.depends or b.depends, binds)

    def __neg__(self) -> Term:
        made: Term = self.m.named(f"- {self.within(APPLICATION)}", self.depends, SUM)
        return made

    def __index__(self) -> int:
        """Refuse to be a number of Python, as a loop up to a length of an axis needs."""
        raise NotExpressible("a loop up to a number that is a letter")

    def __abs__(self) -> Term:
        made: Term = self.m.named(f"Rabs {self.within(ATOM)}", self.depends, APPLICATION)
        return made


class Length(int):
    """The length of an axis of an instance; numbers computed from it depend on the instance."""

    def __add__(self, other: int) -> Length:
        return Length(int(self) + other)

    def __sub__(self, other: int) -> Length:
        return Length(int(self) - other)

    def __mul__(self, other: Any) -> Any:
        return Length(int(self) * other) if isinstance(other, int) else other.__rmul__(int(self))

    def __pow__(self, other: int, _: None = None) -> Length:  # type: ignore[override]
        return Length(int(self) ** other)


def numeral(value: Fraction) -> str:
    """Return a rational as a Coq term in scope R, from integers alone."""
    above, below = value.numerator, value.denominator
    text = str(above) if above >= 0 else f"(- {-above})"
    return text if below == 1 else f"({text} / {below})"


def function(name: str) -> Any:
    """Return a function of the namespace `m` that is the Coq function of this name."""
    return elementary(lambda x: x.m.called(name, x))


class Terms(Arithmetic[Term]):
    """The arithmetic whose numbers are Coq terms, with the definitions that it has made."""

    name = "coq"
    numbers = Term

    def __init__(self, longest: int = _LONG) -> None:
        self.longest = longest
        self.definitions: dict[str, str] = {}
        self._names: dict[str, str] = {}

    def called(self, name: str, *arguments: Term) -> Term:
        """Return a Coq function of these numbers."""
        text = " ".join([name, *(x.within(ATOM) for x in arguments)])
        return self.named(text, any(x.depends for x in arguments), APPLICATION)

    def named(self, text: str, depends: bool, binds: int = ATOM) -> Term:
        """Return a term; a long text becomes a definition, the same text one definition."""
        if len(text) <= self.longest:
            return Term(self, text, depends, binds)
        if text not in self._names:
            name = self._names[text] = f"t{len(self._names)}"
            self.definitions[name] = text
        return Term(self, self._names[text], depends)

    def exact(self, value: object) -> Term:
        """Return a constant, or the length of an axis, as a term."""
        if isinstance(value, Length):
            return Term(self, numeral(Fraction(int(value))), True)
        return super().exact(value)

    def _rational(self, value: Fraction) -> Term:
        return Term(self, numeral(value), False)

    def _literal(self, number: Any) -> Term:
        exact = number if isinstance(number, fmpq) else Fraction(*number.as_integer_ratio())
        return Term(self, numeral(Fraction(int(exact.numerator), int(exact.denominator))), True)

    exp = function("exp")
    log = function("ln")
    sqrt = function("sqrt")
    is_zero = function("is_zero")
    logistic = function("logistic")
    logistic_slope = function("logistic_slope")
    abs = elementary(abs)

    def floor(self, x: object) -> NoReturn:
        raise NotExpressible("the floor of a number")

    def _whole(self, name: str, *numbers: object) -> NoReturn:
        raise NotExpressible(f"the function {name} of integers")

    def _eigenvalues(self, S: object) -> NoReturn:
        raise NotExpressible("the eigenvalues of a matrix of size 3 or more")

    def maximum(self, x: Number, y: Number) -> Term:
        return self._larger("Rmax", x, y)

    def minimum(self, x: Number, y: Number) -> Term:
        return self._larger("Rmin", x, y)

    def _larger(self, name: str, x: object, y: object) -> Term:
        return self.called(name, self.exact(x), self.exact(y))

    def spectral(self, A: Numbers) -> Term:
        """Return the spectral norm of a matrix with one row or one column, its Frobenius norm.

        Raises:
            NotExpressible: the matrix has more rows and columns.
        """
        if 1 in A.shape:
            return self.norm(A)
        raise NotExpressible("the spectral norm of a matrix with two rows and columns or more")
