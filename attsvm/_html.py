"""Fragments of HTML for notebooks: of bounded size, and escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from attsvm._types import Array

MOST = 40
"""Rows of a table at most."""

_LONGEST = 400
"""Letters of a cell at most."""


def cell(text: object, most: int = _LONGEST) -> str:
    """Return a text as it is read, shortened if it is long."""
    said = str(text)
    return escape(said if len(said) <= most else f"{said[:most]} ...")


def pre(text: str) -> str:
    """Lines as they are, cut where they are many."""
    return f"<pre>{cell(text, 50 * _LONGEST)}</pre>"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table of so many rows at most, and how many it leaves out."""
    every = list(rows)
    lines = (
        [f"<th>{cell(word)}</th>" for word in head],
        *(
            [f"<td style='text-align:left'>{cell(word)}</td>" for word in row]
            for row in every[:MOST]
        ),
    )
    body = "".join(f"<tr>{''.join(line)}</tr>" for line in lines)
    left = f"<p>and {len(every) - MOST} more</p>" if len(every) > MOST else ""
    return f"<table>{body}</table>{left}"


def curve(values: Array, width: int = 240, height: int = 80) -> str:
    """Return a curve through the finite values as a vector picture."""
    places = np.flatnonzero(np.isfinite(values))
    if places.size < 2:
        return ""
    places = places[np.unique(np.linspace(0, places.size - 1, 200).astype(int))]
    y = values[places]
    low, span = float(y.min()), float(np.ptp(y)) or 1.0
    x = places / max(int(places[-1]), 1) * width
    points = " ".join(
        f"{a:.1f},{height - (b - low) / span * height:.1f}" for a, b in zip(x, y, strict=True)
    )
    return (
        f"<svg viewBox='-2 -2 {width + 4} {height + 4}' width='{width}' height='{height}' "
        f"role='img'><polyline points='{points}' fill='none' stroke='currentColor'/></svg>"
    )
