"""A few tokens: how many contribute to the gradient, and how many are support vectors.

"Few" is not defined; it is read as weakly as possible, as at most half. grad L(X) = sum_it c_it
x_it z_i^T, and X^mm = sum_j w_j A_j with multipliers w_j >= 0, A_j = (x_opt - x_t) z^T for each
token that is not optimal. Feature vectors are read as support vectors, the tokens of margin 1 under
X^mm. So literal-2 and literal-4 suppose X^mm; in literal-3 part 1 of assumption 3.10 implies it.

A token contributes if c_it x_it z_i^T is not 0. Attention is positive, so c_it is 0 only if the
score of a token equals the attended one. With the tokens 2, 1 and scores 1, 0 both contribute at
every X, and the second one is a support vector. Part 1 of assumption 3.10 says that all tokens are
support vectors, so under it not even "not all" is true.

On the default of figure 1 (m = 10, n = 5, d = 100), tokens of the sub-sequence, 8 of the first 100
runs have an X^mm, the first of them run 20. In these, 42 to 55 of 52 to 59 tokens that are not
optimal are support vectors, which is 76% to 93%. In the others, and in runs 0 to 4 over the whole
vocabulary, no X^mm exists, because tokens of the language have several successors. There X_soft
with C = 10 has margins of at most 1 on 52, 41, 52, 55, 46 of 59, 60, 58, 57, 52 tokens that are not
optimal (runs 0 to 4), and over the vocabulary on 303, 311, 334, 352, 425 of 760.

At X(0) all tokens of sub-sequences that hold two different ones contribute, and 43 to 62 of 81 to
90 make 90% of the sum of |c_it| (runs 0 to 4). After 10,000 steps 7 to 56 do, and 12 and 8 of 800
tokens of the vocabulary (runs 0 and 1). So the gradient comes from a few tokens in the end, but not
in each update. More is in `symbolic/sim/few_rivals.py`.
"""

from attsvm.data import AttentionData
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import runs
from attsvm.primitives.hypotheses import ALL_TIGHT, FEASIBLE, UNIQUE
from attsvm.strategies.data import attention_data
from attsvm.theory import Reading, Records, Statement, changed
from properties._support.small_runs import NO_QUERY, ONE_TOKEN, TWO_TOKENS
from properties.sim import PRINTED, SOURCE
from properties.sim._support.redundant_tokens import EQUAL
from properties.sim.few_support_tokens.conclusion import (
    BOTH,
    FIGURE_RUNS,
    PROGRAMMES,
    SEPARABLE,
    Default,
    contributing,
    enough,
    not_all,
    supporting,
)

FEW = Statement(
    "sim/few-support-tokens",
    rests_on=("sim/token-sparsity",),
    source=SOURCE,
    place="Section 1, token selection and contextual sparsity; section 3.2",
    printed="... our experiments show that only a few tokens, which can be regarded as feature "
    "vectors, contribute to the gradient computation for each update",
    variables=Records(AttentionData, PROGRAMMES),
    conclusion=supporting,
    cost=2,
    violating={FEASIBLE: [NO_QUERY.data]},
    readings={
        "literal-1": Reading(
            "refuted",
            fairness="strained",
            read={"only a few": "at most 1/2 of them"},
            fixed={"loss": PRINTED},
            constants={"part": "1/2"},
            under=(),
            variables=Records(Descent, runs(attention_data(), 0, 2), fixed=("step",)),
            conclusion=contributing,
            examples=(BOTH, Default(0, False).start),
            siblings={"m <= 9/10 M": changed(part="0.9")},
        ),
        "literal-2": Reading(
            "refuted",
            fairness="strained",
            read={"only a few": "at most 1/2 of them"},
            constants={"part": "1/2"},
            under=(FEASIBLE,),
            examples=(TWO_TOKENS.data,),
            siblings={"m <= 9/10 M": changed(part="0.9")},
        ),
        "literal-3": Reading(
            "refuted",
            fairness="strained",
            read={"only a few": "not all"},
            under=(UNIQUE, ALL_TIGHT),
            conclusion=not_all,
            examples=(TWO_TOKENS.data,),
            siblings={"some token has a margin above 2": changed(beyond=2)},
        ),
        "literal-4": Reading(
            "refuted",
            read={"only a few": "at most 1/2 of them"},
            constants={"part": "1/2"},
            under=(FEASIBLE,),
            variables=FIGURE_RUNS,
            examples=(SEPARABLE,),
            siblings={"m <= 9/10 M": changed(part="0.9")},
            cost=20,
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.sim.few_rivals:prove_by_sizes",
            under=(FEASIBLE,),
            conclusion=enough,
            examples=(EQUAL, ONE_TOKEN.data),
            siblings={"one less on the right side": changed(less=1)},
        ),
        "sharp": Reading(
            "proved",
            strength="least",
            proof="symbolic.sim.few_rivals:prove_by_rank",
            under=(FEASIBLE,),
            constants={"by": "rank"},
            conclusion=enough,
            examples=(EQUAL, ONE_TOKEN.data),
            siblings={"one less on the right side": changed(less=1)},
        ),
    },
)
