"""Differentiable guides of this source's claims, see `properties._support.torch_objectives`."""

from __future__ import annotations

from typing import Any

from properties._support.torch_objectives import (
    Tensor,
    at_most,
    constraints,
    distance,
    margin,
    margins,
    norm,
    solution,
)


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
