"""Starts near a locally-optimal direction: the cones that the talk leaves undefined.

For a choice alpha write A_j = (x_alpha - x_t) z^T for the pairs j = (i, t), W* = W^mm(alpha) with
margins m_j and N = ||W*||, and a start as W_0 = sigma W* + E with <E, W*> = 0. Then pair j has
margin sigma m_j + <A_j, E>, where |<A_j, E>| <= r_j ||E|| and r_j^2 = ||A_j||^2 - m_j^2 / N^2.

The cone: ||E|| r_j < sigma c_j for all pairs j, with c_j = m_j where token t scores below alpha_i
and c_j = m_j - 1 elsewhere. In it every margin is positive, and those of tokens that pull away are
above sigma. It holds all W_0 within some angle of W*, as c_j > 0 for a locally-optimal alpha.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from flint import arb, fmpq
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.exact import ExactData, dot, rational, rationals
from attsvm.exact.attention import logits
from attsvm.exact.cones import cone_at
from attsvm.exact.numbers import Matrix
from properties.fates import short_step
from properties.programmes import Exact, exactly, flat
from properties.strategies import arrays, sizes
from properties.tf.choices import Choice
from properties.tf.descents import DECREASING


@dataclass(frozen=True, slots=True)
class Local:
    """A data set, the tokens alpha_i, a start and a decreasing loss by name."""

    data: AttentionData
    alpha: Array
    start: Array
    loss: str


def solution(case: Local) -> Exact | None:
    """W^mm(alpha) in rationals; None where it does not exist or nothing is constrained."""
    found = exactly(case.data, case.alpha)
    return found if found is not None and found.A else None


def is_locally_optimal(case: Local) -> bool:
    """W^mm(alpha) exists, and tokens of margin exactly 1 score below alpha (definition 2)."""
    found = solution(case)
    if found is None:
        return False
    return all(m > 1 or lead > 0 for m, lead in _leads(case, found))


def _leads(case: Local, found: Exact) -> list[tuple[fmpq, fmpq]]:
    """Margin under W* and score lead of alpha over the token, pair by pair."""
    exact = ExactData.of(case.data)
    score = {
        (i, t): g
        for i, (kept, gamma) in enumerate(zip(exact.kept, exact.gamma, strict=True))
        for t, g in zip(kept, gamma, strict=True)
    }
    return [(m, score[i, int(case.alpha[i])] - score[i, t]) for (i, t), m in found.margins.items()]


def selects(case: Local) -> bool:
    """At the start every alpha_i has the largest logit, alone."""
    exact = ExactData.of(case.data)
    for i, kept in enumerate(exact.kept):
        values = logits(exact.X[i], rationals(case.start), exact.Z[i])
        own = values[kept.index(int(case.alpha[i]))]
        if sum(value >= own for value in values) != 1:
            return False
    return True


def is_far(case: Local) -> bool:
    """||W_0|| >= 1024 ||W^mm(alpha)||."""
    found, W0 = solution(case), flat(rationals(case.start))
    return found is not None and bool(dot(W0, W0) >= 2**20 * found.square)


def within(case: Local, share: float = 1.0) -> bool:
    """The start lies in the cone, with c_j times `share`."""
    found = solution(case)
    if found is None:
        return False
    W0, solved, square = flat(rationals(case.start)), flat(found.W), found.square
    sigma = dot(W0, solved) / square
    away = dot(W0, W0) - sigma * sigma * square  # ||E||^2
    if not sigma > 0:
        return False
    for (m, lead), A in zip(_leads(case, found), found.A.values(), strict=True):
        c = rational(share) * (m if lead > 0 else m - 1)
        across = dot(A, A) - m * m / square  # r_j^2
        if not (c > 0 and away * across < c * c * sigma * sigma):
            return False
    return True


def is_large(case: Local) -> bool:
    """Balls prove that descent from the start never leaves a narrowing cone around W^mm(alpha).

    With steps of at most 1/smoothness; see `attsvm.exact.cones.cone_at`.
    """
    exact = ExactData.of(case.data)
    step = short_step(case.data, case.loss)
    closed = cone_at(exact, rationals(case.start), case.loss, step)
    rows = [kept.index(int(a)) for kept, a in zip(exact.kept, case.alpha, strict=True)]
    return closed is not None and closed.selected == rows


def target(case: Local, towards: str) -> Matrix | None:
    """W^mm(alpha), or W^mm of the optimal tokens, or -W^mm(alpha), or the first one turned.

    Turned by a 64th of the sum of the sizes of all entries, in the first entry of the last row.
    """
    if towards == "optimal":
        best = exactly(case.data)
        return None if best is None or not best.A else best.W
    found = solution(case)
    if found is None:
        return None
    if towards == "turned":
        size = sum((abs(x) for x in flat(found.W)), fmpq(0))
        return [*found.W[:-1], [found.W[-1][0] + size / 64, *found.W[-1][1:]]]
    return [[-x for x in row] for row in found.W] if towards == "opposite" else found.W


def placed(choice: Choice, away: Array, sigma: float, share: float, loss: str) -> Local:
    """A start sigma W* + E, E along `away` at a share of the cone's width; W* where there is no E.

    Zero where there is no W*.
    """
    case = Local(choice.data, choice.alpha, np.zeros((choice.data.d, choice.data.d)), loss)
    found = solution(case)
    if found is None:
        return case
    W = np.array([[float(arb(x)) for x in row] for row in found.W])
    E = away - (away * W).sum() / (W * W).sum() * W
    widest = np.inf
    for (m, lead), A in zip(_leads(case, found), found.A.values(), strict=True):
        c = float(arb(m if lead > 0 else m - 1))
        across = float(arb(dot(A, A) - m * m / found.square).sqrt().mid())
        widest = min(widest, c / across) if across > 1e-9 else widest
    size = float(np.linalg.norm(E))
    width = share * min(widest, float(np.linalg.norm(W)))
    scaled = E * (width / size) if size > 1e-9 else np.zeros_like(W)
    return Local(choice.data, choice.alpha, sigma * (W + scaled), loss)


def around_alpha(
    alpha: Array, own: Array, lean: Array, beyond: Array, aside: Array, scores: Array
) -> Choice:
    """A choice of known geometry: W^mm(alpha) sees T - 2 supports an input, and one token beyond.

    The chosen tokens alpha (n,) have the values own (n, d) with d = n (T - 2) + 1, and all tokens
    the scores (n, T). Token t of input i differs from x_alpha by an axis of its own, plus lean_i
    along the next one; the last but alpha by beyond_i times the first of these axes and aside_i
    along a fresh axis. All queries are the first unit vector.
    """
    (n, T), d = scores.shape, own.shape[1]
    X = np.repeat(own[:, None, :], T, axis=1)
    for i in range(n):
        others = [t for t in range(T) if t != alpha[i]]
        for k, t in enumerate(others[:-1]):
            X[i, t, i * (T - 2) + k] -= 1.0
            X[i, t, (i * (T - 2) + k + 1) % d] -= lean[i]
        X[i, others[-1], i * (T - 2)] -= beyond[i]
        X[i, others[-1], d - 1] -= aside[i]
    return Choice(AttentionData(X, np.repeat(np.eye(1, d), n, axis=0), scores=scores), alpha)


@st.composite
def locals_(draw: st.DrawFn) -> Choice:
    """Choices that are mostly locally optimal; the token beyond is often the best one."""
    n, T = draw(sizes(1, 2)), draw(sizes(3, 4))
    alpha = np.array([draw(sizes(0, T - 1)) for _ in range(n)])
    beyond, aside = 1.5 + np.abs(draw(arrays(n))), 1.0 + np.abs(draw(arrays(n)))
    scores = -0.5 - np.abs(draw(arrays(n, T)))
    last = [max(t for t in range(T) if t != a) for a in alpha]
    scores[np.arange(n), alpha] = 0.0
    scores[np.arange(n), last] = draw(arrays(n))
    own, lean = draw(arrays(n, n * (T - 2) + 1)), draw(arrays(n)) / 16.0
    return around_alpha(alpha, own, lean, beyond, aside, scores)


def locals_larger(generator: np.random.Generator) -> Choice:
    """The same with two or three inputs of up to five tokens."""
    n, T = int(generator.integers(2, 4)), int(generator.integers(3, 6))

    def dyadic(*shape: int) -> Array:
        return np.asarray(generator.integers(-32, 33, size=shape) / 16)

    alpha = np.zeros(n, dtype=np.int64)
    scores = -0.5 - np.abs(dyadic(n, T))
    scores[:, 0], scores[:, -1] = 0.0, dyadic(n)
    shape = dyadic(n) / 16.0, 1.5 + np.abs(dyadic(n)), 1.0 + np.abs(dyadic(n))
    return around_alpha(alpha, dyadic(n, n * (T - 2) + 1), *shape, scores)


@st.composite
def started(draw: st.DrawFn, shares: tuple[float, ...]) -> Local:
    """A start at some share of the width of its cone."""
    choice, share = draw(locals_()), draw(st.sampled_from(shares))
    sigma, square = draw(st.sampled_from([12.0, 16.0, 10.0])), 2 * (choice.data.d,)
    away = draw(arrays(*square)) + np.eye(*square)[::-1] / 2.0  # off the ray, mostly
    return placed(choice, away, sigma, share, draw(st.sampled_from(DECREASING)))


def started_larger(*shares: float) -> Callable[[np.random.Generator], Local]:
    """The same at larger sizes."""

    def draw(generator: np.random.Generator) -> Local:
        choice, share = locals_larger(generator), float(generator.choice(shares))
        away = generator.integers(-8, 9, size=2 * (choice.data.d,)) / 8
        return placed(choice, away, 16.0, share, str(generator.choice(DECREASING)))

    return draw
