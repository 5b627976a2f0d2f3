"""Evaluation of formulas, so that a check can limit steps and the digits of rationals.

The k-th power of a rational has k times its digits, so that a formula with long loops or large
powers could fill the memory. The length is bounded before the evaluation, by running the formula on
lengths in place of numbers. If it is too large, the formula runs on balls.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from types import SimpleNamespace
from typing import Any, Protocol, TypeVar

from flint import arb, fmpq

from attsvm.theory.arithmetic.balls import BALLS, ENCLOSURES
from attsvm.theory.arithmetic.entries import Entries, MixedError, Scalar, Values, entries
from attsvm.theory.arithmetic.magnitudes import (
    BIT_LENGTHS,
    LONGEST,
    SHORT,
    WORK,
    Digits,
    LongNumbers,
    counted_bits,
    digits_of,
    enclosed,
)
from attsvm.theory.arithmetic.namespace import Namespace
from attsvm.theory.arithmetic.traces import Untraceable

_LONG: dict[tuple[object, ...], bool] = {}
"""Cache of `_has_long_numbers`, by function, constants, shapes and the longest given rational."""

_REMEMBERED = 4096
"""Maximum number of entries of the cache."""


class LongRationals(Untraceable):
    """A formula has no fingerprints or exact forms, because its rationals would be too long."""


@contextlib.contextmanager
def may_be_untraceable(limits: set[str]) -> Iterator[None]:
    """Go on if a formula has no fingerprints; add to `limits` that its rationals are too long."""
    try:
        yield
    except LongRationals:
        limits.add(
            f"rationals were not tried, as one may have more than {LONGEST} bits, or all of more "
            f"than {SHORT} bits may have more than {WORK} together"
        )
    except Untraceable:
        pass


def shortened(
    function: Callable[..., object], m: Namespace, v: Values, constants: Mapping[str, object]
) -> tuple[Namespace, Values]:
    """Return the arithmetic and the values for an evaluation, with balls if rationals are too long.

    The constants of the formula are balls then too. Records stay unchanged, because a formula
    computes its numbers from them by itself.

    Raises:
        LongRationals: the numbers have fingerprints or forms, and the rationals would be too long.
        ClaimError: the formula mixes floats with its numbers, which balls would accept.
    """
    if m.name not in ("balls", "traces", "forms") or not isinstance(v, SimpleNamespace):
        return m, v
    values = vars(v)
    inputs = [x for y in values.values() for x in _numbers(y)]
    if m.name != "balls":
        inputs = [getattr(x, "ball", x) for x in inputs]
    rationals = [x for x in inputs if type(x) is fmpq]
    longest = digits_of(max(rationals, key=fmpq.height_bits)) if rationals else Digits(1.0)
    shapes = [(n, getattr(x, "shape", x if isinstance(x, int) else ())) for n, x in values.items()]
    key = (function, longest.size, repr(shapes), repr(constants))
    if key not in _LONG:
        if len(_LONG) >= _REMEMBERED:
            _LONG.clear()
        _LONG[key] = _has_long_numbers(function, v, constants, longest)
    if not _LONG[key]:
        return m, v
    if m.name != "balls":
        raise LongRationals
    balls = ENCLOSURES if m is BALLS else m
    return balls, _mapped(v, lambda x: arb(x) if isinstance(x, fmpq) else x)


def _has_long_numbers(
    function: Callable[..., object], v: Values, constants: Mapping[str, object], longest: Digits
) -> bool:
    """Return whether a formula on rationals up to this length may have too long rationals.

    That is so if one may be above `LONGEST`, or if all together may be too long (`counted_bits`).
    The lengths are upper bounds, so the answer may be True for a formula of short rationals. If the
    formula calls a function that has no bound, the answer is False unless the limit was met before.

    Raises:
        MixedError: the formula mixes floats with its numbers.
    """

    def length(x: object) -> object:
        if isinstance(x, arb):
            return enclosed()
        return longest if isinstance(x, fmpq | Scalar) else x

    values = {name: length(value) for name, value in constants.items()}
    try:
        with counted_bits():
            function(BIT_LENGTHS, _mapped(v, length), **values)
    except LongNumbers:
        return True
    except MixedError:
        raise
    except Exception:
        return False
    return False


def _numbers(value: Any) -> list[Any]:
    """Return the numbers of an array, or a value alone."""
    return value.ravel().tolist() if isinstance(value, Entries) else [value]


def _mapped(v: Values, change: Callable[[Any], object]) -> Values:
    """Return a namespace of values with changed numbers."""
    changed = {
        name: entries([change(x) for x in _numbers(value)], value.shape)
        if isinstance(value, Entries)
        else change(value)
        for name, value in vars(v).items()
    }
    return type(v)(**changed)


_R = TypeVar("_R")


class Meter(Protocol):
    """An evaluation of a function of (m, v) and named constants that may end it early."""

    def __call__(
        self,
        function: Callable[..., _R],
        m: Namespace,
        v: Values,
        constants: Mapping[str, object],
        /,
    ) -> _R:
        """Return the value of the function."""


METER: ContextVar[Meter | None] = ContextVar("METER", default=None)
"""The meter of the check that runs; None if evaluations are not bounded."""


class TooLong(BaseException):
    """The evaluation took too many steps; a `BaseException`, so that claims do not catch it."""


def evaluate(function: Callable[..., _R], m: Namespace, v: Values, **constants: object) -> _R:
    """Return the value of a hypothesis, definition or conclusion, through the meter if one is set.

    A formula whose rationals would be too long gets balls; see `shortened`.

    Raises:
        TooLong: the evaluation took more steps than the meter allows.
    """
    m, v = shortened(function, m, v, constants)
    meter = METER.get()
    return function(m, v, **constants) if meter is None else meter(function, m, v, constants)
