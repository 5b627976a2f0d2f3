"""The integer searcher: it enumerates boxes of integers, and moves integers of records.

It finds violations by a few integers of any size, even rare ones or ones with equal sides. A box is
screened in floats, and each row that may violate the claim is decided.
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
from attsvm.theory.search.screening import JUDGED, spread, takes
from attsvm.theory.search.suspects import Suspects

if TYPE_CHECKING:
    from collections.abc import Iterator, Set

    from attsvm.theory.declaration.formula import Formula
    from attsvm.theory.search.scout import Scout

_ENUMERATED, _COUNTED, _ROWS = 2**15, 2**6, 2**16
"""Number of rows enumerated per instance of the budget; the same for a hunt if the formula counts
with all integers; maximum number of rows per batch."""

_DOUBTED = 8
"""Maximum number of rows per turn sent to the judge although error bounds and rationals leave them
undecided."""

Sides = dict[str, tuple[int, int]]
"""A box: for each integer its least value and the number of values."""


def integers(scout: Scout, generator: np.random.Generator) -> None:
    """Screen a cube of integers from the lower ends upwards; send the closest few to the judge.

    In a hunt, each turn has a larger cube and leaves out the cube of the turn before. If the
    formula counts with an integer, as in `range(k)`, the integer has one value for a whole batch. A
    hunt also uses a long box in which some integers become large. The integers of records move one
    by one. A cube is reported as screened if every row is decided.
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
    most = _ENUMERATED if own else 4 ** int(generator.integers(6)) if scout.once else _COUNTED
    inner = _cube(formula, scout.before * most) if scout.before else {}
    outer = _cube(formula, (scout.before + scout.budget) * most)
    seen, decided = scout.tally.seen, True
    for small, large in _cubes(formula, inner, outer) if own != few.keys() else [(inner, outer)]:
        for box in _beyond(small, large):
            decided = _screen_box(Suspects(scout, formula, _DOUBTED), box, own) and decided
    if decided:
        seen.inner, seen.exhausted = _ends(inner), _ends(outer)
    whole = outer == _cube(formula, 2**62)
    if own and not whole and not scout.once:
        weights = generator.exponential(size=len(few))
        long = _sides(formula, scout.budget * most // 2, weights)
        _screen_box(Suspects(scout, formula, _DOUBTED), long, own)
    scout.idle = whole


def _screen_box(suspects: Suspects, sides: Sides, own: Set[str]) -> bool:
    """Screen all points of a box, and return whether every row was decided.

    An integer that has one value for a whole batch takes its values one after another.

    Args:
        suspects: the searcher's suspects.
        sides: the box.
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
    return proved and scout.tally.seen.unjudged == unjudged


_LARGEST = 2**53
"""Minimum size of integers at which floats are not exact."""


def _cube(formula: Formula, most: int) -> Sides:
    """Return the largest cube of at most `most` points, as far as the domains reach."""
    lows = {name: int(v.ends[0] or 0) for name, v in formula.variables.items()}
    highs = {name: v.ends[1] for name, v in formula.variables.items()}

    def cube(edge: int) -> Sides:
        return {
            name: (low, edge if high is None else min(edge, int(high) - low + 1))
            for (name, low), high in zip(lows.items(), highs.values(), strict=True)
        }

    least, excess = 1, most + 1  # the edge is at least `least` and below `excess`
    while excess - least > 1:
        edge = (least + excess) // 2
        fits = math.prod(side for _, side in cube(edge).values()) <= most
        least, excess = (edge, excess) if fits else (least, edge)
    return cube(least)


def _cubes(formula: Formula, inner: Sides, outer: Sides) -> Iterator[tuple[Sides, Sides]]:
    """Yield pairs of successive cubes from `inner` to `outer`, with about 8 times the points each.

    If rows are evaluated one after another, a turn may end before a cube is done. By then, small
    values of all integers were combined, and not many values of the last integer alone.
    """
    points = math.prod(side for _, side in outer.values())
    reached = math.prod(side for _, side in inner.values()) if inner else 0
    while inner != outer:
        reached = max(8 * reached, _COUNTED)
        larger = outer if reached >= points else _cube(formula, reached)
        if larger != inner:
            yield inner, larger
        inner = larger


def _beyond(inner: Sides, outer: Sides) -> Iterator[Sides]:
    """Yield disjoint boxes that cover the points of a cube outside a smaller one, if there is one.

    In the k-th box the k-th integer exceeds the smaller cube, and the earlier ones do not.
    """
    if not inner:
        yield outer
    for name in inner:
        low, side = inner[name]
        above = outer[name][1] - side
        if above:
            yield {**outer, name: (low + side, above)}
        outer = {**outer, name: (low, side)}


def _ends(sides: Sides) -> dict[str, list[int]]:
    """Return for each integer of a box its least and its largest value."""
    return {name: [low, low + side - 1] for name, (low, side) in sides.items()}


def _sides(formula: Formula, asked: int, weights: Array) -> Sides:
    """Return a box of random proportions.

    The box has at most `asked` points. The logarithm of each side is proportional to its weight.
    """
    sides: Sides = {}
    bounded = {n: v for n, v in formula.variables.items() if v.ends[1] is not None}
    for k, (name, variable) in enumerate({**bounded, **formula.variables}.items()):
        low, high = variable.ends
        # each side takes its share of the points that are left; a short domain leaves more of them
        # for the others, so integers with an upper end come first
        left = asked // math.prod(side for _, side in sides.values())
        side = max(int(left ** (weights[k] / weights[k:].sum()) + 1e-9), 1)
        sides[name] = int(low or 0), side if high is None else min(side, high - int(low or 0) + 1)
    return sides
