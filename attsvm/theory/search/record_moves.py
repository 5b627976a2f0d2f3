"""Discrete moves of records: change their integers, and lengthen their arrays and tuples.

For formulas of variables, batches do both. A record is changed in its encoded form. Its type, the
instances of the strategy, and the hypotheses decide which changes are admissible. If an evaluation
is cheap, series of records are screened in floats, and the closest few are examined.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from attsvm._types import Array, Case, Json
from attsvm.theory.declaration.judge import glance
from attsvm.theory.instance import codec
from attsvm.theory.instance.document import (
    Path,
    array_key,
    integer_leaves,
    parts,
    replaced,
    shapes,
    value_at,
)
from attsvm.theory.run.bounded import within_bound
from attsvm.theory.search.axes import Group, groups, tuples, with_indices
from attsvm.theory.search.relations import Domain, relate
from attsvm.theory.search.suspects import Doubts

if TYPE_CHECKING:
    from attsvm.theory.run.tally import Tally
    from attsvm.theory.search.scout import Scout

CHEAP = 8
"""Maximum cost of claims that are evaluated in floats to choose the records to examine."""

_EXAMINED = 2
"""Maximum number of records of a screened series that are examined because they come closest."""

_FAR, _FINE = 12, 3
"""Maximum exponent of 2 of integers, and number of integers per doubling.

The maximum is reduced by the claim's cost, unless twice the drawn integers is more. An integer may
be a number of steps or a size, and the budget does not count steps of compiled code.
"""

_BESIDE, _SMALL, _SIZES = 8, 40, (16, 64, 256, 1024)
"""Number of neighbours on each side of an integer that are tried first, number of small integers
that begin a series, and maximum sizes of a series or a box."""

_GROWTH = 1.25
"""Factor by which an axis grows from one step to the next; it grows by at least one."""

_LADDERS, _NUMBERS = 8, 2**12
"""Number of series of longer records in a turn (half as many in a check), and maximum number of
numbers in a record, divided by the claim's cost."""

_RELATED = 64
"""Number of records of a series whose numbers meet exact relations."""

_STARTS = 8
"""Maximum number of instances of the strategy to start from."""


def move_integers(scout: Scout, generator: np.random.Generator) -> None:
    """Move integers of known records: by one, by doubling, beyond the drawn range, through a range.

    Several integers move together, through a box or tied to one value.
    """
    starts = [document for document in _as_drawn(scout) if integer_leaves(document)]
    if not starts:
        return
    shift, ends = int(generator.integers(64)), _ends(scout.tally.likeness.samples())
    for lap in range(scout.budget):
        document = _started(starts, generator)
        paths = integer_leaves(document)
        path = paths[(shift + lap) % len(paths)]
        value = value_at(document, path)
        equal = [other for other in paths if value_at(document, other) == value]
        tied = equal if generator.random() < 0.3 else [path]
        most = _reach(tied, ends, scout.tally.claim.cost)
        _try(scout, _with(document, [tied], [_beside(int(value))]))
        _try(scout, _with(document, [tied], [ladder(int(value), most, generator)]))
        _try(scout, _related(document, most, generator))
        count = int(generator.integers(1, min(len(paths), 3) + 1))
        chosen = [[paths[k]] for k in generator.permutation(len(paths))[:count]]
        if count > 1 and generator.random() < 0.3:
            chosen = [chosen[0] + chosen[1], *chosen[2:]]
        side = math.ceil(int(generator.choice(_SIZES)) ** (1 / len(chosen)))
        lines = [_line(document, group[0], starts, side, generator) for group in chosen]
        _try(scout, _with(document, chosen, lines))


def lengthen(scout: Scout, generator: np.random.Generator) -> None:
    """Lengthen tuples, and axes that share an index, of known records, step by step.

    New entries repeat old ones, unchanged, with other signs, or with other values. In half of the
    series, integers equal to the length grow with it.
    """
    claim = scout.tally.claim
    starts = _as_drawn(scout)
    if not starts:
        return
    drawn = scout.tally.likeness.samples()
    for _ in range(_LADDERS // 2 if scout.once else _LADDERS):
        most = max(
            min(scout.numbers, _NUMBERS >> int(generator.integers(_LADDERS))) // claim.cost, 8
        )
        document = _started(starts, generator)
        results = [
            *groups(document, claim.instance_type, drawn, least=1),
            *tuples(document, least=1),
        ]
        if results:
            group = results[int(generator.integers(len(results)))]
            counted = generator.random() < 0.5
            _try(scout, _longer(document, group, most, generator, counted=counted))


def _try(scout: Scout, documents: Iterable[Json]) -> None:
    """Examine a series of encoded records.

    If evaluation is cheap, screen it and examine the closest. Records that look violated are
    examined at once: later records of the series are larger.

    Raises:
        Stop: the turn is over: a counterexample was found, or budget or time is spent.
    """
    tally = scout.tally
    closer: list[tuple[float, int, Json]] = []
    doubts = Doubts(scout)
    for document in documents:
        if document in scout.long:
            break
        with scout.bounded(document):
            if tally.claim.cost > CHEAP:
                scout.look_at(document, reshaped=True)
            elif (case := scout.screened(document)) is not None:
                height = _glanced(tally, case)
                if doubts.wants(height):
                    scout.look_at(document, reshaped=True)
                elif height > scout.pool.height:
                    closer.append((-height, len(closer), document))
        if document in scout.long:
            break
    for _, _, document in sorted(closer)[:_EXAMINED]:
        with scout.bounded(document):
            scout.look_at(document, reshaped=True)


def _glanced(tally: Tally, case: Case) -> float:
    """Return the height of a record by one evaluation; NaN if the evaluation raises."""
    part = tally.part
    with contextlib.suppress(Exception), np.errstate(all="ignore"):
        return within_bound(lambda: glance(part.formula, part.parameters, case))
    return math.nan


def _as_drawn(scout: Scout) -> list[Json]:
    """Return known records whose lengths and integers lie in the drawn ranges, else drawn records.

    Discrete moves start only from these. A claim may evaluate all V^m choices: then an evaluation
    with V = 1 and a large m is fast, but the next one, with V = 2, never ends.
    """
    drawn = scout.tally.likeness.samples()
    ends = _ends(drawn)
    known = [
        e.document
        for e in scout.pool.elites()
        if all(p in ends and ends[p][0] <= x <= ends[p][1] for p, x in _extents(e.document))
    ]
    return known or [*drawn[:_STARTS]]


def _ends(documents: Iterable[Json]) -> dict[Path, tuple[int, int]]:
    """Return the least and the largest value of each integer and length, by its place."""
    ends: dict[Path, tuple[int, int]] = {}
    for place, size in (pair for document in documents for pair in _extents(document)):
        low, high = ends.get(place, (size, size))
        ends[place] = min(low, size), max(high, size)
    return ends


def _extents(document: Json, path: Path = ()) -> Iterator[tuple[Path, int]]:
    """Yield the integers and lengths of a record, by places that all entries of an array share."""
    if not isinstance(document, dict):
        return
    if "int" in document:
        yield (*path, "int"), int(document["int"])
    if "int64" in document:
        yield from (((*path, "values"), int(text)) for text in document["values"])
    key = array_key(document)
    lengths = document[key] if key else [len(document.get("tuple", ()))]
    yield from (((*path, axis), size) for axis, size in enumerate(lengths))
    for key in document.keys() & {"fields", "tuple"}:
        inner = document[key]
        for name, part in inner.items() if isinstance(inner, dict) else enumerate(inner):
            yield from _extents(part, (*path, key, name))


def _started(documents: Sequence[Json], generator: np.random.Generator) -> Json:
    """Return the first document, which came closest, with probability 1/2, else any of them."""
    first = generator.random() < 0.5
    return documents[0 if first else int(generator.integers(len(documents)))]


def _beside(value: int) -> list[int]:
    """Return the integers on both sides of an integer, the nearest first."""
    return [value + sign * k for k in range(1, _BESIDE + 1) for sign in (1, -1)]


def _reach(tied: Iterable[Path], ends: Mapping[Path, tuple[int, int]], cost: int) -> int:
    """Return the maximum value of some equal integers; the fewer they are, the larger it is."""
    places = {path if path[-1] == "int" else path[:-1] for path in tied}
    drawn = max((abs(end) for place in places for end in ends.get(place, ())), default=0)
    return max(int(2.0 ** min(_FAR, 2 * _FAR / len(places))) // cost, 2 * drawn)


def ladder(value: int, most: int, generator: np.random.Generator) -> list[int]:
    """Return small integers, then some of every magnitude, and neighbours of powers of 2 and 10.

    They mostly have the sign of `value`. Steps are small, so that an evaluation does not take much
    longer than the previous one.
    """
    far = most.bit_length()
    some = [int(2.0 ** ((k + generator.random()) / _FINE)) for k in range(far * _FINE)]
    round_ones = [*(2**k for k in range(far + 1)), *(10**k for k in range(far * 3 // 10 + 1))]
    sizes = sorted({*range(_SMALL), *some, *(x + d for x in round_ones for d in (-1, 0, 1))})
    sizes = [k for k in sizes if k <= max(most, _BESIDE)]
    other = generator.random() < 0.125
    return [-k for k in sizes] if (value < 0) != other else sizes


def _line(
    document: Json, path: Path, starts: Iterable[Json], side: int, generator: np.random.Generator
) -> list[int]:
    """Return integers on both sides of the present one, or a range from the least in `starts`."""
    value = int(value_at(document, path))
    if generator.random() < 0.3:
        return [value + sign * k for k in range(side // 2 + 1) for sign in (1, -1)[: k + 1]]
    known = [int(value_at(d, path)) for d in starts if path in integer_leaves(d)]
    return [*range(min(known), min(known) + side)]


def _with(
    document: Json, tied: Sequence[Sequence[Path]], lines: Sequence[Iterable[int]]
) -> Iterator[Json]:
    """Yield the record with every combination of integers, one for each group of paths."""
    for values in itertools.product(*lines):
        changed = document
        for group, number in zip(tied, values, strict=True):
            for path in group:
                changed = replaced(changed, path, str(number))
        yield changed


def _related(document: Json, most: int, generator: np.random.Generator) -> Iterator[Json]:
    """Yield the record with numbers that meet exact relations, the integers up to `most`.

    Integers that are not negative stay so.
    """
    whole = _arrays(document, "int", "int64")
    domains = dict.fromkeys(_arrays(document, "float", "float64"), Domain())
    for path, array in whole.items():
        domains[path] = Domain(whole=True, low=0 if array.min() >= 0 else -most, high=most)
    for _ in range(_RELATED):
        result = _arrays(document, "int", "int64", "float", "float64")
        moved = {path: array.astype(float)[..., None] for path, array in result.items()}
        relate(moved, domains, generator)
        yield _put(document, {p: x[..., 0].astype(result[p].dtype) for p, x in moved.items()})


def _longer(
    document: Json, group: Group, most: int, generator: np.random.Generator, *, counted: bool
) -> Iterator[Json]:
    """Yield the record with more and more indices in a group of axes, up to four of each length.

    The record has at most `most` numbers. In the fourth record of each length, an array of indices
    is redrawn from all indices of the new length. All its entries are then the last index, or one
    random index, or each entry is a random index of its own.
    """
    length = group.length
    same = [p for p in integer_leaves(document) if p[-1] == "int"] if counted else []
    same = [path for path in same if value_at(document, path) == length]
    while True:
        length = max(int(_GROWTH * length), length + 1)
        more = generator.integers(group.length, size=length - group.length)
        longer = with_indices(document, group, [*range(group.length), *more.tolist()])
        if sum(map(math.prod, shapes(longer))) > most:
            return
        for path in same:
            longer = replaced(longer, path, str(length))
        yield longer
        floats, whole = _arrays(longer, "float64", "float"), _arrays(longer, "int64")
        signed = {p: a * generator.choice([-1.0, 1.0], size=a.shape) for p, a in floats.items()}
        other = {p: generator.integers(-16, 17, size=a.shape) / 8 for p, a in floats.items()}
        yield from (_put(longer, changed) for changed in (signed, other) if floats)
        chosen = [p for p, a in whole.items() if a.min() >= 0 and a.max() < group.length]
        if chosen:
            path = chosen[int(generator.integers(len(chosen)))]
            each = generator.integers(length, size=whole[path].shape)
            places = (length - 1, generator.integers(length), each)[int(generator.integers(3))]
            yield _put(longer, {path: 0 * whole[path] + places})


def _arrays(document: Json, *kinds: str) -> dict[Path, Array]:
    """Return arrays and numbers of some kinds by path, if they are finite.

    Integers that a float cannot hold exactly are left out.
    """
    results = {p: codec.decode(x, None) for p, x in parts(document) if x.keys() & set(kinds)}
    arrays = {path: np.asarray(value) for path, value in results.items()}
    most = {path: np.finfo(float).max if a.dtype == float else 2**53 for path, a in arrays.items()}
    return {path: a for path, a in arrays.items() if a.size and (np.abs(a) <= most[path]).all()}


def _put(document: Json, arrays: Mapping[Path, Array]) -> Json:
    """Return the document with other arrays and numbers at some paths."""
    for path, array in arrays.items():
        document = replaced(document, path, codec.encode(array if array.ndim else array.item()))
    return document
