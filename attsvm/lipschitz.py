"""Lipschitz constants of L(x) = g(b <softmax(A x), h>) and of its gradient: published and sharp.

g is the logistic function, A has spectral norm ||A||, and osc(h) = max h - min h. All constants
are with respect to Euclidean norms and hold on the whole space unless a radius R appears. The
log-loss and the squared loss (<softmax(A x), h> - b)^2 have constants of their own.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from attsvm._types import Array
from attsvm.attention import softmax
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.losses import Loss, logistic, logistic_slope
from attsvm.risk import covariance

__all__ = [
    "LOGISTIC_CURVATURE",
    "SOFTMAX_ENTRY_LIPSCHITZ",
    "SOFTMAX_LIPSCHITZ",
    "SOFTMAX_OUTER_LIPSCHITZ",
    "entry_gradient",
    "entry_loss",
    "linear_gradient_constant",
    "log_loss_gradient_constant",
    "log_published_gradient_constant",
    "published_excess",
    "risk_smoothness",
    "softmax_gradient_constant",
    "spread",
    "squared_gradient_constant",
]

LOGISTIC_CURVATURE = 1.0 / (6.0 * math.sqrt(3.0))
"""sup |g''|, the best Lipschitz constant of g' (sim, lemma 3.12, sharp)."""

SOFTMAX_LIPSCHITZ = 0.5
"""The best constant of softmax, and of f f^T in the Frobenius norm (sim, basic-4, basic-7)."""

SOFTMAX_ENTRY_LIPSCHITZ = math.sqrt(2.0) / 4.0
"""The best constant of one entry of softmax, hence of diag(f) as an operator (sim, basic-6)."""

SOFTMAX_OUTER_LIPSCHITZ = 3.0**-0.75
"""The best constant of f f^T as an operator, f = softmax (sim, basic-7)."""


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


def published_excess(n: int, R: float) -> float:
    """Decimal orders of magnitude from the sharp up to the published constant (sim, lemma 3.13).

    Where ||A||, |b| and ||h|| are at most R, the sharp one is at most R^2 K(sqrt 2 R^2).
    """
    sharp = R * R * softmax_gradient_constant(math.sqrt(2.0) * R * R)
    return (log_published_gradient_constant(n, R) - math.log(sharp)) / math.log(10.0)


def log_loss_gradient_constant(oscillation: float) -> float:
    """The best Lipschitz constant of s -> grad log(1 + exp(-<softmax(s), k>)), osc(k) <= D.

    D/(3 sqrt 3) up to D = 2 sqrt 3, then (D/4 + 1/D)^2/2, for every number of tokens. Times
    ||A||^2, with D = |b| osc(h), for log(1 + exp(-b <softmax(A x), h>)) in x
    (`symbolic.sim.lemma_3_13_log_loss`).
    """
    if oscillation <= 2.0 * math.sqrt(3.0):
        return oscillation / (3.0 * math.sqrt(3.0))
    return 0.5 * (0.25 * oscillation + 1.0 / oscillation) ** 2


def squared_gradient_constant(oscillation: float, reach: float) -> float:
    """The best Lipschitz constant of s -> grad (<softmax(s), h> - b)^2, given two sizes.

    With w = osc(h) and r = max |h - b| it is w^2 max over a in [0, 1] of
    (1-a^2)(x a + (1-3a^2)/4), x = r/w - 1/2, for every number of tokens; two attain it. It is at
    most w^2/4 + (2 r - w) w/(3 sqrt 3). Times ||A||^2 for softmax(A x) in x
    (`symbolic.sim.lemma_3_13_l2`). The only critical point in [0, 1/sqrt 3] is bisected.

    Raises:
        DataError: r < w/2, which no h and b have.
    """
    if not 0.0 <= oscillation <= 2.0 * reach * (1.0 + 1e-15):
        raise DataError(
            "the residuals h - b reach less far than half of their oscillation",
            value=(oscillation, reach),
            remedy="Pass max(h) - min(h) and max |h - b|.",
        )
    if oscillation == 0.0:
        return 0.0
    middle = max(reach - 0.5 * oscillation, 0.0)
    low, high = 0.0, 1.0 / math.sqrt(3.0)
    for _ in range(60):
        a = 0.5 * (low + high)
        if middle * (1.0 - 3.0 * a * a) > oscillation * a * (2.0 - 3.0 * a * a):
            low = a
        else:
            high = a
    return oscillation * (1.0 - a * a) * (middle * a + oscillation * (1.0 - 3.0 * a * a) / 4.0)


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


def spread(A: Float[Array, "n D"]) -> float:
    """Largest ||A_i - A_j|| / sqrt 2 over the rows, at most ||A||; it may take the place of ||A||.

    Softmax sees only differences of logits: max |(A_i - A_j)^T v| over a unit v is what counts.
    """
    pairs = [(A[i] - A[j]).tolist() for j in range(len(A)) for i in range(j)]
    return max((math.hypot(*row) for row in pairs), default=0.0) / math.sqrt(2.0)
