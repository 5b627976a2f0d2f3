"""Lemma 3.13 for the squared loss: the gradient of (<softmax(A x), h> - b)^2 is Lipschitz.

The paper prints no such lemma: there is no literal reading. Section 1 speaks of Lipschitz constants
of the l2 loss ||D(X)^-1 exp(A1 X A2^T) A3 Y - B||_2^2 as well, of which this is one entry, and
names none.

- `sharp`: on the whole space, with w = max h - min h and r = max |h - b|,
  ||grad L(x) - grad L(y)|| <= ||A||^2 w^2 k(r/w - 1/2) ||x - y||,
  k(x) = max_{0 <= a <= 1} (1-a^2)(x a + (1-3a^2)/4), and no smaller function of w and r will do.
  For r = w/2, b in the middle of the values, it is w^2/4; for large r nearly 2 r w/(3 sqrt 3).

Proof in `symbolic.sim.lemma_3_13_l2`. A sum of squares of many entries has the sum of the
constants.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, fmpq

from attsvm.exact import norm, rational
from attsvm.exact.lipschitz import squared_gradient_constant as exact_constant
from attsvm.exact.numbers import subtract
from attsvm.lipschitz import squared_gradient_constant
from attsvm.theory import Slack, claim, sibling
from properties.sim import SOURCE, relaxed
from properties.sim.basics import distance
from properties.sim.entries import EntryPair, exact_pair, pairs, spare
from properties.sim.outer_losses import (
    aimed,
    exact_outer_change,
    outer_change,
    reach,
    residuals,
)

LEMMA: dict[str, Any] = {"source": SOURCE, "place": "Section 1, l2 loss; as lemma 3.13"}
CENTRED = EntryPair(
    np.array([[1.0], [-1.0]]), np.zeros(1), np.array([2.0**-7]), np.array([1.0, -1.0]), 0.0
)
BESIDE = EntryPair(
    CENTRED.A, np.array([-131 / 512]), np.array([-130 / 512]), np.array([271.0, 15.0]) / 256, 0.0
)


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
    examples=[CENTRED, BESIDE],
    ensemble=aimed,
    relaxed=relaxed.squared_change,
    certify=certify_sharp,
    expected="proved",
    proof="symbolic.sim.lemma_3_13_l2:prove",
    siblings={
        "95% of the constant": sibling(share=0.95),
        "99.9% of the constant": sibling(share=0.999),
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
