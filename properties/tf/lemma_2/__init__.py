"""Lemma 2: the training risk lies strictly above its value at the optimal tokens.

"Suppose l is strictly decreasing and smooth. Then, training risk obeys L(W) > L_* :=
(1/n) sum_i l(Y_i v^T x_i,opt)."

For every finite W attention gives every token a positive weight, so L(W) > L_* unless no input
has two different scores: with one token, or with all scores of every input tied, L(W) = L_* for
every W. Smallest counterexample: one input, one token 0 in R^1. `amended` asks for one input with
two scores; that is necessary and sufficient.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb

from attsvm.data import AttentionData
from attsvm.exact import ExactData, rationals
from attsvm.exact.attention import deficit, logits, loss_drop, softmax
from attsvm.losses import LOSSES
from attsvm.risk import risk_gap
from attsvm.theory import Slack, claim, sibling
from properties.tf import SOURCE
from properties.tf._support import torch_objectives as relaxed
from properties.tf.lemma_2.weighted_data import (
    DEGENERATE,
    PUBLISHED,
    SMALLEST,
    TIED,
    Weighted,
    protocol,
    strictly_decreasing,
    two_scores,
    weighted,
)

BEYOND = Weighted(
    AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[3.0, 1.0]]), np.zeros((1, 1)), "squared"
)
"""(1 - u)^2 is less at every u below the best score 3 than there."""


def _loss(case: Weighted, increasing: bool) -> str:
    return "logistic" if increasing else case.loss


def above(case: Weighted, increasing: bool, share: float) -> Slack:
    """L(W) - L_* > share * (risk at the worst tokens - L_*), relative rounding of the gap."""
    loss, data = LOSSES[_loss(case, increasing)], case.data
    gap = risk_gap(data, case.W, loss)
    gamma = np.where(data.present, data.gamma, np.nan)
    best, worst = np.nanmax(gamma, axis=1), np.nanmin(gamma, axis=1)
    left = share * float(loss.drop(best, best - worst).mean())
    logit = float(
        (np.linalg.norm(data.X, axis=2).max(axis=1) * np.linalg.norm(data.Z, axis=1)).max()
        * np.linalg.norm(case.W)
    )
    size = float(np.abs(np.nan_to_num(gamma)).max())
    relative = 3e-16 * 64 * (data.T + data.d**2 + logit + size)
    steepest = float(np.abs(loss.slope(np.array([best.max(), worst.min(), 0.0]))).max())
    carried = 3e-16 * 8 * data.d * size * steepest if data.v is not None else 0.0
    error = relative * (abs(gap) + abs(left)) + carried + 1e-300
    if not (np.isfinite(gap) and np.isfinite(left) and np.isfinite(error)):
        return Slack.unknown("the risk overflows")
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
    relaxed=relaxed.above_best,
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
    examples=[*PUBLISHED, *DEGENERATE],
    hypotheses={
        "loss strictly decreasing and smooth": strictly_decreasing,
        "some input has two different scores": two_scores,
    },
    relaxed=relaxed.above_best,
    certify=certify,
    expected="holds",
    siblings={
        **SIBLINGS,
        "scores may all be tied": sibling(
            drop=["some input has two different scores"], examples=[TIED]
        ),
        "a loss that turns upwards": sibling(
            drop=["loss strictly decreasing and smooth"], examples=[BEYOND]
        ),
    },
)
def amended(case: Weighted, increasing: bool = False, share: float = 0.0) -> Slack:
    """Where there is something to select."""
    return above(case, increasing, share)
