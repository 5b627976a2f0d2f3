"""Moves of a batch: the next generation consists of the closest instances, moved, and new ones.

Instances move by differences of two others (differential evolution), by powers of two in one entry,
as a whole, or by exchanging entries with another instance (crossover).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from attsvm._types import Array
from attsvm.theory.arithmetic.heights import TOUCHED
from attsvm.theory.declaration import batches
from attsvm.theory.declaration.variables import Choice, Fitted, Integer, Known, Raw
from attsvm.theory.search.relations import Domain, relate

if TYPE_CHECKING:
    from attsvm.theory.declaration.formula import Formula

_KEPT, _SHARE_KEPT = 256, 16
"""Number of closest rows that start the next generation. For a large batch it is the batch size
divided by the second number."""

_UNIT = 6.0
"""Numbers between 2^-6 and 2^6 are of usual size (exponent of 2)."""

_ODD = 0x1E3779B97F4A7C15
"""A factor that spreads the bits of a number, modulo 2^64."""


def relate_batch(formula: Formula, raw: Raw, generator: np.random.Generator) -> None:
    """Change some instances of a batch in place, so that their numbers meet exact relations."""
    relate(raw, domains_of(formula, raw), generator)


def domains_of(formula: Formula, raw: Raw) -> dict[str, Domain]:
    """Return the domains of the arrays of a batch that may be changed freely."""
    domains = {}
    for name, value in raw.items():
        variable = formula.variables[name]
        fixed = isinstance(variable, Fitted | Choice) or variable.listed
        if isinstance(value, np.ndarray) and not fixed:
            domains[name] = Domain(isinstance(variable, Integer), *variable.ends)
    return domains


def excess_of(raw: Known) -> Array:
    """Return the number of powers of two by which each instance exceeds usual sizes.

    Shape (batch,). This is the largest excess over its nonzero numbers.
    """
    excess: Array | float = 0.0
    for value in raw.values():
        if isinstance(value, np.ndarray) and value.size:
            sizes = np.abs(value.reshape(-1, value.shape[-1]))
            sizes[sizes == 0.0] = 1.0
            with np.errstate(all="ignore"):
                above, below = np.log2(sizes.max(axis=0)), -np.log2(sizes.min(axis=0))
            excess = np.maximum(excess, np.maximum(above, below) - _UNIT)
    return np.asarray(excess)


def closest(height: Array) -> Array:
    """Return the indices of the instances that survive, the closest first.

    Instances that violate a hypothesis are left out. So are instances with equal sides (`TOUCHED`),
    because they need not be close to a violation.
    """
    height = np.where(height == TOUCHED, -np.inf, height)
    kept = min(max(_KEPT, len(height) // _SHARE_KEPT), len(height) // 2)
    top = np.argpartition(-height, kept)[:kept]
    top = top[np.lexsort((top, -height[top]))]
    return np.asarray(top[height[top] > -np.inf])


def fresh_instances(
    formula: Formula,
    raw: Raw,
    generator: np.random.Generator,
    shape: dict[str, int],
    batch: int,
) -> Iterator[Raw]:
    """Yield new instances, an eighth of a batch at a time; filling a whole batch costs little more.

    Integers get one value for each instance if they have that in the batch `raw`.
    """
    while True:
        filled = batches.filled(formula, generator, shape, batch)
        for name, variable in formula.variables.items():
            if isinstance(variable, Integer) and isinstance(raw.get(name), np.ndarray):
                filled[name] = variable.spread(generator, batch)
        relate_batch(formula, filled, generator)
        for start in range(0, batch - batch // 8 + 1, batch // 8):
            yield {
                name: value[..., start : start + batch // 8]
                if isinstance(value, np.ndarray)
                else value
                for name, value in filled.items()
            }


def renewed(
    formula: Formula,
    raw: Raw,
    parents: Array,
    fresh: Raw,
    generator: np.random.Generator,
) -> Raw:
    """Return the next batch: the parents, their children, and an eighth of new instances."""
    batch = max(len(value.T) for value in raw.values() if isinstance(value, np.ndarray))
    # Row 0 has the parent of each child, rows 1 and 2 two others for differences and crossover. The
    # first lanes keep the parents themselves, so that the closest instances are never lost.
    family = generator.integers(0, len(parents), (3, batch))
    family[0, : len(parents)] = np.arange(len(parents))
    children: Raw = {}
    for name, value in raw.items():
        variable = formula.variables[name]
        if not isinstance(value, np.ndarray):
            children[name] = value  # one for the whole batch
            continue
        new, own = fresh[name].reshape(-1, batch // 8), _lanes_of(value.reshape(-1, batch), parents)
        if isinstance(variable, Fitted) or variable.listed:
            child = _lanes_of(own, family[0])
            some = np.flatnonzero(generator.random(batch) < 0.2)
            child[:, some] = new[:, generator.integers(0, batch // 8, len(some))]
        else:
            with np.errstate(all="ignore"):
                child = _children(own, family, generator)
        if isinstance(variable, Integer):
            child = variable.inside(child + generator.integers(-1, 2, size=child.shape))
        child[:, -new.shape[1] :] = new
        if not np.isfinite(child).all():
            entry, lanes = np.nonzero(~np.isfinite(child))
            child[entry, lanes] = own[entry, family[0, lanes]]
        child[:, : len(parents)] = own
        children[name] = child.reshape(value.shape)
    return children


def _children(own: Array, family: Array, generator: np.random.Generator) -> Array:
    """Return moved copies, shape (size, batch), of the parents (size, parents) chosen by a family.

    Eighths of the batch are moved in different ways:

    - two by differences of other parents;
    - three in one entry;
    - one as a whole;
    - one by crossover;
    - one stays.
    """
    size, batch = len(own), family.shape[1]
    eighth = batch // 8
    child = _lanes_of(own, family[0])
    moved = child[:, : 2 * eighth]
    step = _lanes_of(own, family[1, : 2 * eighth])
    step -= _lanes_of(own, family[2, : 2 * eighth])
    step *= generator.integers(1, 5, size=2 * eighth) / 4
    moved += step
    single = child[:, 2 * eighth : 5 * eighth]
    largest = np.abs(single).max(axis=0)
    largest[largest == 0.0] = 1.0
    largest *= _SINGLE[generator.integers(0, len(_SINGLE), size=3 * eighth)]
    entry = generator.integers(0, size, size=3 * eighth)
    child.reshape(-1)[entry * batch + np.arange(2 * eighth, 5 * eighth)] += largest
    whole = child[:, 5 * eighth : 6 * eighth]
    whole *= _WHOLE[generator.integers(0, len(_WHOLE), size=eighth)]
    crossed = child[:, 6 * eighth : 7 * eighth]
    chosen = generator.integers(0, 2, size=crossed.shape, dtype=bool)
    np.copyto(crossed, _lanes_of(own, family[1, 6 * eighth : 7 * eighth]), where=chosen)
    return child


_SINGLE = np.concatenate([np.zeros(16), *(s * 2.0 ** -np.arange(24) for s in (1.0, -1.0))])
"""Moves of an entry, in units of the largest entry; a quarter of them are 0."""

_WHOLE = np.concatenate([np.full(3, -1.0), 2.0 ** np.arange(-3, 4)])
"""Factors of a whole array."""


def _lanes_of(flat: Array, lanes: Array) -> Array:
    """Return some lanes of an array (size, batch); valid indices make `clip` a fast no-op."""
    return flat.take(lanes, axis=1, mode="clip")


def count_new(raw: Known, known: int, height: Array) -> int:
    """Return the number of different new instances of a batch, apart from the first `known` rows.

    If there are few numbers, moves may return to an earlier instance. Instances with different
    heights are different; those with equal heights are compared by hashes of their numbers.
    """
    batch = len(height)
    if _different((height + 0.0).view(np.int64)) == batch:
        return batch - known
    hashed = np.zeros(batch, dtype=np.int64)
    for value in raw.values():
        for row in value.reshape(-1, batch) if isinstance(value, np.ndarray) else ():
            bits = (row + 0.0).view(np.int64) * _ODD
            bits ^= bits >> 32
            hashed += bits
            hashed *= _ODD
    return _different(hashed) - _different(hashed[:known])


def _different(numbers: Array) -> int:
    """Return the number of different integers; sorting is faster than `numpy.unique`."""
    ordered = np.sort(numbers)
    return min(len(ordered), 1) + int(np.count_nonzero(ordered[1:] != ordered[:-1]))
