"""Symbols: sympy expressions, for proofs about the same formula that runs.

Rational functions of symbols are decided by flint, which cancels and factors at once while sympy
needs seconds. An expression of sympy is read as a fraction of polynomials in its generators. These
are symbols, roots, exponentials of monomials, and every expression that is no sum, product or
power. Exponents are expanded, and all powers of a root or of an exponential are powers of one
generator. Other relations between generators are unknown. A fraction that is 0 is therefore the
number 0. A fraction that is not 0 is another number only if its generators are independent, as
symbols are.
"""

import fractions
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import lcm
from typing import Any

import numpy as np
import sympy as sp
from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from attsvm.theory.arithmetic.base import Arithmetic, elementary
from attsvm.theory.arithmetic.entries import Numbers, entries, misuse

_LARGEST = 64
"""Largest exponent that is expanded."""

_Sign = tuple[int, bool] | None
"""A sign, with whether 0 is excluded; None if nothing is known.

The sign is 1 for at least 0, -1 for at most 0, and 0 for a real number of unknown sign.
"""


@dataclass(frozen=True)
class Fraction:
    """A fraction of polynomials.

    Attributes:
        above: the numerator.
        below: the denominator, which is not the polynomial 0.
        generators: the expressions behind the variables of these polynomials.
    """

    above: fmpq_mpoly
    below: fmpq_mpoly
    generators: tuple[sp.Expr, ...]

    @property
    def is_zero(self) -> bool:
        """Whether the numerator is the polynomial 0, so that the number is 0."""
        return bool(self.above.is_zero())

    @property
    def independent(self) -> bool:
        """Whether the generators are independent, so that only the fraction 0 is the number 0.

        Symbols, their roots and exponentials of different monomials of symbols are independent.
        """
        return all(map(_is_independent, self.generators))

    @cached_property
    def reduced(self) -> tuple[fmpq_mpoly, fmpq_mpoly]:
        """The numerator and the denominator, without a common factor."""
        common = self.above.gcd(self.below)
        return self.above / common, self.below / common

    @cached_property
    def factors(self) -> tuple[fmpq, list[tuple[fmpq_mpoly, int]]]:
        """A constant and irreducible polynomials with exponents, of a fraction other than 0."""
        (one, above), (other, below) = (polynomial.factor() for polynomial in self.reduced)
        return one / other, [(p, int(k)) for p, k in above] + [(p, -int(k)) for p, k in below]

    def cancelled(self) -> sp.Expr:
        """Return the reduced fraction as an expression."""
        above, below = map(self.written, self.reduced)
        return above / below

    def factored(self) -> sp.Expr:
        """Return the product of its factors as an expression."""
        if self.is_zero:
            return sp.Integer(0)
        constant, factors = self.factors
        return sp.Mul(_rational(constant), *(self.written(p) ** k for p, k in factors))

    def written(self, polynomial: fmpq_mpoly) -> sp.Expr:
        """Return a polynomial as an expression."""
        terms = []
        for powers, coefficient in polynomial.terms():
            own = (x**k for x, k in zip(self.generators, powers, strict=True) if k)
            terms.append(sp.Mul(_rational(coefficient), *own))
        return sp.Add(*terms)

    def is_known(self, sign: str) -> bool:
        """Return whether the signs of its generators show that it is positive, or nonnegative.

        Each factor needs terms of one sign, or must be real with an even power. No factor of the
        denominator may be 0.
        """
        if self.is_zero:
            return sign == "nonnegative"
        signs = [_sign(x) for x in self.generators]
        constant, factors = self.factors
        total, strict = _one_if(constant > 0), True
        for polynomial, k in factors:
            known = _sign_of_sum(polynomial, signs)
            if known is None and k % 2 == 0:
                used = zip(polynomial.degrees(), self.generators, strict=True)
                real = all(x.is_real for degree, x in used if degree)
                # an even power is a square: its expanded terms may have one sign, and the square
                # of a real is at least 0, though perhaps 0
                known = _sign_of_sum(polynomial**2, signs) or ((1, False) if real else None)
            if known is None or (k < 0 and not known[1]):
                return False
            total, strict = total * known[0] ** abs(k), strict and known[1]
        return total > 0 and (strict or sign == "nonnegative")


def _is_independent(x: sp.Expr) -> bool:
    if isinstance(x, sp.exp):
        return not x.exp.is_Rational and _is_monomial(x.exp)
    return bool(x.is_Symbol or (x.is_Pow and x.base.is_Symbol and x.exp.is_Rational))


def _rational(value: fmpq) -> sp.Expr:
    return sp.Rational(int(value.p), int(value.q))


def _one_if(positive: bool) -> int:
    return 1 if positive else -1


def _sign(x: sp.Expr) -> _Sign:
    """Return the sign of a generator, 0 for a real number of unknown sign, None if not real."""
    if x.is_nonnegative:
        return 1, x.is_positive is True
    if x.is_nonpositive:
        return -1, x.is_negative is True
    return (0, x.is_nonzero is True) if x.is_real else None


def _sign_of_sum(polynomial: fmpq_mpoly, signs: list[_Sign]) -> _Sign:
    """Return the sign of a polynomial if all its terms have one sign, else None."""
    known, some = set(), False
    for powers, coefficient in polynomial.terms():
        total, strict = _one_if(coefficient > 0), True
        for sign, k in zip(signs, powers, strict=True):
            if k:
                if sign is None or (sign[0] == 0 and k % 2):
                    return None
                total, strict = total * (sign[0] or 1) ** int(k), strict and sign[1]
        known.add(total)
        some = some or strict
    return (known.pop(), some) if len(known) == 1 else None


def multiplied_out(expression: sp.Expr) -> sp.Expr:
    """Return the expression expanded by sympy; a sum of monomials stays as it is."""
    parts = sp.Add.make_args(expression)
    return expression if all(map(_is_monomial, parts)) else sp.expand(expression)


def _is_monomial(part: sp.Expr) -> bool:
    return all(
        x.is_Symbol or x.is_Rational or (x.is_Pow and x.base.is_Symbol and x.exp.is_Rational)
        for x in sp.Mul.make_args(part)
    )


def fraction(expression: sp.Expr, *, divide: bool = True) -> Fraction | None:
    """Return an expression as a fraction; None if it divides by 0 or does not commute.

    Args:
        expression: an expression of sympy.
        divide: whether to divide by sums; otherwise the reciprocal of each sum is a generator.
    """
    if not expression.is_commutative:
        return None
    reader = _Reader(divide)
    try:
        reader.find(expression)
        return Fraction(*reader.read(expression), reader.generators())
    except ZeroDivisionError:
        return None


_Key = tuple[str, sp.Expr, int]
"""Key of a generator: root or exponential, its argument, and the sign of its exponent."""


class _Reader:
    """A reader of expressions, which finds their generators, then the fraction in these."""

    def __init__(self, divide: bool) -> None:
        self._divide = divide
        self._roots: dict[_Key, int] = {}  # which root is the generator
        self._products: dict[sp.Expr, list[tuple[_Key, sp.Expr]]] = {}  # with exponents
        self._found: set[sp.Expr] = set()
        self._known: dict[sp.Expr, tuple[fmpq_mpoly, fmpq_mpoly]] = {}
        self._variables: dict[_Key, fmpq_mpoly] = {}

    def find(self, x: sp.Expr) -> None:
        """Find the generators of an expression."""
        if x in self._found or x.is_Rational:
            return
        self._found.add(x)
        if x.is_Add or x.is_Mul:
            for part in x.args:
                self.find(part)
        elif self._is_power(x):
            self.find(x.base)
        else:
            if x.is_Pow and x.exp.is_negative and not x.base.is_Symbol:
                _ensure_divisor(x.base, self._divide)
            self._products[x] = [*self._powers(x)]
            for key, exponent in self._products[x]:
                self._roots[key] = lcm(self._roots.get(key, 1), exponent.q)

    def _is_power(self, x: sp.Expr) -> bool:
        """Return whether an expression is a power that is expanded."""
        least = -_LARGEST if self._divide else 0
        return bool(x.is_Pow and x.exp.is_Integer and least <= x.exp <= _LARGEST)

    def _powers(self, x: sp.Expr) -> Iterator[tuple[_Key, sp.Expr]]:
        """Yield the generators of a product of powers, with their exponents."""
        if isinstance(x, sp.exp):
            for term in sp.Add.make_args(multiplied_out(x.exp)):
                share, monomial = term.as_coeff_Mul(rational=True)
                yield self._oriented("exponential", monomial, share)
        elif x.is_Pow and x.exp.is_Rational and abs(x.exp) <= _LARGEST:
            yield self._oriented("root", x.base, x.exp)
        else:
            yield self._oriented("root", x, sp.Integer(1))

    def _oriented(self, kind: str, of: sp.Expr, exponent: sp.Expr) -> tuple[_Key, sp.Expr]:
        sign = 1 if self._divide or exponent > 0 else -1
        return (kind, of, sign), sign * exponent

    def generators(self) -> tuple[sp.Expr, ...]:
        """Return all generators of the expression."""
        exponents = [sp.Rational(sign, q) for (_, _, sign), q in self._roots.items()]
        return tuple(
            of**k if kind == "root" else sp.exp(of * k)
            for (kind, of, _), k in zip(self._roots, exponents, strict=True)
        )

    def read(self, expression: sp.Expr) -> tuple[fmpq_mpoly, fmpq_mpoly]:
        """Return the numerator and the denominator of an expression, after `find`."""
        names = [f"x{k}" for k in range(len(self._roots))]
        ring = fmpq_mpoly_ctx.get(names, Ordering.degrevlex)
        self._variables = dict(zip(self._roots, ring.gens(), strict=True))
        self._constant = ring.constant
        return self._value(expression)

    def _value(self, x: sp.Expr) -> tuple[fmpq_mpoly, fmpq_mpoly]:
        if x not in self._known:
            self._known[x] = self._computed(x)
        return self._known[x]

    def _computed(self, x: sp.Expr) -> tuple[fmpq_mpoly, fmpq_mpoly]:
        one = self._constant(1)
        if x.is_Rational:
            return self._constant(fmpq(int(x.p), int(x.q))), one
        if x.is_Add:
            return _sum([self._value(part) for part in x.args])
        if x.is_Mul:
            factors = [self._value(part) for part in x.args]
        elif x in self._products:
            factors = [
                _power((self._variables[key], one), int(k * self._roots[key]), one)
                for key, k in self._products[x]
            ]
        else:
            return _power(self._value(x.base), int(x.exp), one)
        above = below = one
        for a, b in factors:
            above, below = above * a, below * b
        return above, below


def _ensure_divisor(x: sp.Expr, divide: bool) -> None:
    """Raise if a divisor that stays a generator is 0 or itself divides by 0."""
    result = fraction(x, divide=divide)
    if result is None or result.is_zero:
        raise ZeroDivisionError


def _power(
    value: tuple[fmpq_mpoly, fmpq_mpoly], k: int, one: fmpq_mpoly
) -> tuple[fmpq_mpoly, fmpq_mpoly]:
    above, below = value
    if k < 0:
        if above.is_zero():
            raise ZeroDivisionError
        above, below = below, above
    return above ** abs(k), below ** abs(k) if below != one else one


def _sum(parts: list[tuple[fmpq_mpoly, fmpq_mpoly]]) -> tuple[fmpq_mpoly, fmpq_mpoly]:
    (above, below), *others = parts
    for a, b in others:
        if b == below:
            above = above + a
            continue
        # over the least common denominator: the product of all denominators would grow fast
        common = below.gcd(b)
        rest = b / common
        above, below = above * rest + a * (below / common), below * rest
    return above, below


class Symbols(Arithmetic[sp.Expr]):
    """Expressions of sympy, also in arrays of fixed sizes."""

    name = "symbols"
    numbers = sp.Expr

    exp = elementary(sp.exp)
    log = elementary(sp.log)
    sqrt = elementary(sp.sqrt)
    abs = elementary(sp.Abs)
    is_zero = elementary(lambda x: sp.Piecewise((1, sp.Eq(x, 0)), (0, True)))  # or unevaluated

    def _rational(self, value: fractions.Fraction) -> sp.Expr:
        return sp.Rational(value.numerator, value.denominator)

    def maximum(self, x: sp.Expr, y: sp.Expr) -> sp.Expr:
        """Return the larger number, unevaluated if the sign of the difference is unknown."""
        more = x - y
        if more.is_nonnegative or more.is_nonpositive:
            return x if more.is_nonnegative else y
        return sp.Max(x, y, evaluate=False)  # evaluation would factor the difference: seconds

    floor = elementary(sp.floor)

    def spectral(self, A: Numbers) -> sp.Expr:
        """Return the norm of a single row or column.

        Raises:
            ClaimError: the matrix has another shape.
        """
        if 1 not in A.shape:
            raise misuse(
                "takes the spectral norm of symbols", "Prove the bound on single rows instead."
            )
        return self.norm(A)


def symbols_of(name: str, *shape: int, **assumptions: bool) -> Any:
    """Return a symbol, or an array of symbols `name_0_1`, real by default."""
    assumptions = assumptions or {"real": True}
    if not shape:
        return sp.Symbol(name, **assumptions)
    names = ("_".join([name, *map(str, place)]) for place in np.ndindex(*shape))
    return entries([sp.Symbol(each, **assumptions) for each in names], shape)


def numerator(expression: sp.Expr) -> sp.Expr:
    """Return the expanded numerator of a rational function of symbols and exponentials.

    Exponentials of different monomials are independent. Therefore the function is 0 if and only if
    its numerator is 0, and a numerator 0 is a proof. A division by 0 gives NaN.
    """
    result = fraction(sp.sympify(expression))
    return sp.nan if result is None else result.written(result.reduced[0])


SYMBOLS = Symbols()
"""The arithmetic of symbols; it has no state."""
