"""Tables and pictures of experiments: means and shares with 95% intervals.

Tables of means and of shares have the columns `mean`, `low`, `high` and `data_sets`. The interval
of a mean uses the normal approximation; that of a share is the exact binomial one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from attsvm._types import Array, Bool, Float
from attsvm.plots import Table, mean_and_error
from attsvm.plots.style import DASHES, INK, PALETTE, dress, key_below, sheet
from attsvm.primitives.counts import interval
from attsvm.reproduce import Figure, Numbers

INTERVAL, RISK = 1.96, 0.025


def means(values: Float[Array, " ..."], **keys: object) -> Table:
    """Return a table of means over the first axis, ignoring NaN; `keys` are further columns.

    Keys have the shape of the other axes.
    """
    shape = values.shape[1:]
    parts = mean_and_error(values.reshape(len(values), int(np.prod(shape))))
    mean, error, count = (part.reshape(shape) for part in parts)
    half = INTERVAL * error
    return Table.of(**_words(keys), mean=mean, low=mean - half, high=mean + half, data_sets=count)


def shares(hits: Bool[Array, " ..."], **keys: object) -> Table:
    """Return a table of the number of data sets that hit, their share and its interval."""
    counts = hits.sum(axis=0)
    ends = [interval(int(count), len(hits), RISK) for count in counts.ravel()]
    low, high = np.reshape(ends, (-1, 2)).T.reshape(2, *counts.shape)
    share = counts / len(hits)
    return Table.of(
        **_words(keys), hits=counts, mean=share, low=low, high=high, data_sets=len(hits)
    )


@dataclass(frozen=True, slots=True)
class Curves:
    """A picture of means: a panel for each value of one column, a line for each of another.

    Attributes:
        table: the name of the table, which has the columns of `means` or `shares`.
        x, panels, lines: the columns for the horizontal axis, the panels and the lines.
        xlabel, ylabel: labels of the axes.
        where: allowed values by column; other rows are not drawn.
        alike: whether panels share their vertical axis.
        scales: settings of all panels, such as `xscale`, `yscale` and `ylim`.
    """

    table: str
    x: str
    panels: str
    lines: str
    xlabel: str
    ylabel: str
    where: Mapping[str, Sequence[str]] = field(default_factory=dict)
    alike: bool = True
    scales: Mapping[str, object] = field(default_factory=dict)

    def __call__(self, numbers: Numbers) -> Figure:
        """Return the picture, with 95% intervals shaded."""
        table = numbers.tables[self.table]
        for column, values in self.where.items():
            kept = np.isin(table[column], values)
            table = Table({key: cells[kept] for key, cells in table.columns.items()})
        panels, names = table.distinct(self.panels), table.distinct(self.lines)
        figure = sheet(1, len(panels), panel=(4.0, 3.6))
        row = figure.subplots(1, len(panels), sharey=self.alike, squeeze=False)[0]
        for axes, value in zip(row, panels, strict=True):
            title = str(value) if isinstance(value, str) else f"{self.panels} = {value:g}"
            dress(axes, title, self.xlabel, self.ylabel)
            for c, name in enumerate(names):
                rows = table.where(**{self.panels: value, self.lines: name})
                look = {"color": PALETTE[c % len(PALETTE)], "linestyle": DASHES[c % len(DASHES)]}
                label = name if isinstance(name, str) else f"{self.lines} = {name:g}"
                x, low, high = (rows[key] for key in (self.x, "low", "high"))
                axes.fill_between(x, low, high, alpha=0.18, color=look["color"])
                axes.plot(x, rows["mean"], linewidth=1.7, label=label, **look)
            axes.set(**self.scales)
            if self.alike:
                axes.label_outer()
        key_below(figure, columns=min(len(names), 4))
        figure.suptitle("mean and 95% interval", x=0.02, ha="left", fontsize=9, color=INK)
        return figure


BY_DIMENSION = Curves(
    "frequencies", "d", "size", "condition", "dimension d", "share of data sets",
    scales={"xscale": "log", "ylim": (-0.03, 1.03)},
)  # fmt: skip
"""Frequencies against d, with a panel for each size and a line for each condition."""


def _words(keys: dict[str, object]) -> dict[str, object]:
    return {name: np.asarray(value) for name, value in keys.items()}
