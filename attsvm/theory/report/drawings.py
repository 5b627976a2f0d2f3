"""Drawings: the graph of dependencies between statements, and pictures of instances."""

import math
from collections.abc import Iterable, Sequence

from markupsafe import Markup

from attsvm._types import JsonObject
from attsvm.theory.report.dependencies import Dependencies, levels, resting_on
from attsvm.theory.report.picture import Panel, Picture, Points
from attsvm.theory.report.rendering import render
from attsvm.theory.report.source_view import SourceView
from attsvm.theory.report.view import StatementView

_WIDE, _HIGH, _ACROSS, _DOWN = 215, 20, 275, 28
"""The size of a box, and the distances between the left and upper ends of boxes, in pixels."""

_COLOURS = {"stands": "#cfe8d3", "refuted": "#fbe3b8", "turned": "#f6c9c4"}

_PANEL, _REACH = 220, 82
"""The width of a panel, and the distance of its furthest point from the origin, in pixels."""

_TOP, _EDGE = 20, 25
"""The height of the title of a panel, and the room around its points, in pixels."""


def drawing(views: Iterable[SourceView]) -> str:
    """Return the statements of these sources as SVG.

    Raises:
        ClaimError: statements rest on each other in a circle.
    """
    return f"{graph([s for view in views for s in view.statements])}\n"


def graph(statements: Sequence[StatementView], *, linked: bool = False) -> Markup:
    """Return a graph in which each statement stands left of the statements that rest on it.

    A red frame marks statements that rest on an overturned one, directly or through others.

    Args:
        statements: the statements; those without loaded claims are left out.
        linked: whether boxes link to the statements on the page that contains the graph.

    Raises:
        ClaimError: statements rest on each other in a circle.
    """
    shown = [s for s in statements if any(r.claim for r in s.readings)]
    rests: Dependencies = {s.id: s.rests_on for s in shown}
    touched = {id for s in shown if s.turned for id in resting_on(s.id, rests)}
    places = _places(rests)
    boxes = []
    for s in shown:
        state = "turned" if s.turned else "refuted" if s.refuted else "stands"
        frame = "#a3211b" if s.id in touched else "#999"
        boxes.append((s.id, *places[s.id], frame, _COLOURS[state]))
    edges = [
        (*places[other], *places[id]) for id in rests for other in rests[id] if other in places
    ]
    ends = [(x + _WIDE + 10, y + _HIGH + 10) for x, y in places.values()]
    wide, tall = (max((end[k] for end in ends), default=10) for k in (0, 1))
    sizes = {"box_wide": _WIDE, "box_high": _HIGH, "wide": max(wide, 1200), "tall": tall}
    return render("graph.svg.j2", boxes=boxes, edges=edges, linked=linked, **sizes)


def _places(rests: Dependencies) -> dict[str, tuple[int, int]]:
    """Return the positions of the boxes: sources below each other, levels side by side."""
    # a statement is one column right of the last statement that it rests on, so arrows go right
    level = levels(rests)
    results: dict[str, tuple[int, int]] = {}
    top = 0
    for source in dict.fromkeys(s.partition("/")[0] for s in rests):
        rows = dict.fromkeys(level.values(), top)
        for statement in (s for s in rests if s.startswith(f"{source}/")):
            column = level[statement]
            results[statement] = (10 + column * _ACROSS, 40 + rows[column] * _DOWN)
            rows[column] += 1
        top = max(rows.values()) + 1
    return results


def drawn(picture: Picture) -> Markup:
    """Return the picture as a figure; empty if no panel has finite points."""
    panels = [p for p in picture.panels if p.points and _finite(p.points) and _finite(p.path)]
    if not panels:
        return Markup()
    reach = _largest(p.points for p in panels)
    along = _largest(p.path for p in panels)
    heights = [
        y / s for p in panels for ps, s in ((p.points, reach), (p.path, along)) for _, y in ps
    ]
    above, below = (_EDGE + _REACH * max(0.0, end) for end in (max(heights), -min(heights)))
    level = round(_TOP + above)
    shown = [_panel(p, k * _PANEL, level, reach, along) for k, p in enumerate(panels)]
    sizes = {"wide": _PANEL, "tall": math.ceil(_TOP + above + below), "level": level, "top": _TOP}
    return render("picture.svg.j2", panels=shown, says=picture.says, **sizes)


def _finite(points: Points) -> bool:
    return all(map(math.isfinite, (x for point in points for x in point)))


def _largest(groups: Iterable[Points]) -> float:
    """Return the largest absolute value of a coordinate, 1 if all are zero."""
    return max((abs(x) for points in groups for point in points for x in point), default=0) or 1.0


def _panel(panel: Panel, left: int, level: int, reach: float, along: float) -> JsonObject:
    """Return the drawing of a panel; `level` is the height of its horizontal axis."""

    def places(points: Points, scale: float) -> list[tuple[str, str]]:
        middle = left + _PANEL / 2
        scaled = ((_REACH * x / scale, _REACH * y / scale) for x, y in points)
        return [(f"{middle + x:.1f}", f"{level - y:.1f}") for x, y in scaled]

    circles = places(panel.points, reach)
    numbers: dict[tuple[str, str], list[str]] = {}
    for k, place in enumerate(circles):
        numbers.setdefault(place, []).append(str(k + 1))
    return {
        "title": panel.title,
        "left": left,
        "middle": left + _PANEL / 2,
        "circles": [(*p, "best" if k in panel.best else "other") for k, p in enumerate(circles)],
        "numbers": [(float(x) + 8, float(y) - 8, ", ".join(n)) for (x, y), n in numbers.items()],
        "path": places(panel.path, along),
    }
