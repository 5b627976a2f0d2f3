"""tf/generalised-svm: how much of descent under a ReLU head W_fin + c W_svm explains.

n = 3 inputs of T = 4 unit-norm Gaussian tokens, d = 4, 6, 8, 10, random labels, the head sum_k
max(x_k, 0), 100 data sets each; plain descent on W from zero with the log-loss, step 1, 100,000
steps. The set told to Gen-SVM are the tokens whose weight is above a threshold at that step, of
which the talk names none: 1e-2, 1e-3 and 1e-4 are tried. Correlation is the cosine of W with
W_fin + c W_svm at the best c >= 0. Intervals are 95%, by the normal approximation of the mean.

`outside` sorts the same by the largest weight outside the set. `growth` keeps the set of the last
step at threshold 1e-3, and follows ||W_fin||, ||V|| with V = W - W_fin, and ||V - ln t W_svm||,
which stays bounded where V is W_svm ln t but for a bounded part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import present
from attsvm.heads import relu_head
from attsvm.losses import LOSSES
from attsvm.plots import Table, mean_and_error, token_weights
from attsvm.plots.draw import band
from attsvm.plots.style import dress, key, sheet
from attsvm.reproduce import Numbers, Reproduction
from attsvm.svm import finite_part, generalised_svm
from attsvm.training import descend_w
from properties._support.published_data import gaussian_protocol
from properties.tf import SOURCE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOSS = LOSSES["log-loss"]
SIZES, THRESHOLDS = (4, 6, 8, 10), (1e-2, 1e-3, 1e-4)
STEPS, STEP = 100_000, 1.0
RECORD = [10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, STEPS]
EDGES = [0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2]
"""Of the largest weight outside the set."""
INTERVAL = 1.96
"""Standard errors to either side of a mean."""


def split(data: AttentionData, W: Array, kept: Array) -> tuple[Array, Array] | None:
    """W_fin, and W_svm with 0 where nothing is left out; None where Gen-SVM has no solution."""
    zero = np.zeros_like(W)
    several = bool((kept.sum(axis=1) > 1).any())
    fin = finite_part(data, kept, token_weights(data, W)).W if several else zero
    if kept.all():
        return fin, zero
    answer = generalised_svm(data, kept)
    return (fin, answer.W) if answer.solved else None


def correlation(W: Array, fin: Array, svm: Array) -> float:
    """The cosine of W with W_fin + c W_svm at the best c >= 0; NaN where that is 0."""
    square = float((svm**2).sum())
    along = max(float((svm * (W - fin)).sum()), 0.0)
    told = fin + along / square * svm if square > 0.0 else fin
    sizes = float(np.linalg.norm(W) * np.linalg.norm(told))
    return float((W * told).sum()) / sizes if sizes > 0.0 else np.nan


def numbers(seed: int, sets: int = 100) -> Numbers:
    """Correlations by size, step and threshold, by the weight left outside, and growth."""
    generator = np.random.default_rng(seed)
    means, found, growth = [], [], []
    facts: dict[str, object] = {"data_sets": sets, "step": STEP, "loss": LOSS.name}
    for d in SIZES:
        data = [gaussian_protocol(generator, 3, 4, d) for _ in range(sets)]
        how = {"step": STEP, "steps": STEPS, "record": RECORD, "head": relu_head(np.eye(d))}
        run = descend_w(data, np.zeros((d, d)), LOSS, **how)  # type: ignore[arg-type]
        for threshold in THRESHOLDS:
            rows = np.array(
                [
                    [_told(one, W, threshold) for W in Ws[1:]]
                    for one, Ws in zip(data, run.W, strict=True)
                ]
            )
            cosines, outside, several = np.moveaxis(rows, 2, 0)
            mean, error, count = mean_and_error(cosines)
            means.append(
                Table.of(
                    d=d,
                    threshold=threshold,
                    step=RECORD,
                    mean=mean,
                    half_interval=INTERVAL * error,
                    above_99_percent=(cosines > 0.99).mean(axis=0),
                    tokens_kept=several.mean(axis=0),
                    data_sets=count,
                )
            )
            found.append(np.stack([cosines, outside]))
        growth.append(_growth(d, data, run.W))
        facts[f"left_out_d_{d}"] = int(np.isnan(found[-1][0]).sum())
    tables = {"mean": Table.join(means), "outside": _outside(found), "growth": Table.join(growth)}
    return Numbers(tables, facts)


def _told(data: AttentionData, W: Array, threshold: float) -> tuple[float, float, float]:
    """The correlation, the largest weight outside the set, and the tokens that an input keeps."""
    weights = token_weights(data, W)
    kept = weights > threshold
    parts = split(data, W, kept)
    cosine = np.nan if parts is None else correlation(W, *parts)
    return cosine, float(np.where(kept, 0.0, weights).max()), float(kept.sum(axis=1).mean())


def _outside(found: list[Array]) -> Table:
    cosines, outside = np.concatenate([part.reshape(2, -1) for part in found], axis=1)
    rows = []
    for low, high in zip([-1.0, *EDGES[:-1]], EDGES, strict=True):
        chosen = cosines[(outside > low) & (outside <= high)]
        mean, error, count = mean_and_error(chosen[:, None])
        above = (chosen > 0.99).mean() if len(chosen) else np.nan
        half = INTERVAL * error
        rows.append(
            Table.of(
                at_most=high, mean=mean, half_interval=half, above_99_percent=above, runs=count
            )
        )
    return Table.join(rows)


def _growth(d: int, data: list[AttentionData], iterates: Array) -> Table:
    """The parts of each run for the set of its last step, where something is left out."""
    sizes: list[float] = []
    for one, Ws in zip(data, iterates, strict=True):
        kept = token_weights(one, Ws[-1]) > 1e-3
        split_up = [split(one, W, kept) for W in Ws[1:]]
        if kept.all() or any(found is None for found in split_up):
            continue
        for W, t, found in zip(Ws[1:], RECORD, split_up, strict=True):
            fin, svm = present(found, "the parts")
            rest = W - fin
            sizes += [float(np.linalg.norm(x)) for x in (fin, rest, rest - np.log(t) * svm)]
    runs = mean_and_error(np.reshape(sizes, (-1, 3 * len(RECORD))))
    mean, error, count = (part.reshape(len(RECORD), 3) for part in runs)
    names = np.array(["W_fin", "V", "V - ln t W_svm"])
    steps = np.array(RECORD)[:, None]
    return Table.of(
        d=d, step=steps, part=names, mean=mean, half_interval=INTERVAL * error, data_sets=count
    )


def picture(n: Numbers) -> Figure:
    """Mean correlation by step, a panel a threshold and a curve a size."""
    figure = sheet(1, len(THRESHOLDS), panel=(4.2, 3.8))
    panels = figure.subplots(1, len(THRESHOLDS), sharey=True)
    for axes, threshold in zip(panels, THRESHOLDS, strict=True):
        dress(axes, f"tokens of weight above {threshold:g}", "step", "correlation")
        for c, d in enumerate(SIZES):
            rows = n.tables["mean"].where(d=d, threshold=threshold)
            band(axes, rows["step"], rows["mean"], rows["half_interval"], f"d = {d}", c)
        axes.axhline(0.99, color="0.3", linewidth=0.8)
        axes.set_xscale("log")
        axes.label_outer()
    key(panels[-1], loc="lower left", title="mean, 95% interval", title_fontsize=8)
    return figure


figure = Reproduction(
    "tf/generalised-svm",
    source=SOURCE,
    place="Generalized SVM <-> Attention Equivalence",
    shows="correlation of descent under a ReLU head with W_fin + c W_svm",
    numbers=numbers,
    pictures={"": picture},
    sets=100,
)
