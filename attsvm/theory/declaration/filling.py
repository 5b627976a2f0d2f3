"""Random arrays of dyadic numbers for a batch, among them ties, zeros and right triangles."""

import math

import numpy as np

from attsvm._types import Array

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
