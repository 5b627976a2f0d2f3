"""What the experiments share: means and shares with intervals of 95%, and their picture.

Both kinds of tables have the columns `mean`, `low`, `high` and `data_sets`. The interval of a mean
is that of the normal approximation; that of a share is the exact binomial one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from attsvm._types import Array, Bool, Float
from attsvm.plots import Table, mean_and_error
from attsvm.plots.style import DASHES, INK, PALETTE, dress, key_below, sheet
from attsvm.primitives.counts import interval
from attsvm.reproduce import Figure, Numbers

INTERVAL, RISK = 1.96, 0.025


def means(values: Float[Array, " ..."], **keys: object) -> Table:
    """Means over the first axis, NaN left out, beside keys of the shape of the other axes."""
    shape = values.shape[1:]
    parts = mean_and_error(values.reshape(len(values), int(np.prod(shape))))
    mean, error, count = (part.reshape(shape) for part in parts)
    half = INTERVAL * error
    return Table.of(**_words(keys), mean=mean, low=mean - half, high=mean + half, data_sets=count)


def shares(hits: Bool[Array, " ..."], **keys: object) -> Table:
    """How many of the data sets hit, their share and its interval."""
    counts = hits.sum(axis=0)
    ends = [interval(int(count), len(hits), RISK) for count in counts.ravel()]
    low, high = np.reshape(ends, (-1, 2)).T.reshape(2, *counts.shape)
    share = counts / len(hits)
    return Table.of(
        **_words(keys), hits=counts, mean=share, low=low, high=high, data_sets=len(hits)
    )


def curves(
    table: Table,
    *,
    x: str,
    panels: str,
    lines: str,
    xlabel: str,
    ylabel: str,
    alike: bool = True,
    **scales: Any,
) -> Figure:
    """Means against a column, a panel and a line for each value of two others, intervals shaded.

    Panels that are `alike` share their vertical axis. `scales` are settings of all panels, such as
    `xscale`, `yscale` and `ylim`.
    """
    found, names = table.distinct(panels), table.distinct(lines)
    figure = sheet(1, len(found), panel=(4.0, 3.6))
    row = figure.subplots(1, len(found), sharey=alike, squeeze=False)[0]
    for axes, value in zip(row, found, strict=True):
        title = str(value) if isinstance(value, str) else f"{panels} = {value:g}"
        dress(axes, title, xlabel, ylabel)
        for c, name in enumerate(names):
            rows = table.where(**{panels: value, lines: name})
            look = {"color": PALETTE[c % len(PALETTE)], "linestyle": DASHES[c % len(DASHES)]}
            label = name if isinstance(name, str) else f"{lines} = {name:g}"
            axes.fill_between(rows[x], rows["low"], rows["high"], alpha=0.18, color=look["color"])
            axes.plot(rows[x], rows["mean"], linewidth=1.7, label=label, **look)
        axes.set(**scales)
        if alike:
            axes.label_outer()
    key_below(figure, columns=min(len(names), 4))
    figure.suptitle("mean and 95% interval", x=0.02, ha="left", fontsize=9, color=INK)
    return figure


def by_dimension(numbers: Numbers) -> Figure:
    """Frequencies against d, a panel for each size, a line for each condition."""
    return curves(
        numbers.tables["frequencies"], x="d", panels="size", lines="condition",
        xlabel="dimension d", ylabel="share of data sets", xscale="log", ylim=(-0.03, 1.03),
    )  # fmt: skip


def _words(keys: dict[str, object]) -> dict[str, object]:
    return {name: np.asarray(value) for name, value in keys.items()}
