"""Lemma 3.13 for the log-loss: the gradient of log(1 + exp(-b <softmax(A x), h>)) is Lipschitz.

The introduction trains with "a logistic loss function" logistic(Att(X) H, B), or cross entropy;
lemma 3.13 is stated for the logistic function g itself, which is no loss (definition 3.6). Read for
the loss that these words mean elsewhere, l(u) = log(1 + exp(-u)) at u = b <f, h>:

- `literal`: with the printed constant and the listed conditions. False as lemma 3.13 is: nothing
  bounds b or h, and the gradient is proportional to b where u is 0.
- `amended`: with |b| <= R and ||h|| <= R; the sharp constant is below R^2 (D/3 + D^2), D <= 2 R^2.
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
from properties.sim.bounded import (
    ADDED,
    LISTED,
    TOO_SMALL,
    BoundedPair,
    bounded,
    fitted,
    published,
    published_ball,
)
from properties.sim.comparison import distance
from properties.sim.entries import EntryPair, exact_pair, levelled, pairs, spare
from properties.sim.outer_losses import exact_outer_change, outer_change

LEMMA: dict[str, Any] = {"source": SOURCE, "place": "Lemma 3.13 and section 1 (logistic loss)"}
LARGE_LABEL = EntryPair(
    np.array([[1.0], [0.0]]), np.zeros(1), np.array([2.0**-162]), np.array([1.0, -1.0]), 2.0**162
)
STEEP = EntryPair(
    np.array([[1.0], [-1.0]]),
    np.array([0.65625]),
    np.array([0.6640625]),
    np.array([1.0, -1.0]),
    -8.0,
)


def _published(case: BoundedPair, power: int, share: float) -> Slack:
    left = outer_change(case.pair, "log-loss")
    return published(len(case.pair.h), case.R, *left, distance(case.pair), power, share)


def certify_published(case: BoundedPair, power: int = 1, share: float = 1.0) -> arb | fmpq:
    """The slack as a ball, both sides divided by the constant."""
    e = exact_pair(case.pair)
    left, right = exact_outer_change(case.pair, "log-loss"), norm(subtract(e.x, e.y))
    return published_ball(len(e.h), case.R, left, right, power, share)


@claim(
    "sim/lemma-3.13-log-loss:literal",
    **LEMMA,
    statement="lemma 3.13 as printed for log(1 + exp(-b <f, h>)), listed conditions alone",
    data=bounded(0, 8, 64, 512),
    hypotheses=LISTED,
    examples=[fitted(LARGE_LABEL, everything=False)],
    relaxed=partial(relaxed.published_change, loss="log-loss"),
    certify=certify_published,
    expected="refuted",
    siblings=TOO_SMALL,
)
def literal(case: BoundedPair, power: int = 1, share: float = 1.0) -> Slack:
    """With the listed conditions alone."""
    return _published(case, power, share)


@claim(
    "sim/lemma-3.13-log-loss:amended",
    **LEMMA,
    statement="the printed bound holds for the log-loss where also |b| <= R and ||h|| <= R",
    data=bounded(0, everything=True),
    hypotheses={**LISTED, **ADDED},
    relaxed=partial(relaxed.published_change, loss="log-loss"),
    certify=certify_published,
    expected="proved",
    proof="symbolic.sim.lemma_3_13_log_loss:prove_published",
    cost=2,
    depends_on=["sim/lemma-3.13-log-loss:sharp"],
    siblings={
        **TOO_SMALL,
        "b and h of any size": sibling(drop=list(ADDED), data=bounded(512)),
    },
)
def amended(case: BoundedPair, power: int = 1, share: float = 1.0) -> Slack:
    """With b and h bounded by R too. Far from tight: see the sharp reading."""
    return _published(case, power, share)


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
    examples=[STEEP],
    ensemble=partial(levelled, low=-8, high=1),
    relaxed=relaxed.log_loss_change,
    certify=certify_sharp,
    expected="proved",
    proof="symbolic.sim.lemma_3_13_log_loss:prove",
    siblings={
        "95% of the constant": sibling(share=0.95),
        "half of the constant": sibling(share=0.5),
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
