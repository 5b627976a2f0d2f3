"""Structured families: close instances made degenerate, opposed, nearly tied or badly scaled."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from attsvm._types import Json
from attsvm.theory.instance import codec
from attsvm.theory.instance.document import Path, parts, replaced
from attsvm.theory.search.relations import Domain, relate
from attsvm.theory.search.scout import Scout

Blocks = dict[Path, Any]
"""Float arrays of an encoded instance by their paths; a single number is an array of no axis."""

_TRIALS = 20
"""Trials for every instance of the budget, those included that change nothing."""


def blocks(document: Json, *, whole: bool = False) -> Blocks:
    """Copies of the arrays and numbers of an encoded instance, those that are finite throughout.

    They are those of floats; where `whole`, those of integers as floats.
    """
    wanted = {"int", "int64"} if whole else {"float", "float64"}
    found = {
        path: np.array(codec.decode(part, None), dtype=float)
        for path, part in parts(document)
        if part.keys() & wanted
    }
    most = 2.0**53 if whole else np.finfo(float).max
    return {p: array for p, array in found.items() if array.size and (np.abs(array) <= most).all()}


def with_blocks(document: Any, arrays: Blocks) -> Any:
    """A copy of the document that holds these arrays."""
    for path, array in arrays.items():
        part = functools.reduce(operator.getitem, path, document)
        value = array.astype(np.int64) if part.keys() & {"int", "int64"} else array
        number = part.keys() & {"float", "int"}
        document = replaced(document, path, codec.encode(value.item() if number else value))
    return document


def families(scout: Scout, generator: np.random.Generator) -> None:
    """Make one to three structured changes to known instances; what comes closer joins the pool.

    Changes that lead out of the claim's hypotheses are tried less and less, those that come closer
    more.
    """
    weights = np.where([move is _oppose for move in _MOVES], 3.0, 1.0)
    first = scout.pool.elites()
    for _ in range(_TRIALS * scout.budget if first else 0):
        # where nothing comes closer the pool fills with degenerate ones: half start as at first
        starts = first if generator.random() < 0.5 else scout.pool.elites()
        start = starts[int(generator.integers(len(starts)))]
        count = int(generator.choice([1, 2, 3], p=[0.45, 0.4, 0.15]))
        drawn = generator.choice(len(_MOVES), size=count, p=weights / weights.sum())
        chosen = sorted(drawn.tolist(), key=bool)  # refill first, then make degenerate
        trial = _moved(start.document, [_MOVES[k] for k in chosen], generator)
        if trial is None:
            continue
        reached = scout.look_at(trial, reshaped=True)
        for k in chosen:
            if reached is None:
                weights[k] = max(0.9 * weights[k], 0.2)
            elif reached > start.height:
                weights[k] = min(1.3 * weights[k], 5.0)


def varied(document: Json, generator: np.random.Generator) -> Any | None:
    """The document after a structured change or two; None where they change nothing."""
    count = int(generator.integers(1, 3))
    chosen = generator.integers(len(_MOVES), size=count)
    return _moved(document, [_MOVES[k] for k in chosen], generator)


Move = Callable[[Blocks, np.random.Generator], None]
"""Changes arrays in place; leaves them as they are where it does not apply."""


def _moved(document: Json, moves: list[Move], generator: np.random.Generator) -> Any | None:
    arrays = blocks(document)
    before = {path: array.copy() for path, array in arrays.items()}
    if not arrays:
        return None
    with np.errstate(over="ignore"):
        for move in moves:
            move(arrays, generator)
    changed = {p: a for p, a in arrays.items() if not np.array_equal(a, before[p])}
    if not changed or not all(np.isfinite(a).all() for a in changed.values()):
        return None
    return with_blocks(document, changed)


def _any(arrays: Blocks, generator: np.random.Generator) -> Any:
    """One of the arrays."""
    return arrays[sorted(arrays, key=str)[int(generator.integers(len(arrays)))]]


def _some(arrays: Blocks, generator: np.random.Generator) -> list[Any]:
    """One array or, less often, all of them."""
    every = generator.random() < 0.3
    return (
        [arrays[path] for path in sorted(arrays, key=str)] if every else [_any(arrays, generator)]
    )


def _slices(arrays: Blocks, generator: np.random.Generator) -> Any | None:
    """A view of one array whose first axis, of length 2 at least, is any of its axes."""
    axes = [
        np.moveaxis(arrays[path], axis, 0)
        for path in sorted(arrays, key=str)
        for axis, size in enumerate(arrays[path].shape)
        if size > 1
    ]
    return axes[int(generator.integers(len(axes)))] if axes else None


def _two(length: int, generator: np.random.Generator) -> tuple[int, int]:
    """Two different indices."""
    first, second = generator.permutation(length)[:2]
    return int(first), int(second)


def _sign(generator: np.random.Generator) -> float:
    return float(generator.choice([-1.0, 1.0]))


def _power(generator: np.random.Generator) -> float:
    """A power of two, as a rule up to 2^12 in size, at times up to 2^40."""
    limit = 12 if generator.random() < 0.75 else 40
    return math.ldexp(1.0, int(_sign(generator)) * int(generator.integers(1, limit + 1)))


def _refill(arrays: Blocks, generator: np.random.Generator) -> None:
    """One array or all of them get entries that have nothing in common, multiples of 1/8."""
    for array in _some(arrays, generator):
        if array.ndim:
            array[...] = generator.integers(-31, 32, size=array.shape) / 8.0


def _oppose(arrays: Blocks, generator: np.random.Generator) -> None:
    """One index of the leading axis that arrays of a record share becomes the mirror of another.

    All of them are copied; then in up to two the copy is negated, scaled or turned round, so that
    gradients of the two are opposed.
    """
    groups: dict[tuple[Path, int], list[Any]] = {}
    for path in sorted(arrays, key=str):
        shape = arrays[path].shape
        if shape and shape[0] > 1:
            groups.setdefault((path[:-1], shape[0]), []).append(arrays[path])
    if not groups:
        return
    (_, length), group = list(groups.items())[int(generator.integers(len(groups)))]
    i, j = _two(length, generator)
    for array in group:
        array[j] = array[i]
    for _ in range(int(generator.choice(3, p=[0.15, 0.6, 0.25]))):
        array = group[int(generator.integers(len(group)))]
        kind = generator.random()
        if array.ndim > 1 and kind < 0.4:
            array[j] = array[j][::-1].copy()
        else:
            array[j] = array[j] * (-1.0 if kind < 0.85 else 0.5)


def _tie(arrays: Blocks, generator: np.random.Generator) -> None:
    """Two slices or two entries of an array become equal."""
    view = _slices(arrays, generator)
    if view is not None:
        i, j = _two(len(view), generator)
        if view.ndim > 1 and generator.random() < 0.5:
            k = int(generator.integers(view.shape[1]))
            view[i, k] = view[j, k]
        else:
            view[i] = view[j]


def _tie_nearly(arrays: Blocks, generator: np.random.Generator) -> None:
    """Two slices of an array differ in one entry, by a power of two from 1/2 to 2^-40."""
    view = _slices(arrays, generator)
    if view is not None:
        i, j = _two(len(view), generator)
        view[i] = view[j]
        place = (i, *(int(generator.integers(size)) for size in view.shape[1:]))
        view[place] += _sign(generator) * 2.0 ** -float(generator.integers(1, 41))


def _depend(arrays: Blocks, generator: np.random.Generator) -> None:
    """A slice becomes a multiple of another, the sum of two others, or zero."""
    view = _slices(arrays, generator)
    if view is None:
        return
    order = generator.permutation(len(view))
    factor = float(generator.choice([0.0, -1.0, 2.0, -2.0, 0.5, 3.0]))
    view[order[0]] = factor * view[order[1]]
    if len(view) > 2 and generator.random() < 0.5:
        view[order[0]] = view[order[0]] + view[order[2]]


def _relate(arrays: Blocks, generator: np.random.Generator) -> None:
    """A few entries of one or more arrays meet an exact relation, such as a^2 + b^2 = c^2."""
    relate_one(arrays, dict.fromkeys(arrays, Domain()), generator)


def relate_one(
    arrays: Blocks, domains: Mapping[Path, Domain], generator: np.random.Generator
) -> None:
    """The arrays of one instance, some entries of which meet an exact relation, in place."""
    relate({path: array[..., None] for path, array in arrays.items()}, domains, generator)


def _scale(arrays: Blocks, generator: np.random.Generator) -> None:
    """One array or all of them times a power of two."""
    factor = _power(generator)
    for array in _some(arrays, generator):
        array *= factor


def _dominate(arrays: Blocks, generator: np.random.Generator) -> None:
    """One entry becomes a power of two times the size of its array."""
    array = _any(arrays, generator)
    place = tuple(int(generator.integers(size)) for size in array.shape)
    size = max(1.0, float(np.abs(array).max()))
    array[place] = _sign(generator) * size * 2.0 ** float(generator.integers(1, 13))


def _negate(arrays: Blocks, generator: np.random.Generator) -> None:
    """An array or a slice of it changes its sign."""
    view = _slices(arrays, generator)
    if view is None or generator.random() < 0.5:
        array = _any(arrays, generator)
        array *= -1.0
    else:
        view[int(generator.integers(len(view)))] *= -1.0


def _exchange(arrays: Blocks, generator: np.random.Generator) -> None:
    """Two slices of one array change places while all else stays."""
    view = _slices(arrays, generator)
    if view is not None:
        i, j = _two(len(view), generator)
        view[[i, j]] = view[[j, i]]


def _turn(arrays: Blocks, generator: np.random.Generator) -> None:
    """The slices of one array change places and signs, or the square arrays are transposed."""
    view = _slices(arrays, generator)
    if view is None:
        return
    if view.ndim > 1 and view.shape[0] == view.shape[1] and generator.random() < 0.5:
        view[...] = np.swapaxes(view, 0, 1).copy()
        return
    signs = generator.choice([-1.0, 1.0], size=(len(view),) + (1,) * (view.ndim - 1))
    view[...] = signs * view[generator.permutation(len(view))]


def _clear(arrays: Blocks, generator: np.random.Generator) -> None:
    """An array or a number becomes zero."""
    _any(arrays, generator)[...] = 0.0


_MOVES: tuple[Move, ...] = (
    _refill,
    _oppose,
    _tie,
    _tie_nearly,
    _depend,
    _relate,
    _scale,
    _dominate,
    _negate,
    _exchange,
    _turn,
    _clear,
)
