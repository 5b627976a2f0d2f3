"""Orientation: the X that is trained is the transpose of the X of the programme.

The source trains the X of definition 3.3, with logits A_{j0} vec(X). By the tensor trick these are
row j0 of A1 X A2^T. So the logit of token t is a_{j0}^T X a_t, with the query left of X. The
programme has it right of X: (a_opt - a_t)^T X a_i in definition 4.1, (x_opt - x_t)^T W^mm z in
assumption 3.10; definition 3.8 has lost its formula. `amended-1` is the tensor trick. `literal-1`
fails for tokens (1, 0), (0, 1) and X = E_12; in R^1 both sides agree. `amended-2` includes two
repairs of theorem 3.14 that do not concern orientation: a decreasing loss and a start that cannot
lose its optimal tokens. It fails from X(0) = 0 (`SIDEWAYS`): X^mm = E_21, all X(k) are multiples of
E_12, and the margin is 0 for ever. sharp: with S = X - X^T the left side is |z^T S D|, and singular
vectors of S attain the bound. So the two agree for all tokens exactly if X is symmetric.
"""

from hypothesis import strategies as st

from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import LEAPING, LOCAL_TRAP, opposed_data, runs, tight_data
from attsvm.primitives.hypotheses import FEASIBLE, UNIQUE
from attsvm.primitives.steps import SHORT, stepped
from attsvm.strategies.data import separable_data
from attsvm.theory import Integer, Matrix, Reading, Statement, Vector, changed
from properties._support.small_runs import NO_QUERY, TIED_ASIDE
from properties.sim import REPAIRED, SOURCE
from properties.sim._support import training
from properties.sim.orientation.conclusion import (
    ACROSS,
    BASIN,
    DIRECTION,
    SIDEWAYS,
    TOLD_APART,
    cost_of_turning,
    margins,
    turned,
)

PLACE = "Definitions 3.3 and 3.7 against 3.8, 4.1 and assumption 3.10"

MARGINS = Statement(
    "sim/orientation",
    rests_on=("sim/definition-3.3", "sim/definition-3.8"),
    source=SOURCE,
    place=PLACE,
    printed="(x_iopt_i - x_it)^T W^mm z_i = 1",
    variables={
        "n": Integer(1, 4),
        "d": Integer(1, 3),
        "A": Matrix("n", "d"),
        "X": Matrix("d", "d"),
    },
    conclusion=margins,
    readings={
        "literal-1": Reading(
            "refuted",
            fairness="strained",
            examples=(TOLD_APART,),
            siblings={
                "up to the sign": changed(sign=-1),
                "transposed, up to the sign": changed(turned=True, sign=-1),
            },
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.sim.tensor_trick:prove_orientation",
            depends_on=("sim/tensor-trick:literal",),
            constants={"turned": True},
            examples=(TOLD_APART, {"A": [[1]], "X": [[1]]}),
            siblings={
                "X as it is": changed(turned=False, examples=[TOLD_APART]),
                "up to the sign": changed(sign=-1),
            },
        ),
        "sharp": Reading(
            "proved",
            proof="symbolic.sim.orientation:prove",
            variables={"n": None, "A": None, "z": Vector("d"), "D": Vector("d")},
            conclusion=cost_of_turning,
            tight=True,
            examples=(ACROSS, {"X": [[1]], "z": [1], "D": [1]}),
            siblings={
                "||X||_2 ||z|| ||D||": changed(
                    of="X", examples=[{**ACROSS, "X": [[0, 1], [-1, 0]]}]
                )
            },
        ),
    },
)

TRAINING = Statement(
    "sim/orientation",
    source=SOURCE,
    place=PLACE,
    printed="(x_iopt_i - x_it)^T W^mm z_i = 1",
    variables=stepped(Descent, runs(st.one_of(separable_data(), tight_data()), 0, 1).map(turned)),
    conclusion=DIRECTION,
    cost=10,
    hypotheses=(
        UNIQUE,
        FEASIBLE,
        BASIN,
        SHORT,
    ),
    violating={SHORT: [turned(LEAPING)]},
    readings={
        "amended-2": Reading(
            "refuted",
            fixed={"loss": REPAIRED},
            constants={"side": "X(k)"},
            examples=(SIDEWAYS,),
            siblings=training.OTHER_TARGETS,
        ),
        "amended-3": Reading(
            "proved",
            fixed={"loss": REPAIRED},
            proof="symbolic.basins:prove",
            constants={"side": "X(k)^T"},
            examples=(SIDEWAYS,),
            siblings={
                **training.OTHER_TARGETS,
                "X^mm as it is": changed(side="X(k)", examples=[SIDEWAYS]),
                "tied optimal tokens": changed(drop=[UNIQUE], examples=[TIED_ASIDE]),
                "Att-SVM need not be feasible": changed(drop=[FEASIBLE], examples=[NO_QUERY]),
                "any start": changed(
                    drop=[BASIN],
                    variables=stepped(Descent, runs(opposed_data(), 0).map(turned)),
                    examples=[turned(LOCAL_TRAP)],
                ),
            },
        ),
    },
)
