"""All tokens support vectors: the risk has no stationary point.

"Theorem: If all tokens are support vectors of Att-SVM (i.e. SVM margin constraints are tight),
then - No stationary points: grad L(W) != 0 for all W."

Let M be any matrix under which all rivals of the optimal token have margin 1, such as W^mm here.
With a_it = <x_it z_i^T, M> and u_i = <s_i, gamma_i>, as a_i,opt - a_it = 1 and the terms
s_it (gamma_it - u_i) of an input sum to 0,

    <-grad L(W), M> = (1/n) sum_i |l'(u_i)| sum_t s_it (gamma_it - u_i) a_it
                    = (1/n) sum_i |l'(u_i)| s_i,opt sum_t s_it (gamma_i,opt - gamma_it) =: D(W).

For l' < 0 this is positive at every W as soon as one input has two different scores, ties of
optimal tokens or not; and where no input has, the gradient is zero at every W. So that condition
(`amended`) is the least one, and without it the theorem is false as printed: one token; or tokens
1, 0 with head 0. All that is used of "support vectors" is M: it is enough that the A_it are
independent. A slope l' < 0 is more than the "strictly decreasing" of the talk: with l(u) = -u^3,
tokens 1, -1, scores 1, -1 and query 1 the gradient is zero at W = 0, though l decreases.

`sharp`: ||grad L(W)|| >= D(W) / ||W^mm||, with equality exactly where grad L points along W^mm,
as for one input of two tokens at every W. With -l' in place of |l'|, as it is computed, it needs
neither l' < 0 nor two different scores: both sides are 0 where all scores are tied. They make the
bound positive, and are kept for that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb

from attsvm.data import AttentionData
from attsvm.exact import ExactData, dot, norm, rational, rationals
from attsvm.exact.numbers import Vector, combine
from attsvm.theory import Slack, claim, sibling
from properties._support.descent_runs import answer
from properties._support.gradient_coefficients import Push, pulls, pushes
from properties._support.programmes import OPEN, flat, optimum, solve
from properties.tf import SOURCE
from properties.tf._support import torch_objectives as relaxed
from properties.tf._support.descent_instances import (
    ONE_TOKEN,
    OPPOSED,
    TIED,
    TRAP,
    Descent,
    decreasing,
    descents,
    larger,
    opposed,
    tight,
    two_scores,
)

THEOREM: dict[str, Any] = {"source": SOURCE, "place": "Main results on large d", "cost": 2}
TIGHT = {"all tokens are support vectors": tight}
SLOPED = {"l' < 0 everywhere": decreasing}
TWO_SCORES = {"some input has two different scores": two_scores}
BEST_TIED = Descent(
    AttentionData.of([[[1.0], [0.0], [0.0]]], [[1.0]], scores=[[1.0, 1.0, 0.0]]),
    np.ones((1, 1)),
    "log-loss",
)
PASSED_OVER = Descent(
    AttentionData.of([[[4.0], [0.0], [3.0]]], [[1.0]], scores=[[1.0, 0.0, -3.0]]),
    np.zeros((1, 1)),
    "log-loss",
)
SMALL = Descent(
    AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[1.0, 0.0]]), np.zeros((1, 1)), "log-loss"
)
FLAT = Descent(
    AttentionData.of([[[1.0], [-1.0]]], [[1.0]], scores=[[2.0, 0.0]]), np.zeros((1, 1)), "squared"
)


def _total(parts: list[Push]) -> Vector:
    return combine([part.factor for part in parts], [part.matrix for part in parts])


def _is_zero(parts: list[Push]) -> bool:
    return not any(x != 0 for part in parts for x in part.matrix)


def _solution(case: Descent) -> Vector | None:
    found = answer(case.data)
    return None if found is None or found.status != "solved" else flat(found.W)


def certify(case: Descent, of: str = "norm") -> arb | None:
    """The figure as a ball; exactly 0 where every part of the gradient is, in rationals."""
    parts = pushes(ExactData.of(case.data), rationals(case.start), case.loss)
    if of == "against":
        M = _solution(case)
        if M is None:
            return arb(0)
        return sum((-part.factor * dot(part.matrix, M) for part in parts), arb(0))
    size = arb(0) if _is_zero(parts) else norm(_total(parts))
    return -size if of == "zero" else size


def figure(case: Descent, of: str) -> Slack:
    """||grad L(W)|| above 0, or at most 0; or <grad L(W), W^mm> above 0."""
    found = pulls(case.data, case.start, case.loss)
    if not np.isfinite(found.lost):
        return OPEN
    size = float(np.linalg.norm(found.descent))
    if of == "zero":
        return Slack(-size, found.lost)
    if of == "against":
        M = solve(case.data, optimum(case.data))
        if M is None:
            return OPEN
        error = found.lost * float(np.linalg.norm(M.W)) + size * M.error
        error += 4e-16 * case.data.d**2 * size * float(np.linalg.norm(M.W))
        return Slack(-float((found.descent * M.W).sum()), error, "strict")
    return Slack(size, found.lost, "strict")


@claim(
    "tf/all-support-no-stationary:literal",
    **THEOREM,
    statement="all tokens support vectors of the Att-SVM: grad L(W) != 0 for all W",
    data=descents(),
    hypotheses={**TIGHT, **SLOPED},
    examples=[ONE_TOKEN, TIED],
    relaxed=relaxed.stationary,
    certify=certify,
    expected="refuted, certified",
    siblings={
        "grad L(W) = 0 for all W": sibling(of="zero", examples=[SMALL]),
        "descent moves against W^mm": sibling(of="against", examples=[SMALL]),
    },
)
def literal(case: Descent, of: str = "norm") -> Slack:
    """With the one listed hypothesis."""
    return figure(case, of)


@claim(
    "tf/all-support-no-stationary:amended",
    **THEOREM,
    statement="all tokens support vectors, l' < 0, some input with two different scores: "
    "grad L(W) != 0 for all W",
    data=descents(),
    ensemble=larger,
    hypotheses={**TIGHT, **SLOPED, **TWO_SCORES},
    examples=[SMALL, TRAP, BEST_TIED],
    relaxed=relaxed.stationary,
    certify=certify,
    expected="holds",
    siblings={
        "all scores of each input may be tied": sibling(drop=list(TWO_SCORES), examples=[TIED]),
        "not all tokens support vectors": sibling(
            drop=list(TIGHT), data=opposed(), examples=[OPPOSED]
        ),
        "l' may vanish": sibling(drop=list(SLOPED), examples=[FLAT]),
    },
)
def amended(case: Descent, of: str = "norm") -> Slack:
    """Where there is something to select; optimal tokens may be tied."""
    return figure(case, of)


def certify_bound(case: Descent, share: float = 1.0) -> arb | None:
    """The slack as a ball; exactly 0 where every part of the gradient lies along W^mm."""
    data, M = ExactData.of(case.data), _solution(case)
    if M is None:
        return None
    parts = pushes(data, rationals(case.start), case.loss)
    along = all(
        dot(part.matrix, M) == part.toward
        and [part.toward * x for x in M] == [dot(M, M) * x for x in part.matrix]
        for part in parts
    )
    if along and share == 1.0:
        return arb(0)
    bound = sum((part.factor * part.toward for part in parts), arb(0))
    return norm(_total(parts)) - arb(rational(share)) * bound / norm(M)


@claim(
    "tf/all-support-no-stationary:sharp",
    **THEOREM,
    statement="all tokens support vectors, l' < 0, some input with two different scores: "
    "||grad L(W)|| ||W^mm|| >= (1/n) sum_i |l'| s_opt sum_t s_t (gamma_opt - gamma_t)",
    data=descents(),
    ensemble=larger,
    hypotheses={**TIGHT, **SLOPED, **TWO_SCORES},
    examples=[SMALL, TRAP, BEST_TIED],
    relaxed=relaxed.toward,
    certify=certify_bound,
    expected="holds",
    siblings={
        "1.05 times the right side": sibling(share=1.05),
        "not all tokens support vectors": sibling(drop=list(TIGHT), examples=[PASSED_OVER]),
    },
)
def sharp(case: Descent, share: float = 1.0) -> Slack:
    """How far from stationary; attained where the gradient points along W^mm."""
    found, M = pulls(case.data, case.start, case.loss), solve(case.data, optimum(case.data))
    if M is None or M.answer is None or not np.isfinite(found.lost):
        return OPEN
    length = float(np.linalg.norm(M.W))
    bound = share * found.toward / length
    error = found.lost + share * found.toward_error / length
    error += 2 * bound * M.error / length + 1e-15 * case.data.d**2 * bound
    return Slack.at_most(bound, float(np.linalg.norm(found.descent)), error)
