"""Tokens of low score: effects of leaving them out on programme, training and attention.

Neither "low" nor "the final outcome" is defined. Low is read as weakly as it can be: the tokens of
least score of their input, unless all its tokens share one score. The outcome is read as X^mm (for
data that have one), as the end of training, and as the output f of trained attention.

`literal-1`: X^mm = 1 of `SUPPORT` is 1/2 without the last token. The programme depends on scores
only through which token is best (sharp-1). No score is low enough; the question is whether the
token is a support vector (amended-1, `sim/token-sparsity:literal-3`). `literal-2`: descent on the
printed loss ends at the very token that is left out (`ENDS_THERE`). `amended-2`: from X(0) = 0 the
last token of `PUSHED` moves the run to the best one; without it the run ends at the second one. In
the basin that cannot happen (amended-3). By literal-3 the risk without low tokens is no larger, and
the threshold is no smaller. In both runs the output of each input then stays above its second-best
score. So attention ends at an optimal token, or at none, for example if nothing can be separated.

literal-3: with all tokens u = p u_low + (1 - p) u_rest, where p is the attention to those of least
score. So u_rest - u = p (u_rest - u_low) >= 0; the loss g(b <f, h>) as printed increases with u.
The output moves by p times the distance of two means of tokens. So literal-4 falls for tokens 1, 0
at X = 0. At r X^mm, r >= 0, p is at most N/(N + exp(r)), as every margin is at least r: attained by
two tokens at each r (sharp-2). So trained attention may leave out every token that is not optimal,
whatever its score.

With steps of 256/L_X amended-3 fails (`PROTECTED`). Either run has the L_X of its own data.
"""

from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import runs
from attsvm.primitives.hypotheses import BASIN, FEASIBLE, UNIQUE
from attsvm.primitives.programme_letters import no_low_support
from attsvm.primitives.steps import ANY, SHORT, stepped
from attsvm.strategies.data import attention_data
from attsvm.theory import Hypothesis, Reading, Records, Statement, changed
from properties._support.small_runs import NO_QUERY, TWO_TOKENS
from properties.sim import PRINTED, REPAIRED, SOURCE
from properties.sim._support import training
from properties.sim.low_score_tokens import left_out

LOW = {"low": "of least score in an input whose scores differ"}
OTHERS = {
    "optimal tokens left out": changed(which="best"),
    "tokens between least and best": changed(which="second"),
}

NO_LOW_SUPPORT = Hypothesis(
    "no token of least score is a support vector of an X^mm, if there is one",
    left_out.idle_if_solved,
    proposition=no_low_support,
    says="no token of least score of an input whose scores differ is a support vector of an X^mm, "
    "if there is one",
)
IDLE = Hypothesis(
    "there is an X^mm, and no token of least score is a support vector of it",
    left_out.idle,
    says="there is an X^mm, and no token of least score of an input whose scores differ is a "
    "support vector of it",
    implies=(FEASIBLE, NO_LOW_SUPPORT),
)
LOWERED = Hypothesis("least scores are lowered, not raised", lambda case: case.size >= 0)
OUTWARDS = Hypothesis("r >= 0", lambda case: case.size >= 0)

LOW_SCORES = Statement(
    "sim/low-score-tokens",
    rests_on=("sim/theorem-3.14-part-1", "sim/theorem-3.14-part-2"),
    source=SOURCE,
    place="Section 3.2, token selection and separation",
    printed="... for tokens that exhibit low token scores (as defined in Definition 3.9), omitting "
    "their computational contributions does not detrimentally impact the final outcome",
    variables=Records(
        Descent, runs(st.one_of(attention_data(), left_out.SEPARABLE), 0, 2), fixed=("loss", "step")
    ),
    conclusion=left_out.scores_no_lower,
    cost=2,
    violating={
        FEASIBLE: [left_out.Scaled(NO_QUERY.data, 1.0)],
        IDLE: [left_out.SUPPORT],
        SHORT: [left_out.PROTECTED],
        OUTWARDS: [left_out.INWARDS],
    },
    readings={
        "literal-1": Reading(
            "refuted",
            read={**LOW, "the final outcome": "X^mm"},
            under=(FEASIBLE,),
            variables=Records(AttentionData, left_out.SEPARABLE),
            conclusion=left_out.same_solution,
            examples=(left_out.SUPPORT,),
            siblings=OTHERS,
        ),
        "literal-2": Reading(
            "refuted, certified",
            read={**LOW, "the final outcome": "the direction in which training ends"},
            fixed={"loss": PRINTED},
            under=(),
            variables=stepped(Descent, left_out.line_runs(), fixed=("inputs.Z",), steps=ANY),
            conclusion=left_out.ALIKE,
            cost=10,
            examples=(left_out.ENDS_THERE,),
            siblings={
                "optimal tokens left out": changed(which="best", examples=[left_out.BEST_PUSHES]),
                "tokens between least and best": changed(
                    which="second", examples=[left_out.BETWEEN]
                ),
            },
        ),
        "literal-3": Reading(
            "proved",
            read={**LOW, "detrimentally": "with a lower score"},
            proof="symbolic.sim.tokens_left_out:prove_no_lower",
            under=(),
            examples=(TWO_TOKENS, left_out.ENDS_THERE),
            siblings={
                "optimal tokens left out": changed(which="best", examples=[left_out.ENDS_THERE])
            },
        ),
        "literal-4": Reading(
            "refuted",
            fairness="strained",
            read={**LOW, "the final outcome": "the output of attention"},
            under=(),
            conclusion=left_out.same_output,
            examples=(TWO_TOKENS,),
            siblings=OTHERS,
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.sim.tokens_left_out:prove_low",
            under=(IDLE,),
            variables=Records(AttentionData, left_out.idle_data(), left_out.idle_larger),
            conclusion=left_out.same_solution,
            siblings={"optimal tokens left out": changed(which="best")},
            depends_on=("sim/token-sparsity:literal-3",),
        ),
        "amended-2": Reading(
            "refuted, certified",
            fixed={"loss": REPAIRED},
            under=(UNIQUE, FEASIBLE),
            variables=stepped(Descent, left_out.line_runs(), fixed=("inputs.Z",), steps=ANY),
            conclusion=left_out.NO_WORSE,
            cost=10,
            examples=(left_out.PUSHED,),
            siblings={"optimal tokens left out": changed(which="best", examples=[TWO_TOKENS])},
        ),
        "amended-3": Reading(
            "holds",
            proof="symbolic.sim.low_score_tokens:prove_kept",
            fixed={"loss": REPAIRED},
            under=(BASIN, SHORT),
            variables=stepped(Descent, runs(left_out.SEPARABLE, 0, 2), training.near_solution),
            conclusion=left_out.NO_WORSE,
            cost=10,
            examples=(TWO_TOKENS,),
            siblings={
                "any start": changed(drop=[BASIN], examples=[left_out.PUSHED]),
                "optimal tokens left out": changed(which="best", examples=[TWO_TOKENS]),
            },
        ),
        "sharp-1": Reading(
            "holds",
            strength="exact",
            proof="symbolic.sim.low_score_tokens:prove_as_much",
            under=(LOWERED,),
            variables=Records(left_out.Scaled, left_out.scaled()),
            conclusion=left_out.as_much,
            examples=(left_out.Scaled(left_out.SUPPORT, 1024.0),),
            siblings={
                "any change of their scores": changed(
                    drop=[LOWERED], examples=[left_out.Scaled(left_out.SUPPORT, -4.0)]
                )
            },
        ),
        "sharp-2": Reading(
            "holds",
            proof="symbolic.sim.low_score_tokens:prove_output",
            under=(FEASIBLE, OUTWARDS),
            variables=Records(left_out.Scaled, left_out.scaled(least=0.0)),
            conclusion=left_out.output_moves,
            tight=True,
            examples=(left_out.Scaled(TWO_TOKENS.data, 8.0), left_out.Scaled(TWO_TOKENS.data, 0.0)),
            siblings={
                "N/(N + exp(2 r))": changed(
                    rate=2, examples=[left_out.Scaled(TWO_TOKENS.data, 8.0)]
                ),
                "optimal tokens left out": changed(
                    which="best", examples=[left_out.Scaled(TWO_TOKENS.data, 8.0)]
                ),
            },
        ),
    },
)
