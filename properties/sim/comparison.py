"""Softmax attention against linear attention: changes of the loss and of its gradient.

L(x) = g(b <softmax(A x), h>) and M(x) = g(b <A x, h>), g the logistic function. M has the
Lipschitz constant |b| ||A^T h||/4 and its gradient b^2 ||A^T h||^2/(6 sqrt 3), both attained.
"""

from __future__ import annotations

import numpy as np
from flint import arb, fmpq

from attsvm.attention import linear_attention
from attsvm.exact import dot, entry_loss, norm, rational
from attsvm.exact.lipschitz import logistic_curvature
from attsvm.exact.numbers import subtract
from attsvm.lipschitz import LOGISTIC_CURVATURE
from attsvm.lipschitz import entry_loss as float_loss
from attsvm.losses import logistic
from attsvm.theory import Slack
from properties.sim.basics import distance
from properties.sim.entries import (
    EntryPair,
    ExactPair,
    change,
    exact_change,
    exact_pair,
    rounding,
)


def loss_change(case: EntryPair, linear: bool) -> tuple[float, float]:
    """|L(x) - L(y)|, or |M(x) - M(y)|, with a bound on the rounding error."""
    if linear:
        values = [
            float(logistic(case.b * linear_attention((case.A @ x)[None], case.h[None]))[0])
            for x in (case.x, case.y)
        ]
    else:
        values = [float_loss(case.A, x, case.h, case.b) for x in (case.x, case.y)]
    size = abs(case.b) * float(np.abs(case.h) @ (np.abs(case.A) @ np.abs(case.x) + 1.0))
    return abs(values[0] - values[1]), 4 * rounding(case) + 1e-14 * (1.0 + size)


def exact_loss_change(case: EntryPair, linear: bool) -> arb:
    """The same as a ball."""
    e = exact_pair(case)
    if not linear:
        if e.still:
            return arb(0)
        return abs(entry_loss(e.A, e.x, e.h, e.b) - entry_loss(e.A, e.y, e.h, e.b))
    if e.b * dot(e.moved, e.h) == 0:
        return arb(0)
    values = [1 / (1 + (-arb(e.b * dot([dot(r, x) for r in e.A], e.h))).exp()) for x in (e.x, e.y)]
    return abs(values[0] - values[1])


def slope_linear(case: EntryPair) -> float:
    """|b| ||A^T h||."""
    return abs(case.b) * float(np.linalg.norm(case.A.T @ case.h))


def reach(case: EntryPair) -> float:
    """|b| ||A|| ||h||, the largest slope of linear attention for data of these norms."""
    return abs(case.b) * float(np.linalg.norm(case.A, 2) * np.linalg.norm(case.h))


def same_data(case: EntryPair, share: float) -> Slack:
    """The loss on the same data in floats: a share of linear attention's constant."""
    left, error = loss_change(case, False)
    right = share * slope_linear(case) / 4 * distance(case)
    return Slack.at_most(left, right, error + 1e-12 * right)


def same_data_ball(case: EntryPair, gradient: bool = False, share: float = 1.0) -> arb:
    """Linear attention's constant times the distance, minus softmax's change."""
    e = exact_pair(case)
    slope = abs(e.b) * norm([dot(list(column), e.h) for column in zip(*e.A, strict=True)])
    constant = slope**2 * logistic_curvature() if gradient else slope / 4
    left = exact_change(case) if gradient else exact_loss_change(case, False)
    return arb(arb(rational(share)) * constant * norm(subtract(e.x, e.y)) - left)


def worst_case_ball(
    case: EntryPair, gradient: bool = False, share: float = 1.0, linear: bool = False
) -> arb:
    """The same with the largest constant over data of these norms."""
    e = exact_pair(case)
    size = abs(e.b) * e.norm_A * norm(e.h)
    constant = size**2 * logistic_curvature() if gradient else size / 4
    left = exact_change(case) if gradient else exact_loss_change(case, linear)
    return arb(arb(rational(share)) * constant * norm(subtract(e.x, e.y)) - left)


def worst_case(case: EntryPair, gradient: bool, share: float, linear: bool = False) -> Slack:
    """The worst-case comparison in floats."""
    left, error = change(case) if gradient else loss_change(case, linear)
    constant = reach(case) ** 2 * LOGISTIC_CURVATURE if gradient else reach(case) / 4
    right = share * constant * distance(case)
    return Slack.at_most(left, right, error + 1e-12 * right)


def gradient_ball(case: EntryPair, share: float = 1.0) -> arb:
    """The worst-case comparison of gradients."""
    return worst_case_ball(case, True, share)


def pull_and_width(e: ExactPair) -> tuple[fmpq, fmpq]:
    """||A^T h||^2 and the square of the largest distance of two rows of A."""
    pulled = [dot(list(column), e.h) for column in zip(*e.A, strict=True)]
    return dot(pulled, pulled), max(dot(d, d) for a in e.A for d in (subtract(a, c) for c in e.A))


def wide_enough(case: EntryPair) -> bool:
    """||A^T h|| >= (max h - min h) diam(A)/4, squared, in rationals."""
    e = exact_pair(case)
    pull, width = pull_and_width(e)
    return bool(16 * pull >= (max(e.h) - min(e.h)) ** 2 * width)


def same_data_gradient_ball(case: EntryPair, share: float = 1.0) -> arb:
    """The comparison of gradients on the same data."""
    return same_data_ball(case, True, share)


def half_ball(case: EntryPair, share: float = 0.5, linear: bool = False) -> arb:
    """The worst-case comparison at half the constant."""
    return worst_case_ball(case, False, share, linear)


def bent(b: float) -> EntryPair:
    """Two tokens and the head (1, -1), where softmax's gradient bends most for small labels."""
    x = 0.634765625
    return EntryPair(
        np.array([[1.0], [-1.0]]),
        np.array([x - 1 / 512]),
        np.array([x + 1 / 512]),
        np.array([1.0, -1.0]),
        b,
    )


def reaches(case: EntryPair, size: fmpq) -> bool:
    """|b| ||h|| >= size, in rationals."""
    e = exact_pair(case)
    return bool(e.b * e.b * dot(e.h, e.h) >= size * size)


def far_from_zero(case: EntryPair) -> bool:
    """b^2 ||h||^2 >= 8/9, in rationals."""
    e = exact_pair(case)
    return bool(9 * e.b * e.b * dot(e.h, e.h) >= 8)
