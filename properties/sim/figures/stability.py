"""sim/stability: domains on which softmax or linear attention has smaller Lipschitz constants.

The constants are those of the loss and of its gradient, over all A of a given norm and all h of
length H. They are drawn against |b| H for the logistic loss and against |b|/H for the squared loss.
Two tokens suffice for the constants of softmax (docs/proofs/stability.md). This is true on the
whole space, and on domains ||A x|| <= R that contain the extremal tokens. On smaller domains the
figure shows two tokens. The squared loss of linear attention has no constant on the whole space; it
is drawn for R = 4 and 16.

The crossings are computed in floats. `symbolic.sim.stability` proves, in balls and rationals, on
which side of them softmax has the smaller constant of the gradient on the whole space.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from attsvm._types import Array
from attsvm.losses import logistic_curvature, logistic_slope
from attsvm.plots import Table
from attsvm.plots.style import DASHES, INK, PALETTE, dress, key, sheet
from attsvm.reproduce import Numbers, Reproduction
from properties.sim import SOURCE

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


def constants(
    loss: str, size: float, radius: float = math.inf, gradient: bool = False
) -> tuple[float, float]:
    """Return the constants of softmax with two tokens and of linear attention, in floats.

    Args:
        loss: `logistic` for g(b d), or `squared` for (d - b)^2 with H = 1.
        size: |b| H.
        radius: R of the domain ||A x|| <= R; the whole space by default.
        gradient: whether the constants are those of the gradient, not of the loss.
    """
    logistic = loss == "logistic"
    length = size if logistic else 1.0

    def height(angle: Array, a: Array) -> Array:
        D, mu = math.sqrt(2.0) * length * np.cos(angle), length * np.sin(angle) / math.sqrt(2.0)
        d, w = mu + D * a / 2.0, D * (1.0 - a * a) / 4.0
        slope = logistic_slope(d) if logistic else 2.0 * (d + size)
        curvature = logistic_curvature(d) if logistic else 2.0
        value = (
            2.0 * (curvature * w * w - slope * w * a) if gradient else math.sqrt(2.0) * slope * w
        )
        return np.abs(value)

    softmax = _largest(height, math.tanh(radius / math.sqrt(2.0)))
    if not gradient:
        return softmax, size / 4.0 if logistic else 2.0 * (size + radius)
    top = min(size * radius, math.log(2.0 + math.sqrt(3.0)))
    steepest = abs(float(logistic_curvature(np.array([top]))[0]))
    return softmax, size * size * steepest if logistic else 2.0


def _largest(height: Callable[[Array, Array], Array], edge: float) -> float:
    """Return the maximum over angles and |a| <= edge, on ever finer grids near the best point."""
    low, high = np.array([-math.pi / 2, -edge]), np.array([math.pi / 2, edge])
    best = 0.0
    for _ in range(5):
        angle, a = (np.linspace(s, e, 81) for s, e in zip(low, high, strict=True))
        values = height(angle[:, None], a[None, :])
        j, k = divmod(int(values.argmax()), 81)
        best = max(best, float(values.max()))
        middle, reach = np.array([angle[j], a[k]]), (high - low) / 20.0
        low, high = np.maximum(low, middle - reach), np.minimum(high, middle + reach)
    return best


def crossing(loss: str, radius: float, gradient: bool, low: float, high: float) -> float:
    """Return the size between low and high at which both constants agree; NaN if there is none."""
    from scipy.optimize import brentq

    def lead(log: float) -> float:
        softmax, linear = constants(loss, math.exp(log), radius, gradient)
        return math.log(softmax / linear)

    ends = math.log(low), math.log(high)
    if (lead(ends[0]) > 0.0) == (lead(ends[1]) > 0.0):
        return math.nan
    return math.exp(float(brentq(lead, *ends, xtol=1e-13)))


def numbers(seed: int = 0) -> Numbers:
    """Return ratios of the constants, their crossings, and the crossings by R.

    Nothing is drawn at random: `seed` changes nothing.
    """
    del seed
    ratios, borders = [], []
    for loss, constant, radius in CURVES:
        gradient, sizes = constant == "gradient", SIZES[loss]
        pairs = [constants(loss, float(size), radius, gradient) for size in sizes]
        softmax, linear = np.array(pairs).T
        keys = {"loss": loss, "constant": constant, "R": radius, "size": sizes}
        ratios.append(Table.of(**keys, softmax=softmax, linear=linear, ratio=softmax / linear))
    for loss, constant in BORDERS:
        gradient = constant == "gradient"
        places = [crossing(loss, float(R), gradient, 1e-3, 1e4) for R in RADII]
        borders.append(Table.of(loss=loss, constant=constant, R=RADII, size=places))
    crossings = Table.of(
        loss=["logistic", "squared"],
        constant=["gradient", "gradient"],
        middle=[
            crossing("logistic", math.inf, True, 0.5, 1.0),
            crossing("squared", math.inf, True, 2.0, 5.0),
        ],
        softmax_smaller=["above", "below"],
    )
    tables = {"ratios": Table.join(ratios), "regimes": Table.join(borders), "crossings": crossings}
    return Numbers(tables, {"logistic_size": NAMES["logistic"], "squared_size": NAMES["squared"]})


def picture(n: Numbers) -> Figure:
    """Return the picture: ratios above and regimes below.

    The logistic loss is on the left, the squared loss on the right.
    """
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
        far, side = (top, "above") if above else (bottom, "below")
        colour, label = COLOURS[constant], f"{constant}: softmax smaller {side}"
        axes.fill_between(rows["R"], edge, far, color=colour, alpha=0.15, linewidth=0)
        axes.plot(rows["R"], rows["size"], color=colour, linewidth=1.8, label=label)
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
