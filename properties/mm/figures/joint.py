"""mm/joint: head v and prompt p together, against the max-margin solutions of both.

`path` minimises the log-loss over ||v|| <= r, ||p|| <= R along laws that tie R to r. Three laws are
on the published inputs {0, (1, 1)}, {0, (1, -1)}, {0, (0.5, h)}, h = 1 and h = 1.5. Two are on
random data: n = 3 inputs of T = 3 unit-norm Gaussian tokens, d = 5, random labels. The head v is
compared with v(alpha), and p with the solutions of three programmes for the tokens that p selects.
`relaxed` is the joint p-SVM. `strict` has margins 1 in all inputs. `alone` constrains only the
inputs that support v. Data are grouped by whether all inputs support v in the end.

`descent` compares three rules: plain descent with step 1, normalised descent, and `each`, the rule
of the public code. Normalised descent divides by the norm of the gradient in (v, p) together.
`each` divides the gradients of v and of p by their own norms. Published data start from p = (0,
-1), v = (-1, 0), random data from zero. The measure `law` is R / (2 ||p(alpha)|| ln r), which
should tend to 1: if all inputs support v, dr ~ exp(-r/||v(alpha)||) and dR ~ r exp(-r/||v(alpha)||
- R/||p(alpha)||), so exp(R/||p(alpha)||) grows like r^2. `each, 32 bits` repeats `each` on
published data as the public code runs it. Gradients are floats of 32 bits, whose softmax rounds to
1, divided by norms to which 1e-9 (v) and 1e-19 (p) are added.
"""

from collections.abc import Callable, Sequence

import numpy as np

from attsvm._types import Array
from attsvm.attention import softmax
from attsvm.data import AttentionData
from attsvm.errors import present
from attsvm.losses import LOSSES
from attsvm.paths import path_joint
from attsvm.plots import Table, heading
from attsvm.reproduce import Numbers, Reproduction
from attsvm.risk import covariance, normalised_gradient
from attsvm.svm import joint_svm
from attsvm.svm.frobenius import solve_programme
from attsvm.svm.programme import p_svm_programme, subset
from attsvm.training import descend_vp
from attsvm.training.rule import Options
from properties._support.experiments import Curves, means
from properties._support.published_data import gaussian_protocol, joint_inputs
from properties.mm import SOURCE

LOSS = LOSSES["log-loss"]
HEIGHTS = (1.0, 1.5)
RADII = (10.0, 100.0, 1000.0)
LAWS: dict[str, Callable[[float], float]] = {
    "R = r": lambda r: r,
    "R = 2 ln(1 + r)": lambda r: 2.0 * float(np.log1p(r)),
    "R = r^2": lambda r: r * r,
}
PUBLISHED_START = ((-1.0, 0.0), (0.0, -1.0))
STARTS = ("mean", "random")
RANDOM_LAWS = ("R = r", "R = r^2")
MEASURES = ("v", "p relaxed", "p strict", "p alone")
NAIVE, FLOORS = "each, 32 bits", (1e-9, 1e-19)
RULES = {
    "plain": (1.0, 100_000),
    "together": (0.1, 10_000),
    "each": (0.1, 1000),
    NAIVE: (0.1, 1000),
}
"""Step size and number of steps of each rule."""


def cosines(data: AttentionData, v: Array, p: Array) -> tuple[Array, bool, float]:
    """Return the cosines (4, k) to the solutions for the tokens that the last prompt selects.

    Also returns whether all inputs support v, and ||p(alpha)||; NaN if a programme has no solution.
    """
    chosen = (data.X @ p[-1]).argmax(axis=1)
    answer = joint_svm(data, chosen)
    measures = np.full((len(MEASURES), len(p)), np.nan)
    if not answer.solved or answer.p is None:
        return measures, False, np.nan
    plain = p_svm_programme(data, chosen)
    strict = solve_programme(plain)
    alone = solve_programme(subset(plain, answer.supporting[plain.input]))
    measures[0] = heading(v, answer.v.vector).cosine
    for row, solution in zip(measures[1:], (answer.p, strict, alone), strict=True):
        if solution.solved:
            row[:] = heading(p, solution.vector).cosine
    return measures, bool(answer.supporting.all()), float(np.linalg.norm(answer.p.vector))


def each_normalised(
    sets: Sequence[AttentionData], v: Array, p: Array, step: float, record: Sequence[int]
) -> tuple[Array, Array]:
    """Return iterates of v and p (B, k, d) under steps that are normalised for each of them.

    In floats of 32 bits gradients are computed directly, otherwise in the log domain.
    """
    X = np.stack([data.X for data in sets]).astype(p.dtype)
    y = np.stack([present(data.y, "the labels") for data in sets]).astype(p.dtype)
    naive, kept = p.dtype == np.float32, []
    floors = FLOORS if naive else (1e-300, 1e-300)
    for k in range(max(record) + 1):
        if k in record:
            kept.append((v, p))
        s = softmax(np.einsum("bntd,bd->bnt", X, p))
        gamma = y[..., None] * np.einsum("bntd,bd->bnt", X, v)
        u = (s * gamma).sum(axis=-1)
        log_slope = LOSS.log_slope(u)
        slope = np.exp(log_slope - (0.0 if naive else log_slope.max(axis=-1, keepdims=True)))
        in_v = np.einsum("bn,bnt,bntd->bd", slope * y, s, X) / len(y[0])
        if naive:
            in_p = np.einsum("bn,bnt,bntd->bd", slope, covariance(s, gamma), X) / len(y[0])
        else:
            ones = np.ones((*y.shape, 1))
            in_p = normalised_gradient(X, ones, gamma, p[..., None], LOSS).matrix[..., 0]
        moves = zip((v, p), (in_v, in_p), floors, strict=True)
        v, p = (
            (old + step * g / (np.linalg.norm(g, axis=-1, keepdims=True) + floor)).astype(p.dtype)
            for old, g, floor in moves
        )
    heads, prompts = (np.stack(part, axis=1).astype(float) for part in zip(*kept, strict=True))
    return heads, prompts


def numbers(
    seed: int,
    sets: int = 100,
    rules: dict[str, tuple[float, int]] = RULES,
    radii: Sequence[float] = RADII,
) -> Numbers:
    """Return paths and descents on both published instances and on random data."""
    generator = np.random.default_rng(seed)
    drawn = [gaussian_protocol(generator, n=3, T=3, d=5) for _ in range(sets)]
    instances = {f"published, h = {h:g}": [joint_inputs(h)] for h in HEIGHTS} | {"random": drawn}
    paths = [
        _path(name, data, law, radii)
        for name, data in instances.items()
        for law in (RANDOM_LAWS if name == "random" else LAWS)
    ]
    descents = [
        _descent(name, rule, data, *rules[rule])
        for name, data in instances.items()
        for rule in rules
        if name != "random" or rule != NAIVE
    ]
    tables = {"path": Table.join(paths), "descent": Table.join(descents)}
    return Numbers(tables, {"data_sets": sets, "loss": LOSS.name})


def _path(name: str, data: Sequence[AttentionData], law: str, radii: Sequence[float]) -> Table:
    """Return mean cosines along a law, by whether all inputs support v in the end."""
    curves, all_support = [], []
    for one in data:
        minima = path_joint(one, LOSS, [(r, LAWS[law](r)) for r in radii], starts=STARTS)
        v, p = (np.stack([getattr(m, part) for m in minima]) for part in ("v", "p"))
        rows, whole, _ = cosines(one, v, p)
        curves.append(rows)
        all_support.append(whole)
    support = np.array(all_support)
    keys = {"law": law, "measure": np.array(MEASURES)[:, None], "r": radii}
    groups = {"all support v": support, "some do not": ~support}
    parts = [
        means(np.stack(curves)[chosen], data=f"{name}, {group}", **keys)
        for group, chosen in groups.items()
        if chosen.any() or name == "random"
    ]
    return Table.join(parts)


def _descent(name: str, rule: str, data: Sequence[AttentionData], step: float, steps: int) -> Table:
    """Return means by step: norms, cosines to solutions for the selected tokens, the law."""
    record = np.unique(np.geomspace(1, steps, 13).astype(int)).tolist()
    starts = np.zeros((2, data[0].d)) if name == "random" else np.array(PUBLISHED_START)
    v0, p0 = np.repeat(starts[:, None], len(data), axis=1)
    if rule.startswith("each"):
        kind = np.float32 if rule == NAIVE else np.float64
        v, p = each_normalised(data, v0.astype(kind), p0.astype(kind), step, [0, *record])
    else:
        together = rule == "together"
        how: Options = {"step": step, "steps": steps, "record": record, "normalised": together}
        run = descend_vp(data, v0, p0, LOSS, **how)
        v, p = present(run.v, "the heads"), run.W
    rows = []
    for one, heads, prompts in zip(data, v, p, strict=True):
        measures, _, size = cosines(one, heads, prompts)
        r, R = np.linalg.norm(heads, axis=-1), np.linalg.norm(prompts, axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            law = np.where(r > 1.0, R / (2.0 * size * np.log(r)), np.nan)
        rows.append(np.stack([r, R, *measures, law]))
    names = np.array(["r", "R", *MEASURES, "law"])[:, None]
    return means(np.stack(rows), data=name, rule=rule, measure=names, step=[0, *record])


DESCENT = Curves(
    "descent", "step", "rule", "measure", "step", "cosine",
    where={"data": ["random"], "measure": MEASURES}, scales={"xscale": "symlog"},
)  # fmt: skip
"""Cosines along descent against the step, with a panel for each rule, on random data."""


PATHS = Curves(
    "path", "r", "law", "measure", "r", "cosine",
    where={"data": ["random, some do not"]}, scales={"xscale": "log"},
)  # fmt: skip
"""Cosines along each law, on random data in which not all inputs support v."""

figure = Reproduction(
    "mm/joint",
    source=SOURCE,
    place="Joint Convergence of Regularized Path on v and p, pictures",
    shows="path and descent of head and prompt together against the joint max-margin solutions",
    numbers=numbers,
    pictures={"": DESCENT, "paths": PATHS},
    sets=100,
)
