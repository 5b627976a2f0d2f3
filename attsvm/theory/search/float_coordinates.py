"""Coordinates of an instance: its movable floats, in units of their size.

The entries of a variable move freely if small moves keep the instance admissible. Otherwise equal
entries, such as equal scores, share one coordinate if moving them together is admissible. Otherwise
the variable is fixed, such as labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from attsvm._types import Array, Case, Float, Int
from attsvm.theory.instance import codec
from attsvm.theory.run.examining import admits
from attsvm.theory.search.float_frame import Frame, frame_key

if TYPE_CHECKING:
    from attsvm.theory.search.scout import Scout

_TRIAL = 2.0**-10
"""Step by which a field is moved to test whether it may move, in units of its size."""

_TRIALS = 2
"""Number of moves by which a field of an instance is tested, and maximum number of instances."""

_SHARES = (1.0, 0.5, 0.125, 2.0**-6)
"""Shares of the distance from a known instance that are tried for a start that is not
admissible."""

_FAR = 2.0**64
"""Maximum size of a coordinate at the start."""

_LARGE, _USUAL = 16, 4
"""Exponents of two. The first is the size beyond which a number is far from usual. The second is
the maximum exponent at the start of a search at usual size."""

Admits = Callable[[Array], bool]


@dataclass(frozen=True, slots=True)
class Coordinates:
    """A map from coordinate vectors to instances.

    Attributes:
        scout: evaluates the instances.
        frame: their form.
        base: the entries of a known instance.
        size: the unit of each entry; 0 if the entry does not move.
        coordinate: the index of the coordinate of each entry.
        starts: coordinates of the known instance and of other admissible ones.
    """

    scout: Scout
    frame: Frame
    base: Float[Array, " m"]
    size: Float[Array, " m"]
    coordinate: Int[Array, " m"]
    starts: Float[Array, "rows k"]

    def entries(self, positions: Float[Array, "*rows k"]) -> Float[Array, "*rows m"]:
        """Return the entries of the instances at some positions."""
        with np.errstate(all="ignore"):
            moved = self.size * positions[..., self.coordinate]
        return np.where(self.size > 0, moved, self.base)

    def look(self, entries: Float[Array, " m"]) -> None:
        """Examine an instance; refutations and the end of the turn pass as exceptions."""
        case = self.frame.record(entries)
        if case is not None:
            self.scout.look_at(codec.encode(case))

    def admits(self, entries: Float[Array, " m"]) -> bool:
        """Return whether an instance meets the hypotheses."""
        return _admits(self.scout, self.frame, entries)


def coordinates(
    scout: Scout, count: int, runs: int, generator: np.random.Generator
) -> Iterator[Coordinates]:
    """Yield the coordinates of one frame of known instances after another.

    The frame of the closest instance comes first. Entries are free and tied alternately.

    Args:
        scout: the searcher's access to the check.
        count: number of starts for each frame.
        runs: maximum number of frames, including repeated ones.
        generator: source of all randomness.
    """
    for run in range(runs):
        frames = _frames(scout, generator)
        if not frames:
            return
        cases = frames[run % len(frames)]
        frame = Frame.of(cases[0])
        known = np.array([frame.row(case) for case in cases])
        known = known[np.isfinite(known).all(axis=1)]
        if not known.size:
            continue
        lap, tied = divmod(run // len(frames), 2)
        lead = lap % len(known)
        if _far(known[lead]) and generator.random() < 0.5:
            near = [row for row in map(_at_usual_size, known) if _admits(scout, frame, row)]
            known, lead = np.array(near or known), 0 if near else lead
        result = _coordinates(scout, frame, known, lead, bool(tied), count, generator)
        if result is not None:
            yield result


def _coordinates(
    scout: Scout,
    frame: Frame,
    known: Array,
    lead: int,
    tied: bool,
    count: int,
    generator: np.random.Generator,
) -> Coordinates | None:
    """Return the coordinates of the instance `lead`; None if none of its entries may move."""

    def admits(row: Array) -> bool:
        return _admits(scout, frame, row)

    row = lead + tied * len(known)
    with np.errstate(over="ignore"):
        result = starts(frame, known, admits, max(count, row + 1), generator)
    if result is None:
        return None
    group, moves = result.group[row], result.size[lead] > 0
    leaders, coordinate = np.unique(np.where(moves, group, -1), return_inverse=True)
    first = int(leaders[0] == -1)
    leaders, coordinate = leaders[first:], np.maximum(coordinate - first, 0)
    # units are powers of two: scaling by them rounds nothing, and dyadic entries stay short
    unit = np.exp2(np.floor(np.log2(np.where(moves, result.size[lead, group], 1.0))))
    with np.errstate(over="ignore"):
        positions = np.clip(result.rows[:, leaders] / unit[leaders], -_FAR, _FAR)
    positions[[0, lead]] = positions[[lead, 0]]
    size = np.where(moves, unit, 0.0)
    return Coordinates(scout, frame, result.rows[lead], size, coordinate, positions)


def _admits(scout: Scout, frame: Frame, entries: Float[Array, " m"]) -> bool:
    """Return whether the instance with these floats meets the hypotheses."""
    scout.ensure_time()
    tally = scout.tally
    case = frame.record(entries)
    case = None if case is None else tally.likeness.like_drawn(case)
    return case is not None and admits(tally, case, scout.name, reshaped=False)


def _far(row: Array) -> bool:
    """Return whether a number of an instance is far from usual size; 0 is not."""
    powers = np.frexp(row)[1][row != 0.0]
    return bool((np.abs(powers) > _LARGE).any())


def _at_usual_size(row: Array) -> Array:
    """Return an instance with the same digits, scaled to usual size.

    If both sides of a claim scale alike, guided searchers drift to extreme sizes, at which the
    ratio of the sides tends to 1.
    """
    digits, power = np.frexp(row)
    return np.asarray(np.ldexp(digits, np.clip(power, -_USUAL, _USUAL)))


def _frames(scout: Scout, generator: np.random.Generator) -> list[list[Case]]:
    """Return the known instances frame by frame, that of the closest instance first."""
    frames: dict[Hashable, list[Case]] = {}
    for elite in scout.pool.elites():
        if math.isfinite(elite.height):
            case = codec.decode(elite.document, scout.tally.claim.instance_type)
            frames.setdefault(frame_key(case), []).append(case)
    first, others = list(frames.values())[:1], list(frames.values())[1:]
    return [*first, *(others[k] for k in generator.permutation(len(others)))]


@dataclass(frozen=True, slots=True)
class Starts:
    """Starting instances of one frame, and how their entries may move.

    Attributes:
        rows: the instances, the known ones first.
        size: the size of the field of each entry; 1 if the field is zero, 0 if it may not move.
        group: for each entry, the first entry of the group that moves with it.
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
    """Return known, perturbed, rescaled and fresh instances; None if no entry may move.

    All returned instances are admissible: an inadmissible one is moved towards a known instance. In
    every other row all ties are kept.

    Args:
        frame: the form of the instances.
        known: admissible instances, finite.
        admits: tests whether an instance is admissible.
        count: number of rows.
        generator: source of all randomness.
    """
    m = known.shape[1]
    loose = np.tile(np.arange(m), (len(known), 1))
    ties = np.array([_ties(frame, row) for row in known])
    tied, still = np.zeros(m, dtype=bool), np.zeros(m, dtype=bool)
    for part in frame.fields.values():
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
    for k in range(len(known), count):
        rows[k] = _admitted(base[k], rows[k], admits)
    return Starts(rows, np.where(still, 0.0, _sizes(frame, rows)), group)


def _admitted(known: Array, row: Array, admits: Admits) -> Array:
    """Return the row, or the first admissible point on the way to the known one."""
    for share in _SHARES:
        between: Array = known + share * (row - known)
        if admits(between):
            return between
    return known


def _varied(frame: Frame, base: Array, group: Array, generator: np.random.Generator) -> Array:
    """Return rows that are in turn perturbed, rescaled by fields with other signs, and fresh."""
    noise = np.take_along_axis(generator.normal(size=base.shape), group, axis=1)
    sizes = _sizes(frame, base)
    near = np.exp2(-generator.integers(1, 9, size=(len(base), 1)).astype(float))
    power = np.empty_like(base)
    for part in frame.fields.values():
        power[:, part] = np.exp2(generator.integers(-3, 4, size=(len(base), 1)).astype(float))
    kinds = [base + near * sizes * noise, base * power * np.sign(noise), sizes * power * noise]
    turn = (np.arange(len(base)) % 3)[:, None]
    varied: Array = np.choose(turn, kinds)
    return varied


def _sizes(frame: Frame, rows: Array) -> Array:
    """Return for each entry the largest absolute value in its field and row; 1 for a zero field."""
    sizes = np.empty_like(rows)
    for part in frame.fields.values():
        field = np.abs(rows[:, part]).max(axis=1, keepdims=True, initial=0.0)
        sizes[:, part] = np.where(field > 0, field, 1.0)
    return sizes


def _ties(frame: Frame, row: Array) -> Array:
    """Return for each entry the index of the first equal entry in its field."""
    first = np.arange(len(row))
    for part in frame.fields.values():
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
    """Return whether a small move of one field keeps one of the first instances admissible."""
    sizes = _sizes(frame, known)
    for row, size, group in zip(known[:_TRIALS], sizes, groups, strict=False):
        for _ in range(_TRIALS):
            moved = row.copy()
            step = generator.normal(size=len(row))[group] * size
            moved[part] += np.round(step[part] * 64) / 64 * _TRIAL
            if admits(moved):
                return True
    return False
