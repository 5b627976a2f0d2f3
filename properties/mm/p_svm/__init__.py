"""p-SVM: the least prompt that separates the selected token of every input from the others.

    p(alpha) = argmin ||p|| s.t. p^T (k_i,alpha_i - k_it) >= 1, for all i, t != alpha_i;
    K_i = X_i W^T.

X_i holds the tokens x_it of input i, K_i their keys k_it = W x_it; alpha_i is the selected token.

The slide defines p(alpha) without a condition. There is none if a selected token is repeated (1 and
1) or lies between the others. The talk introduces alpha as the optimal tokens of a head. But two
inputs with tokens 1 and 0, labels 1 and -1 and head 1 select 1 over 0 and 0 over 1, which no prompt
does. By Farkas' lemma and strict convexity p(alpha) exists, and is unique, exactly if 0 is not in
the hull C of the k_i,alpha_i - k_it. Then 1/||p(alpha)|| is the distance of C from 0, the largest
margin of a unit prompt. In `amended-2` the optimal tokens are unique, all labels are one y, and the
head is W^T q: then a multiple of y q separates. `sharp-1` is uniqueness in numbers: p = p(alpha) is
the point of a convex set that is nearest to 0, so <q - p, p> >= 0 for every q of the set. `sharp-2`
holds as only tight constraints carry multipliers, so that they alone prove p(alpha) optimal.
"""

from collections.abc import Callable

import numpy as np
from hypothesis.strategies import SearchStrategy

from attsvm.theory import Reading, Records, Statement, changed
from properties.mm import SOURCE
from properties.mm._support import max_margin as svm
from properties.mm._support import token_selections as cases
from properties.mm._support.max_margin import P_EXISTS
from properties.mm._support.token_selections import Rival, Selection
from properties.mm.p_svm import conclusion

CONFLICTING = cases.select([[[1.0], [0.0]], [[1.0], [0.0]]], [1, -1], [0, 1])
"""The optimal tokens of the head 1: one over 0 and 0 over 1."""

ONE_TOKEN, SEPARATED = (Rival(one, np.ones(1)) for one in (cases.ONE_TOKEN, cases.SEPARATED))


def of_rivals(
    drawn: SearchStrategy[Rival], larger: Callable[[np.random.Generator], Rival] = cases.gaussian
) -> Records:
    """Return the searches of readings on a vector q beside the selection."""
    return Records(Rival, drawn, larger, lets=cases.WITH_Q)


PROGRAMME = Statement(
    "mm/p-svm",
    source=SOURCE,
    place="Attention SVMs, p-SVM",
    printed="p(alpha) = argmin ||p|| s.t. p^T (k_i,alpha_i - k_it) >= 1, for all i, t != alpha_i; "
    "K_i = X_i W^T",
    variables=Records(Selection, cases.separable(), cases.larger, lets=cases.SELECTED),
    conclusion=conclusion.exists,
    cost=2,
    readings={
        "literal-1": Reading(
            "refuted, certified",
            fairness="strained",
            under=(),
            variables=Records(Selection, cases.selections(), lets=cases.SELECTED),
            examples=(cases.ONE_TOKEN, *cases.PUBLISHED, cases.DUPLICATE, cases.INSIDE),
            siblings=svm.above_nearest(cases.NARROW),
        ),
        "literal-2": Reading(
            "refuted, certified",
            fairness="strained",
            under=(conclusion.OPTIMAL,),
            variables=Records(Rival, cases.headed(), lets=cases.WITH_Q),
            examples=(ONE_TOKEN, Rival(CONFLICTING, np.ones(1))),
            siblings=svm.above_nearest(Rival(cases.NARROW, np.array([4.0, 9.0]))),
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.mm.programmes:prove_distance",
            variables=cases.ANY,
            conclusion=conclusion.distance,
            under=(),
            examples=(
                cases.ONE_TOKEN,
                *cases.PUBLISHED,
                cases.DUPLICATE,
                cases.INSIDE,
                cases.OPPOSED,
            ),
            siblings={
                **svm.OTHER_DISTANCES,
                "the nearest difference in place of the hull": changed(of="row"),
            },
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.mm.programmes:prove_led",
            variables=of_rivals(cases.one_sided(), cases.along),
            conclusion=conclusion.led,
            under=(conclusion.ALONE, conclusion.ONE_LABEL),
            examples=(ONE_TOKEN, Rival(cases.ONE_TOKEN, np.zeros(1)), SEPARATED),
            siblings={
                "95% of the norm": changed(share="0.95"),
                "99.9% of the norm": changed(share="0.999"),
                "labels of both signs": changed(
                    drop=[conclusion.ONE_LABEL],
                    variables=of_rivals(cases.one_sided(2), cases.along),
                ),
                "tied optimal tokens": changed(
                    drop=[conclusion.ALONE],
                    variables=of_rivals(cases.one_sided(lifts=(0.0,)), cases.along),
                ),
            },
        ),
        "sharp-1": Reading(
            "proved",
            proof="symbolic.mm.programmes:prove_nearer",
            variables=of_rivals(cases.rivals()),
            conclusion=conclusion.projected,
            under=(conclusion.MEETS,),
            tight=True,
            examples=(ONE_TOKEN, Rival(cases.PUBLISHED[1], np.array([2.0, 0.0]))),
            siblings={
                "twice the left side": changed(share=2),
                "any q": changed(drop=[conclusion.MEETS], variables=of_rivals(cases.rivals("any"))),
            },
        ),
        "sharp-2": Reading(
            "proved",
            strength="exact",
            proof="symbolic.mm.programmes:prove_supported",
            conclusion=conclusion.unchanged,
            under=(P_EXISTS,),
            examples=(cases.ONE_TOKEN, *cases.PUBLISHED),
            siblings={**svm.LOOSE_ONES, "one tight constraint kept": changed(keep="first")},
        ),
    },
    violating={P_EXISTS: [cases.DUPLICATE]},
)
