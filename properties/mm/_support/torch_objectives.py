"""Differentiable guides of this source's claims, see `properties._support.torch_objectives`."""

from __future__ import annotations

from typing import Any

from properties._support.torch_objectives import Tensor, elsewhere


def parted(case: Any, other: str = "correlation", towards: str = "selected") -> Tensor:
    """How far two losses are from one direction: one of them selects the optimal tokens alone."""
    target = "optimal" if towards == "selected" else towards
    ways = [elsewhere(case, loss, target) for loss in (case.loss, other)]
    both = ways[0].minimum(ways[1]).clamp(min=0.0)
    return ways[0].maximum(ways[1]) - (both if towards == "selected" else 0.0)
