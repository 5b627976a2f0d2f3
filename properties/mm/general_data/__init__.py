"""The abstract: descent on p converges in direction to a max-margin solution, on general data.

"We prove that running gradient descent on p, or equivalently W, converges in direction to a
max-margin solution that separates locally-optimal tokens from non-optimal ones. ... Remarkably, our
results are applicable to general data."

`literal` takes all data, any start and any step. It falls if all scores are equal, as p never
moves. It also falls from zero with one input of keys 1, 0, -2 and scores 1, -4, 0: the gradient is
0 at p = 0 for every loss, and p = 0 has no direction. `amended` is about locally optimal tokens:
each token of margin 1 under p(alpha) scores below alpha. `tf/local-convergence:amended` is the same
with explicit bounds.

The table has the least d, n and T, each by itself, of runs that are certified to fail `literal`.
These have two different scores of an input, l' < 0 and steps of at most 1/L. All start at zero;
other starts led to no smaller ones (`python -m benchmarks.least_failures prompt --instances 48`,
4989 runs).

| supposed | d | n | T |
| --- | --- | --- | --- |
| nothing else | 1 | 1 | 2, equal keys |
| no input repeats a key | 1 | 1 | 2, of two opposed inputs |
| unique optimal tokens have a p(alpha) | 1 (3 if d >= n T) | 1 | 3, keys 1, 0, -2 |
| and every choice of tokens | 2 (4 if d >= n T) | 1 | 4, keys of a quadrilateral |
| differences of keys are independent | none in 3211 | none | none, 686 open |
"""

from attsvm.primitives.losses import LOSSES
from attsvm.theory import Hypothesis, Reading, Statement, changed
from properties._support.cones import LONG, NEAR, OPTIMAL, OTHER
from properties.mm import SOURCE
from properties.mm.general_data import instances
from properties.mm.general_data.conclusion import ON_BOTH, SEPARATES

DECREASING = Hypothesis(
    "l is decreasing", lambda case: LOSSES[case.loss].decreasing, checked="decreasing(loss)"
)

GENERAL = Statement(
    "mm/general-data",
    rests_on=("mm/theorem-1-direction", "mm/w-p-equivalence"),
    source=SOURCE,
    place="Abstract",
    printed="We prove that running gradient descent on p, or equivalently W, converges in "
    "direction to a max-margin solution that separates locally-optimal tokens from non-optimal "
    "ones. ... Remarkably, our results are applicable to general data",
    variables=instances.COMPARABLE,
    conclusion=SEPARATES,
    cost=12,
    violating=instances.OUTSIDE,
    readings={
        "literal": Reading(
            "refuted, certified",
            read={"general data": "all data, any start, any constant step and any decreasing loss"},
            under=(DECREASING,),
            variables=instances.ANYTHING,
            examples=instances.EXAMPLES["literal"],
            siblings={
                "the direction of the worst tokens": changed(
                    towards="worst", examples=instances.EXAMPLES["literal"][:1]
                ),
            },
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.tf.local_convergence:prove",
            under=(OPTIMAL, NEAR, LONG),
            variables=instances.NEAR_SOLUTION,
            conclusion=ON_BOTH,
            examples=instances.EXAMPLES["amended"],
            siblings=OTHER,
        ),
    },
)
