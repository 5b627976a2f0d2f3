"""One entry (<f, h> - b)^2 of the squared loss of section 1, and its linear twin, at two points.

L(x) = (<softmax(A x), h> - b)^2 and M(x) = (<A x, h> - b)^2. On ||A x|| <= R the constant of M is
at most 2 ||A^T h|| (R ||h|| + |b|), that of its gradient is 2 ||A^T h||^2; over A of given norm and
h of given length 2 ||A|| ||h|| (R ||h|| + |b|) and 2 ||A||^2 ||h||^2 are attained. On the whole
space the first is infinite where A^T h is not 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, fmpq

from attsvm.attention import softmax
from attsvm.exact import dot, norm, rational
from attsvm.exact import softmax as exact_softmax
from attsvm.exact.numbers import subtract
from attsvm.theory import Slack
from properties._support.torch_objectives import at_most
from properties._support.torch_objectives import norm as length
from properties.sim.basics import distance, softmax_rounding
from properties.sim.bounded import BoundedPair
from properties.sim.entries import EntryPair, ExactPair, exact_pair
from properties.sim.outer_losses import exact_outer_change, outer_change

__all__ = [
    "gradient_ball",
    "gradient_guide",
    "gradient_slack",
    "loss_ball",
    "loss_guide",
    "loss_slack",
    "short_label",
]

_EPS = float(np.finfo(float).eps)


def _sizes(case: EntryPair) -> tuple[float, float, float]:
    """The error of a softmax relative to its entries, the largest |h|, and |b| beside it."""
    head = float(np.abs(case.h).max())
    return softmax_rounding(case.A, case.x, case.y), head, head + abs(case.b)


def _loss_change(case: EntryPair, linear: bool) -> tuple[float, float]:
    """|L(x) - L(y)|, or |M(x) - M(y)|, with a bound on the rounding error."""
    relative, head, reach = _sizes(case)
    if linear:
        at_x, at_y = (float(case.h @ (case.A @ x)) for x in (case.x, case.y))
        size = max(float(np.abs(case.h) @ np.abs(case.A) @ np.abs(x)) for x in (case.x, case.y))
        head, reach = size, size + abs(case.b)
    else:
        at_x, at_y = (float(softmax(case.A @ x) @ case.h) for x in (case.x, case.y))
    moved = abs(at_x - at_y) * abs(at_x + at_y - 2.0 * case.b)
    return moved, 8.0 * (relative + 8.0 * _EPS) * head * reach + 1e-300


def _exact_loss_change(e: ExactPair, linear: bool) -> arb:
    """The change of the loss as a ball."""
    if not linear and (len(set(e.moved)) == 1 or len(set(e.h)) == 1):
        return arb(0)
    shares = [[dot(row, x) for row in e.A] for x in (e.x, e.y)]
    if not linear:
        shares = [exact_softmax(logits) for logits in shares]
    at_x, at_y = (arb(dot(share, e.h)) for share in shares)
    return arb(abs((at_x - at_y) * (at_x + at_y - 2 * e.b)))


def _slope(case: EntryPair, same: bool) -> tuple[float, float]:
    """||A^T h|| where `same`, else ||A|| ||h||, with a bound on its rounding error."""
    if not same:
        size = float(np.linalg.norm(case.A, 2) * np.linalg.norm(case.h))
        return size, 64.0 * _EPS * sum(case.A.shape) * size
    most = float(np.linalg.norm(np.abs(case.A).T @ np.abs(case.h)))
    return float(np.linalg.norm(case.A.T @ case.h)), 4.0 * _EPS * sum(case.A.shape) * most


def loss_slack(case: BoundedPair, share: float, linear: bool, same: bool = False) -> Slack:
    """A share of linear attention's constant against the change of the loss.

    The constant is that of the very A and h where `same`, else the largest of their norms.
    """
    pair = case.pair
    left, error = _loss_change(pair, linear)
    slope, off = _slope(pair, same)
    steepest = case.R * float(np.linalg.norm(pair.h)) + abs(pair.b)
    right, doubt = (2.0 * share * size * steepest * distance(pair) for size in (slope, off))
    return Slack.at_most(left, right, error + 1e-13 * abs(right) + abs(doubt))


def loss_ball(case: BoundedPair, share: float, linear: bool, same: bool = False) -> arb:
    """The same as a ball."""
    e = exact_pair(case.pair)
    head = norm(e.h)
    slope = _pulled(e) if same else e.norm_A * head
    constant = 2 * slope * (rational(case.R) * head + abs(e.b)) * rational(share)
    return arb(constant * norm(subtract(e.x, e.y)) - _exact_loss_change(e, linear))


def gradient_slack(case: EntryPair, share: float, same: bool = False) -> Slack:
    """A share of linear attention's constant against the change of the gradient."""
    left, error = outer_change(case, "squared")
    slope, off = _slope(case, same)
    right, doubt = (
        2.0 * share * square * distance(case)
        for square in (slope * slope, off * (2.0 * slope + off))
    )
    return Slack.at_most(left, right, error + 1e-13 * right + doubt + 1e-300)


def gradient_ball(case: EntryPair, share: float, same: bool = False) -> arb:
    """The same as a ball."""
    e = exact_pair(case)
    slope = _pulled(e) if same else e.norm_A * norm(e.h)
    right = arb(2 * slope * slope * rational(share)) * norm(subtract(e.x, e.y))
    return arb(right - exact_outer_change(case, "squared"))


def loss_guide(case: Any, share: float = 1.0, linear: bool = False, same: bool = False) -> Any:
    """The ratio that `loss_slack` forms, differentiable."""
    pair = case.pair
    logits = [(pair.A @ x[..., None])[..., 0] for x in (pair.x, pair.y)]
    at_x, at_y = (((s if linear else s.softmax(-1)) * pair.h).sum(-1) for s in logits)
    left = ((at_x - at_y) * (at_x + at_y - 2.0 * pair.b)).abs()
    head = length(pair.h)
    slope = _pull(pair) if same else _spectral(pair.A) * head
    right = 2.0 * share * slope * (case.R * head + pair.b.abs())
    return at_most(left, right * length(pair.x - pair.y))


def gradient_guide(case: Any, share: float = 1.0, same: bool = False) -> Any:
    """The ratio that `gradient_slack` forms, differentiable."""
    slopes = []
    for x in (case.x, case.y):
        f = (case.A @ x[..., None])[..., 0].softmax(-1)
        d = (f * case.h).sum(-1, keepdim=True)
        bend = (case.A.mT @ (f * (case.h - d))[..., None])[..., 0]
        slopes.append(2.0 * (d - case.b[..., None]) * bend)
    slope = _pull(case) if same else _spectral(case.A) * length(case.h)
    right = 2.0 * share * slope**2 * length(case.x - case.y)
    return at_most(length(slopes[0] - slopes[1]), right)


def _spectral(A: Any) -> Any:
    import torch

    # a climb may leave the finite numbers, and the decomposition raises there
    return torch.linalg.svdvals(A.nan_to_num(0.0, 0.0, 0.0))[..., 0]


def _pull(pair: Any) -> Any:
    return length((pair.A.mT @ pair.h[..., None])[..., 0])


def _pulled(e: ExactPair) -> arb:
    """||A^T h||."""
    return norm([dot(list(column), e.h) for column in zip(*e.A, strict=True)])


def short_label(case: EntryPair, largest: fmpq) -> bool:
    """|b| <= largest ||h||, in rationals."""
    e = exact_pair(case)
    return bool(e.b * e.b <= largest * largest * dot(e.h, e.h))
