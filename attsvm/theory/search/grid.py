"""The grid: small instances with small integers for entries, all of them where they are few."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from attsvm._types import Json
from attsvm.theory.instance.document import Path, rebuilt
from attsvm.theory.search.discrete import as_drawn
from attsvm.theory.search.families import Blocks, blocks, with_blocks
from attsvm.theory.search.scout import Scout

_PART = 4
"""A board that cannot be searched through gets one part of so many of the budget."""

_REFUSED = 12
"""A board is left after this many inadmissible instances in a row."""


def _up_to(limit: int, parts: int = 1) -> tuple[float, ...]:
    """The multiples of 1/parts up to a limit in size, simple ones first."""
    sizes = sorted(range(limit * parts + 1), key=lambda k: (k % parts != 0, k))
    return tuple(s * k / parts for k in sizes for s in ((1.0, -1.0) if k else (1.0,)))


_VALUES = tuple(_up_to(*a) for a in ((1,), (2,), (3,), (3, 2), (8,), (4, 4), (64,)))
"""What entries are chosen from, small sets first."""

_WHOLE = 8
"""The largest of them that an integer takes, which may be a number of steps."""

_DRAWN, _WEIGHTS = (0, 1, 2, 3), (0.4, 0.25, 0.2, 0.15)
"""The sets that are drawn from where a board is too large, and how often."""


class _Board:
    """Some arrays and numbers of a document, to be filled with small integers, and their search."""

    def __init__(
        self, scout: Scout, document: Json, arrays: Blocks, accepted: dict[tuple[Path, float], bool]
    ) -> None:
        self.scout = scout
        self.document = document
        self.arrays = arrays
        self.whole = blocks(document, whole=True).keys()
        self.bounded = not self.whole.isdisjoint(arrays)  # an integer may be a number of steps
        self.sizes = [array.size for array in arrays.values()]
        self.best: tuple[float, list[float]] | None = None
        self.refused = 0
        self.trials = max(scout.budget // _PART, 4)
        self._accepted = accepted

    def filled(self, values: Sequence[float]) -> Any:
        """The document with these entries."""
        parts = np.split(np.array(values), np.cumsum(self.sizes)[:-1])
        shaped = zip(self.arrays.items(), parts, strict=True)
        return with_blocks(self.document, {p: v.reshape(a.shape) for (p, a), v in shaped})

    def choices(self, values: Sequence[float]) -> list[list[float]]:
        """For each entry, those of the values that its type accepts in the first place."""
        found: list[list[float]] = []
        for path, size in zip(self.arrays, self.sizes, strict=True):
            own = [x for x in values if path not in self.whole or (x % 1 == 0 and abs(x) <= _WHOLE)]
            found += [[value for value in own if self._accepts(path, value)]] * size
        return found

    def _accepts(self, path: Path, value: float) -> bool:
        if (path, value) not in self._accepted:
            trial = self.arrays[path].copy()
            trial.flat[0] = value
            document = with_blocks(self.document, {path: trial})
            self._accepted[path, value] = rebuilt(self.scout.tally.claim, document) is not None
        return self._accepted[path, value]

    def look(self, point: list[float]) -> None:
        """Examine a point; the closest is kept."""
        document, reached = self.filled(point), None
        with self.scout.bounded(document) if self.bounded else contextlib.nullcontext():
            reached = self.scout.look_at(document, reshaped=True)
        self.refused = self.refused + 1 if reached is None else 0
        if reached is not None and (self.best is None or reached > self.best[0]):
            self.best = reached, point

    def search_through(self) -> bool:
        """Try all points, of larger and larger sets of values; whether that could be done."""
        for number, values in enumerate(_VALUES):
            choices = self.choices(values)
            if not 0 < math.prod(len(c) for c in choices) <= 3 * self.scout.budget // 4:
                return number > 0
            for point in sorted(itertools.product(*choices), key=_complexity):
                self.look(list(point))
        return True

    def draw(self, generator: np.random.Generator) -> None:
        """Draw points, sparse and dense, of small and larger values."""
        for _ in range(self.trials // 2):
            choices = self.choices(_VALUES[int(generator.choice(_DRAWN, p=_WEIGHTS))])
            if self.refused >= _REFUSED or not all(choices):
                return
            point = np.array([c[int(generator.integers(len(c)))] for c in choices])
            bare = generator.random(len(point)) < generator.choice([0.0, 0.3, 0.6])
            may = np.array([0.0 in c for c in choices])
            self.look(np.where(bare & may, 0.0, point).tolist())

    def improve(self, generator: np.random.Generator) -> None:
        """Change entries of the best point one or two at a time."""
        choices = self.choices(_VALUES[_DRAWN[-1]])
        for _ in range(self.trials // 2):
            if self.best is None or not any(choices):
                return
            point = list(self.best[1])
            for _ in range(int(generator.integers(1, 3))):
                k = int(generator.integers(len(point)))
                if choices[k]:
                    point[k] = choices[k][int(generator.integers(len(choices[k])))]
            self.look(point)


def _boards(scout: Scout, document: Json, drawn: Sequence[Any]) -> list[_Board]:
    """Each array or integer alone, all arrays, these with the single numbers, and with integers.

    Integers are those of records that look as if drawn.
    """
    floats = blocks(document)
    arrays = {**floats, **(blocks(document, whole=True) if document in drawn else {})}
    sets: list[tuple[Path, ...]] = [(path,) for path in arrays]
    sets += [tuple(p for p in floats if floats[p].ndim), tuple(floats), tuple(arrays)]
    accepted: dict[tuple[Path, float], bool] = {}
    return [
        _Board(scout, document, {path: arrays[path] for path in chosen}, accepted)
        for chosen in dict.fromkeys(sets)
        if chosen
    ]


def grid(scout: Scout, generator: np.random.Generator) -> None:
    """Fill boards of the templates, as a rule small ones first, with small integers.

    A board is searched through where that takes at most three quarters of the budget; else points
    are drawn. After half of the budget entries of the closest instances become small integers
    while that brings them closer.
    """
    starts, drawn = scout.pool.closest, as_drawn(scout)
    boards = [b for e in scout.pool.templates for b in _boards(scout, e.document, drawn)]
    boards.sort(key=lambda board: sum(board.sizes))
    late = np.arange(len(boards)) + generator.exponential(_PART, len(boards))
    for k in np.argsort(late):
        if starts and 2 * scout.spent >= scout.budget:
            break
        if not boards[k].search_through():
            boards[k].draw(generator)
            boards[k].improve(generator)
    for k in generator.permutation(4 * len(starts)) % max(len(starts), 1):
        for board in _boards(scout, starts[k].document, drawn)[-1:]:  # all numbers
            own = [x for array in board.arrays.values() for x in array.ravel().tolist()]
            board.best = starts[k].height, own
            board.improve(generator)


def _complexity(point: Sequence[float]) -> tuple[float, Sequence[float]]:
    """Order of the points of a board: few and small entries first, positive before negative."""
    return sum(abs(x) for x in point), [-x for x in point]
