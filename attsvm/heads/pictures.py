"""Pictures of attention heads: a model as layers by heads, one head, and figures over training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from attsvm._types import Array, Float, Shaped
from attsvm.errors import DataError
from attsvm.plots.draw import count_axis
from attsvm.plots.style import INK, PALETTE, dress, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from attsvm.heads.arrays import HeadArrays
    from attsvm.heads.table import Row, Table

HALF = 0.5
"""Least weight of a selected token that is marked, and least share that names what is selected."""

MOST_TOKENS = 512
"""Maximum number of queries, and of tokens, that a picture of a head shows."""

LETTERS = {"first": "1", "itself": "=", "another": ">"}
"""Marks of what at least half of the selecting queries of a head select."""

KEY = ("most select", "1: the first token", "=: the token at their own position", ">: another")
"""Explanation of the marks, on one line or on four."""

KEY_WIDTH = 6.0
"""Least width of a picture, in inches, whose explanation of the marks is on one line."""


def model(table: Table) -> Figure:
    """Draw the share of queries that select, one cell for each head, one row for each layer.

    A mark says what at least half of the selecting queries of a head select. `1` stands for the
    first token of the sequence, `=` for the token at the query's own position, `>` for another one.
    Heads that are not in the table, or have no query with two tokens, are left blank.

    Raises:
        UsageError: matplotlib is missing.
    """
    places = [*map(_place, table.rows)]
    layers = list(dict.fromkeys(layer for layer, _ in places))
    count = 1 + max(number for _, number in places)
    shares = np.full((len(layers), count), np.nan)
    width, height = 2.6 + 0.34 * count, 1.6 + 0.3 * len(layers)
    narrow = width < KEY_WIDTH
    figure = sheet(panel=(width, height + 0.4 if narrow else height))
    panel = dress(figure.add_subplot(), "share of queries that select a token", "head", "")
    panel.grid(visible=False)
    for row, (layer, j) in zip(table.rows, places, strict=True):
        i = layers.index(layer)
        shares[i, j] = row.selecting
        kinds = {name: getattr(row, name) for name in LETTERS}
        for name, share in kinds.items():
            if share >= HALF and row.selecting > 0.0:
                colour = "white" if row.selecting < HALF else INK
                panel.text(j, i, LETTERS[name], ha="center", va="center", color=colour, size=8)
                break
    image = panel.imshow(shares, vmin=0.0, vmax=1.0, cmap="viridis", aspect="auto")
    panel.set_yticks(range(len(layers)), layers)
    panel.set_xticks(range(0, count, 1 + count // 17))
    figure.colorbar(image, ax=panel, shrink=0.9)
    figure.supxlabel(("\n" if narrow else "   ").join(KEY), fontsize=8, color=INK)
    return figure


def attention(head: HeadArrays, sequence: int = 0) -> Figure:
    """Draw the weights of a head on one sequence, and how clearly each query selects.

    On the left each row is a query and each column a token; a dot marks a selected token with at
    least half of the weight. On the right is the difference of the two largest logits of each
    query, on a scale that is logarithmic from 1 on. Of longer sequences the first 512 queries and
    tokens are shown.

    Args:
        head: the head.
        sequence: the index of a sequence of the head.

    Raises:
        DataError: the head has no such sequence.
        UsageError: matplotlib is missing.
    """
    if not 0 <= sequence < len(head.sequences):
        raise DataError(
            f"{head.name} has no such sequence",
            value=sequence,
            remedy=f"Choose one of 0 to {len(head.sequences) - 1}.",
        )
    one = head.sequence(sequence)
    logits, places = one.logits[:MOST_TOKENS], one.positions[0][:MOST_TOKENS]
    weights, gap = one.attention[:MOST_TOKENS], _gaps(logits)
    figure = sheet(1, 2, panel=(4.2, 4.2))
    seen: Axes
    seen, clear = figure.subplots(1, 2, width_ratios=(3, 1), sharey=True)
    dress(seen, "weights", "token", "query")
    seen.grid(visible=False)
    shown = np.where(np.isfinite(logits), weights, np.nan)[:, :MOST_TOKENS]
    edges = np.arange(len(places) + 1) - 0.5
    image = seen.pcolormesh(
        np.arange(shown.shape[1] + 1) - 0.5, edges, shown, vmin=0.0, vmax=1.0, cmap="Greys"
    )
    image.set_rasterized(True)
    rows = np.flatnonzero(weights.max(axis=1) >= HALF)
    chosen = weights[rows].argmax(axis=1)
    inside = chosen < shown.shape[1]
    size = float(np.clip(900.0 / len(places), 1.5, 30.0))
    seen.scatter(chosen[inside], rows[inside], s=size, color=PALETTE[1], linewidth=0.0)
    seen.invert_yaxis()
    ticks = np.arange(0, len(places), -(-len(places) // 9))
    seen.set_yticks(ticks, [str(place) for place in places[ticks]])
    seen.set_xticks(range(0, shown.shape[1], -(-shown.shape[1] // 9)))
    dress(clear, "gap of logits", "nats")
    widths = np.where(np.isfinite(gap), gap, 0.0)
    clear.barh(np.arange(len(gap)), widths, 1.0, color=PALETTE[0])
    if widths.max() > 1.0:
        clear.set_xscale("symlog", linthresh=1.0)
    figure.suptitle(f"{head.name}, sequence {head.sequences[sequence]}", fontsize=10, color=INK)
    return figure


def curves(
    clock: Shaped[Array, " k"],
    figures: Mapping[str, Mapping[str, Float[Array, " _"]]],
    *,
    expected: Mapping[str, float] | None = None,
    title: str = "",
) -> Figure:
    """Draw figures of a head over training: a panel for each, a line for each kind of training.

    Args:
        clock: the steps at which the figures were taken.
        figures: by name of the figure, its values by kind of training.
        expected: by name of the figure, the value to which the theory says that it tends.
        title: the title.

    Raises:
        DataError: a line has not one value for each step.
        UsageError: matplotlib is missing.
    """
    for name, lines in figures.items():
        for kind, values in lines.items():
            if np.shape(values) != np.shape(clock):
                raise DataError(
                    "a line needs one value for each step", value=f"{name}, {kind}: {len(values)}"
                )
    columns = min(3, len(figures))
    rows = -(-len(figures) // columns)
    figure = sheet(rows, columns, panel=(3.2, 2.5))
    panels = figure.subplots(rows, columns, squeeze=False)
    for panel, (name, lines) in zip(panels.flat, figures.items(), strict=False):
        dress(panel, name, "step")
        for c, (kind, values) in enumerate(lines.items()):
            panel.plot(clock, values, "o-", ms=3.0, color=PALETTE[c % len(PALETTE)], label=kind)
        if name in (expected or {}):
            panel.axhline((expected or {})[name], color=INK, linewidth=0.9, linestyle=(0, (5, 2)))
        count_axis(panel, np.asarray(clock, dtype=float))
    for panel in panels.flat[len(figures) :]:
        panel.set_visible(False)
    handles, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8.5, frameon=False)
    figure.suptitle(title, x=0.02, ha="left", fontsize=12, color=INK)
    return figure


def _place(row: Row) -> tuple[str, int]:
    """Return the layer and the number of a head, which is 0 if its name has none."""
    layer, _, number = row.name.rpartition(", head ")
    return (layer, int(number)) if layer and number.isdecimal() else (row.name, 0)


def _gaps(logits: Array) -> Array:
    """Return the difference of each query's two largest logits; infinite for a single token."""
    two = np.sort(logits, axis=1)[:, -2:]
    gaps: Array = two[:, -1] - two[:, 0] if logits.shape[1] > 1 else np.full(len(logits), np.inf)
    return gaps
