"""The conjecture on global convergence in large dimensions.

"If all tokens are support vectors in all Local-SVM's, then (opt_i) is the only feasible
locally-optimal solution." "Holds as d becomes even larger (explains red bars -> 1)". "Culminates in
our global convergence conjecture (see paper)". The slide does not print the conjecture.

A large d alone says nothing: data may lie in a few of the d dimensions, and obtuse triangles exist
in all. From far along the second-best token of `OBTUSE` descent stays with that token. From zero it
moves the tokens (1, 0), (4, -4), (2, 0) with head (-3, -2) to the second one (amended-1). Scores
are those of a linear head, and queries first tokens. The smallest data on which some run fails,
with l' < 0, unique optimal tokens and an Att-SVM, for such scores and for scores of any values:

| | never fails, from any start | fails from zero, certified | fails from some start |
| --- | --- | --- | --- |
| n = 1 | T = 2 (`symbolic.aligned_facts:prove_equal_rivals`) | T = 3, d = 1 | T = 3, d = 1 |
| n = 1, linear head | T = 2; d = 1 | T = 3, d = 2 | T = 3, d = 2 |
| n = 2, T = 2 | d = 1 if inputs are aligned | d = 2 (`tf/global-equal-scores`) | d = 2 |

The second reading falls for tied scores. Without tied scores (`amended-2`) it falls if inputs move
each other's margins (`OUTRUN`). Without tied scores and with steps of at most 1/L, every run
settles at the best tokens if queries are orthogonal (`sharp-2`). The same holds if one input has at
most three tokens and the others two (`sharp-3`). Two inputs of three tokens are open. The proofs,
and what was searched without success, are in docs/proofs/global_conjecture.md.
"""

from attsvm.primitives.descent import Descent
from attsvm.primitives.hypotheses import (
    FEASIBLE,
    INDEPENDENT,
    LINEAR_HEAD,
    SEVERAL_TOKENS,
    UNIQUE,
    ZERO_START,
)
from attsvm.primitives.loss_hypotheses import SLOPED_LOSS, STRICT_LOSS
from attsvm.primitives.query_hypotheses import LARGE
from attsvm.primitives.steps import ANY, SHORT, flattened, headed, stepped
from attsvm.theory import Reading, Statement, changed
from properties._support.token_choices import EVERYWHERE, SOLVED
from properties.tf import SOURCE
from properties.tf._support import descent_instances as cases
from properties.tf.global_conjecture import instances
from properties.tf.global_conjecture.instances import (
    BETTER,
    DIFFERENT,
    FEW,
    ORTHOGONAL,
    SHORT_OR_FEW,
    SUPPORTED,
)

CONJECTURE = Statement(
    "tf/global-conjecture",
    rests_on=("tf/all-local-unique", "tf/overparameterisation"),
    source=SOURCE,
    place="Main results on large d",
    printed="Holds as d becomes even larger (explains red bars -> 1) - Culminates in our global "
    "convergence conjecture (see paper)",
    variables=stepped(Descent, instances.supported(), steps=ANY),
    conclusion=cases.DIRECTION,
    cost=6,
    violating={
        EVERYWHERE: [instances.OBTUSE],
        SOLVED: [instances.NO_SOLUTION],
        SEVERAL_TOKENS: [cases.ONE_TOKEN],
        SLOPED_LOSS: [cases.FLAT],
        SHORT_OR_FEW: [instances.LONG],
        SHORT: [instances.LONG, instances.LONG_OF_THREE],
        ORTHOGONAL: [instances.OUTRUN],
        FEW: [instances.OUTRUN],
        INDEPENDENT: [instances.NO_SOLUTION],
        DIFFERENT: [instances.TIED],
    },
    readings={
        "literal-1": Reading(
            "refuted",
            fairness="strained",
            read={
                "our global convergence conjecture": "that descent converges in direction to W^mm",
                "even larger": "d >= n T",
            },
            under=(LINEAR_HEAD, LARGE, STRICT_LOSS),
            variables=stepped(Descent, flattened(headed(instances.supported())), steps=ANY),
            examples=(instances.OBTUSE, instances.PASSED, cases.ONE_TOKEN),
            siblings=cases.WRONG,
        ),
        "literal-2": Reading(
            "refuted",
            fairness="strained",
            read={
                "our global convergence conjecture": "that descent converges in direction to W^mm "
                "under what the slide supposes"
            },
            under=(LINEAR_HEAD, EVERYWHERE, SOLVED, STRICT_LOSS),
            variables=stepped(Descent, flattened(headed(instances.supported())), steps=ANY),
            examples=(instances.TIED, cases.ONE_TOKEN),
            siblings=cases.WRONG,
        ),
        "amended-1": Reading(
            "refuted",
            under=(LINEAR_HEAD, LARGE, UNIQUE, SEVERAL_TOKENS, FEASIBLE, SLOPED_LOSS, ZERO_START),
            variables=stepped(Descent, headed(instances.at_rest()), fixed=("start",), steps=ANY),
            examples=(instances.PASSED, instances.DRAGGED, instances.OWN_TOKEN),
            siblings=cases.WRONG,
        ),
        "amended-2": Reading(
            "refuted",
            under=(LINEAR_HEAD, EVERYWHERE, SOLVED, UNIQUE, SEVERAL_TOKENS, SLOPED_LOSS),
            examples=(instances.OUTRUN,),
            siblings=cases.WRONG,
        ),
        "sharp": Reading(
            "holds",
            strength="better",
            proof="symbolic.tf.global_conjecture:prove",
            under=(SLOPED_LOSS, INDEPENDENT, DIFFERENT, SEVERAL_TOKENS, BETTER, SHORT_OR_FEW),
            variables=stepped(Descent, instances.simplices(), steps=ANY),
            siblings={
                **cases.WRONG,
                "multipliers of better tokens may be 0": changed(
                    drop=[BETTER],
                    under=[SUPPORTED],
                    examples=[instances.OUTRUN],
                ),
            },
        ),
        "sharp-2": Reading(
            "holds",
            strength="better",
            proof="symbolic.tf.settled_attention:prove",
            under=(EVERYWHERE, SOLVED, DIFFERENT, SEVERAL_TOKENS, SLOPED_LOSS, ORTHOGONAL, SHORT),
            variables=stepped(Descent, instances.apart()),
            siblings=cases.WRONG,
        ),
        "sharp-3": Reading(
            "holds",
            strength="better",
            proof="symbolic.tf.settled_attention:prove_few",
            under=(EVERYWHERE, SOLVED, DIFFERENT, SEVERAL_TOKENS, SLOPED_LOSS, FEW, SHORT),
            variables=stepped(Descent, instances.acting()),
            siblings=cases.WRONG,
        ),
    },
)
