"""The table for one core: ours beside Hypothesis, numpy and torch."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import numpy as np
import torch

from attsvm.theory import Claim, load_packs
from attsvm.theory.declaration.packs import find_claims
from benchmarks.screening.by_hand import CASES, Case, heights
from benchmarks.screening.rates import (
    BATCH,
    drawn,
    page,
    processor,
    rate,
    tell,
    turns,
)

torch.set_num_threads(1)

COLUMNS = ("batch", "turn", "Hypothesis", "numpy loop", "torch", "machine")


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
    return [
        rate(batch, BATCH, seconds),
        turns(claim, seconds),
        drawn(claim, seconds),
        rate(lambda: [heights(np, case, v) for v in singles], len(singles), seconds),
        rate(lambda: heights(torch, case, tensors), BATCH, seconds),
        _limit(machine, *case.work),
    ]


def _limit(machine: Mapping[str, float], multiplications: float, exponentials: float) -> float:
    return 1 / (multiplications / machine["multiply"] + exponentials / machine["exp"])


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
    said = (
        f"Written by `{command}`: one run on one core, in processor time. The processor did "
        f"{machine['multiply']:.2g} multiplications with additions or {machine['exp']:.2g} "
        "exponentials a second in compiled loops."
    )
    meant = (
        "`batch` is the formula on 4096 instances of that size, hypotheses and fitted bounds "
        "included. `turn` is a whole turn of the searcher in batches, which also draws, moves and "
        "judges instances of all sizes. `Hypothesis` draws an instance and evaluates the "
        "conclusion. The next two are the conclusion written by hand: numpy instance by instance, "
        "and a torch batch. `machine` is what the multiplications and exponentials of the formula "
        "would take alone."
    )
    device = (
        "Formulas of variables are screened in numpy here, records in PyTorch on the processor; "
        "[screening-gpu.md](screening-gpu.md) is the table for formulas and runs on a GPU."
    )
    return page("Instances a second", COLUMNS, rows, said, meant, device)
