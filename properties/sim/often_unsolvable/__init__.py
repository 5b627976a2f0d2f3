"""Section 4: the hard programme is often unsolvable, and why.

The data are m sentences of n tokens of a language, "each sub-sequence next-token prediction problem
... over the vocabulary set with query from the last token". The source does not define the
language. Here it is that of the reproduced figure 1: 20 unit-norm Gaussian tokens, each with 3
successors. Attention is over the vocabulary or over the sub-sequence.

"Often" is true, but not for the reason given. `literal-2` falls for orthonormal tokens a, b and the
sentences "a a", "a b". A linear function can separate each token from the others. But the query a
asks for a before b and for b before a, so its constraints are opposites. A query asks in a circle
if it asks for a before b, b before c, ..., and the last one before a. Over the whole vocabulary it
does so exactly if it asks for two different tokens. (It asks for the optimal token, which is the
next one if tokens have norm 1.) So from d = 20 on the probability does not depend on d. A larger
dimension does not make problems solvable; fewer sentences do. `literal-1` and `literal-3` count
circles alone, which are certificates. The Clopper-Pearson interval then bounds from below.

`sharp`: for m sentences of two words over the vocabulary and independent embeddings the probability
is 1 - m! [z^m] prod_q (1 + sum_s (exp(p_qs z) - 1)), and p_qs is the probability of the sentence q
s. Its mean over random languages is 0.7455... for ten sentences, which gives `literal-1`. For
`literal-3` copies are enough: if the first four words of a sentence hold their optimal word twice,
it would have to beat itself. Some of ten sentences does so with probability at least 0.63
(docs/proofs/repeated_tokens.md). Counts leave copies out (`attsvm reproduce sim/often-unsolvable`).
"""

import numpy as np

from attsvm.primitives.descent import Descent
from attsvm.theory import Hypothesis, Reading, Records, Statement, changed
from properties.sim import SOURCE
from properties.sim._support import telling_sentences as language
from properties.sim.often_unsolvable.conclusion import (
    CIRCLE,
    COUNTED,
    DEFAULT,
    DRAWS,
    ELSEWHERE,
    EXPONENTIAL_SERIES,
    FEWER,
    ONE,
    OPPOSITE,
    REPEATED,
    TWO,
    exists,
    exists_exactly_if,
    independent,
    refused,
    tables,
)
from properties.sim.often_unsolvable.contradictions import Draws, Table

INDEPENDENT = Hypothesis(
    "the embeddings are linearly independent",
    independent,
    checked="fact(rank(embeddings) == len(embeddings))",
)

OFTEN = Statement(
    "sim/often-unsolvable",
    rests_on=("sim/definition-3.8",),
    source=SOURCE,
    place="Section 4, before definition 4.1",
    printed="the vanilla formulation of X^mm is often unsolvable due to the non-existence of "
    "linear separability of tokens",
    variables=Records(
        Descent,
        language.drawn_sequences(from_zero=True),
        fixed=("start", "step", "loss"),
        lets=f"inputs be {language.SUB_SEQUENCES}",
    ),
    hypotheses=(INDEPENDENT,),
    conclusion=exists_exactly_if,
    cost=2,
    readings={
        "literal-1": Reading(
            "holds",
            read={"often": "with probability at least 1/2"},
            proof="symbolic.sim.often_unsolvable:prove_often",
            constants={**DEFAULT, "over": "vocabulary"},
            under=(),
            variables=DRAWS,
            conclusion=COUNTED,
            cost=40,
            examples=(Draws(0),),
            siblings=FEWER,
        ),
        "literal-3": Reading(
            "holds",
            read={
                "often": "with probability at least 1/2",
                "vanilla formulation": "definition 3.8; a copy of the optimal token is a rival",
            },
            proof="symbolic.sim.often_unsolvable:prove_default",
            constants={**DEFAULT, "over": "sub-sequence"},
            under=(),
            variables=DRAWS,
            conclusion=COUNTED,
            cost=40,
            examples=(Draws(0),),
            siblings=FEWER,
        ),
        "literal-2": Reading(
            "refuted, certified",
            read={
                "linear separability of tokens": "the separability of each token from all others"
            },
            conclusion=exists,
            examples=(TWO,),
            siblings={"embeddings of any kind": changed(drop=[INDEPENDENT], examples=[OPPOSITE])},
        ),
        "amended-1": Reading(
            "holds",
            proof="symbolic.sim.often_unsolvable:prove",
            examples=(TWO, ONE, language.OUTVOTED, REPEATED, ELSEWHERE, CIRCLE),
            siblings={
                "exactly if each word has one successor": changed(
                    by="successors", examples=[ELSEWHERE]
                ),
                "embeddings of any kind": changed(drop=[INDEPENDENT], examples=[OPPOSITE]),
            },
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.sim.circles:prove",
            under=(),
            conclusion=refused,
            examples=(TWO, language.SHARED, REPEATED, OPPOSITE),
            siblings={
                "exactly if each word has one successor": changed(by="successors", examples=[ONE])
            },
        ),
        "sharp": Reading(
            "proved",
            strength="exact",
            proof="symbolic.sim.successors:prove",
            under=(),
            variables=Records(
                Table,
                tables(),
                lets="m sentences of two words be drawn independently, q s with probability p_qs",
            ),
            conclusion=EXPONENTIAL_SERIES,
            cost=1,
            examples=(Table(np.array([1]), np.array([[1]]), 1),),
            siblings={
                "neighbours alone compared": changed(strict=False),
                "P of m + 1 sentences": changed(more=1),
            },
        ),
    },
)
