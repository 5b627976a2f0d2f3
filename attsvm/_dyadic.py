"""Hypothesis strategies for dyadic numbers and arrays that shrink to small integers.

Arrays are drawn as bytes and looked up in a table sorted by simplicity. An array therefore costs
one draw, shrinks to zeros and ones, and is exact in binary. Strategies that are used inside draws
are cached, as building one costs more than a draw.
"""

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from hypothesis import strategies as st

from attsvm._types import Array

_P = ParamSpec("_P")
_T = TypeVar("_T")


def composite(
    function: Callable[Concatenate[st.DrawFn, _P], _T],
) -> Callable[_P, st.SearchStrategy[_T]]:
    """Return a strategy like `st.composite(function)`, made ten times faster.

    `st.composite` parses the source of a function to check that it draws. It does not parse a
    partial function, so `function` is wrapped in one.
    """
    partial: Any = functools.partial(function)
    for name in ("__name__", "__doc__", "__module__"):
        setattr(partial, name, getattr(function, name))
    return st.composite(partial)


def _grid() -> Any:
    """Return 256 dyadic values of absolute value up to 4, simple ones first and more often."""
    entries: list[float] = [0.0] * 28
    for size, weight in ((1.0, 20), (2.0, 12), (3.0, 6), (0.5, 8), (1.5, 5), (2.5, 3), (4.0, 2)):
        entries += [size] * weight + [-size] * weight
    for denominator in (4, 8):
        for k in range(1, 4 * denominator, 2):
            entries += [k / denominator, -k / denominator]
    fill = [s * k / 32 for k in range(1, 128, 2) for s in (1, -1)]
    return np.array((entries + fill)[:256])


GRID = _grid()
"""The number that each byte stands for."""


@functools.cache
def arrays(*shape: int) -> st.SearchStrategy[Array]:
    """Return a strategy of arrays of that shape whose entries are grid numbers."""
    size = int(np.prod(shape))
    return st.binary(min_size=size, max_size=size).map(
        lambda raw: GRID[np.frombuffer(raw, dtype=np.uint8)].reshape(shape)
    )


@functools.cache
def numbers() -> st.SearchStrategy[float]:
    """Return a strategy of grid numbers."""
    return arrays(1).map(lambda a: float(a[0]))


@functools.cache
def scaled(*powers: int) -> st.SearchStrategy[float]:
    """Return a strategy of grid numbers times 2 to one of the powers, the simplest power first."""
    return st.tuples(numbers(), one_of(*powers)).map(lambda p: p[0] * 2.0 ** p[1])


@functools.lru_cache(maxsize=None, typed=True)
def one_of(*options: Any) -> st.SearchStrategy[Any]:
    """Return a strategy of some hashable options, the simplest first."""
    return st.sampled_from(options)


@functools.cache
def sizes(low: int, high: int) -> st.SearchStrategy[int]:
    """Return a strategy of the integers from `low` to `high`, both included."""
    return st.integers(low, high)
