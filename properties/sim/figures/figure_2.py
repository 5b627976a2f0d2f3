"""sim/figure-2: margins between optimal and other tokens on a synthetic causal language.

The runs are those of figure 1 with its default sizes. The margins (x_opt - x_t)^T X(k) z of all
problems and all tokens that are not optimal are pooled over the runs, for both readings of the set
of tokens. Copies of the optimal token are optimal themselves and have no margin.
"""

from collections.abc import Sequence

import numpy as np

from attsvm._types import Array
from attsvm.attention import logits_of_w
from attsvm.data import AttentionData
from attsvm.plots import Table, counts
from attsvm.reproduce import Numbers, Reproduction
from properties.sim import SOURCE
from properties.sim._support.causal_language import (
    LOSS,
    PRINTED,
    SETS,
    Setting,
    best,
    differ,
    draw,
    train,
)
from properties.sim.figures import pictures

DEFAULT = Setting()
RECORD, BINS = (0, 30, 100, 300, 1000, 3000, 10_000), 70


def numbers(
    seed: int, sets: int = 5, record: Sequence[int] = RECORD, size: Setting = DEFAULT
) -> Numbers:
    """Return histograms by step over shared bins, and a summary of each step's margins."""
    tasks = [draw(seed, run, size) for run in range(sets)]
    histograms, summaries = [], []
    steps = np.array(record)
    for tokens in SETS:
        data = [task.data[tokens] for task in tasks]
        trained = train(tasks, tokens, record[-1], list(record))
        away = train(tasks, tokens, record[-1], list(record), printed=True)
        pooled_margins = pooled(data, trained)
        edges, filled = counts(pooled_margins, BINS)
        places = {"low": edges[:-1], "high": edges[1:]}
        histograms.append(Table.of(tokens=tokens, step=steps[:, None], **places, count=filled))
        for loss, values in ((LOSS, pooled_margins), (PRINTED, pooled(data, away))):
            summaries.append(
                Table.of(
                    tokens=tokens,
                    loss=loss.name,
                    step=steps,
                    margins=values.shape[1],
                    positive=(values > 0.0).sum(axis=1),
                    least=values.min(axis=1),
                    median=np.median(values, axis=1),
                    mean=values.mean(axis=1),
                    largest=values.max(axis=1),
                    larger_than_before=np.append(0, (np.diff(values, axis=0) > 0.0).sum(axis=1)),
                )
            )
    whole = Table.join(summaries)
    facts: dict[str, object] = {
        **size.columns,
        "runs": sets,
        "loss": LOSS.name,
        "query": "right: x_t^T X z",
    }
    facts |= {f"{tokens}_concluded": _words(whole.where(tokens=tokens)) for tokens in SETS}
    tables = {
        "histogram": Table.join(histograms),
        "summary": whole.where(loss=LOSS.name),
        "printed": whole.where(loss=PRINTED.name),
    }
    return Numbers(tables, facts)


def pooled(data: Sequence[AttentionData], W: Array) -> Array:
    """Return the margins (k, all) of the tokens that differ from the optimal one, over all runs."""
    return np.concatenate([margins(one, path) for one, path in zip(data, W, strict=True)], axis=1)


def margins(data: AttentionData, W: Array) -> Array:
    """Return (x_opt - x_t)^T W z for iterates (k, r, r): the differences of logits, (k, all)."""
    optimal = best(data)
    logits = np.stack([logits_of_w(data.X, data.Z, one) for one in W])
    gaps: Array = logits[:, np.arange(data.n), optimal][..., None] - logits
    return gaps[:, differ(data, optimal)]


def _words(rows: Table) -> str:
    kept, lost = rows.where(loss=LOSS.name), rows.where(loss=PRINTED.name)
    total = int(kept["margins"][0])
    shrunk = total - int(kept["larger_than_before"][-1])
    least, median, largest = (float(kept[name][-1]) for name in ("least", "median", "largest"))
    return (
        f"After {int(kept['step'][-1]):,} steps {int(kept['positive'][-1])} of {total} margins "
        f"are positive (least {least:.2f}, median {median:.2f}, largest {largest:.2f}); {shrunk} "
        f"did not grow since the record before. With the loss as printed "
        f"{int(lost['positive'][-1])} are positive, the median is {float(lost['median'][-1]):.2f}."
    )


figure = Reproduction(
    "sim/figure-2",
    source=SOURCE,
    place="Figure 2",
    shows="margins between optimal and other tokens on a causal language",
    numbers=numbers,
    pictures={"": pictures.margins},
    sets=5,
)
