"""Differentiable guides of this source's claims, see `properties._support.torch_objectives`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from properties._support.torch_objectives import (
    Tensor,
    at_most,
    attended,
    constraints,
    distance,
    elsewhere,
    loss_slope,
    norm,
    pull,
    scores,
    solution,
)


def stationary(case: Any, of: str = "norm") -> Tensor:
    """No stationary points: minus the length of the gradient, or what a sibling says instead."""
    descent = pull(case.data, case.start, case.loss)
    if of == "against":
        return (descent.flatten(1) * solution(*constraints(case.data))).sum(-1)
    return norm(descent, 2) if of == "zero" else -norm(descent, 2)


def toward(case: Any, share: float = 1.0) -> Tensor:
    """How much of the gradient's length the bound by the SVM solution explains."""
    s, u = attended(case.data, case.start)
    A, counted = constraints(case.data)
    best = ~counted.reshape(s.shape)
    gamma = scores(case.data)
    of_best = (s * (gamma - u[..., None]) * best).sum(-1)
    bound = (-loss_slope(case.loss, u) * of_best).mean(-1) * distance(A, counted)
    return at_most(share * bound, norm(pull(case.data, case.start, case.loss), 2))


def after_long_step(case: Any, towards: str = "optimal") -> Tensor:
    """How far descent is from selecting the optimal tokens after a first step of given length."""
    step = pull(case.data, case.start, case.loss)
    length = (case.length / norm(step, 2).clamp(min=1e-100))[:, None, None]
    first = SimpleNamespace(data=case.data, start=case.start + length * step, loss=case.loss)
    return elsewhere(first, towards=towards)
