"""mm/trajectories: descent on p from several starts, and global and local p(alpha).

The published instance is one input with tokens (-0.1, 1), (1, 0), (0, 0) of scores 1, 0.9 and 0.9
(left) or 0 (right), and the log-loss. If the third score is 0.9, token 2 is not locally optimal, as
its support token 3 scores as high. If it is 0, token 2 is locally optimal, and some starts lead to
it.

`plane` shows plain descent with step 1. `evidence` follows gradient flow from the same starts to
norm 1e4 in the log domain. It compares every run with the direction that it selects, and with that
direction turned by small angles.
"""

import numpy as np

from attsvm.data import AttentionData
from attsvm.losses import LOSSES
from attsvm.plots import Heading, Table, heading, progress, token_weights, trajectories
from attsvm.plots.style import key_below, sheet
from attsvm.reproduce import Figure, Numbers, Reproduction
from attsvm.svm import p_svm
from attsvm.svm.geometry import locally_optimal
from attsvm.tokens import target_tokens
from attsvm.training import descend_p, follow
from properties._support.published_data import one_input
from properties.mm import SOURCE

LOSS = LOSSES["log-loss"]
STARTS, STEPS = 10, 4000
THIRD = {"third score 0.9": (0.0, 0.0, 0.9), "third score 0": (0.0, 0.0, 0.0)}
TURNS = (1.0, 0.1)
TABLES = ("tokens", "directions", "runs", "headings")
NORMS = np.geomspace(2.0, 1e4, 40)


def directions(data: AttentionData) -> dict[str, np.ndarray]:
    """Return p(alpha) of the optimal tokens and of every other locally optimal choice, by name.

    The query has norm 1 and is shared, so that local optimality of W is that of p = W z.
    """
    best = tuple(int(t) for t in target_tokens(data))
    others = [o.targets for o in locally_optimal(data) if o.targets != best]
    kinds = [("global", best), *(("local", targets) for targets in others)]
    return {f"{kind} p(α), token {t[0] + 1}": p_svm(data, t).vector for kind, t in kinds}


def starts(seed: int) -> np.ndarray:
    """Return starts on a circle of radius 1.5, turned at random."""
    turn = np.random.default_rng(seed).random()
    angles = 2.0 * np.pi * (np.arange(STARTS) + turn) / STARTS
    return 1.5 * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def numbers(seed: int) -> Numbers:
    """Return tokens, directions, runs of plain descent, and directions along gradient flow."""
    tables: dict[str, list[Table]] = {name: [] for name in TABLES}
    for instance, third in THIRD.items():
        data, p0 = one_input(third), starts(seed)
        rays = directions(data)
        tables["tokens"].append(
            Table.of(
                instance=instance,
                token=np.arange(1, 4),
                key_1=data.X[0, :, 0],
                key_2=data.X[0, :, 1],
                score=data.gamma[0],
            )
        )
        tables["directions"].append(
            Table.of(
                instance=instance,
                direction=list(rays),
                p_1=[p[0] for p in rays.values()],
                p_2=[p[1] for p in rays.values()],
            )
        )
        record = np.unique(np.geomspace(1, STEPS, 80).astype(int)).tolist()
        sets = [data] * STARTS
        run = descend_p(sets, p0, LOSS, step=1.0, steps=STEPS, record=record)
        weights = token_weights(data, run.W, prompts=True)[..., 0, :]
        tables["runs"].append(
            Table.of(
                instance=instance,
                run=np.arange(STARTS)[:, None],
                step=run.steps,
                p_1=run.W[..., 0],
                p_2=run.W[..., 1],
                norm=run.norms,
                weight_1=weights[..., 0],
                weight_2=weights[..., 1],
                weight_3=weights[..., 2],
            )
        )
        tables["headings"] += far(data, instance, p0, rays)
    joined = {name: Table.join(parts) for name, parts in tables.items()}
    return Numbers(joined, {"starts": STARTS, "steps": STEPS, "step": 1.0, "loss": LOSS.name})


def far(
    data: AttentionData, instance: str, p0: np.ndarray, rays: dict[str, np.ndarray]
) -> list[Table]:
    """Return tables of all curves to norm 1e4, against each direction and against turned ones.

    As there is one query z of norm 1, W z moves as p does: the gradient in W is the one in p times
    z^T.
    """
    z = data.Z[0]
    runs = follow([data] * len(p0), p0[:, :, None] * z, LOSS, NORMS.tolist())
    tables = []
    for b, run in enumerate(runs):
        p = run.W[0] @ z
        own = min(rays, key=lambda name: float(heading(p[-1], rays[name]).gap))
        targets = dict(rays)
        for degrees in TURNS:
            targets[f"{own}, turned by {degrees:g}°"] = turned(rays[own], degrees)
        for name, ray in targets.items():
            keys = {"instance": instance, "run": b, "nearest": own, "direction": name}
            tables.append(heading(p, ray).table(**keys, log_time=run.log_time))
    return tables


def turned(p: np.ndarray, degrees: float) -> np.ndarray:
    """Return a vector of the plane, turned."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    image: np.ndarray = np.array([[c, -s], [s, c]]) @ p
    return image


def plane(n: Numbers) -> Figure:
    """Draw both instances in the plane, paths coloured by their direction at norm 1e4."""
    figure = sheet(1, 2, panel=(5.0, 5.1))
    for axes, instance in zip(figure.subplots(1, 2), THIRD, strict=True):
        tokens, rays, runs, ends = (n.tables[name].where(instance=instance) for name in TABLES)
        names = rays.distinct("direction")
        limits = [ends.where(run=b).distinct("nearest")[0] for b in runs.distinct("run")]
        trajectories(
            {"p": np.stack(runs.stack("run", "p_1", "p_2"), axis=-1)},
            {
                str(name): np.array([[x, y]])
                for name, x, y in zip(names, rays["p_1"], rays["p_2"], strict=True)
            },
            np.stack([tokens["key_1"], tokens["key_2"]], axis=1)[None],
            towards=[names.index(limit) for limit in limits],
            title=f"descent on p, {instance}",
            xlabel="$p_1$",
            ylabel="$p_2$",
            axes=axes,
        )
    key_below(figure)
    return figure


def evidence(n: Numbers) -> Figure:
    """Draw the gaps of runs of the second instance to the selected direction and to turned ones."""
    rows = n.tables["headings"].where(instance=list(THIRD)[1])
    own = {str(name): rows.where(nearest=name, direction=name) for name in rows.distinct("nearest")}
    decoys = {
        name: rows.where(direction=name)
        for name in (f"{next(iter(own))}, turned by {degrees:g}°" for degrees in TURNS)
    }
    clock = np.concatenate([part.stack("run", "log_time")[0] for part in own.values()])
    return progress(
        np.where(np.isfinite(clock), clock, np.nan),
        {name: Heading.of(part) for name, part in {**own, **decoys}.items()},
        decoys,
        title="descent on p, third score 0: what a high cosine is worth",
        xlabel="ln(time of gradient flow)",
    )


figure = Reproduction(
    "mm/trajectories",
    source=SOURCE,
    place="Convergence of Gradient Descent on p, picture",
    shows="descent on p from several starts runs to the global or to a local p(alpha)",
    numbers=numbers,
    pictures={"": plane, "evidence": evidence},
)
