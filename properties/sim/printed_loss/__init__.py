"""The printed loss: the limit of descent on it.

"As a result, we demonstrate that gradient descent converges to the optimal solution for SVM"
(abstract), for W-GD (definition 3.7) on L_{l0,j0,i0} := g(<f, h> b) (definition 3.6) with g(u) =
1/(1 + exp(-u)) (definition 3.5). Data and loss are those of `sim/self-attention`: sequences, every
token a query, the sum of all entries. The abstract lists no hypothesis. If optimal tokens are tied,
X^mm is that of the first one; if there is no X^mm, nothing converges to it.

g increases, and g(b <f, h>) = g(-u) for u = -b <f, h>. So the printed loss for labels b is the
decreasing loss g(-u) for the labels -b. Descent on it seeks, in each entry, the token of lowest
score. All that is known of decreasing losses holds with optimal and worst tokens exchanged. Let
X^low be the solution of Att-SVM for the tokens of lowest score.

`amended-1` falls for one entry of three tokens (`THREE`): X^mm has the column (1, 0) and X^low the
column (-1, -1), as the middle token is a rival of both. With two tokens an entry X^low = -X^mm.
`amended-2` falls by the sequence that refutes `sim/self-attention:amended-1`, with all tokens
negated: attention of one position tends to its best token, that of the other one to its worst. By
`amended-5` the direction of X(k)^T never tends to that of X^mm, whatever the start. The norm
diverges (`symbolic.divergence`), while the inner product stays below
that of the start. So no limit of directions has a positive inner product.

With steps of 128/L_X `amended-3` and `sharp` fail (`THROWN`); `amended-4` holds for every step.
"""

from fractions import Fraction

from attsvm.primitives.aligned_inputs import INPUTS_ALIGNED
from attsvm.primitives.descent import Descent
from attsvm.primitives.hypotheses import (
    EITHER_PART,
    EXISTS,
    FEASIBLE,
    TWO_SCORES,
    UNIQUE,
    ZERO_START,
)
from attsvm.primitives.steps import ANY, SHORT, stepped
from attsvm.theory import Reading, Statement, changed
from properties.sim import PRINTED, REPAIRED, SOURCE
from properties.sim._support import self_attention as cases
from properties.sim.printed_loss import conclusion

OTHERS = {"direction of X^mm": changed(towards="optimal")}

LOSS = Statement(
    "sim/printed-loss",
    rests_on=("sim/definition-3.6", "sim/theorem-3.14-part-1", "sim/theorem-3.14-part-2"),
    source=SOURCE,
    place="Abstract, definitions 3.5 to 3.7",
    printed="we demonstrate that gradient descent converges to the optimal solution for SVM",
    variables=stepped(Descent, cases.sequences(0, 2), steps=ANY),
    conclusion=cases.DIRECTION,
    cost=10,
    violating={
        conclusion.LOW: [conclusion.turned(cases.NO_QUERY)],
        EXISTS: [cases.NO_QUERY],
        FEASIBLE: [cases.NO_QUERY],
        SHORT: [conclusion.THROWN],
    },
    readings={
        "literal": Reading(
            "refuted",
            fixed={"loss": PRINTED},
            constants={"side": "X(k) or X(k)^T"},
            under=(),
            examples=(cases.LINE, cases.ONE_EACH, cases.NO_QUERY),
            siblings={
                "on the decreasing loss": changed(
                    fixed={"loss": REPAIRED}, examples=[cases.SENTENCE]
                ),
            },
        ),
        "amended-1": Reading(
            "refuted",
            fixed={"loss": PRINTED},
            constants={"towards": "opposite"},
            under=(UNIQUE, EXISTS, conclusion.LOWEST, conclusion.LOW, ZERO_START, SHORT),
            variables=stepped(Descent, cases.sequences(), fixed=("start",)),
            examples=(conclusion.THREE,),
            siblings={**OTHERS, "X(k) itself": changed(side="X(k)", examples=[conclusion.THREE])},
        ),
        "amended-2": Reading(
            "refuted",
            fixed={"loss": PRINTED},
            constants={"towards": "worst"},
            under=(conclusion.LOWEST, conclusion.LOW, ZERO_START, SHORT),
            variables=stepped(Descent, cases.sequences(), fixed=("start",)),
            examples=(conclusion.OTHER_WAY,),
            siblings={
                **OTHERS,
                "X(k) or X(k)^T": changed(side="X(k) or X(k)^T", examples=[conclusion.OTHER_WAY]),
            },
        ),
        "amended-3": Reading(
            "proved",
            proof="symbolic.basins:prove",
            fixed={"loss": PRINTED},
            constants={"towards": "worst"},
            conclusion=conclusion.DIRECTION,
            under=(conclusion.LOWEST, conclusion.LOW, conclusion.NEAR, SHORT),
            variables=stepped(Descent, cases.near_solution().map(conclusion.turned)),
            examples=(conclusion.NEAR_LOW, conclusion.turned(cases.NEAR_BEST)),
            siblings={
                **OTHERS,
                **conclusion.DROPPED_HYPOTHESES,
                "direction of -X^mm": changed(towards="opposite", examples=[conclusion.NEAR_LOW]),
                "X(k) itself": changed(side="X(k)", examples=[conclusion.turned(cases.SIDEWAYS)]),
            },
        ),
        "amended-4": Reading(
            "proved",
            proof="symbolic.aligned_facts:prove_equal_rivals",
            fixed={"loss": PRINTED},
            constants={"towards": "opposite"},
            conclusion=conclusion.DIRECTION,
            under=(conclusion.PAIRS, INPUTS_ALIGNED, UNIQUE, EXISTS),
            variables=stepped(Descent, cases.sequences(0, 2), steps=ANY),
            examples=(cases.LINE, cases.SIDEWAYS),
            siblings={
                **OTHERS,
                "three tokens": changed(drop=[conclusion.PAIRS], examples=[conclusion.THREE]),
                "entries need not be aligned": changed(
                    drop=[INPUTS_ALIGNED], examples=[conclusion.OTHER_WAY]
                ),
            },
        ),
        "amended-5": Reading(
            "proved",
            fixed={"loss": PRINTED},
            proof="symbolic.sim.token_gain:prove_raised",
            under=(FEASIBLE, TWO_SCORES, EITHER_PART),
            conclusion=conclusion.lowers,
            cost=2,
            examples=(cases.LINE, cases.SENTENCE, conclusion.OTHER_WAY),
            siblings={
                "all scores may be tied": changed(drop=[TWO_SCORES], examples=[conclusion.STILL]),
                "without both parts of assumption 3.10": changed(
                    drop=[EITHER_PART], examples=[cases.SECOND_BEST]
                ),
                "every step raises <X^T, X^mm>": changed(sign=1),
            },
        ),
        "sharp": Reading(
            "proved",
            strength="exact",
            fixed={"loss": PRINTED},
            proof="symbolic.growth_rates:prove_rate",
            under=(conclusion.LOWEST, conclusion.LOW, conclusion.NEAR, SHORT),
            variables=stepped(Descent, cases.near_solution().map(conclusion.turned)),
            conclusion=conclusion.RATE,
            cost=12,
            examples=(conclusion.NEAR_LOW,),
            siblings={
                **conclusion.DROPPED_HYPOTHESES,
                "95% of the rate": changed(share=Fraction(19, 20)),
                "105% of the rate": changed(share=Fraction(21, 20)),
                "half of the rate": changed(share=Fraction(1, 2)),
            },
        ),
    },
)
