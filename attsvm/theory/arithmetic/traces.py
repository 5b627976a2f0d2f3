"""Traces: fingerprints modulo a large prime that tell whether two sides are the same expression.

Balls never decide that two irrational numbers are equal. A trace carries, beside the ball, the
value of the same expression in a field of a prime number of elements: rationals are themselves, the
exponential of a sum is the product of exponentials of rational logits, other functions are replaced
by a fixed pseudorandom one of their argument's residue. A root also knows the residue of its
square, and so does a product with it, so that sides which are not negative can be told equal by
their squares. Equal residues of both sides mean that the sides are equal unless two independent
numbers of 128 bits agree by chance. That settles that a comparison such as 0 <= 0 holds; it never
certifies that one is violated.

A sum of square roots of rationals is known exactly as well, as a surd, and one that is rational,
such as sqrt(8) - 2 sqrt(2), is that rational. With nested roots a difference whose ball is smaller
than any such number but 0 is 0, such as sqrt(5 + 2 sqrt(6)) - sqrt(2) - sqrt(3). A trace is `sure`
where no step on the way to its ball or surd rests on a residue: then its sign is proved.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from fractions import Fraction
from operator import add, mul, sub, truediv
from typing import Any

from flint import arb, fmpq

from attsvm.theory.arithmetic.balls import BALLS, Ball
from attsvm.theory.arithmetic.base import Arithmetic, elementary
from attsvm.theory.arithmetic.entries import Operation, Scalar, entries
from attsvm.theory.arithmetic.quantities import Numbers
from attsvm.theory.arithmetic.surds import Bound, Surd, joined, root_of

_PRIME = 0xC90FDAA22168C234C4C6628B80DC1DAF
"""The first 126 bits of pi, then the next number P such that P and (P - 1)/2 are both prime.

Instances are full of powers of two. Modulo 2^127 - 1 the number 2^127 would be 1, and exp(2^126 x)
would be exp(x); here powers of two are far from each other, as residues and as exponents.
"""


_STEEP, _LONG = 256, 1024
"""Size of an argument of exp, and length of a rational in bits. Above either of them, two sides
that differ may differ by less than 2^-8192."""


class Untraceable(Exception):
    """An expression branches where its ball cannot tell which way."""


class Trace(Scalar):
    """A number with its fingerprint, that of its square, its surd and its bound where known.

    It is `steep` if an exponential of a large number, or a long rational, is a part of it.
    """

    __slots__ = ("_bound", "_squared", "ball", "residue", "steep", "surd", "sure")

    def __init__(
        self,
        ball: Ball,
        residue: int,
        squared: int | None = None,
        surd: Surd | None = None,
        sure: bool = True,
        bound: Bound | None = None,
        steep: bool = False,
    ) -> None:
        self.ball = ball
        self.steep = steep
        self.residue = residue % _PRIME
        self.surd = surd
        self.sure = sure
        self._bound = bound
        self._squared = squared

    @property
    def bound(self) -> Bound | None:
        """How far from 0 it is unless it is 0; that of a rational is worked out when asked for."""
        if self._bound is None and isinstance(self.ball, fmpq):
            self._bound = Bound.of(self.ball)
        return self._bound

    @property
    def squared(self) -> int:
        """The residue of its square, which a root knows and what is made of others has not."""
        return (self.residue * self.residue if self._squared is None else self._squared) % _PRIME

    def _joined(self, other: Any, operation: Operation, *, swapped: bool) -> Any:
        if isinstance(other, int):
            other = Trace(fmpq(other), other)
        if not isinstance(other, Trace):
            return NotImplemented  # an array, or a number that carries its derivatives
        a, b = (other, self) if swapped else (self, other)
        modulo = _quotient if operation is truediv else operation
        rooted = a._squared is not None or b._squared is not None
        surd = _surd(a, b, operation)
        sure = a.sure and b.sure
        try:
            if surd is not None and surd.rational is not None:
                found = TRACES.of(surd.rational)
                return found if sure else found.unsure()
            ball, bound = operation(a.ball, b.ball), None
            if isinstance(ball, arb) and a.bound is not None and b.bound is not None:
                bound = a.bound.joined(b.bound, operation)
                if operation in (add, sub) and bound.proves_zero(ball):
                    return TRACES.of(fmpq(0)) if sure else TRACES.of(fmpq(0)).unsure()
            return Trace(
                ball,
                modulo(a.residue, b.residue),
                modulo(a.squared, b.squared) if rooted and operation in (mul, truediv) else None,
                surd,
                sure,
                bound,
                a.steep or b.steep,
            )
        except ZeroDivisionError as error:
            raise Untraceable("a division by 0") from error

    def __neg__(self) -> Trace:
        surd = self.surd and Surd(tuple((r, -c) for r, c in self.surd.terms))
        return Trace(
            -self.ball, -self.residue, self._squared, surd, self.sure, self._bound, self.steep
        )

    def unsure(self) -> Trace:
        """Return the same, said to rest on a residue."""
        return Trace(
            self.ball, self.residue, self._squared, self.surd, False, self._bound, self.steep
        )

    @property
    def zero(self) -> bool:
        """Whether the expression is 0, by its residue."""
        return self.residue == 0

    @property
    def exact_zero(self) -> bool:
        """Whether the number is proved to be 0."""
        return self.sure and isinstance(self.ball, fmpq) and self.ball == 0

    def same(self, other: Trace) -> bool:
        """Whether two expressions are equal, by residues or surds or, from 0 on, by squares."""
        if self.residue == other.residue or (self - other).zero:
            return True
        both = bool(self.ball >= 0) and bool(other.ball >= 0)
        return both and self.squared == other.squared


def _surd(a: Trace, b: Trace, operation: Operation) -> Surd | None:
    """Return the surd of a sum, product or quotient, where one operand is an irrational one."""
    if a.surd is None and b.surd is None:  # rationals are exact as they are
        return None
    both = [Surd.of(t.ball) if isinstance(t.ball, fmpq) else t.surd for t in (a, b)]
    one, other = both
    return None if one is None or other is None else joined(one, other, operation)


def _quotient(a: int, b: int) -> int:
    if b == 1:
        return a
    if b % _PRIME == 0:
        raise Untraceable("a denominator whose fingerprint is 0")
    return a * _inverse(b)


@functools.lru_cache(maxsize=4096)
def _inverse(b: int) -> int:
    """Return the inverse modulo the prime; the entries of a softmax share their denominator."""
    return pow(b, -1, _PRIME)


def _hashed(name: str, *parts: int | str) -> int:
    text = "\x1f".join([name, *map(str, parts)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big") % _PRIME


def _function(name: str, ball: Callable[[Ball], Any], t: Trace) -> Trace:
    value = ball(t.ball)
    if isinstance(value, fmpq):
        return TRACES.of(value)
    return Trace(value, _hashed(name, t.residue), steep=t.steep)


def _kept(function: Callable[[Trace], Trace]) -> Callable[[Trace], Trace]:
    """A function that is unsure where its argument is, or is taken to be 0 by its residue."""

    def kept(t: Trace) -> Trace:
        found = function(t)
        return found if t.sure and (t.exact_zero or not t.zero) else found.unsure()

    return kept


def _is_zero(t: Trace) -> Trace:
    """1 or 0, where the fingerprint or the ball tells which."""
    if t.zero:
        return TRACES.exact(1)
    if t.ball > 0 or t.ball < 0:
        return TRACES.exact(0)
    raise Untraceable("a number of which neither fingerprint nor ball says that it is 0")


def _exp(t: Trace) -> Trace:
    """Return the exponential: of rationals over one denominator a power of one residue."""
    if t.zero:
        return TRACES.exact(1)
    steep = t.steep or not (-_STEEP < t.ball < _STEEP)
    if isinstance(t.ball, fmpq):  # exp(p/q) = exp(1/2^k)^m: one base for each odd part of q
        power = pow(_base(int(t.ball.q)), int(t.ball.p), _PRIME)
        return Trace(arb(t.ball).exp(), power, steep=steep)
    mirrored = min(t.residue, _PRIME - t.residue)  # exp(-t) is the inverse of exp(t)
    power = _hashed("exp of", mirrored)
    residue = power if mirrored == t.residue else pow(power, -1, _PRIME)
    return Trace(arb(t.ball).exp(), residue, steep=steep)


@functools.lru_cache(maxsize=4096)
def _base(q: int) -> int:
    """What exp(1/q) leaves; exponents of one formula share their denominators."""
    shift = (q & -q).bit_length() - 1
    if shift > 1000:
        raise Untraceable("an exponent with a very large denominator")
    squarings = pow(2, 1000 - shift, _PRIME - 1)  # by Fermat's little theorem
    return pow(_hashed("exp", q >> shift), squarings, _PRIME)


def _log(t: Trace) -> Trace:
    """The logarithm: that of an inverse is the negative one, as in the entropy of equal shares."""
    inverse = _quotient(1, t.residue)
    return _function("log", BALLS.log, t) if t.residue <= inverse else -_log(1 / t)


def _sqrt(t: Trace) -> Trace:
    if t.zero:
        return TRACES.exact(0)
    found = _function("sqrt", BALLS.sqrt, t)
    surd = root_of(t.ball) if isinstance(t.ball, fmpq) and t.ball > 0 else None
    irrational = surd is not None and surd.rational is None
    bound = t.bound and t.bound.root(t.ball if isinstance(t.ball, fmpq) else object())
    return Trace(
        found.ball,
        found.residue,
        t.residue,
        surd if irrational else None,
        bound=bound,
        steep=t.steep,
    )


def _abs(t: Trace) -> Trace:
    """Return the absolute value, by the sign of the ball."""
    if t.zero or t.ball >= 0:
        return t
    if t.ball <= 0:
        return -t
    raise Untraceable("an absolute value of a number whose sign the ball does not tell")


class Traces(Arithmetic[Trace]):
    """Numbers with fingerprints."""

    name = "traces"
    numbers = Trace

    exp = elementary(_kept(_exp))
    log = elementary(_kept(_log))
    sqrt = elementary(_kept(_sqrt))
    abs = elementary(_kept(_abs))
    is_zero = elementary(_kept(_is_zero))

    def of(self, value: fmpq) -> Trace:
        """Return a rational number."""
        p, q = int(value.p), int(value.q)
        long = max(p.bit_length(), q.bit_length()) > _LONG
        return Trace(value, _quotient(p, q), steep=long)

    def _rational(self, value: Fraction) -> Trace:
        return self.of(fmpq(value.numerator, value.denominator))

    def _given(self, number: Any) -> Trace:
        if isinstance(number, arb):
            raise Untraceable("a ball that is not known to be any one number")
        exact = isinstance(number, fmpq)
        return self.of(number if exact else fmpq(*number.as_integer_ratio()))

    def maximum(self, x: Any, y: Any) -> Trace:
        """Return the larger one, where the balls tell which one it is or both are equal."""
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
        residue = _hashed("spectral", str(min(shapes)))
        return Trace(ball, residue, sure=sure, steep=any(t.steep for t in A.ravel()))

    def _level(self, s: Numbers) -> Trace:
        return max(s, key=lambda t: arb(t.ball).mid())


TRACES = Traces()
"""The arithmetic of traces; it has no state."""
