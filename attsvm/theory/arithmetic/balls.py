"""Balls, the judge's arithmetic: exact rationals, or intervals that hold the exact value.

Results of + - * / on rationals are rationals (flint's fmpq). An exponential or irrational root
gives a ball (arb) at the working precision of flint's context. The engine raises the precision
until a comparison is decided. An undefined value is NaN, which decides nothing.
"""

import functools
import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any, ParamSpec, TypeVar

from flint import acb_mat, arb, arb_mat, ctx, fmpq, fmpq_mat, fmpz

from attsvm.theory.arithmetic.base import Arithmetic, elementary
from attsvm.theory.arithmetic.entries import Numbers, ensure_natural, entries, mixed
from attsvm.theory.arithmetic.matrices import ensure_matrix

Ball = fmpq | arb
"""A rational number, or a ball."""

_DEAR = 4096
"""Least precision in bits at which exponentials of rationals are cached."""

_LONG = 128
"""Least precision in bits at which `_enclosed_norm` is used; below, root finding is as fast."""


class Doubts:
    """A counter of doubtful arguments: balls that hold 0 and negative numbers.

    The root of such a ball encloses the roots of its numbers >= 0, but the true number may be
    negative. The judge never refutes by an evaluation with doubts; it raises the precision.
    """

    count = 0

    @classmethod
    def see(cls, x: Ball) -> None:
        """Count a ball that holds 0 and negative numbers."""
        if isinstance(x, arb) and x.is_finite() and not (x >= 0 or x < 0):
            cls.count += 1


_P = ParamSpec("_P")
_R = TypeVar("_R")


def _never_negative(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return the function without doubts: its own roots are of numbers that are never negative."""

    @functools.wraps(function)
    def sure(*arguments: _P.args, **options: _P.kwargs) -> _R:
        count = Doubts.count
        result = function(*arguments, **options)
        Doubts.count = count
        return result

    return sure


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


def _floor(x: Ball) -> Ball:
    """Return the largest integer below a number: rational if the ball decides it."""
    if isinstance(x, fmpq):
        return fmpq(x.p // x.q)
    floor = x.floor()
    only = floor.unique_fmpz() if floor.is_finite() else None
    return floor if only is None else fmpq(only)


def _xlogx(x: Ball) -> Ball:
    """Return x log x; for a ball that holds 0, enclose the values at all its numbers >= 0."""
    if isinstance(x, fmpq) or x > 0 or x < 0 or not x.is_finite():
        return fmpq(0) if isinstance(x, fmpq) and x == 0 else x * _log(x)
    Doubts.see(x)
    top = arb(x.upper())
    if not top > 0:
        return fmpq(0)
    at_top = top * top.log()  # x log x falls from 0 to -1/e at x = 1/e, then rises
    least = at_top if top < arb(-1).exp() else -arb(-1).exp()
    return arb(0).union(least).union(at_top)


def whole_ball(name: str, *numbers: Ball | int) -> Ball:
    """Return a function of integers, NaN unless all balls hold one integer each."""
    known = [n for n in map(_integer, numbers) if n is not None]
    if len(known) < len(numbers):
        return arb("nan")
    from attsvm.theory.arithmetic.whole_numbers import TooLarge, whole  # few formulas need it

    try:
        value = whole(name, *known)
        return arb("nan") if value is None else fmpq(value)
    except TooLarge:
        return arb.fac_ui(known[0]) if name == "factorial" else arb.bin_uiui(*known)


def _integer(x: Ball | int) -> int | None:
    if isinstance(x, arb):
        only = x.unique_fmpz() if x.is_exact() else None
        return None if only is None else int(only)
    return int(fmpq(x).p) if fmpq(x).q == 1 else None


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
    Doubts.see(x)
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


def _flint(A: Any) -> fmpq_mat:
    return fmpq_mat(A.tolist())


def real_roots(factor: Any) -> list[arb]:
    """Return the roots of a polynomial whose roots are real and simple."""
    return [root.real for root, _ in factor.complex_roots()]


def _roots(matrix: fmpq_mat) -> list[Ball]:
    """Return all eigenvalues of a symmetric rational matrix, rational ones as rationals."""
    roots: list[Ball] = []
    for factor, times in matrix.charpoly().factor()[1]:
        if factor.degree() == 1:
            roots += [-factor[0] / factor[1]] * times
        else:
            roots += real_roots(factor) * times
    return roots


def ascending(numbers: list[Ball]) -> list[Ball]:
    """Return numbers in ascending order; if balls overlap, the k-th ball holds the k-th number."""
    result = sorted(numbers, key=lambda x: arb(x).mid())
    if all(a <= b or a is b for a, b in itertools.pairwise(result)):
        return result
    lows, highs = (sorted(arb(end(arb(x))) for x in numbers) for end in (arb.lower, arb.upper))
    return [arb(low).union(high) for low, high in zip(lows, highs, strict=True)]


def _largest_root(matrix: fmpq_mat) -> Ball:
    """Return the largest eigenvalue of a positive semidefinite rational matrix.

    The roots of the characteristic polynomial are real. A linear factor has a rational root. If
    the largest root is rational, it is returned as a rational, so that the norm is exact.
    """
    factors = [factor for factor, _ in matrix.charpoly().factor()[1]]
    best = max((-f[0] / f[1] for f in factors if f.degree() == 1), default=fmpq(0))
    top: Ball = best
    for factor in factors:
        for root in real_roots(factor) if factor.degree() > 1 else ():
            # not `root > best`: a ball that overlaps the best root may hold a larger one
            if not root <= best:
                top = arb(top).max(root)
    return top


def _enclosed_norm(A: Any) -> arb | None:
    """Return the spectral norm of a rational matrix as a ball.

    It is the root of the largest eigenvalue of the Gram matrix, A A^T or A^T A. FLINT encloses the
    eigenvalues one by one, at more than twice the precision as a root halves it. If some of them
    are equal, it cannot tell them apart, and the result is None. The other method isolates the
    roots of the characteristic polynomial, which takes minutes if two of them almost agree.
    """
    with ctx.workprec(2 * ctx.prec + 64):
        rows = arb_mat([[arb(value) for value in row] for row in A.tolist()])
        turned = rows.transpose()
        gram = rows * turned if A.shape[0] <= A.shape[1] else turned * rows
        try:
            values = acb_mat(gram).eig(multiple=True)
        except ValueError:  # equal eigenvalues, among them those of 0
            return None
        top = functools.reduce(lambda x, y: x.max(y), [value.real for value in values], arb(0))
    return top.sqrt() if top.is_finite() else None


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
    floor = elementary(_floor)
    xlogx = elementary(_xlogx)

    def _whole(self, name: str, *numbers: Any) -> Ball:
        return whole_ball(name, *numbers)

    def _rational(self, value: Fraction) -> Ball:
        return fmpq(value.numerator, value.denominator)

    def _literal(self, number: Any) -> Ball:
        return number if isinstance(number, fmpq | arb) else fmpq(*number.as_integer_ratio())

    def power(self, x: Any, k: int) -> Numbers:
        """Return the k-th power by repeated squaring: exact for rationals, fast for large k."""
        ensure_natural(k, "the power")
        result = self.exact(1) if k else x * 0 + self.exact(1)  # an array keeps its shape
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

    norm = _never_negative(Arithmetic.norm)
    diameter = _never_negative(Arithmetic.diameter)
    eigenvalues = _never_negative(Arithmetic.eigenvalues)

    def spectral(self, A: Numbers) -> Ball:
        """Return the largest singular value; for balls, by Weyl's inequality.

        The norm of a matrix of balls differs from the norm of its midpoints by at most the
        Frobenius norm of the radii. The matrix is first divided by a power of two above its
        entries. Tiny midpoints are moved to 0, as rationals cannot hold them; the radii include
        this move.
        """
        ensure_matrix(A)
        if 1 in A.shape:
            return self.norm(A)
        if all(isinstance(value, fmpq) for value in A.ravel()):
            return _sqrt(self.spectral_square(A))
        middles, away, scale = self._centred(A)
        norm = _enclosed_norm(middles) if ctx.prec >= _LONG else None
        norm = arb(self.spectral(middles)) if norm is None else norm
        return (norm + arb(0, away)) * scale

    def _centred(self, A: Numbers) -> tuple[Numbers, arb, arb]:
        """Return rational midpoints of A / scale, a bound of their distance from it, and the scale.

        The bound is in the Frobenius norm. The scale is a power of two, or NaN.
        """
        balls = [arb(value) for value in A.ravel()]
        if not all(ball.is_finite() for ball in balls):
            return entries([fmpq(0)] * A.size, A.shape), arb(0), arb("nan")
        # Scaling by a power of two is exact. It makes `DUST` relative to the largest entry.
        top = max((_height(ball) for ball in balls if not ball.is_zero()), default=0)
        balls = [ball * arb((1, -top)) for ball in balls]
        middles = [rational_middle(ball) for ball in balls]
        off = [arb(abs(b - m).upper()) for b, m in zip(balls, middles, strict=True)]
        return entries(middles, A.shape), arb(self.norm(entries(off))), arb((1, top))

    def det(self, A: Numbers) -> Ball:
        """Return the determinant; of a large rational matrix, by flint."""
        rational = len(A) > 3 and all(isinstance(value, fmpq) for value in A.ravel())
        return self.exact(_flint(A).det() if rational else super().det(A))

    def inverse(self, A: Numbers) -> Numbers:
        """Return the inverse; of a rational matrix, by flint."""
        if A.shape == A.T.shape and all(isinstance(value, fmpq) for value in A.ravel()):
            return entries(_flint(A).inv().tolist())
        return super().inverse(A)

    @_never_negative
    def singular(self, A: Numbers) -> Numbers:
        """Return the singular values; for balls, by Weyl's inequality."""
        ensure_matrix(A)
        if 1 in A.shape:
            return entries([self.norm(A)])
        if all(isinstance(value, fmpq) for value in A.ravel()):
            return super().singular(A)
        middles, away, scale = self._centred(A)
        return entries([(arb(x) + arb(0, away)) * scale for x in super().singular(middles)])

    def _eigenvalues(self, S: Numbers) -> Numbers:
        """Return the eigenvalues of a symmetric matrix; for balls, by Weyl's inequality."""
        if all(isinstance(value, fmpq) for value in S.ravel()):
            return entries(ascending(_roots(_flint(S))))
        upper = entries([[S[min(i, j), max(i, j)] for j in range(len(S))] for i in range(len(S))])
        middles, away, scale = self._centred(upper)
        values = ascending(_roots(_flint(middles)))
        return entries([(arb(value) + arb(0, away)) * scale for value in values])

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
