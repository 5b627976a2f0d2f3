"""Functions of integers, computed exactly in Python for floats and balls."""

import math

LONGEST = 2**20
"""Maximum number of bits of a value that is computed exactly."""

_KNOWN = 2**53
"""The logarithm of the factorial of an integer below this is computed in floats."""


class TooLarge(Exception):
    """The value of a function of integers has too many bits."""


def whole(name: str, *numbers: int, longest: int = LONGEST) -> int | None:
    """Return gcd, binomial or factorial of integers; None for a negative argument of the last two.

    Raises:
        TooLarge: the value has more than `longest` bits.
    """
    if name == "gcd":
        return math.gcd(*numbers)
    if min(numbers) < 0:
        return None
    n = numbers[0]
    if name == "factorial":
        _ensure_short(_of_factorial(n), longest)
        return math.factorial(n)
    k = min(numbers[1], n - numbers[1])
    if k < 1:
        return int(k == 0)
    if n < _KNOWN:
        _ensure_short(_of_factorial(n) - _of_factorial(k) - _of_factorial(n - k), longest)
    else:  # the coefficient is at least (n/k)^k
        _ensure_short(k * (math.log(n) - math.log(k)), longest)
    return math.comb(n, k)


def _of_factorial(n: int) -> float:
    """Return the logarithm of a factorial; infinite for integers from `_KNOWN` on."""
    return math.lgamma(n + 1.0) if n < _KNOWN else math.inf


def _ensure_short(logarithm: float, longest: int) -> None:
    if logarithm > longest * math.log(2) + 1:
        raise TooLarge
