"""All tokens support vectors: the norm of gradient descent diverges.

"Theorem: If all tokens are support vectors of Att-SVM (i.e. SVM margin constraints are tight),
then ... GD diverges: ||W_k||_F -> infinity."

With two different scores in one input this is true for every start and every step, ties of
optimal tokens included: <W_k, W^mm> grows at each step by eta times sum_i |l'| s_opt sum_t s_t
(gamma_opt - gamma_t) / n, which is bounded below on every ball, so no ball is visited for ever.
As printed it is false where all scores are tied or tokens alone: one input, tokens 1 and 0 in
R^1, head v = 0 has W^mm = 1, both tokens on the margin, and a gradient that is zero everywhere.

`sharp` gives the rate from a start that cannot lose its optimal tokens, for a step of at most 1/L
(a longer one may leap into another token's basin): ||W_k|| / ln k -> ||W^mm||. There the
direction converges to that of W^mm, so the least margin is (1 + o(1)) ||W_k|| / ||W^mm||, the
gradient exp(-that), and the norm grows by as much a step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb

from attsvm.data import AttentionData
from attsvm.exact import ExactData, certified_fate, norm, rational, rationals
from attsvm.exact.traps import is_stationary_start
from attsvm.losses import LOSSES
from attsvm.svm import att_svm
from attsvm.theory import Slack, claim, sibling
from attsvm.theory.limits import norm_diverges, norm_grows_like_log
from properties.runs import (
    answer,
)
from properties.tf import SOURCE
from properties.tf.descents import (
    ONE_TOKEN,
    TIED,
    TRAP,
    Descent,
    descents,
    in_global_basin,
    larger,
    opposed,
    started_right,
    tight,
    two_scores,
    two_tokens,
    unique,
)

TIED_OPTIMA = Descent(
    AttentionData.of(
        [[[0.0, 0.0], [-1.0, 0.0], [0.0, -1.0]]], [[1.0, 0.0]], scores=[[1.0, 1.0, 0.0]]
    ),
    np.zeros((2, 2)),
    "log-loss",
)
THEOREM: dict[str, Any] = {
    "source": SOURCE,
    "place": "Main results on large d",
    "cost": 8,
    "same_slack": False,
}


def certify(case: Descent, bounded: bool = False) -> arb | None:
    """-1 where the start is exactly stationary, so that the norm never changes.

    For the flipped statement, that the norm stays bounded, -1 where the proof above applies.
    """
    data = ExactData.of(case.data)
    if bounded:
        applies = tight(case) and two_scores(case)
        return arb(-1) if applies else None
    return arb(-1) if is_stationary_start(data, rationals(case.start)) else None


@claim(
    "tf/all-support-divergence:literal",
    **THEOREM,
    statement="all tokens support vectors of the Att-SVM: ||W_k|| -> infinity under descent",
    data=descents(),
    hypotheses={"all tokens are support vectors": tight},
    examples=[TIED, ONE_TOKEN],
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
    statement="all tokens support vectors, some input with two different scores: "
    "||W_k|| -> infinity under descent from any start",
    data=descents(),
    ensemble=larger,
    examples=[TRAP, TIED_OPTIMA],
    hypotheses={
        "all tokens are support vectors": tight,
        "some input has two different scores": two_scores,
    },
    certify=certify,
    expected="holds",
    siblings={
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
    """Minus the relative error of a rate, where ||W^mm|| is proved to be the true one.

    The proof needs the start in the basin of W^mm, decided in balls; None where it is not.
    """
    data, W = ExactData.of(case.data), rationals(case.start)
    solved = answer(case.data)
    fate = certified_fate(data, W, case.loss, None, 0)
    if solved is None or solved.status != "solved" or fate is None or not fate.converges:
        return None
    true = norm([x for row in solved.W for x in row])
    wrong = abs(arb(rational(share)) * true - true) / true
    return arb(1) if wrong.contains(0) and rational(share) == 1 else -wrong


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
        "some input has two tokens": two_tokens,
        "risk gap of the start below the threshold": in_global_basin,
    },
    certify=certify_rate,
    expected="holds",
    siblings={
        "95% of the rate": sibling(share=0.95),
        "105% of the rate": sibling(share=1.05),
        "half of the rate": sibling(share=0.5),
    },
)
def sharp(case: Descent, share: float = 1.0) -> Slack:
    """With the rate at which it diverges."""
    rate = float(np.linalg.norm(att_svm(case.data).W))
    return norm_grows_like_log(case.data, case.start, LOSSES[case.loss], share * rate)


def _slack(case: Descent, bounded: bool) -> Slack:
    slack = norm_diverges(case.data, case.start, LOSSES[case.loss])
    return Slack(-slack.value, slack.error) if bounded else slack
