"""Coincidences: batches in which every instance has something that chance does not bring.

Numbers meet exact relations, an array is a combination of others or a matrix of a special form,
entries take the constants that the formula names. Such a batch is evaluated once and not moved: a
claim that fails at a coincidence alone looks alike everywhere else, and nothing leads there.
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
"""Number of relations that a batch meets, each in as many lanes as the others."""

_MULTIPLES = np.array([1.0, 1.0, 1.0, -1.0, -1.0, 2.0, 3.0, 0.5, -2.0])
_MORE = np.array([0.0, 0.0, 0.0, 1.0, -1.0, 2.0])
"""Factors of an array, and numbers that are added to it or to its diagonal."""

_WHOLE, _SCALES = 4, 2.0 ** np.arange(-4, 2)
"""Special matrices are made of integers up to this size, times a power of two."""


def coincide(
    arrays: Mapping[str, Array],
    domains: Mapping[str, Domain],
    named: Array,
    generator: np.random.Generator,
) -> None:
    """Bring a coincidence to the lanes of a batch, arrays (..., lanes) by name, in place.

    Args:
        arrays: the batch.
        domains: of the arrays that may be changed, what may stand there.
        named: constants that the formula names.
        generator: source of all randomness.
    """
    relate(arrays, domains, generator, share=1, plans=_RELATIONS)
    batch = max((array.shape[-1] for array in arrays.values()), default=0)
    kinds: list[Callable[..., None]] = [_combine, _make_special]
    kinds += [_take_named] if len(named) else []
    for number, change in enumerate(kinds):  # a quarter of the lanes each, by eight choices
        start = 1 + number
        for lanes in np.array_split(np.arange(start, batch, 4), 8):
            if len(lanes):
                change(arrays, domains, lanes, named, generator)


def _put(arrays: Mapping[str, Array], domain: Domain, name: str, lanes: Array, new: Array) -> None:
    """Put values (..., lanes) into some lanes of an array, where the domain has all of them."""
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
    """Make a square matrix one of a special form, times a power of two."""
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
    """Return a matrix of rank one whose square is 0."""
    return _outer(u, (u * u).sum(axis=0) * w - (u * w).sum(axis=0) * u)


def projection(u: Array, w: Array) -> Array:
    """Return a multiple of a projection onto a line."""
    return _outer(u, w)


def shifted(u: Array, w: Array) -> Array:
    """Return a circulant matrix, whose rows are one vector shifted."""
    return np.array([np.roll(u, k, axis=0) for k in range(len(u))])


def symmetric(u: Array, w: Array) -> Array:
    """Return a symmetric matrix of rank two."""
    return _outer(u, u) + _outer(w, w)


def skew(u: Array, w: Array) -> Array:
    """Return an antisymmetric matrix."""
    return _outer(u, w) - _outer(w, u)


def multiple_of_identity(u: Array, w: Array) -> Array:
    """Return a multiple of the identity plus a matrix of rank one."""
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
"""Square matrices (n, n, lanes) of two vectors (n, lanes), of integers where these are."""


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
    """Floats that note the constants which a formula takes."""

    def __init__(self) -> None:
        self.noted: dict[float, None] = {}

    def _rational(self, value: Fraction) -> Lane:
        self.noted[float(value)] = None
        return super()._rational(value)


def named_constants(
    formula: Formula, raw: Raw, shape: Mapping[str, int], parameters: Mapping[str, object]
) -> Array:
    """Return the constants that a formula names by `m.exact`, and those of its reading.

    Without 0 and small integers, which instances have anyhow.
    """
    noting = _Noting()
    few = {n: v[..., :2] if isinstance(v, np.ndarray) else v for n, v in raw.items()}
    batches.fit_screened(formula, few, shape, 2, parameters, noting)
    found = [abs(x) for x in noting.noted if abs(x) not in (0.0, 1.0, 2.0, 3.0)]
    return np.array([*dict.fromkeys(itertools.islice(found, 32))])
