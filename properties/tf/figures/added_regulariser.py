"""tf/added-regulariser: what a small ridge does to descent on (K, Q).

The public code of the figure on (K, Q) adds 2^-52 (||K||^2 + ||Q||^2) to the log-loss and divides
the gradients of K and of Q by their own norms. Here this rule runs with step 0.1 on the data of
`tf/parameterisation-bias` from Gaussian starts of deviation 0.01: without a ridge, with that one,
and with 1e-6. Measured are the norm of W = K Q^T and its least margin over the tokens that it
selects in the end. So are its cosines with the Frobenius and nuclear solutions for these. `ruled`
counts the runs in which the gradient of the ridge is at least half as long as that of the loss.
Gradients are computed in the log domain, so that no run stops by underflow.
"""

from collections.abc import Sequence

import numpy as np

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.losses import LOG_LOSS
from attsvm.plots import Table, separation_margins, token_weights
from attsvm.reproduce import Numbers, Reproduction
from attsvm.risk import normalised_gradient
from attsvm.training import Trajectory
from properties._support.experiments import Curves, means, shares
from properties._support.published_data import gaussian_protocol
from properties.tf import SOURCE
from properties.tf.figures.parameterisation_bias import DEVIATION, STEP, STEPS, correlations

RIDGES = (0.0, 2.0**-52, 1e-6)
MEASURES = ("norm of W", "least margin", "cosine, Frobenius", "cosine, nuclear")


def descend(
    sets: Sequence[AttentionData], K: Array, Q: Array, ridge: float, record: Sequence[int]
) -> tuple[Trajectory, Array]:
    """Return recorded iterates, and whether the ridge's gradient is at least half as long."""
    X, Z, gamma = (np.stack([getattr(one, name) for one in sets]) for name in ("X", "Z", "gamma"))
    kept, ruled = [], []
    for k in range(max(record) + 1):
        gradient = normalised_gradient(X, Z, gamma, K @ np.swapaxes(Q, 1, 2), LOG_LOSS)
        with np.errstate(divide="ignore"):
            scales = np.stack([gradient.log_scale, np.full(len(X), np.log(ridge))])
        loss, own = np.exp(scales - scales.max(axis=0))[..., None, None]
        gradients = loss * (gradient.matrix @ Q), loss * (np.swapaxes(gradient.matrix, 1, 2) @ K)
        inward = 2.0 * own * K, 2.0 * own * Q
        if k in record:
            kept.append(K @ np.swapaxes(Q, 1, 2))
            ruled.append(_length(*inward) >= 0.5 * _length(*gradients))
        moves = [a - b for a, b in zip(gradients, inward, strict=True)]
        K, Q = (part + STEP * g / _length(g) for part, g in zip((K, Q), moves, strict=True))
    W = np.stack(kept, axis=1)
    steps = np.array(record, dtype=np.int64)
    return Trajectory(steps, W, np.linalg.norm(W, axis=(2, 3))), np.stack(ruled, axis=1)[..., 0, 0]


def _length(*parts: Array) -> Array:
    """Return the norm of all parts of each run together, in a shape that divides a part."""
    result: Array = np.sqrt(sum((part**2).sum(axis=(1, 2), keepdims=True) for part in parts))
    return result


def numbers(seed: int, sets: int = 100, steps: int = STEPS) -> Numbers:
    """Return means of the measures and counts, by ridge and step."""
    generator = np.random.default_rng(seed)
    data = [gaussian_protocol(generator) for _ in range(sets)]
    K, Q = DEVIATION * generator.normal(size=(2, sets, data[0].d, data[0].d))
    record = np.unique(np.geomspace(1, steps, 25).astype(int)).tolist()
    measured, counts = [], []
    for ridge in RIDGES:
        run, ruled = descend(data, K, Q, ridge, record)
        ends = zip(data, run.W, strict=True)
        chosen = np.stack([token_weights(one, W[-1]).argmax(axis=-1) for one, W in ends])
        margins = [
            separation_margins(one, W, targets).min(axis=-1)
            for one, W, targets in zip(data, run.W, chosen, strict=True)
        ]
        cosines, _ = correlations(data, run, chosen)
        values = np.stack([run.norms, np.stack(margins), *cosines], axis=1)
        keys = {"ridge": ridge, "step": record}
        measured.append(means(values, measure=np.array(MEASURES)[:, None], **keys))
        counts.append(shares(ruled, **keys))
    tables = {"mean": Table.join(measured), "ruled": Table.join(counts)}
    return Numbers(tables, {"data_sets": sets, "step": STEP, "loss": LOG_LOSS.name})


COSINES = Curves(
    "mean", "step", "measure", "ridge", "normalised step", "cosine",
    where={"measure": MEASURES[2:]}, scales={"xscale": "log"},
)  # fmt: skip


MARGIN = Curves(
    "mean", "step", "measure", "ridge", "normalised step", "margin",
    where={"measure": ["least margin"]}, scales={"xscale": "log", "yscale": "symlog"},
)  # fmt: skip

figure = Reproduction(
    "tf/added-regulariser",
    source=SOURCE,
    place="Summary, parameterization matters",
    shows="a ridge of 2^-52 ends the growth of (K, Q) and brings it to the nuclear solution",
    numbers=numbers,
    pictures={"": COSINES, "margins": MARGIN},
    sets=100,
)
