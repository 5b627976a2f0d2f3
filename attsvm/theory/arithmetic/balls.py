"""Balls: rationals as long as there are only + - * /, then intervals that hold the exact value.

The judge's arithmetic. Rationals (flint's fmpq) are exact; from the first exponential or irrational
root on numbers are balls (arb) at the working precision of flint's context, which the engine
raises until a comparison is decided. A ball that cannot be computed is not a number, and decides
nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq, fmpq_mat, fmpz

from attsvm.theory.arithmetic.base import Arithmetic, elementary
from attsvm.theory.arithmetic.entries import entries
from attsvm.theory.arithmetic.quantities import Numbers

Ball = fmpq | arb
"""A rational number, or a ball."""

_DEAR = 4096
"""From so many bits on exponentials of rationals, which formulas ask for again, are remembered."""


def _exp(x: Ball) -> Ball:
    """Return the exponential; of 0 exactly 1."""
    if not isinstance(x, fmpq):
        return arb(x).exp()
    if x == 0:
        return fmpq(1)
    return arb(x).exp() if ctx.prec < _DEAR else _dear_exp(x.p, x.q, ctx.prec)


@functools.lru_cache(maxsize=256)
def _dear_exp(p: fmpz, q: fmpz, bits: int) -> arb:
    """Return the exponential of p/q at that precision, which is that of flint's context."""
    return arb(fmpq(p, q)).exp()


def _log(x: Ball) -> Ball:
    """Return the logarithm; of 1 exactly 0, no number where the ball is not positive."""
    if isinstance(x, fmpq) and x == 1:
        return fmpq(0)
    return arb(x).log() if x > 0 else arb("nan")


def _log1p(x: Ball) -> Ball:
    """ln(1 + x); of 0 exactly 0, no number where 1 + x may be 0."""
    if x == 0:
        return x
    return arb(x).log1p() if x > -1 else arb("nan")


def _is_zero(x: Ball) -> Ball:
    """1 or 0; of a ball about 0 a ball that holds both."""
    if isinstance(x, fmpq) or x.is_zero():
        return fmpq(int(x == 0))
    return fmpq(0) if x > 0 or x < 0 else arb(0).union(arb(1))


def exact_root(x: fmpq) -> fmpq | None:
    """Return the root of a rational that is not negative, where it is rational."""
    above, below = fmpz(x.p), fmpz(x.q)
    if not (above.is_square() and below.is_square()):
        return None
    return fmpq(above.isqrt(), below.isqrt())


def _sqrt(x: Ball) -> Ball:
    """Return the root; rational where it is, and of a ball about 0 a ball from 0 on."""
    if isinstance(x, fmpq):
        if x < 0:
            return arb("nan")
        root = exact_root(x)
        return arb(x).sqrt() if root is None else root
    if x >= 0:
        return x.sqrt()
    if not x.is_finite() or x < 0:
        return arb("nan")
    return arb(0).union(x.upper().sqrt())


_DUST = 4096
"""An entry that is smaller than the largest one by so many bits counts as an error of 0."""


def _height(ball: arb) -> int:
    """The exponent of a power of two above a ball in size; that of the largest one matters."""
    mantissa, exponent = ball.abs_upper().man_exp()
    return int(exponent) + int(mantissa).bit_length() if mantissa else -(2**62)


def _middle(ball: arb) -> fmpq:
    """Return the midpoint of a ball that is at most 1 in size, as a rational; 0 for dust.

    The rational of a number such as exp(-2^40) would not fit into any memory.
    """
    middle = ball.mid()
    if _height(middle) < -_DUST:
        return fmpq(0)
    mantissa, exponent = middle.man_exp()
    return fmpq(mantissa) * fmpq(2) ** int(exponent)


def _largest_root(matrix: fmpq_mat) -> Ball:
    """Return the largest eigenvalue of a positive semidefinite rational matrix.

    The roots of the characteristic polynomial are real; a linear factor has a rational one, which
    is returned as such where it is the largest, so that a norm that is rational is known exactly.
    """
    factors = [factor for factor, _ in matrix.charpoly().factor()[1]]
    best = max((-f[0] / f[1] for f in factors if f.degree() == 1), default=fmpq(0))
    top: Ball = best
    for factor in factors:
        roots: Any = factor.complex_roots() if factor.degree() > 1 else ()
        for root, _ in roots:
            if not root.real <= best:
                top = arb(top).max(root.real)
    return top


class Balls(Arithmetic[Any]):
    """Rationals and balls."""

    name = "balls"
    numbers = (fmpq, arb)

    exp = elementary(_exp)
    log = elementary(_log)
    expm1 = elementary(lambda x: x if x == 0 else arb(x).expm1())
    log1p = elementary(_log1p)
    sqrt = elementary(_sqrt)
    abs = elementary(abs)
    is_zero = elementary(_is_zero)

    def _rational(self, value: Fraction) -> Ball:
        return fmpq(value.numerator, value.denominator)

    def _given(self, number: Any) -> Ball:
        return number if isinstance(number, fmpq | arb) else fmpq(*number.as_integer_ratio())

    def power(self, x: Any, k: int) -> Numbers:
        """The k-th power by repeated squaring: exact where the number is, and fast for large k."""
        result = self.exact(1)
        while k:
            result = result * x if k % 2 else result
            k //= 2
            x = x * x if k else x
        return result

    def maximum(self, x: Any, y: Any) -> Ball:
        """Return the larger one; of balls that overlap, a ball that holds the maximum."""
        if isinstance(x, fmpq) and isinstance(y, fmpq):
            return x if x >= y else y
        return arb(x).max(arb(y))

    def spectral(self, A: Numbers) -> Ball:
        """Return the largest singular value, rational where it is; of balls by Weyl's inequality.

        A matrix of balls is divided by a power of two that exceeds its entries. Midpoints that are
        then vanishing are moved to 0: they may be so small that no rational holds them.
        """
        if 1 in A.shape:
            return self.norm(A)
        if all(isinstance(value, fmpq) for value in A.ravel()):
            gram: Any = A @ A.T if A.shape[0] <= A.shape[1] else A.T @ A
            return _sqrt(_largest_root(fmpq_mat(gram.tolist())))
        balls = [arb(value) for value in A.ravel()]
        if not all(ball.is_finite() for ball in balls):
            return arb("nan")
        top = max((_height(ball) for ball in balls if not ball.is_zero()), default=0)
        balls = [ball * arb((1, -top)) for ball in balls]
        middles = [_middle(ball) for ball in balls]
        off = [arb(abs(b - m).upper()) for b, m in zip(balls, middles, strict=True)]
        away = arb(self.norm(entries(off)))
        norm = arb(self.spectral(entries(middles, A.shape)))
        return (norm + arb(0, away)) * arb((1, top))

    def _level(self, s: Numbers) -> Ball:
        """Return the logit of largest midpoint."""
        return max(s, key=lambda x: arb(x).mid())


class Enclosures(Balls):
    """Balls from the start: rationals of a long run would have more digits with every step."""

    def _rational(self, value: Fraction) -> Ball:
        return arb(super()._rational(value))

    def _given(self, number: Any) -> Ball:
        return arb(super()._given(number))


_SHORT = 256
"""Bits of what a `Tails` takes the exponential of."""


def _short(function: Callable[[Ball], Ball]) -> Callable[[Ball], Ball]:
    def short(x: Ball) -> Ball:
        with ctx.workprec(min(ctx.prec, _SHORT)):
            return function(x)

    return short


class Tails(Balls):
    """Balls with short exponentials, which are dear at many bits.

    Sums, products and quotients have all bits. What decides how far 1 - exp(-20000) is from 1 are
    many bits of the difference, and a few of the exponential.
    """

    exp = elementary(_short(_exp))
    expm1 = elementary(_short(lambda x: x if x == 0 else arb(x).expm1()))


BALLS, ENCLOSURES, TAILS = Balls(), Enclosures(), Tails()
"""The arithmetics of balls; they have no state."""
