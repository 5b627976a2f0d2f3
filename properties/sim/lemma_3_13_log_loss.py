"""Lemma 3.13 for the log-loss: the gradient of log(1 + exp(-b <softmax(A x), h>)) is Lipschitz.

The introduction trains with "a logistic loss function" logistic(Att(X) H, B), or cross entropy;
lemma 3.13 is stated for the logistic function g itself, which is no loss (definition 3.6). Ours, as
the paper prints no such lemma and there is no literal reading: the same for l(u) = log(1 + exp(-u))
at u = b <f, h>.

- `sharp`: on the whole space ||grad L(x) - grad L(y)|| <= ||A||^2 K(|b| (max h - min h)) ||x - y||,
  K(D) = D/(3 sqrt 3) up to D = 2 sqrt 3, then (D/4 + 1/D)^2/2; no smaller K will do. Up to
  D = 2 sqrt 3 it is the constant of -u, approached where u is very negative.

Proof in `symbolic.sim.lemma_3_13_log_loss`.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from flint import arb, fmpq

from attsvm.exact import norm, rational
from attsvm.exact.lipschitz import log_loss_gradient_constant as exact_constant
from attsvm.exact.numbers import subtract
from attsvm.lipschitz import log_loss_gradient_constant
from attsvm.theory import Slack, claim, sibling
from properties.sim import SOURCE, relaxed
from properties.sim.basics import distance
from properties.sim.entries import EntryPair, exact_pair, levelled, pairs, spare
from properties.sim.outer_losses import exact_outer_change, outer_change

LEMMA: dict[str, Any] = {"source": SOURCE, "place": "Section 1, logistic loss; as lemma 3.13"}
STEEP = EntryPair(
    np.array([[1.0], [-1.0]]),
    np.array([0.65625]),
    np.array([0.6640625]),
    np.array([1.0, -1.0]),
    -8.0,
)
BELOW = EntryPair(STEEP.A, STEEP.x, STEEP.y, np.array([1 / 64, 0.0]) - 16, 1.0)
BEYOND = EntryPair(
    STEEP.A, np.ones(1) / 8, np.ones(1) * 129 / 1024, np.array([111.0, -145.0]) / 16, 1.0
)


def certify_sharp(
    case: EntryPair, share: float = 1.0, square: int = 2, straight: bool = False
) -> arb | fmpq:
    """The slack as a ball."""
    e = exact_pair(case)
    D = e.oscillation
    constant = arb(D) / (3 * arb(3).sqrt()) if straight else exact_constant(D)
    right = constant * e.norm_A**square * arb(rational(share)) * norm(subtract(e.x, e.y))
    return spare(right, exact_outer_change(case, "log-loss"))


@claim(
    "sim/lemma-3.13-log-loss:sharp",
    **LEMMA,
    statement="the gradient of log(1 + exp(-b <f, h>)) is ||A||^2 K(D)-Lipschitz on the whole "
    "space, D = |b| (max h - min h), K = D/(3 sqrt 3) up to D = 2 sqrt 3 and then "
    "(D/4 + 1/D)^2/2; no smaller K will do",
    data=pairs(0, 1),
    examples=[STEEP, BELOW, BEYOND],
    ensemble=partial(levelled, low=-8, high=1),
    relaxed=relaxed.log_loss_change,
    certify=certify_sharp,
    expected="proved",
    proof="symbolic.sim.lemma_3_13_log_loss:prove",
    siblings={
        "95% of the constant": sibling(share=0.95),
        "99.9% of the constant": sibling(share=0.999),
        "D/(3 sqrt 3) for every D": sibling(straight=True),
        "||A|| in place of its square": sibling(square=1),
    },
)
def sharp(case: EntryPair, share: float = 1.0, square: int = 2, straight: bool = False) -> Slack:
    """On the whole space, with the least constant of its kind."""
    left, error = outer_change(case, "log-loss")
    D = case.oscillation
    constant = D / (3.0 * math.sqrt(3.0)) if straight else log_loss_gradient_constant(D)
    right = share * constant * float(np.linalg.norm(case.A, 2)) ** square
    right *= distance(case)
    return Slack.at_most(left, right, error + 1e-12 * right)
