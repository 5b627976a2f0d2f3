"""Numbers made of rationals by + - * / and square roots, of which it is decided that they are 0.

Sums c_1 sqrt(r_1) + ... + c_k sqrt(r_k) of roots of rationals are known exactly. Square roots of
positive rationals no two of which have a product that is a square are linearly independent over the
rationals (Besicovitch, J. London Math. Soc. 15, 1940). Terms are joined where the product of their
radicands is a square, so that a sum is 0 exactly where no term is left.

Of nested roots a bound is known below which no such number lies but 0 (Burnikel, Funke, Mehlhorn,
Schirra and Schmitt, A separation bound for real algebraic expressions, Algorithmica 55, 2009): a
small enough ball about 0 proves that the number is 0.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass

from flint import arb, fmpq

from attsvm.theory.arithmetic.balls import Ball, exact_root
from attsvm.theory.arithmetic.entries import Operation

_MOST = 32
"""Terms of a sum at most; a product of long ones is not worked out."""


@dataclass(frozen=True, slots=True)
class Surd:
    """Pairs of a radicand and a coefficient that is not 0; the radicand of rationals is 1."""

    terms: tuple[tuple[fmpq, fmpq], ...]

    @classmethod
    def of(cls, number: fmpq) -> Surd:
        """Return a rational number."""
        return cls(((fmpq(1), number),) if number else ())

    @property
    def rational(self) -> fmpq | None:
        """The number where it is rational, None where it is not."""
        if not self.terms:
            return fmpq(0)
        (radicand, number), *others = self.terms
        return number if radicand == 1 and not others else None


def sum_of(a: Surd, b: Surd) -> Surd:
    """Return the sum, with terms joined."""
    terms = dict(a.terms)
    for radicand, number in b.terms:
        own, root = _alike(radicand, terms)
        terms[own] = terms.get(own, fmpq(0)) + number * root / own
    return Surd(tuple((r, c) for r, c in terms.items() if c))


def _alike(radicand: fmpq, terms: dict[fmpq, fmpq]) -> tuple[fmpq, fmpq]:
    """A radicand among the terms, with the root of its product with this one; else this one."""
    for own in terms:
        root = exact_root(own * radicand)
        if root is not None:
            return own, root
    return radicand, radicand


def product(a: Surd, b: Surd) -> Surd | None:
    """Return the product; None where it might be too long."""
    if len(a.terms) * len(b.terms) > _MOST:
        return None
    found = Surd(())
    for radicand, number in a.terms:
        for other, factor in b.terms:
            found = sum_of(found, _term(radicand * other, number * factor))
    return found


def _term(radicand: fmpq, number: fmpq) -> Surd:
    """Return a multiple of one root, rational where the root is."""
    root = exact_root(radicand)
    return Surd(((radicand, number),)) if root is None else Surd.of(number * root)


def inverse(a: Surd) -> Surd | None:
    """1/a; None where a is 0 or has several terms."""
    if len(a.terms) != 1:
        return None
    ((radicand, number),) = a.terms
    return Surd(((radicand, 1 / (number * radicand)),))


def joined(a: Surd, b: Surd, operation: Operation) -> Surd | None:
    """What + - * / make of two sums; None where it is not worked out."""
    if operation is operator.add:
        return sum_of(a, b)
    if operation is operator.sub:
        return sum_of(a, Surd(tuple((r, -c) for r, c in b.terms)))
    if operation is operator.mul:
        return product(a, b)
    below = inverse(b)
    return None if below is None else product(a, below)


def root_of(number: fmpq) -> Surd:
    """Return the square root of a rational that is not negative."""
    return _term(number, fmpq(1))


@dataclass(frozen=True, slots=True)
class Bound:
    """How far from 0 a number is that is made by + - * / and roots, unless it is 0.

    It is a quotient of algebraic integers, whose conjugates are at most 2^above and 2^below in
    size, in a field that k square roots generate. The product of the 2^k conjugates of the upper
    one, which are counted as often as they occur, is an integer. So the number is 0 or at least
    2^-((2^k - 1) above + below) in size.

    Attributes:
        above: the first exponent.
        below: the second.
        roots: what stands for each of the square roots.
    """

    above: int
    below: int
    roots: frozenset[object] = frozenset()

    @classmethod
    def of(cls, number: fmpq) -> Bound:
        """That of a rational number."""
        above, below = (max(0, int(abs(n)) - 1).bit_length() for n in (number.p, number.q))
        return cls(above, below)

    def proves_zero(self, ball: Ball) -> bool:
        """Whether the number is 0, as a ball that holds it lies within the bound."""
        bits = ((1 << len(self.roots)) - 1) * self.above + self.below
        return bool(arb(ball).abs_upper() < arb((1, -bits)))

    def joined(self, other: Bound, operation: Operation) -> Bound:
        """That of a sum, difference, product or quotient."""
        roots = self.roots | other.roots
        if operation is operator.truediv:
            return Bound(self.above + other.below, self.below + other.above, roots)
        if operation is operator.mul:
            return Bound(self.above + other.above, self.below + other.below, roots)
        above = max(self.above + other.below, other.above + self.below) + 1
        return Bound(above, self.below + other.below, roots)

    def root(self, name: object) -> Bound:
        """That of the square root, as sqrt(a / b) is sqrt(a b) / b."""
        return Bound((self.above + self.below + 1) // 2, self.below, self.roots | {name})
