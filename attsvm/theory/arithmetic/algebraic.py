"""Separation bounds of real algebraic numbers: how close to 0 a number can be without being 0.

A number is U/L for algebraic integers U and L, which are made of integers, roots of integer
polynomials with leading coefficient 1, and square roots. Let u and l, both at least 1, bound the
conjugates of U and L, and let D bound the degree of a field that has all the roots. If the number
is not 0, the norm of U is an integer that is not 0. So |U| >= u^-(D - 1), and the number is at
least u^-(D - 1) / l in absolute value (Burnikel, Fleischer, Mehlhorn, Schirra 2000). If a ball
shows that the number is closer to 0 than this, the number is 0.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from flint import arb, fmpq, fmpq_mat, fmpz_mat

from attsvm.theory.arithmetic.balls import Ball, ascending, real_roots
from attsvm.theory.arithmetic.exponential_sums import Dropped, primes

_MOST_BITS = 2**14
"""Maximum number of bits of a useful bound; balls of the judge have fewer."""


_MOST_ROOTS = 16
"""Maximum number of roots of which one number is made."""


@dataclass(frozen=True, slots=True)
class Root:
    """A root of an irreducible polynomial, or a square root.

    Attributes:
        of: the coefficients, or anything that identifies the square root.
        index: the number of the root in ascending order.
        degree: the degree of the polynomial.
    """

    of: Hashable
    index: int
    degree: int


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound for one number U/L.

    Attributes:
        upper: the bound u.
        lower: the bound l; if `whole`, L is this integer.
        whole: whether L is an integer.
        roots: the roots of which the number is made.
        name: what identifies the number, or None; of a rational number, its value.
    """

    upper: int
    lower: int = 1
    whole: bool = True
    roots: frozenset[Root] = frozenset()
    name: Hashable = None

    def plus(self, other: Bound) -> Bound:
        """Return the bound of the sum and of the difference."""
        whole = self.whole and other.whole
        lower = math.lcm(self.lower, other.lower) if whole else self.lower * other.lower
        upper = self.upper * (lower // self.lower) + other.upper * (lower // other.lower)
        return Bound(upper, lower, whole, self.roots | other.roots)

    def times(self, other: Bound) -> Bound:
        """Return the bound of the product."""
        whole, roots = self.whole and other.whole, self.roots | other.roots
        return Bound(self.upper * other.upper, self.lower * other.lower, whole, roots)

    def over(self, other: Bound) -> Bound:
        """Return the bound of the quotient."""
        if isinstance(other.name, Fraction):
            return self.times(rational(1 / other.name))
        return self.times(Bound(other.lower, other.upper, False, other.roots))

    def root(self) -> Bound:
        """Return the bound of the square root.

        A rational p/q has the root r sqrt(s) with a rational r, where s is the squarefree part of p
        q if p q can be factored. For other numbers sqrt(U/L) = sqrt(U L)/L.
        """
        if isinstance(self.name, Fraction):
            free, factor = _squarefree(self.name)
            root = Root(("square root", free), 0, 2)
            integer = Bound(
                math.isqrt(free - 1) + 1, roots=frozenset({root}) if free > 1 else frozenset()
            )
            return replace(integer.times(rational(factor)), name=("square root", self.name))
        of = object() if self.name is None else self.name
        roots = self.roots | {Root(("square root", of), 0, 2)}
        lower = math.isqrt(self.lower)
        if lower**2 == self.lower and self.whole:
            upper = math.isqrt(self.upper) + 1
        else:
            lower, upper = self.lower, math.isqrt(self.upper * self.lower) + 1
        return Bound(upper, lower, self.whole, roots, ("square root", of))

    @property
    def useful(self) -> bool:
        """Whether some ball of the judge is small enough for the bound; others only cost time."""
        bits = self.upper.bit_length() + self.lower.bit_length()
        return bits <= _MOST_BITS and len(self.roots) <= _MOST_ROOTS

    @property
    def degree(self) -> int:
        """A bound for the degree of a field that has all the roots.

        k roots of one polynomial of degree d count as d (d - 1) ... (d - k + 1).
        """
        counts = Counter((root.of, root.degree) for root in self.roots)
        return math.prod(math.perm(degree, k) for (_, degree), k in counts.items())

    def vanishes(self, ball: arb) -> bool:
        """Return whether this bound proves that a number in the ball is 0."""
        bits = (self.degree - 1) * self.upper.bit_length() + self.lower.bit_length()
        return bits <= _MOST_BITS and bool(ball.abs_upper() < arb(2) ** -bits)


def rational(value: fmpq | Fraction) -> Bound:
    """Return the bound of a rational number."""
    if isinstance(value, fmpq):
        value = Fraction(int(value.p), int(value.q))
    return Bound(max(abs(value.numerator), 1), value.denominator, name=value)


def _squarefree(value: Fraction) -> tuple[int, Fraction]:
    """Return s and r with root(value) = r root(s); s is squarefree if value can be factored."""
    free, factor = 1, Fraction(1)
    try:
        for prime, power in primes(fmpq(value.numerator, value.denominator)).items():
            free *= prime ** (power % 2)
            factor *= Fraction(prime) ** (power // 2)
    except Dropped:  # too large to be factored
        return value.numerator * value.denominator, Fraction(1, value.denominator)
    return free, factor


def eigenvalues(matrix: fmpq_mat) -> list[tuple[Ball, Bound | None]]:
    """Return the eigenvalues of a symmetric rational matrix in ascending order with their bounds.

    They are (g x + t) / (n q) for the eigenvalues x of an integer matrix of trace 0 whose entries
    have no common divisor. So rational multiples of a matrix, also with multiples of the identity
    added, have the same roots x. If balls do not tell two roots apart, no bound is known.
    """
    n = matrix.nrows()
    whole, q = matrix.numer_denom()
    t = sum((whole[i, i] for i in range(n)), start=0)
    centred = whole * n - fmpz_mat(n, n, [t * (i == j) for i in range(n) for j in range(n)])
    entries = [int(x) for x in centred.entries()]
    g = math.gcd(*entries)
    if g == 0:
        return [(fmpq(int(whole[0, 0]), int(q)), None)] * n
    primitive = fmpz_mat(n, n, [x // g for x in entries])
    size = max(sum(abs(int(x)) for x in row) for row in primitive.tolist())
    pairs: list[tuple[Ball, Root | None]] = []
    for factor, times in primitive.charpoly().factor()[1]:
        if factor.degree() == 1:
            pairs += [(fmpq(-int(factor[0]), int(factor[1])), None)] * times
            continue
        key = tuple(map(int, factor.coeffs()))
        roots = sorted(real_roots(factor), key=arb.mid)
        for index, ball in enumerate(roots):
            pairs += [(ball, Root(key, index, factor.degree()))] * times
    pairs.sort(key=lambda pair: arb(pair[0]).mid())
    apart = all(
        one is other or one[0] < other[0] or (one[1] is None and one[0] == other[0])
        for one, other in pairwise(pairs)
    )
    scale = n * int(q)
    values = [(ball * g + int(t)) / scale for ball, _ in pairs]
    if not apart:
        return [(ball, None) for ball in ascending(values)]
    results: list[tuple[Ball, Bound | None]] = []
    for value, (_, root) in zip(values, pairs, strict=True):
        bound = None
        if root is not None:
            letter = Bound(size, roots=frozenset({root}))
            scaled = letter.times(rational(Fraction(g, scale)))
            shifted = scaled.plus(rational(Fraction(int(t), scale)))
            bound = replace(shifted, name=(root, Fraction(g, scale), Fraction(int(t), scale)))
        results.append((value, bound))
    return results
