"""mm/loss-choice: descent on p for -x, exp(-x) and log(1 + exp(-x)), compared.

Normalised descent runs from zero with step 0.1. The `published` inputs are {0, (1, 1)} of scores 0,
C and {0, (1, -1)} of scores 0, 1 for C = 1, 10 and 100, whose p(alpha) is (1, 0). Random data are n
= 4 inputs of T = 4 unit-norm Gaussian tokens, d = 6, random labels, with a head of norm 1, 10 and
100. The losses are nearly linear on scores of size 1; on larger scores they weigh inputs
differently.

`cosine` compares each run with p(alpha) of the tokens that it selects in the end; runs that select
tokens without a p(alpha) are left out of it. `pairs` are cosines between the iterates of two
losses. `selected` counts the data sets in which a loss selects all optimal tokens, and those in
which all three losses select the same tokens.
"""

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import present
from attsvm.losses import CORRELATION, EXPONENTIAL, LOG_LOSS
from attsvm.plots import Table, heading
from attsvm.reproduce import Numbers, Reproduction
from attsvm.svm import p_svm
from attsvm.training import descend_p
from attsvm.training.rule import WeightOptions
from properties._support.experiments import Curves, means, shares
from properties._support.published_data import gaussian_protocol
from properties.mm import SOURCE

LOSSES = {"-x": CORRELATION, "exp(-x)": EXPONENTIAL, "log(1 + exp(-x))": LOG_LOSS}
SCALES = (1.0, 10.0, 100.0)
STEP, STEPS = 0.1, 2000


def published(C: float) -> AttentionData:
    """Return the published inputs; their queries do not matter."""
    X = np.array([[(0.0, 0.0), (1.0, 1.0)], [(0.0, 0.0), (1.0, -1.0)]])
    return AttentionData(X, np.ones((2, 2)), scores=np.array([[0.0, C], [0.0, 1.0]]))


def numbers(seed: int, sets: int = 100, steps: int = STEPS) -> Numbers:
    """Return cosines of runs, cosines of pairs of runs, and counts, by scale."""
    generator = np.random.default_rng(seed)
    drawn = [gaussian_protocol(generator, n=4, T=4, d=6) for _ in range(sets)]
    parts = []
    for scale in SCALES:
        heads = [replace(one, v=scale * present(one.v, "the head"), scores=None) for one in drawn]
        parts += [_runs("random", scale, heads, steps)]
        parts += [_runs("published", scale, [published(scale)], steps)]
    tables = (Table.join(pieces) for pieces in zip(*parts, strict=True))
    facts = {"data_sets": sets, "step": STEP, "steps": steps}
    return Numbers(dict(zip(("cosine", "pairs", "selected"), tables, strict=True)), facts)


def _runs(
    kind: str, scale: float, data: Sequence[AttentionData], steps: int
) -> tuple[Table, Table, Table]:
    """Return the three tables of data sets of one kind and scale."""
    record = np.unique(np.geomspace(1, steps, 25).astype(int)).tolist()
    how: WeightOptions = {"step": STEP, "steps": steps, "record": record, "normalised": True}
    zero = np.zeros(data[0].d)
    runs = {name: descend_p(data, zero, loss, **how).W[:, 1:] for name, loss in LOSSES.items()}
    keys = {"data": kind, "scale": scale}
    cosine, chosen, hits = [], [], []
    best = np.stack([one.gamma.argmax(axis=1) for one in data])
    for name, p in runs.items():
        picks = [(one.X @ row[-1]).argmax(axis=1) for one, row in zip(data, p, strict=True)]
        values = [cosine_with_selected(*each) for each in zip(data, picks, p, strict=True)]
        cosine.append(means(np.stack(values), **keys, loss=name, step=record))
        chosen.append(picks)
        hits.append(
            shares((np.stack(picks) == best).all(axis=1), **keys, condition=f"{name}, best")
        )
    same = (np.array(chosen) == chosen[0]).all(axis=(0, 2))
    hits.append(shares(same, **keys, condition="all select the same"))
    pairs = [
        means(_between(runs[a], runs[b]), **keys, pair=f"{a} and {b}", step=record)
        for a, b in itertools.combinations(LOSSES, 2)
    ]
    return Table.join(cosine), Table.join(pairs), Table.join(hits)


def cosine_with_selected(data: AttentionData, chosen: Array, p: Array) -> Array:
    """Return cosines with the p(alpha) of these tokens; NaN if there is none."""
    answer = p_svm(data, chosen)
    return heading(p, answer.vector).cosine if answer.solved else np.full(len(p), np.nan)


def _between(a: Array, b: Array) -> Array:
    norms: Array = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    result: Array = (a * b).sum(axis=-1) / norms
    return result


BETWEEN = Curves(
    "pairs", "step", "scale", "pair", "step", "cosine between iterates",
    where={"data": ["random"]}, scales={"xscale": "log"},
)  # fmt: skip


DIRECTIONS = Curves(
    "cosine", "step", "scale", "loss", "step", "cosine with p(α)",
    where={"data": ["random"]}, scales={"xscale": "log"},
)  # fmt: skip

figure = Reproduction(
    "mm/loss-choice",
    source=SOURCE,
    place="Convergence of GD on p, figures",
    shows="descent on p under three losses: one max-margin direction or several",
    numbers=numbers,
    pictures={"": BETWEEN, "directions": DIRECTIONS},
    sets=100,
)
