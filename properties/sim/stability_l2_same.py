"""Section 1, the l2 loss: where softmax attention is the more stable one on the same data.

L(x) = (<softmax(A x), h> - b)^2 against M(x) = (<A x, h> - b)^2 on one and the same A, h, b, where
the comparison fails in general, as A^T h may be 0 (`stability_l2`, literal-1 and -2). With
osc(h) = max h - min h and diam(A) the largest distance of two rows of A:

- amended-1: for the loss it holds where ||A^T h|| >= osc(h) diam(A)/4, whatever R >= 1. Proof: the
  slope of L along a unit z is 2 |<f, h> - b| Cov(h, A z), a covariance is at most a quarter of the
  product of the oscillations, and |<f, h> - b| <= ||h|| + |b|. M has 2 ||A^T h|| (R ||h|| + |b|).
- amended-2: for the gradient it holds where 4 ||A^T h||^2 is at least
  diam(A)^2 (w^2/4 + 0.1925 (2 r - w) w), w = osc(h), r = max |h - b|. Proof: along a unit z the
  curvature of L is at most osc(A z)^2/2 times w^2/4 + (2 r - w) w/(3 sqrt 3), as lemma 3.13 has it
  for this loss (`lemma_3_13_l2`), and 1/(3 sqrt 3) < 0.1925. M has 2 ||A^T h||^2.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from flint import arb, fmpq

from attsvm.theory import Slack, claim, sibling
from properties.sim.bounded import BoundedPair
from properties.sim.comparison import pull_and_width, wide_enough
from properties.sim.entries import EntryPair, adversarial, exact_pair, pairs
from properties.sim.squared import (
    gradient_ball,
    gradient_guide,
    gradient_slack,
    loss_ball,
    loss_slack,
)
from properties.sim.stability_l2 import CONSTANT_LINEAR, TEXT

BARELY_WIDE = EntryPair(
    np.array([[1.5], [-0.5]]),
    np.array([-1 / 256]),
    np.array([1 / 256]),
    np.array([0.0, -2.0]),
    -4096.0,
)
"""||A^T h|| = osc(h) diam(A)/4 = 1, and a label beside which ||h|| is small."""
BARELY_STEEP = EntryPair(
    np.array([[14.0], [12.0]]),
    np.array([0.65625]),
    np.array([0.6640625]),
    np.array([2.0, 0.0]),
    -1000.0,
)
"""4 ||A^T h||^2 = 3136 beside 3087; two tokens of probabilities (1 +- 1/sqrt 3)/2."""


def without_domain(case: EntryPair) -> BoundedPair:
    """The pair with R = 1, where linear attention's constant is least."""
    return BoundedPair(case, 1.0)


def certify_wide(case: EntryPair, share: float = 1.0) -> arb:
    """The slack at R = 1 as a ball."""
    return loss_ball(without_domain(case), share, linear=False, same=True)


@claim(
    "sim/stability-l2:amended-1",
    **TEXT,
    statement="on the same data, where ||A^T h|| >= osc(h) diam(A)/4: |L(x) - L(y)| <= "
    "2 ||A^T h|| (||h|| + |b|) ||x - y||, no more than linear attention's constant for R >= 1",
    data=pairs(0, 3),
    hypotheses={"||A^T h|| >= osc(h) diam(A)/4": wide_enough},
    examples=[BARELY_WIDE],
    ensemble=adversarial,
    certify=certify_wide,
    expected="holds",
    siblings={
        "95% of the constant": sibling(share=0.95),
        "half the constant": sibling(share=0.5),
        "any A and h": sibling(drop=["||A^T h|| >= osc(h) diam(A)/4"], examples=[CONSTANT_LINEAR]),
    },
)
def wide_loss(case: EntryPair, share: float = 1.0) -> Slack:
    """The loss on the same data, where the head does not cancel the tokens."""
    return loss_slack(without_domain(case), share, linear=False, same=True)


def steep_enough(case: EntryPair) -> bool:
    """4 ||A^T h||^2 >= diam(A)^2 (w^2/4 + 0.1925 (2 r - w) w), in rationals."""
    e = exact_pair(case)
    w, r = max(e.h) - min(e.h), max(abs(x - e.b) for x in e.h)
    pull, width = pull_and_width(e)
    bend = w * w / 4 + fmpq(1925, 10_000) * (2 * r - w) * w
    return bool(4 * pull >= width * bend)


@claim(
    "sim/stability-l2:amended-2",
    **TEXT,
    statement="on the same data, where 4 ||A^T h||^2 >= diam(A)^2 (w^2/4 + 0.1925 (2 r - w) w), "
    "w = max h - min h, r = max |h - b|: the gradient of L changes by at most "
    "2 ||A^T h||^2 ||x - y||, the constant of linear attention",
    data=pairs(0, 3),
    hypotheses={"4 ||A^T h||^2 >= diam(A)^2 (w^2/4 + 0.1925 (2 r - w) w)": steep_enough},
    examples=[BARELY_STEEP],
    ensemble=adversarial,
    relaxed=partial(gradient_guide, same=True),
    certify=partial(gradient_ball, same=True, share=1.0),
    depends_on=["sim/lemma-3.13-l2:sharp"],
    expected="holds",
    siblings={
        "95% of the constant": sibling(share=0.95),
        "half the constant": sibling(share=0.5),
        "any A, h and b": sibling(
            drop=["4 ||A^T h||^2 >= diam(A)^2 (w^2/4 + 0.1925 (2 r - w) w)"],
            examples=[CONSTANT_LINEAR],
        ),
    },
)
def steep_gradient(case: EntryPair, share: float = 1.0) -> Slack:
    """The gradient on the same data, where labels are of moderate size beside ||A^T h||."""
    return gradient_slack(case, share, same=True)
