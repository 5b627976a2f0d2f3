"""Lipschitz constants of L(x) = g(b <softmax(A x), h>) and of its gradient: published and sharp.

g is the logistic function, A has spectral norm ||A||, and osc(h) = max h - min h. All constants
are with respect to Euclidean norms and hold on the whole space unless a radius R appears.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from attsvm._types import Array
from attsvm.attention import softmax
from attsvm.data import AttentionData
from attsvm.losses import Loss, logistic, logistic_slope
from attsvm.risk import covariance

__all__ = [
    "LOGISTIC_CURVATURE",
    "entry_gradient",
    "entry_loss",
    "linear_gradient_constant",
    "log_published_gradient_constant",
    "risk_smoothness",
    "softmax_gradient_constant",
]

LOGISTIC_CURVATURE = 1.0 / (6.0 * math.sqrt(3.0))
"""sup |g''|, the best Lipschitz constant of g' (sim, lemma 3.12, sharp)."""


def entry_loss(
    A: Float[Array, "n D"], x: Float[Array, " D"], h: Float[Array, " n"], b: float
) -> float:
    """One entry of sim's loss, g(b <softmax(A x), h>) (sim, definition 3.6)."""
    return float(logistic(np.array([b * (softmax(A @ x) @ h)]))[0])


def entry_gradient(
    A: Float[Array, "n D"], x: Float[Array, " D"], h: Float[Array, " n"], b: float
) -> Float[Array, " D"]:
    """Gradient of `entry_loss` in x: b g'(b <f, h>) A^T (diag(f) - f f^T) h."""
    f = softmax(A @ x)
    slope = float(logistic_slope(np.array([b * (f @ h)]))[0])
    gradient: Array = A.T @ (b * slope * covariance(f, h))
    return gradient


def log_published_gradient_constant(n: int, R: float) -> float:
    """Log of 3 n^3 R^7 exp(13 R^2), which overflows float64 from R = 7.3 on (sim, lemma 3.13)."""
    return math.log(3.0) + 3.0 * math.log(n) + 7.0 * math.log(R) + 13.0 * R * R


def softmax_gradient_constant(oscillation: float) -> float:
    """The best Lipschitz constant of s -> grad g(<softmax(s), k>) over osc(k) <= oscillation.

    It is K(D) = 2 D max over a, c in [0, 1] of (1-c^2)(1-a^2)/16 (a + D c (1-a^2)/4), attained by
    two tokens of probabilities (1-a)/2 and (1+a)/2 and <softmax(s), k> with 1 - 2 g = c, for every
    number of tokens. grad_x of g(b <softmax(A x), h>) is therefore ||A||^2 K(|b| osc(h))-Lipschitz
    on the whole space. The maximum over c has a closed form; a is found by bracketing.
    """
    if oscillation == 0.0:
        return 0.0

    def height(a: Array) -> Array:
        p = (1.0 - a * a) / 4.0
        w = oscillation * p
        c = w / (a + np.hypot(a, math.sqrt(3.0) * w))
        value: Array = 0.5 * oscillation * p * (1.0 - c * c) * (a + w * c)
        return value

    low, high = 0.0, 1.0 - 1e-9
    for _ in range(12):
        grid = np.linspace(low, high, 65)
        best = int(height(grid).argmax())
        low, high = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, 64)])
    return float(height(np.linspace(low, high, 65)).max())


def linear_gradient_constant(size: float) -> float:
    """The best Lipschitz constant of the gradient of g(b <A x, h>): size^2 / (6 sqrt 3).

    `size` is |b| ||A^T h||_2.
    """
    return size * size * LOGISTIC_CURVATURE


def risk_smoothness(data: AttentionData, loss: Loss) -> float:
    """A constant L such that the gradient of the risk in W is L-Lipschitz on the whole space.

    mean over inputs of ||z||^2 ||X - mean||^2 (D sup|l'| / (3 sqrt 3) + D^2 sup|l''| / 8), with
    D = max gamma - min gamma and the suprema over the scores that attention can return: the
    third central moment of two tokens bounds the curvature of <softmax, gamma>, the second its
    slope. Rounded up by a relative 1e-9.
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
        else:  # exp and the square: |l'| and |l''| are largest at an end of the range
            slope = float(np.abs(loss.slope(grid)).max())
            curvature = float(np.abs(loss.curvature(grid)).max())
        total += (
            float(data.Z[i] @ data.Z[i])
            * reach
            * reach
            * (span * slope / (3.0 * math.sqrt(3.0)) + span * span * curvature / 8.0)
        )
    return total / data.n * (1.0 + 1e-9)
