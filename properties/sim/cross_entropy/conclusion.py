"""The cross-entropy of a position: its bounds, its gradient, and what a step does to margins."""

from collections.abc import Mapping

import numpy as np

from attsvm._types import Array
from attsvm.theory import definition, gradient
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Relation, Values
from properties.sim._support.rivals import attended


@definition(r"L({x})")
def cross_entropy(m: Namespace, A: Numbers, x: Numbers, M: Numbers) -> Numbers:
    """Return the cross-entropy of a position with the margins M of its tokens."""
    return m.log1p(m.sum(m.exp(-(m.softmax(A @ x) @ M))))


@definition(r"L_{{best}}")
def best_token(m: Namespace, M: Numbers) -> Number:
    """Return the least cross-entropy of a single token."""
    return m.min(m.array([m.log1p(m.sum(m.exp(-row))) for row in M]))


@definition(r"M_{{best}}")
def best_margins(m: Namespace, M: Numbers) -> Numbers:
    """Return the largest margin of all tokens against each class."""
    return m.array([m.max(column) for column in M.T])


def above_token(m: Namespace, v: Values, share: Number = 1) -> Comparison:
    """Return that the loss is at least a share of that of the best token."""
    return m.at_most(share * best_token(m, v.M), cross_entropy(m, v.A, v.x, v.M))


def above_margins(m: Namespace, v: Values) -> Comparison:
    """Return that the loss is at least that of the best margins."""
    least = m.log1p(m.sum(m.exp(-best_margins(m, v.M))))
    return m.at_most(least, cross_entropy(m, v.A, v.x, v.M))


def derivative(m: Namespace, v: Values, second: int = 1, own: int = 1) -> Comparison:
    """Return that the gradient of L is its closed form, entry by entry.

    The options are the factors of f f^T and of the class of the label in p.
    """
    true = gradient(m, lambda m, x: cross_entropy(m, v.A, x, v.M), v.x)
    f = m.softmax(v.A @ v.x)
    powers = m.exp(-(f @ v.M))
    scores = v.M @ (powers / (own + m.sum(powers)))
    return m.equal(true, -(v.A.T @ (f * scores) - second * m.dot(f, scores) * (v.A.T @ f)))


def one_wins(m: Namespace, v: Values) -> Relation:
    """Return that one token has the largest margins against all classes."""
    best = best_margins(m, v.M)
    return m.at_most(m.min(m.array([m.max(best - row) for row in v.M])), m.exact(0))


def lifted(M: Array, _: object) -> Array:
    """Return the margins with the largest ones of each class in the first row."""
    return np.concatenate([M.max(axis=0, keepdims=True), M[1:]])


# steps, by the gradient of exp(L), which is exp(L) times that of L


@definition(r"E({x})")
def of_three(m: Namespace, v: Values, x: Numbers) -> Numbers:
    """Return exp(L) for tokens a, b and 0 with the margins M, N and 0 against the classes."""
    first, second = m.exp(m.dot(v.a, x)), m.exp(m.dot(v.b, x))
    return 1 + m.sum(m.exp(-((first * v.M + second * v.N) / (1 + first + second))))


def worse_wins(m: Namespace, v: Values) -> Relation:
    """Return that a step lowers <a, x> and raises <b, x>."""
    slope = gradient(m, lambda m, x: of_three(m, v, x), v.x)
    return m.all_of(m.above(m.dot(slope, v.a), 0), m.below(m.dot(slope, v.b), 0))


@definition("u")
def margins(m: Namespace, v: Values, x: Numbers) -> Numbers:
    """Return the margins of the output, s (M + sum_t exp(B_t x) N_t)."""
    return attended(m, v.B, x) * (v.M + m.exp(v.B @ x) @ v.N)


@definition(r"E({x})")
def total_loss(m: Namespace, v: Values, x: Numbers) -> Numbers:
    """Return exp(L) = 1 + sum_c exp(-u_c)."""
    return 1 + m.sum(m.exp(-margins(m, v, x)))


@definition("G")
def lags(m: Namespace, v: Values) -> Number:
    """Return s sum_c exp(-u_c) (M_c - u_c)."""
    u = margins(m, v, v.x)
    return attended(m, v.B, v.x) * m.dot(m.exp(-u), v.M - u)


def gains(m: Namespace, v: Values, share: Number = 1) -> Comparison:
    """Return that -<grad E, V> is at least a share of G."""
    slope = gradient(m, lambda m, x: total_loss(m, v, x), v.x)
    return m.at_most(share * lags(m, v), -m.dot(slope, v.V))


def low(m: Namespace, v: Values) -> Comparison:
    """Return that exp(L) is in the basin."""
    best = m.array([m.max(column) for column in v.N.T])
    room = m.min(m.exp(-best) - m.exp(-v.M))
    return m.below(total_loss(m, v, v.x) - 1 - m.sum(m.exp(-v.M)), room)


# data that meet the hypotheses


def lowered(N: Array, known: Mapping[str, Array]) -> Array:
    """Return the margins of rivals, lowered below those of the best token."""
    return np.minimum(N, known["M"][None] - 0.25)


def settled(x: Array, known: Mapping[str, Array]) -> Array:
    """Return x, moved along V until it is in the basin, if 64 V is far enough."""
    B, V, M, N = (known[name] for name in "BVMN")
    room = (np.exp(-N.max(0)) - np.exp(-M)).min(0)
    out = x + 64 * V
    for step in (32, 16, 8, 4, 2, 1, 0):
        moved = x + step * V
        powers = np.exp(np.clip((B * moved[None]).sum(1), -300, 300))
        u = (M + (powers[:, None] * N).sum(0)) / (1 + powers.sum(0))
        out = np.where((np.exp(-u) - np.exp(-M)).sum(0) < room, moved, out)
    return out


def between(M: Array, known: Mapping[str, Array]) -> Array:
    """Return margins of the best token, moved between N and 2 N."""
    N = known["N"]
    return np.where((M > N) & (M < 2 * N), M, 1.25 * N)


def turned(b: Array, known: Mapping[str, Array]) -> Array:
    """Return the token b, moved along -a far enough for `OPPOSED`."""
    a, M, N = known["a"], known["M"], known["N"]
    square, ahead = (a * a).sum(0), 2 * N - M
    ratio = ((2 * M - N) / np.where(ahead > 0, ahead, 1.0)).max(0)
    lag = (a * b).sum(0) + (ratio + 0.125) * square
    away = (a * b).sum(0) + ratio * square >= 0
    return b - np.where(away, lag, 0.0) * a / np.where(square > 0, square, 1.0)


def behind(x: Array, known: Mapping[str, Array]) -> Array:
    """Return x, moved in the plane of a and b until <a, x> <= 0 <= <b, x>."""
    a, b = known["a"], known["b"]
    aa, ab, bb = (a * a).sum(0), (a * b).sum(0), (b * b).sum(0)
    det = aa * bb - ab * ab
    safe = np.where(det > 1e-6, det, np.inf)
    first, second = (a * x).sum(0), (b * x).sum(0)
    up = np.where(first <= 0, 0.0, -first - 0.125)
    along = np.where(second >= 0, 0.0, 0.125 - second)
    return x + ((bb * up - ab * along) * a + (aa * along - ab * up) * b) / safe
