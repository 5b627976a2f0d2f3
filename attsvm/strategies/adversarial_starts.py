"""Starts chosen against a claim: along the solution of a choice that is worse for some input.

Claims about every start, or every start in a basin, are at risk near other local solutions: along
W^mm(alpha), where alpha has a worse token of some input, and all tokens on the margin score lower
than those of alpha (tf, definition 2).
"""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from attsvm._dyadic import composite
from attsvm._types import Array, Float, Int
from attsvm.data import AttentionData
from attsvm.errors import DataError, SolverError
from attsvm.strategies import arrays, sizes
from attsvm.svm import local_svm

PLACES = (0, 0, 0, 1, 1, 2, 3)
"""Which of the choices is taken, sorted by `adversarial_start`; the first ones most often."""

MARGINS = (2, 1, 3, 0, 4)
"""Powers of two of the least margin."""

NEAR = 1e-7
"""How near to 1 a margin counts as tight."""


def choices(data: AttentionData) -> Int[Array, "k n"]:
    """The optimal tokens but for one input, at a worse token; last, the second best of all inputs.

    Better tokens come first, and of equal scores the first one counts as better.
    """
    order = np.argsort(np.where(data.present, -data.gamma, np.inf), axis=1, kind="stable")
    worst, rows = data.present.sum(axis=1) - 1, np.arange(data.n)
    ranks = [np.where(rows == i, t, 0) for t in range(1, data.T) for i in rows if worst[i] >= t]
    found: Array = order[rows, np.array([*ranks, np.minimum(worst, 1)])]
    return found


def towards(data: AttentionData, chosen: Int[Array, " n"]) -> tuple[Float[Array, "d d"], bool]:
    """W^mm(chosen), and whether all tokens on its margin score lower than the chosen ones.

    Where floats find no W^mm, the sum of (x_chosen - mean) z^T over all inputs takes its place.
    Entries are rounded to a 32nd of the largest one or finer, so that they have few bits.
    """
    W, local = np.zeros((data.d, data.d)), False
    try:
        answer = local_svm(data, chosen)
    except (DataError, SolverError):  # single tokens, or a programme beyond floats
        answer = None
    if answer is not None and answer.solved:
        near = answer.margins <= 1.0 + NEAR
        best = np.take_along_axis(data.gamma, chosen[:, None], axis=1)
        W, local = answer.W, bool((best > data.gamma)[near].all())
    else:
        for x, here, t, z in zip(data.X, data.present, chosen, data.Z, strict=True):
            W = W + np.outer(x[t] - x[here].mean(axis=0), z)
    power = 6 - int(np.frexp(np.abs(W).max())[1])
    return np.ldexp(np.round(np.ldexp(W, power)), -power), local


def adversarial_start(
    data: AttentionData, place: int, power: int, aside: Float[Array, "d columns"]
) -> Float[Array, "d columns"]:
    """A start near W^mm(alpha) for a worse choice alpha; locally optimal choices come first."""
    found = [towards(data, chosen) for chosen in choices(data)]
    found.sort(key=lambda pair: not pair[1])
    W = found[place % len(found)][0][:, : aside.shape[1]]
    near = np.ldexp(aside, int(np.frexp(np.abs(W).max())[1]) - 5)
    start: Array = 2.0**power * (W + near)
    return start


@composite
def starts_about(
    draw: st.DrawFn, data: AttentionData, *powers: int, columns: int | None = None
) -> Float[Array, "d columns"]:
    """Starts: zero, small and large by the powers of two given; one in three is adversarial.

    Fewer columns than d are the first ones, the rest being idle: 1 where all queries are e_1. All
    starts take the same number of draws, so that a search can move from one kind to another.
    """
    kind, entries = draw(st.integers(0, 5)), draw(arrays(data.d, columns or data.d))
    power, place = draw(st.integers(0, 59)), draw(st.sampled_from(PLACES))
    if kind > 3:
        aside = entries if kind == 5 else np.zeros_like(entries)
        return adversarial_start(data, place, MARGINS[power % len(MARGINS)], aside)
    start: Array = entries * 2.0 ** (powers or (0,))[power % len(powers or (0,))]
    return start


@composite
def trapping_data(draw: st.DrawFn) -> AttentionData:
    """One or two inputs of three tokens on lines of their own, the worst one in the middle.

    Equal scores of rivals are what keeps a run from settling at a second-best token: here it has a
    worse one behind it, that pushes it on, where it is started beyond both. The rivals' scores are
    an eighth of the optimal one's lead apart, up to eight times it. Any two inputs are aligned.
    """
    n, far = draw(sizes(1, 2)), draw(sizes(1, 4))
    low, lead = draw(sizes(1, 8)) / draw(st.sampled_from([1.0, 8.0])), 1.0 + np.abs(draw(arrays(n)))
    X, scores = np.zeros((n, 3, n)), np.zeros((n, 3))
    for i in range(n):
        X[i, :, i] = 1.0, 0.0, -float(far)
        scores[i] = lead[i], -low * lead[i], 0.0
    return AttentionData(X, np.repeat(np.eye(1, n), n, axis=0), scores=scores)
