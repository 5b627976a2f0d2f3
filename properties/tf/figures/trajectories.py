"""tf/trajectories: the flow on W and on (K, Q), seen through (W z_1, W z_2), and SVM directions.

n = 2 inputs have T = 3 tokens in the plane, as in the talk, which does not publish its numbers. So
the tokens, queries, head and labels are drawn (unit norm) until the Att-SVM has a solution of norm
at most 3. A larger norm would show nothing at this scale. Starts are Gaussian of increasing size: a
start near 0 matters for (K, Q) and not for W.

`plane` shows the curves of gradient flow on both up to norm 15, `evidence` up to norm 1e4. There
the residual of W from the Frobenius ray stays level; that of (K, Q) from the nuclear ray need not.
"""

import numpy as np

from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.losses import LOSSES
from attsvm.plots import Heading, Table, heading, progress, projections, token_weights, trajectories
from attsvm.plots.style import key_below, sheet
from attsvm.reproduce import Figure, Numbers, Reproduction
from attsvm.svm import att_svm, local_svm
from attsvm.svm.nuclear import solve_nuclear
from attsvm.training import Trajectory, follow, follow_kq
from properties._support.published_data import gaussian_protocol
from properties.tf import SOURCE

LOSS = LOSSES["log-loss"]
SCALES = np.array([0.05, 0.1, 0.2, 0.5, 1.0])
LARGEST_NORM, MOST_DRAWS = 3.0, 1000
NEAR, FAR = np.geomspace(0.02, 15.0, 90), np.geomspace(2.0, 1e4, 40)
ENTRIES = ("W_11", "W_12", "W_21", "W_22")
NORM_NAMES = ("Frobenius", "nuclear")


def drawn(generator: np.random.Generator) -> tuple[AttentionData, int]:
    """Return the first data set whose Att-SVM has a solution of small norm, and its number."""
    for draws in range(1, MOST_DRAWS + 1):
        data = gaussian_protocol(generator, n=2, T=3, d=2)
        answer = att_svm(data)
        if answer.solved and answer.value <= LARGEST_NORM:
            return data, draws
    raise DataError(f"none of {MOST_DRAWS} data sets has a solution of norm {LARGEST_NORM}")


def solutions(data: AttentionData, targets: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the Frobenius and the nuclear solution that select these tokens."""
    answer = local_svm(data, targets)
    return answer.W, solve_nuclear(answer.programme).W


def numbers(seed: int) -> Numbers:
    """Return tokens, SVM directions, curves of gradient flow, and their headings further on."""
    generator = np.random.default_rng(seed)
    data, draws = drawn(generator)
    W0, K0, Q0 = generator.normal(size=(3, len(SCALES), 2, 2)) * SCALES[:, None, None]
    sets = [data] * len(SCALES)
    near, far = (
        {"W": follow(sets, W0, LOSS, norms), "(K, Q)": follow_kq(sets, K0, Q0, LOSS, norms)}
        for norms in (NEAR.tolist(), FAR.tolist())
    )
    runs, headings, directions = [], [], []
    seen: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]] = {}
    for weights, curves in near.items():
        runs += [run_table(data, weights, b, curve) for b, curve in enumerate(curves)]
        for b, curve in enumerate(far[weights]):
            W, clock = curve.W[0], curve.log_time
            chosen = tuple(token_weights(data, W[-1]).argmax(axis=-1).tolist())
            pair = seen.setdefault(chosen, solutions(data, chosen))
            for name, target in zip(NORM_NAMES, pair, strict=True):
                keys = {"weights": weights, "run": b, "tokens": label(chosen), "direction": name}
                headings.append(heading(W, target).table(**keys, clock=clock))
    for chosen, pair in seen.items():
        for name, target in zip(NORM_NAMES, pair, strict=True):
            entries = dict(zip(ENTRIES, target.ravel(), strict=True))
            directions.append(Table.of(tokens=[label(chosen)], direction=name, **entries))
    tables = {
        "inputs": input_table(data),
        "directions": Table.join(directions),
        "runs": Table.join(runs),
        "headings": Table.join(headings),
    }
    facts = {"drawn": draws, "largest_norm": LARGEST_NORM, "loss": LOSS.name}
    facts |= {"near": float(NEAR[-1]), "far": float(FAR[-1])}
    return Numbers(tables, {**facts, "optimal": label(tuple(data.gamma.argmax(axis=1).tolist()))})


def label(chosen: tuple[int, ...]) -> str:
    """Return the tokens counted from 1, as the picture shows them."""
    return f"({', '.join(str(t + 1) for t in chosen)})"


def input_table(data: AttentionData) -> Table:
    """Return a table with one row for each token."""
    return Table.of(
        input=np.array([[1], [2]]),
        token=np.arange(1, 4),
        x_1=data.X[..., 0],
        x_2=data.X[..., 1],
        score=data.gamma,
        z_1=data.Z[:, :1],
        z_2=data.Z[:, 1:],
    )


def run_table(data: AttentionData, weights: str, b: int, curve: Trajectory) -> Table:
    """Return entries of W, projections W z_1, W z_2, and the least weight of a selected token."""
    seen = projections(curve.W[0], data.Z)
    flat = curve.W[0].reshape(-1, 4)
    return Table.of(
        weights=weights,
        run=b,
        scale=SCALES[b],
        **{name: flat[..., e] for e, name in enumerate(ENTRIES)},
        **{f"Wz{i + 1}_{c + 1}": seen[i, ..., c] for i in range(2) for c in range(2)},
        norm=curve.norms[0],
        least_selected=token_weights(data, curve.W[0]).max(axis=-1).min(axis=-1),
    )


def plane(n: Numbers) -> Figure:
    """Return a picture of W z_1 and W z_2 under the flow on W (left) and on (K, Q) (right)."""
    inputs = n.tables["inputs"]
    X = np.stack([inputs["x_1"], inputs["x_2"]], axis=-1).reshape(2, 3, 2)
    Z = np.stack([inputs["z_1"], inputs["z_2"]], axis=-1).reshape(2, 3, 2)[:, 0]
    figure = sheet(1, 2, panel=(5.2, 5.4))
    for axes, weights in zip(figure.subplots(1, 2), ("W", "(K, Q)"), strict=True):
        runs = n.tables["runs"].where(weights=weights)
        chosen = n.tables["headings"].where(weights=weights).distinct("tokens")
        rays = {}
        for tokens in chosen:
            rows = n.tables["directions"].where(tokens=tokens)
            for name, *entries in zip(*(rows[c] for c in ("direction", *ENTRIES)), strict=True):
                rays[f"{name} {tokens}"] = projections(np.reshape(entries, (2, 2)), Z)
        trajectories(
            {
                f"$Wz_{i}$": np.stack(runs.stack("run", f"Wz{i}_1", f"Wz{i}_2"), axis=-1)
                for i in (1, 2)
            },
            rays,
            X,
            title=f"flow on {weights}, to norm {NEAR[-1]:g} of W",
            xlabel="first coordinate of $x$ and $Wz$",
            ylabel="second coordinate of $x$ and $Wz$",
            axes=axes,
        )
    key_below(figure, columns=4)
    return figure


def evidence(n: Numbers) -> Figure:
    """Return each run beside the Frobenius and the nuclear solution of its selected tokens."""
    figure = sheet(2, 4, panel=(3.7, 3.3))
    left, right = figure.subfigures(1, 2, wspace=0.03, squeeze=False)[0]
    for part, weights, other in ((left, "W", "nuclear"), (right, "(K, Q)", "Frobenius")):
        rows = n.tables["headings"].where(weights=weights)
        (clock,) = rows.where(direction=NORM_NAMES[0]).stack("run", "clock")
        progress(
            np.where(np.isfinite(clock), clock, np.nan),
            {name: Heading.of(rows.where(direction=name)) for name in NORM_NAMES},
            [other],
            title=f"flow on {weights}",
            xlabel="ln(time of gradient flow)",
            figure=part,
        )
    return figure


figure = Reproduction(
    "tf/trajectories",
    source=SOURCE,
    place="Numerical example, W-ERM and KQ-ERM",
    shows="gradient flow on W and on (K, Q) beside the Frobenius and the nuclear SVM directions",
    numbers=numbers,
    pictures={"": plane, "evidence": evidence},
)
