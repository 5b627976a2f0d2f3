"""tf/several-inputs: descent on W against W^mm of the tokens that it selects, by number of inputs.

Data have n inputs of T = 8 unit-norm Gaussian tokens and queries, d = 10, random labels and head.
Normalised descent runs from zero with the log-loss for 2000 steps of 0.1. A run's choice are the
tokens of largest weight in the end: `global` if all are optimal, else `local`. `cosine` compares
the run with W^mm of its choice. `choices` counts data sets by choice, and those in which the
selected tokens have no W^mm, which are left out of `cosine`.
"""

from collections.abc import Sequence

import numpy as np

from attsvm.losses import LOG_LOSS
from attsvm.plots import Table, heading, token_weights
from attsvm.reproduce import Numbers, Reproduction
from attsvm.svm import att_svm
from attsvm.tokens import target_tokens
from attsvm.training import descend_w
from attsvm.training.rule import WeightOptions
from properties._support.experiments import Curves, means, shares
from properties._support.published_data import gaussian_protocol
from properties.tf import SOURCE

INPUTS = (1, 2, 4, 6, 8, 12)
T, D = 8, 10
STEP, STEPS = 0.1, 2000


def numbers(
    seed: int, sets: int = 100, inputs: Sequence[int] = INPUTS, steps: int = STEPS
) -> Numbers:
    """Return cosines by n, choice and step, and counts of choices by n."""
    cosines, choices = [], []
    record = np.unique(np.geomspace(1, steps, 30).astype(int)).tolist()
    how: WeightOptions = {"step": STEP, "steps": steps, "record": record, "normalised": True}
    for n in inputs:
        generator = np.random.default_rng([seed, n])
        data = [gaussian_protocol(generator, n, T, D) for _ in range(sets)]
        run = descend_w(data, np.zeros((D, D)), LOG_LOSS, **how)
        ends = zip(data, run.W[:, -1], strict=True)
        chosen = np.stack([token_weights(one, W).argmax(axis=-1) for one, W in ends])
        best = (chosen == np.stack([target_tokens(one) for one in data])).all(axis=1)
        answers = [att_svm(one, tokens) for one, tokens in zip(data, chosen, strict=True)]
        solved = np.array([answer.solved for answer in answers])
        cosine = np.full((sets, len(record)), np.nan)
        for b in np.flatnonzero(solved):
            cosine[b] = heading(run.W[b, 1:], answers[b].W).cosine
        for choice, group in (("global", best), ("local", ~best)):
            cosines.append(means(cosine[group], n=n, choice=choice, step=record))
            choices.append(shares(group, n=n, choice=choice))
        choices.append(shares(~solved, n=n, choice="without W^mm"))
    tables = {"cosine": Table.join(cosines), "choices": Table.join(choices)}
    return Numbers(tables, {"data_sets": sets, "T": T, "d": D, "step": STEP, "loss": LOG_LOSS.name})


COSINES = Curves(
    "cosine", "step", "choice", "n", "normalised step", "cosine with $W^{mm}$ of the choice",
    scales={"xscale": "log"},
)  # fmt: skip

figure = Reproduction(
    "tf/several-inputs",
    source=SOURCE,
    place="Optimization geometry of attention",
    shows="descent on W against W^mm of the tokens that it selects, global and local choices",
    numbers=numbers,
    pictures={"": COSINES},
    sets=100,
)
