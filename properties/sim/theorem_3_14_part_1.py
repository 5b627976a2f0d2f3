"""Theorem 3.14 under part 1 of assumption 3.10: all tokens are support vectors.

Definition 3.8 has lost its formula in print; X^mm is read from assumption 3.10 as the Frobenius
solution with (x_opt - x_t)^T X z >= 1. Logits are x_t^T X z, as there; for those of definition 3.3,
z^T X x_t, not even the repaired theorem holds (`sim/orientation`). L(X) and L_X are not defined in
print. L is read as the mean over the inputs of definition 3.6, one output column i0, and L_X as a
Lipschitz constant of its gradient. The risk gap is L(X) minus the mean of l(best score), which is
the infimum of L if the Att-SVM is feasible. The loss of definition 3.6 is g(b <f, h>) with g
increasing, and the optimal tokens have the highest scores. So descent moves away from them: <X,
X^mm> decreases at every step from every start.

`amended-1` takes the decreasing loss g(-u) and still falls, from zero, with two inputs of two
tokens (`NOT_ALIGNED`). The second input is moved to its worse token for ever. `amended-3` has one
input and starts from zero, and falls too: attention settles on the second of four tokens
(`ONE_DRAGGED`). From the start of `amended-2` neither part of the assumption is needed: unique
optimal tokens and a feasible Att-SVM are enough, and under part 1 it is feasible.

`sharp`: a single input needs four tokens to fail. With three, every start and every step will do,
and of part 1 it is enough that the second-best token is a support vector. This is needed: if that
token lies beyond the margin, X^mm is the solution for the worst token alone. From far along the
difference of the rivals attention then stays with the second best for ever (`BEYOND`).

`amended-2` fails with longer steps than 1/L (`LEAPING`).
"""

import numpy as np
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.primitives import descent_letters as letters
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import LEAPING, LOCAL_TRAP, runs, tight_data, towards_solution
from attsvm.primitives.hypotheses import (
    ALL_TIGHT,
    BASIN,
    FEASIBLE,
    ONE_INPUT,
    SECOND_SUPPORTS,
    SEVERAL_TOKENS,
    UNIQUE,
    ZERO_START,
)
from attsvm.primitives.steps import ANY, SHORT, stepped
from attsvm.strategies import arrays, composite, sizes
from attsvm.strategies.data import separable_data
from attsvm.theory import Hypothesis, Reading, Statement, changed
from properties._support import small_runs as small
from properties.sim import PRINTED, REPAIRED, SOURCE
from properties.sim._support import training

BEYOND = Descent.of(
    [[[0, 0], [-2, -1], [-1, 0]]], [[1, 0]], [[-20, 0], [-20, 0]], scores=[[2, 1, 0]]
)
"""X^mm has w = (1, 0) and margins 2, 1. At w = -(1, 1)/2 the logit of the second token exceeds the
others by 3/2 and 1."""


@composite
def few_tokens(draw: st.DrawFn) -> AttentionData:
    """Draw one input of two or three tokens anywhere, with any scores."""
    T, d = draw(sizes(2, 3)), draw(sizes(1, 3))
    Z = draw(arrays(1, d)) + np.eye(1, d)
    return AttentionData(draw(arrays(1, T, d)), Z, scores=draw(arrays(1, T)))


THREE = Hypothesis(
    "no input has four tokens",
    lambda run: run.data.T <= 3,
    says="no input has more than three tokens",
    proposition=letters.three_tokens,
)

THEOREM = Statement(
    "sim/theorem-3.14-part-1",
    rests_on=("sim/definition-3.6", "sim/definition-3.8", "sim/orientation", "sim/lemma-3.13"),
    source=SOURCE,
    place="Theorem 3.14 with assumption 3.10",
    printed="Suppose Assumption 3.10 on the tokens' score hold. Let X(k) denote the k-th iteration "
    "of X. Then, Algorithm W-GD (Definition 3.7) with the step size eta <= 1/L_X and any starting "
    "point X(0) satisfies lim X(k)/||X(k)||_F = X^mm/||X^mm||_F",
    variables=stepped(Descent, runs(tight_data(), 0, 2)),
    conclusion=training.DIRECTION,
    cost=10,
    violating={
        ALL_TIGHT: stepped(Descent, runs(separable_data(), 0, 1), training.near_solution),
        UNIQUE: [small.TIED_APART, small.ALL_TIED],
        FEASIBLE: [small.NO_QUERY],
        SEVERAL_TOKENS: [small.ONE_TOKEN],
        ONE_INPUT: [small.NOT_ALIGNED],
        THREE: [small.ONE_DRAGGED],
        SECOND_SUPPORTS: [BEYOND],
        SHORT: [LEAPING],
    },
    readings={
        "literal": Reading(
            "refuted",
            read=training.UNDEFINED,
            fixed={"loss": PRINTED},
            under=(UNIQUE, ALL_TIGHT, SHORT),
            examples=(small.TWO_TOKENS, small.ONE_TOKEN),
            siblings={
                **training.OTHER_TARGETS,
                "not all tokens support vectors": changed(
                    drop=[ALL_TIGHT], examples=[small.NOT_TIGHT]
                ),
                "tied optimal tokens": changed(drop=[UNIQUE], examples=[small.TIED_BESIDE]),
            },
        ),
        "amended-1": Reading(
            "refuted",
            fixed={"loss": REPAIRED},
            under=(UNIQUE, ALL_TIGHT, SEVERAL_TOKENS, SHORT),
            examples=(small.TWO_TOKENS, small.NOT_ALIGNED, small.ONE_DRAGGED, LOCAL_TRAP),
            siblings=training.OTHER_DIRECTIONS,
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.basins:prove",
            fixed={"loss": REPAIRED},
            under=(UNIQUE, FEASIBLE, BASIN, SHORT),
            variables=stepped(
                Descent, runs(st.one_of(tight_data(), separable_data()), 0, 1), towards_solution
            ),
            examples=(small.UNEVEN_SCORES, small.NOT_TIGHT),
            siblings={**training.OTHER_DIRECTIONS, **training.any_start()},
        ),
        "sharp": Reading(
            "proved",
            strength="better",
            proof="symbolic.sim.three_facts:prove_three",
            fixed={"loss": REPAIRED},
            under=(UNIQUE, SEVERAL_TOKENS, ONE_INPUT, THREE, SECOND_SUPPORTS),
            variables=stepped(Descent, runs(few_tokens(), 0, 1), steps=ANY),
            examples=(small.TWO_TOKENS, small.UNEVEN_SCORES),
            siblings=training.OTHER_DIRECTIONS,
        ),
        "amended-3": Reading(
            "refuted",
            fixed={"loss": REPAIRED},
            under=(UNIQUE, ALL_TIGHT, SEVERAL_TOKENS, ONE_INPUT, ZERO_START, SHORT),
            variables=stepped(Descent, training.one_input_from_zero(), fixed=("start",)),
            examples=(small.TWO_TOKENS, small.ONE_DRAGGED),
            siblings=training.OTHER_TARGETS,
        ),
    },
)
