"""Differentiable guides of this source's claims, see `properties._support.torch_objectives`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from properties._support.torch_objectives import Tensor, elsewhere, norm, pull


def after_long_step(case: Any, towards: str = "optimal") -> Tensor:
    """How far descent is from selecting the optimal tokens after a first step of given length."""
    step = pull(case.data, case.start, case.loss)
    length = (case.length / norm(step, 2).clamp(min=1e-100))[:, None, None]
    first = SimpleNamespace(data=case.data, start=case.start + length * step, loss=case.loss)
    return elsewhere(first, towards=towards)
