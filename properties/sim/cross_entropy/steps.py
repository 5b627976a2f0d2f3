"""Readings on steps: from zero to a worse token, and in the basin of the best one.

Steps are judged by E = exp(L), whose gradient is exp(L) times that of L. From zero descent may
select a worse token for ever. Let three tokens a, b, 0 have the margins M_c > N_c > 0 against every
class c, with M_c < 2 N_c, and let b be opposed to a. At every x with <a, x> <= 0 <= <b, x>, as at x
= 0, a step of any size lowers <a, x> and raises <b, x>, and so stays there (`amended-3`).

From a basin it selects the best token. Let one token have the largest margins M against all
classes, and S_c be the largest of other tokens. If exp(L) exceeds its value at this token by less
than exp(-S_c) - exp(-M_c) for each c, then u_c > S_c for the margins u_c of the output. Let B_t V
<= -1 for all rivals t, as for X^mm. Then -<grad E, V> >= s sum_c exp(-u_c) (M_c - u_c) > 0, with s
the attention to the best token (`amended-4`). Steps of at most one over a Lipschitz constant of
grad L do not raise L. So they stay in the basin, no point is stationary, and s tends to 1. For two
classes this is the basin of scores.
"""

from attsvm.theory import Integer, Matrix, Meeting, Reading, Statement, Vector, changed
from properties.sim import SOURCE
from properties.sim._support.rivals import MARGINS, separated
from properties.sim.cross_entropy import conclusion as cases
from properties.sim.cross_entropy.hypotheses import AHEAD, BASIN, BEST, BETWEEN, LOWER, OPPOSED

PRINTED = "logistic loss or cross entropy loss is commonly used to do NLP tasks"

FROM_ZERO = {"a": [1, 0], "b": [-5, 1], "M": [3, 3], "N": [2, 2], "x": [0, 0]}
LATE = {"M": [1, 2], "N": [[0, 1]], "B": [[-1]], "V": [1], "x": [4]}
OUTSIDE = {"M": [2], "N": [[1], [-4]], "B": [[-8], [-1]], "V": [1], "x": [0]}
"""The output has less margin than a rival, which loses attention eight times as fast."""
CLASSES = Vector("C")

STEPS = Statement(
    "sim/cross-entropy",
    source=SOURCE,
    place="Section 1",
    printed=PRINTED,
    variables={"D": Integer(1, 3), "C": Integer(1, 3)},
    conclusion=cases.gains,
    readings={
        "amended-3": Reading(
            "proved",
            proof="symbolic.sim.cross_entropy_steps:prove_worse",
            conclusion=cases.worse_wins,
            under=(BETWEEN, OPPOSED, LOWER, AHEAD),
            variables={
                "D": Integer(2, 4),
                "N": Meeting(BETWEEN, CLASSES, lambda N, _: abs(N) + 0.125),
                "M": Meeting(BETWEEN, CLASSES, cases.between),
                "a": Vector("D"),
                "b": Meeting(OPPOSED, Vector("D"), cases.turned),
                "x": Meeting(LOWER, Vector("D"), cases.behind),
            },
            examples=(FROM_ZERO,),
            siblings={
                "b orthogonal to a": changed(drop=[OPPOSED], examples=[{**FROM_ZERO, "b": [0, 1]}]),
                "from a large <a, x>": changed(
                    drop=[LOWER], examples=[{**FROM_ZERO, "x": [8, 40]}]
                ),
                "from a low <b, x>": changed(drop=[AHEAD], examples=[{**FROM_ZERO, "x": [0, -10]}]),
            },
        ),
        "amended-4": Reading(
            "proved",
            proof="symbolic.sim.cross_entropy_steps:prove_basin",
            under=(BEST, MARGINS, BASIN),
            variables={
                "R": Integer(1, 3),
                "V": Vector("D"),
                "B": Meeting(MARGINS, Matrix("R", "D"), separated),
                "M": CLASSES,
                "N": Meeting(BEST, Matrix("R", "C"), cases.lowered),
                "x": Meeting(BASIN, Vector("D"), cases.settled),
            },
            tight=True,
            examples=(LATE,),
            siblings={"outside the basin": changed(drop=[BASIN], examples=[OUTSIDE])},
        ),
    },
)
