"""All tokens support vectors of every Local-SVM: the optimal choice alone is locally optimal.

"Lemma: If all tokens are support vectors in all Local-SVM's, then (opt_i) is the only feasible
locally-optimal solution." A choice alpha takes one token per input. W^mm(alpha) is the solution of
its Local-SVM, and T_i are the tokens of margin 1 under it. alpha is locally optimal if W^mm(alpha)
exists and gamma_i,alpha_i > gamma_it for every t in T_i. "All Local-SVMs" are those of all choices.
It is read as all that have a solution (literal-1), or as all, which then have one (literal-2).

For tokens 1 and 0 of one score, each choice has its Local-SVM with the other token on the margin,
and none is locally optimal. For query 0 none has a solution. So optimal tokens have to be unique
and to have a W^mm. Any other choice then has an optimal token on its margin that scores more.

Support vectors of the Att-SVM are enough for one input of at most three tokens (`sharp`). Of two
rivals, the better one is locally optimal exactly if it is no support vector. `FOUR` need more.
"""

from functools import partial

import numpy as np

from attsvm.data import AttentionData
from attsvm.primitives import run_programs
from attsvm.primitives.descent_runs import LOCAL_TRAP
from attsvm.primitives.hypotheses import (
    ALL_TIGHT,
    FEASIBLE,
    LINEAR_HEAD,
    ONE_INPUT,
    UNIQUE,
    feasible,
    second_best_supports,
)
from attsvm.strategies.data import attention_data
from attsvm.theory import Hypothesis, Reading, Records, Statement, changed, concludes, stated
from attsvm.theory.types import Comparison, Namespace
from properties._support import single_letters
from properties._support import token_choices as choices
from properties._support.token_choices import EVERYWHERE, ONE_TOKEN, SOLVED, TIED, ZERO_QUERY
from properties._support.token_letters import unique_choice
from properties.tf import SOURCE

FOUR = LOCAL_TRAP.data
"""One input, all tokens support vectors of the Att-SVM, and the second best locally optimal too."""
NOT_ALIGNED = AttentionData.of(
    [[[1, 0], [0, 0]], [[-2, 1], [0, 0]]], [[1, 0]] * 2, scores=[[1, 0], [1, 0]]
)
"""The choice with the worse token of the second input is locally optimal too."""
TIED_OF_THREE = AttentionData.of(np.eye(3)[None].tolist(), [[1, 0, 0]], scores=[[1, 1, 0]])
"""Two best tokens of three: neither scores above the other."""
THREE = AttentionData.of([[[1, 0], [-1, 1], [0, 0]]], [[1, 0]], scores=[[2, 1, 0]])
"""The second best is no support vector, and locally optimal."""

LOCAL = (
    "a choice, of a token in each input, is locally optimal if its Local-SVM has a solution and "
    "its tokens score above all others of margin 1 under it"
)


@concludes(unique_choice)
@stated(
    "a choice of tokens is locally optimal if and only if it is optimal",
    where=LOCAL,
    checked=run_programs.only_optimal,
)
def unique(m: Namespace, data: AttentionData) -> Comparison:
    local, optimal = (
        m.values([int(holds(data, alpha)) for alpha in choices.every(data)])
        for holds in (choices.locally_optimal, choices.optimal)
    )
    return m.equal(local, optimal)


@concludes(single_letters.alone)
@stated(
    "an optimal choice alone is locally optimal exactly if $by",
    symbols={
        "by": {
            "second best": "a token of the second-best score, if there is one, is a support vector",
            "feasible": "there is a W^mm",
        }
    },
    where=LOCAL,
)
def alone_exactly_if(m: Namespace, data: AttentionData, by: str = "second best") -> Comparison:
    local = [alpha for alpha in choices.every(data) if choices.locally_optimal(data, alpha)]
    alone = len(local) == 1 and choices.optimal(data, local[0])
    known = second_best_supports(data) if by == "second best" else feasible(data)
    return m.equal(m.exact(int(alone)), m.exact(int(known)))


one_input = partial(attention_data, n=(1, 1), d=(1, 3))
FEW = Hypothesis("T <= 3", lambda data: data.T <= 3, proposition=single_letters.few)

LEMMA = Statement(
    "tf/all-local-unique",
    rests_on=("tf/definition-2",),
    source=SOURCE,
    place="Main results on large d",
    printed="If all tokens are support vectors in all Local-SVM's, then (opt_i)_{i=1}^n is the "
    "only feasible locally-optimal solution",
    variables=Records(AttentionData, choices.on_axes()),
    conclusion=unique,
    cost=4,
    violating={UNIQUE: [TIED], FEASIBLE: [ZERO_QUERY], ONE_INPUT: [NOT_ALIGNED], FEW: [FOUR]},
    readings={
        "literal-1": Reading(
            "refuted",
            fairness="strained",
            under=(LINEAR_HEAD, EVERYWHERE),
            examples=(TIED, ZERO_QUERY, TIED_OF_THREE),
            siblings={
                "tokens need not be support vectors": changed(drop=[EVERYWHERE], examples=[FOUR])
            },
        ),
        "literal-2": Reading(
            "refuted",
            fairness="strained",
            under=(LINEAR_HEAD, EVERYWHERE, SOLVED),
            examples=(TIED, TIED_OF_THREE),
            siblings={
                "tokens need not be support vectors": changed(
                    drop=[EVERYWHERE], examples=[NOT_ALIGNED]
                )
            },
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.tf.local_choices:prove",
            under=(EVERYWHERE, UNIQUE, FEASIBLE),
            examples=(ONE_TOKEN,),
            siblings={
                "support vectors of the Att-SVM alone": changed(
                    drop=[EVERYWHERE],
                    under=[ALL_TIGHT],
                    examples=[FOUR, NOT_ALIGNED],
                )
            },
        ),
        "sharp": Reading(
            "proved",
            strength="exact",
            proof="symbolic.tf.all_local_unique:prove_three",
            under=(ONE_INPUT, FEW, UNIQUE),
            variables=Records(AttentionData, one_input(T=(3, 3)) | one_input(T=(1, 3))),
            conclusion=alone_exactly_if,
            examples=(THREE, ONE_TOKEN),
            siblings={"exactly if there is a W^mm": changed(by="feasible", examples=[THREE])},
        ),
    },
)
