"""Theorem 3.14 under part 1 of assumption 3.10: all tokens are support vectors.

"Suppose assumption 3.10 ... hold. Then W-GD with step size eta <= 1/L_X and any starting point
satisfies lim X(k)/||X(k)||_F = X^mm/||X^mm||_F."

Definition 3.8 has lost its formula in print; X^mm is read from assumption 3.10 as the Frobenius
solution with (x_opt - x_t)^T X z >= 1. Logits are x_t^T X z, as there; for those of definition 3.3,
z^T X x_t, not even the repaired theorem holds (`sim/orientation`). L(X) and L_X are not defined in
print: read the mean over the inputs of definition 3.6, one output column i0, and the Lipschitz
constant of its gradient. The loss of definition 3.6 is g(b <f, h>) with g increasing, and the
optimal tokens have the highest scores. So descent flees from them: <X, X^mm> falls at every step
from every start (two tokens 1, 0 in R^1: X runs to -infinity, X^mm = 1). `amended-1` takes the
decreasing loss g(-u) and still falls, from zero, with two inputs of two tokens: (1/2, 0), (-1/2, 0)
and (-2, 1), 0 with labels 1, head (4, 9) and z = (1, 0) for both; the second input is dragged to
its worse token for ever. `amended-3` has one input and starts from zero, and falls too: tokens (1,
0), (0, 3), (0, 1), (0, 0) with scores 2, 1, 0, -2 and z = (1, 0), where attention settles on the
second. `amended-2` starts where the risk gap is below min_i [l(second score) - l(best score)]/n,
and holds (`attsvm.exact.descent.certified_fate`). From such a start neither part of the assumption
is needed, but unique optimal tokens and a feasible Att-SVM alone: `sim/theorem-3.15:amended-2`, for
instance tokens 1, 0, -1, scores 2, 1, 0, X(0) = 8.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from attsvm.theory import Slack, claim, sibling
from properties._support.descent_runs import (
    Run,
    all_tight,
    pulling_data,
    reaches,
    runs,
    several_tokens,
    tight_data,
    unique_optimum,
)
from properties._support.torch_objectives import elsewhere
from properties.sim._support.theorem_3_14 import (
    LOCAL_TRAP,
    NOT_TIGHT,
    ONE_DRAGGED,
    ONE_TOKEN,
    OTHER_DIRECTIONS,
    PLACE,
    PRINTED,
    PULLED_APART,
    REPAIRED,
    TIED_BESIDE,
    TWO_TOKENS,
    UNEVEN_SCORES,
    certify_patiently,
    certify_printed,
    certify_repaired,
    one_input_from_zero,
    starts_in_basin,
    towards_solution,
)

PART: dict[str, Any] = {
    **PLACE,
    "cost": 10,
    "same_slack": False,
}
ASSUMED = {
    "optimal tokens are unique": unique_optimum,
    "all tokens are support vectors": all_tight,
}


@claim(
    "sim/theorem-3.14-part-1:literal",
    **PART,
    statement="all tokens support vectors: descent on g(b <f, h>) from any start converges in "
    "direction to X^mm",
    data=runs(tight_data(), 0, 2),
    hypotheses=ASSUMED,
    examples=[TWO_TOKENS, ONE_TOKEN],
    relaxed=partial(elsewhere, loss=PRINTED),
    certify=certify_printed,
    expected="refuted",
    siblings={
        "direction of the worst tokens": sibling(towards="worst"),
        "opposite direction": sibling(towards="opposite"),
        "not all tokens support vectors": sibling(
            drop=["all tokens are support vectors"], examples=[NOT_TIGHT]
        ),
        "tied optimal tokens": sibling(drop=["optimal tokens are unique"], examples=[TIED_BESIDE]),
    },
)
def literal(run: Run, towards: str = "optimal") -> Slack:
    """With the loss as printed."""
    return reaches(run, PRINTED, towards)


@claim(
    "sim/theorem-3.14-part-1:amended-1",
    **PART,
    statement="all tokens support vectors: descent on the decreasing loss g(-b <f, h>) from any "
    "start converges in direction to X^mm",
    data=runs(tight_data(), 0, 2),
    examples=[TWO_TOKENS, PULLED_APART, ONE_DRAGGED, LOCAL_TRAP],
    hypotheses={**ASSUMED, "some input has two tokens": several_tokens},
    relaxed=partial(elsewhere, loss=REPAIRED),
    certify=certify_repaired,
    expected="refuted",
    siblings=OTHER_DIRECTIONS,
)
def decreasing(run: Run, towards: str = "optimal") -> Slack:
    """With a decreasing loss."""
    return reaches(run, REPAIRED, towards)


@claim(
    "sim/theorem-3.14-part-1:amended-2",
    **PART,
    statement="all tokens support vectors: descent on the decreasing loss with step at most 1/L_X "
    "converges in direction to X^mm from every start whose risk gap is below "
    "min_i [l(second) - l(best)]/n",
    data=runs(tight_data(), 0, 1),
    examples=[UNEVEN_SCORES],
    ensemble=towards_solution,
    hypotheses={
        **ASSUMED,
        "some input has two tokens": several_tokens,
        "risk gap of the start below the threshold": starts_in_basin,
    },
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
    """With a decreasing loss and a start that cannot lose its optimal tokens."""
    return reaches(run, REPAIRED, towards)


@claim(
    "sim/theorem-3.14-part-1:amended-3",
    **PART,
    statement="a single input, all tokens support vectors: descent on the decreasing loss "
    "g(-b <f, h>) from X(0) = 0 converges in direction to X^mm",
    data=one_input_from_zero(),
    examples=[TWO_TOKENS, ONE_DRAGGED],
    hypotheses={
        **ASSUMED,
        "some input has two tokens": several_tokens,
        "there is a single input": lambda run: run.data.n == 1,
        "the start is zero": lambda run: not run.start.any(),
    },
    relaxed=partial(elsewhere, loss=REPAIRED),
    certify=certify_patiently,
    expected="refuted",
    siblings={name: OTHER_DIRECTIONS[name] for name in list(OTHER_DIRECTIONS)[:2]},
)
def one_input(run: Run, towards: str = "optimal") -> Slack:
    """With a decreasing loss, one input, and the start that favours no token."""
    return reaches(run, REPAIRED, towards)
