"""Worsening: increase the violation of a counterexample step by step, each step confirmed."""

from __future__ import annotations

import functools
import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from attsvm._types import Json
from attsvm.theory.instance.document import (
    Path,
    finite_leaves,
    float_arrays,
    integer_leaves,
    replaced,
    value_at,
    written,
)
from attsvm.theory.run.examining import height as height_of
from attsvm.theory.run.examining import holds_in_floats
from attsvm.theory.search.shrink import Polished, changed, still_refuted

if TYPE_CHECKING:
    from attsvm.theory.run.confirm import Refuted
    from attsvm.theory.run.tally import Tally

_LARGEST, _COUNTED = 2.0**20, 2**12
"""Maximum absolute values of floats and of integers: some violations grow without bound. An integer
may be a number of steps, each of which takes time."""


def worsen(
    tally: Tally,
    worst: Refuted,
    budget: int,
    deadline: float | None = None,
    resume: tuple[int, int] = (0, 0),
) -> Polished:
    """Return a counterexample with its numbers moved and scaled so that its violation grows.

    Only confirmed steps are kept. Arguments are as for `shrink`, but `resume` has the number of
    earlier calls, so that other moves are tried.
    """
    tally.likeness.learn(worst)
    exactly = holds_in_floats(tally, worst)
    generator = np.random.default_rng([len(str(worst.instance)), resume[0]])
    height = _height(tally, worst.instance)
    stride = 0  # successes lengthen the steps, failures shorten them
    for spent in range(budget):
        late = deadline is not None and time.time() > deadline
        paths = finite_leaves(worst.instance)
        counts = integer_leaves(worst.instance)
        if late or not (paths or counts) or height is None:
            return Polished(worst, late, spent, (resume[0] + 1, 0))
        if generator.random() * (len(paths) + len(counts)) < len(counts):
            trial = _counted(worst.instance, counts, stride, generator)
        else:
            trial = _moved(worst.instance, paths, stride, generator)
        reached = None if trial == worst.instance else _height(tally, trial)
        stride = max(stride - 1, -30) if stride > -8 or generator.random() < 0.5 else 0
        if reached is None or not reached > height:
            continue
        again = still_refuted(tally, trial, worst.found_by, exactly=exactly)
        tally.latest = worst  # the result so far, if the claim raises
        if again is not None:
            worst, height, stride = again, reached, min(stride + 2, 3)
    return Polished(worst, False, budget, (resume[0] + 1, 0))


def _moved(document: Json, paths: list[Path], stride: int, generator: np.random.Generator) -> Json:
    """Return the document with one entry moved, or one array scaled."""
    arrays = float_arrays(document)
    scaled = [[p for p in paths if p[: len(path)] == path] for path, _ in arrays]
    if generator.random() < 0.2:
        choices = [paths, *(chosen for chosen in scaled if chosen)]
        chosen = choices[int(generator.integers(len(choices)))]
        factor = 2.0 ** float(generator.choice([-1, 1]))
        for path in chosen:
            value = value_at(document, path) * factor
            document = replaced(document, path, written(value)) if _fits(value) else document
        return document
    path = paths[int(generator.integers(len(paths)))]
    value = value_at(document, path)
    size = math.floor(math.log2(max(1.0, abs(value))))
    moved = value + float(generator.choice([-1.0, 1.0])) * 2.0 ** (size + stride)
    return replaced(document, path, written(moved)) if _fits(moved) else document


def _counted(
    document: Json, counts: list[Path], stride: int, generator: np.random.Generator
) -> Any:
    """Return the document with one integer moved by at least 1."""
    path = counts[int(generator.integers(len(counts)))]
    value = int(value_at(document, path))
    step = 2 ** max(math.floor(math.log2(max(1, abs(value)))) + stride, 0)
    moved = value + int(generator.choice([-1, 1])) * step
    return replaced(document, path, str(moved)) if abs(moved) <= _COUNTED else document


def _fits(value: float) -> bool:
    return abs(value) <= _LARGEST


def _height(tally: Tally, document: Json) -> float | None:
    return changed(tally, document, functools.partial(height_of, tally), "worsening")
