"""The decision hyperplanes of sub-sequences: how far different optimal tokens make them differ.

Problem i, a sub-sequence with query z_i, decides by <w_i, x> with w_i = X^mm z_i. Its hyperplane is
{x : <w_i, x> = c_i}, halfway between its optimal token and the nearest rival. Its half-space {x :
<w_i, x> > c_i} is the side of the optimal token. "Fundamentally different" is not defined and is
read as weakly as it can be: not the same set.

literal-1: in `REPEATED` the next word is twice the same. literal-2: `EXCHANGED` has X^mm = -1/2 and
the one hyperplane {0}, with its sides exchanged. literal-3: both problems of `ONE_QUERY` ask from
the query a. So w is the same, and the line x_2 = 1/2 divides b from a and c from a.

Hyperplanes are those of X^mm, which section 4 calls "often unsolvable"; the sentence says nothing
of data without X^mm. If optimal tokens are tied, X^mm is that of the first one.

Over the whole vocabulary the optimal token of one problem is a rival in the other. So <w_i - w_j,
x_opt_i - x_opt_j> is the sum of two margins, at least 2. This gives sharp-1, by Cauchy and Schwarz.
It also excludes w_j = t w_i with t > 0, and therefore z_j = t z_i. So X^mm exists only if
sub-sequences that end in the same token have the same optimal one. That does not require one
successor for each token: a longer token in the direction of two successors is optimal for both.
"""

from attsvm.primitives.descent import Descent
from attsvm.primitives.hypotheses import FEASIBLE
from attsvm.primitives.programme_letters import whole_vocabulary
from attsvm.theory import Hypothesis, Reading, Records, Statement, changed
from properties.sim import SOURCE
from properties.sim._support.telling_sentences import SUB_SEQUENCES
from properties.sim.hyperplanes.conclusion import all_different, differ, far_apart
from properties.sim.hyperplanes.instances import (
    CONFLICT,
    EXCHANGED,
    LANGUAGE,
    OF_VOCABULARY,
    ONE_QUERY,
    REPEATED,
)

WHOLE = Hypothesis(
    "tokens are the whole vocabulary",
    lambda case: case.inputs.whole,
    proposition=whole_vocabulary,
)

HYPERPLANES = Statement(
    "sim/hyperplanes",
    rests_on=("sim/definition-3.8",),
    source=SOURCE,
    place="Section 1, token separation",
    printed="For each subsequent in language modeling task, the decision hyperplane are "
    "fundamentally different as the optimal tokens are different for each next work prediction",
    variables=Records(
        Descent, LANGUAGE, fixed=("start", "step", "loss"), lets=f"inputs be {SUB_SEQUENCES}"
    ),
    conclusion=differ,
    cost=2,
    violating={WHOLE: [ONE_QUERY], FEASIBLE: [CONFLICT]},
    readings={
        "literal-1": Reading(
            "refuted",
            fairness="strained",
            under=(),
            conclusion=all_different,
            examples=(REPEATED,),
            siblings={"||x_opt,i - x_opt,j|| > 1/2": changed(least="1/2")},
        ),
        "literal-2": Reading(
            "refuted",
            fairness="strained",
            read={"decision hyperplane": "{x : <w_i, x> = c_i}"},
            constants={"of": "hyperplanes"},
            under=(FEASIBLE,),
            examples=(EXCHANGED,),
            siblings={"z_i != k z_j for every k > 0": changed(of="queries", examples=[ONE_QUERY])},
        ),
        "literal-3": Reading(
            "refuted",
            fairness="strained",
            read={"decision hyperplane": "the half-space {x : <w_i, x> > c_i}"},
            under=(FEASIBLE,),
            examples=(ONE_QUERY,),
            siblings={
                "(w_i, c_i) != k (w_j, c_j) also for k < 0": changed(
                    of="hyperplanes", examples=[EXCHANGED]
                )
            },
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.sim.hyperplane_facts:prove_half_spaces",
            under=(WHOLE, FEASIBLE),
            variables=OF_VOCABULARY,
            examples=(EXCHANGED,),
            siblings={"different hyperplanes": changed(of="hyperplanes", examples=[EXCHANGED])},
        ),
        "sharp-1": Reading(
            "proved",
            proof="symbolic.sim.hyperplane_facts:prove_apart",
            under=(WHOLE, FEASIBLE),
            variables=OF_VOCABULARY,
            conclusion=far_apart,
            tight=True,
            examples=(EXCHANGED,),
        ),
        "sharp-2": Reading(
            "proved",
            strength="better",
            proof="symbolic.sim.hyperplane_facts:prove_queries",
            constants={"of": "queries"},
            under=(WHOLE, FEASIBLE),
            variables=OF_VOCABULARY,
            examples=(EXCHANGED,),
            siblings={"z_i != -k z_j for every k > 0": changed(sign=-1, examples=[EXCHANGED])},
        ),
    },
)
