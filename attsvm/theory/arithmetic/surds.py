"""Exact tests for 0 of numbers that are made from rationals by + - * / and square roots.

Sums c_1 sqrt(r_1) + ... + c_k sqrt(r_k) of roots of rationals are known exactly. Square roots of
positive rationals are linearly independent over the rationals if no two radicands have a square as
their product (Besicovitch, J. London Math. Soc. 15, 1940). Terms whose radicands have a square as
their product are joined. Therefore a sum is 0 if and only if no term is left.

For nested roots there is a separation bound: the number is 0 or its size is at least the bound
(Burnikel et al., A separation bound for real algebraic expressions,
Algorithmica 55, 2009). A small enough ball about 0 therefore proves that the number is 0.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass

from flint import arb, fmpq

from attsvm.theory.arithmetic.balls import Ball, exact_root
from attsvm.theory.arithmetic.entries import Operation

_MOST = 32
"""Maximum number of products of terms in a product of sums; others are not computed."""


@dataclass(frozen=True, slots=True)
class Surd:
    """A sum of roots: pairs of a radicand, 1 for rationals, and a coefficient other than 0."""

    terms: tuple[tuple[fmpq, fmpq], ...]

    @classmethod
    def of(cls, number: fmpq) -> Surd:
        """Return a rational number."""
        return cls(((fmpq(1), number),) if number else ())

    @property
    def rational(self) -> fmpq | None:
        """The number if it is rational, else None."""
        if not self.terms:
            return fmpq(0)
        (radicand, number), *others = self.terms
        return number if radicand == 1 and not others else None


def sum_of(a: Surd, b: Surd) -> Surd:
    """Return the sum, with joined terms."""
    terms = dict(a.terms)
    for radicand, number in b.terms:
        # with r = own and s = radicand: c sqrt(s) = c sqrt(r s)/r sqrt(r), and sqrt(r s) = root is
        # rational, so the term is joined to that of sqrt(r)
        own, root = _alike(radicand, terms)
        terms[own] = terms.get(own, fmpq(0)) + number * root / own
    return Surd(tuple((r, c) for r, c in terms.items() if c))


def _alike(radicand: fmpq, terms: dict[fmpq, fmpq]) -> tuple[fmpq, fmpq]:
    """Return the radicand r of a term with rational sqrt(r radicand), and this root.

    Without such a term, r is the radicand itself, and the root is the radicand as well.
    """
    for own in terms:
        root = exact_root(own * radicand)
        if root is not None:
            return own, root
    return radicand, radicand


def product(a: Surd, b: Surd) -> Surd | None:
    """Return the product; None if it might be too long."""
    if len(a.terms) * len(b.terms) > _MOST:
        return None
    result = Surd(())
    for radicand, number in a.terms:
        for other, factor in b.terms:
            result = sum_of(result, _term(radicand * other, number * factor))
    return result


def _term(radicand: fmpq, number: fmpq) -> Surd:
    """Return a multiple of one root, as a rational if the root is rational."""
    root = exact_root(radicand)
    return Surd(((radicand, number),)) if root is None else Surd.of(number * root)


def inverse(a: Surd) -> Surd | None:
    """Return 1/a; None if a is 0 or has several terms."""
    if len(a.terms) != 1:
        return None
    ((radicand, number),) = a.terms
    return Surd(((radicand, 1 / (number * radicand)),))


def joined(a: Surd, b: Surd, operation: Operation) -> Surd | None:
    """Return the operation on two sums; None if it is not computed."""
    if operation is operator.add:
        return sum_of(a, b)
    if operation is operator.sub:
        return sum_of(a, Surd(tuple((r, -c) for r, c in b.terms)))
    if operation is operator.mul:
        return product(a, b)
    below = inverse(b)
    return None if below is None else product(a, below)


def root_of(number: fmpq) -> Surd:
    """Return the square root of a nonnegative rational."""
    return _term(number, fmpq(1))


@dataclass(frozen=True, slots=True)
class Bound:
    """The separation bound of a number that is made by + - * / and square roots.

    The number is a quotient of algebraic integers in a field that k square roots generate. Their
    conjugates are at most 2^above and 2^below in size. The product of the 2^k conjugates of the
    numerator, with multiplicity, is an integer. If it is not 0, its size is at least 1, and all
    other conjugates are at most 2^above. Therefore the number is 0, or at least
    2^-((2^k - 1) above + below) in size.

    Attributes:
        above: the exponent of the numerator.
        below: the exponent of the denominator.
        roots: an object for each of the square roots.
    """

    above: int
    below: int
    roots: frozenset[object] = frozenset()

    @classmethod
    def of(cls, number: fmpq) -> Bound:
        """Return the bound of a rational number."""
        above, below = (max(0, int(abs(n)) - 1).bit_length() for n in (number.p, number.q))
        return cls(above, below)

    def proves_zero(self, ball: Ball) -> bool:
        """Return whether a ball that holds the number is so small that the number is 0."""
        bits = ((1 << len(self.roots)) - 1) * self.above + self.below
        return bool(arb(ball).abs_upper() < arb((1, -bits)))

    def joined(self, other: Bound, operation: Operation) -> Bound:
        """Return the bound of a sum, difference, product or quotient."""
        roots = self.roots | other.roots
        if operation is operator.truediv:
            return Bound(self.above + other.below, self.below + other.above, roots)
        if operation is operator.mul:
            return Bound(self.above + other.above, self.below + other.below, roots)
        above = max(self.above + other.below, other.above + self.below) + 1
        return Bound(above, self.below + other.below, roots)

    def root(self, name: object) -> Bound:
        """Return the bound of the square root, by sqrt(a / b) = sqrt(a b) / b."""
        return Bound((self.above + self.below + 1) // 2, self.below, self.roots | {name})
