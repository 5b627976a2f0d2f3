"""The bounded domain of lemma 3.13, its conditions decided in rationals, and its bound."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hypothesis import strategies as st

from properties.sim.basics import bounded_image, bounded_matrix, length, spectral
from properties.sim.entries import EntryPair, pairs

__all__ = [
    "LISTED",
    "BoundedPair",
    "bounded",
    "fitted",
]


@dataclass(frozen=True, slots=True)
class BoundedPair:
    """One entry of the loss at two points, and the radius R of the domain."""

    pair: EntryPair
    R: float


def fitted(pair: EntryPair, *, everything: bool) -> BoundedPair:
    """A pair with the least integer R >= 4 that bounds what is listed, or b and h as well.

    Norms that are integers but for rounding count as such: the hypotheses decide exactly.
    """
    sizes = [spectral(pair.A), length(pair.A @ pair.x), length(pair.A @ pair.y)]
    if everything:
        sizes += [abs(pair.b), length(pair.h)]
    return BoundedPair(pair, float(max(4, math.ceil(max(sizes) * (1 - 1e-12)))))


def bounded(
    *label_powers: int, everything: bool = False, blocks: bool = False
) -> st.SearchStrategy[BoundedPair]:
    """Pairs with labels by powers of two, each in a domain that just holds it; see `pairs`.

    Half of them start at x = 0 with a head whose entries cancel, so that <f, h> = 0 there: the
    gradient is proportional to b at such points, and vanishes for large b elsewhere.
    """
    drawn = pairs(*label_powers, blocks=blocks)
    return st.one_of(drawn, drawn.map(_centred)).map(
        lambda pair: fitted(pair, everything=everything)
    )


def _centred(pair: EntryPair) -> EntryPair:
    return EntryPair(pair.A, pair.x * 0.0, pair.y - pair.x, pair.h - pair.h[::-1], pair.b)


LISTED = {
    "R >= 4": lambda case: case.R >= 4,
    "||A x|| <= R": lambda case: bounded_image(case.pair.A, case.pair.x, case.R),
    "||A y|| <= R": lambda case: bounded_image(case.pair.A, case.pair.y, case.R),
    "||A|| <= R": lambda case: bounded_matrix(case.pair.A, case.R),
}
"""The conditions that the lemma lists."""
