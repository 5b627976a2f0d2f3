"""Assumptions on the loss: which losses theorem 3.14 survives with.

"However, their approach relies on assumptions concerning the loss function and token sequences. In
our paper, we relax their assumption of the loss function's derivative and Lipschitz" (section 2;
the abstract: "relax the strong assumptions on the derivative of the loss function from the prior
works"). The prior work asks for a strictly decreasing loss l of the score u = b <f, h> whose l' is
bounded and Lipschitz on bounded intervals. What is asked in its place is not said: read as nothing
but a continuous derivative (literal-1), or that of a strictly decreasing loss (literal-2).
Everything else is as in theorem 3.14, for which the loss is: assumption 3.10 with either part, any
start, steps of at most 1/L_X. Logits are x_t^T X z.

`literal-1` falls by the loss of the paper itself, which increases. `literal-2` falls by -u^3, which
is strictly decreasing, and at rest at u = 0: scores 1 and -1 at X(0) = 0. Both have one input of
two tokens, so that it is the loss that fails: there theorem 3.14 is true with g(-u), from any start
(`sim/theorem-3.14-part-2:amended-2`). So a negative derivative can not be relaxed to a decreasing
loss; what can be is everything else. l may be unbounded (-u), not convex (g(-u)), and neither l nor
l' need be Lipschitz (exp(-u)) nor l' negative outside of the scores ((1 - u)^2 below 1, -u^3 on one
side of 0), since attention never leaves their interval (`amended-3`). `amended-1` has any constant
step, so that l' need not be Lipschitz there either. `amended-2` needs L_X, which exists where l''
is continuous, and fails with steps of 256/L.
"""

from dataclasses import replace

import numpy as np
from flint import arb
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.exact import ExactData
from attsvm.exact.descent import decreases
from attsvm.losses import LOSSES as FOLLOWED
from attsvm.primitives import descent_limits as limits
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_limits import limit
from attsvm.primitives.descent_runs import (
    LEAPING,
    max_margin,
    rival_data,
    tight_data,
)
from attsvm.primitives.gradients import negative_gradient
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
from attsvm.primitives.many_runs import rival_lead
from attsvm.primitives.steps import (
    ANY,
    SHORT,
    stepped,
)
from attsvm.strategies import composite
from attsvm.strategies.adversarial_starts import starts_about
from attsvm.strategies.data import separable_data
from attsvm.theory import Integer, Reading, Statement, Vector, changed
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.types import Namespace, Number, Relation, Values
from properties._support.hypothesis_violations import ALL_TIED, NO_QUERY, PASSED_OVER, TIED_APART
from properties.sim import SOURCE
from properties.sim._support import training
from properties.sim._support.training import ONE_PART, OTHER_TARGETS, TWO_TOKENS

NEGATIVE = [*EVERYWHERE, "squared", "cubic"]


LETTERS = replace(training.LETTERS, says="")


def stays(case: Descent, towards: str) -> bool:
    """X(k) is 0 for ever, as the gradient at the start 0 is exactly 0, or there is no target."""
    if max_margin(case.data, towards) is None:
        return True
    found = negative_gradient(BALLS, case.data, case.start, case.loss).matrix
    return not case.start.any() and all(entry == 0 for entry in found.ravel())


def sloped(case: Descent) -> bool:
    """L' < 0 at every score that attention may return; decided for the losses that are followed."""
    return case.loss in FOLLOWED and decreases(ExactData.of(case.data), case.loss)


@composite
def trained(
    draw: st.DrawFn, losses: list[str], *, tight: bool = False, near: bool = False
) -> Descent:
    """Rivals of one score from zero, small, large or adversarial starts; any near four times X^mm.

    With `tight` also data whose tokens are mostly all support vectors.
    For (1 - u)^2 the scores are lowered below 1 half of the time, for -u^3 to one side of 0.
    """
    kinds = [rival_data(), *([tight_data()] if tight or near else ())]
    kinds += [separable_data()] if near else []
    data, loss = draw(st.one_of(kinds)), draw(st.sampled_from(losses))
    lowered = draw(st.booleans()) or near
    if loss in ("squared", "cubic") and lowered:
        seen = data.gamma[data.present]
        to = -seen.max() + 0.5 if loss == "squared" else -seen.max() - 0.5
        if loss == "cubic" and draw(st.booleans()):
            to = -seen.min() + 0.5
        data = AttentionData(data.X, data.Z, scores=data.gamma + to)
    start = draw(starts_about(data, 0, 2))
    if near:
        target = max_margin(data, "optimal")
        along = [[float(arb(x)) for x in row] for row in target or []]
        start = start / 8 + (np.round(256.0 * np.array(along)) / 64 if along else 0.0)
    return Descent(data, start, loss)


def within(m: Namespace, v: Values, share: Number = 1) -> Relation:
    """Min h <= <softmax(s), h> <= min h + share (max h - min h)."""
    low, high, u = m.min(v.h), m.max(v.h), m.dot(m.softmax(v.s), v.h)
    return m.all_of(m.at_most(u - low, share * (high - low)), m.at_most(m.exact(0), u - low))


CUBIC = replace(Descent.of([[[1], [0]]], [[1]], scores=[[1, -1]]), loss="cubic")
"""-u^3 has the slope 0 at the score 0 that attention starts with."""
TOP = replace(CUBIC, inputs=AttentionData.of([[[1], [0]]], [[1]], scores=[[2, 0]]), loss="squared")
"""(1 - u)^2 has the slope 0 at the score 1 that attention starts with."""
BELOW, ABOVE = (
    Descent.of([[[1], [0], [-1]]], [[1]], scores=[[high, low, low]], start=[[-2]])
    for high, low in ((-1, -2), (2, 1))
)
"""Scores on either side of the flat point of -u^3."""
FAR = Descent(TWO_TOKENS.data, np.array([[-24.0]]), "exponential")
WITHOUT_DIRECTION = replace(training.ONE_TOKEN, loss="log-loss"), replace(NO_QUERY, loss="log-loss")
"""X^mm = 0, and no X^mm."""
LOSS_READ = {"loss function": "the l of the risk, the mean of l(b <f, h>) over the inputs"}
PLACE = "Section 2, support vector machine"
SAID = "In our paper, we relax their assumption of the loss function's derivative and Lipschitz"


THEOREM = Statement(
    "sim/loss-assumptions",
    rests_on=("sim/theorem-3.14-part-1", "sim/theorem-3.14-part-2"),
    source=SOURCE,
    place=PLACE,
    printed=SAID,
    variables=stepped(Descent, trained(sorted(LOSSES), tight=True)),
    conclusion=replace(
        limit(limits.DIRECTION, LETTERS, never=stays), tensors=None, many=rival_lead
    ),
    cost=10,
    violating={
        UNIQUE: [replace(ALL_TIED, loss="log-loss"), replace(TIED_APART, loss="log-loss")],
        EQUAL_RIVALS: [replace(PASSED_OVER, loss="log-loss")],
        SEVERAL_TOKENS: [replace(training.ONE_TOKEN, loss="log-loss")],
        FEASIBLE: [replace(NO_QUERY, loss="log-loss")],
        SLOPED_ON_SCORES: [TOP, replace(TWO_TOKENS, loss="logistic")],
        SHORT: [replace(LEAPING, loss="log-loss")],
    },
    readings={
        "literal-1": Reading(
            "refuted",
            read=LOSS_READ,
            constants={"towards": "optimal"},
            under=(UNIQUE, ONE_PART, SMOOTH_LOSS, SHORT),
            examples=(replace(TWO_TOKENS, loss="logistic"), TOP, *WITHOUT_DIRECTION),
            siblings=OTHER_TARGETS,
        ),
        "literal-2": Reading(
            "refuted",
            read=LOSS_READ,
            constants={"towards": "optimal"},
            under=(UNIQUE, ONE_PART, SMOOTH_LOSS, STRICTLY_DECREASING, SHORT),
            examples=(CUBIC, training.NOT_ALIGNED, *WITHOUT_DIRECTION),
            siblings={
                **OTHER_TARGETS,
                "not strictly decreasing": changed(drop=[STRICTLY_DECREASING], examples=[TOP]),
            },
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.aligned_inputs:prove_one_input",
            constants={"towards": "optimal"},
            under=(UNIQUE, EQUAL_RIVALS, SEVERAL_TOKENS, FEASIBLE, ONE_INPUT, SLOPED_ON_SCORES),
            variables=stepped(Descent, trained(NEGATIVE), steps=ANY),
            examples=(
                *(
                    replace(TWO_TOKENS, loss="exponential"),
                    replace(TWO_TOKENS, loss="correlation"),
                    FAR,
                ),
                *(replace(run, loss="cubic") for run in (BELOW, ABOVE)),
            ),
            siblings={
                **OTHER_TARGETS,
                "several inputs": changed(drop=[ONE_INPUT], examples=[training.NOT_ALIGNED]),
            },
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.basins:prove",
            constants={"towards": "optimal"},
            under=(UNIQUE, FEASIBLE, SLOPED_ON_SCORES, BASIN, SHORT),
            variables=stepped(Descent, trained(NEGATIVE, near=True)),
            examples=tuple(replace(training.UNEVEN_SCORES, loss=loss) for loss in EVERYWHERE),
            siblings={
                **OTHER_TARGETS,
                "any start": changed(drop=[BASIN], examples=[training.NOT_ALIGNED]),
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
    conclusion=within,
    readings={
        "amended-3": Reading(
            "proved",
            proof="symbolic.sim.loss_assumptions:prove",
            examples=({"s": [0], "h": [1]}, {"s": [64, 0], "h": [1, 0]}),
            siblings={
                f"not above {part} of the way": changed(share=share)
                for part, share in (("99.9%", "0.999"), ("half", "0.5"))
            },
        )
    },
)
