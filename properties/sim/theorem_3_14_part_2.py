"""Theorem 3.14 under part 2 of assumption 3.10: all rivals of an optimal token score the same.

"Suppose assumption 3.10 ... hold. Then W-GD with step size eta <= 1/L_X and any starting point
satisfies lim X(k)/||X(k)||_F = X^mm/||X^mm||_F."

What print leaves open is read as in part 1: the programme of definition 3.8, the orientation of X,
L(X) and L_X. As printed it falls twice over. The loss of definition 3.6 increases in <f, h>, so
descent flees the tokens of highest score: <X, X^mm> falls at every step (see part 1). And nothing
asks that the Att-SVM has a solution: with a single token X^mm = 0 has no direction, with two inputs
that pull against each other there is no X^mm at all. `amended-1` takes the decreasing loss g(-u), a
feasible programme and one input with two tokens, and still falls from zero: the input with the
larger score gap can drag another one to its worse token for ever (`PULLED_APART`, two inputs of two
tokens in R^2). Two repairs hold: `amended-3` starts with a risk gap below min_i [l(second score) -
l(best score)]/n (proof at `attsvm.exact.descent.certified_fate`), and `amended-2` has a single
input, where every start does so, because attention to the optimal token is never 0.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from attsvm.data import AttentionData
from attsvm.theory import Slack, claim, sibling
from properties._support.descent_runs import (
    Run,
    equal_rivals,
    feasible,
    pulling_data,
    reaches,
    rival_data,
    runs,
    several_tokens,
    unique_optimum,
)
from properties._support.torch_objectives import elsewhere
from properties.sim._support.theorem_3_14 import (
    ONE_TOKEN,
    OTHER_DIRECTIONS,
    PLACE,
    PRINTED,
    PUBLISHED,
    PULLED_APART,
    REPAIRED,
    THREE_SCORES,
    TWO_TOKENS,
    certify_printed,
    certify_repaired,
    near_solution,
    protocol,
    single,
    starts_in_basin,
)

PART: dict[str, Any] = {**PLACE, "cost": 10, "same_slack": False}
ASSUMED = {
    "optimal tokens are unique": unique_optimum,
    "all rivals of an optimal token score the same": equal_rivals,
}
OPPOSED = Run(
    AttentionData.of([[[1.0], [0.0]], [[1.0], [0.0]]], [[1.0], [-1.0]], scores=[[1.0, 0.0]] * 2),
    np.zeros((1, 1)),
)
FAR_START = Run(TWO_TOKENS.data, np.array([[-24.0]]))
SAME_RIVALS = Run(
    AttentionData.of([[[1.0], [0.0], [0.0]]], [[1.0]], scores=[[1.0, 0.0, 0.0]]),
    np.zeros((1, 1)),
)


@claim(
    "sim/theorem-3.14-part-2:literal",
    **PART,
    statement="equal scores of rivals: descent on g(b <f, h>) from any start converges in "
    "direction to X^mm",
    data=runs(rival_data(), 0, 2),
    hypotheses=ASSUMED,
    examples=[TWO_TOKENS, ONE_TOKEN, OPPOSED],
    relaxed=partial(elsewhere, loss=PRINTED),
    certify=certify_printed,
    expected="refuted",
    siblings={
        "any scores of rivals": sibling(
            drop=["all rivals of an optimal token score the same"], examples=[THREE_SCORES]
        ),
        "direction of the worst tokens": sibling(towards="worst"),
        "opposite direction": sibling(towards="opposite"),
    },
)
def literal(run: Run, towards: str = "optimal") -> Slack:
    """With the loss as printed."""
    return reaches(run, PRINTED, towards)


REPAIR = {
    **ASSUMED,
    "some input has two tokens": several_tokens,
    "Att-SVM is feasible": feasible,
}


@claim(
    "sim/theorem-3.14-part-2:amended-1",
    **PART,
    statement="equal scores of rivals, Att-SVM feasible, some input with two tokens: descent on "
    "the decreasing loss g(-b <f, h>) from any start converges in direction to X^mm",
    data=runs(rival_data(), 0, 2),
    ensemble=protocol,
    hypotheses=REPAIR,
    examples=[TWO_TOKENS, PULLED_APART],
    relaxed=partial(elsewhere, loss=REPAIRED),
    certify=certify_repaired,
    expected="refuted",
    siblings={
        **OTHER_DIRECTIONS,
        "infeasible programme": sibling(drop=["Att-SVM is feasible"], examples=[OPPOSED]),
    },
)
def decreasing(run: Run, towards: str = "optimal") -> Slack:
    """With a decreasing loss and a target that exists."""
    return reaches(run, REPAIRED, towards)


@claim(
    "sim/theorem-3.14-part-2:amended-2",
    **PART,
    statement="a single input with equal scores of rivals, two tokens at least, Att-SVM feasible: "
    "descent on the decreasing loss with step at most 1/L_X from any start converges in direction "
    "to X^mm",
    data=runs(rival_data(), 0, 2),
    ensemble=single,
    hypotheses={**REPAIR, "there is a single input": lambda run: run.data.n == 1},
    examples=[TWO_TOKENS, FAR_START, SAME_RIVALS, PUBLISHED],
    relaxed=partial(elsewhere, loss=REPAIRED),
    certify=certify_repaired,
    expected="holds",
    siblings={
        **OTHER_DIRECTIONS,
        "several inputs": sibling(drop=["there is a single input"], data=runs(pulling_data(), 0)),
    },
)
def single_input(run: Run, towards: str = "optimal") -> Slack:
    """With one input, from anywhere."""
    return reaches(run, REPAIRED, towards)


@claim(
    "sim/theorem-3.14-part-2:amended-3",
    **PART,
    statement="equal scores of rivals, Att-SVM feasible: descent on the decreasing loss with step "
    "at most 1/L_X converges in direction to X^mm from every start whose risk gap is below "
    "min_i [l(second) - l(best)]/n",
    data=runs(rival_data(), 0, 1),
    ensemble=near_solution,
    hypotheses={**REPAIR, "risk gap of the start below the threshold": starts_in_basin},
    examples=[TWO_TOKENS],
    relaxed=partial(elsewhere, loss=REPAIRED),
    certify=certify_repaired,
    expected="holds",
    siblings={
        **OTHER_DIRECTIONS,
        "any start": sibling(
            drop=["risk gap of the start below the threshold"],
            data=runs(pulling_data(), 0),
        ),
    },
)
def from_basin(run: Run, towards: str = "optimal") -> Slack:
    """With a start that cannot lose its optimal tokens."""
    return reaches(run, REPAIRED, towards)
