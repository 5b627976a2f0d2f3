"""Shrinking moves that change several numbers of an instance at once.

A violation often depends on a ratio, a difference or a sum, so that no change of one number keeps
it. The moves divide several numbers by one factor and round them, shift them by one amount, replace
them by small numbers, or merge one number into another.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from attsvm._types import Json
from attsvm.theory.instance.document import Path, finite_leaves, leaves, replaced, value_at, written

Slot = Callable[[Json], Iterable[Json]]
"""A place at which a document can be made smaller: a function that returns the trials there, the
simplest first."""

_PAIRED = 8
"""Maximum number of nonzero numbers, the largest ones, and of zeros, whose pairs are all tried."""

_FACTORS, _TARGETS = (2, 3), (1, 2, 3, 4)
"""Factors by which numbers are divided, and target values: a factor is also used if it turns a
small number into a target."""

_LEAST, _GROUPS = 4, 6
"""Maximum number of different sizes that are scaled to a target, and number of groups that consist
of the largest numbers."""

_SMALL = (1, 2, 3)
"""Sizes of the numbers that are put in the place of a pair, with their signs."""

_BITS = (0, 1, 3)
"""Number of bits after the binary point to which floats are rounded after a division."""


def joint_slots(document: Json) -> list[Slot]:
    """Return the places for joint moves: all numbers, the largest few, and pairs."""
    sizes = {path: abs(x) for path, x in _numbers(document).items()}
    ranked = sorted(sizes, key=lambda path: (-sizes[path], _place(path)))
    others = [path for path in ranked if sizes[path]]
    counts = dict.fromkeys((len(others), *range(2 + _GROUPS, 2, -1)))
    several = [others[:count] for count in counts if 2 < count <= len(others)]
    paired = [*others[:_PAIRED], *ranked[len(others) :][:_PAIRED]]
    pairs = [sorted(pair, key=_place) for pair in itertools.combinations(paired, 2)]
    return [_slot(paths) for paths in (*several, *pairs) if sizes[paths[0]] or sizes[paths[-1]]]


def _place(path: Path) -> tuple[str, ...]:
    """Return a sort key of a path that gives the order in the document."""
    return tuple(f"{step:06}" if isinstance(step, int) else step for step in path)


def _numbers(document: Json) -> dict[Path, Fraction]:
    """Return the finite floats, integers and fractions of a document by their paths."""
    floats = {path: Fraction(value_at(document, path)) for path in finite_leaves(document)}
    return floats | {path: Fraction(text) for path, text in leaves(document, exact=True)}


def _slot(paths: Sequence[Path]) -> Slot:
    def trials(document: Json) -> Iterator[Json]:
        exact = {path for path, _ in leaves(document, exact=True)}
        numbers = _numbers(document)
        values = [numbers[path] for path in paths]
        whole = [
            path in exact and x.denominator == 1 for path, x in zip(paths, values, strict=True)
        ]
        floats = [path not in exact for path in paths]
        now = _size(values, floats)
        for chosen in dict.fromkeys(_proposed(values, whole)):
            if _size(chosen, floats) < now:
                yield _with(document, dict(zip(paths, chosen, strict=True)), exact)

    return trials


def _size(values: Sequence[Fraction], floats: Sequence[bool]) -> tuple[Fraction, ...]:
    """Return a sort key of some numbers, in the order of `shrink_moves.smallness`."""
    each = [
        (x != 0, x.denominator.bit_length() if real else 0, abs(x) if real else _height(x), x < 0)
        for x, real in zip(values, floats, strict=True)
    ]
    return tuple(sum(map(Fraction, part), Fraction(0)) for part in zip(*each, strict=True))


def _height(x: Fraction) -> Fraction:
    """Return max(|p|, q) of a fraction p/q that is not 0."""
    return Fraction(max(abs(x.numerator), x.denominator) if x else 0)


def _with(document: Json, numbers: Mapping[Path, Fraction], exact: set[Path]) -> Json:
    """Return the document with other numbers at some paths; unchanged if a float overflows."""
    changed = document
    for path, number in numbers.items():
        try:
            text = str(number) if path in exact else written(float(number))
        except OverflowError:
            return document
        changed = replaced(changed, path, text)
    return changed


def _proposed(values: Sequence[Fraction], whole: Sequence[bool]) -> Iterator[tuple[Fraction, ...]]:
    """Yield replacements for some numbers, the smallest of each kind first.

    The kinds are small numbers, sums and differences for a pair, quotients by common factors, and
    numbers that are all closer to 0 by the same amount.
    """
    signs = [-1 if x < 0 else 1 for x in values]
    if len(values) == 2:
        for small in sorted(itertools.product(_SMALL, repeat=2), key=sum):
            yield tuple(Fraction(s * size) for s, size in zip(signs, small, strict=True))
        total, apart = values[0] + values[1], values[0] - values[1]
        yield from ((total, Fraction(0)), (Fraction(0), total))
        yield from ((apart, Fraction(0)), (Fraction(0), -apart))
    sizes = [abs(x) for x in values]
    factors = {Fraction(k) for k in _FACTORS} | {
        x / k for x in sorted({x for x in sizes if x})[:_LEAST] for k in _TARGETS
    }
    if all(whole):
        factors.add(Fraction(math.gcd(*(int(x) for x in values))))
    for factor in sorted((f for f in factors if f > 1), reverse=True):
        for bits in _BITS if not all(whole) else (0,):
            unit = 2**bits
            yield tuple(
                Fraction(round(x / factor)) if integer else Fraction(round(x * unit / factor), unit)
                for x, integer in zip(values, whole, strict=True)
            )
    least = min(sizes)
    for less in dict.fromkeys((least, least - 1, Fraction(least // 2), Fraction(1))):
        if less > 0:
            yield tuple(x - s * less for x, s in zip(values, signs, strict=True))
            yield tuple(x - signs[0] * less for x in values)
