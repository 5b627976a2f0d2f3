"""Lemma 2: the training risk lies strictly above its value at the optimal tokens.

"Suppose l is strictly decreasing and smooth. Then, training risk obeys L(W) > L_* :=
(1/n) sum_i l(Y_i v^T x_i,opt)."

For every finite W attention gives every token a positive weight, so L(W) > L_* unless no input
has two different scores: with one token, or with all scores of every input tied, L(W) = L_* for
every W. Smallest counterexample: one input, one token 0 in R^1. `amended` asks for one input with
two scores; that is necessary and sufficient.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.exact import ExactData, rationals
from attsvm.exact.attention import deficit, logits, loss_drop, softmax
from attsvm.losses import LOSSES
from attsvm.risk import risk_gap
from attsvm.theory import Slack, claim, sibling
from properties.instances import joint_inputs, one_input, random_data
from properties.strategies import attention_data, starts
from properties.tf import SOURCE

DECREASING = ["log-loss", "exponential", "correlation", "logistic-loss"]


@dataclass(frozen=True, slots=True)
class Weighted:
    """A data set, weights W and a decreasing loss by name."""

    data: AttentionData
    W: Array
    loss: str


@st.composite
def weighted(draw: st.DrawFn) -> Weighted:
    """Data of all small sizes, ties included, with weights from zero to large."""
    data = draw(attention_data())
    return Weighted(data, draw(starts(data.d, 0, 4)), draw(st.sampled_from(DECREASING)))


def protocol(generator: np.random.Generator) -> Weighted:
    """The Gaussian protocol of the talk at random sizes, weights of norms 0 to 30."""
    data = random_data(generator)
    W = generator.normal(size=(data.d, data.d)) * float(generator.choice([0.0, 1.0, 3.0]))
    return Weighted(data, W, str(generator.choice(DECREASING)))


def strictly_decreasing(case: Weighted) -> bool:
    """The loss is strictly decreasing and smooth."""
    return case.loss in DECREASING


def two_scores(case: Weighted) -> bool:
    """Some input has two tokens of different scores."""
    return any(len(set(row)) > 1 for row in ExactData.of(case.data).gamma)


def _loss(case: Weighted, increasing: bool) -> str:
    return "logistic" if increasing else case.loss


def above(case: Weighted, increasing: bool, share: float) -> Slack:
    """L(W) - L_* > share * (risk at the worst tokens - L_*), relative rounding of the gap."""
    loss, data = LOSSES[_loss(case, increasing)], case.data
    gap = risk_gap(data, case.W, loss)
    gamma = np.where(data.present, data.gamma, np.nan)
    best, worst = np.nanmax(gamma, axis=1), np.nanmin(gamma, axis=1)
    left = share * float((loss.value(worst) - loss.value(best)).mean())
    logit = float(
        (np.linalg.norm(data.X, axis=2).max(axis=1) * np.linalg.norm(data.Z, axis=1)).max()
        * np.linalg.norm(case.W)
    )
    size = float(np.abs(np.nan_to_num(gamma)).max())
    relative = 3e-16 * 64 * (data.T + data.d**2 + logit + size)
    steepest = float(np.abs(loss.slope(np.array([best.max(), worst.min(), 0.0]))).max())
    carried = 3e-16 * 8 * data.d * size * steepest if data.v is not None else 0.0
    error = relative * (abs(gap) + abs(left)) + carried + 1e-300
    return Slack(gap - left, error, "strict", left / gap if left > 0 < gap else None)


def certify(case: Weighted, increasing: bool = False, share: float = 0.0) -> arb:
    """The slack as a ball; exactly 0 where no input has two scores."""
    data, W, loss = ExactData.of(case.data), rationals(case.W), _loss(case, increasing)
    total = arb(0)
    for i, tokens in enumerate(data.X):
        best = max(data.gamma[i])
        s = softmax(logits(tokens, W, data.Z[i]))
        total += loss_drop(loss, best, deficit(data, i, s))
        if share:
            total -= arb(share) * loss_drop(loss, best, best - min(data.gamma[i]))
    return total / len(data.X)


LEMMA: dict[str, Any] = {"source": SOURCE, "place": "Lemma 2"}
SMALLEST = Weighted(
    AttentionData.of([[[0.0]]], [[0.0]], scores=[[0.0]]), np.zeros((1, 1)), "log-loss"
)
TIED = Weighted(
    AttentionData.of([[[1.0], [0.0]]], [[1.0]], y=[1.0], v=[0.0]), np.ones((1, 1)), "exponential"
)
PUBLISHED = [
    Weighted(one_input(), np.zeros((2, 2)), "log-loss"),
    Weighted(joint_inputs(), np.ones((2, 2)), "log-loss"),
    Weighted(joint_inputs(1.5), np.ones((2, 2)), "correlation"),
]
SIBLINGS = {
    "increasing loss": sibling(increasing=True, examples=PUBLISHED),
    "above the risk at the worst tokens": sibling(share=1.0, examples=PUBLISHED),
    "halfway to the worst tokens": sibling(share=0.5),
}


@claim(
    "tf/lemma-2:literal",
    **LEMMA,
    statement="L(W) > L_* for every W, for l strictly decreasing and smooth",
    data=weighted(),
    hypotheses={"loss strictly decreasing and smooth": strictly_decreasing},
    examples=[SMALLEST, TIED],
    certify=certify,
    expected="refuted",
    siblings=SIBLINGS,
)
def literal(case: Weighted, increasing: bool = False, share: float = 0.0) -> Slack:
    """With the listed hypotheses alone."""
    return above(case, increasing, share)


@claim(
    "tf/lemma-2:amended",
    **LEMMA,
    statement="L(W) > L_* for every W, for l strictly decreasing and smooth, where some input has "
    "two tokens of different scores",
    data=weighted(),
    ensemble=protocol,
    examples=PUBLISHED,
    hypotheses={
        "loss strictly decreasing and smooth": strictly_decreasing,
        "some input has two different scores": two_scores,
    },
    certify=certify,
    expected="holds",
    siblings={
        **SIBLINGS,
        "scores may all be tied": sibling(
            drop=["some input has two different scores"], examples=[TIED]
        ),
    },
)
def amended(case: Weighted, increasing: bool = False, share: float = 0.0) -> Slack:
    """Where there is something to select."""
    return above(case, increasing, share)
