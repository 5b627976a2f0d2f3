r"""One entry of the loss of definition 3.6, L(x) = g(b <softmax(A x), h>), and its constants.

The letters are those of `entry`. The log-loss and the squared loss of the same entry are here as
well.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from attsvm._types import Array, Float
from attsvm.exact.lipschitz import log_loss_gradient_constant as log_constant_ball
from attsvm.exact.lipschitz import softmax_gradient_constant as gradient_constant_ball
from attsvm.exact.lipschitz import squared_gradient_constant as squared_constant_ball
from attsvm.exact.lipschitz import squared_normed_constant as normed_constant_ball
from attsvm.lipschitz import (
    log_loss_gradient_constants,
    softmax_gradient_constants,
    squared_gradient_constants,
    squared_normed_constants,
)
from attsvm.theory import Primitive, definition
from attsvm.theory import gradient as calculus
from attsvm.theory.types import Namespace, Number, Numbers, Values


@definition(r"L({x})")
def loss(m: Namespace, A: Numbers, x: Numbers, h: Numbers, b: Number) -> Numbers:
    """Return one entry of the loss."""
    return m.logistic(b * m.dot(m.softmax(A @ x), h))


@definition(r"\nabla L({x})")
def gradient(m: Namespace, A: Numbers, x: Numbers, h: Numbers, b: Number) -> Numbers:
    """Return the gradient by the chain rule through the covariance of softmax."""
    f = m.softmax(A @ x)
    return b * m.logistic_slope(b * m.dot(f, h)) * (A.T @ m.covariance(f, h))


@definition(r"\mathrm{{Hess}} \, L({x})")
def hessian(m: Namespace, A: Numbers, x: Numbers, h: Numbers, b: Number) -> Numbers:
    """Return the Hessian: g'' times the squared gradient of <f, h>, plus g' times its Hessian."""
    return hessian_at(m, A, m.softmax(A @ x), h, b)


def hessian_at(m: Namespace, A: Numbers, f: Numbers, h: Numbers, b: Number) -> Numbers:
    """Return the Hessian for attention f."""
    c = m.covariance(f, h)
    u, moved = b * m.dot(f, h), A.T @ c
    tilted = m.outer(A.T @ f, moved)
    first, second = b * m.logistic_slope(u), b * b * m.logistic_curvature(u)
    bend = A.T @ (m.diagonal(c) @ A) - tilted - tilted.T
    return second * m.outer(moved, moved) + first * bend


@definition(r"\ell({x})")
def log_loss(m: Namespace, A: Numbers, x: Numbers, h: Numbers, b: Number) -> Numbers:
    """Return the log-loss log(1 + exp(-b <softmax(A x), h>))."""
    return m.softplus(-(b * m.dot(m.softmax(A @ x), h)))


@definition(r"L({x})")
def squared_loss(m: Namespace, A: Numbers, x: Numbers, h: Numbers, b: Number) -> Numbers:
    """Return the squared loss (<softmax(A x), h> - b)^2."""
    return m.square(m.dot(m.softmax(A @ x), h) - b)


@definition(r"\nabla L({x})")
def squared_gradient(m: Namespace, A: Numbers, x: Numbers, h: Numbers, b: Number) -> Numbers:
    """Return the gradient of the squared loss."""
    f = m.softmax(A @ x)
    return 2 * (m.dot(f, h) - b) * (A.T @ m.covariance(f, h))


def loss_change(m: Namespace, v: Values, loss: Callable[..., Numbers] = loss) -> Numbers:
    """Return |L(x) - L(y)|."""
    return m.abs(loss(m, v.A, v.x, v.h, v.b) - loss(m, v.A, v.y, v.h, v.b))


def slope_change(m: Namespace, v: Values, loss: Callable[..., Numbers]) -> Numbers:
    """Return grad L(x) - grad L(y) for one of these losses, by differentiating its formula."""
    at_x, at_y = (
        calculus(m, lambda m, point: loss(m, v.A, point, v.h, v.b), point) for point in (v.x, v.y)
    )
    return at_x - at_y


def gradient_change(m: Namespace, v: Values, gradient: Callable[..., Numbers] = gradient) -> Number:
    """Return ||grad L(x) - grad L(y)||."""
    return m.norm(gradient(m, v.A, v.x, v.h, v.b) - gradient(m, v.A, v.y, v.h, v.b))


_ENDS, _STEPS = 40.0, 2048
"""Largest |ln D| of the table for screening, and its number of steps."""


@functools.cache
def _table() -> tuple[Float[Array, " P"], Float[Array, " P"]]:
    """Return K(D)/(D + D^2) on a grid of ln D, and its change per step of the grid.

    The quotient has limits at both ends.
    """
    at = np.linspace(-_ENDS, _ENDS, _STEPS + 1)
    D = np.exp(at)
    value = softmax_gradient_constants(D) / (D * (1.0 + D))
    change = np.gradient(value)
    change[2:-2] = (8 * (value[3:-1] - value[1:-3]) - (value[4:] - value[:-4])) / 12
    return value, change


def screened_constants(D: Float[Array, " B"]) -> Float[Array, " B"]:
    """Return K(D) to eight digits, for screening: cubic interpolation, 100 times as fast as K."""
    usable = (D > 0.0) & np.isfinite(D)
    safe = np.where(usable, D, 1.0)
    place = (np.log(safe).clip(-_ENDS, _ENDS) + _ENDS) * (_STEPS / (2 * _ENDS))
    left = np.minimum(place.astype(int), _STEPS - 1)
    t = place - left
    value, change = _table()
    low, start, end = value[left], change[left], change[left + 1]
    rise = value[left + 1] - low
    curve = low + t * (start + t * (3 * rise - 2 * start - end + t * (start + end - 2 * rise)))
    return np.where(usable, curve * safe * (1.0 + safe), np.where(D == 0.0, 0.0, np.nan))


K = Primitive(
    r"K\left({0}\right)",
    "D/8 max over a, c in [0, 1] of (1-c^2)(1-a^2)(a + D c (1-a^2)/4), the largest curvature of "
    "g(<softmax(s), k>) over osc(k) <= D",
    of=("D",),
    balls=gradient_constant_ball,
    floats=screened_constants,
    largest=lambda m, D, a, c: D / 8 * (1 - c * c) * (1 - a * a) * (a + D * c * (1 - a * a) / 4),
)


log_loss_constant = Primitive(
    r"K\left({0}\right)",
    "D/(3 sqrt 3) up to D = 2 sqrt 3 and then (D/4 + 1/D)^2/2, the largest curvature of "
    "log(1 + exp(-<softmax(s), k>)) over osc(k) <= D",
    of=("D",),
    balls=log_constant_ball,
    floats=log_loss_gradient_constants,
    pieces=lambda m, D: (
        (m.at_most(D, 2 * m.sqrt(m.exact(3))), D / (3 * m.sqrt(m.exact(3)))),
        (m.above(D, 2 * m.sqrt(m.exact(3))), m.square(D / 4 + 1 / D) / 2),
    ),
)

squared_constant = Primitive(
    r"k\left({0}, {1}\right)",
    "w^2 max over a in [0, 1] of (1-a^2)((r/w - 1/2) a + (1-3a^2)/4), 0 for w = 0, the largest "
    "curvature of (<softmax(s), h> - b)^2 over osc(h) = w and max |h - b| = r",
    of=("w", "r"),
    balls=squared_constant_ball,
    floats=squared_gradient_constants,
    largest=lambda m, w, r, a: (1 - a * a) * w * ((r - w / 2) * a + w * (1 - 3 * a * a) / 4),
)

normed_constant = Primitive(
    r"c\left({0}, {1}\right)",
    "the largest curvature of (<softmax(s), h> - b)^2 over ||h||^2 and |b| of these sizes, "
    "||h||^2 max over a in [0, 1] and p in [0, pi/2] of (1-a^2)(sqrt 2 t a cos p + "
    "a sin(2p)/2 + (1-3a^2) cos(p)^2/2), t = |b|/||h||, 0 for h = 0",
    of=("s", "b"),
    balls=normed_constant_ball,
    floats=squared_normed_constants,
    largest=lambda m, s, b, a, c: (
        (1 - a * a)
        * (m.sqrt(2 * s) * b * a * c + s * c * (a * m.sqrt(1 - c * c) + (1 - 3 * a * a) * c / 2))
    ),
)


def published(m: Namespace, n: int, R: Number) -> Numbers:
    """Return the printed constant of lemma 3.13."""
    return 3 * n**3 * m.power(R, 7) * m.exp(13 * R * R)
