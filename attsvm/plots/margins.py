"""A plot of the margins of an answer, with the required margin as a line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from attsvm._files import write_whole
from attsvm._types import Array, Float
from attsvm.plots.style import ensure_drawable


def plot_margins(
    margins: Float[Array, "n T"], support: Sequence[Sequence[int]], title: str, path: Path
) -> Path:
    """Draw every margin as a point, input by input.

    Args:
        margins: margins by input and token, infinite without a constraint.
        support: the support tokens of each input.
        title: the title.
        path: the file; its ending names the format.

    Raises:
        UsageError: matplotlib is missing, or cannot write the format of that ending.
    """
    ensure_drawable(path)
    from matplotlib.figure import Figure

    n = len(margins)
    figure = Figure(figsize=(7.0, 1.2 + 0.28 * min(n, 100)), layout="constrained")
    axes = figure.add_subplot()
    shown = np.isfinite(margins)
    tight = np.zeros_like(shown)
    for i, row in enumerate(support):
        tight[i, list(row)] = True
    short = shown & (margins < 1.0) & ~tight
    others = shown & ~tight & ~short
    for mask, colour, label in (
        (others, "tab:blue", "other tokens"),
        (tight, "tab:orange", "support tokens"),
        (short, "tab:red", "short of the margin"),
    ):
        rows, tokens = np.nonzero(mask)
        if rows.size:
            axes.scatter(margins[rows, tokens], rows, color=colour, label=label, s=18, alpha=0.8)
    axes.axvline(1.0, color="black", linewidth=1)
    axes.set(
        xlabel="margin $(x_{target} - x_t)^T W z$",
        ylabel="input",
        title=title,
        yticks=range(n),
    )
    if n > 40:
        axes.set_yticks(range(0, n, n // 20))
    axes.invert_yaxis()
    axes.legend(loc="best", fontsize="small")
    write_whole(path, lambda file: figure.savefig(file, format=path.suffix[1:], dpi=150))
    return path
