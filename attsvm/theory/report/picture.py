"""Pictures of instances: panels, each with points in the plane and a path."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from attsvm.theory.declaration.claim import Claim

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """Points around the origin, numbered from 1, and a path with a scale of its own.

    Attributes:
        title: the text above it.
        points: circles.
        best: the indices of the points whose circles are filled.
        path: a line, whose end is marked.
    """

    title: str
    points: Points
    best: frozenset[int] = frozenset()
    path: Points = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """Panels of one scale, and a sentence that describes them."""

    panels: tuple[Panel, ...]
    says: str


@dataclass(frozen=True, slots=True)
class Painter:
    """A function that draws instances of claims; at module level of a pack.

    Attributes:
        draw: returns the picture of an instance, None if it has none.
    """

    draw: Callable[[Claim, Any], Picture | None]
