"""Section 1: training softmax attention is more stable than linear attention (l2 loss).

"By computing the Lipschitz of different loss functions (logistic loss and l2-loss) with softmax
attention and linear attention, we show that the training of softmax attention is more stable than
linear attention." Nothing is computed for the l2 loss in the text. Read for one entry:
L(x) = (<softmax(A x), h> - b)^2 against M(x) = (<A x, h> - b)^2, constants of M in
`properties.sim.squared`. The loss is compared on the domain of lemma 3.13 (||A||, ||A x|| <= R,
R >= 4), as M has no constant on the whole space; the gradient on the whole space.

- literal-1, -2: on the same A, h, b the constant of L (of its gradient) is no larger than that of
  M. False for every |b|, ||h|| and R: A = (1, 0), h = (0, 1) has A^T h = 0, so M is constant.
  What stands: `stability_l2_same`.
- literal-3, -4: the same for the largest constant over all A of that norm and h of that length. For
  the loss this holds, and softmax has at most half of it (sharp-1). Proof: its slope is
  2 |<f, h> - b| ||A^T (diag f - f f^T) h||, and ||diag f - f f^T|| <= 1/2, so that it is at most
  ||A|| H (H + |b|), H = ||h||. That is so for every R >= 1.
  At A = (1, -1), h = (1, -1), x = 0 the slope is ||A|| H |b|: no smaller part of linear
  attention's constant will do for all b, as |b|/H grows. For the gradient it fails for large
  |b|/H, as linear attention's constant 2 ||A||^2 H^2 does not know b.
- sharp-2, -3: for the gradient it holds exactly up to |b| = t H with t between 3.5322 and 3.5323,
  on the whole space and on every domain R >= 0.8. Proof: `properties.sim.regimes`, for any n; the
  polynomials there are proved positive in rationals. Beyond, A = (1, -1) and h = (10, -7) do.

So softmax is the more stable one by its loss, always, and by its gradient for labels of moderate
size; a small step size is owed to large labels.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from flint import arb, fmpq
from hypothesis import strategies as st

from attsvm.theory import Slack, claim, sibling
from properties.sim import SOURCE
from properties.sim.bounded import LISTED, BoundedPair, bounded
from properties.sim.entries import EntryPair, adversarial, pairs
from properties.sim.squared import (
    gradient_ball,
    gradient_guide,
    gradient_slack,
    loss_ball,
    loss_guide,
    loss_slack,
    short_label,
)

TEXT: dict[str, Any] = {"source": SOURCE, "place": "Section 1 (contributions; the l2 loss)"}
LOWER, UPPER = fmpq(3532, 1000), fmpq(3533, 1000)
CONSTANT_LINEAR = EntryPair(
    np.array([[1.0], [0.0]]), np.zeros(1), np.ones(1), np.array([0.0, 1.0]), 0.0
)
FAR_LABEL = BoundedPair(
    EntryPair(
        np.array([[1.0], [-1.0]]),
        np.array([-1 / 256]),
        np.array([1 / 256]),
        np.array([1.0, -1.0]),
        -4096.0,
    ),
    4.0,
)
AT_THE_EDGE = BoundedPair(
    EntryPair(np.ones((1, 1)), np.array([4.0]), np.array([4.0 - 1 / 256]), np.ones(1), -4.0), 4.0
)
NARROW = [
    BoundedPair(
        EntryPair(
            np.array([[1.0], [-1.0]]) / 32,
            np.array([-0.25]),
            np.array([0.25]),
            np.array([8.0, float(low)]),
            0.0,
        ),
        0.0625,
    )
    for low in range(3)
]
"""Domains with R = 1/16, where <f, h> is larger than <A x, h> can be."""
LARGE_LABEL = EntryPair(
    np.array([[1.0], [0.0]]), np.zeros(1), np.ones(1), np.array([1.0, 0.0]), 32.0
)


def crossed(case: BoundedPair) -> BoundedPair:
    """The head (a_2, -a_1, 0, ...), a the first column of A: A^T h = 0 if it is the only one."""
    pair = case.pair
    h = np.zeros(len(pair.h))
    h[:2] = (pair.A[:2, 0] * [-1.0, 1.0][: len(h)])[::-1]
    return BoundedPair(EntryPair(pair.A, pair.x, pair.y, h, pair.b), case.R)


def labelled(b: float) -> EntryPair:
    """Two tokens and the head (10, -7), where softmax's gradient bends most for large labels."""
    x = -0.5546875
    return EntryPair(
        np.array([[1.0], [-1.0]]),
        np.array([x - 1 / 512]),
        np.array([x + 1 / 512]),
        np.array([10.0, -7.0]),
        -b,
    )


@claim(
    "sim/stability-l2:literal-1",
    **TEXT,
    statement="on the same data with ||A||, ||A x||, ||A y|| <= R, R >= 4: |L(x) - L(y)| <= "
    "2 ||A^T h|| (R ||h|| + |b|) ||x - y||, at least the constant of linear attention",
    data=st.one_of(bounded(0, 3), bounded(0, 3).map(crossed)),
    hypotheses=LISTED,
    examples=[BoundedPair(CONSTANT_LINEAR, 4.0)],
    relaxed=partial(loss_guide, same=True),
    certify=partial(loss_ball, linear=False, same=True, share=1.0),
    expected="refuted",
    siblings={"half the constant": sibling(share=0.5), "constant zero": sibling(share=0.0)},
)
def same_data_loss(case: BoundedPair, share: float = 1.0) -> Slack:
    """The loss on the same data."""
    return loss_slack(case, share, linear=False, same=True)


@claim(
    "sim/stability-l2:literal-2",
    **TEXT,
    statement="on the same data, the gradient of L changes by at most 2 ||A^T h||^2 ||x - y||, the "
    "constant of linear attention",
    data=pairs(0, 3),
    examples=[CONSTANT_LINEAR],
    relaxed=partial(gradient_guide, same=True),
    certify=partial(gradient_ball, same=True, share=1.0),
    expected="refuted",
    siblings={"half the constant": sibling(share=0.5), "constant zero": sibling(share=0.0)},
)
def same_data_gradient(case: EntryPair, share: float = 1.0) -> Slack:
    """The gradient on the same data."""
    return gradient_slack(case, share, same=True)


def loss_of_norms(case: BoundedPair, share: float = 1.0, linear: bool = False) -> arb:
    """The certificate of literal-3 and sharp-1."""
    return loss_ball(case, share, linear)


@claim(
    "sim/stability-l2:literal-3",
    **TEXT,
    statement="for ||A||, ||A x||, ||A y|| <= R, R >= 4: |L(x) - L(y)| <= "
    "2 ||A|| ||h|| (R ||h|| + |b|) ||x - y||, the largest constant of linear attention there",
    data=bounded(0, 3, 10),
    hypotheses=LISTED,
    examples=[FAR_LABEL, AT_THE_EDGE],
    relaxed=loss_guide,
    certify=loss_of_norms,
    expected="holds",
    depends_on=["sim/stability-l2:sharp-1"],
    siblings={
        "a 2.1th of it for softmax": sibling(share=1 / 2.1),
        "95% of it for linear": sibling(share=0.95, linear=True),
        "any R": sibling(drop=["R >= 4"], data=st.sampled_from(NARROW), examples=NARROW[:1]),
    },
)
def worst_case_loss(case: BoundedPair, share: float = 1.0, linear: bool = False) -> Slack:
    """The loss over all data of given norms."""
    return loss_slack(case, share, linear)


@claim(
    "sim/stability-l2:literal-4",
    **TEXT,
    statement="the gradient of L changes by at most 2 ||A||^2 ||h||^2 ||x - y||, the largest "
    "constant of linear attention on data of these norms",
    data=pairs(0, 3, 6),
    examples=[LARGE_LABEL],
    relaxed=gradient_guide,
    certify=partial(gradient_ball, share=1.0),
    expected="refuted",
    siblings={"half the constant": sibling(share=0.5), "a tenth of it": sibling(share=0.1)},
)
def worst_case_gradient(case: EntryPair, share: float = 1.0) -> Slack:
    """The gradient over all data of given norms."""
    return gradient_slack(case, share)


@claim(
    "sim/stability-l2:sharp-1",
    **TEXT,
    statement="for ||A||, ||A x||, ||A y|| <= R, R >= 4: |L(x) - L(y)| <= "
    "||A|| ||h|| (R ||h|| + |b|) ||x - y||, half of what linear attention attains; no smaller "
    "part of it will do",
    data=bounded(0, 3, 10),
    hypotheses=LISTED,
    examples=[FAR_LABEL, AT_THE_EDGE],
    relaxed=partial(loss_guide, share=0.5),
    certify=partial(loss_ball, linear=False, share=0.5),
    expected="holds",
    siblings={
        "95% of the constant": sibling(share=0.475),
        "linear attention as well": sibling(linear=True),
        "any R": sibling(drop=["R >= 4"], data=st.sampled_from(NARROW), examples=NARROW[:1]),
    },
)
def half(case: BoundedPair, share: float = 0.5, linear: bool = False) -> Slack:
    """The loss, with the least part of linear attention's constant."""
    return loss_slack(case, share, linear)


@claim(
    "sim/stability-l2:sharp-2",
    **TEXT,
    statement="the comparison of gradients holds for |b| <= 3.532 ||h||",
    data=pairs(0, 1),
    hypotheses={"|b| <= 3.532 ||h||": lambda case: short_label(case, LOWER)},
    examples=[labelled(43.109375), AT_THE_EDGE.pair],
    ensemble=adversarial,
    relaxed=gradient_guide,
    certify=partial(gradient_ball, share=1.0),
    expected="holds",
    siblings={
        "95% of the constant": sibling(share=0.95),
        "|b| up to 1% more": sibling(
            drop=["|b| <= 3.532 ||h||"],
            data=st.integers(0, 40).map(lambda k: labelled(43.140625 + k / 100)),
            examples=[labelled(43.5)],
        ),
    },
)
def short(case: EntryPair, share: float = 1.0) -> Slack:
    """The gradient, labels up to the crossing."""
    return gradient_slack(case, share)


def beyond_ball(b: float, share: float = 1.0) -> arb:
    """The certificate of sharp-3."""
    return arb(-gradient_ball(labelled(b), share))


@claim(
    "sim/stability-l2:sharp-3",
    **TEXT,
    statement="for every |b| > 3.533 ||h|| it fails: with A = (1, -1), h = (10, -7) the gradient "
    "of L changes by more than 2 ||A||^2 ||h||^2 ||x - y|| around x = -71/128",
    data=st.integers(0, 14).flatmap(
        lambda k: st.integers(0, 172).map(lambda j: 2.0**k * (43.140625 + j / 4))
    ),
    hypotheses={"b > 3.533 ||h||": lambda b: b > 0 and not short_label(labelled(b), UPPER)},
    examples=[43.140625],
    certify=beyond_ball,
    expected="holds",
    siblings={
        "1% more than linear's constant": sibling(share=1.01),
        "from 1% less on": sibling(
            drop=["b > 3.533 ||h||"],
            data=st.integers(0, 40).map(lambda k: 42.7 + k / 100),
            examples=[42.875],
        ),
    },
)
def beyond(b: float, share: float = 1.0) -> Slack:
    """The gradient, labels beyond the crossing: linear attention's constant is below softmax's."""
    case = labelled(b)
    found = gradient_slack(case, share)
    right = share * 2.0 * 2.0 * 149.0 * float(np.linalg.norm(case.x - case.y))
    return Slack.below(right, right - found.value, found.error)
