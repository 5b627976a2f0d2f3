"""Starts that are likely to refute a claim: along the solution for a choice with a worse token.

Claims about every start, or every start in a basin, may fail near local solutions W^mm(alpha) whose
alpha has a worse token in some input. A solution is local if all tokens on its margin have lower
scores than alpha (tf, definition 2).
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
"""Index numbers of the choice of tokens in `adversarial_start`, repeated by their frequency."""

MARGINS = (2, 1, 3, 0, 4)
"""Exponents of 2 for the least margin of a start, the simplest first."""

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
    """Return 2^power times a matrix near W^mm(alpha), for the choice alpha with index `place`.

    Choices are those of `choices`, locally optimal ones first. `aside` is added, times about 1/32
    of the largest entry.
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

    With equal scores of rivals no run settles at a second-best token. Here scores differ: the worst
    token lies between the optimal one and the second best, and keeps a run at the second best if it
    starts beyond both. The rivals' scores differ by 1/8 to 8 times the optimal token's lead. Any
    two inputs are aligned.
    """
    n, far = draw(sizes(1, 2)), draw(sizes(1, 4))
    low, lead = draw(sizes(1, 8)) / draw(st.sampled_from([1.0, 8.0])), 1.0 + np.abs(draw(arrays(n)))
    X, scores = np.zeros((n, 3, n)), np.zeros((n, 3))
    for i in range(n):
        X[i, :, i] = 1.0, 0.0, -float(far)
        scores[i] = lead[i], -low * lead[i], 0.0
    return AttentionData(X, np.repeat(np.eye(1, n), n, axis=0), scores=scores)
