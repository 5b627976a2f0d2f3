"""sim/margins: margins between optimal and other tokens grow from about 0 to positive ones.

Figure 2 of the source on other data; the source trains on sentences of a synthetic language. Here
there are `sets` data sets of n = 10 inputs of T = 5 unit-norm Gaussian tokens in dimension d = 100.
Queries and head have unit norm, and labels are random. X is trained by plain descent on the
log-loss, from Gaussian starts of deviation 0.1. The margins (x_opt - x_t)^T X(k) z of all inputs
and all tokens that are not optimal are pooled.
"""

import numpy as np

from attsvm.losses import LOSSES
from attsvm.plots import Table, counts, histograms, separation_margins
from attsvm.reproduce import Figure, Numbers, Reproduction
from attsvm.training import descend_w
from properties._support.published_data import gaussian_protocol
from properties.sim import SOURCE

LOSS = LOSSES["log-loss"]
N, T, D = 10, 5, 100
STEP, RECORD, DEVIATION, BINS = 1.0, (0, 300, 1000, 3000, 10_000, 30_000), 0.1, 70


def numbers(seed: int, sets: int = 20) -> Numbers:
    """Return histograms by step over shared bins, and a summary of each step's margins."""
    generator = np.random.default_rng(seed)
    data = [gaussian_protocol(generator, N, T, D) for _ in range(sets)]
    starts = DEVIATION * generator.normal(size=(sets, D, D))
    run = descend_w(data, starts, LOSS, step=STEP, steps=RECORD[-1], record=RECORD)
    margins = np.concatenate(
        [separation_margins(one, W) for one, W in zip(data, run.W, strict=True)], axis=1
    )
    edges, filled = counts(margins, BINS)
    histogram = Table.of(step=run.steps[:, None], low=edges[:-1], high=edges[1:], count=filled)
    summary = Table.of(
        step=run.steps,
        mean_norm=run.norms.mean(axis=0),
        least=margins.min(axis=1),
        median=np.median(margins, axis=1),
        largest=margins.max(axis=1),
        positive=(margins > 0.0).sum(axis=1),
    )
    facts = {"data_sets": sets, "n": N, "T": T, "d": D, "loss": LOSS.name, "step": STEP}
    tables = {"histogram": histogram, "summary": summary}
    return Numbers(tables, {**facts, "margins": margins.shape[1]})


def picture(n: Numbers) -> Figure:
    """Return a picture with one histogram for each step, over the same bins."""
    histogram, summary = n.tables["histogram"], n.tables["summary"]
    low, high, filled = histogram.stack("step", "low", "high", "count")
    labels = [
        f"k = {k:,}: {positive} of {n.facts['margins']} positive, median {median:.2f}"
        for k, positive, median in zip(
            summary["step"], summary["positive"], summary["median"], strict=True
        )
    ]
    return histograms(
        np.append(low[0], high[0, -1]),
        filled.astype(int),
        labels,
        title="margins of optimal over other tokens after k steps of descent",
        xlabel=r"margin $(x_{opt} - x_t)^\top X(k)\, z$",
    )


figure = Reproduction(
    "sim/margins",
    source=SOURCE,
    place="Figure 2, on Gaussian data",
    shows="margins between optimal and other tokens grow during training",
    numbers=numbers,
    pictures={"": picture},
    sets=20,
)
