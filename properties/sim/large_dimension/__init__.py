"""A large dimension: how likely it makes each part of assumption 3.10.

"Such phenomenon" is the second part of the assumption as printed. The sentence before calls the
first part an insight into overparameterization, so both are read. No law of the data is named, so
any is meant. Likely is read as a probability of at least 1/2, and sufficiently large as d >= 1000.
Each of n inputs has T tokens, and k = T - 1. Part 1 says that all tokens are support vectors, part
2 that rivals have the same score. Under `Signs` all entries are independent fair signs.

Part 2 becomes less likely as d grows, for T >= 3, and no d is sufficiently large: for signs, one
input and three tokens it has probability 0.0262 at d = 1000. If the tokens have a density and the
head is not 0, its probability is 0 in every dimension. For the difference of two rivals of one
score lies on the hyperplane orthogonal to the head, a null set. For T = 2 it says that scores
differ.

The bounds are shown in docs/proofs/large_dimension.md, their steps in
`symbolic/sim/large_dimension.py`.
"""

from fractions import Fraction

from attsvm.data import AttentionData
from attsvm.primitives.hypotheses import INDEPENDENT
from attsvm.theory import Hypothesis, Reading, Records, Statement, changed
from properties._support import laws
from properties._support.laws import SEVERAL, RandomSentences, Signs
from properties.sim import SOURCE
from properties.sim._support.redundant_tokens import EQUAL
from properties.sim.large_dimension.conclusion import (
    ASIDE,
    BESIDE,
    COUNTED,
    EVEN,
    FAIR,
    ORTHONORMAL,
    SOLVABLE,
    THREE_TOKENS,
    UNEVEN,
    all_tight,
    exactly_where,
    incoherent,
    likely,
    likely_in_sentences,
    long,
    unlikely,
)

LARGE = Hypothesis("d >= 1000", lambda law: law.d >= 1000, checked="fact(d >= 1000)")
LONG = Hypothesis(
    "all tokens have one norm, and all queries one, none 0",
    long,
    says="all tokens have the same norm, all queries have the same norm, and both are above 0",
)
INCOHERENT = Hypothesis(
    "4 k (e + (n - 1) e^2) <= 1, e the largest |<., .>| over a squared norm",
    incoherent,
    says="4 k (e + (n - 1) e^2) <= 1, where k = T - 1 for n inputs of T tokens, and e is the "
    "largest |<., .>| of two tokens or two queries over their squared norm",
)

DIMENSION = Statement(
    "sim/large-dimension",
    rests_on=("sim/definition-3.8",),
    source=SOURCE,
    place="Section 3.2, before assumption 3.10",
    printed="In the scenarios where data are distributed such that d is sufficiently large, such "
    "phenomenon is likely to persist",
    variables=Records(Signs, laws.signs((1000, 4000)), fixed=("seed",), lets=FAIR),
    conclusion=likely,
    cost=4,
    violating={
        SEVERAL: [Signs(1, 1, 1)],
        LONG: [UNEVEN],
        INDEPENDENT: [EQUAL],
    },
    readings={
        "literal-1": Reading(
            "refuted",
            fairness="strained",
            read={"likely": "with probability at least 1/2", "sufficiently large": "d >= 1000"},
            constants={"least": "1/2"},
            under=(LARGE,),
            examples=(THREE_TOKENS,),
            siblings={"at least 1/32": changed(least="1/32", examples=[THREE_TOKENS])},
        ),
        "literal-2": Reading(
            "refuted",
            fairness="strained",
            read={"likely": "with probability at least 1/2", "sufficiently large": "d >= 1000"},
            constants={"least": "1/2"},
            under=(LARGE,),
            variables=Records(RandomSentences, laws.random_sentences(), lets=ORTHONORMAL),
            conclusion=likely_in_sentences,
            examples=(EVEN,),
            siblings={"at least 3/8": changed(least="3/8", examples=[EVEN])},
        ),
        "amended-1": Reading(
            "holds",
            proof="symbolic.sim.large_dimension:prove_incoherent",
            under=(LONG, INCOHERENT),
            variables=Records(AttentionData, laws.nearly_orthogonal()),
            conclusion=all_tight,
            siblings={
                "4 k (e + (n - 1) e^2) <= 11/4": changed(
                    drop=[INCOHERENT],
                    under=[
                        Hypothesis("at most 11/4", lambda data: incoherent(data, Fraction(11, 4)))
                    ],
                    examples=[BESIDE],
                )
            },
        ),
        "amended-2": Reading(
            "holds",
            proof="symbolic.sim.large_dimension:prove_likely",
            under=(SEVERAL,),
            variables=Records(Signs, laws.signs((8, 64), (2, 4)), lets=FAIR),
            conclusion=COUNTED,
            cost=10,
            examples=(Signs(1, 2, 64), Signs(1, 3, 512), Signs(3, 4, 16)),
            siblings={
                "with an exponent 128 times as large": changed(
                    factor=128, examples=[Signs(1, 8, 64)]
                )
            },
        ),
        "sharp-1": Reading(
            "holds",
            strength="better",
            proof="symbolic.sim.large_dimension:prove_unlikely",
            under=(SEVERAL,),
            variables=Records(Signs, laws.signs(), fixed=("seed",), lets=FAIR),
            conclusion=unlikely,
            examples=(THREE_TOKENS,),
            siblings={"with the power T - 1": changed(lost=1)},
        ),
        "sharp-2": Reading(
            "holds",
            strength="exact",
            proof="symbolic.sim.large_dimension:prove_exactly",
            under=(INDEPENDENT,),
            variables=Records(AttentionData, SOLVABLE),
            conclusion=exactly_where,
            examples=(ASIDE,),
            siblings={"no entry of G is negative": changed(by="gram", examples=[ASIDE])},
        ),
    },
)
