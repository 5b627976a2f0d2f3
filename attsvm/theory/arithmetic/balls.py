"""Balls, the judge's arithmetic: exact rationals, or intervals that hold the exact value.

Results of + - * / on rationals are rationals (flint's fmpq). An exponential or irrational root
gives a ball (arb) at the working precision of flint's context. The engine raises the precision
until a comparison is decided. An undefined value is NaN, which decides nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq, fmpq_mat, fmpz

from attsvm.theory.arithmetic.base import Arithmetic, elementary
from attsvm.theory.arithmetic.entries import Numbers, entries, mixed

Ball = fmpq | arb
"""A rational number, or a ball."""

_DEAR = 4096
"""Least precision in bits at which exponentials of rationals are cached."""


def _exp(x: Ball) -> Ball:
    """Return the exponential, exactly 1 at 0."""
    if not isinstance(x, fmpq):
        return arb(x).exp()
    if x == 0:
        return fmpq(1)
    return arb(x).exp() if ctx.prec < _DEAR else _dear_exp(x.p, x.q, ctx.prec)


@functools.lru_cache(maxsize=256)
def _dear_exp(p: fmpz, q: fmpz, bits: int) -> arb:
    """Return the exponential of p/q; `bits` is the precision of flint's context, as a cache key."""
    return arb(fmpq(p, q)).exp()


def _log(x: Ball) -> Ball:
    """Return the logarithm, exactly 0 at 1, NaN unless the ball is positive."""
    if isinstance(x, fmpq) and x == 1:
        return fmpq(0)
    return arb(x).log() if x > 0 else arb("nan")


def _log1p(x: Ball) -> Ball:
    """Return ln(1 + x), exactly 0 at 0, NaN unless 1 + x is positive."""
    if x == 0:  # True for a ball only if it is 0 and has radius 0
        return x
    return arb(x).log1p() if x > -1 else arb("nan")


def _is_zero(x: Ball) -> Ball:
    """Return 1 or 0, or a ball that holds both if the ball holds 0."""
    if isinstance(x, fmpq) or x.is_zero():
        return fmpq(int(x == 0))
    return fmpq(0) if x > 0 or x < 0 else arb(0).union(arb(1))


def exact_root(x: fmpq) -> fmpq | None:
    """Return the root of a nonnegative rational if the root is rational, else None."""
    above, below = fmpz(x.p), fmpz(x.q)
    if not (above.is_square() and below.is_square()):
        return None
    return fmpq(above.isqrt(), below.isqrt())


def _sqrt(x: Ball) -> Ball:
    """Return the root: rational if possible; for a ball that holds 0, a ball that begins at 0."""
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


DUST = 4096
"""Number of bits below the largest entry at which a midpoint is replaced by 0."""


def _height(ball: arb) -> int:
    """Return the exponent of a power of two above |ball|, very negative for 0."""
    mantissa, exponent = ball.abs_upper().man_exp()
    return int(exponent) + int(mantissa).bit_length() if mantissa else -(2**62)


def rational_middle(ball: arb) -> fmpq:
    """Return the midpoint of a ball of size at most 1 as a rational; 0 for tiny midpoints.

    The rational of a number such as exp(-2^40) would not fit into memory.
    """
    middle = ball.mid()
    if _height(middle) < -DUST:
        return fmpq(0)
    mantissa, exponent = middle.man_exp()
    return fmpq(mantissa) * fmpq(2) ** int(exponent)


def _largest_root(matrix: fmpq_mat) -> Ball:
    """Return the largest eigenvalue of a positive semidefinite rational matrix.

    The roots of the characteristic polynomial are real. A linear factor has a rational root. If
    the largest root is rational, it is returned as a rational, so that the norm is exact.
    """
    factors = [factor for factor, _ in matrix.charpoly().factor()[1]]
    best = max((-f[0] / f[1] for f in factors if f.degree() == 1), default=fmpq(0))
    top: Ball = best
    for factor in factors:
        roots: Any = factor.complex_roots() if factor.degree() > 1 else ()
        for root, _ in roots:
            # not `root.real > best`: a ball that overlaps the best root may hold a larger one
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

    def _literal(self, number: Any) -> Ball:
        return number if isinstance(number, fmpq | arb) else fmpq(*number.as_integer_ratio())

    def power(self, x: Any, k: int) -> Numbers:
        """Return the k-th power by repeated squaring: exact for rationals, fast for large k."""
        result = self.exact(1)
        # by products alone: flint's own power gives NaN for a ball about 0
        while k:
            result = result * x if k % 2 else result
            k //= 2
            x = x * x if k else x
        return result

    def maximum(self, x: Any, y: Any) -> Ball:
        """Return the larger number; for balls, a ball that holds the maximum."""
        if isinstance(x, fmpq) and isinstance(y, fmpq):
            return x if x >= y else y
        for one in (x, y):
            if isinstance(one, float):
                raise mixed(one)
        return arb(x).max(arb(y))

    def spectral(self, A: Numbers) -> Ball:
        """Return the largest singular value; for balls, by Weyl's inequality.

        The norm of a matrix of balls differs from the norm of its midpoints by at most the
        Frobenius norm of the radii. The matrix is first divided by a power of two above its
        entries. Tiny midpoints are moved to 0, as rationals cannot hold them; the radii include
        this move.
        """
        if 1 in A.shape:
            return self.norm(A)
        if all(isinstance(value, fmpq) for value in A.ravel()):
            return _sqrt(self.spectral_square(A))
        balls = [arb(value) for value in A.ravel()]
        if not all(ball.is_finite() for ball in balls):
            return arb("nan")
        # Scaling by a power of two is exact. It makes `DUST` relative to the largest entry.
        top = max((_height(ball) for ball in balls if not ball.is_zero()), default=0)
        balls = [ball * arb((1, -top)) for ball in balls]
        middles = [rational_middle(ball) for ball in balls]
        off = [arb(abs(b - m).upper()) for b, m in zip(balls, middles, strict=True)]
        away = arb(self.norm(entries(off)))
        norm = arb(self.spectral(entries(middles, A.shape)))
        return (norm + arb(0, away)) * arb((1, top))

    def spectral_square(self, A: Numbers) -> Ball:
        """Return the square of the spectral norm of a rational matrix, as a rational if it is."""
        gram: Any = A @ A.T if A.shape[0] <= A.shape[1] else A.T @ A
        return _largest_root(fmpq_mat(gram.tolist()))

    def _level(self, s: Numbers) -> Ball:
        """Return the logit with the largest midpoint.

        Softmax is the same whichever number is subtracted; a number near the maximum keeps the
        exponentials at most about 1. Overlapping balls have no largest one, hence the midpoints.
        """
        return max(s, key=lambda x: arb(x).mid())


class Enclosures(Balls):
    """Balls in place of rationals from the start, for long runs.

    The rationals of a run gain digits with every step, until they no longer fit into memory.
    """

    def _rational(self, value: Fraction) -> Ball:
        return arb(super()._rational(value))

    def _literal(self, number: Any) -> Ball:
        return arb(super()._literal(number))


_SHORT = 256
"""Maximum precision in bits of the exponentials of `Tails`."""


def _short(function: Callable[[Ball], Ball]) -> Callable[[Ball], Ball]:
    def short(x: Ball) -> Ball:
        with ctx.workprec(min(ctx.prec, _SHORT)):
            return function(x)

    return short


class Tails(Balls):
    """Balls with exponentials of few bits, as exponentials of many bits are slow.

    Sums, products and quotients have all bits. To separate 1 - exp(-20000) from 1, the difference
    needs many bits, but the exponential only a few.
    """

    exp = elementary(_short(_exp))
    expm1 = elementary(_short(lambda x: x if x == 0 else arb(x).expm1()))


BALLS, ENCLOSURES, TAILS = Balls(), Enclosures(), Tails()
"""The arithmetics of balls; they have no state."""
