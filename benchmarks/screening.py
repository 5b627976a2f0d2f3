"""Instances a second and core, beside rivals: `python -m benchmarks.screening [--write FILE]`.

With `--device cuda` the same on a GPU, by the clock: the formula and a whole turn of the searcher
there, beside a torch batch by hand on that GPU and the formula in numpy on a core of that machine.

One run, one thread, processor time. For each statement: the formula on one batch, as the searcher
`screen` evaluates it; a whole turn of the searcher, which also draws, moves and judges instances of
all sizes; Hypothesis alone (it draws an instance, the conclusion is evaluated); the conclusion
written by hand, for numpy in a loop over instances, as the objective of scipy's differential
evolution (vectorised), and for a torch batch; and the number of its multiplications and
exponentials beside what the processor does of each in a second. What is written by hand is compared
with the formula on the same instances first.
"""

from __future__ import annotations

from attsvm._threads import single_threaded

single_threaded()

import argparse
import contextlib
import json
import math
import sys
import textwrap
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import torch
from hypothesis import HealthCheck, Phase
from scipy.optimize import differential_evolution, nnls

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.kernels import compiled
from attsvm.losses import LOG_LOSS
from attsvm.svm.batch import att_svm_batch
from attsvm.theory import Claim, load_packs
from attsvm.theory.arithmetic import Tensors
from attsvm.theory.declaration.packs import find_claims
from attsvm.theory.search import GUIDED
from attsvm.theory.search.turn import Turn, take
from attsvm.training import descend_w

torch.set_num_threads(1)

_BATCH = 4096
_POPULATION, _GENERATIONS = 60, 20
"""Of scipy's differential evolution: vectors for each number of an instance, and generations."""

_RUNS, _STEPS = 500, 1000
"""Runs of a limit, and steps of each."""

COLUMNS = ("batch", "turn", "Hypothesis", "numpy loop", "scipy", "torch", "machine")

ON_DEVICE = ("batch", "turn", "torch by hand", "one core")

_LARGE, _MANY_RUNS = 2**21, 2**16
"""Instances in a batch on a device, and runs of a limit there."""

Sides = tuple[Any, Any]
Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """A claim whose conclusion is a closed form.

    Attributes:
        claim: its id.
        shape: of the instances, by axis.
        sides: left and right side by hand, from numpy or torch and the variables (batch, ...).
        work: multiplications and exponentials of an instance.
    """

    claim: str
    shape: Mapping[str, int]
    sides: Callable[[Any, Values], Sides]
    work: tuple[int, int]


def _norm(xp: Any, x: Any) -> Any:
    return xp.sqrt(xp.sum(x * x, -1))


def _attention(xp: Any, A: Any, x: Any) -> Any:
    logits = xp.einsum("...nd,...d->...n", A, x)
    powers = xp.exp(logits - xp.amax(logits, -1)[..., None])
    return powers / xp.sum(powers, -1)[..., None]


def _slope(xp: Any, x: Any) -> Any:
    e = xp.exp(-xp.abs(x))
    return e / ((1 + e) * (1 + e))


def _lemma_12(xp: Any, v: Values) -> Sides:
    left = xp.abs(_slope(xp, v["x"]) - _slope(xp, v["y"]))
    return left, xp.abs(v["x"] - v["y"]) / (6 * math.sqrt(3))


def _gradient(xp: Any, v: Values, x: Any) -> Any:
    f, h, b = _attention(xp, v["A"], x), v["h"], v["b"]
    mean = xp.sum(f * h, -1)
    along = xp.einsum("...nd,...n->...d", v["A"], f * (h - mean[..., None]))
    return (b * _slope(xp, b * mean))[..., None] * along


def _lemma_13(xp: Any, v: Values) -> Sides:
    left = _norm(xp, _gradient(xp, v, v["x"]) - _gradient(xp, v, v["y"]))
    n, R = v["A"].shape[-2], v["R"]
    return left, 3 * n**3 * R**7 * xp.exp(13 * R * R) * _norm(xp, v["x"] - v["y"])


def _stability(xp: Any, v: Values) -> Sides:
    h, b = v["h"], v["b"]

    def loss(x: Any) -> Any:
        return (xp.sum(_attention(xp, v["A"], x) * h, -1) - b) ** 2

    size = _norm(xp, h)
    bound = xp.linalg.svd(v["A"], False)[1][..., 0] * size * (size + xp.abs(b))
    return xp.abs(loss(v["x"]) - loss(v["y"])), bound * _norm(xp, v["x"] - v["y"])


def _bound_4(xp: Any, v: Values) -> Sides:
    A = v["A"]
    left = _norm(xp, _attention(xp, A, v["x"]) - _attention(xp, A, v["y"]))
    apart = _norm(xp, A[..., :, None, :] - A[..., None, :, :])
    spread = xp.amax(apart, (-2, -1)) / math.sqrt(2)
    return left, spread / 2 * _norm(xp, v["x"] - v["y"])


def _work(n: int, D: int, more: int, exponentials: int) -> tuple[int, int]:
    """Of two points of attention with n tokens in D dimensions, and what is left to do."""
    return 2 * (n * D + n) + D + more, 2 * n + exponentials


CASES = (
    Case("sim/lemma-3.12:sharp", {}, _lemma_12, (7, 2)),
    Case("sim/lemma-3.13:amended", {"n": 2, "D": 1}, _lemma_13, _work(2, 1, 31, 3)),
    Case("sim/lemma-3.13:amended", {"n": 4, "D": 3}, _lemma_13, _work(4, 3, 115, 3)),
    Case("sim/stability-l2:sharp-1", {"n": 2, "D": 2}, _stability, _work(2, 2, 20, 0)),
    Case("sim/stability-l2:sharp-1", {"n": 4, "D": 3}, _stability, _work(4, 3, 54, 0)),
    Case("sim/basic-4:sharp", {"n": 2, "D": 2}, _bound_4, _work(2, 2, 5, 0)),
    Case("sim/basic-4:sharp", {"n": 4, "D": 3}, _bound_4, _work(4, 3, 24, 0)),
)


def rate(
    action: Callable[[], Any],
    count: float,
    seconds: float,
    clock: Callable[[], float] = time.process_time,
) -> float:
    """How many a second of processor time, of an action that does so many; it ran before."""
    started, done = clock(), 0.0
    while clock() - started < seconds:
        action()
        done += count
    return done / (clock() - started)


def turns(
    claim: Claim, seconds: float, who: str = "", clock: Callable[[], float] = time.process_time
) -> float:
    """Instances that whole turns of a searcher screen, of that in batches where none is named."""
    who = who or next(name for name in ("screen", "batches") if GUIDED[name].works_on(claim))
    pool = json.dumps(take(claim, Turn(claim.id, "", "drawn", 0, 0, 64)).pool)
    number, screened, started = 0, 0, 0.0
    while number == 0 or clock() - started < seconds:
        gain = take(claim, Turn(claim.id, "", who, number, 0, 96, pool=pool))
        if gain.error or gain.found:
            sys.exit(f"{claim.id} is no true claim to screen: {gain.error or 'refuted'}")
        if number == 0:  # loads and compiles
            started, gain.screened = clock(), 0
        screened, number = screened + gain.screened, number + 1
    return screened / (clock() - started)


class _Over(BaseException):
    """The time is up; Hypothesis lets it pass."""


def drawn(claim: Claim, seconds: float) -> float:
    """Instances that Hypothesis draws and the conclusion is evaluated on."""
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
        if time.process_time() - started > seconds:
            raise _Over
        if all(h.holds(case) for h in claim.hypotheses):
            claim.conclusion(case)
            seen += 1

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(_Over):
            look()
    return seen / (time.process_time() - started)


def _heights(xp: Any, case: Case, values: Values) -> Any:
    left, right = case.sides(xp, values)
    return left / right


def screened(case: Case, claim: Claim, machine: Mapping[str, float], seconds: float) -> list[float]:
    """A row of the table for a closed form."""
    formula, parameters = claim.formula, claim.part("").parameters
    raw = formula.filled(np.random.default_rng(0), case.shape, _BATCH)
    fitted, found = formula.fit_screened(raw, case.shape, _BATCH, parameters)
    rows = {name: np.ascontiguousarray(np.moveaxis(x, -1, 0)) for name, x in fitted.items()}
    by_hand = _heights(np, case, rows)
    usable = np.isfinite(found) & np.isfinite(by_hand)
    alike = np.isclose(found[usable], by_hand[usable], 1e-6, 1e-9)  # close points cancel by hand
    if usable.sum() < _BATCH // 4 or alike.mean() < 0.9:
        sys.exit(f"{case.claim}: what is written by hand is another conclusion")

    def batch() -> None:
        formula.fit_screened(raw, case.shape, _BATCH, parameters)

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
        height = _heights(np, case, values)
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
        rate(batch, _BATCH, seconds),
        turns(claim, seconds),
        drawn(claim, seconds),
        rate(lambda: [_heights(np, case, v) for v in singles], len(singles), seconds),
        rate(evolved, _POPULATION * sum(sizes) * (1 + _GENERATIONS), seconds),
        rate(lambda: _heights(torch, case, tensors), _BATCH, seconds),
        _limit(machine, *case.work),
    ]


def _formula_there(case: Case, claim: Claim, device: str, seconds: float) -> list[float]:
    """A row of the table for a closed form on a device."""
    formula, parameters = claim.formula, claim.part("").parameters
    clock, finished = time.perf_counter, _finishing(device)
    few = formula.filled(np.random.default_rng(0), case.shape, _BATCH)
    fitted, height = formula.fit_screened(few, case.shape, _BATCH, parameters)
    times = _LARGE // _BATCH
    raw = {
        name: torch.tensor(x).repeat(*[1] * (x.ndim - 1), times).to(device)
        for name, x in few.items()
    }
    m = Tensors(device)
    there = formula.fit_screened(raw, case.shape, _LARGE, parameters, m)[1][:_BATCH].cpu().numpy()
    usable = np.isfinite(height) & np.isfinite(there)
    if not np.isclose(height[usable], there[usable], 1e-6, 1e-9).mean() > 0.98:
        sys.exit(f"{case.claim}: the device computes something else")
    rows = {
        name: torch.tensor(np.ascontiguousarray(np.moveaxis(x, -1, 0)), device=device).repeat(
            times, *[1] * (x.ndim - 1)
        )
        for name, x in fitted.items()
    }
    actions = (
        lambda: formula.fit_screened(raw, case.shape, _LARGE, parameters, m),
        lambda: _heights(torch, case, rows),
    )
    formula_rate, by_hand = (rate(finished(action), _LARGE, seconds, clock) for action in actions)
    once = lambda: formula.fit_screened(few, case.shape, _BATCH, parameters)  # noqa: E731
    return [
        formula_rate,
        turns(claim, seconds, "gpu", clock) if device != "cpu" else math.nan,
        by_hand,
        rate(once, _BATCH, seconds, clock),
    ]


def _finishing(device: str) -> Callable[[Callable[[], Any]], Callable[[], None]]:
    """From an action the same, at the end of which the device has done what it was asked."""

    def finished(action: Callable[[], Any]) -> Callable[[], None]:
        def run() -> None:
            action()
            if device != "cpu":
                torch.cuda.synchronize(device)

        run()  # loads kernels
        return run

    return finished


def _runs_there(device: str, seconds: float) -> list[float]:
    """A row of the table for runs of descent on a device."""
    sets, clock = _data(_RUNS), time.perf_counter
    many = (sets * (_MANY_RUNS // _RUNS + 1))[:_MANY_RUNS]

    def ours(data: list[AttentionData], device: str | None, steps: int = _STEPS) -> Any:
        return descend_w(
            data, np.zeros((3, 3)), LOG_LOSS,
            step=0.1, steps=steps, record=[steps], normalised=True, device=device,
        )  # fmt: skip

    if not np.allclose(ours(sets, device, 50).W, ours(sets, None, 50).W, 1e-6, 1e-9):
        sys.exit("the device runs another descent")
    tensors = [
        torch.tensor(np.array(x), device=device)
        for x in (
            np.zeros((_MANY_RUNS, 3, 3)),
            *([getattr(s, name) for s in many] for name in ("X", "Z", "scores")),
        )
    ]

    def by_hand() -> None:
        W, *arrays = tensors
        for _ in range(_STEPS):
            W = _step(torch, W, *arrays)

    finished = _finishing(device)
    return [
        rate(finished(lambda: ours(many, device)), _MANY_RUNS, seconds, clock),
        math.nan,
        rate(finished(by_hand), _MANY_RUNS, seconds, clock),
        rate(lambda: ours(sets, None), _RUNS, seconds, clock),
    ]


def on_device(device: str, seconds: float) -> str:
    """The table for a device, as a page; told row by row."""
    name = "the processor" if device == "cpu" else torch.cuda.get_device_name(device)
    rows = []
    packs = load_packs()
    for case in CASES:
        (claim,) = find_claims(packs, [case.claim])
        sizes = ", ".join(f"{name} = {size}" for name, size in case.shape.items())
        rows.append((case.claim, sizes, _formula_there(case, claim, device, seconds)))
        _tell(*rows[-1])
    rows.append((f"runs of {_STEPS} steps", "n = T = d = 3", _runs_there(device, seconds)))
    _tell(*rows[-1])
    said = (
        f"Written by `python -m benchmarks.screening --device {device} --write "
        f"docs/screening-gpu.md` on one {name}, by the clock, in double precision. `batch` is the "
        f"formula on {_LARGE} instances of that size, hypotheses and fitted bounds included, which "
        f"lie on the device; for runs `descend_w` on {_MANY_RUNS} data sets with that `device`. "
        "`turn` is a whole turn of the searcher `gpu`, which also draws, moves, ranks and judges, "
        "on instances of all sizes. `torch by hand` is the conclusion written by hand, for a "
        "batch of that size there. `one core` is `batch` in numpy (and compiled loops for runs) on "
        "one core of that machine."
    )
    lines = ["# Instances a second on a GPU", "", textwrap.fill(said, 100), ""]
    lines += ["| | sizes | " + " | ".join(ON_DEVICE) + " |", "| --- | --- |" + " ---: |" * 4]
    for what, size, figures in rows:
        lines.append(f"| {what} | {size} | " + " | ".join(map(_shown, figures)) + " |")
    return "\n".join([*lines, ""])


def _limit(machine: Mapping[str, float], multiplications: float, exponentials: float) -> float:
    return 1 / (multiplications / machine["multiply"] + exponentials / machine["exp"])


def _data(count: int) -> list[AttentionData]:
    """Data sets of three inputs of three tokens in three dimensions."""
    generator = np.random.default_rng(0)
    return [
        AttentionData(*(generator.normal(size=s) for s in ((3, 3, 3), (3, 3))), scores=scores)
        for scores in generator.normal(size=(count, 3, 3))
    ]


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
    sets = _data(_BATCH)
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
        rate(lambda: att_svm_batch(sets), _BATCH, seconds),
        turns(claim, seconds),
        drawn(claim, seconds),
        rate(lambda: [_least_norm(rows) for rows in constraints[:256]], 256, seconds),
        rate(evolved, 1, seconds),
        rate(lambda: _dual_ascent(tensors[:512]), 512, seconds),
        _limit(machine, m * (m + 1) * d + m**3 / 3, 0),
    ]


def _step(xp: Any, W: Any, X: Any, Z: Any, scores: Any) -> Any:
    """A normalised step of 0.1 on the log-loss of runs (..., d, d)."""
    logits = xp.einsum("...ntd,...de,...ne->...nt", X, W, Z)
    powers = xp.exp(logits - xp.amax(logits, -1)[..., None])
    f = powers / xp.sum(powers, -1)[..., None]
    mean = xp.sum(f * scores, -1)[..., None]
    along = f * (scores - mean) / (1 + xp.exp(mean))
    slope = xp.einsum("...nt,...ntd,...ne->...de", along, X, Z)
    size = xp.sqrt(xp.sum(slope * slope, (-2, -1)))[..., None, None]
    return W + 0.1 * slope / size


def limits(machine: Mapping[str, float], seconds: float) -> list[float]:
    """A row of the table for runs of descent."""
    sets = _data(_RUNS)
    zero = np.zeros((3, 3))

    def ours(steps: int = _STEPS) -> Any:
        return descend_w(
            sets, zero, LOG_LOSS, step=0.1, steps=steps, record=[steps], normalised=True
        )

    arrays = [np.array([getattr(s, name) for s in sets]) for name in ("X", "Z", "scores")]

    def run(xp: Any, steps: int, W: Any, *arrays: Any) -> Any:
        for _ in range(steps):
            W = _step(xp, W, *arrays)
        return W

    starts = np.zeros((_RUNS, 3, 3))
    if not np.allclose(ours(20).W[:, -1], run(np, 20, starts, *arrays), 1e-6, 1e-9):
        sys.exit("what is written by hand is another descent")
    tensors = [torch.tensor(x) for x in (starts, *arrays)]
    (claim,) = find_claims(load_packs(), ["sim/theorem-3.15:amended-2"])
    n = T = d = 3
    each = n * (n + 1) * d + 2 * n * T * d + 2 * n * d
    return [
        rate(ours, _RUNS, seconds),
        turns(claim, seconds),
        drawn(claim, seconds),
        rate(lambda: run(np, _STEPS, zero, *(x[0] for x in arrays)), 1, seconds),
        math.nan,
        rate(lambda: run(torch, _STEPS, *tensors), _RUNS, seconds),
        _limit(machine, each * _STEPS, 2 * n * T * _STEPS),
    ]


@compiled
def _multiply(a: Array, b: Array, times: int) -> None:
    for _ in range(times):
        for i in range(len(a)):
            a[i] += a[i] * b[i]


@compiled
def _exponentials(a: Array, b: Array, times: int) -> None:
    for _ in range(times):
        for i in range(len(a)):
            a[i] = np.exp(b[i])


def processor(seconds: float) -> dict[str, float]:
    """Multiplications and exponentials a second."""
    small, argument = np.zeros(1024), -np.linspace(0.0, 20.0, 1024)
    found = {}
    for name, kernel in (("multiply", _multiply), ("exp", _exponentials)):
        kernel(small, argument, 1)
        found[name] = rate(lambda k=kernel: k(small, argument, 1000), 1024 * 1000, seconds)  # type: ignore[misc]
    return found


def measured(seconds: float) -> tuple[dict[str, float], list[tuple[str, str, list[float]]]]:
    """What the processor does, and the rows of the table with their sizes."""
    machine, rows = processor(seconds), []
    packs = load_packs()
    for case in CASES:
        (claim,) = find_claims(packs, [case.claim])
        with np.errstate(all="ignore"):
            figures = screened(case, claim, machine, seconds)
        sizes = ", ".join(f"{name} = {size}" for name, size in case.shape.items())
        rows.append((case.claim, sizes, figures))
        _tell(*rows[-1])
    for what, row in (("hard-margin problems", programmes), (f"runs of {_STEPS} steps", limits)):
        rows.append((what, "n = T = d = 3", row(machine, seconds)))
        _tell(*rows[-1])
    return machine, rows


def _tell(what: str, sizes: str, figures: list[float]) -> None:
    width = 12 if len(figures) == len(COLUMNS) else 14
    cells = "".join(f"{_shown(f):>{width}}" for f in figures)
    print(f"{what:<26}{sizes:<16}{cells}", flush=True)


def _shown(figure: float) -> str:
    return "-" if math.isnan(figure) else f"{float(f'{figure:.2g}'):,.0f}"


def page(
    machine: Mapping[str, float], rows: list[tuple[str, str, list[float]]], command: str
) -> str:
    """The table as a page."""
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
    lines = ["# Instances a second", "", textwrap.fill(said, 100, break_long_words=False), ""]
    lines += ["| | sizes | " + " | ".join(COLUMNS) + " |", "| --- | --- |" + " ---: |" * 7]
    for what, sizes, figures in rows:
        lines.append(f"| {what} | {sizes} | " + " | ".join(map(_shown, figures)) + " |")
    for said in (meant, device):
        lines += ["", textwrap.fill(said, 100, break_long_words=False)]
    return "\n".join([*lines, ""])


def main() -> None:
    """Measure, print the table, write it where asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.screening", description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each figure")
    parser.add_argument("--write", metavar="FILE", help="the table as a page")
    parser.add_argument("--device", help="measure there, such as cuda")
    options = parser.parse_args()
    if options.device:
        print(f"{'':<42}" + "".join(f"{name:>14}" for name in ON_DEVICE))
        text = on_device(options.device, options.seconds)
        if options.write:
            Path(options.write).write_text(text, encoding="utf-8")
        return
    print(f"{'':<42}" + "".join(f"{name:>12}" for name in COLUMNS))
    machine, rows = measured(options.seconds)
    if options.write:
        command = f"python -m benchmarks.screening --write {options.write}"
        Path(options.write).write_text(page(machine, rows, command), encoding="utf-8")


if __name__ == "__main__":
    main()
