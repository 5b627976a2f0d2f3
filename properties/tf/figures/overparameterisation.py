"""tf/overparameterisation: solutions, support vectors and selections of descent, against d.

Tokens, queries and head are Gaussian of mean squared norm 1, and labels are random. Three counts
are decided exactly. The first is that of data sets whose Att-SVM has a solution, the second of
those whose tokens are all its support vectors. The third is that of those whose tokens are all
support vectors in each of the T^n Local-SVMs. A fourth one is in floats: data sets on which
normalised descent from zero (log-loss, 400 steps of 1/2) ends with every optimal token selected.
Counts come with exact binomial 95% intervals.
"""

from collections.abc import Sequence

import numpy as np

from attsvm.data import AttentionData
from attsvm.losses import LOSSES
from attsvm.plots import Table, token_weights
from attsvm.reproduce import Numbers, Reproduction
from attsvm.svm.separability import separability
from attsvm.tokens import target_tokens
from attsvm.training import descend_w
from attsvm.training.rule import WeightOptions
from properties._support.experiments import BY_DIMENSION, shares
from properties._support.laws import support
from properties.tf import SOURCE
from properties.tf.overparameterisation.laws import everywhere

SIZES = ((1, 3), (2, 4), (4, 4))
DIMENSIONS = (1, 2, 4, 8, 16, 32, 64, 128)
CONDITIONS = (
    "the Att-SVM has a solution",
    "all tokens support the Att-SVM",
    "all tokens support all Local-SVMs",
    "descent from zero selects all optimal tokens",
)
STEP, STEPS = 0.5, 400


def drawn(generator: np.random.Generator, n: int, T: int, d: int) -> AttentionData:
    """Return one data set of this law."""
    X, Z, v = (generator.normal(size=s) / np.sqrt(d) for s in ((n, T, d), (n, d), (d,)))
    return AttentionData(X, Z, y=np.where(generator.random(n) < 0.5, -1.0, 1.0), v=v)


def selects(sets: Sequence[AttentionData]) -> list[bool]:
    """Return whether descent from zero ends with the largest weight on each optimal token."""
    d = sets[0].d
    how: WeightOptions = {"step": STEP, "steps": STEPS, "record": [STEPS], "normalised": True}
    run = descend_w(sets, np.zeros((d, d)), LOSSES["log-loss"], **how)
    ends = zip(sets, run.W, strict=True)
    return [
        bool((token_weights(data, W[-1]).argmax(axis=-1) == target_tokens(data)).all())
        for data, W in ends
    ]


def numbers(
    seed: int,
    sets: int = 100,
    sizes: Sequence[tuple[int, int]] = SIZES,
    dimensions: Sequence[int] = DIMENSIONS,
) -> Numbers:
    """Return counts and intervals by size, dimension and condition."""
    rows = []
    for n, T in sizes:
        for d in dimensions:
            generator = np.random.default_rng([seed, n, T, d])
            data = [drawn(generator, n, T, d) for _ in range(sets)]
            tight = [bool(support(one, target_tokens(one)[None])[0]) for one in data]
            X, Z = (np.array([getattr(one, name) for one in data]) for name in ("X", "Z"))
            local = tight & everywhere(X, Z)
            solved = [separability(one).separable for one in data]
            flags = np.array([solved, tight, local, selects(data)]).T
            keys = {"size": f"n = {n}, T = {T}", "n": n, "T": T, "d": d}
            rows.append(shares(flags, **keys, condition=CONDITIONS))
    facts = {"data_sets": sets, "confidence": 0.95, "step": STEP, "steps": STEPS}
    return Numbers({"frequencies": Table.join(rows)}, facts)


figure = Reproduction(
    "tf/overparameterisation",
    source=SOURCE,
    place="Main results on large d",
    shows="how often a solution exists, all tokens support it, and descent selects the best, by d",
    numbers=numbers,
    pictures={"": BY_DIMENSION},
    sets=100,
)
