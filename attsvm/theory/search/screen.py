"""Screening: batches of many instances in floats, of which the closest few go to the judge.

Each round fills a batch of one shape, keeps the closest instances and moves them: by differences of
others (differential evolution), by powers of two in single entries, by ties and signs. Floats
propose; what they rank first is judged from its exact values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from attsvm._types import Array
from attsvm.theory.declaration.variables import Fitted, Integer

if TYPE_CHECKING:
    from attsvm.theory.declaration.formula import Formula
    from attsvm.theory.search.scout import Scout

_BATCH = 1024
"""Instances that are screened at once."""

_KEPT = 96
"""How many of them, the closest, live on."""

_GENERATIONS = 20
"""How often a batch is renewed from its closest instances."""

_JUDGED = 2
"""How many of each generation go to the judge at most."""

_PROMISING = 1.0 - 1e-9
"""Heights from here on may be violations that rounding hides."""


def screen(scout: Scout, generator: np.random.Generator) -> None:
    """Screen batches of shapes of all sizes until the budget is spent, or for some rounds."""
    formula = scout.tally.part.formula
    for _ in range(2 + scout.budget // 10):
        shape = {name: _length(formula.variables[name], generator) for name in formula.axes}
        _evolve(scout, formula, shape, generator)


def _length(variable: Any, generator: np.random.Generator) -> int:
    """A length of an axis, the shorter ones more often."""
    two = generator.integers(variable.low, variable.high + 1, size=2)
    return int(two.min()) if generator.random() < 0.5 else int(two[0])


def _evolve(
    scout: Scout, formula: Formula, shape: dict[str, int], generator: np.random.Generator
) -> None:
    parameters = scout.tally.part.parameters
    raw = formula.filled(generator, shape, _BATCH)
    best = -np.inf
    for _ in range(_GENERATIONS):
        scout.ensure_time()
        fitted = formula.fit(raw, shape)
        height = formula.screened(fitted, shape, _BATCH, parameters)
        scout.tally.seen.screened += _BATCH
        order = np.argsort(-height, kind="stable")[:_KEPT]
        for lane in order[:_JUDGED]:
            new = height[lane] > best or height[lane] >= _PROMISING
            if np.isfinite(height[lane]) and new and _usable(fitted, lane):
                scout.look(formula.instance_at(fitted, int(lane)))
        if not height[order[0]] > -np.inf:
            return
        best = max(best, float(height[order[0]]))
        raw = _renewed(formula, raw, order[height[order] > -np.inf], shape, generator)


def _usable(raw: dict[str, Any], lane: int) -> bool:
    return all(
        np.isfinite(value[..., lane]).all()
        for value in raw.values()
        if isinstance(value, np.ndarray)
    )


def _renewed(
    formula: Formula,
    raw: dict[str, Any],
    parents: Array,
    shape: dict[str, int],
    generator: np.random.Generator,
) -> dict[str, Any]:
    """The next batch: the parents, their children, and an eighth of new instances."""
    fresh = formula.filled(generator, shape, _BATCH)
    first, second, third = (parents[generator.integers(0, len(parents), _BATCH)] for _ in range(3))
    first[: len(parents)] = parents
    way = generator.integers(0, 8, size=_BATCH)
    renewed: dict[str, Any] = {}
    for name, value in raw.items():
        variable = formula.variables[name]
        if not isinstance(value, np.ndarray) or isinstance(variable, Integer):
            renewed[name] = value  # one for the whole batch
            continue
        parent = value[..., first]
        with np.errstate(all="ignore"):
            child = _children(parent, value[..., second], value[..., third], way, generator)
        child = np.where(way == 7, fresh[name], child)
        child = np.where(np.isfinite(child), child, parent)
        if isinstance(variable, Fitted) or variable.listed:
            child = np.where(generator.random(_BATCH) < 0.2, fresh[name], parent)
        child[..., : len(parents)] = parent[..., : len(parents)]
        renewed[name] = child
    return renewed


def _children(
    parent: Array, second: Array, third: Array, way: Array, generator: np.random.Generator
) -> Array:
    """Moves of each lane: 0-1 differences, 2-4 single entries, 5 the whole array, 6 crossing."""
    size = np.abs(parent).reshape(-1, parent.shape[-1]).max(axis=0)
    size = np.where(size > 0.0, size, 1.0)
    factor = generator.choice([0.25, 0.5, 0.75, 1.0], size=parent.shape[-1])
    moved = parent + factor * (second - third)
    chosen = generator.random(parent.shape) < 1.5 / max(parent[..., 0].size, 1)
    step = np.exp2(-generator.integers(0, 24, size=parent.shape[-1]).astype(float))
    sign = generator.choice([-1.0, 1.0], size=parent.shape)
    single = parent + chosen * sign * step * size
    scaled = parent * np.exp2(generator.integers(-3, 4, size=parent.shape[-1]).astype(float))
    flipped = np.where(generator.random(parent.shape[-1]) < 0.3, -parent, scaled)
    crossed = np.where(generator.random(parent.shape) < 0.5, parent, second)
    child = np.where(way <= 1, moved, np.where(way <= 4, single, parent))
    child = np.where(way == 5, flipped, child)
    return np.where(way == 6, crossed, child)
