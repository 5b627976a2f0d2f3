"""Values h of the tokens beside two points: residuals c of the fifth bound of section 3.3."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, fmpq
from hypothesis import strategies as st
from jaxtyping import Float

from attsvm._types import Array
from attsvm.attention import softmax
from attsvm.errors import DataError
from attsvm.exact import dot, rational, rationals
from attsvm.exact import softmax as exact_softmax
from attsvm.exact.lipschitz import softmax_entry_constant
from attsvm.exact.lipschitz import spread as exact_spread
from attsvm.exact.numbers import subtract
from attsvm.lipschitz import SOFTMAX_ENTRY_LIPSCHITZ, spread
from attsvm.strategies import arrays
from attsvm.theory import Slack
from properties.sim.basics import (
    Domain,
    Points,
    distance,
    domain,
    exact_distance,
    exact_logits,
    exact_shift,
    is_block,
    nearby,
    points,
    rounding,
    shift,
)
from properties.sim.steepness import EXAMPLES, LISTED, against, log_published, published

__all__ = [
    "BLOCK",
    "HELD",
    "LARGE",
    "WITH_VALUES",
    "Valued",
    "certify_printed",
    "certify_sharp",
    "certify_vector",
    "printed",
    "printed_vector",
    "sharp_slack",
    "steep",
    "valued",
    "values_at_most",
    "with_values",
]


@dataclass(frozen=True, slots=True)
class Valued:
    """A domain with two points, and the values h of its tokens."""

    of: Domain
    h: Float[Array, " n"]

    def __post_init__(self) -> None:
        if self.h.shape != self.of.at.A.shape[:1]:
            raise DataError("the values do not fit the tokens", value=self.h.shape)


def with_values(case: Domain, *h: float) -> Valued:
    """A domain and values."""
    return Valued(case, np.array(h))


@st.composite
def valued(draw: st.DrawFn, *value_powers: int, blocks: bool = False) -> Valued:
    """Domains with values by the powers of two given; half of them move <f, h>, see `points`."""
    moving = draw(st.booleans())
    at = draw(points(0, -1, moving=moving, blocks=blocks))
    h = draw(arrays(len(at.A)))
    if moving:
        h[0] += np.ptp(h) == 0.0
    return Valued(domain(at, 4.0), h * 2.0 ** draw(st.sampled_from(value_powers)))


def steep(generator: np.random.Generator) -> Valued:
    """Neighbouring points and any values."""
    at = nearby(generator)
    return Valued(domain(at, 4.0), generator.integers(-8, 9, size=len(at.A)) / 4)


def change(case: Valued) -> tuple[float, float]:
    """|<f - g, h>| and a bound on its rounding."""
    at, h = case.of.at, case.h
    left = abs(float((softmax(at.A @ at.x) - softmax(at.A @ at.y)) @ h))
    return left, 8 * rounding(at) * float(np.abs(h).sum()) + 1e-300


def exact_change(case: Valued) -> arb:
    """The same as a ball."""
    s, t = exact_logits(case.of.at)
    h = rationals(case.h)
    if len(set(subtract(s, t))) == 1 or len(set(h)) == 1:  # no weight moves, or to no effect
        return arb(0)
    return arb(abs(dot(subtract(exact_softmax(s), exact_softmax(t)), h)))


def _against(case: Domain, sides: tuple[float, float], exponential: bool) -> Slack:
    log_scale = log_published(len(case.at.A), case.R, case.beta, 2, exponential)
    return against(*sides, distance(case.at), log_scale + 2 * math.log(case.R))


def _against_ball(case: Domain, left: arb, exponential: bool) -> arb:
    constant = arb(rational(case.R)) ** 2 * published(case, 2, exponential)
    return arb(exact_distance(case.at) - left / constant)


def printed(case: Valued, exponential: bool) -> Slack:
    """|<f - g, h>| <= R^2 beta^-2 n exp(3 R^2) ||x - y||, both sides divided by the constant."""
    return _against(case.of, change(case), exponential)


def certify_printed(case: Valued, exponential: bool = True) -> arb:
    """The same as a ball."""
    return _against_ball(case.of, exact_change(case), exponential)


def printed_vector(case: Domain, exponential: bool) -> Slack:
    """The same for ||f - g||."""
    return _against(case, shift(case.at, "vector"), exponential)


def certify_vector(case: Domain, exponential: bool = True) -> arb:
    """The same as a ball."""
    return _against_ball(case, exact_shift(case.at, "vector"), exponential)


def sharp_slack(case: Valued, share: float, centred: bool) -> Slack:
    """|<f - g, h>| <= share sqrt(2)/4 osc(h) spread(A) ||x - y||; max |h| for osc(h) if centred."""
    at, h = case.of.at, case.h
    size = float(np.abs(h).max() if centred else h.max() - h.min())
    left, error = change(case)
    right = share * SOFTMAX_ENTRY_LIPSCHITZ * size * spread(at.A) * distance(at)
    if not math.isfinite(left + error + right):
        return Slack.unknown("a side of the bound overflows")
    return Slack.at_most(left, right, error + 1e-12 * right)


def certify_sharp(case: Valued, share: float = 1.0, centred: bool = False) -> arb:
    """The same as a ball."""
    h, at = rationals(case.h), case.of.at
    size = max(abs(x) for x in h) if centred else max(h) - min(h)
    constant = softmax_entry_constant() * arb(rational(share) * fmpq(size))
    right = constant * exact_spread(rationals(at.A)) * exact_distance(at)
    return arb(right - exact_change(case))


def _of(name: str) -> Any:
    return lambda case: LISTED[name](case.of)


def values_at_most(case: Valued, power: int) -> bool:
    """||h|| <= R^power, in rationals."""
    h = rationals(case.h)
    return bool(dot(h, h) <= rational(case.of.R) ** (2 * power))


HELD = {name: _of(name) for name in LISTED}
BLOCK = {"A is a block of A_1 kron A_2": lambda case: is_block(case.of.at.A)}
WITH_VALUES = [with_values(EXAMPLES[0], 1.0), with_values(EXAMPLES[1], 8.0, -8.0)]
LARGE = with_values(
    Domain(Points(np.array([[1.0], [0.0]]), np.zeros(1), np.ones(1)), 4.0, 2.0), 2.0**75, 0.0
)
"""Values that no condition of the source excludes."""
