"""Theorem 3.14 in the paper's own setting: self-attention, every token a query.

The data are sequences ("for language modeling task, we have A_{l0,1} = A_{l0,2}", section 1). The
loss has an entry for each sequence l0, position j0 and column i0 of the values, and X enters it as
in definition 3.3. L(X) is read as the sum of all entries; definition 3.6 breaks off before it. No
hypothesis says that X^mm exists or is not 0. With one token an entry it is 0, which has no
direction, and constraints may contradict each other. Attention is over all n tokens in definition
3.3 and causal in the words around it: both are read. The optimal token is that of each entry, by
definition 3.9. X^mm has a constraint for each entry and each other token; entries of label 0 are
constant.

All counterexamples are within the paper's setting. `literal-1` and `literal-2` fall in R^1: X^mm >
0, and X(k) tends to -infinity. There transposition changes nothing. `amended-1` falls for one
sequence of two tokens (`SENTENCE`), under both parts of assumption 3.10. Position 2 gains score 1,
position 1 gains score 4, and their constraints point against each other. So attention of position 2
tends to its worse token, also with the loss log(1 + exp(-u)). `amended-2` falls for two sequences
of two tokens, whose first positions have nothing to choose. Values and labels play the part of the
score gaps of `sim/theorem-3.14-part-2`: the input with the larger gap decides.

`amended-3` and `amended-4` have proofs about inputs (`symbolic.basins`), one for each entry. One
sequence of orthogonal tokens meets the hypotheses of `amended-4`, as its queries are orthogonal.
`amended-3` fails with steps of 64/L_X (`LEAPING`); `amended-4` holds for steps of every length.
"""

from typing import Any

import numpy as np

from attsvm.primitives.aligned_inputs import INPUTS_ALIGNED
from attsvm.primitives.descent import Descent
from attsvm.primitives.hypotheses import (
    ALL_TIGHT,
    BASIN,
    EQUAL_RIVALS,
    FEASIBLE,
    SEVERAL_TOKENS,
    UNIQUE,
    ZERO_START,
    starts_in_basin,
)
from attsvm.primitives.steps import ANY, SHORT
from attsvm.theory import Hypothesis, Reading, Statement, changed
from properties.sim import PRINTED, REPAIRED, SOURCE
from properties.sim._support import self_attention, training
from properties.sim._support.training import ONE_PART
from properties.sim.self_attention.instances import CAUSAL_LINE, CAUSAL_LOG, LEAPING, TWO_SENTENCES


def plain(case: Descent) -> bool:
    """Return whether the values are the identity, and each row of labels has one 1 and zeros."""
    inputs: Any = case.inputs
    (d, k), labels = inputs.values.shape, inputs.labels
    one_hot = ((labels == 0) | (labels == 1)).all() and (labels.sum(-1) == 1).all()
    return bool(d == k and (inputs.values == np.eye(d)).all() and one_hot)


UNDEFINED = {
    "L_X": "a Lipschitz constant of the gradient of the sum of g(b <f, h>) over all entries",
}
LOG_LOSS = "on log(1 + exp(-u))"

ALL = Hypothesis(
    "attention is over all tokens", lambda case: not case.inputs.causal, checked="fact(not causal)"
)
CAUSAL = Hypothesis("attention is causal", lambda case: case.inputs.causal, checked="fact(causal)")
NEAR = Hypothesis(
    "gap of the sum at the start below the threshold",
    lambda case: starts_in_basin(case),
    says="some entry has two different scores, and the sum at the start exceeds its infimum by "
    "less than min [l(c) - l(b)] over such entries, with b the highest and c the next lower score",
    implies=(BASIN,),
)
PLAIN = Hypothesis(
    "values are the identity and labels one-hot",
    plain,
    checked="fact(is_identity(values) and one_hot(labels))",
)

THEOREM = Statement(
    "sim/self-attention",
    rests_on=("sim/theorem-3.14-part-1", "sim/theorem-3.14-part-2"),
    source=SOURCE,
    place="Theorem 3.14 with definitions 3.3 to 3.9",
    printed="Suppose Assumption 3.10 on the tokens' score hold. Let X(k) denote the k-th iteration "
    "of X. Then, Algorithm W-GD (Definition 3.7) with the step size eta <= 1/L_X and any starting "
    "point X(0) satisfies lim X(k)/||X(k)||_F = X^mm/||X^mm||_F",
    variables=self_attention.runs(self_attention.sequences(0, 2)),
    conclusion=self_attention.DIRECTION,
    cost=10,
    violating={
        UNIQUE: [self_attention.TIED],
        FEASIBLE: [self_attention.NO_QUERY],
        EQUAL_RIVALS: [self_attention.SECOND_BEST],
        SHORT: [LEAPING],
    },
    readings={
        "literal-1": Reading(
            "refuted",
            read=UNDEFINED,
            fixed={"loss": PRINTED},
            constants={"side": "X(k)"},
            under=(UNIQUE, ONE_PART, ALL, SHORT),
            examples=(self_attention.LINE, self_attention.ONE_EACH, self_attention.NO_QUERY),
            siblings={
                **training.OTHER_TARGETS,
                "tied optimal tokens": changed(drop=[UNIQUE], examples=[self_attention.TIED]),
            },
        ),
        "literal-2": Reading(
            "refuted",
            read=UNDEFINED,
            fixed={"loss": PRINTED},
            constants={"side": "X(k)"},
            under=(UNIQUE, ONE_PART, CAUSAL, SHORT),
            examples=(CAUSAL_LINE, self_attention.asking([[[1]]], [[0]], causal=True)),
            siblings=training.OTHER_TARGETS,
        ),
        "amended-1": Reading(
            "refuted",
            fixed={"loss": REPAIRED},
            constants={"side": "X(k) or X(k)^T"},
            under=(UNIQUE, ALL_TIGHT, EQUAL_RIVALS, SEVERAL_TOKENS, ALL, ZERO_START, PLAIN, SHORT),
            variables=self_attention.runs(self_attention.sequences(), fixed=("start",)),
            examples=(self_attention.SENTENCE,),
            siblings={
                **training.OTHER_TARGETS,
                LOG_LOSS: changed(fixed={"loss": "log-loss"}, examples=[self_attention.SENTENCE]),
            },
        ),
        "amended-2": Reading(
            "refuted",
            fixed={"loss": REPAIRED},
            constants={"side": "X(k) or X(k)^T"},
            under=(
                UNIQUE,
                ALL_TIGHT,
                EQUAL_RIVALS,
                SEVERAL_TOKENS,
                CAUSAL,
                ZERO_START,
                PLAIN,
                SHORT,
            ),
            variables=self_attention.runs(self_attention.sequences(), fixed=("start",)),
            examples=(TWO_SENTENCES,),
            siblings={
                **training.OTHER_TARGETS,
                LOG_LOSS: changed(fixed={"loss": "log-loss"}, examples=[CAUSAL_LOG]),
            },
        ),
        "amended-3": Reading(
            "proved",
            proof="symbolic.basins:prove",
            fixed={"loss": REPAIRED},
            constants={"side": "X(k)^T"},
            under=(UNIQUE, FEASIBLE, NEAR, SHORT),
            variables=self_attention.runs(self_attention.near_solution()),
            examples=(self_attention.NEAR_BEST, self_attention.LINE),
            siblings={
                **training.OTHER_TARGETS,
                "X(k) itself": changed(side="X(k)", examples=[self_attention.SIDEWAYS]),
                "mean of the constraints": changed(towards="mean"),
                "X^mm turned by about a 64th": changed(towards="turned"),
                "any start": changed(
                    drop=[NEAR], examples=[self_attention.SENTENCE, TWO_SENTENCES]
                ),
            },
        ),
        "amended-4": Reading(
            "proved",
            proof="symbolic.aligned_facts:prove_equal_rivals",
            fixed={"loss": REPAIRED},
            constants={"side": "X(k)^T"},
            under=(UNIQUE, EQUAL_RIVALS, SEVERAL_TOKENS, FEASIBLE, INPUTS_ALIGNED),
            variables=self_attention.runs(self_attention.sequences(0, 2), steps=ANY),
            examples=(self_attention.ORTHOGONAL, self_attention.LINE, self_attention.SIDEWAYS),
            siblings={
                **training.OTHER_TARGETS,
                "X(k) itself": changed(side="X(k)", examples=[self_attention.SIDEWAYS]),
                "entries need not be aligned": changed(
                    drop=[INPUTS_ALIGNED], examples=[self_attention.SENTENCE, TWO_SENTENCES]
                ),
            },
        ),
    },
)
