"""Figure 2: margins on a causal language grow from about 0 and end positive.

`sim/token-separation` says the same for any tokens and scores; here the problems are those of a
language, in which token t scores <e_next, e_t>. "Generally becomes larger" is read as: every step
raises the mean margin. "Eventually positive": all margins end positive. "Near 0": X(0) = 0, at
which all margins are 0. "Converges": margins have a finite limit (literal-3).

The loss of definition 3.6 increases in the score, so the one margin of the sentence "1 1" over
tokens 1 and 0 decreases for ever. With the decreasing loss g(-<f, h>) two orthonormal tokens a, b
and the sentences "a a", "a b" have the margins m and -m. They are never both positive, and their
mean is 0 for ever. literal-2 demands more than "generally" says. These two languages also refute
its weakest meaning: the mean margin at some time exceeds that of the start.

amended-2 asks for orthonormal tokens and the whole vocabulary to choose among. In the notation of
docs/proofs/frequent_successors.md, kappa_t = n_a g'(s_a) s_a > 0, so margins also end above every
bound. amended-3 has any sentences, and is `sim/token-separation:amended-4`.

Margins do not converge if the run provably settles: X(k) = (1 + o(1)) X* ln k, and a margin that is
not 0 at X* grows like ln k (`attsvm.primitives.growth_rates`). For "1 1" the one margin tends to
-infinity with the loss as printed and to infinity with the decreasing one (literal-3, amended-4).
The margin over ln k converges (sharp). The violet bins show margins after the given number of
steps; ten times as many steps move them on. If equally frequent successors hold each other, as in
"a a", "a b", the margins do converge, to 0.

With steps of 128/L_X `amended-3` and `sharp` fail (`telling_sentences.LEAPING`).
"""

from fractions import Fraction

import numpy as np

from attsvm.primitives import descent_letters as letters
from attsvm.primitives.hypotheses import BASIN, FEASIBLE, UNIQUE, ZERO_START
from attsvm.primitives.steps import SHARES, SHORT
from attsvm.theory import Hypothesis, Reading, Statement, changed
from properties.sim import PRINTED, REPAIRED, SOURCE
from properties.sim._support import telling_sentences as sentences
from properties.sim._support.margins import END, LEAST, OTHER_SLOPES, SLOPE, UNBOUNDED, growth
from properties.sim._support.telling_sentences import SHORTEST, drawn_sequences, followed, started
from properties.sim.figure_2.conclusion import CONVERGES, DROPPED_HYPOTHESES, TORN

ORTHONORMAL = Hypothesis(
    "tokens are orthonormal and the whole vocabulary",
    sentences.orthonormal,
    proposition=letters.words,
)
SUCCESSOR = Hypothesis(
    "each token has one successor", sentences.one_successor, proposition=letters.one_successor
)
FROM_ZERO = {"the initial margin is near 0": "that X(0) = 0"}

FIGURE = Statement(
    "sim/figure-2",
    rests_on=("sim/token-separation",),
    source=SOURCE,
    place="Section 4, figure 2",
    printed="the initial margin is near 0 ..., and as training proceeds, the margin generally "
    "becomes larger and eventually converges to violet bins as sufficiently large positive values",
    variables=sentences.runs(drawn_sequences()),
    conclusion=END,
    cost=10,
    violating={SHORT: [sentences.LEAPING]},
    readings={
        "literal-1": Reading(
            "refuted, certified",
            fairness="strained",
            read=FROM_ZERO,
            fixed={"loss": PRINTED},
            constants=LEAST,
            under=(ZERO_START,),
            variables=sentences.runs(drawn_sequences(from_zero=True)),
            examples=(SHORTEST,),
            siblings={
                "the largest margin ends positive": changed(of="largest", examples=[SHORTEST]),
                "the mean margin ends positive": changed(of="mean", examples=[SHORTEST]),
            },
        ),
        "literal-2": Reading(
            "refuted, certified",
            fairness="strained",
            read={"generally becomes larger": "that every step raises the mean margin"},
            fixed={"loss": PRINTED},
            constants={"of": "mean"},
            under=(),
            conclusion=growth,
            cost=1,
            examples=(SHORTEST,),
            siblings={
                "every step lowers the mean margin": changed(sign=-1, examples=[TORN]),
                "every step lowers every margin": changed(of="least", sign=-1, examples=[TORN]),
            },
        ),
        "literal-3": Reading(
            "refuted, certified",
            fairness="strained",
            read=FROM_ZERO,
            fixed={"loss": PRINTED},
            under=(ZERO_START,),
            variables=sentences.runs(drawn_sequences(from_zero=True)),
            conclusion=CONVERGES,
            examples=(SHORTEST,),
            siblings={"the least margin converges": changed(of="least", examples=[SHORTEST])},
        ),
        "amended-1": Reading(
            "refuted, certified",
            fixed={"loss": REPAIRED},
            constants=LEAST,
            under=(ZERO_START,),
            variables=sentences.runs(drawn_sequences(from_zero=True)),
            examples=(TORN,),
            siblings={
                "margins of the tokens of least score end positive": changed(
                    whose="worst", examples=[SHORTEST]
                ),
                "their largest margin ends positive": changed(
                    of="largest", whose="worst", examples=[SHORTEST]
                ),
            },
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.sim.figure_2:prove",
            fixed={"loss": REPAIRED},
            under=(ORTHONORMAL, SUCCESSOR),
            variables=sentences.runs(followed(), fixed=("inputs.whole",)),
            conclusion=growth,
            cost=1,
            examples=(sentences.sentence_run(np.eye(3), [[0, 1, 2]]),),
            siblings={
                "any successors": changed(drop=[SUCCESSOR], examples=[TORN]),
                "any tokens": changed(drop=[ORTHONORMAL], examples=[sentences.SHARED]),
                "the printed loss": changed(fixed={"loss": PRINTED}),
            },
        ),
        "amended-3": Reading(
            "proved",
            proof="symbolic.basins:prove_attention",
            fixed={"loss": REPAIRED},
            constants=LEAST,
            under=(UNIQUE, FEASIBLE, BASIN, SHORT),
            variables=sentences.runs(started(), SHARES),
            conclusion=UNBOUNDED,
            examples=(SHORTEST,),
            siblings={
                **DROPPED_HYPOTHESES,
                "margins of the tokens of least score": changed(whose="worst"),
            },
            depends_on=("sim/token-separation:amended-4",),
        ),
        "amended-4": Reading(
            "refuted, certified",
            fixed={"loss": REPAIRED},
            under=(ZERO_START,),
            variables=sentences.runs(drawn_sequences(from_zero=True)),
            conclusion=CONVERGES,
            examples=(SHORTEST,),
            siblings={"the least margin converges": changed(of="least", examples=[SHORTEST])},
        ),
        "sharp": Reading(
            "proved",
            strength="exact",
            proof="symbolic.growth_rates:prove_slope",
            fixed={"loss": REPAIRED},
            constants={"share": Fraction(1)},
            under=(UNIQUE, FEASIBLE, BASIN, SHORT),
            variables=sentences.runs(started(), SHARES),
            conclusion=SLOPE,
            cost=12,
            examples=(SHORTEST,),
            siblings={**DROPPED_HYPOTHESES, **OTHER_SLOPES},
            depends_on=("sim/token-separation:sharp-2",),
        ),
    },
)
