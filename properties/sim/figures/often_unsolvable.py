"""sim/often-unsolvable: how often there is no X^mm, against m, n and d.

For each size random languages are drawn as for figure 1, with one set of sentences each. If a query
asks in a circle (`properties.sim.often_unsolvable.contradictions`), there is no X^mm. Otherwise
`separability` decides, with a proof of its answer. Counts come with exact binomial 95% intervals.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attsvm._types import Array, Int
from attsvm.data import AttentionData
from attsvm.errors import SolverError
from attsvm.plots import Table
from attsvm.primitives.counts import interval
from attsvm.reproduce import Numbers, Reproduction
from attsvm.svm.separability import separability
from properties._support.experiments import Curves
from properties.sim import SOURCE
from properties.sim._support import causal_language as causal
from properties.sim._support.causal_language import Setting
from properties.sim.often_unsolvable.contradictions import contradicts, drawn

SIZES = tuple(
    Setting(m, n, d) for n in (2, 3, 5) for d in (2, 5, 20, 100) for m in (1, 2, 3, 5, 10)
)
RISK = 0.025


def numbers(seed: int, sets: int = 40, sizes: Sequence[Setting] = SIZES) -> Numbers:
    """Return counts and intervals by size and by set of tokens."""
    rows = []
    for size in sizes:
        entropy = [[seed, run, size.m, size.n, size.d] for run in range(sets)]
        draws = [drawn(np.random.default_rng(each), size) for each in entropy]
        for tokens, make in causal.SETS.items():
            whole = tokens == "vocabulary"
            answers = [answer(words, make(language, words), whole) for language, words in draws]
            circles = answers.count("circle")
            none = circles + answers.count("unseparable")
            low, high = interval(none, sets, RISK)
            counted = {"runs": sets, "unsolvable": none, "by_a_circle": circles}
            unknown = answers.count("unknown")
            bounds = {"unknown": unknown, "mean": none / sets, "low": low, "high": high}
            rows.append(Table.of(tokens=[tokens], **size.columns, **counted, **bounds))
    facts = {"vocabulary": causal.VOCABULARY, "successors": causal.SUCCESSORS, "confidence": 0.95}
    return Numbers({"frequencies": Table.join(rows)}, facts)


def answer(sentences: Int[Array, "m n"], data: AttentionData, whole: bool) -> str:
    """Return `circle`, `unseparable` or `separable`, each proved, or `unknown`."""
    if contradicts(sentences, data, whole, repeats=False):
        return "circle"
    if not causal.differ(data, causal.best(data)).any():
        return "separable"  # nothing is constrained
    try:
        decision = separability(causal.programme(data, causal.best(data)))
    except SolverError:
        return "unknown"
    return "separable" if decision.separable else "unseparable"


def _shares(tokens: str) -> Curves:
    """Return a picture of frequencies against m, with a panel for each n and a line for each d."""
    return Curves(
        "frequencies", "m", "n", "d", "sentences m", "no hard-margin solution",
        where={"tokens": [tokens]}, scales={"ylim": (-0.03, 1.03)},
    )  # fmt: skip


figure = Reproduction(
    "sim/often-unsolvable",
    source=SOURCE,
    place="Section 4, before definition 4.1",
    shows="how often the hard-margin programme has no solution, against m, n and d",
    numbers=numbers,
    pictures={"": _shares("prefix"), "vocabulary": _shares("vocabulary")},
    sets=40,
)
