"""Traces: fingerprints modulo a large prime, which show that two sides are the same expression.

Two balls that overlap never prove that two irrational numbers are equal. So each number also gets
a trace: the value of its expression when it is computed modulo a prime, in place of the reals. Two
expressions that are equal by the rules of algebra have equal traces. In detail:

- a rational p/q has the residue p q^-1;
- exponentials of rationals are powers of one residue for each odd part of the denominator;
  exp(a) exp(b) = exp(a + b) is kept if these parts are equal;
- other functions have a fixed pseudorandom value for each residue of their argument;
- a root also has the residue of its square, and so have products with it. Nonnegative sides with
  equal squares are equal.

Equal residues mean that the sides are equal, unless two independent numbers of 128 bits agree by
chance. That proves comparisons such as 0 <= 0. Different residues prove nothing: log 4 and 2 log 2
are one number and two expressions. Therefore a fingerprint never refutes.

A number that + - * / and square roots make from rationals has a separation bound: it is 0, or its
size is at least the bound. A small enough ball about 0 therefore proves that the number is 0.
Examples are sqrt(8) - 2 sqrt(2) and sqrt(5 + 2 sqrt(6)) - sqrt(2) - sqrt(3). See Burnikel et al., A
separation bound for real algebraic expressions, Algorithmica 55, 2009.

A trace is `sure` if no step to its ball used a residue. Then its sign is proved, and may refute.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from operator import add, mul, sub, truediv
from typing import Any

from flint import arb, fmpq

from attsvm.theory.arithmetic.balls import BALLS, Ball, whole_ball
from attsvm.theory.arithmetic.base import Arithmetic, elementary
from attsvm.theory.arithmetic.entries import Number, Numbers, Operation, Scalar, entries

PRIME = 0xC90FDAA22168C234C4C6628B80DC1DAF
"""The first 126 bits of pi, then the next number P such that P and (P - 1)/2 are both prime.

Instances are full of powers of two. Modulo 2^127 - 1, the number 2^127 would be 1, and
exp(2^126 x) would be exp(x). With this prime, powers of two are far from each other, as residues
and as exponents.
"""


_STEEP, _LONG = 256, 1024
"""Size of an argument of exp, and length of a rational in bits. Above either limit, two different
sides may differ by less than 2^-8192."""


class Untraceable(Exception):
    """The ball of a number does not decide a branch of the expression."""


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
        if operation is truediv:
            return Bound(self.above + other.below, self.below + other.above, roots)
        if operation is mul:
            return Bound(self.above + other.above, self.below + other.below, roots)
        above = max(self.above + other.below, other.above + self.below) + 1
        return Bound(above, self.below + other.below, roots)

    def root(self, name: object) -> Bound:
        """Return the bound of the square root, by sqrt(a / b) = sqrt(a b) / b."""
        return Bound((self.above + self.below + 1) // 2, self.below, self.roots | {name})


class Trace(Scalar):
    """A number with its fingerprint and, if known, its square's fingerprint and its bound.

    It is `steep` if it contains an exponential of a large number, or a long rational.
    """

    __slots__ = ("_bound", "_squared", "ball", "residue", "steep", "sure")

    def __init__(
        self,
        ball: Ball,
        residue: int,
        squared: int | None = None,
        sure: bool = True,
        bound: Bound | None = None,
        steep: bool = False,
    ) -> None:
        self.ball = ball
        self.steep = steep
        self.residue = residue % PRIME
        self.sure = sure
        self._bound = bound
        self._squared = squared

    @property
    def bound(self) -> Bound | None:
        """The separation bound, None if unknown: the number is 0 or at least this far from 0.

        The bound of a rational is computed on demand.
        """
        if self._bound is None and isinstance(self.ball, fmpq):
            self._bound = Bound.of(self.ball)
        return self._bound

    @property
    def squared(self) -> int:
        """Residue of the square; for roots it is the residue of the argument."""
        return (self.residue * self.residue if self._squared is None else self._squared) % PRIME

    def _joined(self, other: object, operation: Operation, *, swapped: bool) -> object:
        if isinstance(other, int):
            other = Trace(fmpq(other), other)
        if not isinstance(other, Trace):
            return NotImplemented  # an array, or a number that carries its derivatives
        a, b = (other, self) if swapped else (self, other)
        modulo = _quotient if operation is truediv else operation
        rooted = a._squared is not None or b._squared is not None
        sure = a.sure and b.sure
        try:
            ball, bound = operation(a.ball, b.ball), None
            if isinstance(ball, arb) and a.bound is not None and b.bound is not None:
                bound = a.bound.joined(b.bound, operation)
                # Only a sum can vanish unnoticed. Its ball shrinks as the precision grows, without
                # ever deciding, so the rational 0 replaces it.
                if operation in (add, sub) and bound.proves_zero(ball):
                    return TRACES.of(fmpq(0)) if sure else TRACES.of(fmpq(0)).unsure()
            return Trace(
                ball,
                modulo(a.residue, b.residue),
                # the square of a product is the product of the squares; of a sum it is unknown
                modulo(a.squared, b.squared) if rooted and operation in (mul, truediv) else None,
                sure,
                bound,
                a.steep or b.steep,
            )
        except ZeroDivisionError as error:
            raise Untraceable("a division by 0") from error

    def __neg__(self) -> Trace:
        return Trace(-self.ball, -self.residue, self._squared, self.sure, self._bound, self.steep)

    def unsure(self) -> Trace:
        """Return the same number, marked as using a residue."""
        return Trace(self.ball, self.residue, self._squared, False, self._bound, self.steep)

    @property
    def zero(self) -> bool:
        """Whether the expression is 0, by its residue."""
        return self.residue == 0

    @property
    def exact_zero(self) -> bool:
        """Whether the number is proved to be 0."""
        return self.sure and isinstance(self.ball, fmpq) and self.ball == 0

    def same(self, other: Trace) -> bool:
        """Return whether residues, bounds or squares of nonnegative numbers prove equality.

        False proves nothing.
        """
        # sqrt(8) and 2 sqrt(2) differ in residue, but a bound shows that the difference is 0
        if self.residue == other.residue or (self - other).zero:
            return True
        both = bool(self.ball >= 0) and bool(other.ball >= 0)
        return both and self.squared == other.squared


def _quotient(a: int, b: int) -> int:
    if b == 1:
        return a
    if b % PRIME == 0:
        raise Untraceable("a denominator whose fingerprint is 0")
    return a * _inverse(b)


@functools.lru_cache(maxsize=4096)
def _inverse(b: int) -> int:
    """Return the inverse modulo the prime; cached, as entries of a softmax share a denominator."""
    return pow(b, -1, PRIME)


def hashed(name: str, *parts: int | str) -> int:
    """Return a residue that depends on the name and all parts."""
    text = "\x1f".join([name, *map(str, parts)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big") % PRIME


def _function(name: str, ball: Callable[[Ball], Any], t: Trace) -> Trace:
    value = ball(t.ball)
    if isinstance(value, fmpq):
        return TRACES.of(value)
    return Trace(value, hashed(name, t.residue), steep=t.steep)


def _kept(function: Callable[[Trace], Trace]) -> Callable[[Trace], Trace]:
    """Return the function with unsure values if its argument is unsure, or 0 by residue alone.

    The functions take a shortcut for arguments with residue 0. A residue may be 0 by chance, so the
    shortcut proves nothing unless the number is proved to be 0.
    """

    def kept(t: Trace) -> Trace:
        result = function(t)
        return result if t.sure and (t.exact_zero or not t.zero) else result.unsure()

    return kept


def _is_zero(t: Trace) -> Trace:
    """Return 1 or 0 if the fingerprint or the ball decides whether the number is 0."""
    if t.zero:
        return TRACES.exact(1)
    if t.ball > 0 or t.ball < 0:
        return TRACES.exact(0)
    raise Untraceable("neither fingerprint nor ball decides whether a number is 0")


def _exp(t: Trace) -> Trace:
    """Return the exponential; for rationals of one denominator, powers of one residue."""
    if t.zero:
        return TRACES.exact(1)
    steep = t.steep or not (-_STEEP < t.ball < _STEEP)
    if isinstance(t.ball, fmpq):  # exp(p/q) = exp(1/2^k)^m: one base for each odd part of q
        power = pow(_base(int(t.ball.q)), int(t.ball.p), PRIME)
        return Trace(arb(t.ball).exp(), power, steep=steep)
    mirrored = min(t.residue, PRIME - t.residue)  # exp(-t) is the inverse of exp(t)
    power = hashed("exp of", mirrored)
    residue = power if mirrored == t.residue else pow(power, -1, PRIME)
    return Trace(arb(t.ball).exp(), residue, steep=steep)


@functools.lru_cache(maxsize=4096)
def _base(q: int) -> int:
    """Return the residue of exp(1/q); cached, as exponents of a formula share denominators.

    For q = odd 2^k, the residue is h^(2^(1000 - k)) with a fixed residue h for the odd part. Its
    power 2^k is the residue of exp(1/odd), as it must be.
    """
    shift = (q & -q).bit_length() - 1
    if shift > 1000:
        raise Untraceable("an exponent with a very large denominator")
    # exponents count modulo PRIME - 1, by Fermat's little theorem
    squarings = pow(2, 1000 - shift, PRIME - 1)
    return pow(hashed("exp", q >> shift), squarings, PRIME)


def _log(t: Trace) -> Trace:
    """Return the logarithm so that log(1/t) = -log(t) for residues too, as in entropies."""
    inverse = _quotient(1, t.residue)
    # of t and 1/t, the one with the smaller residue is hashed, so that both get opposite residues
    return _function("log", BALLS.log, t) if t.residue <= inverse else -_log(1 / t)


def _sqrt(t: Trace) -> Trace:
    if t.zero:
        return TRACES.exact(0)
    result = _function("sqrt", BALLS.sqrt, t)
    bound = t.bound and t.bound.root(t.ball if isinstance(t.ball, fmpq) else object())
    return Trace(result.ball, result.residue, t.residue, bound=bound, steep=t.steep)


def _abs(t: Trace) -> Trace:
    """Return the absolute value, by the sign of the ball."""
    if t.zero or t.ball >= 0:
        return t
    if t.ball <= 0:
        return -t
    raise Untraceable("the ball does not decide the sign of a number")


def _floor(t: Trace) -> Trace:
    """Return the largest integer below a number, if the ball decides it."""
    return _rational_of(BALLS.floor(t.ball), "the ball does not decide the floor of a number")


def _rational_of(ball: object, otherwise: str) -> Trace:
    """Return a rational as a trace.

    Raises:
        Untraceable: the number is a ball; `otherwise` says why that ends the trace.
    """
    if not isinstance(ball, fmpq):
        raise Untraceable(otherwise)
    return TRACES.of(ball)


class Traces(Arithmetic[Trace]):
    """Numbers with fingerprints."""

    name = "traces"
    numbers = Trace

    exp = elementary(_kept(_exp))
    log = elementary(_kept(_log))
    sqrt = elementary(_kept(_sqrt))
    abs = elementary(_kept(_abs))
    is_zero = elementary(_kept(_is_zero))
    floor = elementary(lambda t: _floor(t) if t.sure else _floor(t).unsure())

    def _whole(self, name: str, *numbers: Number) -> Trace:
        traces = [self.exact(x) for x in numbers]
        value = whole_ball(name, *(t.ball for t in traces))
        result = _rational_of(value, f"{name} of a number that is not known as an integer")
        return result if all(t.sure for t in traces) else result.unsure()

    def of(self, value: fmpq) -> Trace:
        """Return a rational number."""
        p, q = int(value.p), int(value.q)
        long = max(p.bit_length(), q.bit_length()) > _LONG
        return Trace(value, _quotient(p, q), steep=long)

    def _rational(self, value: Fraction) -> Trace:
        return self.of(fmpq(value.numerator, value.denominator))

    def _literal(self, number: Any) -> Trace:
        if isinstance(number, arb):
            raise Untraceable("a ball that is not known to be any one number")
        exact = isinstance(number, fmpq)
        return self.of(number if exact else fmpq(*number.as_integer_ratio()))

    def maximum(self, x: object, y: object) -> Trace:
        """Return the larger number, if the balls decide or both are equal.

        Raises:
            Untraceable: neither is so.
        """
        x, y = (t if isinstance(t, Trace) else self.exact(t) for t in (x, y))  # an author's 0 or 1
        sure = x.sure and y.sure
        if x.ball >= y.ball:
            return x if sure else x.unsure()
        if y.ball >= x.ball:
            return y if sure else y.unsure()
        if x.same(y):
            return x if sure and (x - y).exact_zero else x.unsure()
        raise Untraceable("a maximum of numbers that the balls do not tell apart")

    def spectral(self, A: Numbers) -> Trace:
        """Return the spectral norm: rational, or a function of the matrix."""
        if 1 in A.shape:
            return self.norm(A)
        ball = BALLS.spectral(entries([t.ball for t in A.ravel()], A.shape))
        sure = all(t.sure for t in A.ravel())
        if isinstance(ball, fmpq):
            return self.of(ball) if sure else self.of(ball).unsure()
        if all(t.zero for t in A.ravel()):
            return self.exact(0).unsure()
        rows, columns = ([t.residue for t in matrix.ravel()] for matrix in (A, A.T))
        shapes = (*A.shape, rows), (*A.T.shape, columns)  # a matrix and its transpose are alike
        residue = hashed("spectral", str(min(shapes)))
        return Trace(ball, residue, sure=sure, steep=any(t.steep for t in A.ravel()))

    def singular(self, A: Numbers) -> Numbers:
        if all(isinstance(t.ball, fmpq) for t in A.ravel()):
            return super().singular(A)
        return self._of_matrix("singular", A)

    def _eigenvalues(self, S: Numbers) -> Numbers:
        return self._of_matrix("_eigenvalues", S)

    def _of_matrix(self, name: str, A: Numbers) -> Numbers:
        """Return values of a function of A: rationals, or numbers fingerprinted by its residues."""
        balls = getattr(BALLS, name)(entries([t.ball for t in A.ravel()], A.shape))
        matrix = str([A.shape, *(t.residue for t in A.ravel())])
        sure, steep = (all(t.sure for t in A.ravel()), any(t.steep for t in A.ravel()))
        results = [
            self.of(ball)
            if isinstance(ball, fmpq)
            else Trace(ball, hashed(name, k, matrix), sure=sure, steep=steep)
            for k, ball in enumerate(balls)
        ]
        return entries([t if sure else t.unsure() for t in results])

    def _level(self, s: Numbers) -> Trace:
        return max(s, key=lambda t: arb(t.ball).mid())


TRACES = Traces()
"""The arithmetic of traces; it has no state."""
