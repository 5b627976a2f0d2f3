"""Starts chosen against a claim: along the solution for a choice with a worse token in some input.

Claims about every start, or every start in a basin, may fail near other local solutions
W^mm(alpha). There alpha has a worse token in some input, and all tokens on the margin have lower
scores than alpha's (tf, definition 2).
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
"""Index numbers of the choice to use, in the order of `adversarial_start`; the first are most
frequent."""

MARGINS = (2, 1, 3, 0, 4)
"""Exponents of 2 of the least margin."""

NEAR = 1e-7
"""Maximum distance from 1 of a margin that counts as tight."""


def choices(data: AttentionData) -> Int[Array, "k n"]:
    """Return the optimal tokens with one input at a worse token, for each input and token.

    The last row has the second-best tokens of all inputs. Better tokens come first; of equal scores
    the first one counts as better.
    """
    order = np.argsort(np.where(data.present, -data.gamma, np.inf), axis=1, kind="stable")
    worst, rows = data.present.sum(axis=1) - 1, np.arange(data.n)
    ranks = [np.where(rows == i, t, 0) for t in range(1, data.T) for i in rows if worst[i] >= t]
    result: Array = order[rows, np.array([*ranks, np.minimum(worst, 1)])]
    return result


def towards(data: AttentionData, chosen: Int[Array, " n"]) -> tuple[Float[Array, "d d"], bool]:
    """Return W^mm(chosen), and whether all tokens on its margin score below the chosen ones.

    If floats find no W^mm, the sum of (x_chosen - mean) z^T over all inputs replaces it. Entries
    are rounded to 1/32 of the largest one or finer, so that they have few bits.
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
        for x, present, t, z in zip(data.X, data.present, chosen, data.Z, strict=True):
            W = W + np.outer(x[t] - x[present].mean(axis=0), z)
    power = 6 - int(np.frexp(np.abs(W).max())[1])
    return np.ldexp(np.round(np.ldexp(W, power)), -power), local


def adversarial_start(
    data: AttentionData, place: int, power: int, aside: Float[Array, "d columns"]
) -> Float[Array, "d columns"]:
    """Return a start near W^mm(alpha) for a worse choice alpha.

    Locally optimal choices come first.
    """
    results = [towards(data, chosen) for chosen in choices(data)]
    results.sort(key=lambda pair: not pair[1])
    W = results[place % len(results)][0][:, : aside.shape[1]]
    near = np.ldexp(aside, int(np.frexp(np.abs(W).max())[1]) - 5)
    start: Array = 2.0**power * (W + near)
    return start


@composite
def starts_about(
    draw: st.DrawFn, data: AttentionData, *powers: int, columns: int | None = None
) -> Float[Array, "d columns"]:
    """Draw a start: zero, or scaled by one of the powers of two; one in three is adversarial.

    With fewer columns than d, only the first columns are returned; the others have no effect. One
    column is enough if all queries are e_1. All starts take the same number of draws, so that a
    search can move from one kind to another.
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
    """Draw one or two inputs of three tokens on lines of their own, the worst token in the middle.

    Equal scores of rivals prevent a run from settling at a second-best token. In these data a worse
    token lies behind it and pushes the run on, if it starts beyond both. The rivals' scores differ
    by 1/8 to 8 times the optimal token's lead. Any two inputs are aligned.
    """
    n, far = draw(sizes(1, 2)), draw(sizes(1, 4))
    low, lead = draw(sizes(1, 8)) / draw(st.sampled_from([1.0, 8.0])), 1.0 + np.abs(draw(arrays(n)))
    X, scores = np.zeros((n, 3, n)), np.zeros((n, 3))
    for i in range(n):
        X[i, :, i] = 1.0, 0.0, -float(far)
        scores[i] = lead[i], -low * lead[i], 0.0
    return AttentionData(X, np.repeat(np.eye(1, n), n, axis=0), scores=scores)
