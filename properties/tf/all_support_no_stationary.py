"""All tokens support vectors: the risk has no stationary point.

"Theorem: If all tokens are support vectors of Att-SVM (i.e. SVM margin constraints are tight), then
- No stationary points: grad L(W) != 0 for all W."

W^mm is the Att-SVM solution, s_it is the attention to token t of input i, gamma_it its score, and
u_i = <s_i, gamma_i>. The loss of the talk is strictly decreasing and smooth, which is not enough:
with l(u) = -u^3, tokens 1, -1, scores 1, -1 and query 1 the gradient is zero at W = 0.

Proof. Let M be any matrix under which all rivals of the optimal token have margin 1, such as W^mm
here. Let a_it = <x_it z_i^T, M>. As a_i,opt - a_it = 1 and the terms s_it (gamma_it - u_i) of an
input sum to 0,

    <-grad L(W), M> = (1/n) sum_i |l'(u_i)| sum_t s_it (gamma_it - u_i) a_it
                    = (1/n) sum_i |l'(u_i)| s_i,opt sum_t s_it (gamma_i,opt - gamma_it) =: D(W).

For l' < 0, continuous or not, this is positive at every W if one input has two different scores.
Ties of optimal tokens do not matter. If no input has two different scores, the gradient is zero at
every W, so this condition cannot be dropped. The proof uses only M; independent A_it are enough for
it. With a linear head M = v q^T does the same for any tokens, if some q has Y_i <z_i, q> > 0 for
all i (`tf/linear-head-landscape`). Equality in the sharp reading holds exactly if grad L points
along W^mm, as for one input of two tokens at every W. With -l' in place of |l'|, as computed, sharp
needs neither condition.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from attsvm.losses import LOSSES
from attsvm.primitives import descent_letters as letters
from attsvm.primitives.att_svm import att_svm, exact_att_svm, flat
from attsvm.primitives.descent import Descent
from attsvm.primitives.gradients import negative_gradient
from attsvm.primitives.hypotheses import ALL_TIGHT, LINEAR_HEAD, TWO_SCORES
from attsvm.primitives.loss_hypotheses import FALLING_LOSS, STRICT_LOSS
from attsvm.primitives.steps import flattened, headed
from attsvm.theory import Reading, Records, Statement, changed, concludes, stated
from attsvm.theory.types import Comparison, Namespace, Number
from properties.tf import SOURCE
from properties.tf._support import descent_instances as cases
from properties.tf._support.descent_instances import not_stationary

SMALL = cases.from_zero([[[1], [0]]], scores=[[1.0, 0.0]])
BEST_TIED = cases.from_zero([[[1], [0], [0]]], scores=[[1.0, 1.0, 0.0]])
HOLDING = SMALL, cases.TRAP, replace(BEST_TIED, start=np.ones((1, 1)))
OPPOSED = replace(cases.OPPOSED, loss="correlation")


def length(m: Namespace, data: Any) -> Number | None:
    """Return ||W^mm||; None if there is no W^mm."""
    if m.name == "text":
        return m.norm(att_svm(m, data).vector)
    svm = exact_att_svm(data)
    return None if svm is None else m.norm(m.values(flat(svm.W)))


@concludes(letters.bounded_below)
@stated(
    "",
    r"$share D \le \|\nabla L(W)\| \|W^{mm}\|",
    where="W is any matrix, D = 1/n sum_i -l'(u_i) s_i,opt sum_t s_it (gamma_i,opt - gamma_it), "
    "s_it is the attention at W, and u_i = sum_t s_it gamma_it",
)
def bounded_below(m: Namespace, case: Descent, share: Number = 1) -> Comparison:
    size, down = length(m, case.inputs), negative_gradient(m, case.inputs, case.start, case.loss)
    if size is None:
        return m.below(m.exact(0), m.exact(0))  # there is no W^mm
    return m.at_most(share * down.toward, m.norm(down.matrix) * size)


THEOREM = Statement(
    "tf/all-support-no-stationary",
    rests_on=("tf/definition-1",),
    source=SOURCE,
    place="Main results on large d",
    printed="If all tokens are support vectors of Att-SVM (i.e. SVM margin constraints are tight), "
    "then - No stationary points: grad L(W) != 0 for all W",
    variables=Records(Descent, cases.descents(), cases.larger, ("step",)),
    conclusion=not_stationary,
    cost=2,
    violating={
        ALL_TIGHT: [OPPOSED, cases.PASSED_OVER],
        FALLING_LOSS: [cases.FLAT, cases.FLAT_AT_ZERO],
        TWO_SCORES: [cases.TIED],
    },
    readings={
        "literal": Reading(
            "refuted, certified",
            under=(LINEAR_HEAD, ALL_TIGHT, STRICT_LOSS),
            variables=Records(
                Descent, flattened(headed(cases.descents())), cases.larger, ("step",)
            ),
            examples=(cases.ONE_TOKEN, cases.TIED, cases.FLAT_AT_ZERO),
            siblings={
                "not all tokens support vectors": changed(
                    drop=[ALL_TIGHT],
                    variables=Records(Descent, cases.opposed()),
                    examples=[OPPOSED],
                ),
                "a loss that turns upwards": changed(drop=[STRICT_LOSS], examples=[cases.FLAT]),
            },
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.tf.all_support_no_stationary:prove",
            under=(ALL_TIGHT, FALLING_LOSS, TWO_SCORES),
            examples=HOLDING,
        ),
        "sharp": Reading(
            "proved",
            proof="symbolic.tf.all_support_no_stationary:prove_bound",
            under=(ALL_TIGHT,),
            variables=Records(
                Descent,
                cases.descents(list(LOSSES)),
                partial(cases.larger, losses=list(LOSSES)),
                ("step",),
            ),
            conclusion=bounded_below,
            tight=True,
            examples=(*HOLDING, cases.TIED, cases.FLAT),
        ),
    },
)
