"""The moves of shrinking: each makes an encoded instance smaller or simpler.

Instances are compared by the number of their numbers, then by the number of nonzero numbers, then
by their simplicity. For floats this means few bits after the binary point, then closeness to 0. For
fractions p/q it means small height max(|p|, q). Positive comes before negative. The moves are:

- leave out an index, or a block of indices, of axes that share it, unless every drawn instance has
  that length; the rest is kept, doubled or quadrupled;
- set an array, a slice or an entry to 0, entries to their signs, or arrays to unit vectors;
- round all entries or one;
- scale one or all arrays by a power of two, or add an integer to the entries;
- divide whole numbers by a common factor;
- move an entry towards 0, or replace a fraction by one of smaller height;
- change equal entries together, also if equal up to sign;
- change several numbers at once (`joint_moves`).

For one entry the moves reach the simplest number in an interval of refutations. A float is rounded
down and up to every number of bits. A fraction moves up its branch of the Stern-Brocot tree, which
contains the fraction of least height of every interval around it. An integer decreases by one.
"""

import itertools
import json
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np

from attsvm._types import Hint, Json
from attsvm.theory.instance.document import (
    Path,
    finite_leaves,
    float_arrays,
    leaves,
    replaced,
    shapes,
    value_at,
    written,
)
from attsvm.theory.search.axes import Group, groups, lacking, tuples
from attsvm.theory.search.joint_moves import Slot, joint_slots

_RESCALED = (0, 1, 2)
"""Exponents of 2 by which the rest is scaled, to compensate for an index that was left out."""

_LONG = 8
"""Maximum length of an axis that is shrunk by single indices only, without blocks."""

_SCALES = (1, 2, 3, -1, -2, -3)
"""Powers of two that arrays are scaled by."""

_ROUNDINGS = (0, 1, 2, 3, 5, 8, 13)
"""Bits after the point that all entries are rounded to at once."""

_BITS = range(53)
"""Numbers of bits after the binary point to which one entry is rounded, down and up."""

_FACTORS = range(2, 9)
"""Common factors that integers are divided by, besides the greatest."""

_UNITS = 64
"""Maximum number of combinations of unit vectors that are tried for all arrays at once."""


@dataclass(frozen=True, slots=True)
class Space:
    """The space of instances: their type, and encoded samples of various sizes."""

    hint: Hint
    samples: tuple[Json, ...] = ()


def smallness(document: Json) -> tuple[int, int, int, Fraction, int]:
    """Return the size of an encoded instance as a tuple; shrinking only accepts smaller tuples."""
    each = [simplicity(value_at(document, path)) for path, _ in leaves(document)]
    each += [simplicity(Fraction(text)) for _, text in leaves(document, exact=True)]
    return (
        len(each) + sum(math.prod(shape) for shape in shapes(document)),
        sum(nonzero for nonzero, _, _, _ in each),
        sum(bits for _, bits, _, _ in each),
        sum((size for _, _, size, _ in each), Fraction(0)),
        sum(negative for _, _, _, negative in each),
    )


def moves(document: Json, space: Space) -> Iterator[Json]:
    """Yield all smaller encoded instances that are one move away, large steps first."""
    now = smallness(document)
    seen = set()
    for stage in STAGES:
        for slot in stage(document, space):
            for trial in slot(document):
                key = json.dumps(trial, sort_keys=True)
                if key not in seen and smallness(trial) < now:
                    seen.add(key)
                    yield trial


def _shorter(document: Json, space: Space) -> list[Slot]:
    """Return moves that leave out indices of a group of axes: long blocks, then single ones."""

    def slot(group: Group, start: int, stop: int, power: int) -> Slot:
        def trials(document: Json) -> Iterator[Json]:
            for renumbered in (False, True):
                trial = lacking(document, group, start, stop, renumbered=renumbered)
                yield _changed(trial, finite_leaves(trial) if power else [], _times(power))

        return trials

    results = [*groups(document, space.hint, space.samples), *tuples(document)]
    blocks = [
        slot(group, start, start + size, 0)
        for group in results
        for size in _halves(group.length)
        for start in reversed(range(0, group.length - size + 1, size))
    ]
    return blocks + [
        slot(group, index, index + 1, power)
        for power in _RESCALED
        for group in results
        for index in reversed(range(group.length))
    ]


def _halves(length: int) -> list[int]:
    """Return half of a long length, a quarter of it, and so on."""
    return [
        length >> k for k in range(1, length.bit_length()) if length >> k > 1 and length > _LONG
    ]


def _simpler(document: Json, space: Space) -> list[Slot]:
    """Return moves that change more than one entry and keep all shapes."""
    arrays = list(float_arrays(document))
    entries = finite_leaves(document)
    blocks = []
    for path, shape in arrays:
        places = np.arange(math.prod(shape)).reshape(shape)
        slices = [places]
        for axis in range(places.ndim if places.ndim > 1 else 0):
            slices += [np.take(places, k, axis) for k in range(shape[axis])]
        blocks += [[(*path, "values", int(k)) for k in cells.ravel()] for cells in slices]
    everywhere = [entries, *([p for p in entries if p[: len(a)] == a] for a, _ in arrays)]
    zeros = [_at(block, lambda value: 0.0) for block in blocks]
    changes: list[tuple[list[Path], Callable[[float], float]]]
    changes = [(paths, _sign) for paths in everywhere]
    changes += [(entries, _rounding(bits)) for bits in _ROUNDINGS]
    changes += [(paths, _times(power)) for power in _SCALES for paths in everywhere]
    largest = max((abs(value_at(document, path)) for path in entries), default=0.0)
    for less in _less(largest):
        changes += [(paths, _plus(sign * less)) for paths in everywhere for sign in (-1, 1)]
    whole = [_whole(paths) for paths in everywhere]
    return zeros + _units(arrays) + whole + [_at(paths, change) for paths, change in changes]


def _units(arrays: Sequence[tuple[Path, Sequence[int]]]) -> list[Slot]:
    """Return moves that set an array to a unit vector, or all arrays if combinations are few."""

    def slot(places: Mapping[Path, int]) -> Slot:
        def trials(document: Json) -> Iterator[Json]:
            for path, place in places.items():
                shape = sizes[path]
                values = [written(float(k == place)) for k in range(math.prod(shape))]
                document = replaced(document, path, {"float64": [*shape], "values": values})
            yield document

        return trials

    sizes = dict(arrays)
    ends = {path: range(math.prod(shape)) for path, shape in arrays if math.prod(shape) > 1}
    several = len(ends) > 1 and math.prod(map(len, ends.values())) <= _UNITS
    together = itertools.product(*ends.values()) if several else ()
    return [
        *(slot(dict(zip(ends, places, strict=True))) for places in together),
        *(slot({path: place}) for path, places in ends.items() for place in places),
    ]


def _whole(paths: list[Path]) -> Slot:
    """Return a move that divides whole-number floats by their greatest common factor."""

    def trials(document: Json) -> Iterator[Json]:
        values = [value_at(document, path) for path in paths]
        if all(value.is_integer() for value in values):
            common = math.gcd(*map(int, values))
            if common > 1:
                yield _changed(document, paths, lambda value: float(int(value) // common))

    return trials


def _single(document: Json, space: Space) -> list[Slot]:
    """Return moves that change one entry, integer or fraction."""
    floats, exact = _numbers(document)
    return [*(_float_slot([path]) for path in floats), *(_exact_slot([path]) for path in exact)]


def _together(document: Json, space: Space) -> list[Slot]:
    """Return moves that change numbers together that are equal up to sign, or divide integers."""
    floats, exact = _numbers(document)
    return [
        *(_float_slot(paths) for paths in _equal(floats)),
        *(_exact_slot(paths) for paths in _equal(exact)),
        _divided,
    ]


def _numbers(document: Json) -> tuple[dict[Path, float], dict[Path, Fraction]]:
    """Return the finite floats of a document, and its integers and fractions."""
    floats = {path: value_at(document, path) for path in finite_leaves(document)}
    return floats, {path: Fraction(text) for path, text in leaves(document, exact=True)}


def _float_slot(paths: list[Path]) -> Slot:
    def trials(document: Json) -> Iterator[Json]:
        values = {path: value_at(document, path) for path in paths}
        for signed in _simpler_together(values, simpler_values):
            yield _rewritten(document, {path: written(x) for path, x in signed.items()})

    return trials


def _exact_slot(paths: list[Path]) -> Slot:
    def trials(document: Json) -> Iterator[Json]:
        texts = dict(leaves(document, exact=True))
        values = {path: Fraction(texts[path]) for path in paths}
        for signed in _simpler_together(values, simpler_fractions):
            yield _rewritten(document, {path: str(x) for path, x in signed.items()})

    return trials


_Number = TypeVar("_Number", float, Fraction)


def _simpler_together(
    values: Mapping[Path, _Number], simpler: Callable[[_Number], Iterable[_Number]]
) -> Iterator[dict[Path, _Number]]:
    """Yield simpler numbers for the first of some values, with matching signs for the others."""
    first = next(iter(values.values()))
    for less in sorted(set(simpler(first)), key=simplicity):
        if simplicity(less) < simplicity(first):
            yield {path: less if x * first >= 0 else -less for path, x in values.items()}


def _equal(numbers: Mapping[Path, float | Fraction]) -> list[list[Path]]:
    """Return groups of paths with equal nonzero numbers, also if equal up to sign.

    There are groups within each array, and groups over the whole document.
    """
    groups: dict[tuple[Hashable, ...], list[Path]] = {}
    for path, number in numbers.items():
        array = path[:-1] if isinstance(path[-1], int) else ()
        for key in (("", number), ("", abs(number), "up to sign")):
            groups.setdefault(key, []).append(path)
            groups.setdefault((array, *key[1:]), []).append(path)
    alike = (tuple(paths) for (_, number, *_), paths in groups.items() if number)
    return [[*paths] for paths in dict.fromkeys(alike) if len(paths) > 1]


def _divided(document: Json) -> Iterator[Json]:
    """Yield the document with all integers divided by a common factor."""
    exact = {path: Fraction(text) for path, text in leaves(document, exact=True)}
    if all(number.denominator == 1 for number in exact.values()):
        common = math.gcd(*(number.numerator for number in exact.values()))
        for factor in (common, *(k for k in _FACTORS if common % k == 0)):
            if factor > 1:
                divided = {path: str(number / factor) for path, number in exact.items()}
                yield _rewritten(document, divided)


def _rewritten(document: Json, numbers: Mapping[Path, str]) -> Json:
    """Return a copy with other numbers at some paths."""
    for path, number in numbers.items():
        document = replaced(document, path, number)
    return document


def _jointly(document: Json, space: Space) -> list[Slot]:
    """Return moves that change several numbers at once."""
    return joint_slots(document)


STAGES = (_shorter, _simpler, _single, _together, _jointly)
"""Kinds of moves: each is a function that returns the slots of a document."""

RENEWED = (_shorter, _together, _jointly)
"""Kinds of moves whose slots must be computed again after a successful move."""


def _at(paths: list[Path], change: Callable[[float], float]) -> Slot:
    return lambda document: [_changed(document, paths, change)]


def _sign(value: float) -> float:
    return math.copysign(1.0, value) if value else 0.0


def _times(power: int) -> Callable[[float], float]:
    return lambda value: math.ldexp(value, power)


def _plus(amount: int) -> Callable[[float], float]:
    return lambda value: value + amount


def _rounding(bits: int) -> Callable[[float], float]:
    return lambda value: _rounded(value, bits)


def _changed(document: Json, paths: list[Path], change: Callable[[float], float]) -> Json:
    """Return a copy with the entries at some paths changed; the document if that overflows."""
    changed = document
    for path in paths:
        try:
            value = change(value_at(document, path))
        except OverflowError:
            return document
        changed = replaced(changed, path, written(value))
    return changed


def simplicity(value: float | Fraction) -> tuple[bool, int, Fraction, bool]:
    """Return how simple a number is: 0, then short, then positive.

    A float is short by its bits after the point, then by its size; a fraction by its height.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return True, 0, Fraction(0), False
    if isinstance(value, Fraction):
        height = Fraction(max(abs(value.numerator), value.denominator) if value else 0)
        return value != 0, 0, height, value < 0
    exact = Fraction(value)
    bits = exact.denominator.bit_length() - 1
    return exact != 0, bits, abs(exact), math.copysign(1.0, value) < 0


def _rounded(value: float, bits: int) -> float:
    """Return the float rounded to `bits` bits after the point; itself if that overflows."""
    scaled = value * 2.0**bits
    return round(scaled) / 2**bits if math.isfinite(scaled) else value


def simpler_values(value: float) -> Iterator[float]:
    """Yield simpler values to try in place of a float."""
    if not math.isfinite(value) or value == 0.0:
        return
    yield 0.0
    yield 1.0
    yield -1.0
    yield abs(value)
    for bits in _BITS if abs(value) < 2.0**900 else ():
        yield math.floor(value * 2.0**bits) / 2**bits
        yield math.ceil(value * 2.0**bits) / 2**bits
    if abs(value) > 1.0:
        yield math.copysign(float(math.floor(abs(value) / 2.0)), value)
        yield from (math.copysign(abs(value) - k, value) for k in _less(abs(value)))


def _less(size: float) -> Iterator[int]:
    """Yield amounts to subtract from a number of this size, the large ones first."""
    bits = size.bit_length() if isinstance(size, int) else math.frexp(size)[1]
    yield from (2**k for k in reversed(range(3, min(bits, 64))))
    yield from (k for k in range(7, 0, -1) if k < size)


def simpler_fractions(value: Fraction) -> Iterator[Fraction]:
    """Yield simpler fractions to try in place of a fraction; integers for an integer."""
    yield from (Fraction(0), Fraction(1), Fraction(-1), abs(value))
    sign = -1 if value < 0 else 1
    yield from (sign * less for less in _above(abs(value)))
    size = abs(value.numerator)
    for less in (1, size // 2, *(size - k for k in _less(size))):
        yield Fraction(sign * less, value.denominator)


def _above(value: Fraction) -> Iterator[Fraction]:
    """Yield fractions on the path from the root of the Stern-Brocot tree to a positive fraction.

    A straight run of the path has the length of a partial quotient of the continued fraction. Of
    each run, the first and last few fractions are yielded, and some found by repeated halving.
    """
    # numerators and denominators of the last two convergents
    numerators, denominators = (0, 1), (1, 0)
    rest = value
    while True:
        quotient, rest = divmod(rest, 1)
        kept = {quotient, *(quotient - k for k in _less(int(quotient))), *range(1, 8)}
        # with the last two convergents p/q and p'/q', the fractions of this run of the path are
        # (k p + p') / (k q + q') for k = 1, ..., quotient
        for k in sorted(step for step in kept if 0 < step <= quotient):
            over = k * denominators[1] + denominators[0]
            if over:
                yield Fraction(k * numerators[1] + numerators[0], over)
        numerators = (numerators[1], quotient * numerators[1] + numerators[0])
        denominators = (denominators[1], quotient * denominators[1] + denominators[0])
        if not rest:
            return
        rest = 1 / rest
