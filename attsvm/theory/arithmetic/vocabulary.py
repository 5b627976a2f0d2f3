"""Functions of probabilities, integers and indices that every arithmetic computes from a few."""

from collections.abc import Callable
from typing import Protocol, TypeVar, cast

from attsvm.theory.arithmetic.entries import Number, Numbers, ensure_natural

_T = TypeVar("_T")


class Vocabulary(Protocol):
    """Functions with common names. The methods that they need are declared first."""

    def exact(self, value: object) -> Number:
        """Return a constant of this arithmetic."""

    def exp(self, x: Number) -> Numbers:
        """Return the exponential of a number, or of each entry."""

    def expm1(self, x: Number) -> Numbers:
        """Return exp(x) - 1."""

    def log(self, x: Number) -> Numbers:
        """Return the natural logarithm of a positive number, or of each entry."""

    def is_zero(self, x: Number) -> Numbers:
        """Return 1 if a number is 0, else 0; for an array, entry by entry."""

    def logistic(self, x: Number) -> Numbers:
        """Return g(x) = 1 / (1 + exp(-x))."""

    def sum(self, x: Numbers) -> Number:
        """Return the sum of all entries."""

    def size(self, x: Numbers) -> Number:
        """Return the number of entries."""

    def floor(self, x: Number) -> Numbers:
        """Return the largest integer that is at most a number, or each entry."""

    def _level(self, s: Numbers) -> Number:
        """Return a number near the largest logit."""

    def _whole(self, name: str, *numbers: Number) -> Number:
        """Return a function of integers by its name in `whole_numbers`."""

    # numbers

    def sigmoid(self, x: Number) -> Numbers:
        """Return 1 / (1 + exp(-x)), another name of `logistic`."""
        return self.logistic(x)

    def tanh(self, x: Number) -> Numbers:
        """Return the hyperbolic tangent of a number, or of each entry; exactly 0 at 0."""
        e = self.expm1(2 * x)
        return e / (e + 2)

    def xlogx(self, x: Number) -> Numbers:
        """Return x log x of a number, or of each entry; 0 at 0."""
        return x * self.log(x + self.is_zero(x))

    # probabilities and averages

    def mean(self, x: Numbers) -> Number:
        """Return the average of all entries."""
        return self.sum(x) / self.size(x)

    def logsumexp(self, x: Numbers) -> Number:
        """Return the logarithm of the sum of the exponentials of all entries."""
        level = self._level(x)
        return self.log(self.sum(self.exp(x - level))) + level

    def entropy(self, p: Numbers) -> Number:
        """Return -sum p_i log p_i, with 0 log 0 = 0."""
        return -self.sum(self.xlogx(p))

    def kl(self, p: Numbers, q: Numbers) -> Number:
        """Return sum p_i log(p_i / q_i), with 0 log 0 = 0; undefined if q_i = 0 < p_i."""
        nothing = self.is_zero(p)
        return self.sum(p * (self.log(p + nothing) - self.log(q + nothing)))

    def cross_entropy(self, p: Numbers, q: Numbers) -> Number:
        """Return -sum p_i log q_i, with 0 log 0 = 0; undefined if q_i = 0 < p_i."""
        return -self.sum(p * self.log(q + self.is_zero(p)))

    # integers

    def mod(self, a: Number, b: Number) -> Numbers:
        """Return a - b floor(a / b), the remainder of a modulo b."""
        a = self.exact(a) if isinstance(a, int) else a
        return a - b * self.floor(a / b)

    def gcd(self, a: Number, b: Number) -> Number:
        """Return the greatest common divisor of two integers."""
        return self._whole("gcd", a, b)

    def binomial(self, n: Number, k: Number) -> Number:
        """Return the binomial coefficient of integers n, k >= 0; 0 if k > n."""
        return self._whole("binomial", n, k)

    def factorial(self, n: Number) -> Number:
        """Return the factorial of an integer n >= 0."""
        return self._whole("factorial", n)

    # an index

    def sum_over(self, first: int, last: int, term: Callable[[int], Number]) -> Number:
        """Return term(first) + ... + term(last); 0 if last < first."""
        total = self.exact(0)
        for k in range(first, last + 1):
            total = total + term(k)
        return total

    def product_over(self, first: int, last: int, factor: Callable[[int], Number]) -> Number:
        """Return factor(first) * ... * factor(last); 1 if last < first."""
        total = self.exact(1)
        for k in range(first, last + 1):
            total = total * factor(k)
        return total

    def product(self, x: Numbers) -> Number:
        """Return the product of all entries."""
        return self.product_over(0, x.size - 1, lambda k: x.reshape(-1)[k])

    def iterate(self, step: Callable[[_T], _T], start: _T, steps: int) -> _T:
        """Return x_N for N steps of x_(k+1) = step(x_k) from x_0 = start, a number or an array."""
        ensure_natural(steps, "a number of steps")
        x = cast(_T, self.exact(start)) if isinstance(start, int) else start
        for _ in range(steps):
            x = step(x)
        return x
