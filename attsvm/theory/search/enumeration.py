"""Enumeration: all integers up to a bound, where instances are integers alone."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from attsvm.theory.arithmetic import FLOATS
from attsvm.theory.arithmetic.heights import violated
from attsvm.theory.declaration.variables import Choice, Integer
from attsvm.theory.run.coverage import box_size
from attsvm.theory.run.sampling import EVERY
from attsvm.theory.search.discrete import move_integers
from attsvm.theory.search.screen import JUDGED, PROMISING, spread, takes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from attsvm.theory.declaration.formula import Formula
    from attsvm.theory.run.tally import Refuted, Tally
    from attsvm.theory.search.scout import Scout

_ENUMERATED, _ROWS = 2**13, 2**16
"""Integers that are enumerated for each instance of a budget, and at once."""


def counts(formula: Formula) -> bool:
    """Whether instances are integers alone, none of them a length."""
    return not formula.axes and all(isinstance(v, Integer) for v in formula.variables.values())


def integers(scout: Scout, generator: np.random.Generator) -> None:
    """Enumerate all integers up to a bound, of which the closest few go to the judge.

    One that the formula counts with, as in `range(k)`, is one for a whole batch. The bound changes
    from turn to turn; of integers that fill batches a turn that is the only one takes the largest.
    Those of records move one by one.
    """
    formula, parameters = scout.tally.part.formula, scout.tally.part.parameters
    if not formula.batches:
        move_integers(scout, generator)
        return
    few = formula.filled(generator, {}, 8)
    lanes = spread(formula, few, {}, parameters, generator, 8)
    own = {name for name, value in lanes.items() if isinstance(value, np.ndarray)}
    for name in few if not own else ():
        one = {name: formula.variables[name].spread(generator, 8)}  # type: ignore[attr-defined]
        if not own and takes(formula, {**few, **one}, {}, parameters, 8):
            own = {name}
    power = int(generator.integers(-2, 2) if own else generator.integers(6))
    power = 1 if own and scout.once else power
    most = (_ENUMERATED if own else 1) * 4.0**power
    sides = _sides(formula, int(scout.budget * most))
    outer = [range(low, low + side) for n, (low, side) in sides.items() if n not in own]
    inner = {n: sides[n] for n in sides if n in own}
    size = math.prod(side for _, side in inner.values())
    best = -np.inf
    for held in itertools.product(*outer):
        for start in range(0, size, _ROWS):
            scout.ensure_time()
            batch = min(_ROWS, size - start)
            place = np.arange(start, start + batch)
            raw: dict[str, Any] = dict(zip([n for n in sides if n not in inner], held, strict=True))
            for name, (low, side) in inner.items():
                place, digit = np.divmod(place, side)
                raw[name] = low + digit.astype(float)
            height = formula.screened(raw, {}, batch, parameters)
            scout.tally.seen.screened += batch
            scout.tally.variety.see_batch(raw, height > -np.inf)
            false = violated(formula.relation(FLOATS, formula.floats(raw, {}), parameters))
            for lane in np.lexsort((-height, ~np.broadcast_to(false, batch)))[:JUDGED]:
                if height[lane] > best or (false.any() and height[lane] >= PROMISING):
                    best = max(best, height[lane])
                    scout.look(formula.instance_at(raw, int(lane)))
    box = {name: [low, low + side - 1] for name, (low, side) in sides.items()}
    scout.tally.seen.exhausted = max(scout.tally.seen.exhausted, box, key=box_size)


_LOOKED = 8
"""Instances that `fill_up` looks at, as a multiple of those that are wanted."""


def fill_up(tally: Tally, wanted: int) -> Refuted | None:
    """Examine integers and choices in order until so many different instances are decided.

    A strategy that draws integers of a short range has few instances. If these are all that there
    are, and each is decided, their number is noted as `settled`.
    """
    formula = tally.part.formula
    if formula.axes or not formula.stepped or tally.seen.examples >= wanted:
        return None
    looked = 0
    for case in _in_order(formula):
        if looked >= _LOOKED * wanted or tally.seen.examples >= wanted:
            return None
        looked += 1
        if not tally.knows(case):
            found = tally.examine(case, EVERY)[1]
            if found:
                return found
    left = tally.seen.undecided + tally.seen.given_up
    tally.seen.settled = looked if formula.domain and not left else 0
    return None


def _in_order(formula: Formula) -> Iterator[Any]:
    """Yield the instances of integers and choices, those near the lower ends first."""
    values: dict[str, Sequence[Any]] = {}
    for name, variable in formula.variables.items():
        low, high = variable.ends
        if isinstance(variable, Choice):
            values[name] = list(variable.members)
        elif isinstance(variable, Integer):
            values[name] = range(low or 0, (low or 0) + _ROWS if high is None else high + 1)
    for reach in range(max(map(len, values.values()))):
        ranges = [range(min(len(each), reach + 1)) for each in values.values()]
        for places in itertools.product(*ranges):
            if max(places) == reach:
                chosen = zip(values.items(), places, strict=True)
                yield formula.instance(**{name: each[k] for (name, each), k in chosen})


def _sides(formula: Formula, asked: int) -> dict[str, tuple[int, int]]:
    """The least of each integer, and of how many from there on all choices are at most `asked`."""
    sides: dict[str, tuple[int, int]] = {}
    bounded = {n: v for n, v in formula.variables.items() if v.ends[1] is not None}
    for k, (name, variable) in enumerate({**bounded, **formula.variables}.items()):
        low, high = variable.ends
        left = asked // math.prod(side for _, side in sides.values())
        side = max(int(left ** (1 / (len(formula.variables) - k)) + 1e-9), 1)
        sides[name] = int(low or 0), side if high is None else min(side, high - int(low or 0) + 1)
    return sides
