"""A checker of counterexamples that needs Python's standard library alone.

`attsvm show --verifier ID` prints it with a statement and an instance at its end. A real number is
enclosed between two rationals. A comparison is true, false, or undecided if the enclosures are too
wide; then the statement is evaluated again with more bits. A counterexample is accepted only if
every hypothesis is true and the claim is false.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction as Q
from math import floor, isqrt
from typing import Any, NoReturn

PRECISIONS = (64, 128, 256, 512, 1024, 2048, 4096, 8192)
"""Numbers of significant bits that are tried until every comparison is decided."""

STEEP = 2**17
"""Largest absolute value of an argument for which an exponential is computed."""


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
        least = min(ends)
        if other is self and least < 0:  # a square is not negative
            least = Q(0)
        return enclosed(least, max(ends))

    def __truediv__(self, other: Real | Q | int) -> Real:
        other = real(other)
        if other.low <= 0 <= other.high:
            raise Undefined("a division by a number that may be 0")
        return self * enclosed(1 / other.high, 1 / other.low)

    def __radd__(self, other: Q | int) -> Real:
        return self + other

    def __rsub__(self, other: Q | int) -> Real:
        return real(other) - self

    def __rmul__(self, other: Q | int) -> Real:
        return self * other

    def __rtruediv__(self, other: Q | int) -> Real:
        return real(other) / self

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


def grid(x: Q) -> Q:
    """Return a power of 2 that is about 2^-bits times |x|, for x other than 0."""
    power = abs(x.numerator).bit_length() - x.denominator.bit_length() - Real.bits
    return Q(2) ** power


def enclosed(low: Q, high: Q) -> Real:
    """Return an enclosure whose ends are rounded outwards; an exact number stays exact."""
    if low == high:
        return Real(low)
    return Real(
        floor(low / grid(low)) * grid(low) if low else low,
        -floor(-high / grid(high)) * grid(high) if high else high,
    )


# functions: each encloses the values at both ends, as it increases


def exp(x: Real | Q | int) -> Real:
    """Return the exponential."""
    x = real(x)
    return enclosed(exp_ends(x.low)[0], exp_ends(x.high)[1])


def exp_ends(x: Q) -> tuple[Q, Q]:
    """Return bounds of exp(x); both are 1 if x is 0.

    For x > 0 let r = x / 2^k be at most 1/2. All terms r^j / j! are positive, and those after the
    last one are together at most as large as the last one, as each is less than half of the one
    before. Then exp(x) is the 2^k-th power of exp(r). Integers count units of 2^-digits.
    """
    if x == 0:
        return Q(1), Q(1)
    if x < -STEEP:  # exp(x) < 2^x
        return Q(0), Q(1, 2**STEEP)
    if x < 0:
        least, most = exp_ends(-x)
        return 1 / most, 1 / least
    if x > STEEP:
        raise Undefined("an exponential that is too large to compute")
    halvings = max(0, (x.numerator // x.denominator).bit_length() + 8)
    digits = Real.bits + halvings + 24
    unit = 1 << digits
    r = floor(x * unit) >> halvings  # r <= x/2^k units <= r + 1
    low = high = term_low = term_high = unit
    j = 0
    while term_high > 1:
        j += 1
        term_low = term_low * r // (j * unit)
        term_high = -(-term_high * (r + 1) // (j * unit))
        low, high = low + term_low, high + term_high
    high += term_high
    for _ in range(halvings):
        low, high = low * low // unit, -(-high * high // unit)
    return Q(low, unit), Q(high, unit)


def log(x: Real | Q | int) -> Real:
    """Return the natural logarithm."""
    x = real(x)
    if x.low <= 0:
        raise Undefined("the logarithm of a number that may not be positive")
    return enclosed(log_ends(x.low)[0], log_ends(x.high)[1])


def log_ends(x: Q) -> tuple[Q, Q]:
    """Return bounds of ln(x), x > 0; both are 0 if x is 1.

    For x > 1 let x = f 2^k with 1 <= f < 2. Then ln(x) = 2 artanh((f - 1)/(f + 1)) + k ln(2), and
    ln(2) = 2 artanh(1/3).
    """
    if x == 1:
        return Q(0), Q(0)
    if x < 1:
        least, most = log_ends(1 / x)
        return -most, -least
    k = x.numerator.bit_length() - x.denominator.bit_length()
    k -= x < Q(2) ** k
    f = x / 2**k
    first, second = artanh_ends((f - 1) / (f + 1)), artanh_ends(Q(1, 3))
    return 2 * (first[0] + k * second[0]), 2 * (first[1] + k * second[1])


def artanh_ends(t: Q) -> tuple[Q, Q]:
    """Return bounds of artanh(t) = t + t^3/3 + t^5/5 + ... for 0 <= t <= 1/3.

    The terms after one with t^j are together less than t^j, as t^2 is at most 1/9.
    """
    unit = 1 << (Real.bits + 24)
    low_power, high_power = floor(t * unit), floor(t * unit) + 1
    square_low, square_high = floor(t * t * unit), floor(t * t * unit) + 1
    low = high = 0
    j = 1
    while True:
        low, high = low + low_power // j, high - (-high_power // j)
        if high_power <= 2:
            return Q(low, unit), Q(high + high_power, unit)
        low_power = low_power * square_low // unit
        high_power = -(-high_power * square_high // unit)
        j += 2


def sqrt(x: Real | Q | int) -> Real:
    """Return the square root, which is exact for squares of rationals."""
    x = real(x)
    if x.low < 0:
        raise Undefined("the root of a number that may be negative")
    return enclosed(sqrt_ends(x.low)[0], sqrt_ends(x.high)[1])


def sqrt_ends(x: Q) -> tuple[Q, Q]:
    """Return bounds of the root of x >= 0: r <= root <= r + 1 in units, from integer roots."""
    root = Q(isqrt(x.numerator), isqrt(x.denominator))
    if root * root == x:
        return root, root
    unit = Q(2) ** ((x.denominator.bit_length() - x.numerator.bit_length()) // 2 + Real.bits)
    r = isqrt(floor(x * unit * unit))
    return r / unit, (r + 1) / unit


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

    It lies between trace/n and the trace. Squaring G/trace squares it, and makes the two bounds of
    its logarithm twice as close. Entries are rounded to multiples of 1/unit, outwards.
    """
    trace = sum((row[k] for k, row in enumerate(G)), Real(0))
    if trace.high == 0:
        return trace
    if not squarings:
        return Real(trace.low / len(G), trace.high)
    unit = 4**Real.bits
    shares = [[x / trace for x in row] for row in G]
    H = [
        [Real(Q(floor(x.low * unit), unit), Q(-floor(-x.high * unit), unit)) for x in row]
        for row in shares
    ]
    square = [[dot(x, y) for y in H] for x in H]
    return trace * sqrt(eigenvalue(square, squarings - 1))


# comparisons


class Answer:
    """Whether a relation is true, None if that is undecided; its slack, at least 0 if true."""

    __slots__ = ("slack", "truth")

    def __init__(self, truth: bool | None, slack: Real) -> None:
        self.truth, self.slack = truth, slack

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
    gap = absolute(real(left) - right)
    return Answer(False if gap.low > 0 else True if gap.high == 0 else None, -gap)


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
    return f"[{decimal(x.low, -1)}, {decimal(x.high, 1)}]"


def decimal(x: Q, away: int) -> str:
    """Return a decimal of 20 digits beyond x in this direction, or x itself if it is short."""
    if x == 0:
        return "0"
    power = 20 - len(str(floor(abs(x)))) if abs(x) >= 1 else 20 + len(str(floor(1 / abs(x))))
    scaled = x * Q(10) ** power
    digits = floor(scaled) if away < 0 else -floor(-scaled)
    return f"{digits}e{-power}"
