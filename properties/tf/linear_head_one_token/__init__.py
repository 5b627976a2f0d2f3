"""A linear head: attention selects one token an input.

"So far: L(W) = (1/n) sum_i l(Y_i v^T X_i^T S(X_i W z_i)) => Attention selects 1-token alpha_i." The
slide names no start, no separability and no tie. "Selects" is read in two ways: of points whose
risk is near the least one, and of the end of descent.

`literal-1` falls if the risk is constant (tokens 1 and 0, head 0), if each token has an equal one,
and if minima are finite. Tokens 1, 0 with queries 1 and -1 and scores 1, 0 have L(W) = (l(s) +
l(1-s))/2 with s = g(W). For a convex loss this is least at W = 0: both inputs attend to both tokens
for ever. `literal-2` falls for tied tokens, between which the risk does not choose.

A linear head does select *best* tokens: all attention to others costs risk (`sharp`). The bound is
an equality for two tokens, because then every lower score is at the distance d. So one token is
selected if one is best. From a start that cannot lose its optimal tokens descent does so
(`amended-1`). With tied tokens a linear head may keep several of them for ever. Tokens e_1, e_2 and
0 of scores 1, 1, 0 from zero keep the weights of the first two equal, by symmetry, and their sum
tends to 1. Whether one token is kept is a matter of ties and of separability, see
`tf/nonlinear-head-several`.
"""

from typing import Any

from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import LEAPING
from attsvm.primitives.hypotheses import BASIN, FEASIBLE, LINEAR_HEAD, UNIQUE
from attsvm.primitives.loss_hypotheses import SLOPED_LOSS, STRICT_LOSS
from attsvm.primitives.steps import ANY, SHORT, flattened, headed, stepped
from attsvm.theory import Reading, Statement, changed
from properties._support import risk_formulas as risk
from properties.tf import SOURCE
from properties.tf._support import descent_instances as cases
from properties.tf.linear_head_one_token.conclusion import SELECTS, rest

TWINS = cases.from_zero([[[1], [1], [0], [0]]], scores=[[1.0, 1.0, 0.0, 0.0]])
"""Every token has an equal one, so none ever has more than half of the attention."""
MIRRORED = cases.from_zero([[[1, 0], [0, 1], [0, 0]]], scores=[[1.0, 1.0, 0.0]])
"""From zero the first two tokens keep equal weights, by symmetry."""
THREE = risk.example([[[1], [0], [-1]]], [[1]], [1], [[0]], loss="logistic")
"""Three tokens of different scores, and a loss that increases."""
PAIR = risk.example([[[1], [1], [0]]], [[1]], [1], [[4]])
"""Two equal best tokens share nearly all attention."""

PRINTED: dict[str, Any] = {
    "source": SOURCE,
    "place": "Can the theory account for MLP layers?",
    "printed": "L(W) = (1/n) sum_i l(Y_i v^T X_i^T S(X_i W z_i)) => Attention selects 1-token "
    "alpha_i",
}
WORST = {"the token of least score is selected": changed(which="worst")}

SELECTION = Statement(
    "tf/linear-head-one-token",
    rests_on=("tf/theorem-2", "tf/local-convergence"),
    **PRINTED,
    variables=stepped(Descent, cases.descents(), cases.started_right, steps=ANY),
    conclusion=SELECTS,
    cost=16,
    violating={
        UNIQUE: [MIRRORED],
        FEASIBLE: [cases.NO_QUERY],
        SLOPED_LOSS: [cases.FLAT],
        BASIN: [cases.PASSED_OVER],
        SHORT: [cases.descent(LEAPING)],
    },
    readings={
        "literal-1": Reading(
            "refuted, certified",
            constants={"which": "some"},
            under=(LINEAR_HEAD, STRICT_LOSS),
            variables=stepped(
                Descent, flattened(headed(cases.descents())), cases.started_right, steps=ANY
            ),
            examples=(cases.TIED, TWINS, cases.OPPOSED),
            siblings=WORST,
        ),
        "amended-1": Reading(
            "proved",
            constants={"which": "optimal"},
            under=(UNIQUE, FEASIBLE, SLOPED_LOSS, BASIN, SHORT),
            variables=stepped(Descent, cases.descents(), cases.started_right),
            proof="symbolic.basins:prove_attention",
            siblings=WORST,
        ),
    },
)

RISK = Statement(
    "tf/linear-head-one-token",
    **PRINTED,
    variables=risk.VARIABLES,
    conclusion=rest,
    cost=4,
    readings={
        "literal-2": Reading(
            "refuted, certified",
            fairness="strained",
            constants={"of": "one"},
            under=(risk.DECREASING, risk.SMOOTH),
            examples=(PAIR,),
            siblings={
                "d_i/4 in place of d_i": changed(share="0.25", examples=[{**PAIR, "W": [[8]]}])
            },
        ),
        "sharp": Reading(
            "proved",
            proof="symbolic.tf.linear_head_one_token:prove",
            constants={"of": "best"},
            under=(risk.DECREASES,),
            tight=True,
            examples=(*risk.PUBLISHED, risk.ZERO_QUERY, risk.TWO_OPTIMAL, risk.FLAT, risk.TIED),
            siblings={
                "attention to one best token": changed(of="one", examples=[PAIR]),
                "an increasing loss": changed(
                    drop=[risk.DECREASES],
                    variables=risk.family("logistic"),
                    examples=[THREE],
                ),
            },
        ),
    },
)
