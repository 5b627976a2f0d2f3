"""A checker of counterexamples that needs Python's standard library alone.

`attsvm show --verifier ID` prints it with a statement and an instance at its end. A real number is
enclosed between two rationals. A comparison is true, false, or undecided if the enclosures are too
wide; then the statement is evaluated again with more bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction as Q
from math import ceil, floor, isqrt
from typing import Any, NamedTuple, NoReturn

PRECISIONS = (64, 128, 256, 512, 1024, 2048, 4096, 8192)
"""Numbers of significant bits that are tried until every comparison is decided."""

STEEP = 2**17
"""Largest absolute value of an argument for which an exponential is computed."""


GUARD = 32
"""Number of bits by which functions are computed more precisely."""


class Undefined(ArithmeticError):
    """A value that is not defined, or not known to be: 1/0, the logarithm or root of -1."""


class Real:
    """A real number between two rationals, which are equal if the number is known exactly."""

    __slots__ = ("high", "low")
    bits = PRECISIONS[0]

    def __init__(self, low: Q | int, high: Q | int | None = None) -> None:
        self.low = Q(low)
        self.high = self.low if high is None else Q(high)

    def __add__(self, other: Real | Q | int) -> Real:
        other = real(other)
        return enclosed(self.low + other.low, self.high + other.high)

    def __neg__(self) -> Real:
        return Real(-self.high, -self.low)

    def __sub__(self, other: Real | Q | int) -> Real:
        return self + -real(other)

    def __mul__(self, other: Real | Q | int) -> Real:
        """Return the product; its extremes are among the products of the ends."""
        other = real(other)
        if self.low == self.high and other.low == other.high:
            return Real(self.low * other.low)
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        least = max(min(ends), Q(0)) if other is self else min(ends)  # a square is not negative
        return enclosed(least, max(ends))

    def __truediv__(self, other: Real | Q | int) -> Real:
        other = real(other)
        if other.low <= 0 <= other.high:
            raise Undefined("a division by a number that may be 0")
        return self * enclosed(1 / other.high, 1 / other.low)

    def __rsub__(self, other: Q | int) -> Real:
        return real(other) - self

    def __rtruediv__(self, other: Q | int) -> Real:
        return real(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError("enclosures are compared by at_most, below and equal alone")

    __bool__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _refuse
    __hash__ = None  # type: ignore[assignment]


def real(x: Real | Q | int) -> Real:
    """Return a number as an enclosure; refuse floats, which are not exact."""
    if isinstance(x, Real):
        return x
    if not isinstance(x, int | Q):
        raise TypeError(f"{x!r} is no exact number")
    return Real(x)


def reals(values: Any) -> Any:
    """Return nested lists of numbers as nested lists of enclosures."""
    return [reals(x) for x in values] if isinstance(values, list) else real(values)


def rounded(x: Q, towards: Callable[[Q], int]) -> Q:
    """Return a number of `Real.bits` bits near x: below it by `floor`, above it by `ceil`."""
    size = x.numerator.bit_length() - x.denominator.bit_length()
    unit = Q(2) ** (size - Real.bits)
    return towards(x / unit) * unit


def enclosed(low: Q, high: Q) -> Real:
    """Return an enclosure whose ends are rounded outwards; an exact number stays exact."""
    return Real(low) if low == high else Real(rounded(low, floor), rounded(high, ceil))


# functions: each increases, so that enclosures of its values at both ends are enough


def increasing(function: Callable[[Q], Real], x: Real | Q | int) -> Real:
    """Return the values of a function, computed with more bits."""
    x = real(x)
    Real.bits += GUARD
    low = function(x.low)
    high = low if x.low == x.high else function(x.high)
    Real.bits -= GUARD
    return enclosed(low.low, high.high)


def exp(x: Real | Q | int) -> Real:
    """Return the exponential."""
    return increasing(exponential, x)


def exponential(x: Q) -> Real:
    """Enclose exp(x) for one number x, by squaring exp(x / 2^k) k times.

    For 0 <= r <= 1/2 each term r^j / j! is positive and at most half of the one before. So all
    terms after the last one are together at most as large as it is.
    """
    if x == 0:
        return Real(1)
    if x < -STEEP:  # exp(x) < 2^x
        return Real(0, Q(1, 2**STEEP))
    if x < 0:
        return 1 / exponential(-x)
    if x > STEEP:
        raise Undefined("an exponential that is too large to compute")
    halvings = max(0, floor(x).bit_length() + 8)
    unit = 1 << (Real.bits + halvings)
    r = floor(x * unit) >> halvings  # r <= x / 2^k units <= r + 1
    low = high = first = last = unit
    j = 0
    while last > 1:
        j += 1
        first, last = first * r // (j * unit), -(-last * (r + 1) // (j * unit))
        low, high = low + first, high + last
    high += last
    for _ in range(halvings):
        low, high = low * low // unit, -(-high * high // unit)
    return Real(Q(low, unit), Q(high, unit))


def log(x: Real | Q | int) -> Real:
    """Return the natural logarithm."""
    if real(x).low <= 0:
        raise Undefined("the logarithm of a number that may not be positive")
    return increasing(logarithm, x)


def logarithm(x: Q) -> Real:
    """Enclose ln(x) = y + ln(t), t = x exp(-y), by 1 - 1/t <= ln(t) <= t - 1, for t near 1."""
    y = Q(7 * (x.numerator.bit_length() - x.denominator.bit_length()), 10)
    t = x * exponential(-y)
    while max(t.high - 1, 1 - t.low) > Q(1, 2 ** (Real.bits // 2)):
        y = rounded(y + 2 * (t.high - 1) / (t.high + 1), floor)
        t = x * exponential(-y)
    return y + Real(1 - 1 / t.low, t.high - 1)


def sqrt(x: Real | Q | int) -> Real:
    """Return the square root, which is exact for squares of rationals."""
    if real(x).low < 0:
        raise Undefined("the root of a number that may be negative")
    return increasing(root, x)


def root(x: Q) -> Real:
    """Enclose the root of x >= 0: r <= root <= r + 1 in units, from integer roots."""
    exact = Q(isqrt(x.numerator), isqrt(x.denominator))
    if exact * exact == x:
        return Real(exact)
    unit = Q(2) ** ((x.denominator.bit_length() - x.numerator.bit_length()) // 2 + Real.bits)
    r = isqrt(floor(x * unit * unit))
    return Real(r / unit, (r + 1) / unit)


def absolute(x: Real | Q | int) -> Real:
    """Return the absolute value."""
    x = real(x)
    return maximum(x, -x)


def maximum(*values: Real | Q | int) -> Real:
    """Return the largest of several numbers."""
    known = [real(x) for x in values]
    return Real(max(x.low for x in known), max(x.high for x in known))


def minimum(*values: Real | Q | int) -> Real:
    """Return the smallest of several numbers."""
    return -maximum(*(-real(x) for x in values))


def is_zero(x: Real | Q | int) -> Real:
    """Return 1 if the number is 0, else 0; an enclosure of both if it may be 0."""
    x = real(x)
    may_be = x.low <= 0 <= x.high
    return Real(int(may_be and x.low == x.high), int(may_be))


def whole_part(x: Real | Q | int) -> Real:
    """Return the largest integer that is at most the number."""
    x = real(x)
    return Real(floor(x.low), floor(x.high))


# matrices, as lists of rows


def dot(x: Sequence[Real | Q], y: Sequence[Real | Q]) -> Real:
    """Return the inner product."""
    return sum((real(a) * b for a, b in zip(x, y, strict=True)), Real(0))


def softmax(s: Sequence[Real | Q | int]) -> list[Real]:
    """Return exp(s_t) / sum_u exp(s_u), with one entry subtracted from all, against overflow."""
    top = max(map(real, s), key=lambda x: x.high)
    powers = [Real(1) if x is top else exp(x - top) for x in s]
    total = sum(powers, Real(0))
    return [power / total for power in powers]


def spectral(A: Sequence[Sequence[Real]]) -> Real:
    """Return the largest singular value, the root of the largest eigenvalue of A A^T."""
    return sqrt(eigenvalue([[dot(x, y) for y in A] for x in A], Real.bits // 2))


def eigenvalue(G: list[list[Real]], squarings: int) -> Real:
    """Return the largest eigenvalue of a positive semidefinite matrix.

    It lies between trace/n and the trace. Squaring G/trace halves the gap of their logarithms. If
    p >= 0 are the eigenvalues of G/trace, of sum 1, and t = sum p^2 is the trace of its square,
    then t^2 <= max(p)^2 <= t. Squaring ends when t is near 1, or after `squarings`.
    """
    near_0 = Real(Q(-1, 4**Real.bits), Q(1, 4**Real.bits))  # makes entries short numbers
    traces = [sum((row[k] for k, row in enumerate(G)), Real(0))]
    while len(traces) < 2 or (len(traces) <= squarings and traces[-1].low < 1 - Q(1, 2**squarings)):
        if traces[-1].high != 0:
            H = [[x / traces[-1] + near_0 for x in row] for row in G]
            G = [[dot(x, y) for y in H] for x in H]
        traces.append(sum((row[k] for k, row in enumerate(G)), Real(0)))
    low = traces[-1].low
    largest = Real(max(low / len(G), low * abs(low)), traces[-1].high)
    for trace in traces[-2::-1]:
        largest = trace * sqrt(largest)
    return largest


# comparisons


class Answer(NamedTuple):
    """Whether a relation is true, None if that is undecided; its slack, at least 0 if true."""

    truth: bool | None
    slack: Real

    def __bool__(self) -> bool:
        """Refuse a truth value, since None is not False."""
        raise TypeError("an answer may be undecided: combine answers by all_of and any_of")


def at_most(left: Real | Q | int, right: Real | Q | int) -> Answer:
    """Return the answer to left <= right."""
    gap = real(right) - left
    return Answer(True if gap.low >= 0 else False if gap.high < 0 else None, gap)


def below(left: Real | Q | int, right: Real | Q | int) -> Answer:
    """Return the answer to left < right."""
    gap = real(right) - left
    return Answer(True if gap.low > 0 else False if gap.high <= 0 else None, gap)


def equal(left: Any, right: Any) -> Answer:
    """Return the answer to left = right, of numbers or of lists entry by entry."""
    if isinstance(left, list) or isinstance(right, list):
        return all_of(*(equal(a, b) for a, b in zip(left, right, strict=True)))
    gap = real(left) - right
    distance = maximum(gap, -gap)
    return Answer(False if distance.low > 0 else True if distance.high == 0 else None, -distance)


def fact(truth: bool) -> Answer:
    """Return the answer of a condition that is decided in integers or rationals."""
    return Answer(truth, Real(0 if truth else -1))


def all_of(*answers: Answer) -> Answer:
    """Return whether all are true."""
    truths = [answer.truth for answer in answers]
    truth = False if False in truths else None if None in truths else True
    return Answer(truth, minimum(*(answer.slack for answer in answers)))


def any_of(*answers: Answer) -> Answer:
    """Return whether at least one is true."""
    truths = [answer.truth for answer in answers]
    truth = True if True in truths else None if None in truths else False
    return Answer(truth, maximum(*(answer.slack for answer in answers)))


# the verdict

CLAIM = "the claim"
"""The name of the conclusion; all other answers of a statement are hypotheses."""


def check(statement: Callable[[], Iterator[tuple[str, Answer]]]) -> bool:
    """Print each answer, and return whether the instance violates the statement.

    It does if each hypothesis is true and the claim is false. An undecided or undefined answer
    counts as neither.
    """
    answers: dict[str, Answer] = {}
    for Real.bits in PRECISIONS:
        try:
            answers = dict(statement())
        except Undefined as error:
            print(f"{error}, at {Real.bits} bits")
            answers = {}
            continue
        if None not in [answer.truth for answer in answers.values()]:
            break
    for name, answer in answers.items():
        print(f"{name}: {answer.truth}, slack in {shown(answer.slack)}, {Real.bits} bits")
    met = all(answer.truth is True for name, answer in answers.items() if name != CLAIM)
    violated = met and CLAIM in answers and answers[CLAIM].truth is False
    print("VIOLATED" if violated else "not violated")
    return violated


def shown(x: Real) -> str:
    """Return an enclosure in decimals, rounded outwards."""
    ends = [
        Context(20, towards).divide(Decimal(end.numerator), Decimal(end.denominator))
        for end, towards in ((x.low, ROUND_FLOOR), (x.high, ROUND_CEILING))
    ]
    return f"[{ends[0]}, {ends[1]}]"
