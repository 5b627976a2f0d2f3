"""sim/figure-1: cosine of X(k) with the soft-margin solution on a synthetic causal language.

The setting is that of section 4 of the source; its open choices are made in
`properties.sim._support.causal_language`. The sizes m, n, d vary around 10, 5, 100; each has five
runs, shown by mean and standard error. The programme's tokens are read in two ways, in a row each:
those of the sub-sequence, and the whole vocabulary; training uses the same. The queries of a
sentence share slacks, as definition 4.1 prints it. The solution with one slack a constraint is one
of the directions in the second picture.

The second picture shows X(k) and X_soft beside directions that no training enters, which a cosine
curve does not show. It also has the distance of X(k) from the ray of X_soft as the norm grows. If
X(k) converges to the ray, this distance stays bounded; if it goes elsewhere, it grows like the
norm.
"""

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from attsvm._types import Array
from attsvm.plots import Heading, Table, heading, mean_and_error
from attsvm.reproduce import Numbers, Reproduction
from attsvm.training import follow
from attsvm.training.batch import each
from properties.sim import SOURCE
from properties.sim._support import causal_language as causal
from properties.sim.figures import pictures
from properties.sim.figures.conclusions import conclusions

DEFAULT = causal.Setting()
PANELS: dict[str, tuple[int, ...]] = {"m": (5, 10, 20), "n": (3, 5, 10), "d": (50, 100, 200)}
FAR, TOLERANCE = (10.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e4), 1e-3


def numbers(
    seed: int,
    sets: int = 5,
    panels: Mapping[str, Sequence[int]] = PANELS,
    steps: int = 5000,
    far: Sequence[float] = FAR,
    default: causal.Setting = DEFAULT,
) -> Numbers:
    """Return tables of `sets` runs a configuration; a panel varies one size of the default."""
    record, runs = checkpoints(steps), range(sets)
    jobs = list(product(configurations(panels, default), causal.SETS))

    def one(j: int) -> Array:
        size, tokens = jobs[j]
        return causal.train([causal.draw(seed, run, size) for run in runs], tokens, steps, record)

    paths = each(one, len(jobs), 2)
    parts = [
        followed(seed, size, tokens, W, record)
        for (size, tokens), W in zip(jobs, paths, strict=True)
    ]
    own = {tokens: W for (size, tokens), W in zip(jobs, paths, strict=True) if size == default}
    curves = Table.join([curve for curve, _ in parts])
    tables = {
        "runs": curves,
        "curves": Table.join(
            [means(curves, default, p, v) for p, vs in panels.items() for v in vs]
        ),
        "problems": Table.join([problems for _, problems in parts]),
        **beyond([causal.draw(seed, run, default) for run in runs], own, seed, record, far),
    }
    facts = {
        **default.columns,
        "runs": sets,
        "steps": steps,
        "C": causal.C,
        "vocabulary": causal.VOCABULARY,
        "successors": causal.SUCCESSORS,
        "start_deviation": causal.DEVIATION,
        "loss": causal.LOSS.name,
        "step": "1/L, L a Lipschitz constant of the gradient",
        "query": "right: x_t^T X z",
        "slack": "one for each sentence and token, shared by its queries, as definition 4.1 prints "
        f"it; the direction '{causal.APART}' is the solution where no two constraints share one",
    }
    return Numbers(tables, facts | conclusions(tables))


def checkpoints(steps: int) -> list[int]:
    """Return step 0, and about six steps a decade up to the last one."""
    count = round(6 * np.log10(steps)) + 1
    return [0, *sorted({int(k) for k in np.geomspace(1, steps, count).round()})]


def configurations(
    panels: Mapping[str, Sequence[int]], default: causal.Setting
) -> list[causal.Setting]:
    """Return the distinct configurations of all panels, the default first."""
    all_of = [default.varied(name, value) for name, values in panels.items() for value in values]
    return list(dict.fromkeys([default, *all_of]))


def followed(
    seed: int, size: causal.Setting, tokens: str, W: Array, record: list[int]
) -> tuple[Table, Table]:
    """Return each run's iterates relative to X_soft, and facts about its problems."""
    rows, about = [], []
    for run, path in enumerate(W):
        task, keys = causal.draw(seed, run, size), {**size.columns, "tokens": tokens, "run": run}
        data, solution = task.data[tokens], causal.solve(task, tokens)
        rows.append(towards(task, path, solution.W).table(**keys, step=np.array(record)))
        optimal = data.X[np.arange(data.n), causal.best(data)]
        scores = np.where(data.present, data.gamma, -np.inf)
        tied = (scores == scores.max(axis=1, keepdims=True)).sum(axis=1) > 1
        about.append(
            Table.of(
                **keys,
                problems=data.n,
                constraints=len(solution.programme.D),
                optimum_repeated=int(tied.sum()),
                optimum_is_query=int((optimal == data.Z).all(axis=1).sum()),
                hard_margin_exists=int(np.isfinite(solution.thresholds[1])),
                hard_margin_unknown=int(np.isnan(solution.thresholds[1])),
                C_1=solution.thresholds[0],
                C_2=solution.thresholds[1],
                slack_used=int(solution.kind != "hard"),
                norm_soft=solution.value,
                gap=solution.gap,
            )
        )
    return Table.join(rows), Table.join(about)


def towards(task: causal.Task, W: Array, direction: Array) -> Heading:
    """Return the heading of iterates relative to a direction, in the norms of R^{d x d}."""
    return heading(task.flat(W), np.append(direction.ravel(), 0.0))


def means(curves: Table, default: causal.Setting, panel: str, value: int) -> Table:
    """Return mean and standard error over the runs of a configuration, under both readings."""
    tables, of = [], default.varied(panel, value).columns
    for tokens in causal.SETS:
        step, cosine = curves.where(tokens=tokens, **of).stack("run", "step", "cosine")
        mean, error, count = mean_and_error(cosine)
        keys = {"panel": panel, "value": value, "tokens": tokens, "step": step[0].astype(np.int64)}
        tables.append(Table.of(**keys, mean=mean, error=error, runs=count))
    return Table.join(tables)


def beyond(
    tasks: list[causal.Task],
    trained: Mapping[str, Array],
    seed: int,
    record: list[int],
    far: Sequence[float],
) -> dict[str, Table]:
    """Return the tables that the printed figure lacks, at the default sizes."""
    directions, alike, printed, crossed, long = [], [], [], [], []
    generator = np.random.default_rng([seed, len(tasks)])
    steps = np.array(record)
    for tokens in causal.SETS:
        away = causal.train(tasks, tokens, record[-1], record, printed=True)
        starts = np.stack([task.start for task in tasks])
        data = [task.data[tokens] for task in tasks]
        # conflicting problems of the vocabulary keep parts of X finite, which makes curves stiff
        curves = (
            follow(data, starts, causal.LOSS, far, tolerance=TOLERANCE)
            if tokens == "prefix"
            else ()
        )
        for run, (task, path) in enumerate(zip(tasks, trained[tokens], strict=True)):
            soft = causal.solve(task, tokens).W
            keys = {"tokens": tokens, "run": run}
            last = curves[run].W[0, -1] if curves else path[-1]
            others = causal.rivals(task, tokens, last, generator)
            for name, rival in {"X_soft": soft, **others}.items():
                named = {**keys, "direction": name}
                directions.append(towards(task, path, rival).table(**named, step=steps))
                to_soft = float(heading(rival, soft).cosine)
                alike.append(Table.of(**named, cosine_to_soft=to_soft))
            printed.append(
                towards(task, away[run], soft).table(**keys, step=steps, loss=causal.PRINTED.name)
            )
            if tokens == "prefix":
                whole = causal.solve(task, "vocabulary").W
                crossed.append(towards(task, path, whole).table(run=run, step=steps))
                for name in ("X_soft", "selected tokens"):
                    ray = {"X_soft": soft, **others}[name]
                    reached = towards(task, curves[run].W[0], ray)
                    long.append(reached.table(**keys, direction=name))
    return {
        "directions": Table.join(directions),
        "alike": Table.join(alike),
        "printed": Table.join(printed),
        "prefix-against-vocabulary": Table.join(crossed),
        "far": Table.join(long),
    }


figure = Reproduction(
    "sim/figure-1",
    source=SOURCE,
    place="Figure 1",
    shows="cosine of X(k) with the soft-margin solution, and whether it is evidence",
    numbers=numbers,
    pictures={"": pictures.cosines, "evidence": pictures.evidence},
    sets=5,
)
