"""Screening: a searcher that evaluates batches of thousands of instances in floats.

It finds wrong constants, and violations at large values, in small regions, and at exact relations
between numbers. It needs variables that are drawn separately, and no known instances. Each round
fills a batch of one shape, keeps the closest instances and moves them. Floats only propose: the
judge decides every candidate from its exact values. numpy operations are counted, not timed, so
that a search examines the same instances on every machine.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from attsvm.errors import ClaimError
from attsvm.theory.declaration import batches
from attsvm.theory.declaration.variables import Integer, Known, Raw
from attsvm.theory.search.batch_moves import (
    closest,
    count_new,
    domains_of,
    excess_of,
    fresh_instances,
    relate_batch,
    renewed,
)
from attsvm.theory.search.coincidences import coincide, named_constants
from attsvm.theory.search.suspects import PROMISING, Suspects, fetched

if TYPE_CHECKING:
    from attsvm.theory.declaration.formula import Formula
    from attsvm.theory.search.scout import Scout


BATCH = 4096
"""Number of instances that are screened at once."""

_WIDE, _LIGHT = 4, 2**10
"""Factor of the batch size for a scout with `wide`, and maximum number of numpy operations of an
evaluation for which it is used."""

GENERATIONS = 20
"""Number of generations of a batch."""

JUDGED = 2
"""Maximum number of instances per generation sent to the judge because they come closest."""

_LOOKS = 5
"""Number of generations between looks at the closest instances, even if floats accept them, so that
other searchers can start from them. A check has one look, after the last generation."""

_SOUGHT = 60
"""Maximum number of generations, once per turn, that move a batch towards the hypotheses if no
instance meets them."""

_COINCIDENT, _BELIEVED = 6, 4
"""Number of batches of coincidences, each evaluated once; and maximum number of their rows sent to
the judge although error bounds leave them undecided."""

_DOUBTED = 2
"""Maximum number of rows, over all generations of a batch, sent to the judge although error bounds
leave them undecided."""


def screen(scout: Scout, generator: np.random.Generator) -> None:
    """Screen batches of shapes of all sizes until the budget is spent, or for some rounds."""
    formula = scout.tally.part.formula
    own = generator.spawn(1)[0]
    look_at_coincidences(scout, formula, own)
    wide = _WIDE if scout.wide and _is_light(scout, formula, generator.spawn(1)[0]) else 1
    for k in range(1 + scout.budget // 20):
        shape = length_of_each(formula, generator)
        raw = batches.filled(formula, generator, shape, wide * BATCH)
        near = k % 2 == 0 and not scout.once
        breed(scout, formula, raw, shape, generator, wide * BATCH, seek=k == 0, near=near)
    if scout.once:  # a constant that is too small shows at small sizes, if at any
        axes = {name: formula.variables[name] for name in formula.axes}
        shape = {n: _at_least_two(v) for n, v in axes.items() if isinstance(v, Integer)}
        breed(scout, formula, batches.filled(formula, own, shape, BATCH), shape, own)


def _at_least_two(axis: Integer) -> int:
    """Return the least length of an axis from 2 on, if such lengths are drawn."""
    return min(max(axis.low, 2), axis.drawn_to)


def _is_light(scout: Scout, formula: Formula, generator: np.random.Generator) -> bool:
    """Return whether a formula takes few operations on the largest instances that are drawn."""
    shape = {name: formula.variables[name].drawn_to for name in formula.axes}  # type: ignore[attr-defined]
    few = batches.filled(formula, generator, shape, 8)
    if not any(isinstance(value, np.ndarray) for value in few.values()):
        return False
    return operations(scout, formula, few, shape, _LIGHT) <= _LIGHT


def look_at_coincidences(scout: Scout, formula: Formula, generator: np.random.Generator) -> None:
    """Evaluate batches of coincidences; send suspected violations to the judge."""
    parameters, named = scout.tally.part.parameters, None
    suspects = Suspects(scout, formula, _BELIEVED)
    for _ in range(_COINCIDENT):
        shape = length_of_each(formula, generator)
        raw = batches.filled(formula, generator, shape, BATCH)
        raw = spread(formula, raw, shape, parameters, generator, BATCH)
        domains = domains_of(formula, raw)
        if not domains:
            return
        if named is None:
            named = named_constants(formula, raw, shape, parameters)
        coincide({name: raw[name] for name in domains}, domains, named, generator)
        glimpse(suspects, raw, shape, BATCH)


def glimpse(suspects: Suspects, raw: Raw, shape: dict[str, int], batch: int) -> None:
    """Evaluate a batch once; send suspected violations to the judge."""
    scout, formula = suspects.scout, suspects.formula
    scout.ensure_time()
    parameters = scout.tally.part.parameters
    fitted, height, suspect = batches.fit_seen(formula, raw, shape, batch, parameters)
    scout.tally.seen.screened += count_new(fitted, 0, height)
    scout.tally.variety.see_batch({**shape, **fitted}, height > -np.inf)
    suspects.examine(fitted, shape, suspect, height)


def length_of_each(formula: Formula, generator: np.random.Generator) -> dict[str, int]:
    """Return a random length of each axis."""
    lengths = {name: formula.variables[name] for name in formula.axes}
    return {n: _length(v, generator) for n, v in lengths.items() if isinstance(v, Integer)}


def counts(formula: Formula) -> bool:
    """Return whether instances are integers alone, none of them a length."""
    return not formula.axes and all(isinstance(v, Integer) for v in formula.variables.values())


def grows(formula: Formula) -> Iterator[str]:
    """Yield the lengths and counts that may exceed the drawn ones."""
    for name, variable in formula.variables.items():
        if not isinstance(variable, Integer) or variable.low == variable.drawn_to:
            continue
        if variable.ends[1] is None or (name in formula.axes and not variable.closed):
            yield name


def _length(variable: Integer, generator: np.random.Generator) -> int:
    """Return a length of an axis; with probability 1/2 it is the shorter one of two draws."""
    two = generator.integers(variable.low, variable.drawn_to + 1, size=2)
    return int(two.min()) if generator.random() < 0.5 else int(two[0])


def breed(
    scout: Scout,
    formula: Formula,
    raw: Raw,
    shape: dict[str, int],
    generator: np.random.Generator,
    batch: int = BATCH,
    generations: int = GENERATIONS,
    seek: bool = False,
    near: bool = False,
) -> None:
    """Evolve a batch of a formula over generations; first move it to meet the hypotheses.

    Args:
        scout: the searcher's access to the check.
        formula: the formula of the part.
        raw: the batch, not yet fitted.
        shape: the length of each axis.
        generator: source of all randomness.
        batch: the number of instances.
        generations: maximum number of generations.
        seek: whether to move a batch without admissible instances until one is admissible.
        near: whether instances with very large or small numbers rank lower. If both sides scale
            alike, ratios often tend to 1 at extreme sizes, and the search would drift there.

    Raises:
        Stop: the turn is over: a counterexample was found, or budget or time is spent.
    """
    parameters = scout.tally.part.parameters
    raw = spread(formula, raw, shape, parameters, generator, batch)
    relate_batch(formula, raw, generator)
    if not any(isinstance(value, np.ndarray) for value in raw.values()):  # all rows are equal
        scout.tally.seen.screened += 1
        scout.look(batches.instance_at(formula, raw, 0))
        return
    raw = _sought(scout, formula, raw, shape, generator, batch) if seek else raw
    fresh = fresh_instances(formula, raw, generator, shape, batch)
    best, known, looked = -np.inf, 0, set[int]()
    suspects = Suspects(scout, formula, _DOUBTED)
    shown = 1 if scout.once else JUDGED
    with suspects.series(shape):
        for generation in range(1, generations + 1):
            scout.ensure_time()
            fitted, height, suspect = batches.fit_seen(formula, raw, shape, batch, parameters)
            scout.tally.seen.screened += count_new(fitted, known, height)
            scout.tally.variety.see_batch({**shape, **fitted}, height > -np.inf)
            suspect[:known] = False  # the previous generation contained these rows
            suspects.hold(fitted, shape, suspect, height)
            order = closest(height - excess_of(raw) if near else height)
            if not len(order):
                return
            due = generation == generations or (generation % _LOOKS == 0 and not scout.once)
            if generation == 1:
                suspects.settle(shape)
            # If rounding errors can be bounded, instances that only rounding could make a violation
            # hardly ever refute; the error bounds have cleared or proved them already.
            doubts = due or scout.once or not suspects.bounded
            first = fetched(fitted, order[:JUDGED])
            for k, result in enumerate(height[order[:JUDGED]].tolist()):
                new = (due and result > best and k < shown) or (doubts and result >= PROMISING)
                lane = int(order[k])
                if not (new and math.isfinite(result) and _usable(first, k)) or lane in looked:
                    continue
                if not suspects.was_judged(first, k):
                    looked.add(lane)
                    scout.look(batches.instance_at(formula, first, k))
            best = max(best, float(height[order[0]])) if due else best
            if generation < generations:
                raw, known = renewed(formula, raw, order, next(fresh), generator), len(order)
            looked = {k for k, lane in enumerate(order.tolist()) if lane in looked}


def _sought(
    scout: Scout,
    formula: Formula,
    raw: Raw,
    shape: dict[str, int],
    generator: np.random.Generator,
    batch: int,
) -> Raw:
    """Return the batch, moved until an instance meets the hypotheses; unchanged if none does."""
    nearest, known, fresh = raw, 0, fresh_instances(formula, raw, generator, shape, batch)
    for _ in range(_SOUGHT):
        scout.ensure_time()
        missing = batches.missing(formula, batches.fit(formula, nearest, shape), shape, batch)
        if not missing.all():
            return nearest
        scout.tally.seen.screened += count_new(nearest, known, missing)
        order = closest(-missing)
        if not len(order):
            break
        nearest, known = renewed(formula, nearest, order, next(fresh), generator), len(order)
    return raw


def spread(
    formula: Formula,
    raw: Raw,
    shape: dict[str, int],
    parameters: Mapping[str, object],
    generator: np.random.Generator,
    batch: int,
) -> Raw:
    """Return the batch with one integer per instance, if the formula accepts that.

    A formula that counts with an integer, as in `range(k)`, has one integer for the whole batch.
    """
    numbers = {
        name: variable.spread(generator, batch)
        for name, variable in formula.variables.items()
        if isinstance(variable, Integer) and name in raw
    }
    if not numbers:
        return raw
    return (
        {**raw, **numbers} if takes(formula, {**raw, **numbers}, shape, parameters, batch) else raw
    )


def takes(
    formula: Formula,
    raw: Raw,
    shape: dict[str, int],
    parameters: Mapping[str, object],
    batch: int,
) -> bool:
    """Return whether the formula can be evaluated with arrays of integers.

    An array of integers raises TypeError in counting, LookupError as an index, AttributeError for
    methods of int, and ClaimError if mixed with floats. Other errors are faults of the formula.
    """
    try:
        batches.fit_screened(formula, raw, shape, batch, parameters)
    except (TypeError, LookupError, AttributeError, ClaimError):
        return False
    return True


def _usable(raw: Raw, lane: int) -> bool:
    return all(
        np.isfinite(value[..., lane]).all()
        for value in raw.values()
        if isinstance(value, np.ndarray)
    )


class _DearError(BaseException):
    """An error that ends an evaluation with too many operations; claims do not catch it."""


class _Counted(np.ndarray[Any, Any]):
    """An array that counts numpy operations on it and on arrays derived from it."""

    left: list[int]

    def __array_finalize__(self, origin: object) -> None:
        self.left = getattr(origin, "left", [sys.maxsize])

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **options: object
    ) -> object:
        """Return the result of an operation on plain arrays, and count it.

        Raises:
            _DearError: the maximum number of operations is exceeded.
        """
        return self._counted(getattr(ufunc, method), inputs, options)

    def __array_function__(
        self, function: Callable[..., object], types: object, inputs: object, options: object
    ) -> object:
        """Return the result of a function such as `numpy.concatenate`, and count it."""
        return self._counted(function, inputs, options)

    def _counted(self, operation: Callable[..., object], inputs: Any, options: Any) -> object:
        self.left[0] -= 1
        if self.left[0] < 0:
            raise _DearError
        return self._with(operation(*_plain(inputs), **_plain(options)))

    def _with(self, value: object) -> object:
        if type(value) is list:
            return [self._with(each) for each in value]
        if type(value) is tuple:
            return tuple(self._with(each) for each in value)
        if not isinstance(value, np.ndarray):
            return value
        counted = value.view(_Counted)
        counted.left = self.left
        return counted


def _plain(value: Any) -> Any:
    """Return a value without counters, in lists, tuples and dictionaries as well."""
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    if isinstance(value, dict):
        return {name: _plain(x) for name, x in value.items()}
    return value.view(np.ndarray) if isinstance(value, _Counted) else value


def operations(scout: Scout, formula: Formula, raw: Known, shape: dict[str, int], most: int) -> int:
    """Return the number of numpy operations of an evaluation of the formula on a few instances.

    Counting stops above `most`; the result is then `most` + 1.
    """
    left = [most]
    few = {}
    for name, value in raw.items():
        few[name] = value
        if isinstance(value, np.ndarray):
            few[name] = value[..., :8].view(_Counted)
            few[name].left = left
    batch = min(value.shape[-1] for value in few.values() if isinstance(value, np.ndarray))
    try:
        batches.fit_screened(formula, few, shape, batch, scout.tally.part.parameters)
    except _DearError:
        return most + 1
    return most - left[0]
