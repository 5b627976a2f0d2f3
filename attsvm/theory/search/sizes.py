"""The size searcher: lengths and counts beyond the drawn ones, in batches and in records.

It finds claims that fail only for many tokens, inputs, dimensions or steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from attsvm.theory.declaration import batches
from attsvm.theory.search.screening import (
    BATCH,
    JUDGED,
    breed,
    glimpse,
    grows,
    length_of_each,
    operations,
)
from attsvm.theory.search.suspects import Suspects

if TYPE_CHECKING:
    from attsvm.theory.declaration.formula import Formula
    from attsvm.theory.search.scout import Scout

_RUNGS, _CLIMB = 12, 6
"""Maximum number of doublings of a size, and generations of each."""

_NUMBERS, _FEWER, _FEWEST = 2**18, 2**16, 2**14
"""Maximum number of numbers in a batch of large instances: in a check, in a turn of a hunt, and in
the first turn of a hunt."""

_CHEAP, _DEAR, _DEARER = 2**9, 2**14, 2**16
"""The first number is the maximum count of numbers in an instance of a check. For larger instances,
the others are the maximum numbers of numpy operations of an evaluation, in the first turn of a hunt
and in later ones. Operations are counted, not timed, so that the instances do not depend on the
machine."""

_LEAP, _LEAPING, _LIGHT, _EVEN = 2**12, 64, 16, 1.25
"""Maximum count of numbers in the large instances at the end of a check. Number of such instances.
Maximum number of numpy operations per number, and maximum growth of that figure when the size
doubles."""


def sizes(scout: Scout, generator: np.random.Generator) -> None:
    """Screen instances whose lengths or counts exceed the drawn ones.

    A turn takes one length or count, or all together, to twice the drawn one, then four times, and
    so on. It stops at the maximum count of numbers, or if one evaluation takes too
    many operations. A formula over all pairs or triples of tokens grows faster than its instances.
    A check has a small maximum, and then adds a few instances with thousands of numbers, if the
    formula is cheap. Records are lengthened one by one.
    """
    formula = scout.tally.part.formula
    if not formula.batches:
        from attsvm.theory.search.record_moves import lengthen

        lengthen(scout, generator)
        return
    free = list(grows(formula))
    chosen = [free, *([name] for name in free)][int(generator.integers(1 + len(free)))]
    most = _NUMBERS if scout.once else _FEWER if scout.wide else _FEWEST
    dear = _DEARER if scout.wide else _DEAR
    for rung in range(1, _RUNGS):
        shape = length_of_each(formula, generator)
        shape |= {name: _beyond(formula, name, rung, generator) for name in chosen if name in shape}
        small = batches.filled(formula, generator, shape, 8)
        numbers = sum(value.size // 8 for value in small.values() if isinstance(value, np.ndarray))
        if numbers > scout.numbers:
            if scout.once:
                _leap(scout, formula, chosen, generator.spawn(1)[0])
            return
        batch = 8 * max(min(most // (8 * max(numbers, 1)), BATCH // 8), 1)
        raw = batches.filled(formula, generator, shape, batch)
        raw |= {name: _beyond(formula, name, rung, generator) for name in chosen if name in raw}
        if numbers > _CHEAP and operations(scout, formula, raw, shape, dear) > dear:
            return
        breed(scout, formula, raw, shape, generator, batch=batch, generations=_CLIMB)


def _leap(
    scout: Scout, formula: Formula, chosen: Sequence[str], generator: np.random.Generator
) -> None:
    """Evaluate a few instances of the largest size, if the formula is cheap at that size.

    In half of them an array has few different numbers: claims that fail only at large sizes usually
    fail with many equal numbers. The judge sees suspected violations.
    """
    lengths = length_of_each(formula, generator)
    named = [name for name in chosen if name in lengths]
    arrays = [variable for variable in formula.variables.values() if variable.axes]
    work: list[float] = []
    top: dict[str, int] | None = None
    for rung in range(_RUNGS + 1) if named else ():
        shape = lengths | {n: formula.variables[n].drawn_to << rung for n in named}  # type: ignore[attr-defined]
        numbers = sum(math.prod(shape[axis] for axis in v.axes) for v in arrays)
        if numbers > _LEAP:
            break
        if rung > 1:
            top = lengths | {n: _beyond(formula, n, rung, generator) for n in named}
            continue
        few, most = batches.filled(formula, generator, shape, 2), _LIGHT * numbers
        work.append(operations(scout, formula, few, shape, most) / numbers)
        if work[-1] > _LIGHT or work[-1] > _EVEN * work[0]:
            return
    if top is None:
        return
    raw = batches.filled(formula, generator, top, _LEAPING)
    for name, value in raw.items():
        variable = formula.variables[name]
        if isinstance(value, np.ndarray) and variable.axes and not variable.listed:
            flat = value.reshape(-1, _LEAPING)
            for lane in range(0, _LEAPING, 2):
                flat[:, lane] = flat[np.arange(len(flat)) % (1 + lane % 3), lane]
    glimpse(Suspects(scout, formula, JUDGED), raw, top, _LEAPING)


def _beyond(formula: Formula, name: str, rung: int, generator: np.random.Generator) -> int:
    """Return a value up to 2^rung times the largest that is drawn, and above half of that."""
    high: int = formula.variables[name].drawn_to  # type: ignore[attr-defined]
    return int(generator.integers((high << rung) // 2 + 1, (high << rung) + 1))
