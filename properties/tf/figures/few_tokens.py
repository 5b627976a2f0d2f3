"""tf/few-tokens: how many tokens keep weight, and the norm of W, as training proceeds.

The run of `tf/probabilities` on 100 data sets: n = 6 inputs of T = 8 unit-norm Gaussian tokens, d =
10, random labels; plain descent on W from zero with the log-loss, step 1, 100,000 steps. The
effective number of tokens of an input is exp(entropy). Its mean, least and largest value in a data
set are averaged, and so are the norm and the weight of the optimal tokens. `monotone` counts the
data sets in which the recorded norm never falls, and those in which the mean effective number never
rises. It also counts those in which the number of no input ever rises.
"""

import numpy as np

from attsvm.losses import LOG_LOSS
from attsvm.plots import effective_tokens, token_weights
from attsvm.reproduce import Numbers, Reproduction
from attsvm.tokens import target_tokens
from attsvm.training import descend_w
from properties._support.experiments import Curves, means, shares
from properties._support.published_data import gaussian_protocol
from properties.tf import SOURCE

STEP, STEPS = 1.0, 100_000
TOKENS = "effective number of tokens"
MEASURES = {
    "mean": TOKENS, "least": TOKENS, "largest": TOKENS,
    "norm of W": "norm", "optimal tokens": "weight",
}  # fmt: skip


def numbers(seed: int, sets: int = 100, steps: int = STEPS) -> Numbers:
    """Return means by step, and how often the number falls and the norm grows throughout."""
    generator = np.random.default_rng(seed)
    data = [gaussian_protocol(generator) for _ in range(sets)]
    d, n = data[0].d, data[0].n
    record = np.unique(np.geomspace(1, steps, 40).astype(int)).tolist()
    run = descend_w(data, np.zeros((d, d)), LOG_LOSS, step=STEP, steps=steps, record=record)
    weights = np.stack([token_weights(one, W) for one, W in zip(data, run.W, strict=True)])
    best = np.stack([target_tokens(one) for one in data])
    optimal = weights[np.arange(sets)[:, None], :, np.arange(n), best].mean(axis=1)
    kept = effective_tokens(weights)
    average = kept.mean(axis=-1)
    values = [average, kept.min(axis=-1), kept.max(axis=-1), run.norms, optimal]
    shown = np.array(list(MEASURES.values()))[:, None]
    keys = {"measure": np.array(list(MEASURES))[:, None], "panel": shown, "step": run.steps}
    longer = (np.diff(run.norms) >= 0.0).all(axis=1)
    fewer = (np.diff(average, axis=1) <= 0.0).all(axis=1)
    each = (np.diff(kept, axis=1) <= 0.0).all(axis=(1, 2))
    names = ["the norm never falls", "the mean number never grows", "no input's number ever grows"]
    counted = shares(np.stack([longer, fewer, each], axis=1), condition=names)
    tables = {"mean": means(np.stack(values, axis=1), **keys), "monotone": counted}
    return Numbers(tables, {"data_sets": sets, "step": STEP, "loss": LOG_LOSS.name})


BY_STEP = Curves(
    "mean", "step", "panel", "measure", "step", "", alike=False, scales={"xscale": "symlog"}
)
"""Effective numbers of tokens, norm and weight against the step."""

figure = Reproduction(
    "tf/few-tokens",
    source=SOURCE,
    place="Empirical insights",
    shows="how many tokens keep weight while the norm of W grows, on 100 data sets",
    numbers=numbers,
    pictures={"": BY_STEP},
    sets=100,
)
