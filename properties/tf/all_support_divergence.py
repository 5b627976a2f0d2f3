"""All tokens support vectors: the norm of gradient descent diverges.

"Theorem: If all tokens are support vectors of Att-SVM (i.e. SVM margin constraints are tight),
then ... GD diverges: ||W_k||_F -> infinity."

With two different scores in one input, and a loss whose slope is negative everywhere, this is true
for every start and every step, ties of optimal tokens included: <W_k, W^mm> grows at each step by
eta times sum_i |l'| s_opt sum_t s_t (gamma_opt - gamma_t) / n, which is bounded below on every
ball, so no ball is visited for ever. As printed it is false where all scores are tied or tokens
alone: one input, tokens 1 and 0 in R^1, head v = 0 has W^mm = 1, both tokens on the margin, and a
gradient that is zero everywhere. Nor may the loss be flat: under (1 - u)^2 tokens 1 and -1 with
scores 2 and 0 rest at W = 0.

`sharp` gives the rate from a start that cannot lose its optimal tokens, for a step of at most 1/L
(a longer one may leap into another token's basin): ||W_k|| / ln k -> ||W^mm||. There the
direction converges to that of W^mm, so the least margin is (1 + o(1)) ||W_k|| / ||W^mm||, the
gradient exp(-that), and the norm grows by as much a step. That all tokens are support vectors says
no more there than that W^mm exists: the rate is the same for any tokens
(`mm/theorem-1-norm:sharp`). Such a start implies an input with two different scores.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from flint import arb
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.exact import ExactData, rationals
from attsvm.exact.traps import is_stationary_start
from attsvm.losses import LOSSES
from attsvm.theory import Slack, claim, sibling
from attsvm.theory.limits import norm_diverges, norm_grows_like_log
from properties._support.descent_runs import answer
from properties._support.gradient_coefficients import pushes
from properties._support.growth_rates import rate_error
from properties._support.hypothesis_violations import TIED_APART
from properties._support.torch_objectives import descent_at_rest
from properties.sim._support.theorem_3_14 import PULLED_APART
from properties.tf import SOURCE
from properties.tf._support.descent_instances import (
    ONE_TOKEN,
    TIED,
    TRAP,
    Descent,
    decreasing,
    descents,
    in_global_basin,
    larger,
    opposed,
    started_right,
    tight,
    two_scores,
    unique,
)

TIED_OPTIMA = Descent(
    AttentionData.of(
        [[[0.0, 0.0], [-1.0, 0.0], [0.0, -1.0]]], [[1.0, 0.0]], scores=[[1.0, 1.0, 0.0]]
    ),
    np.zeros((2, 2)),
    "log-loss",
)
FLAT = Descent(
    AttentionData.of([[[1.0], [-1.0]]], [[1.0]], scores=[[2.0, 0.0]]), np.zeros((1, 1)), "squared"
)
"""The loss (1 - u)^2 has no slope at the score 1 that attention starts with."""
LOST = Descent(TIED_APART.data, TIED_APART.start, "log-loss")
PULLED = Descent(PULLED_APART.data, PULLED_APART.start, "correlation")
THEOREM: dict[str, Any] = {
    "source": SOURCE,
    "place": "Main results on large d",
    "cost": 8,
    "same_slack": False,
}


@st.composite
def tied(draw: st.DrawFn) -> Descent:
    """Descents where often one input, or all, have tokens of one score: these pull nothing."""
    case, kind = draw(descents()), draw(st.integers(0, 3))
    scores = case.data.gamma.copy()
    of = slice(0, [0, 0, 1, case.data.n][kind])
    scores[of] = scores[of].max(axis=1, keepdims=True)
    return replace(case, data=AttentionData(case.data.X, case.data.Z, scores=scores))


def certify(case: Descent, bounded: bool = False) -> arb | None:
    """-1 where the start is exactly stationary, so that the norm never changes.

    For the flipped statement, that the norm stays bounded, -1 where the proof above applies.
    """
    data = ExactData.of(case.data)
    if bounded:
        applies = tight(case) and two_scores(case)
        return arb(-1) if applies else None
    start = rationals(case.start)
    rests = all(part.factor.is_zero() for part in pushes(data, start, case.loss))
    return arb(-1) if rests or is_stationary_start(data, start) else None


@claim(
    "tf/all-support-divergence:literal",
    **THEOREM,
    statement="all tokens support vectors of the Att-SVM: ||W_k|| -> infinity under descent",
    data=descents(),
    hypotheses={"all tokens are support vectors": tight},
    examples=[TIED, ONE_TOKEN],
    relaxed=descent_at_rest,
    certify=certify,
    expected="refuted",
    siblings={
        "not all tokens support vectors": sibling(
            drop=["all tokens are support vectors"], data=opposed()
        ),
        "the norm stays bounded": sibling(bounded=True),
    },
)
def literal(case: Descent, bounded: bool = False) -> Slack:
    """With the one listed hypothesis."""
    return _slack(case, bounded)


@claim(
    "tf/all-support-divergence:amended",
    **THEOREM,
    statement="all tokens support vectors, some input with two different scores, l' < 0 "
    "everywhere: ||W_k|| -> infinity under descent from any start",
    data=tied(),
    ensemble=larger,
    examples=[TRAP, TIED_OPTIMA],
    hypotheses={
        "all tokens are support vectors": tight,
        "some input has two different scores": two_scores,
        "l' < 0 everywhere": decreasing,
    },
    relaxed=descent_at_rest,
    certify=certify,
    expected="holds",
    siblings={
        "a loss that is flat somewhere": sibling(drop=["l' < 0 everywhere"], examples=[FLAT]),
        "all scores may be tied": sibling(
            drop=["some input has two different scores"], examples=[TIED]
        ),
        "not all tokens support vectors": sibling(
            drop=["all tokens are support vectors"], data=opposed()
        ),
        "the norm stays bounded": sibling(bounded=True),
    },
)
def amended(case: Descent, bounded: bool = False) -> Slack:
    """Where optimal tokens are unique and there is something to select."""
    return _slack(case, bounded)


def certify_rate(case: Descent, share: float = 1.0) -> arb | None:
    """How far share ||W^mm|| is from the rate that is proved, over ||W^mm||, negated."""
    solved = answer(case.data)
    if solved is None or solved.status != "solved":
        return None
    return rate_error(case.data, case.start, case.loss, solved.square, share)


@claim(
    "tf/all-support-divergence:sharp",
    **{**THEOREM, "cost": 12},
    statement="all tokens support vectors, step at most 1/L, start with a risk gap below "
    "min_i [l(second) - l(best)]/n: ||W_k|| / ln k -> ||W^mm||",
    data=descents(),
    ensemble=started_right,
    hypotheses={
        "all tokens are support vectors": tight,
        "optimal tokens are unique": unique,
        "risk gap of the start below the threshold": in_global_basin,
    },
    certify=certify_rate,
    expected="holds",
    siblings={
        "any start": sibling(drop=["risk gap of the start below the threshold"], examples=[PULLED]),
        "tied optimal tokens": sibling(drop=["optimal tokens are unique"], examples=[LOST]),
        "95% of the rate": sibling(share=0.95),
        "105% of the rate": sibling(share=1.05),
        "half of the rate": sibling(share=0.5),
    },
)
def sharp(case: Descent, share: float = 1.0) -> Slack:
    """With the rate at which it diverges."""
    solved = answer(case.data)
    rate = 0.0 if solved is None else float(arb(solved.square).sqrt())
    return norm_grows_like_log(case.data, case.start, LOSSES[case.loss], share * rate)


def _slack(case: Descent, bounded: bool) -> Slack:
    slack = norm_diverges(case.data, case.start, LOSSES[case.loss])
    return Slack(-slack.value, slack.error) if bounded else slack
