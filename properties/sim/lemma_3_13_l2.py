"""Lemma 3.13 for the squared loss: the gradient of (<softmax(A x), h> - b)^2 is Lipschitz.

One entry of the regression objective ||D(X)^-1 exp(A1 X A2^T) A3 Y - B||_2^2 of the introduction,
whose Lipschitz constants section 1 speaks of too, without naming one.

- `literal`: lemma 3.13, conditions and constant as printed, for this loss. False: nothing bounds b
  or h.
- `amended`: with |b| <= R and ||h|| <= R; the sharp constant is at most w^2/4 + w (2 r - w)/5 with
  w <= 2 R and r <= 2 R.
- `sharp`: on the whole space, with w = max h - min h and r = max |h - b|,
  ||grad L(x) - grad L(y)|| <= ||A||^2 w^2 k(r/w - 1/2) ||x - y||,
  k(x) = max_{0 <= a <= 1} (1-a^2)(x a + (1-3a^2)/4), and no smaller function of w and r will do.
  For r = w/2, b in the middle of the values, it is w^2/4; for large r nearly 2 r w/(3 sqrt 3).

Proof in `symbolic.sim.lemma_3_13_l2`. A sum of squares of many entries has the sum of the
constants.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from flint import arb, fmpq

from attsvm.exact import norm, rational
from attsvm.exact.lipschitz import squared_gradient_constant as exact_constant
from attsvm.exact.numbers import subtract
from attsvm.lipschitz import squared_gradient_constant
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
from properties.sim.entries import EntryPair, exact_pair, pairs, spare
from properties.sim.outer_losses import (
    aimed,
    exact_outer_change,
    outer_change,
    reach,
    residuals,
)

LEMMA: dict[str, Any] = {"source": SOURCE, "place": "Lemma 3.13 and section 1 (l2 loss)"}
LARGE_HEAD = EntryPair(
    np.array([[1.0], [0.0]]), np.zeros(1), np.ones(1), np.array([0.0, 2.0**161]), 0.0
)
CENTRED = EntryPair(
    np.array([[1.0], [-1.0]]), np.zeros(1), np.array([2.0**-7]), np.array([1.0, -1.0]), 0.0
)


def _published(case: BoundedPair, power: int, share: float) -> Slack:
    left = outer_change(case.pair, "squared")
    return published(len(case.pair.h), case.R, *left, distance(case.pair), power, share)


def certify_published(case: BoundedPair, power: int = 1, share: float = 1.0) -> arb | fmpq:
    """The slack as a ball, both sides divided by the constant."""
    e = exact_pair(case.pair)
    left, right = exact_outer_change(case.pair, "squared"), norm(subtract(e.x, e.y))
    return published_ball(len(e.h), case.R, left, right, power, share)


@claim(
    "sim/lemma-3.13-l2:literal",
    **LEMMA,
    statement="lemma 3.13 as printed for (<f, h> - b)^2, with the listed conditions alone",
    data=bounded(0, 8, 64, 512),
    hypotheses=LISTED,
    examples=[fitted(LARGE_HEAD, everything=False)],
    relaxed=partial(relaxed.published_change, loss="squared"),
    certify=certify_published,
    expected="refuted",
    siblings=TOO_SMALL,
)
def literal(case: BoundedPair, power: int = 1, share: float = 1.0) -> Slack:
    """With the listed conditions alone."""
    return _published(case, power, share)


@claim(
    "sim/lemma-3.13-l2:amended",
    **LEMMA,
    statement="the printed bound holds for the squared loss where also |b| <= R and ||h|| <= R",
    data=bounded(0, everything=True),
    hypotheses={**LISTED, **ADDED},
    relaxed=partial(relaxed.published_change, loss="squared"),
    certify=certify_published,
    expected="proved",
    proof="symbolic.sim.lemma_3_13_l2:prove_published",
    cost=2,
    depends_on=["sim/lemma-3.13-l2:sharp"],
    siblings={
        **TOO_SMALL,
        "b and h of any size": sibling(drop=list(ADDED), data=bounded(512)),
    },
)
def amended(case: BoundedPair, power: int = 1, share: float = 1.0) -> Slack:
    """With b and h bounded by R too. Far from tight: see the sharp reading."""
    return _published(case, power, share)


def certify_sharp(
    case: EntryPair, share: float = 1.0, square: int = 2, centred: bool = False
) -> arb | fmpq:
    """The slack as a ball."""
    e = exact_pair(case)
    width: fmpq = max(e.h) - min(e.h)
    size = width / 2 if centred else max(abs(value) for value in residuals(e))
    right = exact_constant(width, size) * e.norm_A**square * arb(rational(share))
    return spare(right * norm(subtract(e.x, e.y)), exact_outer_change(case, "squared"))


@claim(
    "sim/lemma-3.13-l2:sharp",
    **LEMMA,
    statement="the gradient of (<f, h> - b)^2 is ||A||^2 w^2 k(r/w - 1/2)-Lipschitz on the whole "
    "space, w = max h - min h, r = max |h - b|, k(x) = max over a in [0, 1] of "
    "(1-a^2)(x a + (1-3a^2)/4); no smaller function of w and r will do",
    data=pairs(0, 1),
    examples=[CENTRED],
    ensemble=aimed,
    relaxed=relaxed.squared_change,
    certify=certify_sharp,
    expected="proved",
    proof="symbolic.sim.lemma_3_13_l2:prove",
    siblings={
        "95% of the constant": sibling(share=0.95),
        "half of the constant": sibling(share=0.5),
        "as if b were in the middle of h": sibling(centred=True),
        "||A|| in place of its square": sibling(square=1),
    },
)
def sharp(case: EntryPair, share: float = 1.0, square: int = 2, centred: bool = False) -> Slack:
    """On the whole space, with the least constant of its kind."""
    left, error = outer_change(case, "squared")
    width = float(case.h.max() - case.h.min())
    constant = squared_gradient_constant(width, width / 2 if centred else reach(case))
    right = share * constant * float(np.linalg.norm(case.A, 2)) ** square
    right *= distance(case)
    return Slack.at_most(left, right, error + 1e-11 * right)
