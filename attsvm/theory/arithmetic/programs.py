"""Programs for the checker: a formula on one instance, as expressions of `record.checker`.

Every value of the instance has a name. A number that depends on the instance is an expression; all
other numbers are constants, and are computed at once. A comparison of constants was decided by
code of this package, so that the checker would learn nothing: it is refused.
"""

from __future__ import annotations

import operator
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq

from attsvm.errors import NotExpressible
from attsvm.theory.arithmetic.base import Arithmetic, elementary
from attsvm.theory.arithmetic.entries import Entries, Number, Numbers, Operation, Scalar, entries
from attsvm.theory.arithmetic.namespace import All, AnyOf, Proposition, Relation

SUM, PRODUCT, ATOM = range(3)
"""Precedence of an expression, from loose to tight."""

_LONG = 76
"""Maximum number of characters of an expression inside another; a longer one gets a name."""

_SIGNS: dict[Operation, tuple[str, int]] = {
    operator.add: (" + ", SUM),
    operator.sub: (" - ", SUM),
    operator.mul: (" * ", PRODUCT),
    operator.truediv: (" / ", PRODUCT),
}

_RELATIONS = {"at most": "at_most", "below": "below", "equal": "equal"}


class Term(Scalar):
    """A real number of a program.

    Attributes:
        m: the arithmetic that it belongs to.
        text: the expression.
        depends: whether it depends on the instance.
        binds: the precedence of the expression.
        value: its value if it is a rational constant, else None.
    """

    __slots__ = ("binds", "depends", "m", "text", "value")

    def __init__(
        self,
        m: Programs,
        text: str,
        depends: bool,
        binds: int = ATOM,
        value: Fraction | None = None,
    ) -> None:
        self.m, self.text, self.depends, self.binds, self.value = m, text, depends, binds, value

    def within(self, least: int) -> str:
        """Return the expression, in brackets if its precedence is lower."""
        return self.text if self.binds >= least else f"({self.text})"

    def _joined(self, other: object, operation: Operation, *, swapped: bool) -> object:
        if isinstance(other, int):
            other = self.m.exact(other)
        if not isinstance(other, Term):
            return NotImplemented
        a, b = (other, self) if swapped else (self, other)
        if a.value is not None and b.value is not None:
            return self.m.constant(operation(a.value, b.value))
        sign, binds = _SIGNS[operation]
        if (sign == " + " and a.value == 0) or (sign == " * " and a.value == 1):
            return b
        if b.value == (0 if sign in (" + ", " - ") else 1):
            return a
        return self.m.named(
            f"{a.within(binds)}{sign}{b.within(binds + 1)}", a.depends or b.depends, binds
        )

    def __neg__(self) -> Term:
        if self.value is not None:
            return self.m.constant(-self.value)
        return self.m.named(f"-{self.within(ATOM)}", self.depends, SUM)


class Length(int):
    """An integer of an instance, such as the length of an axis; its numbers are no constants."""

    def __add__(self, other: int) -> Length:
        return Length(int(self) + other)

    def __sub__(self, other: int) -> Length:
        return Length(int(self) - other)

    def __mul__(self, other: Any) -> Any:
        return Length(int(self) * other) if isinstance(other, int) else other * self

    def __pow__(self, other: int, _: None = None) -> Length:  # type: ignore[override]
        return Length(int(self) ** other)


class Programs(Arithmetic[Term]):
    """The arithmetic whose numbers are expressions, with the lines that name some of them."""

    name = "checker"
    numbers = Term

    def __init__(self) -> None:
        self.sources: set[str] = set()
        self.places: dict[str, str] = {}
        self.lines: dict[str, str] = {}
        self._names: dict[str, str] = {}

    # values

    def constant(self, value: Fraction) -> Term:
        """Return a constant."""
        return Term(self, literal(value), False, ATOM if value >= 0 else SUM, value)

    def input_value(self, name: str, value: object) -> Numbers:
        """Return a value of the instance, by its name."""
        array = np.array(value, dtype=object)
        self.lines[name] = f"reals({nested(array.tolist())})"
        return self.entries_of(name, array.shape)

    def place(self, value: object, text: str) -> None:
        """Say that numbers with these values are this expression; the first one counts."""
        self.places.setdefault(nested(value), text)

    def values(self, x: object) -> Numbers:
        """Return the numbers of a record by their place, and others as constants."""
        shape = np.shape(np.array(x, dtype=object))
        text = self.places.get(nested(x)) if shape else None
        return super().values(x) if text is None else self.entries_of(text, shape)

    def entries_of(self, name: str, shape: tuple[int, ...]) -> Any:
        """Return the number or the array that has a name, entry by entry."""
        places = (name + "".join(f"[{k}]" for k in at) for at in np.ndindex(shape))
        terms = [Term(self, text, True) for text in places]
        return entries(terms, shape) if shape else terms[0]

    def named(self, text: str, depends: bool, binds: int = ATOM) -> Term:
        """Return an expression; a long one gets a name, the same expression one name."""
        if len(text) <= _LONG:
            return Term(self, text, depends, binds)
        return Term(self, self.line(text), depends)

    def line(self, text: str) -> str:
        """Return the name of an expression, which has a line of its own."""
        if text not in self._names:
            name = self._names[text] = f"t{len(self._names)}"
            self.lines[name] = text
        return self._names[text]

    def exact(self, value: object) -> Term:
        """Return a constant, or an integer of the instance, as an expression."""
        if isinstance(value, Length):
            return Term(self, f"Real({int(value)})", True)
        return super().exact(value)

    def _rational(self, value: Fraction) -> Term:
        return self.constant(value)

    def _literal(self, number: Any) -> Term:
        return number if isinstance(number, Term) else self.constant(exact_value(number))

    # functions

    def called(self, name: str, *arguments: Number) -> Term:
        """Return a function of the checker of these numbers."""
        terms = [self.exact(x) for x in arguments]
        depends = any(x.depends for x in terms)
        return self.named(f"{name}({', '.join(x.text for x in terms)})", depends)

    exp = elementary(lambda x: x.m.called("exp", x))
    log = elementary(lambda x: x.m.called("log", x))
    sqrt = elementary(lambda x: x.m.called("sqrt", x))
    abs = elementary(lambda x: x.m.called("absolute", x))
    is_zero = elementary(lambda x: x.m.called("is_zero", x))
    floor = elementary(lambda x: x.m.called("whole_part", x))

    def _whole(self, name: str, *numbers: object) -> Term:
        raise NotExpressible(f"the function {name} of integers")

    def _eigenvalues(self, S: Numbers) -> Numbers:
        raise NotExpressible("the eigenvalues of a matrix of size 3 or more")

    def maximum(self, x: Number, y: Number) -> Term:
        return self.called("maximum", x, y)

    def minimum(self, x: Number, y: Number) -> Term:
        return self.called("minimum", x, y)

    def max(self, x: Numbers) -> Term:
        return self.called("maximum", *self._flat(x))

    def min(self, x: Numbers) -> Term:
        return self.called("minimum", *self._flat(x))

    def spectral(self, A: Numbers) -> Term:
        return self.norm(A) if 1 in A.shape else self.named(f"spectral({listed(self, A)})", True)

    def softmax(self, s: Numbers) -> Numbers:
        if s.ndim == 2:
            return entries([self.softmax(row) for row in s])
        return self.entries_of(self.line(f"softmax({listed(self, s)})"), s.shape)

    # relations

    def answer(self, relation: Relation | Proposition) -> str:
        """Return a relation as an expression of the checker.

        Raises:
            NotExpressible: neither side depends on the instance.
        """
        if isinstance(relation, Proposition):
            if not relation.text:
                raise NotExpressible("a property of a function that the checker does not know")
            self.sources |= {relation.source} - {""}
            return relation.text
        if isinstance(relation, All | AnyOf):
            word = "all_of" if isinstance(relation, All) else "any_of"
            return f"{word}({', '.join(map(self.answer, relation.parts))})"
        sides = [listed(self, side) for side in (relation.left, relation.right)]
        if all(map(self._is_constant, (relation.left, relation.right))):
            raise NotExpressible("a condition that code of this package decides")
        if isinstance(relation.left, Entries) != isinstance(relation.right, Entries):
            sides = self._broadcast(relation.left, relation.right)
        return f"{_RELATIONS[relation.kind]}({', '.join(sides)})"

    def _is_constant(self, side: object) -> bool:
        return not any(self.exact(x).depends for x in self._flat(side))

    def _broadcast(self, left: object, right: object) -> list[str]:
        """Return both sides as lists of one shape."""
        arrays = np.broadcast_arrays(np.asarray(left, dtype=object), np.asarray(right, object))
        return [listed(self, entries(a.ravel().tolist(), a.shape)) for a in arrays]


def listed(m: Programs, value: object) -> str:
    """Return a number or an array as an expression."""
    if isinstance(value, Entries) and value.ndim == 0:
        value = value.item()
    if isinstance(value, Entries | list | tuple):
        return f"[{', '.join(listed(m, x) for x in value)}]"
    return m.exact(value).text


def exact_value(number: Any) -> Fraction:
    """Return an exact number or a float as a rational."""
    if isinstance(number, fmpq):
        return Fraction(int(number.p), int(number.q))
    return Fraction(*number.as_integer_ratio())


def literal(value: Fraction) -> str:
    """Return an expression for a rational, with powers for large powers of two."""
    above, below = value.numerator, value.denominator
    return _integer(above) if below == 1 else f"Q({_integer(above)}, {_integer(below)})"


def _integer(value: int) -> str:
    power = (value & -value).bit_length() - 1 if value else 0
    if power <= 40:
        return str(value)
    odd = value >> power
    return f"2**{power}" if odd == 1 else f"{odd} * 2**{power}"


def nested(value: object) -> str:
    """Return a number, or nested lists of numbers, as an expression for rationals."""
    if isinstance(value, list | tuple | np.ndarray):
        return f"[{', '.join(map(nested, value))}]"
    return literal(exact_value(value))
