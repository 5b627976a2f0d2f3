"""Assumptions on the loss: which losses theorem 3.14 survives with.

"However, their approach relies on assumptions concerning the loss function and token sequences. In
our paper, we relax their assumption of the loss function's derivative and Lipschitz" (section 2).
The abstract says: "relax the strong assumptions on the derivative of the loss function from the
prior works". The prior work asks for a strictly decreasing loss l of the score u = b <f, h> whose
l' is bounded and Lipschitz on bounded intervals. The source does not say which assumption replaces
it. We read: only a continuous derivative (literal-1), or that of a strictly decreasing loss
(literal-2). Everything else is as in theorem 3.14: assumption 3.10 with either part, any start,
steps of at most 1/L_X. Logits are x_t^T X z.

`literal-1` falls by the loss of the paper itself, which increases. `literal-2` falls by -u^3, which
is strictly decreasing but has slope 0 at u = 0: take scores 1 and -1 at X(0) = 0. Both have one
input of two tokens, so the loss alone is at fault: there theorem 3.14 is true with g(-u), from any
start (`sim/theorem-3.14-part-2:amended-2`). So a negative derivative cannot be relaxed to a
decreasing loss, but everything else can be relaxed. l may be unbounded (-u) and not convex (g(-u)).
Neither l nor l' need be Lipschitz (exp(-u)). l' need not be negative outside of the scores ((1 -
u)^2 below 1, -u^3 on one side of 0), since attention never leaves their interval (`amended-3`).
`amended-1` has any constant step, so l' need not be Lipschitz there either. `amended-2` needs L_X,
which exists if l'' is continuous, and fails with steps of 256/L.
"""

from dataclasses import replace

from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import LEAPING
from attsvm.primitives.hypotheses import (
    BASIN,
    EQUAL_RIVALS,
    FEASIBLE,
    ONE_INPUT,
    SEVERAL_TOKENS,
    UNIQUE,
)
from attsvm.primitives.loss_hypotheses import SLOPED_ON_SCORES, SMOOTH_LOSS, STRICTLY_DECREASING
from attsvm.primitives.losses import LOSSES
from attsvm.primitives.losses import SLOPED as EVERYWHERE
from attsvm.primitives.steps import ANY, SHORT, stepped
from attsvm.theory import Integer, Reading, Statement, Vector, changed
from properties._support import small_runs as small
from properties.sim import SOURCE
from properties.sim._support import trained_losses as conclusion
from properties.sim._support.training import ONE_PART, OTHER_TARGETS

LOSS_READ = {"loss function": "the l of the risk, the mean of l(b <f, h>) over the inputs"}
PLACE = "Section 2, support vector machine"
SAID = "In our paper, we relax their assumption of the loss function's derivative and Lipschitz"


THEOREM = Statement(
    "sim/loss-assumptions",
    rests_on=("sim/theorem-3.14-part-1", "sim/theorem-3.14-part-2"),
    source=SOURCE,
    place=PLACE,
    printed=SAID,
    variables=stepped(Descent, conclusion.trained(sorted(LOSSES), tight=True)),
    conclusion=conclusion.DIRECTION,
    cost=10,
    violating={
        UNIQUE: [
            replace(small.ALL_TIED, loss="log-loss"),
            replace(small.TIED_APART, loss="log-loss"),
        ],
        EQUAL_RIVALS: [replace(small.PASSED_OVER, loss="log-loss")],
        SEVERAL_TOKENS: [replace(small.ONE_TOKEN, loss="log-loss")],
        FEASIBLE: [replace(small.NO_QUERY, loss="log-loss")],
        SLOPED_ON_SCORES: [conclusion.TOP, replace(small.TWO_TOKENS, loss="logistic")],
        SHORT: [replace(LEAPING, loss="log-loss")],
    },
    readings={
        "literal-1": Reading(
            "refuted",
            fairness="strained",
            read=LOSS_READ,
            constants={"towards": "optimal"},
            under=(UNIQUE, ONE_PART, SMOOTH_LOSS, SHORT),
            examples=(
                replace(small.TWO_TOKENS, loss="logistic"),
                conclusion.TOP,
                *conclusion.WITHOUT_DIRECTION,
            ),
            siblings=OTHER_TARGETS,
        ),
        "literal-2": Reading(
            "refuted",
            fairness="strained",
            read=LOSS_READ,
            constants={"towards": "optimal"},
            under=(UNIQUE, ONE_PART, SMOOTH_LOSS, STRICTLY_DECREASING, SHORT),
            examples=(conclusion.CUBIC, small.NOT_ALIGNED, *conclusion.WITHOUT_DIRECTION),
            siblings={
                **OTHER_TARGETS,
                "not strictly decreasing": changed(
                    drop=[STRICTLY_DECREASING], examples=[conclusion.TOP]
                ),
            },
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.aligned_facts:prove_one_input",
            constants={"towards": "optimal"},
            under=(UNIQUE, EQUAL_RIVALS, SEVERAL_TOKENS, FEASIBLE, ONE_INPUT, SLOPED_ON_SCORES),
            variables=stepped(Descent, conclusion.trained(conclusion.NEGATIVE), steps=ANY),
            examples=(
                *(
                    replace(small.TWO_TOKENS, loss="exponential"),
                    replace(small.TWO_TOKENS, loss="correlation"),
                    conclusion.FAR,
                ),
                *(replace(run, loss="cubic") for run in (conclusion.BELOW, conclusion.ABOVE)),
            ),
            siblings={
                **OTHER_TARGETS,
                "several inputs": changed(drop=[ONE_INPUT], examples=[small.NOT_ALIGNED]),
            },
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.basins:prove",
            constants={"towards": "optimal"},
            under=(UNIQUE, FEASIBLE, SLOPED_ON_SCORES, BASIN, SHORT),
            variables=stepped(Descent, conclusion.trained(conclusion.NEGATIVE, near=True)),
            examples=tuple(replace(small.UNEVEN_SCORES, loss=loss) for loss in EVERYWHERE),
            siblings={
                **OTHER_TARGETS,
                "any start": changed(drop=[BASIN], examples=[small.NOT_ALIGNED]),
            },
        ),
    },
)

RANGE = Statement(
    "sim/loss-assumptions",
    source=SOURCE,
    place=PLACE,
    printed=SAID,
    variables={"n": Integer(1, 4), "s": Vector("n"), "h": Vector("n")},
    conclusion=conclusion.within,
    readings={
        "amended-3": Reading(
            "proved",
            proof="symbolic.sim.loss_assumptions:prove",
            examples=({"s": [0], "h": [1]}, {"s": [64, 0], "h": [1, 0]}),
            siblings={
                f"at most {part} of max(h) - min(h)": changed(share=share)
                for part, share in (("99.9%", "0.999"), ("half", "0.5"))
            },
        )
    },
)
