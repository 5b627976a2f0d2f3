"""Normalised and plain descent on one prompt: runs, what bounds them, and where they are kept."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from flint import arb, fmpq
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.descent import descend_p
from attsvm.errors import DataError, present
from attsvm.exact import ExactData, norm, rational
from attsvm.exact.numbers import Vector, subtract
from attsvm.exact.traps import trapped_at
from attsvm.losses import LOSSES
from properties.mm._support.prompt_descent import (
    DECREASING,
    Prompting,
    iterates,
    prompt,
    prompting,
)
from properties.mm._support.prompt_instances import (
    compared,
)

__all__ = [
    "AHEAD",
    "OVERSTEPPED",
    "Paced",
    "bound",
    "differences",
    "kept",
    "levelled",
    "longest",
    "one_difference",
    "paced",
    "path",
    "unit",
]


@dataclass(frozen=True, slots=True)
class Paced:
    """A run and the length of a normalised step."""

    case: Prompting
    step: float

    def __post_init__(self) -> None:
        if not self.step > 0.0:
            raise DataError("a step is not positive", value=self.step)


OVERSTEPPED = Paced(
    prompting([[[-1.0, 3.0], [0.0, 0.0]], [[0.0, -1.0], [0.0, 0.0]]], [[1.0, 0.0], [3.0, 0.0]]), 2.0
)
"""From zero: steps of length 2 end where the second input keeps its worse token."""
AHEAD = Paced(prompting([[[3.0], [0.0]]], [[2.0, 0.0]]), 1.0)
"""The gradient at zero has length 3/2."""


def path(run: Paced, steps: int, *, normalised: bool = True) -> Array:
    """p_0 to p_steps, with steps of that length or, plainly, of that size."""
    case = run.case
    found = descend_p(
        [case.data],
        case.start,
        LOSSES[case.loss],
        step=run.step,
        steps=steps,
        normalised=normalised,
    )
    W: Array = found.W[0]
    return W


def unit(case: Prompting, towards: str) -> Array | None:
    """The target's direction in floats; None without a target."""
    p = prompt(case, towards)
    if p is None:
        return None
    vector = np.array([float(arb(x)) for x in p])
    size = float(np.linalg.norm(vector))
    return vector / size if size > 0.0 else None


def differences(case: Prompting) -> list[Vector]:
    """The k_alpha - k_t of all inputs and rivals, in rationals."""
    data = ExactData.of(case.data)
    return [
        subtract(tokens[best[0]], x)
        for tokens, best in zip(data.X, data.optimal, strict=True)
        for t, x in enumerate(tokens)
        if t != best[0]
    ]


def longest(case: Prompting) -> arb:
    """B, the largest length of a difference."""
    found = arb(0)
    for row in differences(case):
        found = found.max(norm(row))
    return found


def bound(run: Paced) -> arb:
    """B |p| (|p| ln J + s/2), p = p(alpha), J the number of rivals."""
    p, rows = present(prompt(run.case), "the direction p(alpha)"), differences(run.case)
    size, s = norm(p), arb(rational(run.step))
    return longest(run.case) * size * (size * arb(len(rows)).log() + s / 2)


def kept(run: Paced, steps: int) -> list[int] | None:
    """The tokens that normalised descent is proved to select for ever, tried at 1, 2, 4, ..."""
    data = ExactData.of(run.case.data)
    data = replace(data, Z=[[fmpq(1)] for _ in data.Z])
    k = 1
    while k <= steps:
        found = iterates(run.case, run.step, k, normalised=True)
        if found is None:
            return None
        chosen = trapped_at(data, [[x] for x in found[k]], run.case.loss)
        if chosen is not None:
            return chosen
        k *= 2
    return None


def one_difference(case: Prompting) -> bool:
    """All differences are one vector A: every step is along p(alpha) = A/|A|^2."""
    rows = differences(case)
    return all(row == rows[0] for row in rows)


@st.composite
def paced(draw: st.DrawFn, *, zero: bool = False) -> Paced:
    """Runs whose rivals score the same, with steps of length 1/8 to 4; all from zero if asked."""
    case = draw(compared())
    start = np.zeros_like(case.start) if zero else case.start
    return Paced(replace(case, start=start), draw(st.sampled_from([1.0, 2.0, 0.5, 4.0, 0.125])))


def levelled(generator: np.random.Generator, most: int = 3) -> Paced:
    """Gaussian keys in R^8 to 1/16, up to (most, 4), scores 1 and 0, from zero."""
    n, T = int(generator.integers(1, most + 1)), int(generator.integers(2, 5))
    keys = np.round(16 * generator.normal(size=(n, T, 8))) / 16
    scores = np.repeat(np.eye(1, T), n, axis=0)
    loss = str(generator.choice(DECREASING))
    step = float(generator.choice([0.25, 1.0, 4.0]))
    return Paced(Prompting(keys, scores, np.zeros(8), loss), step)
