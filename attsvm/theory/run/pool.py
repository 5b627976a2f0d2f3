"""A pool of the instances closest to a violation and of the smallest of each size."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from attsvm._types import Case, Json
from attsvm.theory.instance import codec
from attsvm.theory.instance.document import leaves, signature

_CLOSEST = 16
"""Maximum number of instances kept because they are close to a violation."""

_A_SIZE = 4
"""Maximum number of close instances with equal shapes."""

_TEMPLATES = 8
"""Maximum number of small instances kept, one for each combination of shapes."""

_smallness = attrgetter("smallness")


@dataclass(frozen=True, slots=True)
class Elite:
    """An accepted, encoded instance and its height: how close it came to a violation.

    Attributes:
        height: the closeness; minus infinity if unknown.
        document: the instance; it must not be changed.
        key: the document as text.
        shape: the shapes of its arrays.
        smallness: sort key: number of floats, then length of the text, then the text.
    """

    height: float
    document: Json
    key: str = field(repr=False)
    shape: tuple[tuple[int, ...], ...] = field(repr=False)
    smallness: tuple[int, int, str] = field(repr=False)

    @classmethod
    def of(cls, height: float, document: Json) -> Elite:
        """Return an elite from an encoded instance."""
        key = json.dumps(document, sort_keys=True)
        floats = sum(1 for _ in leaves(document))
        return cls(height, document, key, signature(document), (floats, len(key), key))

    def json(self) -> list[Json]:
        """Return plain data; a height of minus infinity becomes None."""
        return [self.height if math.isfinite(self.height) else None, self.document]

    @classmethod
    def read(cls, entry: Iterable[Any]) -> Elite:
        """Return an elite from plain data."""
        height, document = entry
        return cls.of(-math.inf if height is None else height, document)


class Pool:
    """The instances closest to a violation, a few of each size, and the smallest one of each size.

    The smallest ones are called templates: searchers start from them.

    Among equally close instances the shortest are kept: many counterexamples are degenerate.
    """

    def __init__(self, elites: Iterable[Elite] = ()) -> None:
        self.closest: list[Elite] = []
        self._templates: dict[Hashable, Elite] = {}
        for elite in elites:
            self.add(elite)

    @property
    def height(self) -> float:
        """The largest height; minus infinity if no instance with a finite height is kept."""
        return self.closest[0].height if self.closest else -math.inf

    @property
    def templates(self) -> list[Elite]:
        """The smallest instance of each size, smallest first."""
        return sorted(self._templates.values(), key=_smallness)

    @property
    def forms(self) -> str:
        """The shapes of all instances as text, and whether any height is known."""
        return f"{sorted({e.shape for e in self.elites()})} {bool(self.closest)}"

    def offer(self, height: float, case: Case) -> bool:
        """Add an accepted instance if it ranks high enough; return whether it is the closest."""
        full = len(self.closest) >= _CLOSEST and len(self._templates) >= _TEMPLATES
        if full and not height > self.closest[-1].height:
            return False
        best = self.height
        self.add(Elite.of(height, codec.encode(case)))
        return self.height > best

    def add(self, elite: Elite) -> None:
        """Add an elite if it ranks high enough."""
        if math.isnan(elite.height):
            return
        kept = self._templates.get(elite.shape)
        if kept is None or elite.smallness < kept.smallness:
            self._templates[elite.shape] = elite
            if len(self._templates) > _TEMPLATES:
                del self._templates[max(self._templates.values(), key=_smallness).shape]
        if not math.isfinite(elite.height) or any(e.key == elite.key for e in self.closest):
            return
        ranked = sorted([*self.closest, elite], key=lambda e: (-e.height, len(e.key), e.key))
        counts: dict[Hashable, int] = {}
        chosen = []
        for each in ranked:
            counts[each.shape] = counts.get(each.shape, 0) + 1
            if counts[each.shape] <= _A_SIZE:
                chosen.append(each)
        self.closest = chosen[:_CLOSEST]

    def elites(self) -> list[Elite]:
        """Return all elites once; a pool made of them equals this pool."""
        unique = {e.key: e for e in (*self.closest, *self.templates)}
        return list(unique.values())

    def text(self) -> str:
        """Return the pool as text for `read`."""
        return json.dumps([e.json() for e in self.elites()])

    @classmethod
    def read(cls, text: str) -> Pool:
        """Return a pool from text.

        Texts are cached, as every turn of a round reads the same one.
        """
        return cls(_elites(text))


@functools.lru_cache(maxsize=4)
def _elites(text: str) -> tuple[Elite, ...]:
    return tuple(map(Elite.read, json.loads(text)))
