"""Section 1 and 3.4: training softmax attention is more stable than linear attention (logistic).

"By computing the Lipschitz of different loss functions ... the training of softmax attention is
more stable than linear attention." Nothing is computed for linear attention in the text, so the
comparison is read in four ways. L(x) = g(b <softmax(A x), h>) against M(x) = g(b <A x, h>), g the
logistic function. M has the Lipschitz constant |b| ||A^T h||/4 and its gradient
b^2 ||A^T h||^2/(6 sqrt 3), both attained.

- literal-1, -2: on the same A, h, b the constant of L (of its gradient) is no larger than that of
  M. False: A = (1, 2), h = (2, -1) has A^T h = 0, so M is constant and L is not.
- literal-3, -4: the same for the largest constant over all A of norm at most R and h of norm at
  most H. For the loss this holds, and softmax has half the constant (`sharp`): |b| R H/8. For
  the gradient it fails for small |b| H, where linear attention's is of second order.
- amended: for the gradient it holds once |b| H >= 2 sqrt(2)/3 = 0.943. Proof: K(D) of lemma 3.13
  is at most D/(12 sqrt 3) + D^2/(48 sqrt 3), and max h - min h <= sqrt 2 H.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from attsvm.lipschitz import LOGISTIC_CURVATURE
from attsvm.theory import Slack, claim, sibling
from properties.sim import SOURCE, relaxed
from properties.sim.comparison import (
    distance,
    far_from_zero,
    gradient_ball,
    half_ball,
    loss_change,
    same_data_ball,
    same_data_gradient_ball,
    slope_linear,
    worst_case,
    worst_case_ball,
)
from properties.sim.entries import EntryPair, adversarial, change, pairs

TEXT: dict[str, Any] = {"source": SOURCE, "place": "Section 1 (contributions) and section 3.4"}
CONSTANT_LINEAR = EntryPair(
    np.array([[1.0], [2.0]]), np.zeros(1), np.ones(1), np.array([2.0, -1.0]), 1.0
)
SMALL_LABEL = EntryPair(
    np.array([[1.0], [-1.0]]),
    np.array([0.65625]),
    np.array([0.6640625]),
    np.array([1.0, -1.0]),
    1 / 64,
)
BALANCED = EntryPair(
    np.array([[1.0], [-1.0]]),
    np.array([-1 / 256]),
    np.array([1 / 256]),
    np.array([1.0, -1.0]),
    1 / 4,
)


@claim(
    "sim/stability-logistic:literal-1",
    **TEXT,
    statement="on the same data, |L(x) - L(y)| <= (linear attention's constant) ||x - y||",
    data=pairs(0, -2),
    examples=[CONSTANT_LINEAR],
    relaxed=relaxed.same_data,
    certify=same_data_ball,
    expected="refuted",
    siblings={"half the constant": sibling(share=0.5), "constant zero": sibling(share=0.0)},
)
def same_data_loss(case: EntryPair, share: float = 1.0) -> Slack:
    """The loss on the same data."""
    left, error = loss_change(case, False)
    right = share * slope_linear(case) / 4 * distance(case)
    return Slack.at_most(left, right, error + 1e-12 * right)


@claim(
    "sim/stability-logistic:literal-2",
    **TEXT,
    statement="on the same data, the gradient of L changes by at most (the constant of linear "
    "attention's gradient) ||x - y||",
    data=pairs(0, -2),
    examples=[CONSTANT_LINEAR],
    relaxed=partial(relaxed.same_data, gradient=True),
    certify=same_data_gradient_ball,
    expected="refuted",
    siblings={"half the constant": sibling(share=0.5), "constant zero": sibling(share=0.0)},
)
def same_data_gradient(case: EntryPair, share: float = 1.0) -> Slack:
    """The gradient on the same data."""
    left, error = change(case)
    right = share * slope_linear(case) ** 2 * LOGISTIC_CURVATURE * distance(case)
    return Slack.at_most(left, right, error + 1e-12 * right)


@claim(
    "sim/stability-logistic:literal-3",
    **TEXT,
    statement="for ||A|| <= R, ||h|| <= H: |L(x) - L(y)| <= |b| R H/4 ||x - y||, the largest "
    "constant of linear attention on such data",
    data=pairs(0, -2),
    examples=[BALANCED],
    ensemble=adversarial,
    relaxed=relaxed.worst_case,
    certify=worst_case_ball,
    expected="holds",
    siblings={
        "a 2.2th of it for softmax": sibling(share=1 / 2.2),
        "95% of it for linear": sibling(share=0.95, linear=True),
    },
)
def worst_case_loss(case: EntryPair, share: float = 1.0, linear: bool = False) -> Slack:
    """The loss over all data of given norms."""
    return worst_case(case, False, share, linear)


@claim(
    "sim/stability-logistic:literal-4",
    **TEXT,
    statement="for ||A|| <= R, ||h|| <= H: the gradient of L changes by at most "
    "b^2 R^2 H^2/(6 sqrt 3) ||x - y||, the largest constant of linear attention on such data",
    data=pairs(0, -2, -5),
    examples=[SMALL_LABEL],
    relaxed=partial(relaxed.worst_case, gradient=True),
    certify=gradient_ball,
    expected="refuted",
    siblings={"half the constant": sibling(share=0.5), "a tenth of it": sibling(share=0.1)},
)
def worst_case_gradient(case: EntryPair, share: float = 1.0) -> Slack:
    """The gradient over all data of given norms."""
    return worst_case(case, True, share)


@claim(
    "sim/stability-logistic:amended",
    **TEXT,
    statement="the comparison of gradients holds for |b| ||h|| >= 2 sqrt(2)/3",
    data=pairs(0, 1),
    hypotheses={"|b| ||h|| >= 2 sqrt(2)/3": far_from_zero},
    ensemble=adversarial,
    relaxed=partial(relaxed.worst_case, gradient=True),
    certify=gradient_ball,
    expected="holds",
    depends_on=["sim/lemma-3.13:sharp"],
    siblings={
        "any |b| ||h||": sibling(
            drop=["|b| ||h|| >= 2 sqrt(2)/3"], data=pairs(-5), examples=[SMALL_LABEL]
        ),
        "a tenth of the constant": sibling(share=0.1),
    },
)
def amended(case: EntryPair, share: float = 1.0) -> Slack:
    """The gradient, labels and heads not too small."""
    return worst_case(case, True, share)


@claim(
    "sim/stability-logistic:sharp",
    **TEXT,
    statement="for ||A|| <= R, ||h|| <= H: |L(x) - L(y)| <= |b| R H/8 ||x - y||, half of what "
    "linear attention attains; no smaller constant will do",
    data=pairs(0, -2),
    examples=[BALANCED],
    ensemble=adversarial,
    relaxed=relaxed.halfway,
    certify=half_ball,
    expected="holds",
    siblings={
        "95% of the constant": sibling(share=0.475),
        "linear attention as well": sibling(linear=True),
    },
)
def sharp(case: EntryPair, share: float = 0.5, linear: bool = False) -> Slack:
    """The loss, with the least constant for softmax."""
    return worst_case(case, False, share, linear)
