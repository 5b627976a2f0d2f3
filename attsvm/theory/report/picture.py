"""An instance as a picture of vectors: points in the plane and a path, a panel each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from attsvm.theory.declaration.claim import Claim
from attsvm.theory.report.markup import Markup, element, joined

Points = tuple[tuple[float, float], ...]
_WIDE, _REACH, _TEXT = 220, 82, 12
_TOP, _EDGE = 20, 25
"""Of a panel: how tall its title is, and the room around what is drawn."""


@dataclass(frozen=True, slots=True)
class Panel:
    """Points around the origin, numbered from 1, and a path of another scale.

    Attributes:
        title: stands above it.
        points: what is drawn as circles.
        best: the places of those that are filled.
        path: what is drawn as a line; its end is marked.
    """

    title: str
    points: Points
    best: frozenset[int] = frozenset()
    path: Points = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """Panels of one scale, and a sentence that says what is drawn."""

    panels: tuple[Panel, ...]
    says: str


@dataclass(frozen=True, slots=True)
class Painter:
    """A function that draws instances of claims; at module level of a pack.

    Attributes:
        draw: returns the picture of an instance, None if it has none.
    """

    draw: Callable[[Claim, Any], Picture | None]


def drawn(picture: Picture) -> Markup:
    """The picture as a figure; nothing where there is nothing that has a place."""
    panels = [p for p in picture.panels if p.points and _finite(p.points) and _finite(p.path)]
    if not panels:
        return Markup("")
    reach = _largest(p.points for p in panels)
    along = _largest(p.path for p in panels)
    wide = _WIDE * len(panels)
    heights = [
        y / s for p in panels for ps, s in ((p.points, reach), (p.path, along)) for _, y in ps
    ]
    above, below = (_EDGE + _REACH * max(0.0, end) for end in (max(heights), -min(heights)))
    tall = math.ceil(_TOP + above + below)
    shown = [
        _panel(p, k * _WIDE, round(_TOP + above), tall, reach, along) for k, p in enumerate(panels)
    ]
    view = element(
        "svg", shown, viewBox=f"0 0 {wide} {tall}", width=wide, height=tall,
        role="img", aria_label=picture.says, font_size=_TEXT,
    )  # fmt: skip
    return element("figure", view, element("figcaption", picture.says), class_="plane")


def _finite(points: Points) -> bool:
    return all(map(math.isfinite, (x for point in points for x in point)))


def _largest(groups: Iterable[Points]) -> float:
    """The largest absolute value of a coordinate, 1 where all are zero."""
    return max((abs(x) for points in groups for point in points for x in point), default=0) or 1.0


def _panel(panel: Panel, left: int, level: int, tall: int, reach: float, along: float) -> Markup:
    """A panel from `left` on, as tall as all; `level` is where its horizontal axis lies."""
    middle = left + _WIDE / 2, level

    def place(point: tuple[float, float], scale: float) -> tuple[str, str]:
        x, y = (_REACH * coordinate / scale for coordinate in point)
        return f"{middle[0] + x:.1f}", f"{middle[1] - y:.1f}"

    axes = [
        element("path", class_="axis", d=f"M{left + 8} {middle[1]}H{left + _WIDE - 8}"),
        element("path", class_="axis", d=f"M{middle[0]} {_TOP + 8}V{tall - 8}"),
    ]
    numbers: dict[tuple[str, str], list[str]] = {}
    circles = []
    for k, point in enumerate(panel.points):
        x, y = place(point, reach)
        kind = "best" if k in panel.best else "other"
        circles.append(element("circle", cx=x, cy=y, r=6, class_=kind))
        numbers.setdefault((x, y), []).append(str(k + 1))
    texts = [
        element("text", ", ".join(names), x=float(x) + 8, y=float(y) - 8)
        for (x, y), names in numbers.items()
    ]
    line = []
    if panel.path:
        places = [place(point, along) for point in panel.path]
        line.append(element("polyline", points=" ".join(",".join(p) for p in places), class_="run"))
        x, y = places[-1]
        line.append(element("circle", cx=x, cy=y, r=3.5, class_="end"))
    title = element("text", panel.title, x=left + 8, y=14, class_="title")
    return joined(title, axes, circles, line, texts)
