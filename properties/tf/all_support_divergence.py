"""All tokens support vectors: the norm of gradient descent diverges.

"Theorem: If all tokens are support vectors of Att-SVM (i.e. SVM margin constraints are tight),
then ... GD diverges: ||W_k||_F -> infinity."

With unique optimal tokens and one input of two tokens this is true for every start and every
step: <W_k, W^mm> grows at each step by eta times sum_i |l'| s_opt sum_t s_t (gamma_opt - gamma_t)
/ n, which is bounded below on every ball, so no ball is visited for ever. As printed it is false
where optimal tokens are tied or alone: one input, tokens 1 and 0 in R^1, head v = 0 has
W^mm = 1, both tokens on the margin, and a gradient that is zero everywhere.
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
from attsvm.exact.traps import is_stationary_start
from attsvm.losses import LOSSES
from attsvm.theory import Slack, claim, sibling
from attsvm.theory.limits import norm_diverges
from properties.runs import Run, all_tight, several_tokens, tight_data, unique_optimum
from properties.sim.theorem_3_14 import LOCAL_TRAP, towards_solution
from properties.strategies import starts
from properties.tf import SOURCE

THEOREM: dict[str, Any] = {
    "source": SOURCE,
    "place": "Main results on large d",
    "cost": 8,
    "same_slack": False,
}


@dataclass(frozen=True, slots=True)
class Descent:
    """A data set, a start and a decreasing loss by name."""

    data: AttentionData
    start: Array
    loss: str


@st.composite
def descents(draw: st.DrawFn) -> Descent:
    """Data with mostly tight margins; starts zero, small and large."""
    data = draw(tight_data())
    loss = draw(st.sampled_from(["log-loss", "exponential", "correlation"]))
    return Descent(data, draw(starts(data.d, 0, 2)), loss)


def larger(generator: np.random.Generator) -> Descent:
    """Up to three inputs of four tokens, a random start."""
    run = towards_solution(generator)
    start = generator.integers(-8, 9, size=run.start.shape) / 4
    return Descent(run.data, start, "log-loss")


def _run(case: Descent) -> Run:
    return Run(case.data, case.start)


def tight(case: Descent) -> bool:
    """All margins of the Att-SVM are exactly 1."""
    return all_tight(_run(case))


def unique(case: Descent) -> bool:
    """Optimal tokens are unique."""
    return unique_optimum(_run(case))


def two_tokens(case: Descent) -> bool:
    """Some input has two tokens."""
    return several_tokens(_run(case))


def certify(case: Descent, bounded: bool = False) -> arb | None:
    """-1 where the start is exactly stationary, so that the norm never changes.

    For the flipped statement, that the norm stays bounded, -1 where the proof above applies.
    """
    data = ExactData.of(case.data)
    if bounded:
        applies = tight(case) and unique(case) and two_tokens(case)
        return arb(-1) if applies else None
    return arb(-1) if is_stationary_start(data, rationals(case.start)) else None


TIED = Descent(
    AttentionData.of([[[1.0], [0.0]]], [[1.0]], y=[1.0], v=[0.0]), np.zeros((1, 1)), "log-loss"
)
ONE_TOKEN = Descent(
    AttentionData.of([[[1.0]]], [[1.0]], scores=[[1.0]]), np.zeros((1, 1)), "log-loss"
)
OPPOSED = Descent(
    AttentionData.of([[[1.0], [0.0]], [[1.0], [0.0]]], [[1.0], [-1.0]], scores=[[1.0, 0.0]] * 2),
    np.zeros((1, 1)),
    "log-loss",
)
TRAP = Descent(LOCAL_TRAP.data, LOCAL_TRAP.start, "log-loss")


@claim(
    "tf/all-support-divergence:literal",
    **THEOREM,
    statement="all tokens support vectors of the Att-SVM: ||W_k|| -> infinity under descent",
    data=descents(),
    hypotheses={"all tokens are support vectors": tight},
    examples=[ONE_TOKEN, TIED],
    certify=certify,
    expected="refuted",
    siblings={
        "not all tokens support vectors": sibling(
            drop=["all tokens are support vectors"], examples=[OPPOSED]
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
    statement="all tokens support vectors, optimal tokens unique, some input with two tokens: "
    "||W_k|| -> infinity under descent from any start",
    data=descents(),
    ensemble=larger,
    examples=[TRAP],
    hypotheses={
        "all tokens are support vectors": tight,
        "optimal tokens are unique": unique,
        "some input has two tokens": two_tokens,
    },
    certify=certify,
    expected="holds",
    siblings={
        "optimal tokens may be tied": sibling(drop=["optimal tokens are unique"], examples=[TIED]),
        "not all tokens support vectors": sibling(
            drop=["all tokens are support vectors"], examples=[OPPOSED]
        ),
        "the norm stays bounded": sibling(bounded=True),
    },
)
def amended(case: Descent, bounded: bool = False) -> Slack:
    """Where optimal tokens are unique and there is something to select."""
    return _slack(case, bounded)


def _slack(case: Descent, bounded: bool) -> Slack:
    slack = norm_diverges(case.data, case.start, LOSSES[case.loss])
    return Slack(-slack.value, slack.error) if bounded else slack
