"""Definition 3.9: token scores, and the optimal tokens as those that bound the loss from below.

"Given a prediction head v_i, the score of a token A_{l0 t} of input A_{l0} is gamma_{l0 t} = B_{l0}
v_i^T A_{it}. The optimal token for each input A_{l0} is given by the index opt_{l0} in argmax_{t in
[T]} gamma_{l0 t} for all l0 in [m]."

Four indices are misprinted. The head v_i does not depend on the input but on the column i0 of the
values. A_{it} must be A_{l0 t}: otherwise the tokens of another input decide (`literal-2`). B_{l0}
is a number, not the matrix of labels of section 1, or the scores would be matrices without a
largest one. T is n. So the score of token t is gamma_t = b h_t, with the label b = b_{l0,j0,i0} and
the values h = h(y)_{l0,i0} of definitions 3.4 and 3.6. A has a row for each of T tokens; one entry
of the loss is enough, as the loss is the sum of its entries.

The paper takes optimal tokens as those that minimise the loss. It does not say so, and for its own
loss L(x) = g(b <softmax(A x), h>) it is false: g increases, so optimal tokens bound
L from above (`literal-1`), and those of the lowest score from below (`amended-1`). For a decreasing
loss l in the place of g the optimal tokens bound the loss from below, whatever A, x, h and b
(`amended-2`). The bound is never reached if l is strictly decreasing and two scores differ
(`amended-3`). `tf/lemma-2` has the same for the mean over inputs.
"""

from attsvm.primitives.losses import LOSSES
from attsvm.theory import (
    Choice,
    Defined,
    Hypothesis,
    Integer,
    Matrix,
    Reading,
    Real,
    Statement,
    Vector,
    changed,
)
from properties._support.risk_formulas import DECREASES, DECREASING, family
from properties.sim import SOURCE
from properties.sim.definition_3_9.conclusion import (
    BEYOND,
    BOTH,
    LOWEST,
    TIED,
    above,
    bounded,
    by_another_input,
    not_below,
)

DIFFER = Hypothesis(
    "two tokens differ in score", lambda m, v: m.above(m.oscillation(v.gamma), m.exact(0))
)

GENERAL = {"loss": Choice(LOSSES)}

DEFINITION = Statement(
    "sim/definition-3.9",
    rests_on=("sim/definition-3.3",),
    source=SOURCE,
    place="Definition 3.9",
    printed="the score of a token A_{l0 t} of input A_{l0} is defined as gamma_{l0 t} = B_{l0} "
    "v_i^T A_{it}. The optimal token for each input A_{l0} is given by the index opt_{l0} in "
    "argmax_{t in [T]} gamma_{l0 t}",
    variables={
        "T": Integer(1, 4),
        "D": Integer(1, 3),
        "A": Matrix("T", "D"),
        "x": Vector("D"),
        "h": Vector("T"),
        "b": Real((0, 1, -1)),
        "gamma": Defined(lambda m, v: v.b * v.h),
    },
    conclusion=bounded,
    readings={
        "literal-1": Reading(
            "refuted",
            fairness="strained",
            read={"optimal": "that no x has less loss L than attention to these tokens alone"},
            under=(),
            examples=(BOTH,),
            siblings={"halfway to the worst tokens": changed(share="0.5", examples=[LOWEST])},
        ),
        "literal-2": Reading(
            "refuted",
            fairness="strained",
            read={
                "A_{it}": "token t of another input, with the values k",
                "optimal": "that no x has less loss g(-b <f, h>) than attention to them alone",
            },
            under=(),
            variables={"k": Vector("T")},
            conclusion=by_another_input,
            examples=({**BOTH, "k": [0, 1]},),
            siblings={"nine tenths of it": changed(share="0.9")},
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.sim.definition_3_9:prove_printed",
            constants={"share": 1},
            under=(),
            tight=True,
            examples=(BOTH, LOWEST),
            siblings={"9/10 of the way to the worst tokens": changed(share="0.9")},
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.sim.definition_3_9:prove_not_below",
            under=(DECREASES,),
            variables=GENERAL,
            conclusion=not_below,
            examples=({**TIED, "loss": "hinge"}, {**BOTH, "loss": "logistic-loss"}),
            siblings={
                "a loss that turns upwards": changed(
                    drop=[DECREASES],
                    variables=family("squared"),
                    examples=[{**BEYOND, "loss": "squared"}],
                ),
                "a tenth of the way to the worst tokens": changed(share="0.1"),
            },
        ),
        "amended-3": Reading(
            "proved",
            proof="symbolic.sim.definition_3_9:prove_above",
            under=(DECREASING, DIFFER),
            variables=GENERAL,
            conclusion=above,
            examples=({**BOTH, "loss": "logistic-loss"},),
            siblings={
                "all scores may be tied": changed(
                    drop=[DIFFER], examples=[{**TIED, "loss": "logistic-loss"}]
                ),
                "a tenth of the way to the worst tokens": changed(share="0.1"),
            },
        ),
    },
)
