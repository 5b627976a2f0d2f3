"""Screening on a GPU: as `screen`, in batches five hundred times as large, as tensors of torch.

A batch is filled from some thousand instances of the processor and lives on the card from then on:
it is fitted to the hypotheses, evaluated, ranked and moved there, in double precision. The closest
few of each generation are fetched for the judge, which decides from their exact values as always.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from attsvm._types import JsonObject
from attsvm.theory.arithmetic import Tensors
from attsvm.theory.declaration import batches
from attsvm.theory.declaration.variables import Fitted, Meeting, Raw
from attsvm.theory.search.landscape import torch_is_there
from attsvm.theory.search.screen import (
    GENERATIONS,
    SINGLE,
    WHOLE,
    evolve,
    length_of_each,
    relate_batch,
)

if TYPE_CHECKING:
    from attsvm.theory.declaration.claim import Claim
    from attsvm.theory.declaration.formula import Formula
    from attsvm.theory.search.scout import Scout

_BATCH, _NUMBERS = 2**21, 2**26
"""Instances in a batch at most, and numbers in it: what is computed on the way fills the card."""

_FILLED = 2**13
"""Instances that the processor fills for a shape."""

_KEPT = 2**12
"""How many of a batch, the closest, live on."""

_DRIVERS = ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd")
"""One of these is there where a GPU that torch can use may be: torch is dear to import."""


def gpu_is_there() -> bool:
    """Whether torch is installed and sees a GPU."""
    if not torch_is_there() or not any(Path(driver).exists() for driver in _DRIVERS):
        return False
    import torch

    return torch.cuda.device_count() > 0


def runs_there(claim: Claim) -> bool:
    """Whether instances are filled in batches, and are real numbers that no hypothesis moves."""
    formula = claim.formula
    if not (formula.batches and formula.continuous):
        return False
    return not any(isinstance(variable, Meeting) for variable in formula.variables.values())


def screen_on_gpu(
    scout: Scout, generator: np.random.Generator, device: str = "cuda", batch: int = _BATCH
) -> None:
    """Screen batches of shapes of all sizes until the budget is spent, or for some rounds."""
    formula, m = scout.tally.part.formula, Tensors(device)
    for _ in range(2 + scout.budget // 20):
        shape = length_of_each(formula, generator)
        filled = batches.filled(formula, generator, shape, _FILLED)
        relate_batch(formula, filled, generator)
        arrays = {n: v for n, v in filled.items() if isinstance(v, np.ndarray)}
        if not arrays:  # a sibling without variables of its own
            return
        numbers = sum(value.size for value in arrays.values()) // _FILLED
        moves = _Moves(formula, arrays, m, int(generator.integers(2**62)))
        size = 8 * max(min(batch, _NUMBERS // numbers) // 8, 1)
        try:
            raw = filled | moves.fresh(size)
            evolve(scout, formula, raw, shape, size, GENERATIONS, moves.closest, moves.renewed, m)
        except m.library.cuda.OutOfMemoryError:  # others may use the card, or a formula much memory
            m.library.cuda.empty_cache()
            batch = size // 4


class _Moves:
    """How batches of one shape are ranked and renewed on a device.

    Attributes:
        formula: the formula.
        pool: what the processor filled, (size, lanes) by name.
        torch, device: the library, and where tensors live.
        source: of all randomness there.
    """

    def __init__(self, formula: Formula, filled: Raw, m: Tensors, seed: int) -> None:
        self.formula, self.torch, self.device = formula, m.library, m.device
        self.shapes = {name: value.shape[:-1] for name, value in filled.items()}
        self.pool = {
            name: self._there(value.reshape(-1, value.shape[-1])) for name, value in filled.items()
        }
        self.source = self.torch.Generator(m.device).manual_seed(seed)
        self.single, self.whole = self._there(SINGLE), self._there(WHOLE)

    def _there(self, values: Any) -> Any:
        return self.torch.tensor(values, dtype=self.torch.float64, device=self.device)

    def _any(self, most: int, *shape: int) -> Any:
        """Integers from 0 to below `most`."""
        return self.torch.randint(most, shape, generator=self.source, device=self.device)

    def _moves(self, name: str) -> bool:
        variable = self.formula.variables[name]
        return not (isinstance(variable, Fitted) or variable.listed)

    def closest(self, height: Any) -> Any:
        """The lanes that live on, the closest first; none that meets no hypothesis."""
        top, lanes = height.topk(min(_KEPT, len(height) // 2))
        return lanes[top > -np.inf]

    def fresh(self, count: int) -> JsonObject:
        """New instances: those of the processor, moved in one entry of each variable or not."""
        lanes = self._any(_FILLED, count)
        new = {name: pool[:, lanes] for name, pool in self.pool.items()}
        for name, flat in new.items():
            if self._moves(name):
                self._move_one(flat)
        return self._shaped(new)

    def _shaped(self, flat: Raw) -> JsonObject:
        return {name: x.reshape(*self.shapes[name], -1) for name, x in flat.items()}

    def _move_one(self, flat: Any) -> None:
        """Move one entry of each lane (size, lanes), or none, by parts of the largest entry."""
        size, count = flat.shape
        step = flat.abs().amax(0)
        step = step.where(step > 0.0, 1.0 + 0.0 * step)
        step = step * self.single[self._any(len(self.single), count)]
        flat[self._any(size, count), self.torch.arange(count, device=self.device)] += step

    def renewed(self, raw: Raw, parents: Any) -> JsonObject:
        """The next batch: the parents, their children, and an eighth of new instances.

        Two eighths move by differences of others, three in one entry, one as a whole, one crosses
        with another, as in `screen`.
        """
        count = max(value.shape[-1] for value in raw.values() if hasattr(value, "shape"))
        eighth, first = count // 8, len(parents)
        family = parents[self._any(first, 3, count)]
        fresh = self.fresh(eighth)
        renewed = dict(raw)
        for name, pool in self.pool.items():
            flat = raw[name].reshape(len(pool), count)
            child = flat[:, family[0]]
            if self._moves(name):
                self._move(child, flat, family, eighth)
                child = child.where(child.isfinite(), flat[:, family[0]])
            else:
                other = pool[:, self._any(_FILLED, count)]
                child = other.where(self._any(5, count) == 0, child)
            child[:, -eighth:] = fresh[name].reshape(len(pool), eighth)
            child[:, :first] = flat[:, parents]
            renewed[name] = child.reshape(raw[name].shape)
        return renewed

    def _move(self, child: Any, flat: Any, family: Any, eighth: int) -> None:
        """Children of parents (size, lanes), in place."""
        apart = flat[:, family[1, : 2 * eighth]] - flat[:, family[2, : 2 * eighth]]
        child[:, : 2 * eighth] += apart * (self._any(4, 2 * eighth) + 1) / 4
        self._move_one(child[:, 2 * eighth : 5 * eighth])
        child[:, 5 * eighth : 6 * eighth] *= self.whole[self._any(len(self.whole), eighth)]
        crossed = slice(6 * eighth, 7 * eighth)
        taken = self._any(2, len(flat), eighth) == 0
        child[:, crossed] = flat[:, family[1, crossed]].where(taken, child[:, crossed])
