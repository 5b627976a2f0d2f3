"""Where a climb in many dimensions starts, and which floats of an instance may move, and how."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from attsvm._types import Array, Float, Int
from attsvm.theory.search.frame import Frame

_TRIAL = 2.0**-10
"""How far a field is moved, in units of its size, to see whether it may."""

_TRIALS = 2
"""How often, and on how many known instances."""

_SHARES = (1.0, 0.5, 0.125, 2.0**-6)
"""How far from a known instance another one is tried that is not admitted where it was made."""

ASKED = 48
"""How many instances of a batch are held against the hypotheses."""

Admits = Callable[[Array], bool]


@dataclass(frozen=True, slots=True)
class Starts:
    """Instances of one frame to start from, and how they may move.

    Attributes:
        rows: the instances, the known ones first.
        size: how large the field of an entry is, 1 where it is zero; 0 for what may not move.
        group: entries of one index move together; it is that of the first of them.
    """

    rows: Float[Array, "rows m"]
    size: Float[Array, "rows m"]
    group: Int[Array, "rows m"]


def starts(
    frame: Frame,
    known: Float[Array, "known m"],
    admits: Admits,
    count: int,
    generator: np.random.Generator,
) -> Starts | None:
    """The known instances, perturbed and rescaled ones, and fresh ones; None if nothing may move.

    The first `ASKED` are admissible: what is not is moved towards a known instance. Of more, which
    only batches have, the others lie close to those.

    A field (an array or a number) moves freely where a small move of it is admitted, else with its
    equal entries tied, such as equal scores, where that is, else not at all, such as labels. All
    ties are kept in every other row.

    Args:
        frame: the form of the instances.
        known: admissible instances, finite.
        admits: whether an instance is admissible.
        count: how many rows.
        generator: source of all randomness.
    """
    m = known.shape[1]
    loose = np.tile(np.arange(m), (len(known), 1))
    ties = np.array([_ties(frame, row) for row in known])
    tied, still = np.zeros(m, dtype=bool), np.zeros(m, dtype=bool)
    for part in frame.fields:
        if not _moves(frame, part, known, loose, admits, generator):
            tied[part] = True
            still[part] = not _moves(frame, part, known, ties, admits, generator)
    if still.all():
        return None
    which = np.arange(count) % len(known)
    every_other = (np.arange(count) // len(known) % 2 == 1)[:, None]
    group = np.where(tied | every_other, ties[which], loose[which])
    base = known[which]
    rows = np.where(still, base, _varied(frame, base, group, generator))
    rows[: len(known)] = known[:count]
    for k in range(len(known), min(count, ASKED)):
        rows[k] = _admitted(base[k], rows[k], admits)
    if count > ASKED:
        origin = np.arange(ASKED, count) % ASKED
        near, group[ASKED:] = rows[origin], group[origin]
        noise = np.take_along_axis(generator.normal(size=near.shape), group[ASKED:], axis=1)
        noise *= np.exp2(-generator.integers(3, 13, size=(len(near), 1)).astype(float))
        rows[ASKED:] = np.where(still, near, near + _sizes(frame, near) * noise)
    return Starts(rows, np.where(still, 0.0, _sizes(frame, rows)), group)


def _admitted(known: Array, row: Array, admits: Admits) -> Array:
    """The row, or the first on the way from there to the known one that is admitted."""
    for share in _SHARES:
        between: Array = known + share * (row - known)
        if admits(between):
            return between
    return known


def _varied(frame: Frame, base: Array, group: Array, generator: np.random.Generator) -> Array:
    """By row in turn: perturbed, rescaled field by field with other signs, fresh."""
    noise = np.take_along_axis(generator.normal(size=base.shape), group, axis=1)
    sizes = _sizes(frame, base)
    near = np.exp2(-generator.integers(1, 9, size=(len(base), 1)).astype(float))
    power = np.empty_like(base)
    for part in frame.fields:
        power[:, part] = np.exp2(generator.integers(-3, 4, size=(len(base), 1)).astype(float))
    kinds = [base + near * sizes * noise, base * power * np.sign(noise), sizes * power * noise]
    turn = (np.arange(len(base)) % 3)[:, None]
    varied: Array = np.choose(turn, kinds)
    return varied


def _sizes(frame: Frame, rows: Array) -> Array:
    """The largest entry of each entry's field in its row, 1 where all are zero."""
    sizes = np.empty_like(rows)
    for part in frame.fields:
        field = np.abs(rows[:, part]).max(axis=1, keepdims=True, initial=0.0)
        sizes[:, part] = np.where(field > 0, field, 1.0)
    return sizes


def _ties(frame: Frame, row: Array) -> Array:
    """For each entry the first of its field that is equal to it."""
    first = np.arange(len(row))
    for part in frame.fields:
        _, at, back = np.unique(row[part], return_index=True, return_inverse=True)
        first[part] = part.start + at[back.ravel()]
    return first


def _moves(
    frame: Frame,
    part: slice,
    known: Array,
    groups: Array,
    admits: Admits,
    generator: np.random.Generator,
) -> bool:
    """Whether a small move of the field alone is admitted somewhere."""
    sizes = _sizes(frame, known)
    for row, size, group in zip(known[:_TRIALS], sizes, groups, strict=False):
        for _ in range(_TRIALS):
            moved = row.copy()
            step = generator.normal(size=len(row))[group] * size
            moved[part] += np.round(step[part] * 64) / 64 * _TRIAL
            if admits(moved):
                return True
    return False
