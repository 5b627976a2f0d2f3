"""sim/stability: where softmax attention has the smaller Lipschitz constants, and where linear.

Constants over all A of given norm and h of length H, of the loss and of its gradient, for the
logistic loss (against |b| H) and the squared loss (against |b|/H). On the whole space and on
domains ||A x|| <= R that hold the extremal tokens softmax's constants are those of two tokens for
any number of them (`properties.sim.regimes`); on smaller domains two tokens are what is drawn. The
squared loss of linear attention has no constant on the whole space, and is drawn for R = 4 and 16.

The crossings of the whole space come with both ends of their proved brackets, in balls and
rationals; `proved` says that the proof ran.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from attsvm.plots import Table
from attsvm.plots.style import DASHES, INK, PALETTE, dress, key, sheet
from attsvm.reproduce import Numbers, Reproduction
from properties.sim import SOURCE, regimes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZES = {"logistic": np.geomspace(0.05, 50.0, 61), "squared": np.geomspace(0.05, 500.0, 61)}
RADII = np.geomspace(0.05, 16.0, 41)
CURVES = (
    ("logistic", "loss", math.inf),
    ("logistic", "gradient", math.inf),
    ("squared", "loss", 4.0),
    ("squared", "loss", 16.0),
    ("squared", "gradient", math.inf),
)
BORDERS = (("logistic", "gradient"), ("squared", "gradient"), ("squared", "loss"))
COLOURS = {"loss": PALETTE[0], "gradient": PALETTE[1]}
NAMES = {"logistic": "|b| ‖h‖", "squared": "|b| / ‖h‖"}


def numbers(seed: int = 0) -> Numbers:
    """Ratios of the constants, the crossings with their brackets, and their place by R.

    Nothing is drawn at random: `seed` changes nothing.
    """
    del seed
    ratios = []
    for loss, constant, radius in CURVES:
        found = [
            regimes.constants(loss, float(size), radius, constant == "gradient")
            for size in SIZES[loss]
        ]
        softmax, linear = np.array(found).T
        keys = {"loss": loss, "constant": constant, "R": radius, "size": SIZES[loss]}
        ratios.append(Table.of(**keys, softmax=softmax, linear=linear, ratio=softmax / linear))
    borders = [
        Table.of(
            loss=loss,
            constant=constant,
            R=RADII,
            size=[_border(loss, constant, float(R)) for R in RADII],
        )
        for loss, constant in BORDERS
    ]
    (low, high), (small, large) = regimes.LOGISTIC, regimes.SQUARED
    crossings = Table.of(
        loss=["logistic", "squared"],
        constant=["gradient", "gradient"],
        low=[float(low), float(small)],
        high=[float(high), float(large)],
        middle=[
            regimes.crossing("logistic", math.inf, True, 0.5, 1.0),
            regimes.crossing("squared", math.inf, True, 2.0, 5.0),
        ],
        softmax_smaller=["above", "below"],
        proved=[
            int(regimes.logistic_is_larger(low) and regimes.logistic_is_smaller(high)),
            int(regimes.squared_is_smaller(small) and regimes.squared_is_larger(large)),
        ],
    )
    tables = {"ratios": Table.join(ratios), "regimes": Table.join(borders), "crossings": crossings}
    return Numbers(tables, {"logistic_size": NAMES["logistic"], "squared_size": NAMES["squared"]})


def _border(loss: str, constant: str, radius: float) -> float:
    """The size at which both constants are the same, NaN where softmax's is always smaller."""
    return regimes.crossing(loss, radius, constant == "gradient", 1e-3, 1e4)


def picture(n: Numbers) -> Figure:
    """Ratios above, regimes below; the logistic loss on the left, the squared loss on the right."""
    figure = sheet(2, 2, panel=(4.8, 3.7))
    panels = figure.subplots(2, 2)
    for column, (loss, title) in enumerate((("logistic", "logistic loss"), ("squared", "l2 loss"))):
        _ratios(panels[0, column], n, loss, title)
        _regimes(panels[1, column], n, loss, title)
    return figure


def _ratios(axes: Axes, n: Numbers, loss: str, title: str) -> None:
    dress(axes, f"{title}: constant of softmax over that of linear", NAMES[loss], "ratio")
    drawn = [(constant, radius) for name, constant, radius in CURVES if name == loss]
    for c, (constant, radius) in enumerate(drawn):
        rows = n.tables["ratios"].where(loss=loss, constant=constant, R=radius)
        where = "" if math.isinf(radius) else f", ‖Ax‖ ≤ {radius:g}"
        look: dict[str, Any] = {"color": COLOURS[constant], "linestyle": DASHES[c]}
        axes.plot(rows["size"], rows["ratio"], **look, linewidth=1.8, label=f"{constant}{where}")
    middle = n.tables["crossings"].where(loss=loss)["middle"][0]
    axes.axhline(1.0, color=INK, linewidth=0.9)
    axes.plot([middle], [1.0], "o", color=INK, ms=5, label=f"crossing {middle:.4f}")
    axes.set(xscale="log", yscale="log")
    key(axes)


def _regimes(axes: Axes, n: Numbers, loss: str, title: str) -> None:
    dress(axes, f"{title}: where softmax has the smaller constant", "R, ‖Ax‖ ≤ R", NAMES[loss])
    top, bottom = SIZES[loss][-1], SIZES[loss][0]
    for constant in (constant for name, constant in BORDERS if name == loss):
        rows = n.tables["regimes"].where(loss=loss, constant=constant)
        above = loss == "logistic" or constant == "loss"
        edge = np.where(np.isfinite(rows["size"]), rows["size"], bottom)
        axes.fill_between(
            rows["R"],
            edge,
            top if above else bottom,
            color=COLOURS[constant],
            alpha=0.15,
            linewidth=0,
        )
        side = "above" if above else "below"
        label = f"{constant}: softmax smaller {side}"
        axes.plot(rows["R"], rows["size"], color=COLOURS[constant], linewidth=1.8, label=label)
    axes.axvline(4.0, color=INK, linewidth=0.9, linestyle=DASHES[2], label="R = 4 of lemma 3.13")
    axes.set(xscale="log", yscale="log", xlim=(RADII[0], RADII[-1]), ylim=(bottom, top))
    key(axes)


figure = Reproduction(
    "sim/stability",
    source=SOURCE,
    place="Section 1 (contributions): softmax attention is more stable than linear attention",
    shows="where softmax attention has smaller Lipschitz constants than linear attention has",
    numbers=numbers,
    pictures={"": picture},
)
