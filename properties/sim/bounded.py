"""The bounded domain of lemma 3.13, its conditions decided in rationals, and its bound."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb, fmpq
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.exact import dot, rational, rationals
from attsvm.exact.numbers import is_positive_semidefinite
from attsvm.lipschitz import log_published_gradient_constant
from attsvm.theory import Slack, sibling
from properties.sim.entries import Entry, EntryPair, pairs, spare

__all__ = [
    "ADDED",
    "ADDED_AT_ONE",
    "LISTED",
    "LISTED_AT_ONE",
    "TOO_SMALL",
    "BoundedEntry",
    "BoundedPair",
    "bounded",
    "bounded_entries",
    "fitted",
    "fitted_entry",
    "published",
    "published_ball",
]


@dataclass(frozen=True, slots=True)
class BoundedPair:
    """One entry of the loss at two points, and the radius R of the domain."""

    pair: EntryPair
    R: float


@dataclass(frozen=True, slots=True)
class BoundedEntry:
    """One entry of the loss at one point, and the radius R of the domain."""

    entry: Entry
    R: float


def _radius(entry: Entry | EntryPair, points: list[Array], everything: bool) -> float:
    """The least integer R >= 4 that bounds what is listed, or b and h as well."""
    arrays = [entry.A, *(entry.A @ x for x in points)]
    if everything:
        arrays += [np.array([entry.b]), entry.h]
    largest = max(float(np.linalg.norm(array)) for array in arrays)
    return float(max(4, math.ceil(largest * (1 + 1e-9))))


def fitted(pair: EntryPair, *, everything: bool) -> BoundedPair:
    """A pair with the least integer R >= 4 that bounds what is listed, or b and h as well."""
    return BoundedPair(pair, _radius(pair, [pair.x, pair.y], everything))


def fitted_entry(entry: Entry, *, everything: bool) -> BoundedEntry:
    """The same for one point."""
    return BoundedEntry(entry, _radius(entry, [entry.x], everything))


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


def bounded_entries(
    *label_powers: int, everything: bool = False
) -> st.SearchStrategy[BoundedEntry]:
    """Single points in the same way; some with heads of mean 0 at x = 0, for the same reason."""
    drawn = pairs(*label_powers).map(lambda pair: Entry(pair.A, pair.x, pair.h, pair.b))
    return st.one_of(drawn, drawn.map(_level)).map(
        lambda entry: fitted_entry(entry, everything=everything)
    )


def _level(entry: Entry) -> Entry:
    n = len(entry.h)
    return Entry(entry.A, entry.x * 0.0, n * entry.h - entry.h.sum(), entry.b)


def _image(entry: Entry | EntryPair, x: Array, R: float) -> bool:
    image = [dot(row, rationals(x)) for row in rationals(entry.A)]
    return bool(dot(image, image) <= rational(R) ** 2)


def _matrix(entry: Entry | EntryPair, R: float) -> bool:
    """||A|| <= R as positive semidefiniteness of R^2 - A A^T."""
    A = rationals(entry.A)
    level = rational(R) ** 2
    return is_positive_semidefinite(
        [
            [(level if j == k else fmpq(0)) - dot(a, b) for k, b in enumerate(A)]
            for j, a in enumerate(A)
        ]
    )


def _head(entry: Entry | EntryPair, R: float) -> bool:
    h = rationals(entry.h)
    return bool(dot(h, h) <= rational(R) ** 2)


LISTED = {
    "R >= 4": lambda case: case.R >= 4,
    "||A x|| <= R": lambda case: _image(case.pair, case.pair.x, case.R),
    "||A y|| <= R": lambda case: _image(case.pair, case.pair.y, case.R),
    "||A|| <= R": lambda case: _matrix(case.pair, case.R),
}
"""The conditions that the lemma lists."""

ADDED = {
    "|b| <= R": lambda case: abs(case.pair.b) <= case.R,
    "||h|| <= R": lambda case: _head(case.pair, case.R),
}
"""The conditions that it lacks."""

LISTED_AT_ONE = {
    "R >= 4": lambda case: case.R >= 4,
    "||A x|| <= R": lambda case: _image(case.entry, case.entry.x, case.R),
    "||A|| <= R": lambda case: _matrix(case.entry, case.R),
}
"""What the lemma lists, for one point."""

ADDED_AT_ONE = {
    "|b| <= R": lambda case: abs(case.entry.b) <= case.R,
    "||h|| <= R": lambda case: _head(case.entry, case.R),
}
"""What it lacks, for one point."""

TOO_SMALL = {
    "1e-100 of the constant": sibling(share=1e-100),
    "1 as the constant": sibling(power=0),
}
"""Smaller constants than the printed one."""


def published(
    n: int, R: float, left: float, error: float, right: float, power: int, share: float
) -> Slack:
    """Whether left <= share (3 n^3 R^7 exp(13 R^2))^power right, over what overflows floats.

    `error` bounds the rounding of the left side; the power 0 leaves the constant out.
    """
    log = log_published_gradient_constant(n, R)
    scale = math.exp(-power * log) / share
    if not math.isfinite((left + error) * scale):
        return Slack.unknown("the left side overflows")
    return Slack.at_most(
        left * scale, right, (error + 1e-11 * left) * scale + 1e-14 * right + 1e-300
    )


def published_ball(n: int, R: float, left: arb, right: arb, power: int, share: float) -> arb | fmpq:
    """The same slack as a ball."""
    r = arb(rational(R))
    constant = (3 * n**3 * r**7 * (13 * r * r).exp()) ** power
    return spare(right, left / constant / arb(rational(share)))
