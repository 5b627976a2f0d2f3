"""Sums of square roots of rationals, c_1 sqrt(r_1) + ... + c_k sqrt(r_k), exactly.

Square roots of positive rationals no two of which have a product that is a square are linearly
independent over the rationals (Besicovitch, J. London Math. Soc. 15, 1940). Terms are joined where
the product of their radicands is a square, so that a sum is 0 exactly where no term is left.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass

from flint import fmpq

from attsvm.theory.arithmetic.balls import exact_root
from attsvm.theory.arithmetic.entries import Operation

_MOST = 32
"""Terms of a sum at most; a product of long ones is not worked out."""


@dataclass(frozen=True, slots=True)
class Surd:
    """Pairs of a radicand and a coefficient that is not 0; the radicand of rationals is 1."""

    terms: tuple[tuple[fmpq, fmpq], ...]

    @classmethod
    def of(cls, number: fmpq) -> Surd:
        """A rational number."""
        return cls(((fmpq(1), number),) if number else ())

    @property
    def rational(self) -> fmpq | None:
        """The number where it is rational, None where it is not."""
        if not self.terms:
            return fmpq(0)
        (radicand, number), *others = self.terms
        return number if radicand == 1 and not others else None


def sum_of(a: Surd, b: Surd) -> Surd:
    """The sum, with terms joined."""
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
    """The product; None where it might be too long."""
    if len(a.terms) * len(b.terms) > _MOST:
        return None
    found = Surd(())
    for radicand, number in a.terms:
        for other, factor in b.terms:
            found = sum_of(found, _term(radicand * other, number * factor))
    return found


def _term(radicand: fmpq, number: fmpq) -> Surd:
    """A multiple of one root, rational where the root is."""
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
    """The square root of a rational that is not negative."""
    return _term(number, fmpq(1))
