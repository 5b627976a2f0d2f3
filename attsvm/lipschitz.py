"""Lipschitz constants of L(x) = g(b <softmax(A x), h>) and of its gradient.

g is the logistic function, A has spectral norm ||A||, and osc(h) = max h - min h. All constants
are with respect to Euclidean norms and hold on the whole space unless a radius R appears. The
log-loss and the squared loss (<softmax(A x), h> - b)^2 have constants of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from attsvm._types import Array, Float, Numeric
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.losses import Loss

_N = TypeVar("_N", bound="Numeric")
"""A kind of numbers: floats, arrays, balls, power series, rationals or symbols."""

# kernels: for floats, arrays, balls, power series, rationals and symbols alike


def softmax_height(x: _N, y: _N, a: _N, c: _N) -> _N:
    """Return P (1-c^2)(x a + y P c)/2, P = (1-a^2)/4; K(D) is its maximum for x = D, y = D^2."""
    P = (1 - a * a) / 4
    return P * (1 - c * c) * (x * a + y * P * c) / 2


def best_level(slope: _N, offset: _N, root: _N) -> _N:
    """Return the c of largest (1-c^2)(offset + slope c), from root = sqrt(offset^2 + 3 slope^2)."""
    return slope / (offset + root)


def attention_bend(span: _N, slope: _N, curvature: _N, root: Callable[[int], _N]) -> _N:
    """Return D sup|l'| / (3 sqrt 3) + D^2 sup|l''| / 8, a bound of l(<softmax, gamma>)''.

    D is the range of gamma. The second derivative of <softmax, gamma> is a third central moment,
    the first one a variance; both are largest for two tokens.
    """
    return span * slope / (3 * root(3)) + span * span * curvature / 8


def log_loss_below(D: _N, root: Callable[[int], Any]) -> _N:
    """Return D/(3 sqrt 3), the constant of the log-loss up to D = 2 sqrt 3."""
    constant: _N = D / (3 * root(3))
    return constant


def log_loss_beyond(D: _N) -> _N:
    """Return (D/4 + 1/D)^2/2, the constant of the log-loss above D = 2 sqrt 3."""
    side = D / 4 + 1 / D
    return side * side / 2


def squared_height(w: _N, m: _N, a: _N) -> _N:
    """Return w (1-a^2)(m a + w (1-3a^2)/4), whose maximum over a is the constant of the square."""
    return (1 - a * a) * (m * a + w * (1 - 3 * a * a) / 4) * w


def squared_slope(w: _N, m: _N, a: _N) -> _N:
    """Return the derivative of `squared_height` in a, over w."""
    return m * (1 - 3 * a * a) - w * a * (2 - 3 * a * a)


def normed_height(H: _N, b: _N, a: _N, root: Callable[[_N], _N]) -> _N:
    """Return the largest `squared_height` at a over heads of norm H and labels of size b.

    The extreme values are mu +- w/2 with w = sqrt 2 H c, mu = H t c/sqrt 2, c = 1/sqrt(1 + t^2).
    """
    q = 1 - 3 * a * a
    t = a * q / (1 - 2 * a * a + 3 * a**4)
    c = H / root(1 + t * t)
    return (1 - a * a) * c * (root(2 + 0 * a) * b * a + c * (t * a + q / 2))


def normed_slope(h2: _N, b2: _N, a: _N) -> _N:
    """Return a number with the sign of the derivative of the height in a in [0, 3/5].

    h2 and b2 are the squares of H and b.
    """
    u: Any = a * a  # of a kind that has absolute values, which a series lacks
    q, D = 1 - 3 * u, 1 - 2 * u + 3 * u * u
    result: _N = (
        2 * b2 * q * abs(q) * (D * D + u * q * q)
        - h2 * u * (3 - 8 * u + 15 * u**2 - 18 * u**3) ** 2
    )
    return result


def _size(value: float) -> float:
    """Return the value.

    Raises:
        DataError: it is negative or not finite.
    """
    if not 0.0 <= value < math.inf:
        raise DataError(
            "a size must be a finite number that is not negative",
            value=value,
            remedy="Pass a norm, or max(h) - min(h) of finite values.",
        )
    return value


def _softmax_constants(D: Float[Array, " B"]) -> Array:
    """Return K(D) for each D above 0, as D (1 + D) times a factor that does not overflow.

    The maximum over c has a closed form; a is found by bracketing, for all D in parallel.
    """
    x, y = (1.0 / (1.0 + D))[:, None], (D / (1.0 + D))[:, None]

    def height(a: Array) -> Array:
        # at most one of the two underflows; it is then negligible beside the other
        offset, slope = 4.0 * x * a, y * (1.0 - a * a)
        root = np.hypot(offset, math.sqrt(3.0) * slope)
        value: Array = softmax_height(x, y, a, best_level(slope, offset, root))
        return value

    low, high = np.zeros_like(x), np.full_like(x, 1.0 - 1e-9)
    places = np.linspace(0.0, 1.0, 33)[None, :]
    for _ in range(8):
        grid = low + (high - low) * places
        best = height(grid).argmax(axis=1)[:, None]
        low = np.take_along_axis(grid, np.maximum(best - 1, 0), 1)
        high = np.take_along_axis(grid, np.minimum(best + 1, 32), 1)
    values: Array = D * (1.0 + D) * height(low + (high - low) * places).max(axis=1)
    return values


def softmax_gradient_constants(oscillations: Float[Array, " B"]) -> Float[Array, " B"]:
    """Return `softmax_gradient_constant` of many oscillations.

    NaN for negative or infinite ones.
    """
    usable = (oscillations > 0.0) & np.isfinite(oscillations)
    with np.errstate(over="ignore"):
        values = _softmax_constants(np.where(usable, oscillations, 1.0))
    nothing = np.where(oscillations == 0.0, 0.0, np.nan)
    return np.where(usable, values, nothing)


def softmax_gradient_constant(oscillation: float) -> float:
    """Return the best Lipschitz constant of s -> grad g(<softmax(s), k>) for a bound of osc(k).

    It is K(D) = 2 D max over a, c in [0, 1] of (1-c^2)(1-a^2)/16 (a + D c (1-a^2)/4). This is the
    curvature of two tokens of probabilities (1-a)/2 and (1+a)/2 with <softmax(s), k> such that 1 -
    2 g = c. With more tokens it is approached as the weights of the others vanish. Therefore grad_x
    of g(b <softmax(A x), h>) is ||A||^2 K(|b| osc(h))-Lipschitz on the whole space. The result is
    infinite if it exceeds float64.

    Raises:
        DataError: the oscillation is negative or not finite.
    """
    return float(softmax_gradient_constants(np.array([_size(oscillation)]))[0])


def log_loss_gradient_constants(oscillations: Float[Array, " B"]) -> Float[Array, " B"]:
    """Return `log_loss_gradient_constant` of many oscillations.

    NaN for negative or infinite ones.
    """
    usable = (oscillations >= 0.0) & np.isfinite(oscillations)
    D = np.where(usable, oscillations, np.nan)
    with np.errstate(over="ignore"):
        beyond = log_loss_beyond(np.maximum(D, 1.0))
    return np.asarray(np.where(D <= 12.0**0.5, log_loss_below(D, math.sqrt), beyond))


def log_loss_gradient_constant(oscillation: float) -> float:
    """Return the best Lipschitz constant of s -> grad log(1 + exp(-<softmax(s), k>)), osc(k) <= D.

    It is D/(3 sqrt 3) up to D = 2 sqrt 3, then (D/4 + 1/D)^2/2, for any number of tokens from two
    on. It is approached; from 2 sqrt 3 on two tokens attain it. Times ||A||^2, with D = |b| osc(h),
    it is a constant for log(1 + exp(-b <softmax(A x), h>)) in x. The result is infinite if it
    exceeds float64.

    Raises:
        DataError: the oscillation is negative or not finite.
    """
    return float(log_loss_gradient_constants(np.array([_size(oscillation)]))[0])


def _bisected(slope: Callable[[Array], Array], high: Array) -> Array:
    """Return the points between 0 and `high` < 1 at which slopes, positive at 0, change their sign.

    The error is 2^-33. A height at its maximum is off by the square of that, which is below the
    resolution of float64.
    """
    low = np.zeros_like(high)
    for _ in range(33):
        middle = 0.5 * (low + high)
        rising = slope(middle) > 0.0
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    return middle


def squared_gradient_constants(
    oscillations: Float[Array, " B"], reaches: Float[Array, " B"]
) -> Float[Array, " B"]:
    """Return `squared_gradient_constant` of many pairs; NaN for a pair that it would refuse."""
    with np.errstate(all="ignore"):
        usable = np.isfinite(reaches) & (oscillations >= 0.0)
        usable &= oscillations <= 2.0 * reaches * (1.0 + 1e-15)
        w = np.where(usable, oscillations, np.nan)
        middle = np.maximum(reaches - 0.5 * w, 0.0)
        a = _bisected(lambda a: squared_slope(w, middle, a), np.full_like(w, 1 / math.sqrt(3)))
        values: Array = squared_height(w, middle, a)
    return values


def squared_gradient_constant(oscillation: float, reach: float) -> float:
    """Return the best Lipschitz constant of s -> grad (<softmax(s), h> - b)^2, given two sizes.

    With w = osc(h) and r = max |h - b| it is w^2 max over a in [0, 1] of (1-a^2)(x a + (1-3a^2)/4),
    x = r/w - 1/2, the curvature of two tokens. With more tokens it is approached as the weights of
    the others vanish. It is at most w^2/4 + (2 r - w) w/(3 sqrt 3). Times ||A||^2 it is a constant
    for softmax(A x) in x. Bisection gives the only critical point in [0, 1/sqrt 3]. The
    result is infinite if it exceeds float64.

    Raises:
        DataError: r < w/2, which is impossible, or a size is negative or not finite.
    """
    if not _size(oscillation) <= 2.0 * _size(reach) * (1.0 + 1e-15):
        raise DataError(
            "max |h - b| is below half of max(h) - min(h), which is impossible",
            value=(oscillation, reach),
            remedy="Pass max(h) - min(h) and max |h - b|.",
        )
    return float(squared_gradient_constants(np.array([oscillation]), np.array([reach]))[0])


def squared_normed_constants(
    h2: Float[Array, " B"], labels: Float[Array, " B"]
) -> Float[Array, " B"]:
    """Return the best Lipschitz constant of s -> grad (<softmax(s), h> - b)^2 for ||h||^2 and |b|.

    With t = |b|/||h|| and Q = (1-2u+3u^2)^2 + u (1-3u)^2 it is ||h||^2 (1-u)^2 (1+3u)
    (1-2u+3u^2)^2/(2 (1-3u) Q). Here u in [0, 1/3) is the only solution of 2 t^2 (1-3u)^2 Q = u
    (3-8u+15u^2-18u^3)^2. Two tokens attain it. The result is NaN if a size is negative or not
    finite.
    """
    with np.errstate(all="ignore"):
        usable = np.isfinite(h2 + labels) & (h2 >= 0.0) & (labels >= 0.0)
        H, b = np.where(usable, np.sqrt(h2), np.nan), labels
        scale = np.maximum(np.maximum(H, b), np.finfo(float).tiny)
        h2, b2 = (H / scale) ** 2, (b / scale) ** 2
        a = _bisected(lambda a: normed_slope(h2, b2, a), np.full_like(H, 0.6))
        values: Array = normed_height(H, b, a, np.sqrt)
    return values


def risk_smoothness(data: AttentionData, loss: Loss) -> float:
    """Return a Lipschitz constant of the gradient of the risk in W on the whole space.

    It is the mean over inputs of ||z||^2 ||X - mean||^2 (D sup|l'| / (3 sqrt 3) + D^2 sup|l''| /
    8), with D = max gamma - min gamma (`attention_bend`). The suprema are over the whole line if
    `Loss.lipschitz` is finite, and over [min gamma, max gamma] for other losses. The result is
    rounded up by a relative 1e-9.
    """
    total = 0.0
    for i in range(data.n):
        keep = data.present[i]
        tokens, gamma = data.X[i][keep], data.gamma[i][keep]
        span = float(gamma.max() - gamma.min())
        if data.v is not None:  # the scores were rounded
            size = float((np.abs(tokens) @ np.abs(data.v)).max())
            span += 4.0 * (data.d + 1) * float(np.finfo(float).eps) * size
        reach = float(np.linalg.norm(tokens - tokens.mean(axis=0), 2))
        grid = np.linspace(float(gamma.min()), float(gamma.max()), 2)
        if math.isfinite(loss.lipschitz):
            slope, curvature = loss.lipschitz, loss.smoothness
        else:  # |l'| and |l''| are convex, so largest at an end of the range
            slope = float(np.abs(loss.slope(grid)).max())
            curvature = float(np.abs(loss.curvature(grid)).max())
        total += (
            float(data.Z[i] @ data.Z[i])
            * reach
            * reach
            * attention_bend(span, slope, curvature, math.sqrt)
        )
    return total / data.n * (1.0 + 1e-9)
