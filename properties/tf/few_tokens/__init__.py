"""As training proceeds fewer tokens keep weight, and the norm of the weights grows.

"Observation: Attention mechanism selects few tokens most relevant for prediction. As we select
fewer tokens, norm of the weights grow." The talk does not say how to count the tokens that keep
weight in an input. We use the effective number 1 / sum_t s_t^2 of its attention s, which is m for m
equal weights. `attsvm reproduce tf/probabilities` draws a run of the talk's protocol.

An observation of some runs is no law of each of their steps. A start that selects the worse of two
tokens moves back first: the norm shrinks (literal-1), and the other token gains weight (literal-2).
The same happens from W(0) = 0 with long steps (literal-3). For two inputs of tokens 1, 0 with head
1, labels 1 and queries 2, -1, the loss -u and the step 9, W goes 0, 1.125 and back to about 1.07.
The first input has the larger gradient, which soon fades. Tokens 2, 1 and -1, -2, with the first
ones as queries, do the same. Nor does the norm always grow when fewer tokens are selected
(literal-4). For tokens 0, 0, 1 of scores 0, 0, 1, the loss -u and the step 64, W goes from -2 to
about 1.8 and the effective number from about 2.26 to 1.68.

At every W, few tokens need a large norm (`amended-1`). For D the largest ||x_t - x_u|| ||z||, no
logit exceeds another by more than D ||W||. Hence the largest weight has odds of at most exp(D
||W||) against each other weight. So the effective number, which is at least 1 / max_t s_t, is not
below 1 + (T - 1) exp(-D ||W||). In the limit every run from the basin with a step of at most 1/L
shows both; in the basin the risk gap is below min_i [l(second) - l(best)] / n. The norm tends to
infinity and the direction to that of W^mm, whose margins are positive. So in each input only the
optimal token keeps weight (`amended-2`; `symbolic.basins`).
"""

from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_letters import settles
from attsvm.primitives.hypotheses import BASIN, EXISTS, LINEAR_HEAD, UNIQUE
from attsvm.primitives.loss_hypotheses import SLOPED_LOSS, STRICT_LOSS
from attsvm.primitives.steps import FLOW, SHORT, flattened, headed, stepped, tends
from attsvm.theory import Reading, Records, Statement, changed
from properties.tf import SOURCE
from properties.tf._support import descent_instances as cases
from properties.tf._support.descent_steps import Step
from properties.tf.few_tokens.conclusion import (
    AT_ZERO,
    CONTENT,
    LEAPING_OVER,
    ONE_TOKEN,
    WRONG_START,
    needs_norm,
    proceeds,
    steps,
)

SETTLES = tends(
    "",
    r"(\left\|W_k\right\|, s_k)",
    r"(\infty, 1)",
    floats=cases.DIRECTION.floats,
    balls=cases.DIRECTION.balls,
    stand_in=FLOW,
    constants=cases.DIRECTION.constants,
    where="W_k are the iterates from W_0, and s_k is the attention of any input to its $towards "
    "token",
    proposition=settles,
)

OBSERVATION = Statement(
    "tf/few-tokens",
    source=SOURCE,
    place="Empirical insights",
    printed="Attention mechanism selects few tokens most relevant for prediction. As we select "
    "fewer tokens, norm of the weights grow",
    variables=Records(Step, flattened(headed(steps()))),
    conclusion=proceeds,
    violating=cases.VIOLATING,
    readings={
        "literal-1": Reading(
            "refuted, certified",
            fairness="strained",
            constants={"what": "norm"},
            under=(LINEAR_HEAD, STRICT_LOSS),
            examples=(WRONG_START,),
            siblings={"||W|| <= 10/11 ||W_+||": changed(slack="10/11")},
        ),
        "literal-2": Reading(
            "refuted, certified",
            fairness="strained",
            read={"few tokens": "a small effective number of tokens"},
            constants={"what": "tokens"},
            under=(LINEAR_HEAD, STRICT_LOSS),
            examples=(WRONG_START,),
            siblings={"N(W_+) <= 9/10 N(W)": changed(slack="9/10")},
        ),
        "literal-3": Reading(
            "refuted, certified",
            fairness="strained",
            constants={"what": "both", "when": "second step"},
            under=(LINEAR_HEAD, STRICT_LOSS),
            variables=Records(Step, flattened(headed(steps(0.0))), fixed=("start",)),
            examples=(CONTENT,),
            siblings={"9/10 of both right sides": changed(slack="9/10")},
        ),
        "literal-4": Reading(
            "refuted, certified",
            fairness="strained",
            read={"fewer tokens": "a smaller effective number of tokens"},
            constants={"what": "then"},
            under=(LINEAR_HEAD, STRICT_LOSS),
            examples=(LEAPING_OVER,),
            siblings={"||W|| < 10/11 ||W_+||": changed(slack="10/11")},
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.tf.few_tokens:prove",
            under=(),
            conclusion=needs_norm,
            tight=True,
            examples=(WRONG_START, CONTENT, AT_ZERO, ONE_TOKEN),
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.basins:prove_attention",
            under=(EXISTS, SLOPED_LOSS, UNIQUE, BASIN, SHORT),
            variables=stepped(Descent, cases.descents(), cases.started_right),
            conclusion=SETTLES,
            siblings={"the worst tokens": changed(towards="worst")},
            cost=12,
        ),
    },
)
