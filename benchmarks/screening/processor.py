"""The table for one core: ours beside Hypothesis, numpy, scipy and torch."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from scipy.optimize import differential_evolution, nnls

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.losses import LOG_LOSS
from attsvm.svm.batch import att_svm_batch
from attsvm.theory import Claim, load_packs
from attsvm.theory.packs.packs import find_claims
from attsvm.training import descend_w
from benchmarks.screening.by_hand import CASES, Case, heights, step_by_hand
from benchmarks.screening.rates import (
    BATCH,
    RUNS,
    STEPS,
    drawn,
    drawn_data,
    page,
    processor,
    rate,
    tell,
    turns,
)

torch.set_num_threads(1)

_POPULATION, _GENERATIONS = 60, 20
"""Of scipy's differential evolution: vectors for each number of an instance, and generations."""

COLUMNS = ("batch", "turn", "Hypothesis", "numpy loop", "scipy", "torch", "machine")


def screened(case: Case, claim: Claim, machine: Mapping[str, float], seconds: float) -> list[float]:
    """A row of the table for a closed form."""
    formula, parameters = claim.formula, claim.part("").parameters
    raw = formula.filled(np.random.default_rng(0), case.shape, BATCH)
    fitted, found = formula.fit_screened(raw, case.shape, BATCH, parameters)
    rows = {name: np.ascontiguousarray(np.moveaxis(x, -1, 0)) for name, x in fitted.items()}
    by_hand = heights(np, case, rows)
    usable = np.isfinite(found) & np.isfinite(by_hand)
    alike = np.isclose(found[usable], by_hand[usable], 1e-6, 1e-9)  # close points cancel by hand
    if usable.sum() < BATCH // 4 or alike.mean() < 0.9:
        sys.exit(f"{case.claim}: what is written by hand is another conclusion")

    def batch() -> None:
        formula.fit_screened(raw, case.shape, BATCH, parameters)

    singles = [{name: x[k] for name, x in rows.items()} for k in range(256)]
    tensors = {name: torch.tensor(x) for name, x in rows.items()}
    sizes = [math.prod(x.shape[1:]) for x in rows.values()]
    splits = np.cumsum(sizes)[:-1]

    def objective(columns: Array) -> Array:
        parts = np.split(columns, splits)
        values = {
            name: part.T.reshape(-1, *x.shape[1:])
            for part, (name, x) in zip(parts, rows.items(), strict=True)
        }
        height = heights(np, case, values)
        return np.where(np.isfinite(height), -height, 0.0)

    def evolved() -> None:
        differential_evolution(
            objective,
            [(-4.0, 4.0)] * sum(sizes),
            popsize=_POPULATION,
            maxiter=_GENERATIONS,
            tol=0,
            polish=False,
            vectorized=True,
            updating="deferred",
            rng=0,
        )

    return [
        rate(batch, BATCH, seconds),
        turns(claim, seconds),
        drawn(claim, seconds),
        rate(lambda: [heights(np, case, v) for v in singles], len(singles), seconds),
        rate(evolved, _POPULATION * sum(sizes) * (1 + _GENERATIONS), seconds),
        rate(lambda: heights(torch, case, tensors), BATCH, seconds),
        _limit(machine, *case.work),
    ]


def _limit(machine: Mapping[str, float], multiplications: float, exponentials: float) -> float:
    return 1 / (multiplications / machine["multiply"] + exponentials / machine["exp"])


def _rows(data: AttentionData) -> Array:
    """The constraints <row, W> >= 1 of the best tokens."""
    best = data.scores.argmax(axis=1)
    return np.array(
        [
            np.outer(data.X[i, best[i]] - data.X[i, t], data.Z[i]).ravel()
            for i in range(data.n)
            for t in range(data.T)
            if t != best[i]
        ]
    )


def _least_norm(rows: Array) -> float:
    """The norm of the solution, by nonnegative least squares."""
    stacked = np.vstack([rows.T, np.ones(len(rows))])
    weights, _ = nnls(stacked, np.eye(len(stacked))[-1])
    rest = stacked @ weights - np.eye(len(stacked))[-1]
    return float(np.linalg.norm(rest[:-1] / rest[-1]))


def _dual_ascent(rows: torch.Tensor, steps: int = 1000) -> torch.Tensor:
    """The norms of the solutions, by accelerated projected ascent on the multipliers."""
    gram = rows @ rows.mT
    step = 1 / gram.diagonal(dim1=-2, dim2=-1).sum(-1)[:, None]
    weights = other = torch.zeros(rows.shape[:2], dtype=rows.dtype)
    for k in range(steps):
        slack = 1 - (gram @ other[..., None])[..., 0]
        new = (other + step * slack).clamp(min=0)
        weights, other = new, new + k / (k + 3) * (new - weights)
    return (weights[:, None] @ rows)[:, 0].norm(dim=-1)


def programmes(machine: Mapping[str, float], seconds: float) -> list[float]:
    """A row of the table for hard-margin problems."""
    sets = drawn_data(BATCH)
    constraints = [_rows(data) for data in sets]
    value = att_svm_batch(sets).value
    tensors = torch.tensor(np.array(constraints))
    once = _dual_ascent(tensors[:512]).numpy()
    others = (
        (np.median(np.abs(once / value[:512] - 1)), 1e-3),
        (
            np.median(
                [abs(_least_norm(rows) / v - 1) for rows, v in zip(constraints, value, strict=True)]
            ),
            1e-9,
        ),
    )
    if any(off > most for off, most in others):
        sys.exit(f"the rivals solve another programme: {others}")

    def evolved() -> None:
        rows = constraints[0]
        differential_evolution(
            lambda W: -(rows @ W).min(axis=0) / np.linalg.norm(W, axis=0),
            [(-1.0, 1.0)] * rows.shape[1],
            vectorized=True,
            updating="deferred",
            rng=0,
        )

    (claim,) = find_claims(load_packs(), ["sim/definition-3.8:sharp-1"])
    m, d = constraints[0].shape[0], 3
    return [
        rate(lambda: att_svm_batch(sets), BATCH, seconds),
        turns(claim, seconds),
        drawn(claim, seconds),
        rate(lambda: [_least_norm(rows) for rows in constraints[:256]], 256, seconds),
        rate(evolved, 1, seconds),
        rate(lambda: _dual_ascent(tensors[:512]), 512, seconds),
        _limit(machine, m * (m + 1) * d + m**3 / 3, 0),
    ]


def limits(machine: Mapping[str, float], seconds: float) -> list[float]:
    """A row of the table for runs of descent."""
    sets = drawn_data(RUNS)
    zero = np.zeros((3, 3))

    def ours(steps: int = STEPS) -> Any:
        return descend_w(
            sets, zero, LOG_LOSS, step=0.1, steps=steps, record=[steps], normalised=True
        )

    arrays = [np.array([getattr(s, name) for s in sets]) for name in ("X", "Z", "scores")]

    def run(xp: Any, steps: int, W: Any, *arrays: Any) -> Any:
        for _ in range(steps):
            W = step_by_hand(xp, W, *arrays)
        return W

    starts = np.zeros((RUNS, 3, 3))
    if not np.allclose(ours(20).W[:, -1], run(np, 20, starts, *arrays), 1e-6, 1e-9):
        sys.exit("what is written by hand is another descent")
    tensors = [torch.tensor(x) for x in (starts, *arrays)]
    (claim,) = find_claims(load_packs(), ["sim/theorem-3.15:amended-2"])
    n = T = d = 3
    each = n * (n + 1) * d + 2 * n * T * d + 2 * n * d
    return [
        rate(ours, RUNS, seconds),
        turns(claim, seconds),
        drawn(claim, seconds),
        rate(lambda: run(np, STEPS, zero, *(x[0] for x in arrays)), 1, seconds),
        math.nan,
        rate(lambda: run(torch, STEPS, *tensors), RUNS, seconds),
        _limit(machine, each * STEPS, 2 * n * T * STEPS),
    ]


def table(seconds: float, command: str) -> str:
    """The table as a page; told row by row."""
    print(f"{'':<42}" + "".join(f"{name:>13}" for name in COLUMNS))
    machine, rows = processor(seconds), []
    packs = load_packs()
    for case in CASES:
        (claim,) = find_claims(packs, [case.claim])
        with np.errstate(all="ignore"):
            rows.append((case.claim, case.sizes, screened(case, claim, machine, seconds)))
        tell(rows[-1], COLUMNS)
    for what, row in (("hard-margin problems", programmes), (f"runs of {STEPS} steps", limits)):
        rows.append((what, "n = T = d = 3", row(machine, seconds)))
        tell(rows[-1], COLUMNS)
    said = (
        f"Written by `{command}`: one run on one core, in processor time. The processor did "
        f"{machine['multiply']:.2g} multiplications with additions or {machine['exp']:.2g} "
        "exponentials a second in compiled loops."
    )
    meant = (
        "`batch` is the formula on 4096 instances of that size, hypotheses and fitted bounds "
        "included; for problems `att_svm_batch` with its certificates, for runs `descend_w`. "
        "`turn` is a whole turn of the searcher in batches, which also draws, moves and judges "
        "instances of all sizes (of sim/definition-3.8:sharp-1 and sim/theorem-3.15:amended-2 in "
        "the last two rows, where a limit takes as many steps as it needs). `Hypothesis` draws an "
        "instance and evaluates the conclusion. The next three are the conclusion written by "
        "hand: numpy instance by instance (problems by `nnls`), scipy's differential evolution "
        "with a vectorised objective (for problems a solution each), a torch batch (problems by "
        "1000 steps of projected ascent, to three digits). `machine` is what the multiplications "
        "and exponentials of the formula would take alone."
    )
    device = (
        "Formulas of variables are screened in numpy here, records in PyTorch on the processor; "
        "[screening-gpu.md](screening-gpu.md) is the table for formulas and runs on a GPU."
    )
    return page("Instances a second", COLUMNS, rows, said, meant, device)
