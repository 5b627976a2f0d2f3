"""Heights over the floats of an instance that may move: what the optimisers from the shelf see.

An instance is a vector of coordinates in units of their size; entries that are tied, such as equal
scores, are one coordinate.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from attsvm._types import Array, Float, Int
from attsvm.errors import ClaimError, present
from attsvm.theory.declaration.judge import glance
from attsvm.theory.declaration.records import RecordFormula
from attsvm.theory.search.frame import Frame, frame_key
from attsvm.theory.search.starts import starts

if TYPE_CHECKING:
    from attsvm.theory.declaration.claim import Claim
    from attsvm.theory.run.tally import Tally
    from attsvm.theory.search.scout import Scout

WORST = 1e150
"""The largest cost, of what is no instance or of no known height; optimisers square costs."""

_BITS = (20, 6, 2, 0)
"""Bits after the point that coordinates are rounded to: violations often sit at coincidences."""

_FAR = 2.0**64
"""Known positions are not taken to be farther away than this."""

_LARGE, _USUAL = 16, 4
"""Exponents of two: a number is far from usual size if its exponent exceeds the first in size; a
search at usual size starts with exponents up to the second in size."""

_CHEAP = 8
"""Where the conclusion has no form for batches, records are evaluated one by one in floats for
claims of this cost at most."""


@dataclass(frozen=True, slots=True)
class Landscape:
    """The instances that a vector stands for, and their cost: minus the height.

    Attributes:
        scout: looks at them.
        frame: their form.
        base: the entries of a known instance.
        size: the unit of each entry, 0 for what does not move.
        coordinate: the coordinate of each entry; tied entries share one.
        bits: how far coordinates are rounded.
        known: coordinates of that instance, of other known ones and of variations of them.
        bounded: whether what lies beyond two to the power of `_LARGE` costs more, the more so the
            farther it lies.
    """

    scout: Scout
    frame: Frame
    base: Float[Array, " m"]
    size: Float[Array, " m"]
    coordinate: Int[Array, " m"]
    bits: int
    known: Float[Array, "rows k"]
    bounded: bool = False

    def entries(self, positions: Float[Array, "*rows k"]) -> Float[Array, "*rows m"]:
        """The entries of the instances at positions that are not rounded."""
        with np.errstate(all="ignore"):
            moved = self.size * positions[..., self.coordinate]
        return np.where(self.size > 0, moved, self.base)

    def rounded(self, positions: Float[Array, "*rows k"]) -> Float[Array, "*rows m"]:
        """The entries of the instances at rounded positions."""
        return self.entries(np.ldexp(np.round(np.ldexp(positions, self.bits)), -self.bits))

    def look(self, entries: Float[Array, " m"]) -> float:
        """The cost of an instance; refutations and the end of the turn pass as exceptions."""
        if not np.isfinite(entries).all():
            return WORST
        height = self.scout.look_at(self.frame.filled(entries))
        return WORST if height is None or not height > -WORST else -height

    def cost(self, position: Float[Array, " k"]) -> float:
        """Return the cost at a rounded position."""
        entries = self.rounded(position)
        cost, largest = self.look(entries), float(np.abs(entries).max(initial=1.0))
        beyond = math.log2(largest) - _LARGE if self.bounded and largest < math.inf else 0.0
        return cost + max(beyond, 0.0)

    def heights(self, entries: Float[Array, "rows m"]) -> Float[Array, " rows"]:
        """Heights in floats, minus infinity where there is none; hypotheses are not decided."""
        height = _heights(self.scout, self.frame, entries)
        finite = np.isfinite(entries).all(axis=1) & ~np.isnan(height)
        self.scout.tally.seen.screened += int(finite.sum())
        return np.where(finite, height, -np.inf)

    def admits(self, entries: Float[Array, " m"], *, screened: bool = False) -> bool:
        """Whether an instance meets the hypotheses; counts as no look.

        One that was `screened` counts as such for what was varied.
        """
        case = _admitted(self.scout, self.frame, entries)
        if screened and case is not None:
            self.scout.tally.variety.see(case)
        return case is not None


def _admits(scout: Scout, frame: Frame, entries: Float[Array, " m"]) -> bool:
    return _admitted(scout, frame, entries) is not None


def _admitted(scout: Scout, frame: Frame, entries: Float[Array, " m"]) -> Any | None:
    """The instance with these floats if it meets the hypotheses."""
    scout.ensure_time()
    tally, case = scout.tally, None
    if np.isfinite(entries).all():
        (case,) = frame.records(tally.claim.instance_type, entries[None])
    case = None if case is None else tally.like_drawn(case)
    admitted = case is not None and tally.admits(case, scout.name, reshaped=False)
    return case if admitted else None


def landscapes(
    scout: Scout, count: int, runs: int, generator: np.random.Generator
) -> Iterator[Landscape]:
    """One frame of known instances after the other, that of the closest one first.

    Args:
        scout: what the searcher sees of the check.
        count: how many positions are known of each.
        runs: how many landscapes at most.
        generator: source of all randomness.
    """
    for run in range(runs):
        frames = _alike(scout, generator)
        documents = frames[run % len(frames)] if frames else []
        if not documents:
            return
        frame = Frame.of(documents[0])
        known = np.array([frame.row(document) for document in documents])
        known = known[np.isfinite(known).all(axis=1)]
        if not known.size:
            continue
        lap, tied = divmod(run // len(frames), 2)  # free numbers and tied ones, in turn
        lead = lap % len(known)
        row = lead + tied * len(known)
        admits = functools.partial(_admits, scout, frame)
        bounded = False
        if not scout.once and _far(known[lead]) and generator.random() < 0.5:
            near = [row for row in map(_at_usual_size, known) if admits(row)]
            bounded, known, lead = bool(near), np.array(near or known), 0 if near else lead
            row = lead + tied * len(known)
        with np.errstate(over="ignore"):
            start = starts(frame, known, admits, max(count, row + 1), generator)
        if start is None:
            continue
        group, moves = start.group[row], start.size[lead] > 0
        leaders, coordinate = np.unique(np.where(moves, group, -1), return_inverse=True)
        first = int(leaders[0] == -1)
        leaders, coordinate = leaders[first:], np.maximum(coordinate - first, 0)
        unit = np.exp2(np.floor(np.log2(np.where(moves, start.size[lead, group], 1.0))))
        with np.errstate(over="ignore"):
            positions = np.clip(start.rows[:, leaders] / unit[leaders], -_FAR, _FAR)
        positions[[0, lead]] = positions[[lead, 0]]
        yield Landscape(
            scout,
            frame,
            start.rows[lead],
            np.where(moves, unit, 0.0),
            coordinate,
            _BITS[run % len(_BITS)],
            positions,
            bounded,
        )


def _far(row: Array) -> bool:
    """Return whether a number of an instance is far from usual size; 0 is not."""
    powers = np.frexp(row)[1][row != 0.0]
    return bool((np.abs(powers) > _LARGE).any())


def _at_usual_size(row: Array) -> Array:
    """Return an instance with the same digits at usual size.

    If both sides of a claim scale alike, guided searchers run off to where their ratio tends to 1.
    """
    digits, power = np.frexp(row)
    return np.asarray(np.ldexp(digits, np.clip(power, -_USUAL, _USUAL)))


def _alike(scout: Scout, generator: np.random.Generator) -> list[list[Any]]:
    """The known instances frame by frame, that of the closest one first."""
    frames: dict[str, list[Any]] = {}
    for elite in scout.pool.elites():
        if math.isfinite(elite.height):
            frames.setdefault(frame_key(elite.document), []).append(elite.document)
    first, others = list(frames.values())[:1], list(frames.values())[1:]
    return [*first, *(others[k] for k in generator.permutation(len(others)))]


def screens(claim: Claim) -> bool:
    """Whether batches of records of the claim are screened."""
    if claim.formula.batches:
        return False
    return claim.relaxed is not None or claim.cost <= _CHEAP or many(claim) is not None


def many(claim: Claim) -> Any:
    """The form of the conclusion for lists of records, if it has one."""
    return getattr(claim.formula.measured, "many", None)


def _heights(scout: Scout, frame: Frame, rows: Array) -> Array:
    """How close each row comes to violation; NaN where that cannot be evaluated."""
    tally = scout.tally
    if tally.claim.relaxed is not None:
        with np.errstate(all="ignore"), one_thread() as torch, torch.no_grad():
            x = torch.tensor(np.ascontiguousarray(rows))
            return np.asarray(
                relaxed_heights(torch, tally, frame, x, touching=True).double().numpy()
            )
    height = np.full(len(rows), np.nan)
    formula, parameters = tally.part.formula, tally.part.parameters
    made = enumerate(frame.records(tally.claim.instance_type, rows))
    with np.errstate(all="ignore"):
        if together := many(tally.claim):
            cases = {k: case for k, case in made if case is not None}
            given = {**formula.constants, **parameters}
            height[list(cases)] = together(list(cases.values()), **given)
            return height
        for k, case in made:
            scout.ensure_time()
            if case is not None:
                with contextlib.suppress(Exception):  # it may not meet the hypotheses
                    height[k] = glance(formula, parameters, case)
    return height


def torch_is_there() -> bool:
    """Whether torch is installed; does not import it."""
    return importlib.util.find_spec("torch") is not None


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


def relaxed_heights(
    torch: Any, tally: Tally, frame: Frame, x: Any, *, touching: bool = False
) -> Any:
    """Return how close each row comes to violation, by the claim's formula on tensors.

    If `touching`, equal sides of a strict comparison may have the height `TOUCHED`.

    Raises:
        ClaimError: it breaks, or gives no number a row.
    """
    relaxed = present(tally.claim.relaxed, "the claim's relaxed conclusion")
    formula, parameters = tally.part.formula, tally.part.parameters
    try:
        if touching and isinstance(formula, RecordFormula) and formula.measured is None:
            values = formula.climbed(frame.tensors(x), parameters, touching=True)
        else:
            values = relaxed(frame.tensors(x), **parameters)
    except ClaimError:
        raise
    except Exception as problem:
        raise broken(tally, "broke", f"{type(problem).__name__}: {problem}") from problem
    if not isinstance(values, torch.Tensor) or values.shape != x.shape[:1]:
        shape = getattr(values, "shape", type(values).__name__)
        raise broken(tally, f"is not a tensor ({len(x)},)", shape)
    return values


def broken(tally: Tally, cause: str, value: object) -> ClaimError:
    """That the conclusion on tensors is at fault."""
    return ClaimError(
        f"the conclusion of {tally.claim.id} on tensors {cause}",
        value=str(value),
        remedy="Return a float tensor with one number for each instance.",
    )
