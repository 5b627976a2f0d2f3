"""How fast something is, and how a table of that is told."""

from __future__ import annotations

import contextlib
import json
import math
import sys
import textwrap
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import hypothesis
import numpy as np
from hypothesis import HealthCheck, Phase

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.kernels import compiled
from attsvm.theory import Claim
from attsvm.theory.search import GUIDED
from attsvm.theory.search.turn import Turn, take

BATCH = 4096
"""Instances in a batch on the processor."""

RUNS, STEPS = 500, 1000
"""Runs of a limit, and steps of each."""

Row = tuple[str, str, list[float]]
"""What is measured, at which sizes, and the figures by column."""


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


def drawn_data(count: int) -> list[AttentionData]:
    """Data sets of three inputs of three tokens in three dimensions."""
    generator = np.random.default_rng(0)
    return [
        AttentionData(*(generator.normal(size=s) for s in ((3, 3, 3), (3, 3))), scores=scores)
        for scores in generator.normal(size=(count, 3, 3))
    ]


def tell(row: Row, columns: Sequence[str]) -> None:
    """Print a row of the table."""
    what, sizes, figures = row
    width = max(12, *map(len, columns)) + 1
    print(f"{what:<26}{sizes:<16}" + "".join(f"{_shown(f):>{width}}" for f in figures), flush=True)


def _shown(figure: float) -> str:
    return "-" if math.isnan(figure) else f"{float(f'{figure:.2g}'):,.0f}"


def page(title: str, columns: Sequence[str], rows: Sequence[Row], before: str, *after: str) -> str:
    """The table as a page, between paragraphs."""

    def paragraph(text: str) -> str:
        return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)

    lines = [f"# {title}", "", paragraph(before), ""]
    lines += ["| | sizes | " + " | ".join(columns) + " |"]
    lines += ["| --- | --- |" + " ---: |" * len(columns)]
    for what, sizes, figures in rows:
        lines.append(f"| {what} | {sizes} | " + " | ".join(map(_shown, figures)) + " |")
    for said in after:
        lines += ["", paragraph(said)]
    return "\n".join([*lines, ""])


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
