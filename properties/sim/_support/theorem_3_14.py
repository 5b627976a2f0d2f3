"""Instances and certificates that both parts of theorem 3.14 share.

`PULLED_APART` meets both parts of assumption 3.10 and starts from zero. Tokens (1/2, 0), (-1/2, 0)
and (-2, 1), 0, labels 1, head (4, 9) give the scores 2, -2 and 1, 0; with z = (1, 0) only the
first column w of X matters. Input 1 asks for w . (1, 0) >= 1, input 2 for w . (-2, 1) >= 1, so
X^mm has w = (1, 3). The first input has the larger score gap and pulls w along (1, 0), which
lowers the second margin twice as fast as it raises the first; the second input saturates on its
worse token, and w follows (1, 0) for ever.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from flint import arb
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.svm import att_svm
from attsvm.theory import Measured, changed
from properties._support.descent_runs import LOCAL_TRAP as LOCAL_TRAP
from properties._support.descent_runs import (
    Run,
    certified_limit,
    max_margin,
    or_more_bits,
    reaches,
)
from properties._support.descent_runs import towards_solution as towards_solution
from properties._support.growth_rates import arrives
from properties._support.hypotheses import in_basin, unique_optimum
from properties._support.published_data import gaussian_protocol, one_input
from properties._support.torch_objectives import elsewhere

PLACE = "Theorem 3.14 with assumption 3.10"
TWO_TOKENS = Run(AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[1.0, 0.0]]), np.zeros((1, 1)))
ONE_TOKEN = Run(AttentionData.of([[[1.0]]], [[1.0]], scores=[[1.0]]), np.zeros((1, 1)))
PUBLISHED = Run(one_input(), np.zeros((2, 2)))
PULLED_APART = Run(
    AttentionData.of(
        [[[0.5, 0.0], [-0.5, 0.0]], [[-2.0, 1.0], [0.0, 0.0]]],
        [[1.0, 0.0], [1.0, 0.0]],
        y=[1.0, 1.0],
        v=[4.0, 9.0],
    ),
    np.zeros((2, 2)),
)
ONE_DRAGGED = Run(
    AttentionData.of(
        [[[1.0, 0.0], [0.0, 3.0], [0.0, 1.0], [0.0, 0.0]]],
        [[1.0, 0.0]],
        scores=[[2.0, 1.0, 0.0, -2.0]],
    ),
    np.zeros((2, 2)),
)
"""One input, all tokens support vectors (X^mm has w = (1, 0)); w = (0, w_2) keeps to the second."""
PRINTED, REPAIRED = "logistic", "logistic-loss"


@st.composite
def one_input_from_zero(draw: st.DrawFn) -> Run:
    """One input of the plane from zero: (1, 0), the best, and its rivals on the other axis.

    With (0, 0) among them X^mm has w = (1, 0), and all are support vectors.
    """
    rivals = [0, *draw(st.lists(st.integers(-3, 3), min_size=0, max_size=2))]
    scores = [draw(st.integers(-2, 1)) for _ in rivals]
    X = [[1.0, 0.0], *([0.0, float(y)] for y in rivals)]
    data = AttentionData.of([X], [[1.0, 0.0]], scores=[[2.0, *map(float, scores)]])
    return Run(data, np.zeros((2, 2)))


NOT_TIGHT = Run(
    AttentionData.of([[[1.0], [0.0], [-1.0]]], [[1.0]], scores=[[1.0, 0.0, 0.0]]),
    np.zeros((1, 1)),
)
"""The last token has margin 2 under X^mm = 1."""
TIED_BESIDE = Run(
    AttentionData.of([[[1.0], [0.0]]] * 2, [[1.0]] * 2, scores=[[1.0, 0.0], [0.0, 0.0]]),
    np.zeros((1, 1)),
)
"""Optimal tokens of the second input, which never pulls, are tied; X^mm = 1 is tight."""
THREE_SCORES = Run(
    AttentionData.of([[[1.0], [0.0], [0.0]]], [[1.0]], scores=[[2.0, 1.0, 0.0]]), np.zeros((1, 1))
)


def decided(run: Run, loss: str, towards: str = "optimal") -> arb | None:
    """Where descent on the loss goes; with tied optimal tokens the first ones count."""
    target = max_margin(run.data, towards)
    if target is not None and not unique_optimum(run):
        return arrives(run.data, run.start, loss, target)
    return certified_limit(run, loss, towards)


def decided_patiently(run: Run, loss: str, towards: str = "optimal") -> arb:
    """The same; long runs, and those where attention lingers, need many bits."""
    return or_more_bits(decided(run, loss, towards))


DIRECTION = Measured(
    "descent on the loss {loss} converges in direction to X^mm",
    floats=reaches,
    balls=decided,
    tensors=elsewhere,
)
PATIENTLY = replace(DIRECTION, balls=decided_patiently)


UNEVEN_SCORES = Run(
    AttentionData.of(
        [[[1.0, 0.0], [0.0, 0.0], [1.0, -2.0]]], [[1.0, 0.0]], scores=[[3.0, 1.0, 0.0]]
    ),
    np.array([[8.0, 0.0], [4.0, 0.0]]),
)
UNEVEN = Run(
    AttentionData.of(
        [[[1.0, 0.0], [0.0, 0.0], [1.0, -2.0]]], [[1.0, 0.0]], scores=[[3.0, 1.0, 1.0]]
    ),
    np.array([[8.0, 0.0], [4.0, 0.0]]),
)


def levelled(generator: np.random.Generator, n: int) -> AttentionData:
    """The Gaussian protocol in R^6 with the scores of rivals levelled, rounded to 1/64."""
    data = gaussian_protocol(generator, n=n, T=4, d=6)
    gamma = data.gamma
    level = np.where(gamma == gamma.max(axis=1, keepdims=True), 1.0, -1.0)
    return AttentionData(np.round(data.X * 64) / 64, np.round(data.Z * 64) / 64, scores=level)


def protocol(generator: np.random.Generator) -> Run:
    """Three inputs, from a start of any size."""
    size = float(generator.choice([0.0, 1.0, 8.0]))
    return Run(levelled(generator, 3), size * generator.integers(-8, 9, size=(6, 6)) / 8)


def single(generator: np.random.Generator) -> Run:
    """One input, from a start of any size."""
    size = float(generator.choice([0.0, 1.0, 8.0]))
    return Run(levelled(generator, 1), size * generator.integers(-8, 9, size=(6, 6)) / 8)


def near_solution(generator: np.random.Generator) -> Run:
    """Three inputs, started along the float solution with a random part."""
    data = levelled(generator, 3)
    W = att_svm(data).W
    noise = generator.integers(-4, 5, size=(6, 6)) / 8
    return Run(data, np.round(4.0 * W * 64) / 64 + noise)


def starts_in_basin(run: Run) -> bool:
    """The start's risk gap is below the threshold."""
    return in_basin(run, REPAIRED)


OTHER_DIRECTIONS = {
    "direction of the worst tokens": changed(towards="worst"),
    "opposite direction": changed(towards="opposite"),
    "X^mm turned by about a 64th": changed(towards="turned", examples=[UNEVEN]),
    "mean of the constraints": changed(towards="mean", examples=[UNEVEN]),
}
