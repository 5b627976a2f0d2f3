"""Evaluation of formulas through a hook, so that a check can limit the number of their steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Protocol, TypeVar

from attsvm.theory.arithmetic.namespace import Namespace
from attsvm.theory.arithmetic.quantities import Values
from attsvm.theory.declaration.long_numbers import shortened

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
"""The meter of the check at hand; None if evaluations are not bounded."""


class TooLong(BaseException):
    """The evaluation took too many steps; a `BaseException`, so that claims do not catch it."""


def evaluate(function: Callable[..., _R], m: Namespace, v: Values, **constants: object) -> _R:
    """Return the value of a hypothesis, definition or conclusion, through the meter if one is set.

    A formula whose rationals would be too long gets balls; see `shortened`.

    Raises:
        TooLong: the evaluation took more steps than the meter allows.
    """
    v = shortened(function, m, v, constants)
    meter = METER.get()
    return function(m, v, **constants) if meter is None else meter(function, m, v, constants)
