"""Starts near local solutions: inside a cone beyond its radius, and starts that leave the cone."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from flint import arb
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.exact import rational
from attsvm.primitives.att_svm import exact_att_svm, flat
from attsvm.primitives.descent_runs import LEAPING
from attsvm.primitives.limit_certificates import short_step
from attsvm.primitives.losses import SLOPED
from attsvm.primitives.steps import ANY
from attsvm.strategies import arrays, composite, sizes
from attsvm.strategies.data import ragged, ragged_larger
from properties._support.cone_radius import Pairs, radius
from properties._support.cones import Local, parts, tangent
from properties._support.token_choices import Choice

LEVELS = {
    **dict.fromkeys(SLOPED, (0.0, 1.0, -2.0)),
    "squared": (0.0, 0.5, -2.0),
    "cubic": (1.0, -1.0, 0.125),
}
"""Scores of alpha at which l' < 0, by the name of the loss. (1 - u)^2 increases from u = 1 on, and
-u^3 has slope 0 at 0."""


def escaping_start(reach: int, R: float, share: float = 0.5) -> Local:
    """Return tokens 0, (-1, 0), (-reach, 1) with scores 0, -1, 1; alpha is the first one.

    W has the first column (R, reach R - 1), so that the third token has margin 1.
    """
    data = AttentionData.of(
        [[[0.0, 0.0], [-1.0, 0.0], [-float(reach), 1.0]]],
        [[1.0, 0.0]],
        y=[1.0],
        v=[1.0, reach + 1.0],
    )
    start = np.array([[R, 0.0], [reach * R - 1.0, 0.0]])
    return Local(data, np.array([0]), start, "correlation", share)


def placed_at(scores: list[float], beyond: tuple[float, float], *start: float) -> Local:
    """Return tokens 0, (-1, 0), -beyond with log-loss and s = 1/2; alpha is the first one.

    W has the first column `start`.
    """
    tokens = [[0.0, 0.0], [-1.0, 0.0], [-beyond[0], -beyond[1]]]
    data = AttentionData.of([tokens], [[1.0, 0.0]], scores=[scores])
    return Local(data, np.array([0]), np.array([[w, 0.0] for w in start]), "log-loss")


def on_the_line(sigma: float, score: float) -> Local:
    """Return tokens 0 and -1 with scores 0 and `score`, started at W = sigma."""
    data = AttentionData.of([[[0.0], [-1.0]]], [[1.0]], scores=[[0.0, score]])
    return Local(data, np.array([0]), np.array([[sigma]]), "log-loss")


FALLS_BACK = placed_at([0.0, -1.0, 4.0], (3.0, -2.0), 2.625, 1.3125)
"""A start on the rim of half of its cone, at 0.81 of its radius: descent selects the third
token."""

LEAPS = Local(
    LEAPING.data,
    np.array([0, 0]),
    np.array([[12.0, 0.0], [36.0, 0.0]]),
    "correlation",
    step=2.0**19,
)
"""A start on the ray of W*, beyond the radius of the step 1/L. Steps of 2^19/L carry an input to
its worse token."""

BETTER_SUPPORT = on_the_line(64.0, 1.0)
"""The first token is selected, and its only rival scores higher."""


def narrowest(choice: Choice) -> Array:
    """Return the direction orthogonal to W* along -A_j of the pair with the largest r_j/c_j.

    This pair sets the width of the cone. The direction has length 1/r_j, so that it lowers the
    margin of the pair by 1. It is zero if r_j is.
    """
    svm, pairs = exact_att_svm(choice.data, choice.alpha), Pairs.of(choice.data, choice.alpha)
    square = 2 * (choice.data.d,)
    if svm is None or pairs is None or pairs.slope == 0:
        return np.zeros(square)
    j = pairs.slopes.index(pairs.slope)
    W, A = flat(pairs.W), list(svm.A.values())[j]
    across = [
        (pairs.margin[j] / pairs.square * w - a) / pairs.across[j]
        for a, w in zip(A, W, strict=True)
    ]
    return np.array([float(arb(x)) for x in across]).reshape(square)


def leaving(choice: Choice, share: float, far: float, loss: str, step: float = 1.0) -> Local:
    """Return a start at which the pair that sets the width of the cone has margin 1.

    If c_j = m_j - 1 = g, this start is (1 + g)/g times as far from the axis as the rim, up to
    1/r_j: it lies just outside of the cone for large g. The start is zero if there is no radius.
    """
    away = narrowest(choice)
    case = placed(choice, away, share, 0.0, far, loss, step)
    pairs = Pairs.of(choice.data, choice.alpha)
    if pairs is None or not case.start.any():
        return case
    m = pairs.margin[pairs.slopes.index(pairs.slope)]
    return replace(case, start=case.start + (float(arb(parts(case, pairs)[0] * m)) - 1.0) * away)


def placed(
    choice: Choice,
    away: Array,
    share: float,
    part: float,
    far: float,
    loss: str,
    step: float = 1.0,
) -> Local:
    """Return the start sigma (W* + E): E has the direction of `away` orthogonal to W*.

    E has the length part share min(1/w, N), with the letters of `cone_radius`. The position sigma
    is `far` times the radius of the share, rounded up. The start is zero if there is no radius.
    """
    at_zero = np.zeros((choice.data.d, choice.data.d))
    zero = Local(choice.data, choice.alpha, at_zero, loss, share, step=step)
    pairs = Pairs.of(choice.data, choice.alpha)
    if pairs is None or not 0.0 < share < 1.0:
        return zero
    least = radius(pairs, loss, short_step(choice.data, loss, step), rational(share))
    if least is None:
        return zero
    W = np.array([[float(arb(x)) for x in row] for row in pairs.W])
    E = away - (away * W).sum() / (W * W).sum() * W
    size = float(np.linalg.norm(E))
    width = 2.0 * float(arb(tangent(pairs)).sqrt()) * share * part * (1.0 - 2.0**-30)
    scaled = E * (width / size) if size > 1e-9 else np.zeros_like(W)
    sigma = far * float(least) * (1.0 + 2.0**-30)
    return replace(zero, start=sigma * (W + scaled))


def lengthened(case: Local) -> Local:
    """Return the start times sqrt(1 + (q/N)^2): its norm is then at least sigma sqrt(N^2 + q^2).

    Here sigma is that of the start before.
    """
    pairs = Pairs.of(case.data, case.alpha)
    if pairs is None:
        return case
    factor = float(arb(1 + tangent(pairs) / pairs.square).sqrt()) * (1.0 + 2.0**-30)
    return replace(case, start=factor * case.start)


def far_out(case: Local) -> Local:
    """Return the start scaled to the norm 1024 ||W^mm(alpha)||."""
    pairs, size = Pairs.of(case.data, case.alpha), float(np.linalg.norm(case.start))
    if pairs is None or size == 0.0:
        return case
    factor = 1024.0 * (1.0 + 2.0**-30) * float(arb(pairs.square).sqrt()) / size
    return replace(case, start=factor * case.start)


def around_alpha(
    alpha: Array, own: Array, lean: Array, beyond: Array, aside: Array, scores: Array
) -> Choice:
    """Return a choice of known geometry: T - 2 support tokens an input and one token beyond them.

    - `own` (n, d) are the chosen tokens alpha (n,), with d = n (T - 2) + 1.
    - `scores` (n, T) are the scores of all tokens.
    - Each of the T - 2 tokens is x_alpha minus its own axis, minus lean_i times the next axis.
    - The last token is x_alpha minus beyond_i times the first axis of its input, minus aside_i
      times the last axis.
    - All queries are the first unit vector.
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


@composite
def local_choices(draw: st.DrawFn, inputs: int = 2, tokens: int = 4) -> Choice:
    """Draw choices that are mostly locally optimal; the token beyond is often the best one.

    A choice has from 1 to `inputs` inputs, of 3 to `tokens` tokens each.
    """
    n, T = draw(sizes(1, inputs)), draw(sizes(3, tokens))
    alpha = np.array([draw(sizes(0, T - 1)) for _ in range(n)])
    beyond, aside = 1.5 + np.abs(draw(arrays(n))), 1.0 + np.abs(draw(arrays(n)))
    beyond *= draw(st.sampled_from([1.0, 16.0]))
    scores = -0.5 - np.abs(draw(arrays(n, T)))
    last = [max(t for t in range(T) if t != a) for a in alpha]
    scores[np.arange(n), alpha] = 0.0
    best = draw(arrays(n))
    scores[np.arange(n), last] = best if draw(st.booleans()) else 0.5 + np.abs(best)
    own, lean = draw(arrays(n, n * (T - 2) + 1)), draw(arrays(n)) / 16.0
    whole = around_alpha(alpha, own, lean, beyond, aside, scores)
    return replace(whole, data=draw(ragged(st.just(whole.data), lambda _: _supported(whole))))


def local_choices_larger(generator: np.random.Generator) -> Choice:
    """Return a choice of known geometry with two or three inputs of up to five tokens."""
    n, T = int(generator.integers(2, 4)), int(generator.integers(3, 6))

    def dyadic(*shape: int) -> Array:
        return np.asarray(generator.integers(-32, 33, size=shape) / 16)

    alpha = np.zeros(n, dtype=np.int64)
    scores = -0.5 - np.abs(dyadic(n, T))
    scores[:, 0], scores[:, -1] = 0.0, dyadic(n)
    shape = dyadic(n) / 16.0, 1.5 + np.abs(dyadic(n)), 1.0 + np.abs(dyadic(n))
    whole = around_alpha(alpha, dyadic(n, n * (T - 2) + 1), *shape, scores)
    return replace(whole, data=ragged_larger(generator, whole.data, _supported(whole)))


def lifted(choice: Choice, level: float) -> Choice:
    """Return the choice with `level` added to all scores; the scores of alpha were 0."""
    data = choice.data
    return replace(choice, data=replace(data, scores=data.gamma + level))


def _supported(choice: Choice) -> Array:
    """Return a mask (n, T) of the tokens that must stay: the chosen one and the first other one."""
    first = np.where(choice.alpha == 0, 1, 0)
    place = np.arange(choice.data.T)
    supported: Array = (place == choice.alpha[:, None]) | (place == first[:, None])
    return supported


@composite
def started(draw: st.DrawFn, *shares: float) -> Local:
    """Draw a start at the radius or further out: inside the cone, on its rim or beyond it.

    A quarter of the starts lies on the rim of the last share, in the narrowest direction. Half of
    them lie beyond the cone, so that claims about a larger set fail. These have one input of three
    tokens: E does not change the margin of its support token, and the token beyond takes over.
    """
    place, share = draw(sizes(0, 3)), draw(st.sampled_from(shares))
    part, far = draw(st.sampled_from([1.0, 0.5, 0.0])), draw(st.sampled_from([1.0, 2.0, 8.0]))
    loss, step = draw(st.sampled_from(list(LEVELS))), draw(st.sampled_from(ANY))
    choice = draw(local_choices(1, 3) if place > 1 else local_choices())
    choice = lifted(choice, draw(st.sampled_from(LEVELS[loss])))
    if place > 1:
        return leaving(choice, share, far, loss, step)
    if place == 1:
        return placed(choice, narrowest(choice), shares[-1], 1.0, far, loss, step)
    square = 2 * (choice.data.d,)
    away = draw(arrays(*square)) + np.eye(*square)[::-1] / 2.0  # off the ray, mostly
    return placed(choice, away, share, part, far, loss, step)


def started_larger(*shares: float) -> Callable[[np.random.Generator], Local]:
    """Return a function that draws starts of larger data, in the cone or on its rim."""

    def draw(generator: np.random.Generator) -> Local:
        choice, share = local_choices_larger(generator), float(generator.choice(shares))
        part, far = generator.choice([1.0, 1.0, 0.5, 0.0]), generator.choice([1.0, 1.0, 2.0])
        away = generator.integers(-8, 9, size=2 * (choice.data.d,)) / 8
        if generator.random() < 0.5:
            away = narrowest(choice)
        loss, step = str(generator.choice(list(LEVELS))), float(generator.choice(ANY))
        choice = lifted(choice, float(generator.choice(LEVELS[loss])))
        return placed(choice, away, share, float(part), float(far), loss, step)

    return draw


ON_RAY = (
    placed_at([0.0, -1.0, 1.0], (2.0, -1.0), 18.0, 9.0),
    on_the_line(64.0, -1.0),
    *(replace(on_the_line(64.0, -1.0), step=step) for step in (16.0, 256.0)),
)
