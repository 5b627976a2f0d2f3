"""The bounded domain of lemma 3.13, its conditions decided in rationals, and its bound."""

from __future__ import annotations

import math
from dataclasses import dataclass

from flint import arb, fmpq
from hypothesis import strategies as st

from attsvm.exact import rational
from attsvm.lipschitz import log_published_gradient_constant
from attsvm.theory import Slack
from properties.sim.basics import bounded_image, bounded_matrix, length, spectral
from properties.sim.entries import EntryPair, pairs, spare

__all__ = [
    "LISTED",
    "BoundedPair",
    "bounded",
    "fitted",
    "published",
    "published_ball",
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
