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

import numpy as np

from attsvm.data import AttentionData
from attsvm.theory import Reading, Records, Statement, changed
from properties._support.descent_runs import (
    Run,
    pulling_data,
    rival_data,
    runs,
)
from properties._support.hypotheses import feasible, rivals_equal, several_tokens, unique_optimum
from properties._support.hypothesis_violations import ALL_TIED, NO_QUERY, PASSED_OVER
from properties.sim import SOURCE
from properties.sim._support.theorem_3_14 import (
    DIRECTION,
    ONE_TOKEN,
    OTHER_DIRECTIONS,
    PLACE,
    PRINTED,
    PUBLISHED,
    PULLED_APART,
    REPAIRED,
    THREE_SCORES,
    TIED_BESIDE,
    TWO_TOKENS,
    UNEVEN_SCORES,
    near_solution,
    protocol,
    single,
    starts_in_basin,
)

UNIQUE, LEVEL = "optimal tokens are unique", "all rivals of an optimal token score the same"
SEVERAL, FEASIBLE = "some input has two tokens", "Att-SVM is feasible"
SINGLE, BASIN = "there is a single input", "risk gap of the start below the threshold"
OPPOSED = Run(
    AttentionData.of([[[1.0], [0.0]], [[1.0], [0.0]]], [[1.0], [-1.0]], scores=[[1.0, 0.0]] * 2),
    np.zeros((1, 1)),
)
FAR_START = Run(TWO_TOKENS.data, np.array([[-24.0]]))
SAME_RIVALS = Run(
    AttentionData.of([[[1.0], [0.0], [0.0]]], [[1.0]], scores=[[1.0, 0.0, 0.0]]),
    np.zeros((1, 1)),
)
PULLING = Records(Run, runs(pulling_data(), 0))

THEOREM = Statement(
    "sim/theorem-3.14-part-2",
    source=SOURCE,
    place=PLACE,
    printed="Suppose assumption 3.10 ... hold. Then W-GD with step size eta <= 1/L_X and any "
    "starting point satisfies lim X(k)/||X(k)||_F = X^mm/||X^mm||_F",
    variables=Records(Run, runs(rival_data(), 0, 2)),
    hypotheses={
        UNIQUE: unique_optimum,
        LEVEL: lambda run: rivals_equal(run.data),
        SEVERAL: several_tokens,
        FEASIBLE: feasible,
        SINGLE: lambda run: run.data.n == 1,
        BASIN: starts_in_basin,
    },
    conclusion=DIRECTION,
    cost=10,
    violating={
        UNIQUE: [TIED_BESIDE, ALL_TIED],
        SEVERAL: [ONE_TOKEN],
        LEVEL: [PASSED_OVER, UNEVEN_SCORES],
        FEASIBLE: [NO_QUERY],
    },
    readings={
        "literal": Reading(
            "equal scores of rivals: descent on g(b <f, h>) from any start converges in direction "
            "to X^mm",
            expected="refuted",
            constants={"loss": PRINTED},
            under=(UNIQUE, LEVEL),
            examples=(TWO_TOKENS, ONE_TOKEN, OPPOSED),
            siblings={
                "any scores of rivals": changed(drop=[LEVEL], examples=[THREE_SCORES]),
                "direction of the worst tokens": changed(towards="worst"),
                "opposite direction": changed(towards="opposite"),
            },
        ),
        "amended-1": Reading(
            "equal scores of rivals, Att-SVM feasible, some input with two tokens: descent on the "
            "decreasing loss g(-b <f, h>) from any start converges in direction to X^mm",
            expected="refuted",
            constants={"loss": REPAIRED},
            under=(UNIQUE, LEVEL, SEVERAL, FEASIBLE),
            variables=Records(Run, runs(rival_data(), 0, 2), protocol),
            examples=(TWO_TOKENS, PULLED_APART),
            siblings={
                **OTHER_DIRECTIONS,
                "infeasible programme": changed(drop=[FEASIBLE], examples=[OPPOSED]),
            },
        ),
        "amended-2": Reading(
            "a single input with equal scores of rivals, two tokens at least, Att-SVM feasible: "
            "descent on the decreasing loss with step at most 1/L_X from any start converges in "
            "direction to X^mm",
            expected="holds",
            constants={"loss": REPAIRED},
            under=(UNIQUE, LEVEL, SEVERAL, FEASIBLE, SINGLE),
            variables=Records(Run, runs(rival_data(), 0, 2), single),
            examples=(TWO_TOKENS, FAR_START, SAME_RIVALS, PUBLISHED),
            siblings={
                **OTHER_DIRECTIONS,
                "several inputs": changed(drop=[SINGLE], variables=PULLING),
            },
        ),
        "amended-3": Reading(
            "equal scores of rivals, Att-SVM feasible: descent on the decreasing loss with step at "
            "most 1/L_X converges in direction to X^mm from every start whose risk gap is below "
            "min_i [l(second) - l(best)]/n",
            expected="holds",
            constants={"loss": REPAIRED},
            under=(UNIQUE, LEVEL, FEASIBLE, BASIN),
            variables=Records(Run, runs(rival_data(), 0, 1), near_solution),
            examples=(TWO_TOKENS,),
            siblings={**OTHER_DIRECTIONS, "any start": changed(drop=[BASIN], variables=PULLING)},
        ),
    },
)
