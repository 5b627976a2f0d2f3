"""Key-query bias: W = QK^T trained by descent converges to the Frobenius solution.

"We show that W = QK^T trained by gradient descent in the language modeling pretraining converge to
the solution of SVM with the Frobenius norm objective" (section 1; so sections 2 and 5).

Two readings: W itself is trained, as in W-GD (`literal-1`), or "trainable parameter key and query
matrices Q, K in R^{d x d}" are (`literal-2`). The solution has to exist, and optimal tokens are
unique as in assumption 3.10. With the loss of definition 3.6 W runs away from the solution, see
theorem 3.14: tokens 1, 0, scores 1, 0, query 1, X(0) = 0. And at K = Q = 0 nothing moves, with
any loss: the same two tokens. (Logits are x_t^T W z; the transpose is `sim/orientation`.)

With a decreasing loss W does converge from a start that cannot lose its optimal tokens
(`amended-2`), but (K, Q) need not from there (`amended-1`, refuted), and not at K = Q = 0 alone.
Tokens 1, 0, query 1, K = 1, Q = -1: then Q = -K for ever, and W = -K^2 < 0 while X^mm = 1. From
invertible weights with all margins positive: e_1, 0 twice and e_2, 0, with queries e_1, e_2, e_1,
and K = Q = [[2, 1], [1, 2]]; W stays positive semidefinite and X^mm = [[1, 1], [1, 0]] is not, so
the direction is another for ever (that of the nuclear solution, all ones, as far as it was
followed). With one input of two tokens all norms agree, and (K, Q) converges from every start with
K^T D / ||D|| + Q^T z / ||z|| not 0, D = x_opt - x_t (`amended-3`; from the others it never does).
Proofs in `factors`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.theory import Slack, claim, sibling
from properties._support.descent_runs import (
    Run,
    certified_limit,
    feasible,
    in_basin,
    max_margin,
    pulling_data,
    reaches,
    runs,
    several_tokens,
    tight_data,
    unique_optimum,
)
from properties._support.growth_rates import arrives
from properties._support.hypothesis_violations import NO_QUERY, PASSED_OVER, TIED_ASIDE
from properties.sim import SOURCE
from properties.sim._support.theorem_3_14 import ONE_TOKEN, PRINTED, REPAIRED, TWO_TOKENS
from properties.sim.kq_bias.factor_descent import (
    Factors,
    crossed_data,
    fate,
    follows,
    leans,
    one_pair,
    pair_data,
    starting,
)

BIAS: dict[str, Any] = {
    "source": SOURCE,
    "place": "Section 1, contribution 1, and section 5",
    "same_slack": False,
}
W_BIAS = {**BIAS, "cost": 10, "data": runs(tight_data(), 0, 1)}
KQ_BIAS = {**BIAS, "cost": 4, "data": starting(st.one_of(pair_data(), crossed_data()))}
UNIQUE, FEASIBLE = "optimal tokens are unique", "Att-SVM is feasible"
TWO, START = "some input has two tokens", "risk gap of the start below the threshold"
EXISTS = {UNIQUE: unique_optimum, FEASIBLE: feasible, TWO: several_tokens}
KQ_EXISTS = {
    UNIQUE: lambda case: unique_optimum(case.run),
    FEASIBLE: lambda case: feasible(case.run),
    TWO: lambda case: several_tokens(case.run),
}
OTHER = {
    "direction of the worst tokens": sibling(towards="worst"),
    "opposite direction": sibling(towards="opposite"),
}


def certify_printed(run: Run, towards: str = "optimal", loss: str = PRINTED) -> arb | None:
    """Where W goes on the printed loss, or another, by proof."""
    return certified_limit(run, loss, towards)


@claim(
    "sim/kq-bias:literal-1",
    **W_BIAS,
    statement="W trained by descent on g(b <f, h>) from any start converges in direction to the "
    "Frobenius solution",
    hypotheses=EXISTS,
    examples=[TWO_TOKENS],
    certify=certify_printed,
    expected="refuted",
    siblings={
        "on the decreasing loss": sibling(loss=REPAIRED, examples=[PASSED_OVER]),
        "on the decreasing loss, in the opposite direction": sibling(
            loss=REPAIRED, towards="opposite", examples=[TWO_TOKENS]
        ),
        "every input with one token": sibling(drop=[TWO], examples=[ONE_TOKEN]),
        "Att-SVM need not be feasible": sibling(drop=[FEASIBLE], examples=[NO_QUERY]),
    },
)
def literal_1(run: Run, towards: str = "optimal", loss: str = PRINTED) -> Slack:
    """As printed, W trained."""
    return reaches(run, loss, towards)


def certify_printed_pair(case: Factors, towards: str = "optimal") -> arb | None:
    """Where K Q^T goes on the printed loss, by proof."""
    return fate(case, PRINTED, towards)


def pair(K: Any, Q: Any, data: AttentionData = TWO_TOKENS.data) -> Factors:
    """A start on the smallest data set, or another."""
    return Factors(data, np.array(K, dtype=np.float64), np.array(Q, dtype=np.float64))


NOWHERE = pair([[0]], [[0]])
OPPOSED = pair([[1]], [[-1]])
E = np.eye(2)
CORNER = AttentionData.of(
    [[E[0], [0, 0]], [E[0], [0, 0]], [E[1], [0, 0]]], [E[0], E[1], E[0]], scores=[[1.0, 0.0]] * 3
)
SEMIDEFINITE = pair([[2, 1], [1, 2]], [[2, 1], [1, 2]], CORNER)
NARROW = pair(
    [[1, 0], [1, 0]],
    [[1, 0], [1, 0]],
    AttentionData.of([[E[0], [0, 0]], [E[1], [0, 0]]], E, scores=[[1.0, 0.0]] * 2),
)
"""X^mm is the identity, and K Q^T has rank one for ever."""


@claim(
    "sim/kq-bias:literal-2",
    **KQ_BIAS,
    statement="K Q^T with K, Q in R^{d x d} trained by descent on g(b <f, h>) from any start "
    "converges in direction to the Frobenius solution",
    hypotheses=KQ_EXISTS,
    examples=[NOWHERE],
    certify=certify_printed_pair,
    expected="refuted",
    siblings=OTHER,
)
def literal_2(case: Factors, towards: str = "optimal") -> Slack:
    """As printed, K and Q trained."""
    return follows(case, PRINTED, towards)


def starts_in_basin(run: Run) -> bool:
    """The start's risk gap is below the threshold."""
    return in_basin(run, REPAIRED)


def certify_pair(case: Factors, towards: str = "optimal") -> arb | None:
    """Where K Q^T goes on the decreasing loss, by proof."""
    return fate(case, REPAIRED, towards)


@claim(
    "sim/kq-bias:amended-1",
    **KQ_BIAS,
    statement="K Q^T trained by descent on g(-b <f, h>) from a start in the basin of the optimal "
    "tokens converges in direction to the Frobenius solution",
    hypotheses={**KQ_EXISTS, START: lambda case: starts_in_basin(case.run)},
    examples=[NOWHERE, OPPOSED, SEMIDEFINITE],
    certify=certify_pair,
    expected="refuted",
    siblings=OTHER,
)
def amended_1(case: Factors, towards: str = "optimal") -> Slack:
    """With a decreasing loss and a good start, K and Q trained."""
    return follows(case, REPAIRED, towards)


def certify_weights(run: Run, towards: str = "optimal") -> arb | None:
    """Where W goes on the decreasing loss, by proof."""
    target = max_margin(run.data, towards)
    if target is not None and not unique_optimum(run):
        return arrives(run.data, run.start, REPAIRED, target)
    return certified_limit(run, REPAIRED, towards)


@claim(
    "sim/kq-bias:amended-2",
    **W_BIAS,
    statement="W trained by descent on g(-b <f, h>) with step at most 1/L from a start in the "
    "basin of the optimal tokens converges in direction to the Frobenius solution",
    hypotheses={UNIQUE: unique_optimum, FEASIBLE: feasible, START: starts_in_basin},
    examples=[TWO_TOKENS],
    certify=certify_weights,
    expected="holds",
    siblings={
        **OTHER,
        "tied optimal tokens": sibling(drop=[UNIQUE], examples=[TIED_ASIDE]),
        "Att-SVM need not be feasible": sibling(drop=[FEASIBLE], examples=[NO_QUERY]),
        "any start": sibling(drop=[START], data=runs(pulling_data(), 0), examples=[PASSED_OVER]),
    },
)
def amended_2(run: Run, towards: str = "optimal") -> Slack:
    """With a decreasing loss and a good start, W trained."""
    return reaches(run, REPAIRED, towards)


ONE, LEANS = "one input of two tokens", "K^T D / ||D|| + Q^T z / ||z|| is not 0"
TIED_PAIR = pair([[2]], [[-1]], AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[0.0, 0.0]]))


@claim(
    "sim/kq-bias:amended-3",
    **{**KQ_BIAS, "data": starting(pair_data())},
    statement="one input of two tokens: K Q^T trained by descent on g(-b <f, h>) with short steps "
    "converges in direction to the Frobenius solution unless K^T D / ||D|| + Q^T z / ||z|| = 0",
    hypotheses={
        UNIQUE: KQ_EXISTS[UNIQUE],
        ONE: one_pair,
        LEANS: leans,
    },
    examples=[pair([[1]], [[1]]), pair([[2]], [[-1]])],
    certify=certify_pair,
    expected="holds",
    siblings={
        **OTHER,
        "any start": sibling(drop=[LEANS], examples=[OPPOSED]),
        "several inputs": sibling(drop=[ONE], data=starting(crossed_data()), examples=[NARROW]),
        "tied optimal tokens": sibling(drop=[UNIQUE], examples=[TIED_PAIR]),
    },
)
def amended_3(case: Factors, towards: str = "optimal") -> Slack:
    """With one pair of tokens, K and Q trained."""
    return follows(case, REPAIRED, towards)
