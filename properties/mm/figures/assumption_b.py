"""mm/assumption-b: how often random data meet assumption B, against the dimension d.

Tokens are Gaussian, rounded to 1/256, and equal the keys; labels are random. alpha is the choice of
tokens with the largest label margin Gamma, as assumption B asks for. Two conditions are decided in
rationals. If p(alpha) exists, the first is necessary for B (`mm/assumption-b:literal-1`). The
second is sufficient (`mm/assumption-b:sharp-1`): every other choice has a smaller label margin and
no input is idle. The share of data sets that satisfy B lies between the shares of both. The
conditions agree if attention can reach every choice of tokens, as for almost all data with d >= n
(T - 1). Counts come with exact binomial 95% intervals.
"""

from collections.abc import Sequence

import numpy as np

from attsvm.plots import Table
from attsvm.reproduce import Numbers, Reproduction
from properties._support.experiments import BY_DIMENSION, shares
from properties.mm import SOURCE
from properties.mm._support.label_margins import idle, others, slowest
from properties.mm._support.max_margin import p_programme, v_programme
from properties.mm._support.token_selections import Selection, select

SIZES = ((1, 3), (2, 2), (2, 3), (3, 2), (3, 3))
DIMENSIONS = (1, 2, 3, 4, 6, 8, 16, 32)
CONDITIONS = (
    "v(alpha) and p(alpha) exist",
    "every input counts in v(alpha)",
    "attention can reach every choice",
    "what B needs",
    "enough for B",
)


def drawn(generator: np.random.Generator, n: int, T: int, d: int) -> Selection:
    """Return one random data set with its choice of largest label margin."""
    X = np.round(256.0 * generator.normal(size=(n, T, d))) / 256.0
    y = np.where(generator.random(n) < 0.5, -1, 1)
    first = select(X, y, [0] * n)
    margins = [(v_programme(one).margin_square, one) for one in (first, *others(first))]
    best: Selection = max(margins, key=lambda pair: pair[0] or 0)[1]
    return best


def met(case: Selection) -> tuple[bool, ...]:
    """Return, for each of `CONDITIONS`, whether a data set meets it."""
    v = v_programme(case)
    if not v.exists or not p_programme(case).exists:
        return (False,) * len(CONDITIONS)
    betas = list(others(case))
    reached = [p_programme(beta).exists for beta in betas]
    gamma = v.margin_square or 0
    lower = [bool((v_programme(beta).margin_square or 0) < gamma) for beta in betas]
    needs = all(less or not far for less, far in zip(lower, reached, strict=True))
    needs = needs and not any(prompt.exists for prompt in slowest(case))
    counted = not any(idle(case))
    return True, counted, all(reached), needs, all(lower) and counted


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
            flags = np.array([met(drawn(generator, n, T, d)) for _ in range(sets)])
            keys = {"size": f"n = {n}, T = {T}", "n": n, "T": T, "d": d}
            rows.append(shares(flags, **keys, condition=CONDITIONS))
    facts = {"data_sets": sets, "confidence": 0.95}
    return Numbers({"frequencies": Table.join(rows)}, facts)


figure = Reproduction(
    "mm/assumption-b",
    source=SOURCE,
    place="Joint convergence of regularized path on v and p, Assumption B",
    shows="how often random data meet assumption B, by d: between what it needs and what is enough",
    numbers=numbers,
    pictures={"": BY_DIMENSION},
    sets=100,
)
