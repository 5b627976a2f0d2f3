"""Batches of instances with special structure that random draws never have.

Numbers satisfy exact relations, an array is a combination of others or a special matrix, or entries
equal constants of the formula. Such a batch is evaluated once and not moved: if a claim fails only
on special structure, nearby instances show no sign of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from attsvm._types import Array
from attsvm.theory.arithmetic import Lane
from attsvm.theory.arithmetic.lanes import Floats
from attsvm.theory.declaration import batches
from attsvm.theory.declaration.variables import Raw
from attsvm.theory.search.relations import Domain, relate

if TYPE_CHECKING:
    from attsvm.theory.declaration.formula import Formula

_RELATIONS = 16
"""Number of relations in a batch, each in the same number of rows."""

_MULTIPLES = np.array([1.0, 1.0, 1.0, -1.0, -1.0, 2.0, 3.0, 0.5, -2.0])
_MORE = np.array([0.0, 0.0, 0.0, 1.0, -1.0, 2.0])
"""Factors of an array, and numbers that are added to it or to its diagonal."""

_WHOLE, _SCALES = 4, 2.0 ** np.arange(-4, 2)
"""Maximum absolute value of the integers in special matrices, and the scale factors applied to
them."""


def coincide(
    arrays: Mapping[str, Array],
    domains: Mapping[str, Domain],
    named: Array,
    generator: np.random.Generator,
) -> None:
    """Change the rows of a batch, arrays (..., lanes) by name, in place so that each is special.

    Args:
        arrays: the batch.
        domains: for each array that may change, its allowed values.
        named: constants that occur in the formula.
        generator: source of all randomness.
    """
    relate(arrays, domains, generator, share=1, plans=_RELATIONS)
    batch = max((array.shape[-1] for array in arrays.values()), default=0)
    kinds: list[Callable[..., None]] = [_combine, _make_special]
    kinds += [_take_named] if len(named) else []
    # each change gets a quarter of the rows, in eight groups
    for number, change in enumerate(kinds):
        start = 1 + number
        for lanes in np.array_split(np.arange(start, batch, 4), 8):
            if len(lanes):
                change(arrays, domains, lanes, named, generator)


def _put(arrays: Mapping[str, Array], domain: Domain, name: str, lanes: Array, new: Array) -> None:
    """Write values (..., lanes) into rows of an array, except rows with a value off the domain."""
    array = arrays[name]
    inside = np.isfinite(new) & domain.has(new)
    inside = inside.reshape(-1, len(lanes)).all(axis=0)
    array[..., lanes[inside]] = new[..., inside]


def _combine(
    arrays: Mapping[str, Array],
    domains: Mapping[str, Domain],
    lanes: Array,
    named: Array,
    generator: np.random.Generator,
) -> None:
    """Make an array a multiple of another, plus a multiple of a third, of 1 or of the identity."""
    alike: dict[tuple[int, ...], list[str]] = {}
    for name in domains:
        alike.setdefault(arrays[name].shape[:-1], []).append(name)
    several = [names for names in alike.values() if len(names) > 1]
    if not several:
        return
    names = several[int(generator.integers(len(several)))]
    target, other, *rest = (names[k] for k in generator.permutation(len(names)))
    factor = _MULTIPLES[generator.integers(0, len(_MULTIPLES), size=len(lanes))]
    new = factor * arrays[other][..., lanes]
    more = _MORE[generator.integers(0, len(_MORE), size=len(lanes))]
    if rest and generator.random() < 0.5:
        new = new + more * arrays[rest[0]][..., lanes]
    elif new.ndim == 3 and new.shape[0] == new.shape[1]:
        new = new + more * np.eye(len(new))[..., None]
    elif generator.random() < 0.5:
        new = new + more
    _put(arrays, domains[target], target, lanes, new)


def _make_special(
    arrays: Mapping[str, Array],
    domains: Mapping[str, Domain],
    lanes: Array,
    named: Array,
    generator: np.random.Generator,
) -> None:
    """Replace a square matrix by one with special structure, times a power of two."""
    square = [n for n in domains if arrays[n].ndim == 3 and len(arrays[n]) == arrays[n].shape[1]]
    square = [name for name in square if len(arrays[name]) > 1]
    if not square:
        return
    name = square[int(generator.integers(len(square)))]
    make = SPECIAL[int(generator.integers(len(SPECIAL)))]
    size = len(arrays[name])
    u, w = generator.integers(-_WHOLE, _WHOLE + 1, size=(2, size, len(lanes))).astype(float)
    scale = _SCALES[generator.integers(0, len(_SCALES), size=len(lanes))]
    _put(arrays, domains[name], name, lanes, scale * make(u, w))


def _outer(u: Array, w: Array) -> Array:
    return u[:, None] * w[None]


def _diagonal(u: Array) -> Array:
    return np.eye(len(u))[..., None] * u


def reflection(u: Array, w: Array) -> Array:
    """Return a multiple of the reflection at the plane orthogonal to u: its rows are orthogonal."""
    return _diagonal(np.broadcast_to((u * u).sum(axis=0), u.shape)) - 2.0 * _outer(u, u)


def nilpotent(u: Array, w: Array) -> Array:
    """Return a rank-one matrix whose square is 0."""
    return _outer(u, (u * u).sum(axis=0) * w - (u * w).sum(axis=0) * u)


def projection(u: Array, w: Array) -> Array:
    """Return a multiple of a projection onto a line."""
    return _outer(u, w)


def shifted(u: Array, w: Array) -> Array:
    """Return a circulant matrix: its rows are cyclic shifts of one vector."""
    return np.array([np.roll(u, k, axis=0) for k in range(len(u))])


def symmetric(u: Array, w: Array) -> Array:
    """Return a symmetric matrix of rank two."""
    return _outer(u, u) + _outer(w, w)


def skew(u: Array, w: Array) -> Array:
    """Return an antisymmetric matrix."""
    return _outer(u, w) - _outer(w, u)


def multiple_of_identity(u: Array, w: Array) -> Array:
    """Return a multiple of the identity plus a rank-one matrix."""
    return _diagonal(np.broadcast_to(w[0], u.shape)) + _outer(u, w)


SPECIAL: tuple[Callable[[Array, Array], Array], ...] = (
    reflection,
    nilpotent,
    projection,
    shifted,
    symmetric,
    skew,
    multiple_of_identity,
)
"""Constructors of square matrices (n, n, lanes) from two vectors (n, lanes); integer vectors give
integer matrices."""


def _take_named(
    arrays: Mapping[str, Array],
    domains: Mapping[str, Domain],
    lanes: Array,
    named: Array,
    generator: np.random.Generator,
) -> None:
    """Set an entry, or a whole array, to a constant of the formula, its negative or inverse."""
    names = [name for name in domains if arrays[name].size]
    if not names:
        return
    name = names[int(generator.integers(len(names)))]
    array = arrays[name]
    value = named[generator.integers(0, len(named), size=len(lanes))]
    value = value * generator.choice([1.0, 1.0, -1.0], size=len(lanes))
    if domains[name].whole:
        value = np.rint(value) + generator.integers(-1, 2, size=len(lanes))
    elif generator.random() < 0.25:
        value = 1.0 / value
    new = array[..., lanes]
    flat = new.reshape(-1, len(lanes))
    if generator.random() < 0.5:
        flat[:] = value
    else:
        flat[generator.integers(0, len(flat), size=len(lanes)), np.arange(len(lanes))] = value
    _put(arrays, domains[name], name, lanes, flat.reshape(new.shape))


class _Noting(Floats):
    """A float arithmetic that records the constants of a formula."""

    def __init__(self) -> None:
        self.noted: dict[float, None] = {}

    def _rational(self, value: Fraction) -> Lane:
        self.noted[float(value)] = None
        return super()._rational(value)


def named_constants(
    formula: Formula, raw: Raw, shape: Mapping[str, int], parameters: Mapping[str, object]
) -> Array:
    """Return the constants that a formula names by `m.exact`, and the constants of its reading.

    0 and small integers are left out: instances contain them anyway.
    """
    noting = _Noting()
    few = {n: v[..., :2] if isinstance(v, np.ndarray) else v for n, v in raw.items()}
    batches.fit_screened(formula, few, shape, 2, parameters, noting)
    results = [abs(x) for x in noting.noted if abs(x) not in (0.0, 1.0, 2.0, 3.0)]
    return np.array([*dict.fromkeys(itertools.islice(results, 32))])
