"""Instances a second that screening looks at, beside Hypothesis and code written by hand.

For each claim there are two rows. `batch`: the formula on 4096 instances of one size, hypotheses
and fitted bounds included. `turn`: a whole turn of the searcher, which also draws, moves and judges
instances of all sizes. Alternatives: Hypothesis draws an instance and evaluates the conclusion;
the conclusion written by hand for numpy instance by instance, as the vectorised objective of
scipy's differential evolution, and for a torch batch. Two more pairs of rows are hard-margin
problems (by hand: `nnls` in a loop, a solution each by scipy, 1000 steps of projected ascent in
torch, to three digits) and runs of descent. Seconds are processor time. What is written by hand is
compared with our answers on the same instances first.
"""

from __future__ import annotations

import contextlib
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import hypothesis
import numpy as np
import torch
from hypothesis import HealthCheck, Phase
from scipy.optimize import differential_evolution, nnls

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.losses import LOG_LOSS
from attsvm.svm.batch import att_svm_batch
from attsvm.theory import Claim, load_packs
from attsvm.theory.declaration import batches
from attsvm.theory.packs.packs import find_claims
from attsvm.theory.search.turn import Turn, take
from attsvm.training import descend_w
from benchmarks.timers.by_hand import CASES, Case, heights, step_by_hand
from benchmarks.timers.timing import Timer, Way

torch.set_num_threads(1)
BATCH, LOOPED = 4096, 256
"""Instances in a batch, and those of it that a loop looks at."""

RUNS, STEPS = 500, 1000
"""Runs of a limit, and steps of each."""

POPULATION, GENERATIONS = 60, 20
"""Of differential evolution: vectors for each number of an instance, and generations."""

SECONDS = 2.0
"""Processor seconds of a row of turns, and of Hypothesis."""


def _turns(claim: Claim) -> float:
    """Return the seconds an instance of whole turns of screening."""
    number, screened, started = 0, 0, 0.0
    while number == 0 or time.process_time() - started < SECONDS:
        gain = take(claim, Turn(claim.id, "", "screen", number, 0, 96))
        if gain.error or gain.found:
            sys.exit(f"{claim.id} is no true claim to screen: {gain.error or 'refuted'}")
        if number == 0:  # loads and compiles
            started, gain.screened = time.process_time(), 0
        screened, number = screened + gain.screened, number + 1
    return (time.process_time() - started) / screened


class _Over(BaseException):
    """The time is up; Hypothesis lets it pass."""


def _drawn(claim: Claim) -> float:
    """Return the seconds an instance that Hypothesis draws and the conclusion is evaluated on."""
    started, seen = time.process_time(), 0

    @hypothesis.seed(0)
    @hypothesis.settings(
        max_examples=10**6,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(claim.data)
    def look(case: Any) -> None:
        nonlocal seen
        if time.process_time() - started > SECONDS:
            raise _Over
        if all(h.holds(case) for h in claim.hypotheses):
            claim.conclusion(case)
            seen += 1

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(_Over):
            look()
    return (time.process_time() - started) / seen


def _data(count: int) -> list[AttentionData]:
    """Return data sets of three inputs of three tokens in three dimensions."""
    generator = np.random.default_rng(0)
    return [
        AttentionData(*(generator.normal(size=s) for s in ((3, 3, 3), (3, 3))), scores=scores)
        for scores in generator.normal(size=(count, 3, 3))
    ]


def _pair(
    name: str, sizes: str, claim: Claim, count: int, ours: Callable[[], Any], **others: Way
) -> Iterator[Timer]:
    """Yield the row of a batch, and of a turn if there is one: the time of `count` instances."""
    once = {"runs": 1, "took": lambda each: count * each}
    hypothesis_way = Way(lambda _: _drawn(claim), **once)  # type: ignore[arg-type]
    common: dict[str, Any] = {"clock": time.process_time, "work": count}
    ways = {"Hypothesis": hypothesis_way, **others}
    yield Timer(f"{name}, batch", sizes, lambda: [None], Way(lambda _: ours()), ways, **common)
    if not claim.formula.batches:
        return
    turn = Way(lambda _: _turns(claim), **once)  # type: ignore[arg-type]
    yield Timer(f"{name}, turn", "all", lambda: [None], turn, **common)


def _closed_form(case: Case, claim: Claim) -> Iterator[Timer]:
    """Yield the rows of a claim whose conclusion is a closed form."""
    formula, parameters = claim.formula, claim.part("").parameters
    raw = batches.filled(formula, np.random.default_rng(0), case.shape, BATCH)
    fitted, found = batches.fit_screened(formula, raw, case.shape, BATCH, parameters)
    rows = {name: np.ascontiguousarray(np.moveaxis(x, -1, 0)) for name, x in fitted.items()}
    by_hand = heights(np, case, rows)
    usable = np.isfinite(found) & np.isfinite(by_hand)
    alike = np.isclose(found[usable], by_hand[usable], 1e-6, 1e-9)  # close points cancel by hand
    if usable.sum() < BATCH // 4 or alike.mean() < 0.9:
        sys.exit(f"{case.claim}: what is written by hand is another conclusion")
    singles = [{name: x[k] for name, x in rows.items()} for k in range(LOOPED)]
    tensors = {name: torch.tensor(x) for name, x in rows.items()}
    sizes = [math.prod(x.shape[1:]) for x in rows.values()]
    splits = np.cumsum(sizes)[:-1]

    def objective(columns: Array) -> Array:
        parts = zip(np.split(columns, splits), rows.items(), strict=True)
        values = {name: part.T.reshape(-1, *x.shape[1:]) for part, (name, x) in parts}
        height = heights(np, case, values)
        return np.where(np.isfinite(height), -height, 0.0)

    def evolved(_: Any) -> None:
        how: dict[str, Any] = {"tol": 0, "polish": False, "vectorized": True, "rng": 0}
        how |= {"popsize": POPULATION, "maxiter": GENERATIONS, "updating": "deferred"}
        differential_evolution(objective, [(-4.0, 4.0)] * sum(sizes), **how)

    yield from _pair(
        case.claim, case.sizes, claim, BATCH,
        lambda: batches.fit_screened(formula, raw, case.shape, BATCH, parameters),
        numpy=Way(lambda _: [heights(np, case, v) for v in singles], LOOPED / BATCH),
        scipy=Way(evolved, POPULATION * sum(sizes) * (1 + GENERATIONS) / BATCH, 1),
        torch=Way(lambda _: heights(torch, case, tensors)),
    )  # fmt: skip


def _rows(data: AttentionData) -> Array:
    """Return the constraints <row, W> >= 1 of the best tokens."""
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
    """Return the norm of the solution, by nonnegative least squares."""
    stacked = np.vstack([rows.T, np.ones(len(rows))])
    weights, _ = nnls(stacked, np.eye(len(stacked))[-1])
    rest = stacked @ weights - np.eye(len(stacked))[-1]
    return float(np.linalg.norm(rest[:-1] / rest[-1]))


def _dual_ascent(rows: torch.Tensor, steps: int = 1000) -> torch.Tensor:
    """Return the norms of the solutions, by accelerated projected ascent on the multipliers."""
    gram = rows @ rows.mT
    step = 1 / gram.diagonal(dim1=-2, dim2=-1).sum(-1)[:, None]
    weights = other = torch.zeros(rows.shape[:2], dtype=rows.dtype)
    for k in range(steps):
        slack = 1 - (gram @ other[..., None])[..., 0]
        new = (other + step * slack).clamp(min=0)
        weights, other = new, new + k / (k + 3) * (new - weights)
    return (weights[:, None] @ rows)[:, 0].norm(dim=-1)


def _programmes(claim: Claim) -> Iterator[Timer]:
    """Yield the rows of hard-margin problems."""
    sets = _data(BATCH)
    constraints = [_rows(data) for data in sets]
    value = att_svm_batch(sets).value
    tensors = torch.tensor(np.array(constraints[:512]))
    off = np.median(np.abs(_dual_ascent(tensors).numpy() / value[:512] - 1))
    exact = [_least_norm(rows) / v - 1 for rows, v in zip(constraints, value, strict=True)]
    if off > 1e-3 or np.median(np.abs(exact)) > 1e-9:
        sys.exit("the alternatives solve another programme")

    def evolved(_: Any) -> None:
        rows = constraints[0]
        differential_evolution(
            lambda W: -(rows @ W).min(axis=0) / np.linalg.norm(W, axis=0),
            [(-1.0, 1.0)] * rows.shape[1],
            vectorized=True,
            updating="deferred",
            rng=0,
        )

    yield from _pair(
        "hard-margin problems", "n = T = d = 3", claim, BATCH, lambda: att_svm_batch(sets),
        numpy=Way(lambda _: [_least_norm(rows) for rows in constraints[:LOOPED]], LOOPED / BATCH),
        scipy=Way(evolved, 1 / BATCH, 1),
        torch=Way(lambda _: _dual_ascent(tensors), 512 / BATCH, 1),
    )  # fmt: skip


def _limits(claim: Claim) -> Iterator[Timer]:
    """Yield the rows of runs of descent."""
    sets, zero = _data(RUNS), np.zeros((3, 3))

    def ours(steps: int = STEPS) -> Any:
        how: dict[str, Any] = {"step": 0.1, "steps": steps, "record": [steps], "normalised": True}
        return descend_w(sets, zero, LOG_LOSS, **how)

    def run(xp: Any, steps: int, W: Any, *arrays: Any) -> Any:
        for _ in range(steps):
            W = step_by_hand(xp, W, *arrays)
        return W

    arrays = [np.array([getattr(s, name) for s in sets]) for name in ("X", "Z", "scores")]
    starts = np.zeros((RUNS, 3, 3))
    if not np.allclose(ours(20).W[:, -1], run(np, 20, starts, *arrays), 1e-6, 1e-9):
        sys.exit("what is written by hand is another descent")
    tensors = [torch.tensor(x) for x in (starts, *arrays)]
    yield from _pair(
        f"runs of {STEPS} steps", "n = T = d = 3", claim, RUNS, ours,
        numpy=Way(lambda _: run(np, STEPS, zero, *(x[0] for x in arrays)), 1 / RUNS, 1),
        torch=Way(lambda _: run(torch, STEPS, *tensors), 1.0, 1),
    )  # fmt: skip


def screening() -> Iterator[Timer]:
    """Yield the rows of closed forms, hard-margin problems and runs."""
    packs = load_packs()
    with np.errstate(all="ignore"):
        for case in CASES:
            (claim,) = find_claims(packs, [case.claim])
            yield from _closed_form(case, claim)
    (programmes,) = find_claims(packs, ["sim/definition-3.8:sharp-1"])
    yield from _programmes(programmes)
    (limits,) = find_claims(packs, ["sim/theorem-3.15:amended-2"])
    yield from _limits(limits)
