"""Key-query bias: W = QK^T trained by descent converges to the Frobenius solution.

Logits are x_t^T W z (the transpose is `sim/orientation`), and X^mm is the Frobenius solution for
the tokens of highest score; the source does not state that it exists. Two readings are possible: W
itself is trained, as in W-GD, or "trainable parameter key and query matrices Q, K in R^{d x d}"
are, and W = K Q^T here.

The basin of the optimal tokens is the set of weights whose risk exceeds the infimum by less than
min_i [l(second score) - l(best score)]/n. From there descent never loses an optimal token.

As the printed loss increases in the score, W runs away from the solution (theorem 3.14). At K = Q =
0 nothing moves, with any loss. (K, Q) may also miss the solution from other starts in the basin.
From `OPPOSED` Q = -K for ever, and W = -K^2 < 0 while X^mm = 1. From `SEMIDEFINITE`, invertible
weights with all margins positive, W stays positive semidefinite. X^mm = [[1, 1], [1, 0]] is not, so
the direction is another for ever. As far as it was followed, it is that of the nuclear solution,
all ones. With one input of two tokens all norms agree. Then (K, Q) converges with any constant step
from every start with K^T D / ||D|| + Q^T z / ||z|| not 0, where D = x_opt - x_t; from the others it
never does. Proofs: `factor_descent` and `symbolic.sim.kq_bias`.
"""

from dataclasses import replace

from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import LEAPING, runs, tight_data
from attsvm.primitives.hypotheses import BASIN, FEASIBLE, ONE_PAIR, SEVERAL_TOKENS, UNIQUE
from attsvm.primitives.steps import ANY, SHORT, stepped
from attsvm.theory import Reading, Statement, changed
from properties._support import factor_descent as factors
from properties._support.factor_descent import NOWHERE, OPPOSED, pair
from properties._support.small_runs import (
    ALL_TIED,
    NO_QUERY,
    ONE_TOKEN,
    PASSED_OVER,
    TIED_ASIDE,
    TWO_TOKENS,
)
from properties.sim import PRINTED, REPAIRED, SOURCE
from properties.sim._support import training

FIRST, SECOND = [[1, 0], [0, 0]], [[0, 1], [0, 0]]
SEMIDEFINITE = pair(
    [[2, 1], [1, 2]],
    [[2, 1], [1, 2]],
    AttentionData.of([FIRST, FIRST, SECOND], [[1, 0], [0, 1], [1, 0]], scores=[[1, 0]] * 3),
)
NARROW = pair(
    [[1, 0], [1, 0]],
    [[1, 0], [1, 0]],
    AttentionData.of([FIRST, SECOND], [[1, 0], [0, 1]], scores=[[1, 0]] * 2),
)
"""X^mm is the identity, and K Q^T has rank one for ever."""
TIED_PAIR = pair([[2]], [[-1]], ALL_TIED.data)


FACTORS = factors.factors(st.one_of(factors.pair_data(), factors.crossed_data()))

BIAS = Statement(
    "sim/kq-bias",
    rests_on=("sim/theorem-3.14-part-1", "sim/theorem-3.14-part-2"),
    source=SOURCE,
    place="Section 1, contribution 1, and section 5",
    printed="We show that W = QK^T trained by gradient descent in the language modeling "
    "pretraining converge to the solution of SVM with the Frobenius norm objective",
    variables=replace(
        stepped(Descent, runs(tight_data(), 0, 1), steps=ANY), kinds={"inputs": AttentionData}
    ),
    conclusion=training.DIRECTION,
    cost=10,
    violating={
        UNIQUE: [TIED_ASIDE, TIED_PAIR],
        FEASIBLE: [NO_QUERY],
        factors.LEANS: [OPPOSED],
        SHORT: [LEAPING],
    },
    readings={
        "literal-1": Reading(
            "refuted",
            fixed={"loss": PRINTED},
            under=(),
            examples=(TWO_TOKENS, ONE_TOKEN, NO_QUERY),
            siblings={
                "on the decreasing loss": changed(fixed={"loss": REPAIRED}, examples=[PASSED_OVER])
            },
        ),
        "literal-2": Reading(
            "refuted",
            fixed={"loss": PRINTED},
            under=(),
            variables=FACTORS,
            conclusion=factors.FACTORED,
            cost=4,
            examples=(NOWHERE,),
            siblings=training.OTHER_TARGETS,
        ),
        "amended-1": Reading(
            "refuted",
            fixed={"loss": REPAIRED},
            under=(UNIQUE, FEASIBLE, SEVERAL_TOKENS, BASIN),
            variables=FACTORS,
            conclusion=factors.FACTORED,
            cost=4,
            examples=(NOWHERE, OPPOSED, SEMIDEFINITE),
            siblings=training.OTHER_TARGETS,
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.basins:prove",
            fixed={"loss": REPAIRED},
            under=(UNIQUE, FEASIBLE, BASIN, SHORT),
            variables=replace(
                stepped(Descent, runs(tight_data(), 0, 1)), kinds={"inputs": AttentionData}
            ),
            examples=(TWO_TOKENS,),
            siblings={**training.OTHER_TARGETS, **training.any_start(PASSED_OVER)},
        ),
        "amended-3": Reading(
            "proved",
            proof="symbolic.sim.kq_bias:prove",
            fixed={"loss": REPAIRED},
            under=(UNIQUE, ONE_PAIR, factors.LEANS),
            variables=factors.factors(factors.pair_data()),
            conclusion=factors.FACTORED,
            cost=4,
            examples=(
                pair([[1]], [[1]]),
                *(replace(pair([[2]], [[-1]]), step=step) for step in factors.FAR_APART),
            ),
            siblings={
                **training.OTHER_TARGETS,
                "several inputs": changed(
                    drop=[ONE_PAIR],
                    variables=factors.factors(factors.crossed_data()),
                    examples=[NARROW],
                ),
            },
        ),
    },
)
