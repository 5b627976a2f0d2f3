"""What is discrete in a record moves too: integers, lengths, members of families, flags.

Formulas of variables have batches for that. A record is changed where it is encoded; its type, what
the strategy draws and the hypotheses say which changes are instances. Where an evaluation is cheap,
lines of them are screened in floats, and the closest few are examined.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from attsvm._types import Case, Json
from attsvm.theory.declaration.judge import glance
from attsvm.theory.instance.document import (
    Path,
    array_key,
    integer_leaves,
    replaced,
    shapes,
    value_at,
)
from attsvm.theory.run.bounded import within_bound
from attsvm.theory.search.axes import Group, groups, taken, tuples
from attsvm.theory.search.families import blocks, relate_one, with_blocks
from attsvm.theory.search.relations import Domain
from attsvm.theory.search.suspects import Doubts

if TYPE_CHECKING:
    from attsvm.theory.run.tally import Tally
    from attsvm.theory.search.scout import Scout

CHEAP = 8
"""Claims of this cost at most are evaluated in floats to choose what is examined."""

_EXAMINED = 2
"""Maximum number of records of a screened line that are examined since they come closest."""

_FAR, _FINE = 12, 3
"""Integers go up to two to the first power, over the cost of the claim, or to twice those that are
drawn, as one may be a number of steps or a size: compiled code counts none of its own. A ladder has
so many rungs to each doubling."""

_BESIDE, _SMALL, _SIZES = 8, 40, (16, 64, 256, 1024)
"""How many integers on each side of one are tried first, how many small ones a ladder begins with,
and how many choices a line or a box has."""

_GROWTH = 1.25
"""How much longer an axis becomes from one rung to the next, and by one at least."""

_LADDERS, _NUMBERS = 8, 2**12
"""How often a turn makes records longer, half as often in a check, and the numbers in one at most,
over the claim's cost."""

_STARTS = 8
"""Instances of the strategy to start from."""

_RELATED = 64
"""How many records with integers in exact relations make a line."""

_TOGETHER = 64
"""Choices of members and flags of an instance that are all tried, at most."""


def tried(scout: Scout, documents: Iterable[Json]) -> None:
    """Examine a line of encoded records, or screen it and examine the closest if that is cheap.

    Records that look violated are examined at once: those that come later on a line are larger.

    Raises:
        Stop: the turn is over, by a find, the budget or the time.
    """
    tally = scout.tally
    closer: list[tuple[float, int, Any]] = []
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
    """The height of a record in one evaluation; none where that raises: it is examined if so."""
    part = tally.part
    with contextlib.suppress(Exception), np.errstate(all="ignore"):
        return within_bound(lambda: glance(part.formula, part.parameters, case))
    return math.nan


def as_drawn(scout: Scout) -> list[Any]:
    """Known records with lengths and integers such as are drawn, or where there is none drawn ones.

    From others nothing discrete is moved: of a claim that looks at all V^m choices, an evaluation
    with V = 1 and a large m is short, and the next one, with V = 2, takes for ever.
    """
    drawn = scout.tally.samples()
    ends = _ends(drawn)
    known = [
        e.document
        for e in scout.pool.elites()
        if all(p in ends and ends[p][0] <= x <= ends[p][1] for p, x in _extents(e.document))
    ]
    return known or [*drawn[:_STARTS]]


def _ends(documents: Iterable[Json]) -> dict[Path, tuple[int, int]]:
    """The least and the largest of each integer and length."""
    ends: dict[Path, tuple[int, int]] = {}
    for place, size in (pair for document in documents for pair in _extents(document)):
        low, high = ends.get(place, (size, size))
        ends[place] = min(low, size), max(high, size)
    return ends


def _extents(document: Json) -> Iterator[tuple[Path, int]]:
    """The integers and lengths of a record, by places that all entries of an array share."""
    for path in integer_leaves(document):
        yield _place(path), int(value_at(document, path))
    for path, part in _places(document, ()):
        if isinstance(part, dict):
            shape = part[key] if (key := array_key(part)) else [len(part.get("tuple", ()))]
            yield from (((*path, axis), size) for axis, size in enumerate(shape))


def _place(path: Path) -> Path:
    """The place of an integer, that of its array for an entry."""
    return path if path[-1] == "int" else path[:-1]


def _any(documents: Sequence[Json], generator: np.random.Generator) -> Any:
    return documents[int(generator.integers(len(documents)))]


def _started(documents: Sequence[Json], generator: np.random.Generator) -> Any:
    """The closest in half of the cases, else any."""
    return documents[0] if generator.random() < 0.5 else _any(documents, generator)


def move_integers(scout: Scout, generator: np.random.Generator) -> None:
    """Move integers of known records: by one, by doubling, beyond what is drawn, all of a range.

    Several move together, as a box of all choices or tied as one.
    """
    starts = [document for document in as_drawn(scout) if integer_leaves(document)]
    if not starts:
        return
    others = [d for d in switched(scout, generator) if integer_leaves(d)]
    shift, ends = int(generator.integers(64)), _ends(scout.tally.samples())
    for lap in range(scout.budget):
        other = others and generator.random() < 0.25
        document = _started(starts, generator) if not other else _any(others, generator)
        paths = integer_leaves(document)
        path = paths[(shift + lap) % len(paths)]
        value = value_at(document, path)
        equal = [other for other in paths if value_at(document, other) == value]
        tied = equal if generator.random() < 0.3 else [path]
        most = _reach(tied, ends, scout.tally.claim.cost)
        tried(scout, _with(document, [tied], [_beside(int(value))]))
        tried(scout, _with(document, [tied], [_ladder(int(value), most, generator)]))
        tried(scout, _related(document, most, generator))
        count = int(generator.integers(1, min(len(paths), 3) + 1))
        chosen = [[paths[k]] for k in generator.permutation(len(paths))[:count]]
        if count > 1 and generator.random() < 0.3:
            chosen = [chosen[0] + chosen[1], *chosen[2:]]
        side = math.ceil(int(generator.choice(_SIZES)) ** (1 / len(chosen)))
        lines = [_line(document, group[0], starts, side, generator) for group in chosen]
        tried(scout, _with(document, chosen, lines))


def _beside(value: int) -> list[int]:
    """The integers on both sides of one, the nearest first."""
    return [value + sign * k for k in range(1, _BESIDE + 1) for sign in (1, -1)]


def _reach(tied: Iterable[Path], ends: Mapping[Path, tuple[int, int]], cost: int) -> int:
    """How large some integers that are equal may become: fewer of them, larger ones."""
    places = {_place(path) for path in tied}
    drawn = max((abs(end) for place in places for end in ends.get(place, ())), default=0)
    return max(int(2.0 ** min(_FAR, 2 * _FAR / len(places))) // cost, 2 * drawn)


def _ladder(value: int, most: int, generator: np.random.Generator) -> list[int]:
    """Small integers, then of every magnitude, powers of two and of ten and those beside them.

    As a rule they have the sign of the one that is there. Steps are small, so that an evaluation
    does not take much longer than the one before it.
    """
    far = most.bit_length()
    some = [int(2.0 ** ((k + generator.random()) / _FINE)) for k in range(far * _FINE)]
    round_ones = [*(2**k for k in range(far + 1)), *(10**k for k in range(far * 3 // 10 + 1))]
    sizes = sorted({*range(_SMALL), *some, *(x + d for x in round_ones for d in (-1, 0, 1))})
    sizes = [k for k in sizes if k <= max(most, _BESIDE)]
    other = generator.random() < 0.125
    return [-k for k in sizes] if (value < 0) != other else sizes


def _line(
    document: Json, path: Path, starts: Iterable[Any], side: int, generator: np.random.Generator
) -> list[int]:
    """So many integers: on both sides of the one there, or from the least that is known on."""
    value = int(value_at(document, path))
    if generator.random() < 0.3:
        return [value + sign * k for k in range(side // 2 + 1) for sign in (1, -1)[: k + 1]]
    known = [int(value_at(d, path)) for d in starts if path in integer_leaves(d)]
    return [*range(min(known), min(known) + side)]


def _related(document: Json, most: int, generator: np.random.Generator) -> Iterator[Any]:
    """The record with integers, and floats, that meet exact relations, the integers up to `most`.

    Those that are not negative stay so.
    """
    whole, floats = blocks(document, whole=True), blocks(document)
    domains = dict.fromkeys(floats, Domain())
    for path, array in whole.items():
        domains[path] = Domain(whole=True, low=0 if array.min() >= 0 else -most, high=most)
    for _ in range(_RELATED):
        arrays = {path: array.copy() for path, array in {**whole, **floats}.items()}
        relate_one(arrays, domains, generator)
        yield with_blocks(document, arrays)


def _with(
    document: Json, tied: Sequence[Sequence[Path]], lines: Sequence[Iterable[int]]
) -> Iterator[Any]:
    """The record with every choice of integers, one for each group of paths."""
    for values in itertools.product(*lines):
        changed = document
        for group, number in zip(tied, values, strict=True):
            for path in group:
                changed = replaced(changed, path, str(number))
        yield changed


def switched(scout: Scout, generator: np.random.Generator) -> Iterator[Any]:
    """Known records with other members of families, flags and parts that may be absent.

    They are those that other instances have in that place: all choices where they are few, else one
    after the other, then several at once.
    """
    documents = as_drawn(scout)
    known = [*(e.document for e in scout.pool.elites()), *scout.tally.samples()]
    for k in generator.permutation(len(documents)):
        options = _options(documents[k], known)
        if math.prod(map(len, options.values())) <= _TOGETHER:
            choices = [*itertools.product(*options.values())][1:]
            yield from (_put(documents[k], zip(options, x, strict=True)) for x in choices)
            continue
        for path, found in options.items():
            yield from (_put(documents[k], [(path, other)]) for other in found[1:])
        for _ in range(_TOGETHER):
            chosen = [found[int(generator.integers(len(found)))] for found in options.values()]
            yield _put(documents[k], zip(options, chosen, strict=True))


def _options(document: Json, known: Sequence[Any]) -> dict[Path, list[Any]]:
    """What may stand in each place of a record that is no number, by its path; first what does."""
    found = {}
    for path, value in _places(document, ()):
        options = [value]
        if isinstance(value, bool):
            options.append(not value)
        elif path[-2:-1] == ("values",):
            options.append(str(1 - int(value)))
        else:
            for other in (x for each in known for x in _at(each, path)):
                numbers = isinstance(value, dict) and isinstance(other, dict)
                if not numbers and other not in options:
                    options.append(other)
        if len(options) > 1:
            found[path] = options
    return found


def _places(document: Json, path: Path) -> Iterator[tuple[Path, Any]]:
    """All fields and items of a record by their paths, and the entries of arrays of flags."""
    yield path, document
    if not isinstance(document, dict):
        return
    if array_key(document) == "bool":
        yield from (((*path, "values", k), x) for k, x in enumerate(document["values"]))
    for key in ("fields", "tuple"):
        inner = document.get(key, ())
        for name, part in inner.items() if isinstance(inner, dict) else enumerate(inner):
            yield from _places(part, (*path, key, name))


def _at(document: Any, path: Path) -> list[Any]:
    """What an encoded instance has at a path, if it has that."""
    try:
        return [functools.reduce(operator.getitem, path, document)]
    except (LookupError, TypeError):
        return []


def _put(document: Json, parts: Iterable[tuple[Path, Any]]) -> Any:
    for path, part in parts:
        with contextlib.suppress(LookupError, TypeError):  # what held it is absent now
            document = replaced(document, path, part)
    return document


def lengthen(scout: Scout, generator: np.random.Generator) -> None:
    """Make axes that share an index and tuples of known records longer, step by step.

    What is added repeats what is there, as it is, with other signs, or with other numbers. Integers
    that are equal to the length follow it, or do not.
    """
    claim = scout.tally.claim
    starts = as_drawn(scout)
    if not starts:
        return
    drawn = scout.tally.samples()
    for _ in range(_LADDERS // 2 if scout.once else _LADDERS):
        most = max(
            min(scout.numbers, _NUMBERS >> int(generator.integers(_LADDERS))) // claim.cost, 8
        )
        document = _started(starts, generator)
        found = [*groups(document, claim.instance_type, drawn, least=1), *tuples(document, least=1)]
        if found:
            group = found[int(generator.integers(len(found)))]
            counted = generator.random() < 0.5
            tried(scout, _longer(document, group, most, generator, counted=counted))


def _longer(
    document: Json, group: Group, most: int, generator: np.random.Generator, *, counted: bool
) -> Iterator[Any]:
    """The record with ever more indices in a group of axes, up to four of each length.

    So many numbers are in it at most. In the last an array that holds indices chooses among all
    that are there now: all entries the last or another one, or each its own.
    """
    length = group.length
    same = [p for p in integer_leaves(document) if p[-1] == "int"] if counted else []
    same = [path for path in same if value_at(document, path) == length]
    while True:
        length = max(int(_GROWTH * length), length + 1)
        more = generator.integers(group.length, size=length - group.length)
        longer = taken(document, group, [*range(group.length), *more.tolist()])
        if sum(map(math.prod, shapes(longer))) > most:
            return
        for path in same:
            longer = replaced(longer, path, str(length))
        yield longer
        arrays = blocks(longer)
        signed = {p: a * generator.choice([-1.0, 1.0], size=a.shape) for p, a in arrays.items()}
        other = {p: generator.integers(-16, 17, size=a.shape) / 8 for p, a in arrays.items()}
        yield from (with_blocks(longer, changed) for changed in (signed, other) if arrays)
        chosen = [
            (path, array)
            for path, array in blocks(longer, whole=True).items()
            if array.ndim and array.min() >= 0 and array.max() < group.length
        ]
        if chosen:
            path, array = chosen[int(generator.integers(len(chosen)))]
            each = generator.integers(length, size=array.shape)
            places = (length - 1, generator.integers(length), each)[int(generator.integers(3))]
            yield with_blocks(longer, {path: 0.0 * array + places})
