"""Colours, lines and frames shared by all pictures; matplotlib's global state is not changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from attsvm.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F5F3F", "#000000")
"""Colours that colour-blind readers can distinguish (after Okabe and Ito), blue and orange
first."""

DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.2, 1.5)), (0, (6, 2, 1, 2)))
"""Line styles: solid, dashed, dotted, dash-dotted."""

SHAPES = ("o", "s", "D", "^", "v", "P", "X", "*")
"""Markers by token or input."""

INK = "#333333"
"""Colour of text and lines that mark a value."""


def ensure_drawable(path: Path, what: str = "the plot") -> None:
    """Raise if a plot cannot be written to `path`, before anything is computed for it.

    `what` names the thing to leave out if matplotlib is missing.

    Raises:
        UsageError: matplotlib is missing, or cannot write the format of that ending.
    """
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError as error:
        raise UsageError(
            "plots need matplotlib", remedy=f"pip install 'attsvm[plot]', or leave out {what}."
        ) from error
    supported = sorted(FigureCanvasBase.get_supported_filetypes())
    if path.suffix.lstrip(".").lower() not in supported:
        raise UsageError(
            "the plot's file name has no ending that can be written",
            value=path.name,
            remedy=f"Use one of {', '.join(supported)}.",
        )


def sheet(rows: int = 1, columns: int = 1, *, panel: tuple[float, float] = (4.4, 3.5)) -> Figure:
    """Return an empty figure with room for that many panels, of `panel` inches each.

    Raises:
        UsageError: matplotlib is missing.
    """
    ensure_drawable(Path("picture.png"))
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    size = panel[0] * columns, panel[1] * rows
    engine = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08)
    return Figure(figsize=size, dpi=150, layout=engine, facecolor="white")


def root(axes: Axes) -> Figure:
    """Return the outermost figure of a panel, even if it lies in a subfigure."""
    figure: Any = axes.figure
    return cast("Figure", figure.figure)  # that of a subfigure, and of a figure itself


def dress(axes: Axes, title: str = "", xlabel: str = "", ylabel: str = "") -> Axes:
    """Set title, labels, a light grid and no frame above and right; return the panel."""
    axes.set_xlabel(xlabel, color=INK)
    axes.set_ylabel(ylabel, color=INK)
    axes.set_title(title, loc="left", fontsize=10.5, color=INK)
    axes.grid(color="#e6e6e6", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK, labelsize=8.5)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color("#aaaaaa")
    return axes


def key(axes: Axes, **where: Any) -> None:
    """Add a legend to a panel if some line has a label."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(
            **{"fontsize": 8, "framealpha": 0.9, "edgecolor": "none", "labelcolor": INK} | where
        )


def key_below(figure: Figure | SubFigure, columns: int = 3) -> None:
    """Add one legend under all panels, each label once."""
    results: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            results.setdefault(label, handle)
    look = {"fontsize": 8.5, "frameon": False, "labelcolor": INK}
    figure.legend(results.values(), results, loc="outside lower center", ncols=columns, **look)


def ramp(count: int) -> list[Any]:
    """Return colours for an ordered series, dark to light (viridis without its palest end)."""
    from matplotlib import colormaps

    return [colormaps["viridis"](x) for x in np.linspace(0.0, 0.88, count)]
