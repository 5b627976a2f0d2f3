"""Screening: batches of many instances in floats, of which the closest few go to the judge.

Each round fills a batch of one shape, keeps the closest instances and moves them: by differences of
others (differential evolution), by powers of two in single entries, by ties and signs. Floats
propose; what they rank first is judged from its exact values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from attsvm._types import Array, JsonObject
from attsvm.errors import ClaimError
from attsvm.theory.arithmetic import FLOATS
from attsvm.theory.arithmetic.heights import TOUCHED
from attsvm.theory.declaration import batches
from attsvm.theory.declaration.variables import Choice, Fitted, Integer, Known, Raw
from attsvm.theory.search.coincidences import coincide, named_constants
from attsvm.theory.search.operations import operations
from attsvm.theory.search.relations import Domain, relate
from attsvm.theory.search.suspects import PROMISING, Suspects, fetched

if TYPE_CHECKING:
    from attsvm.theory.declaration.formula import Formula
    from attsvm.theory.search.scout import Scout

BATCH = 4096
"""Instances that are screened at once."""

_WIDE, _LIGHT = 4, 2**10
"""Factor by which a scout that asks for it has larger batches, and the maximum number of operations
of numpy that an evaluation may take for that."""

_KEPT, _SHARE_KEPT = 256, 16
"""Number of rows, the closest ones, that the next generation starts from. In a larger batch it is
the size of the batch divided by the second number."""

GENERATIONS = 20
"""How often a batch is renewed from its closest instances."""

JUDGED = 2
"""How many of each generation go to the judge at most."""

_LOOKS = 5
"""Generations after which the closest go to the judge even if they do not seem to refute: where the
search stands, for others to start from. In a check one does, after the last generation."""

_UNIT = 6.0
"""Powers of two from 1 within which numbers are of usual size."""

_SOUGHT = 60
"""How often a batch of which no instance meets the hypotheses is renewed from those that come
nearest to that, once a turn."""

_ODD = 0x1E3779B97F4A7C15
"""A factor that spreads the bits of a number, modulo 2^64."""

_COINCIDENT, _BELIEVED = 6, 4
"""Number of batches of coincidences, each evaluated once, and maximum number of their rows that
the judge sees although bounds for rounding leave open whether they violate."""

_DOUBTED = 2
"""Maximum number of rows of all generations of a batch that the judge sees although bounds for
rounding leave open whether they violate."""


def screen(scout: Scout, generator: np.random.Generator) -> None:
    """Screen batches of shapes of all sizes until the budget is spent, or for some rounds."""
    formula = scout.tally.part.formula
    look_at_coincidences(scout, formula, generator.spawn(1)[0])
    wide = _WIDE if scout.wide and _is_light(scout, formula, generator.spawn(1)[0]) else 1
    for k in range(1 + scout.budget // (20 if wide == 1 else 40)):
        shape = length_of_each(formula, generator)
        raw = batches.filled(formula, generator, shape, wide * BATCH)
        near = k % 2 == 0 and not scout.once
        breed(scout, formula, raw, shape, generator, wide * BATCH, seek=k == 0, near=near)


def _is_light(scout: Scout, formula: Formula, generator: np.random.Generator) -> bool:
    """Return whether a formula takes few operations on the largest instances that are drawn."""
    shape = {name: formula.variables[name].drawn_to for name in formula.axes}  # type: ignore[attr-defined]
    few = batches.filled(formula, generator, shape, 8)
    if not any(isinstance(value, np.ndarray) for value in few.values()):
        return False
    return operations(scout, formula, few, shape, _LIGHT) <= _LIGHT


def look_at_coincidences(scout: Scout, formula: Formula, generator: np.random.Generator) -> None:
    """Evaluate batches of coincidences; the judge sees what floats suspect."""
    parameters, named = scout.tally.part.parameters, None
    suspects = Suspects(scout, formula, _BELIEVED)
    for _ in range(_COINCIDENT):
        shape = length_of_each(formula, generator)
        raw = batches.filled(formula, generator, shape, BATCH)
        raw = spread(formula, raw, shape, parameters, generator, BATCH)
        domains = _domains(formula, raw)
        if not domains:
            return
        if named is None:
            named = named_constants(formula, raw, shape, parameters)
        coincide({name: raw[name] for name in domains}, domains, named, generator)
        glimpse(suspects, raw, shape, BATCH)


def glimpse(suspects: Suspects, raw: Raw, shape: dict[str, int], batch: int) -> None:
    """Evaluate a batch once; the judge sees what floats suspect."""
    scout, formula = suspects.scout, suspects.formula
    scout.ensure_time()
    parameters = scout.tally.part.parameters
    fitted, height, suspect = batches.fit_seen(formula, raw, shape, batch, parameters)
    scout.tally.seen.screened += _new(fitted, 0, height=height)
    scout.tally.variety.see_batch({**shape, **fitted}, height > -np.inf)
    suspects.examine(fitted, shape, suspect, height)


def length_of_each(formula: Formula, generator: np.random.Generator) -> dict[str, int]:
    """A length of each axis."""
    return {name: _length(formula.variables[name], generator) for name in formula.axes}


def _length(variable: Any, generator: np.random.Generator) -> int:
    """A length of an axis, the shorter ones more often."""
    two = generator.integers(variable.low, variable.drawn_to + 1, size=2)
    return int(two.min()) if generator.random() < 0.5 else int(two[0])


def breed(
    scout: Scout,
    formula: Formula,
    raw: Raw,
    shape: dict[str, int],
    generator: np.random.Generator,
    batch: int = BATCH,
    generations: int = GENERATIONS,
    seek: bool = False,
    near: bool = False,
) -> None:
    """Evolve generations of a batch of a formula, moved to where it meets the hypotheses first.

    Args:
        scout: what the searcher sees of the check.
        formula: the formula of the part.
        raw: the batch, not yet fitted.
        shape: the length of each axis.
        generator: source of all randomness.
        batch: how many instances.
        generations: how many batches at most.
        seek: whether a batch of which no instance meets the hypotheses is moved until one does.
        near: whether instances with very large or small numbers are taken to be less close. If both
            sides scale alike, ratios often tend to 1 there, and a search would run off for ever.
    """
    parameters = scout.tally.part.parameters
    raw = spread(formula, raw, shape, parameters, generator, batch)
    relate_batch(formula, raw, generator)
    if not any(isinstance(value, np.ndarray) for value in raw.values()):  # all lanes are alike
        scout.tally.seen.screened += 1
        scout.look(batches.instance_at(formula, raw, 0))
        return
    raw = _sought(scout, formula, raw, shape, generator, batch) if seek else raw
    fresh = _fresh(formula, raw, generator, shape, batch)

    current = raw

    def renewed(raw: Raw, parents: Array) -> JsonObject:
        nonlocal current
        current = _renewed(formula, raw, parents, next(fresh), generator)
        return current

    def closest(height: Array) -> Array:
        return _closest(height - _excess(current) if near else height)

    evolve(scout, formula, raw, shape, batch, generations, closest, renewed)


def evolve(
    scout: Scout,
    formula: Formula,
    raw: Raw,
    shape: dict[str, int],
    batch: int,
    generations: int,
    closest: Callable[[Any], Any],
    renewed: Callable[[JsonObject, Any], JsonObject],
    m: Any = FLOATS,
) -> None:
    """Generations of a batch, of which the judge sees the closest few.

    Args:
        scout: what the searcher sees of the check.
        formula: the formula of the part.
        raw: the first batch, in numpy or as tensors.
        shape: the length of each axis.
        batch: how many instances.
        generations: how many batches at most.
        closest: from heights (batch,) the lanes that live on, the closest first.
        renewed: from a batch and those lanes the next batch, in which they come first.
        m: floats, or tensors.

    Raises:
        Stop: the turn is over, by a find, the budget or the time.
    """
    best, known, seen = -np.inf, 0, set[int]()
    suspects = Suspects(scout, formula, _DOUBTED)
    shown = 1 if scout.once else JUDGED
    for generation in range(1, generations + 1):
        scout.ensure_time()
        parameters = scout.tally.part.parameters
        fitted, height, suspect = batches.fit_seen(formula, raw, shape, batch, parameters, m)
        scout.tally.seen.screened += _new(fitted, known, m.library, height)
        scout.tally.variety.see_batch({**shape, **fitted}, height > -np.inf)
        suspect[:known] = False  # these were in the batch before
        seen |= suspects.examine(fitted, shape, suspect, height)
        order = closest(height)
        due = generation == generations or (generation % _LOOKS == 0 and not scout.once)
        first = fetched(fitted, order[:JUDGED])
        for k, found in enumerate(height[order[:JUDGED]].tolist()):
            new = (due and found > best and k < shown) or found >= PROMISING
            lane = int(order[k])
            if math.isfinite(found) and new and lane not in seen and _usable(first, k):
                seen.add(lane)
                scout.look(batches.instance_at(formula, first, k))
        if not len(order):
            return
        best = max(best, float(height[order[0]])) if due else best
        raw, known = renewed(raw, order), len(order)
        seen = {k for k, lane in enumerate(order.tolist()) if lane in seen}


def _new(raw: Known, known: int, library: Any = np, height: Array | None = None) -> int:
    """Return how many different instances a batch has besides its first few, which are known.

    Moves come back to the same instance if numbers are few. Instances of different heights are
    different; others are told apart by hashes of their numbers.
    """
    arrays, alone = [x for x in raw.values() if hasattr(x, "shape")], 0
    if library is np and height is not None:
        alike = _alike(height)
        first = int(np.searchsorted(alike, known))
        alone, known = len(height) - known - (len(alike) - first), first
        if not len(alike):
            return alone
        arrays = [x[..., alike] for x in arrays if x.shape[-1] == len(height)]
    hashed: Any = 0
    for value in arrays:
        bits = (value.reshape(-1, value.shape[-1]) + 0.0).view(library.int64) * _ODD
        for row in bits ^ (bits >> 32):
            hashed = (hashed + row) * _ODD
    return alone + _different(hashed) - _different(hashed[:known])


def _alike(height: Array) -> Array:
    """Return the lanes whose height another lane has as well, in ascending order."""
    order = np.argsort(height)
    ranked = height[order]
    same = np.concatenate([[False], ranked[1:] == ranked[:-1], [False]])
    return np.sort(order[same[1:] | same[:-1]])


def _different(numbers: Any) -> int:
    ordered = np.sort(numbers) if isinstance(numbers, np.ndarray) else numbers.sort().values
    return min(len(ordered), 1) + int((ordered[1:] != ordered[:-1]).sum())


def _sought(
    scout: Scout,
    formula: Formula,
    raw: Raw,
    shape: dict[str, int],
    generator: np.random.Generator,
    batch: int,
) -> JsonObject:
    """The batch, renewed until one of it meets the hypotheses; as it is where none comes to."""
    nearest, known, fresh = raw, 0, _fresh(formula, raw, generator, shape, batch)
    for _ in range(_SOUGHT):
        scout.ensure_time()
        missing = batches.missing(formula, batches.fit(formula, nearest, shape), shape, batch)
        if not missing.all():
            return nearest
        scout.tally.seen.screened += _new(nearest, known, height=missing)
        order = _closest(-missing)
        if not len(order):
            break
        nearest, known = _renewed(formula, nearest, order, next(fresh), generator), len(order)
    return raw


def spread(
    formula: Formula,
    raw: Raw,
    shape: dict[str, int],
    parameters: Mapping[str, object],
    generator: np.random.Generator,
    batch: int,
) -> JsonObject:
    """The batch with an integer of its own for each instance, where the formula takes that.

    One that counts with an integer, as in `range(k)`, has one for the whole batch: of a lane of
    integers that is a TypeError, to look one up a LookupError, to call a method of int an
    AttributeError, and mixing it with floats a ClaimError. Other errors are faults of the formula.
    """
    numbers = {
        name: variable.spread(generator, batch)
        for name, variable in formula.variables.items()
        if isinstance(variable, Integer) and name in raw
    }
    if not numbers:
        return raw
    return (
        {**raw, **numbers} if takes(formula, {**raw, **numbers}, shape, parameters, batch) else raw
    )


def takes(
    formula: Formula,
    raw: Raw,
    shape: dict[str, int],
    parameters: Mapping[str, object],
    batch: int,
) -> bool:
    """Whether the formula can be evaluated with lanes of integers."""
    try:
        batches.fit_screened(formula, raw, shape, batch, parameters)
    except (TypeError, LookupError, AttributeError, ClaimError):
        return False
    return True


def relate_batch(formula: Formula, raw: Raw, generator: np.random.Generator) -> None:
    """Have some instances of a batch meet exact relations between their numbers, in place."""
    relate(raw, _domains(formula, raw), generator)


def _domains(formula: Formula, raw: Raw) -> dict[str, Domain]:
    """What may stand in the arrays of a batch that may be changed freely."""
    domains = {}
    for name, value in raw.items():
        variable = formula.variables[name]
        fixed = isinstance(variable, Fitted | Choice) or variable.listed
        if isinstance(value, np.ndarray) and not fixed:
            domains[name] = Domain(isinstance(variable, Integer), *variable.ends)
    return domains


def _excess(raw: Known) -> Array:
    """Return by how many powers of two numbers of each instance (batch,) lie beyond usual sizes.

    It is the largest excess of its numbers that are not 0.
    """
    excess: Any = 0.0
    for value in raw.values():
        if isinstance(value, np.ndarray) and value.size:
            sizes = np.abs(value.reshape(-1, value.shape[-1]))
            sizes[sizes == 0.0] = 1.0
            with np.errstate(all="ignore"):
                above, below = np.log2(sizes.max(axis=0)), -np.log2(sizes.min(axis=0))
            excess = np.maximum(excess, np.maximum(above, below) - _UNIT)
    return np.asarray(excess)


def _closest(height: Array) -> Array:
    """Return the lanes that live on, the closest first; none that meets no hypothesis.

    Nor one whose sides touch, which need not be close to a violation.
    """
    height = np.where(height == TOUCHED, -np.inf, height)
    kept = min(max(_KEPT, len(height) // _SHARE_KEPT), len(height) // 2)
    top = np.argpartition(-height, kept)[:kept]
    top = top[np.lexsort((top, -height[top]))]
    return np.asarray(top[height[top] > -np.inf])


def _usable(raw: Raw, lane: int) -> bool:
    return all(
        np.isfinite(value[..., lane]).all()
        for value in raw.values()
        if isinstance(value, np.ndarray)
    )


def _fresh(
    formula: Formula,
    raw: Raw,
    generator: np.random.Generator,
    shape: dict[str, int],
    batch: int,
) -> Iterator[JsonObject]:
    """New instances, an eighth of a batch at a time: filling a whole one takes hardly longer.

    Integers have one for each instance where those of the batch `raw` do.
    """
    while True:
        filled = batches.filled(formula, generator, shape, batch)
        for name, variable in formula.variables.items():
            if isinstance(variable, Integer) and isinstance(raw.get(name), np.ndarray):
                filled[name] = variable.spread(generator, batch)
        relate_batch(formula, filled, generator)
        for start in range(0, batch - batch // 8 + 1, batch // 8):
            yield {
                name: value[..., start : start + batch // 8]
                if isinstance(value, np.ndarray)
                else value
                for name, value in filled.items()
            }


def _renewed(
    formula: Formula,
    raw: Raw,
    parents: Array,
    fresh: Raw,
    generator: np.random.Generator,
) -> JsonObject:
    """The next batch: the parents, their children, and an eighth of new instances."""
    batch = max(len(value.T) for value in raw.values() if isinstance(value, np.ndarray))
    family = generator.integers(0, len(parents), (3, batch))
    family[0, : len(parents)] = np.arange(len(parents))
    renewed: Raw = {}
    for name, value in raw.items():
        variable = formula.variables[name]
        if not isinstance(value, np.ndarray):
            renewed[name] = value  # one for the whole batch
            continue
        new, own = fresh[name].reshape(-1, batch // 8), _taken(value.reshape(-1, batch), parents)
        if isinstance(variable, Fitted) or variable.listed:
            child = _taken(own, family[0])
            some = np.flatnonzero(generator.random(batch) < 0.2)
            child[:, some] = new[:, generator.integers(0, batch // 8, len(some))]
        else:
            with np.errstate(all="ignore"):
                child = _children(own, family, generator)
        if isinstance(variable, Integer):
            child = variable.inside(child + generator.integers(-1, 2, size=child.shape))
        child[:, -new.shape[1] :] = new
        if not np.isfinite(child).all():
            entry, lanes = np.nonzero(~np.isfinite(child))
            child[entry, lanes] = own[entry, family[0, lanes]]
        child[:, : len(parents)] = own
        renewed[name] = child.reshape(value.shape)
    return renewed


def _children(own: Array, family: Array, generator: np.random.Generator) -> Array:
    """Return moves (size, batch) of the parents (size, parents) that a family chooses.

    An eighth of the batch is moved by each kind in turn: two eighths move by differences of other
    parents, three in one entry, one as a whole, one crosses with another, and one stays.
    """
    size, batch = len(own), family.shape[1]
    eighth = batch // 8
    child = _taken(own, family[0])
    moved = child[:, : 2 * eighth]
    step = _taken(own, family[1, : 2 * eighth])
    step -= _taken(own, family[2, : 2 * eighth])
    step *= generator.integers(1, 5, size=2 * eighth) / 4
    moved += step
    single = child[:, 2 * eighth : 5 * eighth]
    largest = np.abs(single).max(axis=0)
    largest[largest == 0.0] = 1.0
    largest *= SINGLE[generator.integers(0, len(SINGLE), size=3 * eighth)]
    entry = generator.integers(0, size, size=3 * eighth)
    child.reshape(-1)[entry * batch + np.arange(2 * eighth, 5 * eighth)] += largest
    whole = child[:, 5 * eighth : 6 * eighth]
    whole *= WHOLE[generator.integers(0, len(WHOLE), size=eighth)]
    crossed = child[:, 6 * eighth : 7 * eighth]
    taken = generator.integers(0, 2, size=crossed.shape, dtype=bool)
    np.copyto(crossed, _taken(own, family[1, 6 * eighth : 7 * eighth]), where=taken)
    return child


SINGLE = np.concatenate([np.zeros(16), *(s * 2.0 ** -np.arange(24) for s in (1.0, -1.0))])
"""By which an entry moves, in units of the largest: in a quarter of the cases it does not."""

WHOLE = np.concatenate([np.full(3, -1.0), 2.0 ** np.arange(-3, 4)])
"""By which an array is multiplied."""


def _taken(flat: Array, lanes: Array) -> Array:
    """Some lanes of an array (size, batch); they lie inside, so clipping them is the fast way."""
    return flat.take(lanes, axis=1, mode="clip")
