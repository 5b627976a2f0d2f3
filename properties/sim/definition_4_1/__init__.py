"""Definition 4.1: the soft-margin Att-SVM, and the remark that C = 10 works well.

    X_soft = argmin ||X||_F + C sum xi_{l,t}  subject to
    (a_opt - a_t)^T X a_i >= 1 - xi_{l,t} and xi_{l,t} >= 0.

Minimised over xi, the objective is f_C(V) = ||V||_F + C sum_j max(0, 1 - <A_j, V>) if each
constraint has a slack. The printed slack has no index i, but its constraint is asked for every
query i. So the queries of one sequence share it: f_C(V) = ||V||_F + C sum_{l,t} max_i max(0, 1 -
<A_{l,i,t}, V>). With one query a sequence the two forms agree; the readings of figure 1 use the
former, the reproduced figures the latter. lambda are any multipliers of X^mm.

"We empirically find using a large penalty term C = 10 still works well" is an observation on their
data. literal-1 and literal-3 read it as a rule for data that have an X^mm. The source also applies
the soft margin to data without X^mm ("the vanilla formulation of X^mm is often unsolvable", section
4), for which X_soft has nothing to be compared with. How large C must be depends on the data: for
one input with tokens 1/16 and 0 and query 1, f_10(0) = 10 and f_10(X^mm) = 16. So `literal-1`
fails. `literal-2` fails for one constraint A = 1 and C = 1: f(V) = V + max(0, 1 - V) = 1 on all of
[0, 1]. `amended-2` fails since sharing makes slack cheaper: `OWN_QUERIES` has X^mm of norm 1 with
multipliers 1/2, and at C = 1/2 f(0) = 1/2 < 1. If optimal tokens are tied, the first ones count.
Proofs and more readings are in `symbolic/sim/programmes.py`.
"""

import numpy as np

from attsvm.primitives.hypotheses import EXISTS, FEASIBLE
from attsvm.primitives.programme_letters import positive_price
from attsvm.theory import Hypothesis, Reading, Records, Statement, changed
from attsvm.theory.declaration.siblings import Changed
from properties.sim import SOURCE
from properties.sim.definition_4_1 import conclusion, instances


def lower_prices(*examples: instances.Queried) -> dict[str, Changed]:
    """Return siblings with a share of the price."""
    shares = {
        "0.95 lambda in place of lambda": "0.95",
        "0.999 lambda in place of lambda": "0.999",
        "lambda/2 in place of lambda": "0.5",
    }
    return {words: changed(share=share, examples=examples) for words, share in shares.items()}


OWN = "each constraint have a slack of its own"
SHARED = Records(
    instances.Queried,
    instances.queried(),
    lets="the constraints of a token for the queries of a sequence share a slack",
)
ANY_WAY = "constraints share slacks in any way"
"""Words on slack sharing, which follow "Let" in the sentence of a reading."""

POSITIVE = Hypothesis(
    "C > 0", lambda case: case.C > 0, proposition=positive_price, checked="fact(C > 0)"
)
WHOLE = Hypothesis(
    "queries of one sequence have the same tokens",
    instances.whole_sequences,
    checked="fact(all(data.X[k] == data.X[sequence.index(a)] for k, a in enumerate(sequence)))",
)
SMALL = Hypothesis(
    "C ||sum_j A_j|| <= 1",
    instances.small_price,
    checked="fact(all(C * C * inner(s, s) <= 1 for s in [summed(rows(data, data.optimal), size)]))",
)
MOVED = Hypothesis("V is not zero", instances.is_moved, checked="fact(any(flat(move)))")

DEFINITION = Statement(
    "sim/definition-4.1",
    rests_on=("sim/definition-3.8",),
    source=SOURCE,
    place="Definition 4.1",
    printed="X_soft = argmin ||X||_F + C sum xi_{l,t} s.t. (A_{l,opt_i} - A_{l,t})^T X A_{l,i} >= "
    "1 - xi_{l,t} & xi_{l,t} >= 0; we empirically find using a large penalty term C = 10 still "
    "works well",
    variables=Records(instances.Soft, instances.rivals(), lets=OWN),
    conclusion=conclusion.at_price,
    cost=2,
    readings={
        "literal-1": Reading(
            "refuted",
            fairness="strained",
            read={
                "C = 10 still works well": "that X^mm is optimal at this C",
                "xi_{l,t}": "one slack a constraint",
            },
            under=(FEASIBLE,),
            examples=(instances.single(0.0625, 10.0, False, 0.0),),
            siblings={
                "C = 1/4": changed(C="1/4", examples=[instances.single(1.0, 0.25, False, 0.0)]),
                "C = 1/64": changed(
                    C="1/64", examples=[instances.single(1.0, 0.015625, False, 0.0)]
                ),
            },
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.sim.programme_facts:prove_price",
            conclusion=conclusion.at_least_price,
            under=(EXISTS,),
            examples=(
                instances.single(1.0, 1.0, True, -0.25),
                instances.single(0.0625, 1.0, False, 0.0),
                instances.REPEATED,
                instances.TIED,
            ),
            siblings={
                **lower_prices(),
                "Att-SVM need not be separable": changed(
                    drop=[EXISTS], examples=[instances.OPPOSED]
                ),
            },
        ),
        "literal-2": Reading(
            "refuted",
            fairness="strained",
            variables=Records(instances.Soft, instances.cheap_rivals(), lets=OWN),
            conclusion=conclusion.only_minimiser,
            under=(POSITIVE, SMALL, MOVED),
            examples=(instances.single(1.0, 1.0, False, 0.5),),
            siblings={
                "C of any size": changed(
                    drop=[SMALL],
                    variables=Records(instances.Soft, instances.rivals(), lets=OWN),
                    examples=[instances.single(1.0, 2.0, False, 0.5)],
                ),
                "C J + ||V||/20 on the left side": changed(
                    growth="0.05", examples=[instances.single(1.0, 1.0, False, 0.25)]
                ),
                "C J + ||V||/4 on the left side": changed(
                    growth="1/4", examples=[instances.single(1.0, 1.0, False, 0.25)]
                ),
            },
        ),
        "sharp": Reading(
            "proved",
            proof="symbolic.sim.programme_facts:prove_growth",
            variables=Records(instances.Soft, instances.rivals(separable=False), lets=OWN),
            conclusion=conclusion.growth_from_zero,
            under=(POSITIVE,),
            tight=True,
            examples=(
                instances.single(1.0, 1.0, False, 0.5),
                instances.single(1.0, 2.0, False, 0.5),
                instances.TIED,
                instances.OPPOSED,
            ),
            siblings={
                "1.05 in place of 1": changed(growth="1.05"),
                "C may be negative": changed(
                    drop=[POSITIVE], examples=[instances.single(1.0, -1.0, False, 2.0)]
                ),
            },
        ),
        "literal-3": Reading(
            "refuted",
            fairness="strained",
            read={
                "C = 10 still works well": "that X^mm is optimal at this C",
                "xi_{l,t}": "one slack a token of a sequence",
            },
            variables=SHARED,
            under=(WHOLE, FEASIBLE),
            examples=(instances.ALONE,),
            siblings={
                "C = 1/4": changed(C="1/4", examples=[instances.OWN_QUERIES]),
                "C = 1/64": changed(C="1/64", examples=[instances.OWN_QUERIES]),
            },
        ),
        "amended-2": Reading(
            "refuted",
            constants={"together": False},
            variables=SHARED,
            conclusion=conclusion.at_least_price,
            under=(WHOLE, EXISTS),
            examples=(instances.OWN_QUERIES,),
            siblings={
                "0.95 lambda in place of lambda": changed(
                    share="0.95", examples=[instances.OWN_QUERIES]
                ),
                "lambda/2 in place of lambda": changed(
                    share="0.5", examples=[instances.OWN_QUERIES]
                ),
            },
        ),
        "amended-3": Reading(
            "proved",
            proof="symbolic.sim.programme_facts:prove_price",
            variables=Records(instances.Queried, instances.queried(whichever=True), lets=ANY_WAY),
            conclusion=conclusion.at_least_price,
            under=(EXISTS,),
            examples=(instances.OWN_QUERIES,),
            siblings={
                **lower_prices(instances.OWN_QUERIES),
                "the largest multiplier in place of sums": changed(
                    together=False, examples=[instances.OWN_QUERIES]
                ),
            },
        ),
        "sharp-2": Reading(
            "holds",
            strength="exact",
            proof="symbolic.sim.programmes:prove_exact_price",
            variables=Records(instances.Queried, instances.priced(), lets=ANY_WAY),
            conclusion=conclusion.exactly_from_price,
            cost=4,
            under=(EXISTS,),
            examples=tuple(instances.at(instances.OWN_QUERIES, C) for C in instances.PRICES),
            siblings={
                "0.95 lambda in place of lambda": changed(thousandths=950),
                "0.999 lambda in place of lambda": changed(thousandths=999),
                "100.1% of that price": changed(thousandths=1001),
                "105% of that price": changed(thousandths=1050),
                "Att-SVM need not be separable": changed(
                    drop=[EXISTS], examples=[instances.Queried(instances.OPPOSED, np.array([0, 1]))]
                ),
            },
        ),
    },
)
