"""Differentiable guides of this source's claims, see `properties.relaxed`."""

from __future__ import annotations

import math
from typing import Any

from attsvm.lipschitz import LOGISTIC_CURVATURE
from properties.relaxed import (
    Tensor,
    at_most,
    constraints,
    distance,
    loss_slope,
    margin,
    margins,
    norm,
    solution,
)

_GRID = 64
"""Points of the grid on which the constant of the gradient is maximised."""


def _attention(A: Tensor, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
    """softmax(A x) and the mean of h under it."""
    f = (A @ x[..., None])[..., 0].softmax(-1)
    return f, (f * h).sum(-1)


def _gradient(A: Tensor, x: Tensor, h: Tensor, b: Tensor, loss: str = "logistic") -> Tensor:
    """The gradient of g(b <softmax(A x), h>), or of another loss of the entry."""
    f, d = _attention(A, x, h)
    pulled = (A.mT @ (f * (h - d[..., None]))[..., None])[..., 0]
    slope = 2 * (d - b) if loss == "squared" else loss_slope(loss, b * d) * b
    return slope[..., None] * pulled


def gradient_formula(
    case: Any, inside: bool = True, outside: bool = True, sign: float = -1.0
) -> Tensor:
    """Lemma 3.11: the largest residual of the closed form."""
    f, d = _attention(case.A, case.x, case.h)
    slope = loss_slope("logistic", case.b * d if inside else d) * (case.b if outside else 1.0)
    pulled = (case.A.mT @ (f * (case.h + sign * d[..., None]))[..., None])[..., 0]
    residual = _gradient(case.A, case.x, case.h, case.b) - slope[..., None] * pulled
    return residual.abs().amax(-1)


def slope_change(pair: Any, constant: float = 1.0) -> Tensor:
    """Lemma 3.12: |g'(x) - g'(y)| over constant |x - y|."""
    left = (loss_slope("logistic", pair.x) - loss_slope("logistic", pair.y)).abs()
    return at_most(left, constant * (pair.x - pair.y).abs())


def sharp_slope_change(pair: Any, share: float = 1.0) -> Tensor:
    """The same with a share of the best constant."""
    return slope_change(pair, share * LOGISTIC_CURVATURE)


def _change(case: Any, loss: str = "logistic") -> Tensor:
    change = _gradient(case.A, case.x, case.h, case.b, loss)
    change = change - _gradient(case.A, case.y, case.h, case.b, loss)
    unit = change.detach().abs().amax(-1).clamp(min=1.0)  # squares of large changes overflow
    return unit * norm(change / unit[..., None])


def _spectral(A: Tensor) -> Tensor:
    import torch

    values: Tensor = torch.linalg.svdvals(A)[..., 0]
    return values


def _published(n: int, R: Tensor, left: Tensor, right: Tensor, power: int, share: float) -> Tensor:
    log = math.log(3.0) + 3 * math.log(n) + 7 * R.log() + 13 * R**2
    return at_most(left * (-power * log).exp() / share, right)


def published_change(case: Any, power: int = 1, share: float = 1.0) -> Tensor:
    """Lemma 3.13 as printed: both sides divided by the constant."""
    right = norm(case.pair.x - case.pair.y)
    n = case.pair.h.shape[-1]
    return _published(n, case.R, _change(case.pair), right, power, share)


def _constant(oscillation: Tensor) -> Tensor:
    """K(D) of lemma 3.13, on a grid of a and a finer one about its best, c the best for each."""
    D = oscillation[..., None]

    def heights(a: Tensor) -> Tensor:
        p = (1 - a * a) / 4
        c = D * p / (a + (a * a + 3 * (D * p) ** 2).sqrt())
        return D * p * (1 - c * c) * (a + D * p * c) / 2

    grid = (0.0 * D + 1.0 / _GRID).expand(*D.shape[:-1], _GRID - 1).cumsum(-1).detach()
    best = grid.gather(-1, heights(grid).detach().argmax(-1, keepdim=True))
    return heights(best + (2 * grid - 1) / _GRID).amax(-1)


def _oscillation(h: Tensor) -> Tensor:
    return h.amax(-1) - h.amin(-1)


def sharp_change(case: Any, share: float = 1.0, square: int = 2) -> Tensor:
    """Lemma 3.13 with the best constant, up to the grid's coarseness."""
    right = share * _constant(case.b.abs() * _oscillation(case.h)) * _spectral(case.A) ** square
    return at_most(_change(case), right * norm(case.x - case.y))


def _spread(A: Tensor) -> Tensor:
    return norm(A[:, :, None] - A[:, None]).flatten(1).amax(-1) / math.sqrt(2.0)


def spread_change(case: Any, share: float = 1.0, square: int = 2) -> Tensor:
    """The same with max ||A_j - A_k|| / sqrt 2 in place of ||A||."""
    right = share * _constant(case.b.abs() * _oscillation(case.h)) * _spread(case.A) ** square
    return at_most(_change(case), right * norm(case.x - case.y))


def _level_constant(D: Tensor) -> Tensor:
    """D/(3 sqrt 3), or (D/4 + 1/D)^2/2 beyond D = 2 sqrt 3."""
    large = D**2 > 12.0
    safe = D.where(large, 1.0 + 0.0 * D)
    return ((safe / 4 + 1 / safe) ** 2 / 2).where(large, D / (3 * math.sqrt(3.0)))


def log_loss_change(
    case: Any, share: float = 1.0, square: int = 2, straight: bool = False
) -> Tensor:
    """Lemma 3.13 for the log-loss with the best constant."""
    D = case.b.abs() * _oscillation(case.h)
    constant = D / (3 * math.sqrt(3.0)) if straight else _level_constant(D)
    right = share * constant * _spectral(case.A) ** square
    return at_most(_change(case, "log-loss"), right * norm(case.x - case.y))


def squared_change(case: Any, share: float = 1.0, square: int = 2, centred: bool = False) -> Tensor:
    """Lemma 3.13 for the squared loss with the best constant, its maximiser by bisection."""
    width = _oscillation(case.h)
    reach = (case.h - case.b[..., None]).abs().amax(-1)
    middle = 0.0 * reach if centred else reach - width / 2
    low, high = 0.0 * width.detach(), 0.0 * width.detach() + 1 / math.sqrt(3.0)
    for _ in range(50):
        a = (low + high) / 2
        rising = middle.detach() * (1 - 3 * a * a) > width.detach() * a * (2 - 3 * a * a)
        low, high = a.where(rising, low), high.where(rising, a)
    height = width * (1 - a * a) * (middle * a + width * (1 - 3 * a * a) / 4)
    right = share * height * _spectral(case.A) ** square
    return at_most(_change(case, "squared"), right * norm(case.x - case.y))


def _curvature(case: Any) -> Tensor:
    """The operator norm of the Hessian of g(b <softmax(A x), h>)."""
    import torch

    f, d = _attention(case.A, case.x, case.h)
    u = case.b * d
    slope = loss_slope("logistic", u)
    c = f * (case.h - d[..., None])
    pull = (case.A.mT @ c[..., None])[..., 0]
    mean = (case.A.mT @ f[..., None])[..., 0]
    both = pull[..., None] * mean[..., None, :]
    third = case.A.mT @ (c[..., None] * case.A) - both - both.mT
    outer = pull[..., None] * pull[..., None, :]
    bend = -(u / 2).tanh() * slope * case.b**2
    H = bend[..., None, None] * outer + (slope * case.b)[..., None, None] * third
    values: Tensor = torch.linalg.eigvalsh(H)
    return values.abs().amax(-1)


def sharp_curvature(case: Any, share: float = 1.0, square: int = 2) -> Tensor:
    """Lemma 3.13 with the best constant, for the Hessian."""
    right = share * _constant(case.b.abs() * _oscillation(case.h)) * _spectral(case.A) ** square
    return at_most(_curvature(case), right)


def between(case: Any, weight: float = 0.5, lesser: bool = False) -> Tensor:
    """Definition 3.8, convex: minus what the margins and the square of a mean have to spare."""
    A, counted = constraints(case.data)
    U, V = case.points[:, 0], case.points[:, 1]
    point = weight * U + (1 - weight) * V
    squares = [norm(matrix, 2) ** 2 for matrix in (U, V)]
    mean = weight * squares[0] + (1 - weight) * squares[1]
    short = (squares[0].minimum(squares[1]) if lesser else mean) - norm(point, 2) ** 2
    return -(margins(A, counted, point).amin(-1) - 1).minimum(short)


def unit_margin(data: Any, by_sum: bool = False, least: float = 0.0) -> Tensor:
    """Definition 3.8, existence: minus the largest least margin of unit matrices."""
    A, counted = constraints(data)
    if by_sum:
        lowest = margin(A, counted, (A * counted[..., None]).sum(1))
        return least - lowest.where(counted.any(-1), 1.0 + 0.0 * lowest)
    return least - distance(A, counted)


def classified(case: Any, share: float = 1.0) -> Tensor:
    """Definition 3.8, amended: ||X^mm||^2 p^2 over (share ||u|| ||v||)^2."""
    A, counted = constraints(case.data)
    outer = case.data.v[..., None] * case.u[:, None, :]
    p = margin(A, counted, outer).clamp(min=0.0)
    right = share * norm(case.u) * norm(case.data.v)
    return at_most((p / distance(A, counted).clamp(min=1e-100)) ** 2, right**2)


def nearer(case: Any, factor: float = 1.0, squared: bool = True) -> Tensor:
    """Definition 3.8, sharp-1: factor ||V - X^mm||^2 over ||V||^2 - ||X^mm||^2."""
    X = solution(*constraints(case.data))
    V = case.points.flatten(1)
    power = 2 if squared else 1
    return at_most(factor * norm(V - X) ** power, norm(V) ** power - norm(X) ** power)


def hull_point(case: Any, factor: float = 1.0) -> Tensor:
    """Definition 3.8, sharp-2: 1 over the square of ||sum_j s_j A_j|| ||X^mm|| / factor."""
    A, counted = constraints(case.data)
    s = case.shares.flatten(1) * counted
    total = s.sum(-1)
    size = norm((s[..., None] * A).sum(1)) / total.abs().clamp(min=1e-100)
    right = size / factor / distance(A, counted).clamp(min=1e-100)
    return at_most(0.0 * right + 1.0, right**2)


def _soft(A: Tensor, counted: Tensor, V: Tensor, C: Tensor) -> Tensor:
    """||V|| + C sum of slacks."""
    hinges = (1 - margins(A, counted, V)).clamp(min=0.0)
    return norm(V.flatten(1)) + C * hinges.sum(-1)


def above_zero(case: Any, growth: float = 1.0, pull: float = 1.0) -> Tensor:
    """Definition 4.1: (growth - pull C ||S||) ||V|| over f_C(V) - f_C(0)."""
    A, counted = constraints(case.data)
    summed = norm((A * counted[..., None]).sum(1))
    left = (growth - pull * case.C * summed) * norm(case.move, 2)
    return at_most(left, _soft(A, counted, case.move, case.C) - case.C * counted.sum(-1))


def above_zero_strictly(case: Any, growth: float = 0.0, pull: float = 0.0) -> Tensor:
    """The same for any other matrix than 0."""
    return above_zero(case, growth, pull)


def against_hard(case: Any, C: float = 10.0) -> Tensor:
    """Definition 4.1, C = 10: f_C(X^mm) over f_C(V)."""
    A, counted = constraints(case.data)
    X, price = solution(A, counted), 0.0 * case.C + C
    V = case.move.flatten(1) + (X if case.keep else 0.0)
    return at_most(_soft(A, counted, X, price), _soft(A, counted, V, price))
