"""Section 3.4, step 1: the logistic function is Lipschitz.

    |g(x) - g(y)| <= |x - y|,    g(x) = 1 / (1 + exp(-x)).

True "through mean value theorem": g' = g (1 - g) is at most 1/4, and 1/4 is the best constant,
approached by x = -y -> 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb

from attsvm.exact import rational
from attsvm.lipschitz import LOGISTIC_CURVATURE
from attsvm.losses import LOGISTIC
from attsvm.theory import Slack, claim, sibling
from properties.sim import SOURCE
from properties.sim.lemma_3_12 import Pair, pairs

STEP: dict[str, Any] = {"source": SOURCE, "place": "Section 3.4, step 1"}


def _slack(pair: Pair, constant: float) -> Slack:
    """g(x) - g(y) without cancellation; its error is relative, eps |x| and eps |y| in exponents."""
    high, low = max(pair.x, pair.y), min(pair.x, pair.y)
    left = -float(LOGISTIC.drop(np.array([high]), np.array([high - low]))[0])
    right = constant * (high - low)
    error = left * (4e-15 + 4e-16 * (abs(high) + abs(low))) + 4e-16 * right + 1e-300
    return Slack.at_most(left, right, error)


def certify(pair: Pair, constant: float = 1.0) -> arb:
    """The slack from g(x) - g(y) = sinh((x - y)/2) / (2 cosh(x/2) cosh(y/2))."""
    x, y = rational(pair.x), rational(pair.y)
    if x == y:
        return arb(0)
    half = [arb(z / 2) for z in (x, y, x - y)]
    moved = abs(half[2].sinh()) / (2 * half[0].cosh() * half[1].cosh())
    return rational(constant) * abs(x - y) - moved


def certify_sharp(pair: Pair, constant: float = 0.25) -> arb:
    """The same with 1/4 where nothing else is said."""
    return certify(pair, constant)


STEEPEST = Pair(1 / 128, -1 / 128)
SAME = Pair(0.0, 0.0)


@claim(
    "sim/logistic-lipschitz:literal",
    **STEP,
    statement="|g(x) - g(y)| <= |x - y| for all real x and y",
    data=pairs(),
    examples=[SAME, STEEPEST],
    certify=certify,
    expected="proved",
    proof="symbolic.sim.logistic_lipschitz:prove",
    siblings={"constant 0.2375": sibling(constant=0.2375), "constant 1/5": sibling(constant=0.2)},
)
def literal(pair: Pair, constant: float = 1.0) -> Slack:
    """As printed."""
    return _slack(pair, constant)


@claim(
    "sim/logistic-lipschitz:sharp",
    **STEP,
    statement="|g(x) - g(y)| <= |x - y| / 4 for all real x and y; no less will do",
    data=pairs(),
    examples=[SAME, STEEPEST],
    certify=certify_sharp,
    expected="proved",
    proof="symbolic.sim.logistic_lipschitz:prove",
    siblings={
        "95% of the constant": sibling(constant=0.2375),
        "the constant 1/(6 sqrt 3) of g'": sibling(constant=LOGISTIC_CURVATURE),
    },
)
def sharp(pair: Pair, constant: float = 0.25) -> Slack:
    """With the least constant."""
    return _slack(pair, constant)
