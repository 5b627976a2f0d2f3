"""Pictures of training: each function takes plain arrays and returns a matplotlib Figure.

Each draws a new figure, or into `axes` or `figure` if these are given. A caller who gives `axes`
adds the legend (`attsvm.plots.style.key_below`).
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from attsvm._types import Array, Float, Int, Shaped
from attsvm.errors import DataError
from attsvm.plots.measures import Heading, heading
from attsvm.plots.style import DASHES, INK, PALETTE, SHAPES, dress, key_below, ramp, root, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


TOKENS = ("#009E73", "#E69F00", "#CC79A7", "#56B4E9")
"""Colours of inputs or groups, in their order; green and orange first, as in the talk."""


def trajectories(
    paths: Mapping[str, Float[Array, "B k 2"]],
    rays: Mapping[str, Float[Array, "g 2"]],
    tokens: Float[Array, "n T 2"] | None = None,
    *,
    towards: Sequence[int] | None = None,
    title: str = "",
    xlabel: str = "first coordinate",
    ylabel: str = "second coordinate",
    axes: Axes | None = None,
) -> Figure:
    """Draw paths of training in the plane, rays of SVM directions, and tokens as markers.

    A single group of paths is coloured by the ray that each path approaches. Several groups, for
    example W z_1 and W z_2, have one colour each.

    Args:
        paths: by group, B paths of k points.
        rays: by name, one direction for each group (rows); each name has its own dashes.
        tokens: tokens, numbered at their markers.
        towards: the ray that each path approaches; by default the one at the least angle to its
            end.
        title: the title.
        xlabel: the label of the first coordinate.
        ylabel: the label of the second coordinate.
        axes: the axes to draw into; None for a new figure.

    Raises:
        DataError: a name of rays does not have one direction for each group.
        UsageError: matplotlib is missing.
    """
    for name, ray in rays.items():
        if np.shape(ray) != (len(paths), 2):
            raise DataError(
                "rays are one direction of the plane for each group of paths",
                value=f"{name} of shape {np.shape(ray)} for {len(paths)} groups",
            )
    panel = axes if axes is not None else sheet(panel=(5.6, 5.2)).add_subplot()
    dress(panel, title, xlabel, ylabel)
    single = len(paths) == 1
    inputs = np.zeros((0, 0, 2)) if tokens is None else tokens
    reach = max(float(np.abs(p).max(initial=0.0)) for p in [*paths.values(), inputs])
    for j, (name, ray) in enumerate(rays.items()):
        for g, (group, direction) in enumerate(zip(paths, ray, strict=True)):
            far = direction / np.linalg.norm(direction) * 3.0 * reach
            panel.plot(
                [0.0, far[0]],
                [0.0, far[1]],
                color=PALETTE[j % len(PALETTE)] if single else TOKENS[g % len(TOKENS)],
                linestyle=DASHES[j % len(DASHES)],
                linewidth=2.6,
                alpha=0.55,
                label=name if single else f"{name}, {group}",
                zorder=1,
            )
    for g, points in enumerate(paths.values()):
        goals = [_nearest(p[-1], rays) for p in points] if towards is None else towards
        for path, goal in zip(points, goals, strict=True):
            colour = PALETTE[goal % len(PALETTE)] if single else TOKENS[g % len(TOKENS)]
            panel.plot(*path.T, color=colour, linewidth=1.2, zorder=2)
            panel.plot(*path[0], "o", ms=3.6, mfc="white", mec=colour, mew=1.0, zorder=3)
            _arrow(panel, path, reach, colour)
    for i, row in enumerate(inputs):
        colour = INK if len(inputs) == 1 else TOKENS[i % len(TOKENS)]
        label = "tokens" if len(inputs) == 1 else f"tokens of input {i + 1}"
        panel.scatter(
            row[:, 0],
            row[:, 1],
            marker=SHAPES[i % len(SHAPES)],
            s=52,
            color=colour,
            edgecolor="white",
            linewidth=0.8,
            label=label,
            zorder=4,
        )
        for t, token in enumerate(row):
            panel.annotate(
                str(t + 1), token, (4, 4), textcoords="offset points", fontsize=8, color=INK
            )
    _square(panel, [*paths.values(), inputs])
    if axes is None:
        key_below(root(panel))
    return root(panel)


def _nearest(end: Array, rays: Mapping[str, Array]) -> int:
    """Return the ray at the least angle to the end of a path; the first one without rays."""
    gaps = [float(heading(end, ray[0]).gap) for ray in rays.values()]
    return int(np.argmin(gaps)) if gaps else 0


def _arrow(panel: Axes, path: Array, reach: float, colour: str) -> None:
    """Draw an arrow head at the end of a path, along its last visible piece."""
    apart = np.linalg.norm(path - path[-1], axis=1) > 0.02 * reach
    if apart.any():
        tail = path[np.flatnonzero(apart)[-1]]
        style = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.2, "mutation_scale": 11}
        style |= {"shrinkA": 0, "shrinkB": 0}
        panel.annotate("", xy=path[-1], xytext=tail, arrowprops=style, zorder=3)


def _square(panel: Axes, clouds: Sequence[Array]) -> None:
    """Set limits around all points and the origin, with equal scales."""
    points = np.concatenate([np.zeros((1, 2)), *(np.reshape(c, (-1, 2)) for c in clouds)])
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = (low + high) / 2.0, 0.54 * float((high - low).max())
    panel.set_xlim(middle[0] - half, middle[0] + half)
    panel.set_ylim(middle[1] - half, middle[1] + half)
    panel.set_aspect("equal")


def shares(
    x: Shaped[Array, " k"],
    optimal: Float[Array, "k n"],
    largest: Float[Array, "k n"],
    *,
    title: str = "",
    xlabel: str = "step",
    log: bool = True,
    axes: Axes | None = None,
) -> Figure:
    """Draw softmax probabilities against steps or norms: the optimal token's, and the largest.

    If the dotted line (largest) leaves the solid one (optimal), another token is selected. `x` has
    nonnegative steps or norms; `log` sets a logarithmic axis from 1 on, as suits steps.

    Raises:
        UsageError: matplotlib is missing.
    """
    panel = axes if axes is not None else sheet().add_subplot()
    dress(panel, title, xlabel, "softmax probability")
    for i in range(optimal.shape[1]):
        colour = PALETTE[i % len(PALETTE)]
        panel.plot(x, largest[:, i], color=colour, linestyle=DASHES[2], linewidth=1.6)
        panel.plot(x, optimal[:, i], color=colour, linewidth=1.6, label=f"input {i + 1}")
    panel.plot([], [], color=INK, label="optimal token")
    panel.plot([], [], color=INK, linestyle=DASHES[2], label="largest")
    if log:
        count_axis(panel, x)
    panel.set_ylim(-0.03, 1.03)
    if axes is None:
        key_below(root(panel))
    return root(panel)


def count_axis(panel: Axes, x: Array) -> None:
    """Set the x axis to a scale that is logarithmic from 1 on and includes 0."""
    panel.set_xscale("symlog", linthresh=1.0)
    known = x[np.isfinite(x)]
    panel.set_xlim(float(known.min()), float(known.max()))


def progress(
    clock: Shaped[Array, "*b"],
    directions: Mapping[str, Heading],
    decoys: Collection[str] = (),
    *,
    title: str = "",
    xlabel: str = "step",
    figure: Figure | SubFigure | None = None,
) -> Figure:
    """Draw norm against steps; cosine, 1 - cosine and residual against the norm, per direction.

    A high cosine is evidence only in comparison with other directions. Towards the limit, 1 -
    cosine keeps decreasing and the residual stays level while the norm grows. For a wrong direction
    1 - cosine reaches a plateau, however small, and the residual grows in proportion to the norm.

    Args:
        clock: the times at which the iterates were recorded: one row for all runs, or one for each
            run of the directions that are not decoys, in their order.
        directions: runs (k) or (B, k) by the direction that they are compared with.
        decoys: deliberately wrong directions, drawn dashed.
        title: the title.
        xlabel: the unit of the clock.
        figure: the figure to draw into; None for a new one.

    Raises:
        UsageError: matplotlib is missing.
    """
    figure = sheet(2, 2) if figure is None else figure
    ((norm, cosine), (gap, residual)) = figure.subplots(2, 2)
    size = "norm of the weights"
    dress(norm, "norm", xlabel, size)
    dress(cosine, "cosine to the direction", size, "cosine")
    dress(gap, "1 - cosine", size, "1 - cosine")
    dress(residual, "distance from the ray", size, "residual")
    right = [np.atleast_2d(h.norm) for name, h in directions.items() if name not in decoys]
    times = np.broadcast_to(clock, (sum(map(len, right)), np.shape(clock)[-1]))
    for time, row in zip(times, itertools.chain(*right), strict=True):
        norm.plot(time, row, color=INK, linewidth=1.0, alpha=0.85)
    for c, (name, h) in enumerate(directions.items()):
        dashes = DASHES[1] if name in decoys else DASHES[0]
        look = {"color": PALETTE[c % len(PALETTE)], "linestyle": dashes, "linewidth": 1.2}
        sizes = np.atleast_2d(h.norm).T
        for panel, values in ((cosine, h.cosine), (gap, h.gap), (residual, h.residual)):
            lines = panel.plot(sizes, np.atleast_2d(values).T, alpha=0.85, **look)
            lines[0].set_label(name)
    count_axis(norm, clock)
    for panel in (cosine, gap, residual):
        panel.set_xscale("log")
    for panel in (norm, gap, residual):
        panel.set_yscale("log")
    key_below(figure)
    figure.suptitle(title, x=0.02, ha="left", fontsize=12, color=INK)
    return root(norm)


def histograms(
    edges: Float[Array, " e"],
    counts: Int[Array, "k b"],
    labels: Sequence[str],
    *,
    title: str = "",
    xlabel: str = "margin",
) -> Figure:
    """Draw histograms over shared bins, one below the other, dark to light; a line marks 0.

    Raises:
        UsageError: matplotlib is missing.
    """
    rows = len(counts)
    figure = sheet(rows, 1, panel=(7.0, 1.3))
    panels = figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0]
    for panel, row, label, colour in zip(panels, counts, labels, ramp(rows), strict=True):
        dress(panel, label)
        panel.stairs(row, edges, fill=True, color=colour, alpha=0.85)
        panel.axvline(0.0, color=INK, linewidth=0.9)
        panel.set_ylim(0, 1.12 * max(int(row.max()), 1))
    panels[-1].set_xlabel(xlabel, color=INK)
    figure.supylabel("number of pairs", fontsize=10, color=INK)
    figure.suptitle(title, x=0.02, ha="left", fontsize=12, color=INK)
    return figure


def band(panel: Axes, x: Array, mean: Array, error: Array, name: str, c: int) -> None:
    """Draw a line with a band of `error` on either side, in the c-th colour and dashes."""
    colour = PALETTE[c % len(PALETTE)]
    panel.fill_between(x, mean - error, mean + error, color=colour, alpha=0.22, linewidth=0)
    panel.plot(x, mean, color=colour, linestyle=DASHES[c % 2], linewidth=1.7, label=name)
