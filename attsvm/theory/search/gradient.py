"""The gradient: many instances at once climb the conclusion of a claim on tensors, in torch.

The objective says where to look and decides nothing: what a climb arrives at is proposed like any
other instance, as it is and rounded. Gradients know no hypotheses, so a row that has left them
starts again, with shorter steps, from where it last met them.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from attsvm._types import Array
from attsvm.errors import ClaimError, present
from attsvm.theory.search.ascent import Adam, lbfgs
from attsvm.theory.search.frame import Frame, frame_key
from attsvm.theory.search.starts import Starts, starts

if TYPE_CHECKING:
    from attsvm.theory.run.tally import Tally
    from attsvm.theory.search.scout import Scout

_ROWS, _FEWEST_ROWS = 128, 32
"""Instances that climb side by side, for a claim of cost 1 and at any cost."""

_STEPS = 96
"""Steps of Adam for a claim of cost 1; their number falls with the root of the cost, so that a turn
takes not much longer than those of others: what it reaches is in the pool for the next one."""

_LENGTHS = (0.3, 0.1, 0.03, 0.01)
"""First steps in units of an entry's size, by row in turn; they shrink linearly to nothing."""

_CHECKS = 8
"""How often in that time rows are held against the hypotheses."""

_BEST, _FEWEST = 48, 8
"""How many rows each time, those of the largest objective, for a claim of cost 1 and at any."""

_NEWTON = 48
"""Quasi-Newton steps of the best rows, for a claim of cost 1, and likewise."""

_GRIDS = (10, 4, 1)
"""Proposals are also rounded to multiples of 2^-k."""

_CLIMBS = 6
"""Climbs of a turn at most; each may use a quarter of its budget."""


def torch_is_there() -> bool:
    """Whether torch is installed; does not import it."""
    return importlib.util.find_spec("torch") is not None


def gradient(scout: Scout, generator: np.random.Generator) -> None:
    """Climb from the known instances of one frame after the other, the closest ones first."""
    for documents in itertools.islice(itertools.cycle(alike(scout, generator)), _CLIMBS):
        frame = Frame.of(documents[0])
        last = scout.spent + max(scout.budget // 4, _FEWEST)
        for row in _climb(scout, frame, documents, generator):
            scout.look_at(frame.filled(row))
            for k in _GRIDS:
                scout.look_at(frame.filled(np.ldexp(np.round(np.ldexp(row, k)), -k)))
            if scout.spent >= last:
                break


def alike(scout: Scout, generator: np.random.Generator) -> list[list[Any]]:
    """The known instances frame by frame, that of the closest one first."""
    frames: dict[str, list[Any]] = {}
    known = [e for e in (*scout.pool.closest, *scout.pool.templates) if math.isfinite(e.height)]
    for elite in known:
        frames.setdefault(frame_key(elite.document), []).append(elite.document)
    first, others = list(frames.values())[:1], list(frames.values())[1:]
    return [*first, *(others[k] for k in generator.permutation(len(others)))]


def started(
    scout: Scout, frame: Frame, documents: list[Any], count: int, generator: np.random.Generator
) -> tuple[Callable[[Array], bool], Starts | None]:
    """Whether a row is an instance that meets the hypotheses, and rows to start from."""
    known = np.unique(np.array([frame.row(document) for document in documents]), axis=0)
    known = known[np.isfinite(known).all(axis=1)]

    def admits(row: Array) -> bool:
        """Counts as no look."""
        scout.ensure_time()
        case = scout.tally.made_up(frame.filled(row)) if np.isfinite(row).all() else None
        return case is not None and scout.tally.admits(case, scout.name, reshaped=False)

    return admits, starts(frame, known, admits, count, generator) if known.size else None


def _climb(
    scout: Scout, frame: Frame, documents: list[Any], generator: np.random.Generator
) -> list[Float[Array, " m"]]:
    """Where a climb from instances of a frame arrives, the largest objective first."""
    cost = scout.tally.claim.cost
    count = max(_ROWS // cost, _FEWEST_ROWS)
    admits, start = started(scout, frame, documents, count, generator)
    if start is None:
        return []
    with np.errstate(all="ignore"), one_thread() as torch:
        slope = _Objective.of(torch, scout.tally, frame, start, scout.ensure_time)
        slope.ensure_numbers()
        count, slower = max(_BEST // cost, _FEWEST), math.isqrt(cost)
        roamed = _roamed(slope, admits, count, _STEPS // slower)
        rows = _polished(*roamed, admits, _NEWTON // slower).numpy()
    rows = rows[np.isfinite(rows).all(axis=1)]
    return list(_distinct(rows, start.size.max(axis=0)))


@contextlib.contextmanager
def one_thread() -> Iterator[Any]:
    """The library, on one thread and with gradients, left as it was found."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.enable_grad():
            yield torch
    finally:
        torch.set_num_threads(threads)


@dataclass(frozen=True, slots=True)
class _Objective:
    """The height at positions u: instances base + u size, entries of a group tied."""

    torch: Any
    tally: Tally
    frame: Frame
    base: Any
    size: Any
    group: Any
    ensure_time: Callable[[], None]

    @classmethod
    def of(
        cls, torch: Any, tally: Tally, frame: Frame, start: Starts, ensure_time: Callable[[], None]
    ) -> _Objective:
        rows, size, group = (torch.tensor(a) for a in (start.rows, start.size, start.group))
        return cls(torch, tally, frame, rows, size, group, ensure_time)

    def at(self, u: Any) -> Any:
        """The floats of the instances."""
        return self.base + u * self.size

    def some(self, rows: Any) -> _Objective:
        """The objective of some rows alone."""
        return replace(self, base=self.base[rows], size=self.size[rows], group=self.group[rows])

    def __call__(self, u: Any) -> tuple[Any, Any]:
        """Values, minus infinity where they are no numbers, and gradients, 0 there."""
        self.ensure_time()
        x = self.at(u).requires_grad_()
        values = self._values(x)
        slope = None
        if values.requires_grad:
            (slope,) = self.torch.autograd.grad(values.sum(), x, allow_unused=True)
        slope = self.torch.zeros_like(x) if slope is None else slope.nan_to_num(0.0, 0.0, 0.0)
        values = values.detach().double()
        together = self.torch.zeros_like(x).scatter_add_(1, self.group, slope * self.size)
        lost = ~values.isfinite()
        slope = together.gather(1, self.group) * (self.size > 0) * ~lost[:, None]
        return values.masked_fill(lost, -self.torch.inf), slope

    def ensure_numbers(self) -> None:
        """Raise ClaimError where it is a number nowhere at the start."""
        values = self._values(self.base)
        if not values.isfinite().any():
            raise self._broken("is no number on any instance", values.tolist()[:4])

    def _values(self, x: Any) -> Any:
        return relaxed_heights(self.torch, self.tally, self.frame, x)

    def _broken(self, cause: str, value: object) -> ClaimError:
        return _broken(self.tally, cause, value)


def relaxed_heights(torch: Any, tally: Tally, frame: Frame, x: Any) -> Any:
    """How close each row comes to violation, by the claim's formula on tensors.

    Raises:
        ClaimError: it breaks, or gives no number a row.
    """
    relaxed = present(tally.claim.relaxed, "the claim's relaxed conclusion")
    try:
        values = relaxed(frame.tensors(x), **tally.part.parameters)
    except ClaimError:
        raise
    except Exception as problem:
        raise _broken(tally, "broke", f"{type(problem).__name__}: {problem}") from problem
    if not isinstance(values, torch.Tensor) or values.shape != x.shape[:1]:
        shape = getattr(values, "shape", type(values).__name__)
        raise _broken(tally, f"is not a tensor ({len(x)},)", shape)
    return values


def _broken(tally: Tally, cause: str, value: object) -> ClaimError:
    return ClaimError(
        f"the conclusion of {tally.claim.id} on tensors {cause}",
        value=str(value),
        remedy="Return a float tensor with one number for each instance.",
    )


def _roamed(
    objective: _Objective, admits: Callable[[Array], bool], count: int, steps: int
) -> tuple[_Objective, Any]:
    """The `count` best rows, where they were last seen to be admissible in Adam's steps."""
    torch = objective.torch
    u = torch.zeros_like(objective.base)
    adam = Adam(torch.tensor(_LENGTHS, dtype=u.dtype).repeat(len(u))[: len(u), None])
    kept, height = u, objective(u)[0]
    for step in range(steps + 1):
        values, slope = objective(u)
        if step % max(steps // _CHECKS, 1) == 0 and step > 0:
            good, bad = torch.zeros(len(u), dtype=torch.bool), values.isneginf()
            x = objective.at(u).numpy()
            for k in torch.argsort(values, descending=True, stable=True).tolist()[:count]:
                (good if admits(x[k]) else bad)[k] = True
            better = good & (values > height)
            kept, height = kept.where(~better[:, None], u), height.where(~better, values)
            u, slope = u.where(~bad[:, None], kept), slope * ~bad[:, None]
            adam.restart(bad, 1 / 4)
        u = u + adam.step(slope, 1 - step / steps)
    order = torch.argsort(height, descending=True, stable=True)[:count]
    return objective.some(order), kept[order]


def _polished(objective: _Objective, u: Any, admits: Callable[[Array], bool], steps: int) -> Any:
    """Rows after quasi-Newton steps, or on the way there where they would not be admissible."""
    end = lbfgs(objective, u, steps, min(_LENGTHS))
    rows = objective.at(end)
    for k in range(len(rows)):
        share = 1.0
        while share > 1 / 16 and not admits(rows[k].numpy()):
            share = share / 2 if share > 1 / 8 else 0.0
            rows[k] = objective.at(u.lerp(end, share))[k]
    values, _ = objective((rows - objective.base) / objective.size.where(objective.size > 0, 1.0))
    return rows[objective.torch.argsort(values, descending=True, stable=True)]


def _distinct(rows: Array, size: Array) -> Iterator[Array]:
    """The rows but for those that are much like an earlier one."""
    seen = set()
    for row in rows:
        likeness = np.round(row / np.where(size > 0, size, 1.0), 3).tobytes()
        if likeness not in seen:
            seen.add(likeness)
            yield row
