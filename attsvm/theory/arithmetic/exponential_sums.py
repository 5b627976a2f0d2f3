"""Sums of exponentials of rationals, and quotients of such sums: coefficients of exact forms.

A sum has terms c exp(r) with rational c and distinct rational r. A quotient has a sum as numerator
and a product of positive sums as denominator. Both are exact. A form is dropped if a step would
exceed the budget of work, or if no ball decides a sign that the step needs.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from flint import arb, fmpq, fmpz

from attsvm.theory.arithmetic.balls import exact_root

UNIT = 2**120 * 3**8 * 5**8 * 7**4 * 11**2 * 13**2
"""Denominator of all exponents: they are integers over this unit, which hash and add fast."""

WORK = 200_000
"""Maximum number of products of terms in one evaluation of a formula."""

_LARGEST_FACTORED = 2**64
"""Largest numerator or denominator whose prime factors are computed."""

_MOST_BITS = 2**18
"""Maximum number of bits of a coefficient."""

Sum = dict[int, fmpq]
"""A sum of exponentials: the coefficient by the exponent over `UNIT`; no coefficient is 0."""

Factor = frozenset[tuple[int, fmpq]]
"""A sum of exponentials that is positive, with least exponent 0 and coefficient 1 or -1 there."""


class Dropped(Exception):
    """A form that cannot be kept."""


@dataclass(slots=True)
class Budget:
    """The work that is left for one evaluation, as a number of products of terms."""

    left: int = WORK

    def spend(self, products: int) -> None:
        """Count products of terms.

        Raises:
            Dropped: the budget is exceeded.
        """
        if products > self.left:
            raise Dropped
        self.left -= products


@dataclass(frozen=True, slots=True)
class Quotient:
    """A sum of exponentials over a product of factors with positive powers."""

    upper: Mapping[int, fmpq]
    lower: Mapping[Factor, int]


def _value(one: Mapping[int, fmpq]) -> arb:
    """Return a ball that holds the value of a sum of exponentials."""
    total = arb(0)
    for exponent, coefficient in one.items():
        total += arb(coefficient) * arb(fmpq(exponent, UNIT)).exp()
    return total


def product(one: Mapping[int, fmpq], other: Mapping[int, fmpq], budget: Budget) -> Sum:
    """Return the product of two sums."""
    budget.spend(len(one) * len(other))
    total: Sum = {}
    for r, a in one.items():
        for s, b in other.items():
            total[r + s] = total.get(r + s, fmpq(0)) + a * b
    if any(c.height_bits() > _MOST_BITS for c in total.values()):
        raise Dropped  # in a loop of squares, each step would double the digits
    return {exponent: c for exponent, c in total.items() if c != 0}


def scaled(one: Mapping[int, fmpq], c: fmpq, shift: int) -> Sum:
    """Return the sum times c exp(shift / UNIT)."""
    return {exponent + shift: c * a for exponent, a in one.items()}


def normal(one: Mapping[int, fmpq]) -> tuple[fmpq, int, Factor]:
    """Return c, r and a factor E with c exp(r / UNIT) E equal to the sum.

    Raises:
        Dropped: the ball does not decide the sign of E.
    """
    least = min(one)
    c = one[least]
    factor = scaled(one, 1 / c, -least)
    # a sum of positive terms needs no ball, whose exponentials are slow
    value = 1 if all(a > 0 for a in factor.values()) else _value(factor)
    if value > 0:
        return c, least, frozenset(factor.items())
    if value < 0:
        return -c, least, frozenset(scaled(factor, fmpq(-1), 0).items())
    raise Dropped


ONE: Factor = frozenset({(0, fmpq(1))})


def cancelled(upper: Mapping[int, fmpq], lower: Mapping[Factor, int]) -> Quotient:
    """Return a quotient, without a factor that is the upper sum up to c exp(r)."""
    if not upper:
        return Quotient({}, {})
    least = min(upper)
    for factor in lower:
        if len(factor) != len(upper):
            continue
        first = dict(factor)[0]
        c = upper[least] / first
        if scaled(dict(factor), c, least) == upper:
            left = {f: k - (f is factor) for f, k in lower.items()}
            return Quotient({least: c}, {f: k for f, k in left.items() if k})
    return Quotient(upper, lower)


def expanded(bag: Mapping[Factor, int], budget: Budget) -> Sum:
    """Return the product of factors with their powers as one sum."""
    total: Sum = {0: fmpq(1)}
    for factor, power in bag.items():
        for _ in range(power):
            total = product(total, dict(factor), budget)
    return total


def plus(one: Quotient, other: Quotient, budget: Budget) -> Quotient:
    """Return the sum of two quotients, over their least common denominator."""
    bags = one.lower, other.lower
    common = {f: max(bag.get(f, 0) for bag in bags) for f in {**one.lower, **other.lower}}
    total: Sum = {}
    for each in (one, other):
        missing = {f: k - each.lower.get(f, 0) for f, k in common.items()}
        for exponent, c in product(each.upper, expanded(missing, budget), budget).items():
            total[exponent] = total.get(exponent, fmpq(0)) + c
    return cancelled({exponent: c for exponent, c in total.items() if c != 0}, common)


def times(one: Quotient, other: Quotient, budget: Budget) -> Quotient:
    """Return the product of two quotients."""
    # first cancel crosswise, as in (a/Z) Z, so that no product is expanded for nothing
    first, second = cancelled(one.upper, other.lower), cancelled(other.upper, one.lower)
    lower = {
        f: first.lower.get(f, 0) + second.lower.get(f, 0) for f in {**first.lower, **second.lower}
    }
    return cancelled(product(first.upper, second.upper, budget), lower)


def inverted(one: Quotient, budget: Budget) -> Quotient:
    """Return 1 over a quotient."""
    c, shift, factor = normal(one.upper)
    upper = scaled(expanded(one.lower, budget), 1 / c, -shift)
    return cancelled(upper, {} if factor == ONE else {factor: 1})


def square_root(one: Sum, budget: Budget) -> Sum | None:
    """Return the positive sum of exponentials whose square is this sum; None if there is none."""
    top, least = max(one), min(one)
    lead = exact_root(one[top]) if one[top] > 0 else None
    if lead is None or top % 2:
        return None
    root: Sum = {top // 2: lead}
    for _ in range(len(one)):
        rest = dict(one)
        for exponent, c in product(root, root, budget).items():
            rest[exponent] = rest.get(exponent, fmpq(0)) - c
        rest = {exponent: c for exponent, c in rest.items() if c != 0}
        if not rest:
            value = _value(root)
            return root if value > 0 else scaled(root, fmpq(-1), 0) if value < 0 else None
        following = max(rest)
        exponent = following - top // 2
        if 2 * exponent < least or exponent in root:
            return None
        root[exponent] = rest[following] / (2 * lead)
    return None


def primes(value: fmpq) -> dict[int, int]:
    """Return the powers of primes of a positive rational.

    Raises:
        Dropped: its numerator or denominator is too large.
    """
    powers: dict[int, int] = {}
    for part, sign in ((fmpz(value.p), 1), (fmpz(value.q), -1)):
        if part > _LARGEST_FACTORED:
            raise Dropped
        for prime, power in part.factor():
            powers[int(prime)] = sign * int(power)
    return powers
