"""The pool: the instances that came closest and the smallest of each size, shared by searchers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from attsvm.theory import codec
from attsvm.theory.searchers.document import leaves, signature

__all__ = ["Elite", "Pool"]

_CLOSEST = 16
"""How many instances are kept for their height."""

_A_SIZE = 4
"""How many of them may share all their shapes."""

_TEMPLATES = 8
"""How many instances are kept for their smallness, each of shapes of its own."""


@dataclass(frozen=True, slots=True)
class Elite:
    """An accepted instance, encoded, and how close it came to violating the conclusion."""

    height: float
    document: Any
    key: str = field(repr=False)

    @classmethod
    def of(cls, height: float, document: Any) -> Elite:
        """An elite from an encoded instance."""
        return cls(height, document, json.dumps(document, sort_keys=True))


class Pool:
    """Closest instances first, few of each size; and templates, the smallest first.

    Of equally close ones the shortest are kept: many counterexamples are degenerate.
    """

    def __init__(self, elites: Iterable[Elite] = ()) -> None:
        self.closest: list[Elite] = []
        self._templates: dict[Any, Elite] = {}
        for elite in elites:
            self.add(elite)

    @property
    def height(self) -> float:
        """The largest height; minus infinity where the pool is empty."""
        return self.closest[0].height if self.closest else -math.inf

    @property
    def templates(self) -> list[Elite]:
        """One instance of each size seen, the smallest size first."""
        return sorted(self._templates.values(), key=_smallness)

    def offer(self, height: float, case: Any) -> bool:
        """Offer an accepted instance; whether it came closer than all before."""
        full = len(self.closest) >= _CLOSEST and len(self._templates) >= _TEMPLATES
        if full and not height > self.closest[-1].height:
            return False
        best = self.height
        self.add(Elite.of(height, codec.encode(case)))
        return self.height > best

    def add(self, elite: Elite) -> None:
        """Take an elite in where it ranks high enough."""
        if math.isnan(elite.height):
            return
        shape = signature(elite.document)
        kept = self._templates.get(shape)
        if kept is None or _smallness(elite) < _smallness(kept):
            self._templates[shape] = elite
            if len(self._templates) > _TEMPLATES:
                largest = max(self._templates, key=lambda s: _smallness(self._templates[s]))
                del self._templates[largest]
        if not math.isfinite(elite.height) or any(e.key == elite.key for e in self.closest):
            return
        ranked = sorted([*self.closest, elite], key=lambda e: (-e.height, len(e.key), e.key))
        counts: dict[Any, int] = {}
        chosen = []
        for each in ranked:
            size = signature(each.document)
            counts[size] = counts.get(size, 0) + 1
            if counts[size] <= _A_SIZE:
                chosen.append(each)
        self.closest = chosen[:_CLOSEST]

    def elites(self) -> list[Elite]:
        """All that the pool holds, each once: a pool made of them is this one."""
        unique = {e.key: e for e in (*self.closest, *self.templates)}
        return list(unique.values())

    def json(self) -> list[list[Any]]:
        """As plain data; a height of minus infinity as None."""
        return [[e.height if math.isfinite(e.height) else None, e.document] for e in self.elites()]

    @classmethod
    def read(cls, entries: Iterable[Iterable[Any]]) -> Pool:
        """From plain data."""
        return cls(Elite.of(-math.inf if h is None else h, document) for h, document in entries)


def _smallness(elite: Elite) -> tuple[int, int, str]:
    return sum(1 for _ in leaves(elite.document)), len(elite.key), elite.key
