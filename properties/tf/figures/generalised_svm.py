"""tf/generalised-svm: how much of descent under a ReLU head W_fin + c W_svm explains.

There are 100 data sets of n = 3 inputs of T = 4 unit-norm Gaussian tokens for each of d = 4, 6, 8,
10, with random labels and the head sum_k max(x_k, 0). Plain descent on W runs from zero with the
log-loss, step 1, 100,000 steps. The set of Gen-SVM are the tokens whose weight at a step is above a
threshold. The talk names none: 1e-2, 1e-3 and 1e-4 are tried. Correlation is the cosine of W with
W_fin + c W_svm at the best c >= 0.

`outside` sorts the correlations by the largest weight outside the set. `growth` keeps the set of
the last step at threshold 1e-3. It follows ||W_fin||, ||V|| with V = W - W_fin, and ||V - ln t
W_svm||, which stays bounded if V is W_svm ln t up to a bounded part.

The other tables follow the public code, on 500 draws per size. The head has d ReLU units of random
weights of norm 1 in all, at least one label is -1, and the start is uniform in [-1, 1]/sqrt d. 2000
steps of 0.1 follow gradients of autograd divided by their norm plus 2^-52. Tokens of weight above
1e-3 form the set of Gen-SVM. That code draws anew if a weight is between 1e-6 and 1e-3, if none is
below 1e-6, or if Gen-SVM has no solution. `filter` counts the runs it leaves out and why.
`protocol` has the correlations with W_fin + c W_svm and with W_svm alone, of all runs and of those
that pass. `left_out` has those of all runs by the largest weight outside the set.
"""

from collections.abc import Sequence

import numpy as np

from attsvm._types import Array
from attsvm.attention import softmax
from attsvm.data import AttentionData
from attsvm.errors import present
from attsvm.losses import LOSSES
from attsvm.plots import Table, token_weights
from attsvm.prediction import relu_head
from attsvm.reproduce import Numbers, Reproduction
from attsvm.risk import covariance
from attsvm.svm import finite_part, generalised_svm
from attsvm.training import descend_w
from properties._support.experiments import Curves, means, shares
from properties._support.published_data import gaussian_protocol
from properties.tf import SOURCE

LOSS = LOSSES["log-loss"]
SIZES, THRESHOLDS = (4, 6, 8, 10), (1e-2, 1e-3, 1e-4)
STEPS, STEP = 100_000, 1.0
RECORD = [10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, STEPS]
EDGES = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
"""Upper edges of the bins of the largest weight outside the set."""
LOW, HIGH, PLAIN = 1e-6, 1e-3, 100
OUTCOMES = ("a weight between", "nothing left out", "no Gen-SVM solution", "passes")
TOLD = ("W_fin + c W_svm", "W_svm alone")


def split(data: AttentionData, W: Array, kept: Array) -> tuple[Array, Array] | None:
    """Return W_fin and W_svm, 0 if nothing is left out; None if Gen-SVM has no solution."""
    zero = np.zeros_like(W)
    several = bool((kept.sum(axis=1) > 1).any())
    fin = finite_part(data, kept, token_weights(data, W)).W if several else zero
    if kept.all():
        return fin, zero
    answer = generalised_svm(data, kept)
    return (fin, answer.W) if answer.solved else None


def correlation(W: Array, fin: Array, svm: Array) -> float:
    """Return the cosine of W with W_fin + c W_svm at the best c >= 0; NaN if one of both is 0."""
    square = float((svm**2).sum())
    along = max(float((svm * (W - fin)).sum()), 0.0)
    explained = fin + along / square * svm if square > 0.0 else fin
    sizes = float(np.linalg.norm(W) * np.linalg.norm(explained))
    return float((W * explained).sum()) / sizes if sizes > 0.0 else np.nan


def numbers(
    seed: int, sets: int = 500, sizes: Sequence[int] = SIZES, steps: Sequence[int] = RECORD
) -> Numbers:
    """Return correlations by size, step and threshold, by the weight left outside, and growth."""
    generator = np.random.default_rng(seed)
    parts: dict[str, list[Table]] = {"mean": [], "growth": []}
    measured, ends, outcomes = [], [], []
    for d in sizes:
        data = [gaussian_protocol(generator, 3, 4, d) for _ in range(min(sets, PLAIN))]
        how = {"step": STEP, "steps": max(steps), "record": steps, "head": relu_head(np.eye(d))}
        run = descend_w(data, np.zeros((d, d)), LOSS, **how)  # type: ignore[arg-type]
        for threshold in THRESHOLDS:
            rows = np.array(
                [
                    [_measures(one, W, threshold) for W in Ws[1:]]
                    for one, Ws in zip(data, run.W, strict=True)
                ]
            )
            keys = {"d": d, "threshold": threshold, "step": steps}
            above = (rows[..., 0] > 0.99).mean(axis=0)
            more = {"above_99_percent": above, "tokens_kept": rows[..., 2].mean(axis=0)}
            parts["mean"].append(means(rows[..., 0], **keys, **more))
            measured.append(rows[..., :2].reshape(-1, 2))
        parts["growth"].append(_growth(d, data, run.W, steps))
        ends.append(public_ends(np.random.default_rng([seed, d]), d, sets))
        outcomes.append(shares(ends[-1][:, 3:] == np.arange(len(OUTCOMES)), d=d, outcome=OUTCOMES))
    protocol = [
        means(np.where(kept, rows[:, :2], np.nan), d=d, runs=runs, measure=TOLD)
        for d, rows in zip(sizes, ends, strict=True)
        for runs, kept in (("all", True), ("pass", rows[:, 3:] == OUTCOMES.index("passes")))
    ]
    tables = {name: Table.join(part) for name, part in parts.items()}
    tables |= {"outside": by_outside(np.concatenate(measured)), "filter": Table.join(outcomes)}
    tables |= {"protocol": Table.join(protocol)}
    tables |= {"left_out": by_outside(np.concatenate(ends)[:, [0, 2]])}
    facts = {"data_sets": sets, "plain_data_sets": min(sets, PLAIN), "step": STEP}
    return Numbers(tables, {**facts, "loss": LOSS.name})


def public_ends(generator: np.random.Generator, d: int, sets: int) -> Array:
    """Return final correlations, weight outside and outcome of runs of the public code."""
    data: list[AttentionData] = []
    while len(data) < sets:
        one = gaussian_protocol(generator, 3, 4, d)
        data += [one] if (present(one.y, "the labels") < 0.0).any() else []
    units = generator.normal(size=(sets, d, d))
    units /= np.linalg.norm(units, axis=(1, 2), keepdims=True)
    W = public_descent(data, units, generator.uniform(-1.0, 1.0, (sets, d, d)) / np.sqrt(d))
    rows = []
    for one, end in zip(data, W, strict=True):
        weights = token_weights(one, end)
        kept, outside = weights > HIGH, np.where(weights > HIGH, 0.0, weights)
        parts = split(one, end, kept)
        cosines = (np.nan, np.nan)
        if parts is not None:
            cosines = correlation(end, *parts), correlation(end, np.zeros((d, d)), parts[1])
        caught = ((outside > LOW).any(), (weights > LOW).all(), parts is None, True)
        rows.append((*cosines, outside.max(), caught.index(True)))
    return np.array(rows)


def public_descent(
    data: Sequence[AttentionData], units: Array, W: Array, steps: int = 2001
) -> Array:
    """Return the last iterates (B, d, d) of the public rule.

    Head b is the sum of max(units[b]^T x, 0).
    """
    X, Z = (np.stack([getattr(one, part) for one in data]) for part in ("X", "Z"))
    y = np.stack([present(one.y, "the labels") for one in data])
    after = X @ units[:, None]
    for _ in range(steps):
        s = softmax(((X @ W[:, None]) @ Z[..., None])[..., 0])
        hidden = (s[..., None, :] @ after)[..., 0, :]
        gamma = y[..., None] * (after @ (hidden > 0.0)[..., None])[..., 0]
        u = y * np.maximum(hidden, 0.0).sum(axis=-1)
        coefficients = LOSS.slope(u)[..., None] * covariance(s, gamma) / data[0].n
        gradient = np.swapaxes((coefficients[..., None, :] @ X)[..., 0, :], 1, 2) @ Z
        size = np.linalg.norm(gradient, axis=(1, 2), keepdims=True)
        W = W - 0.1 * gradient / (size + np.finfo(np.float64).eps)
    return W


def _measures(data: AttentionData, W: Array, threshold: float) -> tuple[float, float, float]:
    """Return the correlation, the largest weight outside the set, and the mean number kept."""
    weights = token_weights(data, W)
    kept = weights > threshold
    parts = split(data, W, kept)
    cosine = np.nan if parts is None else correlation(W, *parts)
    return cosine, float(np.where(kept, 0.0, weights).max()), float(kept.sum(axis=1).mean())


def by_outside(ends: Array) -> Table:
    """Return correlations (first column) by the largest weight outside the set (second column)."""
    rows = []
    for low, high in zip((-1.0, *EDGES[:-1]), EDGES, strict=True):
        chosen = ends[(ends[:, 1] > low) & (ends[:, 1] <= high), :1]
        above = (chosen > 0.99).mean() if len(chosen) else np.nan
        rows.append(means(chosen, at_most=[high], above_99_percent=above))
    return Table.join(rows)


def _growth(d: int, data: Sequence[AttentionData], iterates: Array, steps: Sequence[int]) -> Table:
    """Return sizes of the parts of each run for its last set, if that leaves tokens out."""
    sizes: list[float] = []
    for one, Ws in zip(data, iterates, strict=True):
        kept = token_weights(one, Ws[-1]) > 1e-3
        split_up = [split(one, W, kept) for W in Ws[1:]]
        if kept.all() or any(pair is None for pair in split_up):
            continue
        for W, t, pair in zip(Ws[1:], steps, split_up, strict=True):
            fin, svm = present(pair, "the parts")
            rest = W - fin
            sizes += [float(np.linalg.norm(x)) for x in (fin, rest, rest - np.log(t) * svm)]
    names = np.array(["W_fin", "V", "V - ln t W_svm"])
    values = np.reshape(sizes, (-1, len(steps), len(names)))
    return means(values, d=d, step=np.array(steps)[:, None], part=names)


BY_STEP = Curves("mean", "step", "threshold", "d", "step", "correlation", scales={"xscale": "log"})
"""Mean correlation of plain descent by step, with a panel for each threshold and a curve for each
d."""


FILTERED = Curves("protocol", "d", "runs", "measure", "dimension d", "correlation")
"""Correlation at the end of runs of the public code, of all runs and of those that pass."""

figure = Reproduction(
    "tf/generalised-svm",
    source=SOURCE,
    place="Generalized SVM <-> Attention Equivalence",
    shows="correlation of descent under a ReLU head with W_fin + c W_svm",
    numbers=numbers,
    pictures={"": BY_STEP, "filtered": FILTERED},
    sets=500,
)
