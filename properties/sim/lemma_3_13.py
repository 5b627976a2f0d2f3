"""Lemma 3.13: the gradient of one entry of the loss is Lipschitz.

    |grad L(x) - grad L(y)| <= 3 n^3 R^7 exp(13 R^2) ||x - y||_2,  R >= 4,
    where ||A x|| <= R, ||A y|| <= R, ||A|| <= R (spectral norm) are all that is listed.

Nothing listed bounds b or h, and the gradient is proportional to b near <f, h> = 0: with n = 2,
A = (1, 0), x = 0, h = (1, -1), R = 4 the bound fails from b of about 1e97 on. (x and y are
printed as vectors of R^d although A has d^2 columns, and y also names the value matrix; read: two
points of R^(d^2).) `amended` adds |b| <= R and ||h|| <= R. `sharp` needs no domain, no n and no
exponential:

    ||grad L(x) - grad L(y)|| <= ||A||^2 K(|b| (max h - min h)) ||x - y||,
    K(D) = 2 D max_{a, c in [0,1]} (1-c^2)(1-a^2)/16 (a + D c (1-a^2)/4).

Proof. The Hessian in s = A x along a unit u is b g' E[(h - Eh)(u - Eu)^2] + b^2 g'' Cov(h, u)^2
with moments under f. Shifting h moves g', g'' alone, so take them as free numbers g'(c), g''(c).
By the sign flip h -> -h both terms may be taken positive; the sum is then convex in h and largest
for h the indicator of a set S. Merging the tokens outside S into their mean, and those inside S
into at most two values, only helps; for these three tokens the form has rank two, and its largest
eigenvalue is at most that of two tokens, or Dg'/8 <= K. Two tokens give K, and attain it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from flint import arb

from attsvm.exact import norm, rational, rationals
from attsvm.exact.lipschitz import softmax_gradient_constant as exact_constant
from attsvm.exact.numbers import subtract
from attsvm.lipschitz import (
    log_published_gradient_constant,
    softmax_gradient_constant,
)
from attsvm.theory import Slack, claim, sibling
from properties.sim import SOURCE, relaxed
from properties.sim.bounded import ADDED, LISTED, BoundedPair, bounded, fitted
from properties.sim.entries import (
    EntryPair,
    adversarial,
    change,
    exact_change,
    exact_pair,
    pairs,
)

LEMMA: dict[str, Any] = {"source": SOURCE, "place": "Lemma 3.13"}


ONE_TOKEN = EntryPair(np.array([[1.0]]), np.zeros(1), np.ones(1), np.ones(1), 1.0)
LARGE_LABEL = EntryPair(
    np.array([[1.0], [0.0]]), np.zeros(1), np.ones(1), np.array([1.0, -1.0]), 2.0**332
)
TOO_SMALL = {
    "1e-100 of the constant": sibling(share=1e-100),
    "1 as the constant": sibling(power=0),
}


def published(case: BoundedPair, power: int, share: float) -> Slack:
    """Both sides divided by the constant, which overflows floats."""
    pair, n = case.pair, len(case.pair.h)
    scale = math.exp(-power * log_published_gradient_constant(n, case.R)) / share
    left, error = change(pair)
    distance = float(np.linalg.norm(pair.x - pair.y))
    if not math.isfinite((left + error) * scale):
        return Slack.unknown("the gradient overflows")
    return Slack.at_most(
        left * scale, distance, (error + 1e-11 * left) * scale + 1e-14 * distance + 1e-300
    )


def certify_published(case: BoundedPair, power: int = 1, share: float = 1.0) -> arb:
    """The slack as a ball, both sides divided by the constant."""
    pair, R = case.pair, arb(rational(case.R))
    constant = (3 * len(pair.h) ** 3 * R**7 * (13 * R * R).exp()) ** power
    distance = norm(subtract(rationals(pair.x), rationals(pair.y)))
    return arb(distance - exact_change(pair) / constant / arb(rational(share)))


@claim(
    "sim/lemma-3.13:literal",
    **LEMMA,
    statement="for R >= 4, ||A x||, ||A y||, ||A|| at most R: ||grad L(x) - grad L(y)|| <= "
    "3 n^3 R^7 exp(13 R^2) ||x - y||",
    data=bounded(0, 8, 64, 512),
    hypotheses=LISTED,
    examples=[fitted(ONE_TOKEN, everything=False), fitted(LARGE_LABEL, everything=False)],
    relaxed=relaxed.published_change,
    certify=certify_published,
    expected="refuted",
    siblings=TOO_SMALL,
)
def literal(case: BoundedPair, power: int = 1, share: float = 1.0) -> Slack:
    """With the listed conditions alone."""
    return published(case, power, share)


@claim(
    "sim/lemma-3.13:amended",
    **LEMMA,
    statement="the printed bound holds where also |b| <= R and ||h|| <= R",
    data=bounded(0, everything=True),
    hypotheses={**LISTED, **ADDED},
    examples=[fitted(ONE_TOKEN, everything=True)],
    relaxed=relaxed.published_change,
    certify=certify_published,
    expected="holds",
    depends_on=["sim/lemma-3.13:sharp"],
    siblings={
        **TOO_SMALL,
        "b and h of any size": sibling(drop=list(ADDED), data=bounded(0, 8, 64, 512)),
    },
)
def amended(case: BoundedPair, power: int = 1, share: float = 1.0) -> Slack:
    """With b and h bounded by R too. Far from tight: see the sharp reading."""
    return published(case, power, share)


def certify_sharp(case: EntryPair, share: float = 1.0, square: int = 2) -> arb:
    """The slack as a ball, the constant enclosed by branch and bound."""
    e = exact_pair(case)
    constant = exact_constant(e.oscillation) * e.norm_A**square * arb(rational(share))
    return arb(constant * norm(subtract(e.x, e.y)) - exact_change(case))


CLOSE = EntryPair(
    np.array([[1.0], [-1.0]]),
    np.array([0.65625]),
    np.array([0.6640625]),
    np.array([1.0, -1.0]) / 64,
    1.0,
)


@claim(
    "sim/lemma-3.13:sharp",
    **LEMMA,
    statement="||grad L(x) - grad L(y)|| <= ||A||^2 K(|b| (max h - min h)) ||x - y|| on the "
    "whole space, without n and without an exponential; no smaller K will do",
    data=pairs(0, 1),
    examples=[CLOSE],
    ensemble=adversarial,
    relaxed=relaxed.sharp_change,
    certify=certify_sharp,
    expected="holds",
    siblings={
        "95% of the constant": sibling(share=0.95),
        "half of the constant": sibling(share=0.5),
        "||A|| in place of its square": sibling(square=1),
    },
)
def sharp(case: EntryPair, share: float = 1.0, square: int = 2) -> Slack:
    """On the whole space, with the least constant of its kind."""
    left, error = change(case)
    constant = share * softmax_gradient_constant(case.oscillation)
    right = constant * float(np.linalg.norm(case.A, 2)) ** square
    right *= float(np.linalg.norm(case.x - case.y))
    return Slack.at_most(left, right, error + 1e-9 * right)
