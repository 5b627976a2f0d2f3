"""mm/several-inputs: plain and normalised descent on p, by number of inputs.

Data have n inputs of T = 4 unit-norm Gaussian tokens, d = 6, random labels and head. Descent runs
from zero with the log-loss: 2000 plain steps of 1, or 2000 normalised ones of 0.1. A run selects
the token of largest final weight in each input. `cosine` compares the run with p(alpha) of these
tokens. `selected` counts the data sets in which they are optimal, and those in which both rules
select the same tokens.
"""

from collections.abc import Sequence

import numpy as np

from attsvm.losses import LOG_LOSS
from attsvm.plots import Table
from attsvm.reproduce import Numbers, Reproduction
from attsvm.tokens import target_tokens
from attsvm.training import descend_p
from properties._support.experiments import Curves, means, shares
from properties._support.published_data import gaussian_protocol
from properties.mm import SOURCE
from properties.mm.figures.loss_choice import cosine_with_selected

INPUTS = (1, 2, 4, 6)
T, D, STEPS = 4, 6, 2000
RULES = {"plain": 1.0, "normalised": 0.1}
"""Length of a step, by rule."""


def numbers(
    seed: int, sets: int = 100, inputs: Sequence[int] = INPUTS, steps: int = STEPS
) -> Numbers:
    """Return cosines by n, rule and step, and counts of choices by n."""
    cosines, counts = [], []
    record = np.unique(np.geomspace(1, steps, 25).astype(int)).tolist()
    for n in inputs:
        generator = np.random.default_rng([seed, n])
        data = [gaussian_protocol(generator, n, T, D) for _ in range(sets)]
        best = np.stack([target_tokens(one) for one in data])
        chosen = {}
        for rule, step in RULES.items():
            run = descend_p(
                data,
                np.zeros(D),
                LOG_LOSS,
                step=step,
                steps=steps,
                record=record,
                normalised=rule == "normalised",
            )
            paths = list(zip(data, run.W[:, 1:], strict=True))
            picks = [(one.X @ p[-1]).argmax(axis=1) for one, p in paths]
            values = [
                cosine_with_selected(one, pick, p)
                for (one, p), pick in zip(paths, picks, strict=True)
            ]
            cosines.append(means(np.stack(values), n=n, rule=rule, step=record))
            chosen[rule] = np.stack(picks)
            hits = (chosen[rule] == best).all(axis=1)
            counts.append(shares(hits, n=n, condition=f"{rule}, best"))
        same = (chosen["plain"] == chosen["normalised"]).all(axis=1)
        counts.append(shares(same, n=n, condition="both rules select the same"))
    tables = {"cosine": Table.join(cosines), "selected": Table.join(counts)}
    return Numbers(tables, {"data_sets": sets, "T": T, "d": D, "steps": steps, **RULES})


COSINES = Curves(
    "cosine", "step", "rule", "n", "step", "cosine with p(α) of the choice",
    scales={"xscale": "log"},
)  # fmt: skip

figure = Reproduction(
    "mm/several-inputs",
    source=SOURCE,
    place="Convergence of GD on p, normalised descent",
    shows="plain and normalised descent on p against p(alpha) of the tokens that they select",
    numbers=numbers,
    pictures={"": COSINES},
    sets=100,
)
