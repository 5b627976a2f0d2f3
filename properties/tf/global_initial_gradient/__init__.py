"""Global convergence if the initial gradient is favourable.

"Theorem: We have that W_k/||W_k||_F -> W^mm(opt)/||W^mm(opt)||_F, if: initial gradient grad L(W_0)
is favorable." W_k are the iterates of descent, and W^mm is the Att-SVM solution of the optimal
tokens. Favourable is not defined; the slide lists it beside equal scores under "alternative
criteria", each with a tick.

The three literal readings fall from W_0 = 0 with the loss -u and z = (1, 0).

- `literal-1`, one input: tokens (-4, -4), (3, 1), (4, 3), (-2, 0), head (3, -4), so scores 4, 5, 0,
  -6. The first step favours the second token over all others and the bad ones fade. Then the first
  token, which is longer, is selected for ever.
- `literal-2`, both criteria at once: tokens (1, 0), 0, 0, 0 and (-2, 1), 0, head (3, 7), so scores
  3, 0, 0, 0 and 1, 0. With w the first column of W, -grad of input 1 is along (1, 0), of input 2
  along (-2, 1). Both margins grow if the first is 2 to 5/2 times the second. The factor is 9/4 at
  zero. As input 1 learns, s(1 - s) grows from 3/16 to 1/4 and the factor to 3, and input 2 is lost
  for ever.
- `literal-3`: two inputs of two tokens.

With steps of 256/L `amended` fails (`THROWN`).
"""

from dataclasses import replace

import numpy as np

from attsvm.primitives.descent_runs import LEAPING, max_margin
from attsvm.primitives.hypotheses import EQUAL_RIVALS, LINEAR_HEAD, SEVERAL_TOKENS, UNIQUE
from attsvm.primitives.loss_hypotheses import SLOPED_LOSS, STRICT_LOSS
from attsvm.primitives.steps import ANY, SHORT, flattened, headed, stepped
from attsvm.theory import Hypothesis, Reading, Statement, changed
from properties.tf import SOURCE
from properties.tf._support.descent_instances import DIRECTION, NOT_ALIGNED, WORST, WRONG, from_zero
from properties.tf.global_initial_gradient import first_steps, letters
from properties.tf.global_initial_gradient.first_steps import Step

ZERO = np.zeros((2, 2))
OVERTAKEN = from_zero([[[-4, -4], [3, 1], [4, 3], [-2, 0]]], y=[1.0], v=[3.0, -4.0]).data
CROWDED = from_zero(
    [[[1, 0], [0, 0], [0, 0], [0, 0]], [[-2, 1], [0, 0], [0, 0], [0, 0]]],
    y=[1.0, 1.0],
    v=[3.0, 7.0],
    mask=[[True, True, True, True], [True, True, False, False]],
).data
TIED = from_zero([[[4, 0], [2, -1], [0, 0]]], scores=[[1.0, 1.0, 0.0]])
BEYOND_ONE = from_zero([[[1, 0], [0, 0]]], scores=[[1.5, 0.0]]).data
"""(1 - u)^2 is least if the attended score is 1: from w = (4, 1) descent ends at w = (ln 2, 1)."""
TWO_BEST = Step(TIED.data, ZERO, TIED.loss, 64.0)
"""The first step separates the first token. W^mm has w = (2/5, 1/5), but descent ends along (1,
0)."""
FAR_AHEAD = Step(NOT_ALIGNED.data, np.array([[64.0, 0.0], [192.0, 0.0]]), "correlation", 1.0)
"""A start far along W^mm, from which the first step lowers the margin of the second input."""
THROWN = replace(
    Step(LEAPING.data, np.array([[2.0, 0.0], [6.0, 0.0]]), "correlation", 1.0), step=256.0
)
"""After a long first step the second one takes an input to its worse token for ever."""
CROSSED = Step(OVERTAKEN, ZERO, "correlation", 1.0)


SEPARATED = Hypothesis(
    "the first step separates the optimal tokens",
    first_steps.separates,
    says="(x_opt - x_t)^T (-grad L(W_0)) z > 0 for all rivals t of every input",
    checked="favours(data, start, loss, rows(data, data.optimal))",
)
LONG = Hypothesis(
    "the first step is long",
    first_steps.is_long,
    says="some input has two different scores, and iota R >= ln(sum_i b_i G_i (T_i - 1) / min_i "
    "drop_i) - m_0 with the least drop_i of such inputs",
    implies=(SEVERAL_TOKENS,),
    proposition=letters.long,
)
FORWARD = Hypothesis("R >= 0", lambda case: case.length >= 0.0, proposition=letters.forward)
ALONG = Hypothesis(
    "the first step goes along W^mm",
    lambda case: first_steps.correlates(case, max_margin(case.data, "optimal")),
    says="<-grad L(W_0), W^mm> > 0",
    checked="favours(data, start, loss, [target])",
)

THEOREM = Statement(
    "tf/global-initial-gradient",
    rests_on=("tf/definition-1",),
    source=SOURCE,
    place="Global convergence with alternative criteria",
    printed="We have that W_k/||W_k||_F -> W^mm(opt)/||W^mm(opt)||_F, if: initial gradient "
    "grad L(W_0) is favorable",
    variables=stepped(
        Step, flattened(headed(first_steps.steps((1.0,)))), fixed=("length",), steps=ANY
    ),
    conclusion=DIRECTION,
    cost=10,
    violating={
        SLOPED_LOSS: [Step(BEYOND_ONE, np.array([[4.0, 0.0], [1.0, 0.0]]), "squared", 1.0)],
        UNIQUE: [TWO_BEST],
        FORWARD: [Step(NOT_ALIGNED.data, ZERO, NOT_ALIGNED.loss, -2.0)],
        SHORT: [THROWN],
    },
    readings={
        "literal-1": Reading(
            "refuted",
            read={"favorable": "that (x_opt - x_t)^T (-grad L(W_0)) z > 0 for all rivals t"},
            under=(LINEAR_HEAD, SEPARATED, STRICT_LOSS),
            examples=(CROSSED,),
            siblings={"any first gradient": changed(drop=[SEPARATED]), **WORST},
        ),
        "literal-2": Reading(
            "refuted",
            read={"favorable": "that (x_opt - x_t)^T (-grad L(W_0)) z > 0 for all rivals t"},
            under=(LINEAR_HEAD, SEPARATED, EQUAL_RIVALS, STRICT_LOSS),
            examples=(Step(CROWDED, ZERO, "correlation", 1.0),),
            siblings={
                "any first gradient": changed(drop=[SEPARATED]),
                "any scores": changed(drop=[EQUAL_RIVALS], examples=[CROSSED]),
                **WORST,
            },
        ),
        "literal-3": Reading(
            "refuted",
            read={"favorable": "that <-grad L(W_0), W^mm> > 0"},
            under=(LINEAR_HEAD, ALONG, STRICT_LOSS),
            examples=(Step(NOT_ALIGNED.data, ZERO, NOT_ALIGNED.loss, 1.0),),
            siblings={"any first gradient": changed(drop=[ALONG]), **WORST},
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.tf.global_initial_gradient:prove",
            under=(SLOPED_LOSS, UNIQUE, FORWARD, LONG, SHORT),
            variables=stepped(
                Step, first_steps.favoured((16.0, 32.0, 64.0)), first_steps.favoured_larger
            ),
            conclusion=first_steps.AFTER_STEP,
            examples=(
                Step(OVERTAKEN, ZERO, "correlation", 32.0),
                Step(CROWDED, ZERO, "correlation", 32.0),
                FAR_AHEAD,
            ),
            siblings={
                **WRONG,
                "any first gradient": changed(
                    drop=[LONG], examples=[Step(NOT_ALIGNED.data, ZERO, NOT_ALIGNED.loss, 32.0)]
                ),
            },
        ),
    },
)
