"""Runs whose rivals have nearly equal scores, conditions on them, and proofs about their norm."""

from __future__ import annotations

import numpy as np
from flint import arb
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.exact import ExactData, rationals
from attsvm.exact.traps import is_stationary_start, moves_along_margins
from properties._support.aligned_inputs import (
    in_accord,
    rivals_equal,
    spread_within,
    together_larger,
)
from properties._support.descent_runs import Run, feasible, rival_data

OPPOSED = Run(
    AttentionData.of([[[1.0], [0.0]], [[1.0], [0.0]]], [[1.0], [-1.0]], y=[1.0, 1.0], v=[1.0]),
    np.zeros((1, 1)),
)
OUTRUN = Run(
    AttentionData.of([[[-1.0], [64.0], [0.0]]], [[1.0]], scores=[[1.0, 0.0, -1.25]]),
    np.array([[-3 / 128]]),
)
BALANCED = Run(
    AttentionData.of([[[0.0], [5.0], [1.0]]], [[1.0]], scores=[[3.0, 2.0, 0.0]]), np.zeros((1, 1))
)
"""X^mm = -1, and the gradient at zero is 0: 4/3 of token 0, 1/3 of 5 and -5/3 of 1 cancel."""
SPREADS = (0.0, 1.0, 0.25, 2.0**-10)


@st.composite
def level_data(draw: st.DrawFn) -> AttentionData:
    """Rivals of one score each, some tied with the optimal token; the same input twice."""
    data = draw(rival_data())
    if draw(st.booleans()):
        return data
    X, gamma = np.repeat(data.X, 2, axis=0), np.repeat(data.gamma, 2, axis=0)
    flip = np.tile([1.0, -1.0], data.n)[:, None]
    return AttentionData(X, flip * np.repeat(data.Z, 2, axis=0), scores=gamma)


def equal_rivals(run: Run) -> bool:
    """The non-optimal tokens of each input have one score."""
    return rivals_equal(run.data)


def accord(run: Run) -> bool:
    """No input pulls against another."""
    return in_accord(run.data)


def within(run: Run, factor: float = 1.0) -> bool:
    """The rivals' scores differ by less than delta_i = factor g_i s_i/(1 - s_i)."""
    return spread_within(run.data, run.start, factor)


def larger(generator: np.random.Generator) -> Run:
    """Inputs in accord, from zero or a random start."""
    data = together_larger(generator, *SPREADS)
    size = float(generator.choice([0.0, 1.0, 4.0]))
    return Run(data, size * generator.integers(-8, 9, size=(data.d, data.d)) / 8)


def certify_norm(run: Run, bounded: bool = False) -> arb | None:
    """-1 where the start is exactly stationary; of the flipped statement, where the norm diverges.

    It does where <X, X^mm> moves one way at every step, by an amount bounded below on every ball.
    """
    data = ExactData.of(run.data)
    if bounded:
        return arb(-1) if feasible(run) and moves_along_margins(data) else None
    return arb(-1) if is_stationary_start(data, rationals(run.start)) else None
