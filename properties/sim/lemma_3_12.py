"""Lemma 3.12: the derivative of the logistic function is Lipschitz.

    |g'(x) - g'(y)| <= |x - y|,    g(x) = 1 / (1 + exp(-x)).

True with room to spare: the best constant is sup |g''| = 1/(6 sqrt 3) = 0.0962..., approached by
pairs around +-log(2 + sqrt 3). (As printed the lemma names q in its first sentence and g in its
formula; both are read as the logistic function of definition 3.5.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb
from hypothesis import strategies as st

from attsvm.exact import rational
from attsvm.exact.attention import logistic_slope as exact_slope
from attsvm.exact.lipschitz import logistic_curvature
from attsvm.lipschitz import LOGISTIC_CURVATURE
from attsvm.losses import logistic_slope
from attsvm.strategies import numbers, scaled
from attsvm.theory import Slack, claim, sibling
from properties.sim import SOURCE, relaxed


@dataclass(frozen=True, slots=True)
class Pair:
    """Two real numbers."""

    x: float
    y: float


@st.composite
def pairs(draw: st.DrawFn) -> Pair:
    """Pairs near and far apart."""
    x = draw(scaled(0, 3))
    return Pair(x, x + draw(numbers()) * 2.0 ** draw(st.sampled_from([0, -4, 3])))


def _slack(pair: Pair, constant: float) -> Slack:
    slopes = logistic_slope(np.array([pair.x, pair.y]))
    right = constant * abs(pair.x - pair.y)
    return Slack.at_most(
        float(abs(slopes[0] - slopes[1])), right, 1e-15 * (float(slopes.sum()) + right)
    )


def _ball(pair: Pair, constant: arb) -> arb:
    x, y = rational(pair.x), rational(pair.y)
    if x == y:
        return arb(0)
    return constant * abs(x - y) - abs(exact_slope(x) - exact_slope(y))


def certify_literal(pair: Pair, constant: float = 1.0) -> arb:
    """The slack with a constant taken exactly as given."""
    return _ball(pair, arb(rational(constant)))


def certify_sharp(pair: Pair, share: float = 1.0) -> arb:
    """The slack with a share of 1/(6 sqrt 3)."""
    return _ball(pair, logistic_curvature() * arb(rational(share)))


STEEPEST = Pair(math.log(2 + math.sqrt(3)), math.log(2 + math.sqrt(3)) - 1 / 64)


@claim(
    "sim/lemma-3.12:literal",
    source=SOURCE,
    place="Lemma 3.12",
    statement="|g'(x) - g'(y)| <= |x - y| for all real x and y",
    data=pairs(),
    examples=[Pair(0.0, 0.0), STEEPEST],
    relaxed=relaxed.slope_change,
    certify=certify_literal,
    expected="proved",
    proof="symbolic.sim.lemma_3_12:prove",
    siblings={
        "constant 1/11": sibling(constant=1 / 11),
        "constant 1/16": sibling(constant=1 / 16),
    },
)
def literal(pair: Pair, constant: float = 1.0) -> Slack:
    """As printed."""
    return _slack(pair, constant)


@claim(
    "sim/lemma-3.12:sharp",
    source=SOURCE,
    place="Lemma 3.12",
    statement="|g'(x) - g'(y)| <= |x - y| / (6 sqrt 3) for all real x and y; no less will do",
    data=pairs(),
    examples=[Pair(0.0, 0.0), STEEPEST],
    relaxed=relaxed.sharp_slope_change,
    certify=certify_sharp,
    expected="proved",
    proof="symbolic.sim.lemma_3_12:prove",
    siblings={
        "95% of the constant": sibling(share=0.95),
        "99.9% of the constant": sibling(share=0.999),
    },
)
def sharp(pair: Pair, share: float = 1.0) -> Slack:
    """With the least constant."""
    return _slack(pair, share * LOGISTIC_CURVATURE)
