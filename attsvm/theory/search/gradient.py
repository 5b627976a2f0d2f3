"""The gradient searcher: L-BFGS (scipy) on the conclusion in tensors (PyTorch).

It finds narrow curved valleys and small regions in many dimensions, if the conclusion has a
differentiable form. It starts from known instances. It proves nothing: the end points of its climbs
are examined like all other instances.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from attsvm._types import Array, Tensor
from attsvm.errors import ClaimError, present
from attsvm.theory.search.float_coordinates import Coordinates, coordinates

if TYPE_CHECKING:
    from attsvm.theory.run.tally import Tally
    from attsvm.theory.search.float_frame import Frame
    from attsvm.theory.search.scout import Scout

_WORST = 1e150
"""Cost assigned to points without a height (no unit)."""

_STEPS, _CLIMBS, _RUNS = 64, 8, 24
"""Maximum number of evaluations of a climb at cost 1, of climbs from one frame, and of frames per
turn."""

_LONG, _LONGER = 1 / 8, 16
"""Share of climbs that are longer, for narrow valleys, and the factor of their length. The first
turn has no longer climbs."""

_GRIDS = (52, 10, 4, 1)
"""Exponents k: the end of a climb is evaluated rounded to multiples of 2^-k."""

_FLAT = 2.0**-40
"""Height above which the cost is minus the logarithm of the height; below, it is a tangent line."""

_TANGENT = math.log(_FLAT) - 1.0
"""Value at height 0 of the tangent line of the logarithm at `_FLAT`."""

_BOX, _HALVINGS = 8.0, 6
"""Maximum distance of a climb in each coordinate, and number of bisections that locate the point at
which it leaves the hypotheses."""


def gradient(scout: Scout, generator: np.random.Generator) -> None:
    """Climb alternately in coordinates and in their logarithms, until the budget is spent.

    Gradients ignore hypotheses: a climb that leaves the admissible set is cut at its boundary.
    Climbs in logarithms start from points spread by factors, and reach entries of very different
    sizes.
    """
    steps = max(_STEPS // math.isqrt(scout.tally.claim.cost), 16)
    for land in coordinates(scout, _CLIMBS, _RUNS, generator):
        for k, start in enumerate(_ordered(land)):
            in_logarithms = k % 2 == 1
            if in_logarithms:
                spread = 2.0 ** generator.integers(-3, 3)
                start = start * np.exp(spread * generator.normal(size=len(start)))
            longer = _LONGER if generator.random() < _LONG and scout.wide else 1
            _climb(land, start, longer * steps, in_logarithms=in_logarithms)


def _climb(land: Coordinates, start: Array, steps: int, *, in_logarithms: bool) -> None:
    """Climb from a start and examine the end point; in logarithms signs and zeros are fixed."""
    from scipy.optimize import minimize

    def place(move: Array) -> Array:
        return start * np.exp(move) if in_logarithms else start + move

    def cost(move: Array) -> tuple[float, Array]:
        value, slope = _cost_and_slope(land, place(move))
        return value, slope * place(move) if in_logarithms else slope

    move = minimize(
        cost,
        np.zeros_like(start),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-_BOX, _BOX)] * len(start),
        options={"maxfun": steps},
    ).x
    inside, outside = 0.0, 1.0
    if land.admits(land.entries(place(move))):
        inside = 1.0
    for _ in range(_HALVINGS if inside < 1.0 else 0):
        share = (inside + outside) / 2
        if land.admits(land.entries(place(share * move))):
            inside = share
        else:
            outside = share
    for bits in _GRIDS:
        land.look(_rounded(land.entries(place(inside * move)), bits))


def _rounded(entries: Array, bits: int) -> Array:
    """Return entries rounded to multiples of 2^-bits."""
    with np.errstate(over="ignore"):
        return np.ldexp(np.round(np.ldexp(entries, bits)), -bits)


def _ordered(land: Coordinates) -> Array:
    """Return the starts with a finite conclusion in tensors, the closest first."""
    with np.errstate(all="ignore"), one_thread() as torch:
        rows = torch.tensor(land.entries(land.starts))
        values = heights(land.scout.tally, land.frame, rows).detach().double()
    if not values.isfinite().any():
        raise ClaimError(
            f"the conclusion of {land.scout.tally.claim.id} on tensors is NaN or infinite on every "
            "instance",
            value=str(values.tolist()[:4]),
            remedy="Return a number for instances that meet the hypotheses.",
        )
    result = values.numpy()
    order = np.argsort(-result, kind="stable")
    return np.asarray(land.starts[order[np.isfinite(result[order])]])


def _cost_and_slope(land: Coordinates, position: Array) -> tuple[float, Array]:
    """Return minus an increasing function of the height, and the gradient.

    A height that is no finite number costs `_WORST`, with gradient 0.
    """
    land.scout.ensure_time()
    with np.errstate(all="ignore"), one_thread() as torch:
        x = torch.tensor(land.entries(position)[None]).requires_grad_()
        value = heights(land.scout.tally, land.frame, x).sum()
        if not value.isfinite():
            return _WORST, np.zeros(len(position))
        # a ratio far below 1 is almost constant, its logarithm is not
        value = torch.where(value > _FLAT, value.clamp(min=_FLAT).log(), value / _FLAT + _TANGENT)
        slope = torch.zeros_like(x)
        if value.requires_grad:
            (result,) = torch.autograd.grad(value, x, allow_unused=True)
            slope = slope if result is None else result.nan_to_num(0.0, 0.0, 0.0)
    weights = slope[0].double().numpy() * land.size
    return -float(value.detach()), -np.bincount(land.coordinate, weights, len(position))


@contextlib.contextmanager
def one_thread() -> Iterator[ModuleType]:
    """Yield torch, limited to one thread and with gradients enabled; restore both on exit."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.enable_grad():
            yield torch
    finally:
        torch.set_num_threads(threads)


def heights(tally: Tally, frame: Frame, x: Tensor) -> Tensor:
    """Return how close each row comes to a violation, by the claim's formula in tensors."""
    relaxed = present(tally.claim.relaxed, "the claim's relaxed conclusion")
    return relaxed(frame.tensors(x), **tally.part.parameters)
