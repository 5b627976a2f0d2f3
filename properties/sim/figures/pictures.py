"""The pictures of figures 1 and 2, from their tables alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attsvm.plots.draw import band
from attsvm.plots.style import DASHES, INK, PALETTE, dress, key, key_below, ramp, sheet
from attsvm.reproduce import Numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROWS = {"prefix": "tokens of the sub-sequence", "vocabulary": "whole vocabulary"}


def _steps(panel: Axes, last: float) -> None:
    panel.set_xscale("symlog", linthresh=1.0)
    panel.set_xlim(0.0, last)


def titled(page: Figure, words: str) -> Figure:
    """Return the page with its title."""
    page.suptitle(words, x=0.02, ha="left", fontsize=12, color=INK)
    return page


def cosines(n: Numbers) -> Figure:
    """Return the cosines: a column for each varied size, a row for each reading of the tokens."""
    curves = n.tables["curves"]
    names = [str(name) for name in curves.distinct("panel")]
    page = sheet(len(ROWS), len(names), panel=(3.9, 3.0))
    panels = page.subplots(len(ROWS), len(names), sharex=True, sharey=True, squeeze=False)
    for row, (tokens, words) in zip(panels, ROWS.items(), strict=True):
        for panel, name in zip(row, names, strict=True):
            rows = curves.where(panel=name, tokens=tokens)
            dress(panel, f"{words}, varying {name}", "step k", "cosine")
            for c, value in enumerate(rows.distinct("value")):
                line = rows.where(value=value)
                band(panel, line["step"], line["mean"], line["error"], f"{name} = {value}", c)
            panel.axhline(1.0, color=INK, linewidth=0.8)
            _steps(panel, float(rows["step"].max()))
            key(panel, loc="lower right")
    return titled(
        page,
        r"cosine of $X(k)$ with $X_{soft}^{mm}$, slacks shared by the queries of a sentence: mean "
        f"and standard error of {n.facts['runs']} runs",
    )


def evidence(n: Numbers) -> Figure:
    """Return cosines to rivals, with the rivals' own cosines, and residuals against norms."""
    page = sheet(len(ROWS), 2, panel=(5.4, 3.6))
    panels = page.subplots(len(ROWS), 2)
    for (cosine, residual), (tokens, words) in zip(panels, ROWS.items(), strict=True):
        rows = n.tables["directions"].where(tokens=tokens)
        alike = n.tables["alike"].where(tokens=tokens)
        dress(cosine, f"{words}: mean cosine of X(k)", "step k", "cosine")
        last = float(rows["step"].max())
        for c, name in enumerate(rows.distinct("direction")):
            step, values = rows.where(direction=name).stack("run", "step", "cosine")
            look = {"color": PALETTE[c], "linestyle": DASHES[0 if c == 0 else 1]}
            label = str(name) if c == 0 else f"{name} (dot: its cosine with X_soft)"
            cosine.plot(step[0], values.mean(axis=0), linewidth=1.6, label=label, **look)
            if c:
                own = float(alike.where(direction=name)["cosine_to_soft"].mean())
                cosine.plot([last], [own], "o", color=PALETTE[c], ms=6, clip_on=False, zorder=4)
        _steps(cosine, last)
        dress(residual, f"{words}: distance from the ray", "norm of X(k)", "residual")
        for c, name in enumerate(["X_soft", "selected tokens"]):
            look = {"color": PALETTE[0 if c == 0 else 5], "linestyle": DASHES[c]}
            norm, off = rows.where(direction=name).stack("run", "norm", "residual")
            residual.plot(norm.T, off.T, linewidth=1.1, **look)
            residual.plot([], [], label=f"from the ray: {name}", **look)
            far = n.tables["far"].where(tokens=tokens, direction=name)
            if len(far):
                norm, off = far.stack("run", "norm", "residual")
                residual.plot(norm[:, 1:].T, off[:, 1:].T, linewidth=0.9, alpha=0.6, **look)
        norms = np.append(rows["norm"], n.tables["far"].where(tokens=tokens)["norm"])
        top = np.array([1.0, float(norms.max())])
        residual.plot(top, top, color=INK, linewidth=0.8, linestyle=DASHES[2], label="the norm")
        residual.set(xscale="log", yscale="log")
    key_below(page)
    return titled(
        page, "the same runs: other directions with such cosines, and what convergence would show"
    )


def margins(n: Numbers) -> Figure:
    """Return histograms over shared bins, a row for each step and a column for each reading."""
    summary = n.tables["summary"]
    steps = summary.distinct("step")
    page = sheet(len(steps), len(ROWS), panel=(5.4, 1.35))
    panels = page.subplots(len(steps), len(ROWS), sharex="col", squeeze=False)
    for column, (tokens, words) in zip(panels.T, ROWS.items(), strict=True):
        for panel, step, colour in zip(column, steps, ramp(len(steps)), strict=True):
            (row,) = (summary.where(tokens=tokens, step=step),)
            bars = n.tables["histogram"].where(tokens=tokens, step=step)
            share, median = float(row["positive"][0] / row["margins"][0]), float(row["median"][0])
            dress(panel, f"{words}, k = {step:,}: {share:.0%} positive, median {median:.2f}")
            edges = np.append(bars["low"], bars["high"][-1])
            panel.stairs(bars["count"], edges, fill=True, color=colour, alpha=0.85)
            panel.axvline(0.0, color=INK, linewidth=0.9)
            panel.set_ylim(0, 1.12 * max(int(bars["count"].max()), 1))
        column[-1].set_xlabel(r"margin $(x_{opt} - x_t)^\top X(k)\, z$", color=INK)
    page.supylabel("number of pairs", fontsize=10, color=INK)
    return titled(page, f"margins after k steps of descent, {n.facts['runs']} runs")
