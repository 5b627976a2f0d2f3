"""Bounds four to seven of section 3.3: the published constants, and the best ones.

Published, up to a factor: beta^-2 n exp(3 R^2) or 2 beta^-3 n^2 exp(5 R^2), where R bounds ||A x||,
||A y|| and ||A||, and beta both values of alpha. Sharp: a number times the spread of the tokens.
Published constants overflow, so both sides are divided by them.
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb

from attsvm.exact import rational, rationals
from attsvm.exact.lipschitz import spread as exact_spread
from attsvm.lipschitz import spread
from attsvm.theory import Slack, sibling
from properties.sim.basics import (
    Domain,
    Points,
    alpha_at_least,
    bounded_logits,
    bounded_matrix,
    distance,
    exact_distance,
    exact_logits,
    exact_shift,
    shift,
)

__all__ = [
    "BALANCED",
    "EXAMPLES",
    "LISTED",
    "NEIGHBOURS",
    "ONE_TOKEN",
    "RAISED",
    "TILTED",
    "against",
    "log_published",
    "placed",
    "published",
    "published_ball",
    "sharp_ball",
    "sharp_slack",
    "slack",
]


def log_published(n: int, R: float, beta: float, power: int, exponential: bool) -> float:
    """Log of beta^-2 n exp(3 R^2) for power 2, of 2 beta^-3 n^2 exp(5 R^2) for power 3."""
    square = R * R if exponential else 0.0
    if power == 2:
        return math.log(n) - 2 * math.log(beta) + 3 * square
    return math.log(2) + 2 * math.log(n) - 3 * math.log(beta) + 5 * square


def against(left: float, error: float, right: float, log_scale: float) -> Slack:
    """That left <= exp(log_scale) right, both sides divided by the exponential."""
    if not (log_scale > -600 and math.isfinite(left + error + right)):
        return Slack.unknown("the constant or a side of the bound overflows")
    scale = math.exp(-log_scale)
    lost = (error + 1e-11 * left) * scale + 1e-13 * right + 1e-300
    return Slack.at_most(left * scale, right, lost)


def slack(case: Domain, kind: str, power: int, exponential: bool) -> Slack:
    """A published bound on `properties.sim.basics.shift`."""
    left, error = shift(case.at, kind)
    log_scale = log_published(len(case.at.A), case.R, case.beta, power, exponential)
    return against(left, error, distance(case.at), log_scale)


def published(case: Domain, power: int, exponential: bool) -> arb:
    """The published constant as a ball."""
    n, beta, R = len(case.at.A), rational(case.beta), arb(rational(case.R))
    square = R * R if exponential else arb(0)
    if power == 2:
        return n * (3 * square).exp() / beta**2
    return 2 * n**2 * (5 * square).exp() / beta**3


def published_ball(
    case: Domain, kind: str = "vector", power: int = 2, exponential: bool = True
) -> arb:
    """The slack of a published bound as a ball."""
    constant = published(case, power, exponential)
    return arb(exact_distance(case.at) - exact_shift(case.at, kind) / constant)


def sharp_slack(case: Points, kind: str, constant: float) -> Slack:
    """`shift` is at most a constant times the spread of the tokens times ||x - y||."""
    left, error = shift(case, kind)
    right = constant * spread(case.A) * distance(case)
    if not math.isfinite(left + error + right):
        return Slack.unknown("a side of the bound overflows")
    return Slack.at_most(left, right, error + 1e-12 * right)


def sharp_ball(case: Points, kind: str, constant: arb) -> arb:
    """The same as a ball."""
    right = constant * exact_spread(rationals(case.A)) * exact_distance(case)
    return arb(right - exact_shift(case, kind))


def placed(A: object, x: object, y: object, beta: float, R: float = 4.0) -> Domain:
    """A domain from lists."""
    return Domain(Points(*(np.array(part, dtype=np.float64) for part in (A, x, y))), R, beta)


def _above(case: Domain) -> bool:
    return all(alpha_at_least(logits, case.beta) for logits in exact_logits(case.at))


LISTED = {
    "R >= 4": lambda case: case.R >= 4,
    "||A x||, ||A y|| <= R": lambda case: bounded_logits(case.at, case.R),
    "||A|| <= R": lambda case: bounded_matrix(case.at.A, case.R),
    "0 < beta <= alpha(x), alpha(y)": _above,
}
"""The conditions of lemma 3.13, and what beta is."""

ONE_TOKEN = placed([[1.0]], [0.0], [1.0], 1.0)
TWO_TOKENS = placed([[2.0], [-2.0]], [0.0], [1 / 8], 2.0)
EXAMPLES = [ONE_TOKEN, TWO_TOKENS]

SHIFTED = placed([[1.0, 1.0], [-1.0, 1.0]], [0.0, 28.0], [1.0, 28.0], 2.0**41)
LONG = placed([[2.0**130], [-(2.0**130)]], [0.0], [2.0**-130], 2.0)
LOW = placed([[1.0], [-1.0]], [0.0], [1.0], 2.0**44)
RAISED = placed([[1 / 8, 1.0], [-1 / 8, 1.0]], [0.0, 2.75], [1 / 8, 2.75], 31.0)
"""Logits that raise alpha and move little: a large beta."""
NEIGHBOURS = {
    "logits beyond R": sibling(drop=["||A x||, ||A y|| <= R"], examples=[SHIFTED]),
    "||A|| beyond R": sibling(drop=["||A|| <= R"], examples=[LONG]),
    "beta above alpha": sibling(drop=["0 < beta <= alpha(x), alpha(y)"], examples=[LOW]),
    "the exponential left out": sibling(exponential=False),
}
"""What the published bounds do not survive."""

BALANCED = Points(np.array([[1.0], [-1.0]]), np.array([-1 / 256]), np.array([1 / 256]))
"""Two tokens of equal weight: softmax is steepest."""
TILTED = Points(np.array([[1.0], [-1.0]]), np.array([106 / 256]), np.array([107 / 256]))
"""Two tokens with logits 0.8315 apart, weights (1 +- q)/2, q^2 = 2/sqrt 3 - 1."""
