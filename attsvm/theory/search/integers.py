"""The integer searcher: it enumerates boxes of integers, and moves integers of records.

It finds violations by a few integers of any size, even rare ones or ones with equal sides. A box is
screened in floats, and each row that may violate the claim is decided. If every row is decided, the
box is reported.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from attsvm._types import Array
from attsvm.theory.arithmetic.heights import TOUCHED
from attsvm.theory.declaration import batches
from attsvm.theory.declaration.variables import Raw
from attsvm.theory.run.coverage import box_size
from attsvm.theory.search.screening import JUDGED, spread, takes
from attsvm.theory.search.suspects import Suspects

if TYPE_CHECKING:
    from collections.abc import Mapping, Set

    from attsvm.theory.declaration.formula import Formula
    from attsvm.theory.search.scout import Scout

_ENUMERATED, _ROWS = 2**15, 2**16
"""Number of rows that are enumerated for each instance of a budget, and number of rows at once."""

_DOUBTED = 8
"""Maximum number of rows per turn sent to the judge although error bounds and rationals leave them
undecided."""


def integers(scout: Scout, generator: np.random.Generator) -> None:
    """Screen boxes of integers from the lower ends upwards; send the closest few to the judge.

    If the formula counts with an integer, as in `range(k)`, the integer has one value for a whole
    batch, and its bound changes from turn to turn. All other integers run through a box with equal
    sides. A hunt also uses a long box in which some of them become large. The integers of records
    move one by one. A box is reported as screened if every row is decided.
    """
    formula, parameters = scout.tally.part.formula, scout.tally.part.parameters
    if not formula.batches:
        from attsvm.theory.search.record_moves import move_integers

        move_integers(scout, generator)
        return
    few = batches.filled(formula, generator, {}, 8)
    lanes = spread(formula, few, {}, parameters, generator, 8)
    own = {name for name, value in lanes.items() if isinstance(value, np.ndarray)}
    for name in few if not own else ():
        one = {name: formula.variables[name].spread(generator, 8)}  # type: ignore[attr-defined]
        if not own and takes(formula, {**few, **one}, {}, parameters, 8):
            own = {name}
    most = _ENUMERATED if own else 4.0 ** generator.integers(6)
    asked, alike = int(scout.budget * most), np.ones(len(few))
    boxes = [_sides(formula, asked, alike)]
    whole = boxes[0] == _sides(formula, 2**62, alike)
    if own and not whole and not scout.once:
        boxes.append(_sides(formula, asked // 2, generator.exponential(size=len(few))))
    for box in boxes:  # whether all rows were judged is recorded for each box
        _screen_box(Suspects(scout, formula, _DOUBTED), box, own)
    scout.idle = whole


def _screen_box(suspects: Suspects, sides: Mapping[str, tuple[int, int]], own: Set[str]) -> None:
    """Screen all points of a box, and report the box if every row was decided.

    An integer that has one value for a whole batch takes its values one after another.

    Args:
        suspects: the searcher's suspects.
        sides: for each integer its least value and the number of values.
        own: the integers that have one value for each row.
    """
    scout, formula = suspects.scout, suspects.formula
    parameters = scout.tally.part.parameters
    outer = [range(low, low + side) for n, (low, side) in sides.items() if n not in own]
    inner = {n: sides[n] for n in sides if n in own}
    size = math.prod(side for _, side in inner.values())
    sizes = {name: max(abs(low), abs(low + side)) for name, (low, side) in sides.items()}
    decided = batches.unrounded(formula, sizes, parameters) if own == sides.keys() else frozenset()
    exact = decided >= {*formula.hypotheses, ""}
    # In a check, bounding the error of every row takes too long. A box is then reported only if
    # floats evaluate all formulas without rounding, or if each batch has one row.
    proved, unjudged, best = exact or not own or not scout.once, scout.tally.seen.unjudged, -np.inf
    # beyond 2^53 floats would round the integers
    proved = proved and max(sizes.values()) < _LARGEST
    for held in itertools.product(*outer):
        for start in range(0, size, _ROWS):
            scout.ensure_time()
            batch = min(_ROWS, size - start)
            place = np.arange(start, start + batch)
            raw: Raw = dict(zip([n for n in sides if n not in inner], held, strict=True))
            for name, (low, side) in inner.items():
                place, digit = np.divmod(place, side)
                raw[name] = low + digit.astype(float)
            _, height, suspect = batches.fit_seen(formula, raw, {}, batch, parameters)
            scout.tally.seen.screened += batch
            scout.tally.variety.see_batch(raw, height > -np.inf)
            # Floats may miss a violation by rounding. To report the box as decided, every row that
            # the formulas without rounding do not exclude gets an error bound.
            if proved and not exact:
                suspect = batches.left_by(formula, decided, raw, batch, parameters)
            judged = suspects.examine(raw, {}, suspect, height)
            height[height == TOUCHED] = -np.inf  # heights are unknown here
            for _ in range(JUDGED):
                lane = int(np.argmax(height))
                if height[lane] > best and lane not in judged:
                    scout.look(batches.instance_at(formula, raw, lane))
                best, height[lane] = max(best, float(height[lane])), -np.inf
    if proved and scout.tally.seen.unjudged == unjudged:
        box = {name: [low, low + side - 1] for name, (low, side) in sides.items()}
        scout.tally.seen.exhausted = max(scout.tally.seen.exhausted, box, key=box_size)


_LARGEST = 2**53
"""Minimum size of integers at which floats are not exact."""


def _sides(formula: Formula, asked: int, weights: Array) -> dict[str, tuple[int, int]]:
    """Return for each integer its least value and the number of values.

    The box has at most `asked` points. The logarithm of each side is proportional to its weight.
    """
    sides: dict[str, tuple[int, int]] = {}
    bounded = {n: v for n, v in formula.variables.items() if v.ends[1] is not None}
    for k, (name, variable) in enumerate({**bounded, **formula.variables}.items()):
        low, high = variable.ends
        # each side takes its share of the points that are left; a short domain leaves more of them
        # for the others, so integers with an upper end come first
        left = asked // math.prod(side for _, side in sides.values())
        side = max(int(left ** (weights[k] / weights[k:].sum()) + 1e-9), 1)
        sides[name] = int(low or 0), side if high is None else min(side, high - int(low or 0) + 1)
    return sides
