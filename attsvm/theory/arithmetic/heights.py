"""Relations of a batch in floats: whether they are met, and the distance to being met."""

import functools
from operator import and_, or_
from types import ModuleType
from typing import Any

import numpy as np

from attsvm._types import Array
from attsvm.theory.arithmetic.bounds import Unbounded
from attsvm.theory.arithmetic.lanes import Lane, float_of
from attsvm.theory.arithmetic.namespace import All, AnyOf, Comparison, Relation

_ROUNDING = 1e-9
"""Largest difference of the two sides that counts as rounding in floats."""

TOUCHED = 1.0 + 2.0**-31 + 2.0**-52
"""Height that marks equal sides of a strict comparison that are not positive. Such sides may
violate the comparison, but give no measure of closeness. A ratio has this value only by chance."""

_NEAR = 1e-12
"""Rounding of the left side, as a share of the right side, that may hide a violation in floats."""


def heights(library: ModuleType, relation: Relation) -> Any:
    """Return how close a batch comes to violation: the ratio of the sides, or the residual.

    If a side is negative or the right side is 0, the height is the difference of the sides. A
    difference or residual that is positive beyond rounding gets 1 added. Above 1, floats see a
    violation. Without the limit for rounding, a search would keep sides of 0 as violations. A
    conjunction has the largest height of its parts, a disjunction the smallest.
    """
    return seen(library, relation, touching=False)[0]


def seen(library: ModuleType, relation: Relation, *, touching: bool = True) -> tuple[Any, Any]:
    """Return the heights of a batch, and the lanes in which floats cannot rule out a violation.

    A lane counts if its sides violate the relation or are equal, up to rounding of the last
    digits, or if a side is NaN. If `touching`, equal sides of a strict comparison that are not
    positive have the height `TOUCHED`, not 0.
    """
    if isinstance(relation, All | AnyOf):
        parts = [seen(library, part, touching=touching) for part in relation.parts]
        all_hold = isinstance(relation, All)
        choose = library.maximum if all_hold else library.minimum
        height = functools.reduce(choose, [part for part, _ in parts])
        return height, functools.reduce(or_ if all_hold else and_, [part for _, part in parts])
    if relation.kind == "equal":
        result: Any = None
        for gap in _gap(relation):
            size = library.abs(_number(gap)) if isinstance(gap, Lane) else gap
            result = size if result is None else library.maximum(result, size)
        return library.where(result > _ROUNDING, 1 + result, result), result != 0
    left, right = (
        side if hasattr(side, "shape") else library.asarray(float_of(side), dtype=library.float64)
        for side in (_number(relation.left), _number(relation.right))
    )
    ratio = left / library.where(right > 0, right, right * 0 + 1)
    gap = left - right
    # negated, so that NaN, with which every comparison is False, is suspect as well
    suspect = ~(gap < -_NEAR * library.abs(right))
    gap = library.where(gap > _ROUNDING, 1 + gap, gap)
    if touching and relation.kind == "below":
        gap = library.where(left == right, TOUCHED, gap)
    return library.where((right > 0) & (left >= 0), ratio, gap), suspect


def is_met(relation: Relation) -> Any:
    """Return which instances meet a hypothesis in floats, up to rounding; NaN does not meet it.

    The answer is a mask of the batch, in the library of the lanes, or one value for the batch.
    """
    if isinstance(relation, All | AnyOf):
        parts = [is_met(part) for part in relation.parts]
        return functools.reduce(and_ if isinstance(relation, All) else or_, parts)
    if relation.kind == "equal":  # of arrays that may have no entry
        return functools.reduce(and_, [abs(_number(g)) <= _ROUNDING for g in _gap(relation)], True)
    left, right = _number(relation.left), _number(relation.right)
    # instances on the boundary stay, though rounding may put them beyond it: the judge decides
    return left <= right + 1e-12 * abs(right)


def shortfall(relation: Relation, batch: int) -> Array:
    """Return how far each instance is from meeting a relation (batch,), as floats see it.

    The distance is the difference of the sides or the largest residual, 0 if the relation is met,
    infinity for NaN. A conjunction has the largest distance of its parts, a disjunction the least.
    """
    if isinstance(relation, All | AnyOf):
        parts = [shortfall(part, batch) for part in relation.parts]
        return functools.reduce(np.maximum if isinstance(relation, All) else np.minimum, parts)
    if relation.kind == "equal":  # of arrays that may have no entry
        gaps = [np.abs(_number(gap)) for gap in _gap(relation)]
        missed = functools.reduce(np.maximum, gaps, np.zeros(batch))
    else:
        missed = _number(relation.left) - _number(relation.right)
    missed = np.where(np.isnan(missed), np.inf, np.maximum(missed, 0.0))
    return np.where(is_met(relation), 0.0, np.broadcast_to(missed, (batch,)))


def proved(relation: Relation) -> tuple[Any, Any]:
    """Return two masks: lanes whose bounds prove a relation, and lanes whose bounds refute it."""
    if isinstance(relation, All | AnyOf):
        parts = [proved(part) for part in relation.parts]
        joins = (and_, or_) if isinstance(relation, All) else (or_, and_)
        return tuple(map(functools.reduce, joins, zip(*parts, strict=True)))
    gaps = [(_number(gap), getattr(gap, "error", 0.0)) for gap in _gap(relation)]
    if relation.kind == "equal":  # of arrays that may have no entry
        holds = [np.equal(gap, 0.0) & np.equal(error, 0.0) for gap, error in gaps]
        fails = [np.greater(abs(gap), error) for gap, error in gaps]
        return functools.reduce(and_, holds, True), functools.reduce(or_, fails, False)
    ((gap, error),) = gaps
    if relation.kind == "below":
        return np.less(gap, -error), np.greater_equal(gap, error)
    return np.less_equal(gap, -error), np.greater(gap, error)


def is_unbounded(relation: Relation) -> bool:
    """Return whether each comparison has a side without error bound, so that none is decided."""
    if isinstance(relation, All | AnyOf):
        return all(map(is_unbounded, relation.parts)) and bool(relation.parts)
    gaps = _gap(relation)
    return bool(gaps) and all(isinstance(gap, Unbounded) for gap in gaps)


def _gap(relation: Comparison) -> Any:
    """Return left minus right as a list of lanes, one for each entry."""
    moved = relation.left - relation.right
    return list(moved.ravel()) if isinstance(moved, np.ndarray) else [moved]


def _number(value: Any) -> Any:
    return value.value if isinstance(value, Lane) else value
