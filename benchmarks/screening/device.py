"""The table for a GPU, in seconds of the clock: ours, torch written by hand, and one CPU core."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from attsvm.data import AttentionData
from attsvm.losses import LOG_LOSS
from attsvm.theory import Claim, load_packs
from attsvm.theory.arithmetic import Tensors
from attsvm.theory.packs.packs import find_claims
from attsvm.training import descend_w
from benchmarks.screening.by_hand import CASES, Case, heights, step_by_hand
from benchmarks.screening.rates import BATCH, RUNS, STEPS, drawn_data, page, rate, tell, turns

torch.set_num_threads(1)

COLUMNS = ("batch", "turn", "torch by hand", "one core")

_LARGE, _MANY_RUNS = 2**21, 2**16
"""Instances in a batch on a device, and runs of a limit there."""


def _formula_there(case: Case, claim: Claim, device: str, seconds: float) -> list[float]:
    """A row of the table for a closed form on a device."""
    formula, parameters = claim.formula, claim.part("").parameters
    clock, finished = time.perf_counter, _finishing(device)
    few = formula.filled(np.random.default_rng(0), case.shape, BATCH)
    fitted, height = formula.fit_screened(few, case.shape, BATCH, parameters)
    times = _LARGE // BATCH
    raw = {
        name: torch.tensor(x).repeat(*[1] * (x.ndim - 1), times).to(device)
        for name, x in few.items()
    }
    m = Tensors(device)
    there = formula.fit_screened(raw, case.shape, _LARGE, parameters, m)[1][:BATCH].cpu().numpy()
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
        lambda: heights(torch, case, rows),
    )
    formula_rate, by_hand = (rate(finished(action), _LARGE, seconds, clock) for action in actions)
    once = lambda: formula.fit_screened(few, case.shape, BATCH, parameters)  # noqa: E731
    return [
        formula_rate,
        turns(claim, seconds, "gpu", clock) if device != "cpu" else math.nan,
        by_hand,
        rate(once, BATCH, seconds, clock),
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
    sets, clock = drawn_data(RUNS), time.perf_counter
    many = (sets * (_MANY_RUNS // RUNS + 1))[:_MANY_RUNS]

    def ours(data: list[AttentionData], device: str | None, steps: int = STEPS) -> Any:
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
        for _ in range(STEPS):
            W = step_by_hand(torch, W, *arrays)

    finished = _finishing(device)
    return [
        rate(finished(lambda: ours(many, device)), _MANY_RUNS, seconds, clock),
        math.nan,
        rate(finished(by_hand), _MANY_RUNS, seconds, clock),
        rate(lambda: ours(sets, None), RUNS, seconds, clock),
    ]


def table(device: str, seconds: float) -> str:
    """The table for a device, as a page; told row by row."""
    print(f"{'':<42}" + "".join(f"{name:>14}" for name in COLUMNS))
    name = "the processor" if device == "cpu" else torch.cuda.get_device_name(device)
    rows = []
    packs = load_packs()
    for case in CASES:
        (claim,) = find_claims(packs, [case.claim])
        rows.append((case.claim, case.sizes, _formula_there(case, claim, device, seconds)))
        tell(rows[-1], COLUMNS)
    rows.append((f"runs of {STEPS} steps", "n = T = d = 3", _runs_there(device, seconds)))
    tell(rows[-1], COLUMNS)
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
    return page("Instances a second on a GPU", COLUMNS, rows, said)
