"""Pairs of points in the bounded domain of lemma 3.13, with its conditions decided in rationals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import fmpq
from hypothesis import strategies as st

from attsvm.exact import dot, rational, rationals
from attsvm.exact.numbers import is_positive_semidefinite
from properties.sim.entries import EntryPair, pairs

__all__ = ["ADDED", "LISTED", "BoundedPair", "bounded", "fitted"]


@dataclass(frozen=True, slots=True)
class BoundedPair:
    """One entry of the loss at two points, and the radius R of the domain."""

    pair: EntryPair
    R: float


def fitted(pair: EntryPair, *, everything: bool) -> BoundedPair:
    """A pair with the least integer R >= 4 that bounds what is listed, or b and h as well."""
    arrays = [pair.A @ pair.x, pair.A @ pair.y, pair.A]
    if everything:
        arrays += [np.array([pair.b]), pair.h]
    largest = max(float(np.linalg.norm(array)) for array in arrays)
    return BoundedPair(pair, float(max(4, math.ceil(largest * (1 + 1e-9)))))


def bounded(*label_powers: int, everything: bool = False) -> st.SearchStrategy[BoundedPair]:
    """Pairs with labels by powers of two, each in a domain that just holds it.

    Half of them start at x = 0 with a head whose entries cancel, so that <f, h> = 0 there: the
    gradient is proportional to b at such points, and vanishes for large b elsewhere.
    """
    drawn = pairs(*label_powers)
    return st.one_of(drawn, drawn.map(_centred)).map(
        lambda pair: fitted(pair, everything=everything)
    )


def _centred(pair: EntryPair) -> EntryPair:
    return EntryPair(pair.A, pair.x * 0.0, pair.y - pair.x, pair.h - pair.h[::-1], pair.b)


def _image(case: BoundedPair, x: np.ndarray) -> bool:
    image = [dot(row, rationals(x)) for row in rationals(case.pair.A)]
    return bool(dot(image, image) <= rational(case.R) ** 2)


def _matrix(case: BoundedPair) -> bool:
    """||A|| <= R as positive semidefiniteness of R^2 - A A^T."""
    A = rationals(case.pair.A)
    level = rational(case.R) ** 2
    return is_positive_semidefinite(
        [
            [(level if j == k else fmpq(0)) - dot(a, b) for k, b in enumerate(A)]
            for j, a in enumerate(A)
        ]
    )


def _head(case: BoundedPair) -> bool:
    h = rationals(case.pair.h)
    return bool(dot(h, h) <= rational(case.R) ** 2)


LISTED = {
    "R >= 4": lambda case: case.R >= 4,
    "||A x|| <= R": lambda case: _image(case, case.pair.x),
    "||A y|| <= R": lambda case: _image(case, case.pair.y),
    "||A|| <= R": _matrix,
}
"""The conditions that the lemma lists."""

ADDED = {
    "|b| <= R": lambda case: abs(case.pair.b) <= case.R,
    "||h|| <= R": _head,
}
"""The conditions that it lacks."""
