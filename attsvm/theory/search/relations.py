"""Exact relations between the numbers of an instance; random draws almost never satisfy them.

A relation is an equation between a few places: entries of arrays or single numbers, of one or
several variables. It is of one of three kinds:

- a quadric, such as a^2 + b^2 = c^2, a b = c d or 1/a + 1/b = 1/c; lines through one integer
  solution yield all others;
- a sum of multiples, of which one term may be a square;
- a product.

Solutions are integers of many sizes. If no place is restricted to integers and multiples of a
solution are solutions, they are also multiplied by powers of two.
"""

import itertools
import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from attsvm._types import Array

Key = TypeVar("Key", bound=Hashable)

_SHARE, _PLANS = 8, 3
"""One lane of a batch in `_SHARE` meets a relation (number of lanes). Number of relations in a
batch, each with places of its own."""

_MOST = 12
"""Maximum number of places of a relation."""

_FACTORS = np.array([1.0, 1.0, 1.0, 2.0, 3.0, 5.0, 10.0])
_POWERS = np.array([*[1.0] * 12, *np.exp2(np.arange(-8.0, 5.0))])
"""Factors of solutions, and powers of two that solutions are multiplied by."""

_COUNTS = (2, 3, 3, 3, 3, 4, 4, 4, 5, 6)
"""Numbers of places from which the size of a relation between random places is drawn."""


@dataclass(frozen=True, slots=True)
class Domain:
    """The allowed values of an array's entries: whether they are integers, and their bounds."""

    whole: bool = False
    low: float | None = None
    high: float | None = None

    def has(self, values: Array) -> Any:
        """Return which values lie inside."""
        inside = values >= (-math.inf if self.low is None else self.low)
        inside &= values <= (2.0**53 if self.high is None else self.high)
        return inside & (values == np.rint(values)) if self.whole else inside


Solutions = Callable[[int], Array]
"""A function that returns `count` solutions of an equation, shape (places, count)."""


@dataclass(frozen=True, slots=True)
class Equation:
    """An equation between a few places.

    Attributes:
        solutions: returns random integer solutions.
        homogeneous: whether multiples of a solution are solutions.
        even: whether signs of a solution may be changed one by one.
    """

    solutions: Solutions
    homogeneous: bool
    even: bool


def relate(
    arrays: Mapping[Key, Array],
    domains: Mapping[Key, Domain],
    generator: np.random.Generator,
    *,
    share: int = _SHARE,
    plans: int = _PLANS,
) -> None:
    """Change some rows of a batch in place so that they meet relations; arrays (..., lanes).

    Every `share`-th row is changed. There are `plans` different relations with their places. A row
    is left unchanged if its solution lies outside a domain.
    """
    keys = [key for key in arrays if key in domains and arrays[key].size]
    batch = max((arrays[key].shape[-1] for key in keys), default=0)
    shapes = {key: arrays[key].shape[:-1] for key in keys}
    step = share * plans
    for plan in range(min(plans, batch)):
        groups = _groups(shapes, generator)
        if groups:
            lanes = slice(plan * share, None, step)
            equation = _equation(len(groups[0]), generator)
            _meet(arrays, domains, groups, equation, lanes, generator)


Place = tuple[Key, int]
"""An array and the index of one of its entries."""


def _meet(
    arrays: Mapping[Key, Array],
    domains: Mapping[Key, Domain],
    groups: list[list[Place[Key]]],
    equation: Equation,
    lanes: slice,
    generator: np.random.Generator,
) -> None:
    """Write solutions of the equation into all groups of places, in the given rows.

    Groups that share a place use one solution, with its other numbers permuted.
    """
    places = [place for group in groups for place in group]
    shared = [k for k, place in enumerate(groups[0]) if places.count(place) > 1]
    free = [k for k in range(len(groups[0])) if k not in shared]
    whole = any(domains[key].whole for key, _ in places)
    count = len(range(lanes.start, len(arrays[places[0][0]].T), lanes.step))
    solved = _solved(equation, count * (1 if shared else len(groups)), whole, generator)
    results: dict[Place[Key], Array] = {}
    for number, group in enumerate(groups):
        solution = solved[:, :count] if shared else solved[:, number * count : (number + 1) * count]
        if number and shared:
            solution = solution.copy()
            solution[free] = solution[generator.permutation(free)]
        for row, place in zip(solution, group, strict=True):
            results.setdefault(place, row)
    lows = {place: domains[place[0]].low for place in results}
    positive = [place for place, low in lows.items() if low is not None and low >= 0]
    if equation.even:
        results |= {place: abs(results[place]) for place in positive}
    elif positive:
        # only the sign of the whole solution may change, and only if multiples are solutions
        turned = np.where(results[positive[0]] < 0, -1.0, 1.0) if equation.homogeneous else 1.0
        results = {place: turned * values for place, values in results.items()}
    inside: Array | bool = True
    for (key, _), values in results.items():
        if domains[key] != Domain():
            inside = inside & domains[key].has(values)
    for (key, entry), values in results.items():
        shape = arrays[key].shape[:-1]
        index: Any = (*np.unravel_index(entry, shape), lanes) if shape else lanes
        np.copyto(arrays[key][index], values, where=inside)


def _solved(equation: Equation, count: int, whole: bool, generator: np.random.Generator) -> Array:
    """Return solutions (places, count), multiplied by factors if multiples are solutions."""
    result = equation.solutions(count)
    if not equation.homogeneous:
        return result
    factor = _FACTORS[generator.integers(0, len(_FACTORS), size=count)]
    if not whole:
        factor *= _POWERS[generator.integers(0, len(_POWERS), size=count)]
    return np.asarray(result * factor)


# the places of an equation


def _groups(
    shapes: Mapping[Key, tuple[int, ...]], generator: np.random.Generator
) -> list[list[Place[Key]]]:
    """Return groups of places; the equation is to hold in each group.

    The groups are random places; all places, partitioned; or slices of an array, one or all along
    an axis, alone or joined with places of other arrays.
    """
    sizes = {key: math.prod(shape) for key, shape in shapes.items()}
    total = sum(sizes.values())
    if total < 2:
        return []
    sliced = [key for key, size in sizes.items() if size > 1]
    if not sliced or generator.random() < 0.5:
        size = min(int(generator.choice(_COUNTS)), total)
        several = total <= 2 * _MOST and generator.random() < 0.3
        chosen = generator.permutation(total)[: total // size * size if several else size]
        ends = np.cumsum([*sizes.values()])
        keys, which = [*sizes], np.searchsorted(ends, chosen, side="right")
        order = [
            (keys[k], int(x - ends[k] + sizes[keys[k]])) for k, x in zip(which, chosen, strict=True)
        ]
        return [order[k : k + size] for k in range(0, len(order), size)]
    key = sliced[int(generator.integers(len(sliced)))]
    slices = _slices(shapes[key], generator)
    groups = [[(key, k) for k in row.tolist()] for row in slices[:_MOST] if len(row) <= _MOST]
    others = [other for other in shapes if other != key]
    for k in generator.permutation(len(others)).tolist() if groups else ():
        if generator.random() < 0.4:
            break
        groups = _joined(groups, others[k], shapes[others[k]], generator)
    if generator.random() < 0.2:
        groups = [[*dict.fromkeys(itertools.chain(*groups))]]
    groups = groups if generator.random() < 0.6 else groups[:1]
    return groups if groups and 2 <= len(groups[0]) <= _MOST else []


def _slices(shape: tuple[int, ...], generator: np.random.Generator) -> Array:
    """Return the entries of an array as slices along one axis (slices, places), or as one slice."""
    places = np.arange(math.prod(shape)).reshape(shape)
    if generator.random() < (0.5 if len(shape) == 1 else 0.2):
        return places.reshape(1, -1)
    axis = int(generator.integers(len(shape)))
    return np.moveaxis(places, axis, 0).reshape(shape[axis], -1)


def _joined(
    groups: list[list[Place[Key]]],
    other: Key,
    shape: tuple[int, ...],
    generator: np.random.Generator,
) -> list[list[Place[Key]]]:
    """Return the groups, each extended by a place of another array, or all by the same place."""
    size, each = math.prod(shape), math.prod(shape[1:])
    flat = [place for group in groups for place in group]
    if size == len({*flat}) == len(flat) <= _MOST and generator.random() < 0.5:
        return [[place, (other, k)] for k, place in enumerate(flat)]
    place = int(generator.integers(max(size, 1)))
    if shape[:1] == (len(groups),):
        return [[*group, (other, k * each + place % each)] for k, group in enumerate(groups)]
    return [[*group, (other, place)] for group in groups]


# equations


def _equation(size: int, generator: np.random.Generator) -> Equation:
    """Return a random equation of `size` places; the last place often has a role of its own."""
    kind = generator.random()
    if size > 2 and kind < 0.5:
        return quadric_relation(size, generator)
    if size > 2 and kind < 0.6:
        return product_relation(size, generator)
    return sum_relation(size, generator)


_BITS = np.array([2.0, 3.0, 5.0, 7.0, 10.0])
"""Maximum numbers of bits of the integers that solutions are made from."""


def no_relation(generator: np.random.Generator, size: int, count: int) -> Array:
    """Return unrelated integers (size, count) of many sizes and both signs, mostly small."""
    most = _BITS[generator.integers(0, len(_BITS), size=count)]
    uniform = 2.0 * generator.random((size, count)) - 1.0
    return np.asarray(np.copysign(np.floor(np.exp2(abs(uniform) * most)), uniform))


def quadric_relation(size: int, generator: np.random.Generator) -> Equation:
    """Return x^T Q x = 0 with a known solution: a sum of squares, or of products of pairs.

    If e is a solution, then (u^T Q u) e - 2 (e^T Q u) u is one for any u: it is the second point of
    the quadric on the line through e in direction u.
    """
    Q, e = np.zeros((size, size)), np.zeros(size)
    squares = generator.random() < 0.6
    if squares:
        Q[np.diag_indices(size)] = 1.0
        if generator.random() < 0.3:
            Q[np.diag_indices(size)] = generator.choice([1.0, 1.0, -1.0, 2.0, 3.0], size=size)
        Q[0, 0], Q[-1, -1] = 1.0, -1.0
        e[[0, -1]] = 1.0
    else:
        rows, columns = np.triu_indices(size, 1)
        Q[rows, columns] = generator.choice([-1.0, 0.0, 1.0, 1.0], size=len(rows))
        if generator.random() < 0.5:
            Q[rows, columns] *= (rows % 2 == 0) & (columns == rows + 1)
            Q[-1, -1] = -1.0 * (size % 2)
        e[0] = 1.0
        Q += Q.T

    def solutions(count: int) -> Array:
        # Q, e and u are integers, so the solution is one; division by the greatest common divisor
        # keeps it small
        u = no_relation(generator, size, count)
        result = (u * (Q @ u)).sum(axis=0) * e[:, None] - 2.0 * (e @ Q @ u) * u
        common = np.gcd.reduce(result.astype(np.int64), axis=0)
        return np.asarray(result / np.maximum(common, 1))

    return Equation(solutions, homogeneous=True, even=squares)


def sum_relation(size: int, generator: np.random.Generator) -> Equation:
    """Return the equation: a sum of multiples, one perhaps of a square, is 0 or a small integer."""
    factors = generator.choice([1.0, -1.0, 2.0, -2.0, 3.0], size=size)
    if generator.random() < 0.5:
        factors = np.ones(size)
    solved, other = generator.permutation(size)[:2]
    power = np.ones((size, 1))
    if generator.random() < 0.4:
        power[other] = 2.0
    more = float(generator.integers(-2, 3)) if generator.random() < 0.3 else 0.0
    homogeneous = more == 0.0 and bool((power == 1.0).all())
    factors[solved] = factors[solved] if homogeneous else 1.0

    def solutions(count: int) -> Array:
        result = no_relation(generator, size, count)
        terms = factors[:, None] * result**power
        terms[solved] = 0.0
        result *= factors[solved]
        result[solved] = terms.sum(axis=0) + more
        return result

    return Equation(solutions, homogeneous, even=False)


def product_relation(size: int, generator: np.random.Generator) -> Equation:
    """Return the equation that the last number is the product of the others, which are small."""

    def solutions(count: int) -> Array:
        result = np.clip(no_relation(generator, size, count), -64.0, 64.0)
        result[-1] = result[:-1].prod(axis=0)
        return result

    return Equation(solutions, homogeneous=False, even=False)
