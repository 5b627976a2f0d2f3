"""tf/parameterisation-bias: W leans to the Frobenius solution, (K, Q) to the nuclear one.

The protocol: n = 6, T = 8, d = 10, unit-norm Gaussian tokens, queries and head, random labels, 100
data sets. Normalised descent runs on W from zero, and on (K, Q) of inner dimension d from Gaussian
starts of deviation 0.01, for 2000 steps of 0.1. Correlation is the cosine of the angle in the
Frobenius inner product.

Each run is compared with both solutions for the tokens that it selects in the end (largest weight).
These need not be the optimal ones, nor the same for W and (K, Q). Runs whose tokens are not
separable have no solution and are left out. Facts count these runs, the runs that select the
optimal tokens, and the nuclear programmes whose solution set may be more than a point.
"""

import numpy as np

from attsvm.data import AttentionData
from attsvm.losses import LOSSES
from attsvm.plots import Table, heading, mean_and_error, token_weights
from attsvm.plots.draw import band
from attsvm.plots.style import dress, key, sheet
from attsvm.reproduce import Figure, Numbers, Reproduction
from attsvm.svm import att_svm
from attsvm.svm.nuclear import solve_nuclear
from attsvm.svm.programme import att_svm_programme
from attsvm.tokens import target_tokens
from attsvm.training import Trajectory, descend_kq, descend_w
from attsvm.training.rule import WeightOptions
from properties._support.published_data import gaussian_protocol
from properties.tf import SOURCE

LOSS = LOSSES["log-loss"]
STEP, STEPS, DEVIATION = 0.1, 2000, 0.01
RUNS = {"W": "descent on W", "KQ": "descent on (K, Q)"}
SOLUTIONS = ("Frobenius", "nuclear")


def numbers(seed: int, sets: int = 100) -> Numbers:
    """Return mean correlations with standard errors by step, and the last ones by data set."""
    generator = np.random.default_rng(seed)
    data = [gaussian_protocol(generator) for _ in range(sets)]
    d = data[0].d
    K0, Q0 = DEVIATION * generator.normal(size=(2, sets, d, d))
    record = np.unique(np.geomspace(1, STEPS, 70).astype(int)).tolist()
    how: WeightOptions = {"step": STEP, "steps": STEPS, "record": record, "normalised": True}
    runs = {
        "W": descend_w(data, np.zeros((d, d)), LOSS, **how),
        "KQ": descend_kq(data, K0, Q0, LOSS, **how),
    }
    optimal = np.stack([target_tokens(one) for one in data])
    means, last = [], []
    facts: dict[str, object] = {"data_sets": sets, "step": STEP, "loss": LOSS.name}
    for weights, run in runs.items():
        chosen = np.stack(
            [token_weights(one, W[-1]).argmax(axis=-1) for one, W in zip(data, run.W, strict=True)]
        )
        cosines, flat = correlations(data, run, chosen)
        right = (chosen == optimal).all(axis=1)
        facts[f"{weights}_selects_the_optimal_tokens"] = int(right.sum())
        facts[f"{weights}_left_out"] = int(np.isnan(cosines[0, :, -1]).sum())
        facts[f"{weights}_nuclear_set_not_a_point"] = flat
        keys = {"run": weights, "solution": np.array(SOLUTIONS)[:, None]}
        mean, error, count = (
            np.stack(rows) for rows in zip(*map(mean_and_error, cosines), strict=True)
        )
        means.append(
            Table.of(**keys, step=run.steps, mean=mean, standard_error=error, data_sets=count)
        )
        last.append(
            Table.of(
                **keys,
                data_set=np.arange(sets),
                correlation=cosines[..., -1],
                norm=run.norms[:, -1],
                optimal=right.astype(int),
            )
        )
    return Numbers({"mean": Table.join(means), "last": Table.join(last)}, facts)


def correlations(
    data: list[AttentionData], run: Trajectory, chosen: np.ndarray
) -> tuple[np.ndarray, int]:
    """Return cosines (2, B, k) to both solutions for the chosen tokens, NaN without a solution.

    Also the number of nuclear programmes whose solution set may be more than a point.
    """
    cosines, flat = np.full((2, *run.norms.shape), np.nan), 0
    for b, tokens in enumerate(chosen):
        answer = att_svm(data[b], tokens)
        if not answer.solved:
            continue
        nuclear = solve_nuclear(att_svm_programme(data[b], chosen[b]))
        flat += nuclear.dimension != 0
        cosines[0, b] = heading(run.W[b], answer.W).cosine
        cosines[1, b] = heading(run.W[b], nuclear.W).cosine
    return cosines, flat


def picture(n: Numbers) -> Figure:
    """Return panels for W and (K, Q): mean correlation with bands of one standard error."""
    figure = sheet(1, 2, panel=(4.8, 3.8))
    for axes, (run, title) in zip(figure.subplots(1, 2, sharey=True), RUNS.items(), strict=True):
        dress(axes, title, "normalised step", "correlation of the weights with the solution")
        for c, solution in enumerate(SOLUTIONS):
            rows = n.tables["mean"].where(run=run, solution=solution)
            band(axes, rows["step"], rows["mean"], rows["standard_error"], solution, c)
        axes.set_xscale("symlog", linthresh=1.0)
        axes.set(xlim=(1, STEPS), ylim=(0.0, 1.02))
        axes.label_outer()
        key(axes, loc="lower right", title="mean ± standard error", title_fontsize=8)
    return figure


figure = Reproduction(
    "tf/parameterisation-bias",
    source=SOURCE,
    place="Summary, parameterization matters",
    shows="correlation of descent on W and on (K, Q) with the Frobenius and the nuclear solution",
    numbers=numbers,
    pictures={"": picture},
    sets=100,
)
