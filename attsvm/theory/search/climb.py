"""The climb: entries and rows of close instances move by powers of two that adapt to success."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from attsvm.theory.search.families import blocks, with_blocks
from attsvm.theory.search.scout import Scout

_PATIENCE = 4
"""Sweeps and turns without gain after which the climb starts again elsewhere, with other steps."""

_LEAST = 2.0**-40
"""Steps do not shrink below this, relative to what they were at first."""

_MOST = 2.0**1000
"""Nor do they grow above this."""


def climb(scout: Scout, generator: np.random.Generator) -> None:
    """Climb from the closest instance, and after too many steps in vain from other close ones."""
    starts = scout.pool.closest
    for k in range(len(starts) * 4):
        start = starts[k % len(starts)]
        ascent = _Ascent(scout, start.document, start.height, -3.0 * (k // len(starts)))
        if ascent.point.size:
            ascent.run(generator)


class _Ascent:
    """One climb: the point reached, the step of each entry, which way it goes."""

    def __init__(self, scout: Scout, document: Any, height: float, power: float) -> None:
        self.scout = scout
        self.document = document
        self.height = height
        self.arrays = blocks(document)
        sizes = [a.size for a in self.arrays.values()]
        self.ends = np.cumsum(sizes)[:-1] if sizes else np.zeros(0, dtype=int)
        flat = [a.ravel() for a in self.arrays.values()]
        self.point = np.concatenate(flat) if flat else np.zeros(0)
        scales = [_power_below(max(float(np.abs(a).max()), 1.0)) for a in flat]
        self.steps = np.repeat(np.array(scales), sizes) * 2.0**power if flat else np.zeros(0)
        self.first = self.steps.copy()
        self.ways = np.ones(len(self.point))
        self.stride = 0.25
        self.groups = _groups(list(self.arrays.values()))

    def look(self, point: Any) -> float | None:
        """The height of the instance with these entries; it is gone to if that is larger."""
        if not np.isfinite(point).all():
            return None
        parts = np.split(point, self.ends)
        shaped = zip(self.arrays.items(), parts, strict=True)
        document = with_blocks(self.document, {p: v.reshape(a.shape) for (p, a), v in shaped})
        reached = self.scout.look_at(document)
        if reached is not None and reached > self.height:
            self.height, self.point = reached, point
        return reached

    def run(self, generator: np.random.Generator) -> None:
        """Sweeps over the entries and random turns, more of what gained more, until both fail."""
        phases = (self.sweep, self.wander)
        gains = [math.inf, 0.0]
        vain = count = 0
        while vain < _PATIENCE:
            count += 1
            better = int(gains[1] > gains[0])
            chosen = better if count % 3 else 1 - better
            height, spent = self.height, self.scout.spent
            phases[chosen](generator)
            gain = self.height - height
            gains[chosen] = gain / max(self.scout.spent - spent, 1)
            vain = 0 if gain > 0.0 else vain + 1

    def sweep(self, generator: np.random.Generator) -> None:
        """Move each entry once, then all the same way again, further and further."""
        before = self.point
        for k in generator.permutation(len(self.point)):
            self.move(int(k))
        stride = _sum(self.point, -before)
        while stride.any() and self.improves(_sum(self.point, stride)):
            stride = _sum(stride, stride)

    def wander(self, generator: np.random.Generator) -> None:
        """Move rows, arrays and everything in random directions; four failures halve the step."""
        failed = 0
        for _ in range(2 * len(self.point)):
            group = self.groups[int(generator.integers(len(self.groups)))]
            change = np.zeros(len(self.point))
            change[group] = np.round(4.0 * generator.normal(size=len(group))) / 4.0
            with np.errstate(over="ignore"):
                change *= self.first * self.stride
            if not change.any():
                continue
            if self.improves(_sum(self.point, change)):
                self.stride, failed = min(2.0 * self.stride, _MOST), 0
                continue
            failed += 1
            if failed % 4 == 0:
                self.stride = max(self.stride / 2.0, _LEAST)

    def improves(self, point: Any) -> bool:
        """Whether the point is better than the one reached; then it is gone to."""
        height = self.height
        self.look(point)
        return self.height > height

    def moved(self, k: int, by: float) -> Any:
        """The point reached with one entry changed."""
        change = np.zeros(len(self.point))
        change[k] = by
        return _sum(self.point, change)

    def move(self, k: int) -> None:
        """Move an entry by its step; success doubles the step.

        Failure both ways shortens it, and the entry goes to where a parabola through the three
        heights has its top, if that is better.
        """
        height, step = self.height, self.ways[k] * self.steps[k]
        ahead = self.look(self.moved(k, step))
        if self.height > height:
            self.steps[k] = min(2.0 * self.steps[k], _MOST)
            return
        behind = self.look(self.moved(k, -step))
        if self.height > height:
            self.ways[k] *= -1.0
            return
        if height in (ahead, behind):  # the entry does not count here; it may once others moved
            return
        top = _top(behind, height, ahead)
        self.steps[k] = max(self.steps[k] / 4.0, _LEAST * self.first[k])
        if top != 0.0 and self.improves(self.moved(k, top * step)):
            self.steps[k] = max(_power_below(abs(top * step)), self.steps[k])


def _sum(point: Any, change: Any) -> Any:
    """The sum, infinite where it is too large."""
    with np.errstate(over="ignore"):
        return point + change


def _top(behind: float | None, here: float, ahead: float | None) -> float:
    """Where a parabola through the heights at -1, 0, 1 has its top, in 32nds; 0 if nowhere."""
    if behind is None or ahead is None:
        return 0.0
    bend = (here - behind) + (here - ahead)
    top = 0.5 * (ahead - behind) / bend if bend > 0.0 else 0.0
    return round(32.0 * top) / 32.0 if math.isfinite(top) else 0.0


def _power_below(value: float) -> float:
    """The largest power of two that is not larger than a positive number."""
    return float(2.0 ** (math.frexp(value)[1] - 1))


def _groups(arrays: Sequence[Any]) -> list[Any]:
    """Entries that move together, as indices: rows, arrays, all."""
    groups = []
    start = 0
    for array in arrays:
        places = np.arange(start, start + array.size)
        start += array.size
        groups.append(places)
        if array.ndim > 1:
            groups += list(places.reshape(-1, array.shape[-1]))
    groups.append(np.arange(start))
    return [group for group in groups if len(group) > 1] or [np.arange(start)]
