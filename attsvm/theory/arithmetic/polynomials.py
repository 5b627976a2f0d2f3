"""Polynomial conditions for z3: a formula on unknown real numbers.

A root is a new unknown r >= 0 with r^2 = x. A quotient is a new unknown q with q b = a and b != 0.
These side conditions are assumed wherever the formula has a root or a quotient. Exponentials,
logarithms and loops up to an unknown integer have no polynomial condition.
"""

from __future__ import annotations

from fractions import Fraction
from operator import add, mul, sub
from typing import Any

import z3
from flint import fmpq

from attsvm.errors import NotExpressible
from attsvm.theory.arithmetic.base import Arithmetic, elementary
from attsvm.theory.arithmetic.entries import Entries, Numbers, Operation, Scalar, entries
from attsvm.theory.arithmetic.namespace import All, AnyOf, Relation
from attsvm.theory.arithmetic.relations import flat

MOST_DEGREE = 200
"""Maximum degree of a term. z3 ignores its time limit while it isolates roots of higher degree."""


class DegreeError(NotExpressible):
    """A polynomial whose degree is above the limit for z3."""


class Unknown(Scalar):
    """A real number as a term of z3 of some degree; `square` is its square if it is a root."""

    __slots__ = ("degree", "m", "square", "term")

    def __init__(
        self, m: Polynomials, term: Any, degree: int = 1, square: Unknown | None = None
    ) -> None:
        self.m, self.term, self.degree, self.square = m, term, degree, square
        if degree > MOST_DEGREE:
            raise DegreeError(f"a polynomial of a degree above {MOST_DEGREE}")

    def _joined(self, other: object, operation: Operation, *, swapped: bool) -> object:
        if isinstance(other, int):
            other = self.m.exact(other)
        if not isinstance(other, Unknown):
            return NotImplemented
        a, b = (other, self) if swapped else (self, other)
        if operation is mul and a is b and a.square is not None:
            return a.square
        if operation is mul:
            return Unknown(self.m, a.term * b.term, a.degree + b.degree)
        if operation in (add, sub):
            return Unknown(self.m, operation(a.term, b.term), max(a.degree, b.degree))
        if z3.is_rational_value(b.term) and b.term.as_fraction() != 0:
            return Unknown(self.m, a.term / b.term, a.degree)
        quotient = self.m.unknown()
        self.m.sides += [b.term != 0, quotient.term * b.term == a.term]
        return quotient

    def __neg__(self) -> Unknown:
        return Unknown(self.m, -self.term, self.degree)

    def __abs__(self) -> Unknown:
        return Unknown(self.m, z3.If(self.term >= 0, self.term, -self.term), self.degree)

    __eq__ = __ne__ = Scalar._refuse  # by default, Python would compare identities
    __hash__ = None  # type: ignore[assignment]

    def __index__(self) -> int:
        """Refuse to be a number of Python.

        Raises:
            NotExpressible: always.
        """
        raise NotExpressible("a loop up to an unknown integer")


def _transcendental(x: object) -> Any:
    raise NotExpressible("an exponential or a logarithm")


def _root(x: Unknown) -> Unknown:
    root = x.m.unknown()
    x.m.sides += [root.term >= 0, root.term * root.term == x.term]
    root.square = x
    return root


class Polynomials(Arithmetic[Unknown]):
    """The arithmetic whose numbers are terms of z3.

    Attributes:
        sides: the side conditions of roots and quotients so far.
    """

    name = "polynomials"
    numbers = Unknown

    def __init__(self) -> None:
        self.sides: list[Any] = []
        self._count = 0

    def unknown(self) -> Unknown:
        """Return a new unknown real number."""
        self._count += 1
        return Unknown(self, z3.Real(f"t{self._count}"))

    def letters(self, name: str, shape: tuple[int, ...], *, integer: bool = False) -> Any:
        """Return an unknown number by its name, or an array of them."""
        if not shape:
            term = z3.ToReal(z3.Int(name)) if integer else z3.Real(name)
            return Unknown(self, term)
        size = int(Entries(shape=shape, dtype=object).size)
        return entries([Unknown(self, z3.Real(f"{name}{k}")) for k in range(size)], shape)

    def _rational(self, value: Fraction) -> Unknown:
        return Unknown(self, z3.Q(value.numerator, value.denominator), 0)

    def _literal(self, number: Any) -> Unknown:
        exact = number if isinstance(number, fmpq) else Fraction(*number.as_integer_ratio())
        return self._rational(Fraction(int(exact.numerator), int(exact.denominator)))

    exp = log = elementary(_transcendental)
    sqrt = elementary(_root)
    abs = elementary(abs)
    is_zero = elementary(lambda x: Unknown(x.m, z3.If(x.term == 0, z3.Q(1, 1), z3.Q(0, 1))))
    floor = elementary(lambda x: Unknown(x.m, z3.ToReal(z3.ToInt(x.term))))

    def maximum(self, x: object, y: object) -> Unknown:
        """Return the larger number."""
        a, b = self.exact(x), self.exact(y)
        return Unknown(self, z3.If(a.term >= b.term, a.term, b.term), max(a.degree, b.degree))

    def spectral(self, A: Numbers) -> Unknown:
        """Return the spectral norm of a matrix with at most two rows or columns."""
        return self.norm(A) if 1 in A.shape else self.singular(A)[0]

    def _eigenvalues(self, S: Numbers) -> Numbers:
        raise NotExpressible("the eigenvalues of a matrix of size 3 or more")

    def condition(self, relation: Relation) -> Any:
        """Return a relation as a condition of z3."""
        if isinstance(relation, All):
            return z3.And(*map(self.condition, relation.parts))
        if isinstance(relation, AnyOf):
            return z3.Or(*map(self.condition, relation.parts))
        gaps = [self.exact(gap).term for gap in flat(relation.right - relation.left)]
        if relation.kind == "equal":
            return z3.And(*(gap == 0 for gap in gaps))
        return gaps[0] > 0 if relation.kind == "below" else gaps[0] >= 0
