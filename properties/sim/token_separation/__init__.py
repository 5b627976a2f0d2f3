"""Token separation: margins between optimal and other tokens grow and end positive.

The margins are m_it(X) = <A_it, X>, A_it = (x_opt - x_t) z_i^T; figure 2 says that in training they
"generally" grow and end at "sufficiently large positive values".

The loss of definition 3.6 increases in the score, so a margin may decrease for ever. With the
decreasing loss g(-u) amended-1 and amended-2 fail from X(0) = 0 with a single input in R^1: tokens
4, 0, 3 with scores 1, 0, -3. The part of the gradient from the token of score -3 is the larger one:
-grad L = (-2/3 * 4 + 7/3 * 1) |l'|/3 < 0. Both margins, 4 X and X, decrease. So the token of score
0 has the attention for ever. `NOT_ALIGNED` does the same under both parts of assumption 3.10.

amended-3: <X, X^mm> = sum_it lambda_it m_it(X) is the sum of margins weighted by the multipliers of
X^mm, in the notation of `tf/all-support-no-stationary`. A step of size eta adds

    eta sum_it c_it m_it(X^mm) >= eta (1/n) sum_i |l'| s_opt sum_t s_t (gamma_opt - gamma_t),

because in part 1 m = 1, and in part 2 c_it >= 0 and m >= 1 (sharp-1; equality in part 1). The right
side is above 0 if some input has two different scores; in part 1 optimal tokens may be tied.

amended-4: from a start that cannot lose its optimal tokens, with a step of at most 1/L_X, the
direction converges to X^mm. So the least margin m is (1 + o(1)) ||X|| / ||X^mm||, the gradient is
of order exp(-m), and the slope of m in ln k is 1 (sharp-2). Such a start implies two different
scores. The slope is known from other starts as well (`attsvm.primitives.growth_rates`): it is -4/3
for the three tokens above. More is in `symbolic/sim/token_separation.py`.
"""

from fractions import Fraction

from hypothesis import strategies as st

from attsvm.exact import ExactData
from attsvm.primitives import descent_letters as letters
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import LEAPING, opposed_data, runs
from attsvm.primitives.hypotheses import BASIN, EITHER_PART, FEASIBLE, TWO_SCORES, UNIQUE
from attsvm.primitives.steps import ANY, SHORT, stepped
from attsvm.strategies.data import attention_data, separable_data
from attsvm.theory import Hypothesis, Reading, Statement, changed
from properties._support import small_runs as small
from properties.sim import PRINTED, REPAIRED, SOURCE
from properties.sim._support import margins
from properties.sim.token_separation.instances import (
    DROPPED_HYPOTHESES,
    FROM_ANYWHERE,
    FROM_NEAR,
    OPPOSED,
)

PAIRS = Hypothesis(
    "no input has more than two tokens",
    lambda run: all(len(x) <= 2 for x in ExactData.of(run.data).X),
    proposition=letters.pairs,
)

SEPARATION = Statement(
    "sim/token-separation",
    rests_on=("sim/theorem-3.14-part-1", "sim/theorem-3.14-part-2"),
    source=SOURCE,
    place="Section 1, token separation; figure 2",
    printed="all tokens are gradually separated during the training process",
    variables=stepped(Descent, runs(st.one_of(separable_data(), opposed_data()), 0, 1), steps=ANY),
    conclusion=margins.growth,
    cost=2,
    violating={SHORT: [LEAPING]},
    readings={
        "literal-1": Reading(
            "refuted, certified",
            fairness="strained",
            read={"gradually separated": "that every step raises every margin"},
            fixed={"loss": PRINTED},
            under=(),
            examples=(small.TWO_TOKENS,),
            siblings={
                "every step lowers every margin": changed(sign=-1, examples=[small.PASSED_OVER]),
                "it lowers the mean margin": changed(
                    of="mean", sign=-1, examples=[small.PASSED_OVER]
                ),
            },
        ),
        "literal-2": Reading(
            "refuted, certified",
            read={"gradually separated": "that every step raises the mean margin"},
            fixed={"loss": PRINTED},
            constants={"of": "mean"},
            under=(),
            examples=(small.TWO_TOKENS,),
            siblings={
                "every step lowers the mean margin": changed(sign=-1, examples=[small.PASSED_OVER]),
                "every step lowers every margin": changed(
                    of="least", sign=-1, examples=[small.PASSED_OVER]
                ),
            },
        ),
        "literal-3": Reading(
            "refuted, certified",
            read={"separated": "with positive margins in the end"},
            fixed={"loss": PRINTED},
            constants=margins.LEAST,
            under=(),
            conclusion=margins.END,
            cost=10,
            examples=(small.TWO_TOKENS,),
            siblings={
                "the largest margin ends positive": changed(of="largest"),
                "the mean margin ends positive": changed(of="mean"),
            },
        ),
        "amended-1": Reading(
            "refuted, certified",
            fixed={"loss": REPAIRED},
            constants={"of": "mean"},
            under=(UNIQUE, FEASIBLE),
            examples=(small.PASSED_OVER, small.NOT_ALIGNED),
            siblings={
                "it lowers the mean margin": changed(sign=-1, examples=[small.TWO_TOKENS]),
                "it lowers every margin": changed(of="least", sign=-1, examples=[small.TWO_TOKENS]),
            },
        ),
        "amended-2": Reading(
            "refuted, certified",
            fixed={"loss": REPAIRED},
            constants=margins.LEAST,
            under=(UNIQUE, FEASIBLE, SHORT),
            variables=stepped(Descent, runs(st.one_of(separable_data(), opposed_data()), 0, 1)),
            conclusion=margins.END,
            cost=10,
            examples=(small.PASSED_OVER, small.NOT_ALIGNED),
            siblings={
                "margins of the tokens of least score end positive": changed(
                    whose="worst", examples=[small.TWO_TOKENS]
                ),
                "their largest margin ends positive": changed(
                    of="largest", whose="worst", examples=[small.TWO_TOKENS]
                ),
            },
        ),
        "amended-3": Reading(
            "proved",
            proof="symbolic.sim.token_gain:prove_raised",
            fixed={"loss": REPAIRED},
            constants={"strict": True},
            under=(FEASIBLE, TWO_SCORES, EITHER_PART),
            variables=FROM_ANYWHERE,
            conclusion=margins.gain,
            examples=(small.TWO_TOKENS, small.NOT_ALIGNED, small.TIED_APART),
            siblings={
                "all scores may be tied": changed(drop=[TWO_SCORES], examples=[small.ALL_TIED]),
                "without both parts of assumption 3.10": changed(
                    drop=[EITHER_PART], examples=[small.PASSED_OVER]
                ),
                "the printed loss": changed(fixed={"loss": PRINTED}),
            },
        ),
        "amended-4": Reading(
            "proved",
            proof="symbolic.basins:prove_attention",
            fixed={"loss": REPAIRED},
            constants=margins.LEAST,
            under=(UNIQUE, FEASIBLE, BASIN, SHORT),
            variables=FROM_NEAR,
            conclusion=margins.UNBOUNDED,
            cost=10,
            examples=(small.TWO_TOKENS,),
            siblings={
                **DROPPED_HYPOTHESES,
                "margins of the tokens of least score": changed(whose="worst"),
            },
        ),
        "sharp-1": Reading(
            "proved",
            proof="symbolic.sim.token_gain:prove_gain",
            fixed={"loss": REPAIRED},
            under=(FEASIBLE, EITHER_PART),
            variables=FROM_ANYWHERE,
            conclusion=margins.gain,
            tight=True,
            examples=(small.TWO_TOKENS, small.NOT_ALIGNED, small.TIED_APART, small.ALL_TIED),
            siblings={
                "without both parts of assumption 3.10": changed(
                    drop=[EITHER_PART], examples=[small.PASSED_OVER]
                )
            },
        ),
        "sharp-2": Reading(
            "proved",
            strength="exact",
            proof="symbolic.growth_rates:prove_slope",
            fixed={"loss": REPAIRED},
            constants={"share": Fraction(1)},
            under=(UNIQUE, FEASIBLE, BASIN, SHORT),
            variables=FROM_NEAR,
            conclusion=margins.SLOPE,
            cost=12,
            examples=(small.TWO_TOKENS,),
            siblings={**DROPPED_HYPOTHESES, **margins.OTHER_SLOPES},
        ),
        "sharp-3": Reading(
            "proved",
            proof="symbolic.sim.token_separation:prove_lowered",
            fixed={"loss": REPAIRED},
            under=(PAIRS,),
            variables=stepped(
                Descent, runs(st.one_of(opposed_data(), attention_data(T=(1, 2))), 0), steps=ANY
            ),
            conclusion=margins.lowered,
            tight=True,
            examples=(*OPPOSED, small.NOT_ALIGNED),
            siblings={
                "inputs of more than two tokens": changed(
                    drop=[PAIRS], examples=[small.PASSED_OVER]
                ),
                "1 - 2/n, as where inputs differ in direction alone": changed(alike=True),
            },
        ),
    },
)
