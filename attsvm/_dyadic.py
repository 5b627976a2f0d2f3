"""Dyadic numbers and arrays: Hypothesis strategies that shrink to small integers, and batches.

Arrays are drawn as bytes and looked up in a table sorted by simplicity. An array therefore costs
one draw, shrinks to zeros and ones, and is exact in binary. Strategies that are used inside draws
are cached, as building one costs more than a draw.
"""

import functools
import math
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


_SMALL = np.array([0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0])
_FINE = np.arange(-128, 129) / 32
_FACTORS = np.array([s * f for f in (2, 3, 5, 0.5, 1.5, 0.25, 0.75) for s in (1.0, -1.0)])
_TRIPLES = np.array(
    [
        (*legs, c * shown)
        for a, b, c in ((3, 4, 5), (5, 12, 13), (8, 15, 17), (7, 24, 25), (20, 21, 29), (9, 40, 41))
        for legs in ((a, b), (b, a), (-a, b))
        for shown in (1, 0)
    ],
    dtype=float,
)
"""Sides of right triangles, or 0 in place of the hypotenuse, so that norms are rational."""


def filled(
    generator: np.random.Generator, shape: tuple[int, ...], batch: int, powers: tuple[int, ...]
) -> Array:
    """Return dyadic arrays (*shape, batch); every lane has one of several kinds.

    The kinds are:

    - small numbers, among them antisymmetric arrays;
    - any numbers of the grid;
    - two equal or opposite entries;
    - wide scales, in half of these lanes with more digits than the grid has;
    - a slice that is a multiple of another slice;
    - right triangles.
    """
    size = math.prod(shape)
    kind = generator.integers(0, 10, size=batch)
    drawn = generator.integers(0, len(_FINE), size=(size, batch), dtype=np.int16)
    coarse = np.flatnonzero(kind < 3)
    values = _FINE[drawn]
    values[:, coarse] = _SMALL[drawn[:, coarse] % len(_SMALL)]
    if size > 1:
        first, second = generator.integers(0, size, size=(2, batch))
        for number, sign in ((5, 1.0), (6, -1.0)):
            lanes = np.flatnonzero(kind == number)
            values[second[lanes], lanes] = sign * values[first[lanes], lanes]
        lanes = np.flatnonzero(kind == 2)
        values[:, lanes] = values[:, lanes] - values[::-1, lanes]  # antisymmetric
        _relate(values, np.flatnonzero(kind == 8), shape, generator)
        lanes, corners = np.flatnonzero(kind == 9), min(size, 3)
        several = size // corners
        chosen = generator.integers(0, len(_TRIPLES), size=(several, len(lanes)))
        triples = _TRIPLES[chosen].transpose(0, 2, 1)[:, :corners]
        values[: several * corners, lanes] = triples.reshape(several * corners, len(lanes))
    scale = np.array(powers, dtype=float)[generator.integers(0, len(powers), size=batch)]
    wide = np.flatnonzero(kind == 7)
    heavy = np.rint(generator.standard_cauchy(len(wide)) * 2.0).clip(-200, 200)
    scale[wide] += heavy
    # a factor 1 + k 2^-20 gives 20 more binary digits, which one number of the grid does not have
    long = wide[::2]
    values[:, long] *= 1.0 + generator.integers(0, 2**20, size=(size, len(long))) * 2.0**-20
    values *= np.exp2(scale)
    return values.reshape(*shape, batch)


def _relate(
    values: Array, lanes: Array, shape: tuple[int, ...], generator: np.random.Generator
) -> None:
    """Make one slice along an axis a multiple of another slice, in these lanes of (size, batch)."""
    axes = [axis for axis, length in enumerate(shape) if length > 1]
    axis = axes[int(generator.integers(len(axes)))]
    one, other = generator.permutation(shape[axis])[:2]
    places = np.moveaxis(np.arange(len(values)).reshape(shape), axis, 0).reshape(shape[axis], -1)
    factor = _FACTORS[generator.integers(0, len(_FACTORS), size=len(lanes))]
    values[np.ix_(places[one], lanes)] = factor * values[np.ix_(places[other], lanes)]
