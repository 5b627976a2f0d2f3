"""All tokens support vectors: the norm of gradient descent diverges.

"Theorem: If all tokens are support vectors of Att-SVM (i.e. SVM margin constraints are tight), then
... GD diverges: ||W_k||_F -> infinity." W_k are the iterates of descent on the training risk, and
W^mm is the Att-SVM solution.

literal: one input, tokens 1 and 0 in R^1, head v = 0 has W^mm = 1, both tokens on the margin, and a
gradient that is zero everywhere. The gradient of l(u) = -u^3 at W = 0 is also zero for tokens 1, -1
of scores 1, -1.

amended holds for every start and every step, ties of optimal tokens included. <W_k, W^mm> grows at
each step by eta times sum_i |l'| s_opt sum_t s_t (gamma_opt - gamma_t) / n. This is bounded below
on every ball, so descent stays in no ball for ever. The loss must not be flat: under (1 - u)^2
tokens 2 and 0 with scores 2 and 0 rest at W = 0. With a linear head no condition on the tokens is
needed, but one on the queries: `tf/linear-head-landscape:sharp-2`.

sharp gives the rate from a start that cannot lose its optimal tokens, for a step of at most 1/L. A
longer one may leap into another token's basin. There the direction converges to that of W^mm. So
the least margin m is (1 + o(1)) ||W_k|| / ||W^mm||, and the norm grows in a step by the order of
exp(-m). The condition that all tokens are support vectors only ensures that W^mm exists: the rate
is the same for any tokens (`mm/theorem-1-norm:sharp`). Such a start implies an input with two
different scores.
"""

from dataclasses import replace
from fractions import Fraction

from hypothesis import strategies as st

from attsvm.primitives.descent import Descent
from attsvm.primitives.hypotheses import ALL_TIGHT, BASIN, EXISTS, LINEAR_HEAD, TWO_SCORES, UNIQUE
from attsvm.primitives.loss_hypotheses import SLOPED_LOSS, STRICT_LOSS
from attsvm.primitives.steps import ANY, SHORT, flattened, headed, stepped
from attsvm.strategies import composite
from attsvm.theory import Reading, Statement, changed
from properties.tf import SOURCE
from properties.tf._support import descent_instances as cases

TIED_OPTIMA = cases.from_zero([[[0, 0], [-1, 0], [0, -1]]], scores=[[1.0, 1.0, 0.0]])


@composite
def tied(draw: st.DrawFn) -> Descent:
    """Draw runs, often with tokens of one score, and so no gradient, in one input or in all."""
    case, kind = draw(cases.descents()), draw(st.integers(0, 3))
    scores = case.data.gamma.copy()
    of = slice(0, [0, 0, 1, case.data.n][kind])
    scores[of] = scores[of].max(axis=1, keepdims=True)
    return replace(case, inputs=replace(case.data, scores=scores))


ANY_MARGINS = {
    "not all tokens support vectors": changed(
        drop=[ALL_TIGHT], variables=stepped(Descent, cases.opposed(), steps=ANY)
    )
}

THEOREM = Statement(
    "tf/all-support-divergence",
    rests_on=("tf/all-support-no-stationary",),
    source=SOURCE,
    place="Main results on large d",
    printed="If all tokens are support vectors of Att-SVM (i.e. SVM margin constraints are tight), "
    "then ... GD diverges: ||W_k||_F -> infinity",
    variables=stepped(Descent, cases.descents(), steps=ANY),
    conclusion=cases.DIVERGES,
    cost=8,
    violating={TWO_SCORES: [cases.TIED], **cases.VIOLATING},
    readings={
        "literal": Reading(
            "refuted",
            under=(LINEAR_HEAD, ALL_TIGHT, STRICT_LOSS),
            variables=stepped(Descent, flattened(headed(cases.descents())), steps=ANY),
            examples=(cases.TIED, cases.ONE_TOKEN, cases.FLAT_AT_ZERO),
            siblings=ANY_MARGINS,
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.divergence_facts:prove_tight",
            under=(ALL_TIGHT, TWO_SCORES, SLOPED_LOSS),
            variables=stepped(Descent, tied(), cases.larger, steps=ANY),
            examples=(cases.TRAP, TIED_OPTIMA),
            siblings=ANY_MARGINS,
        ),
        "sharp": Reading(
            "proved",
            strength="exact",
            proof="symbolic.growth_rates:prove_rate",
            under=(EXISTS, SLOPED_LOSS, UNIQUE, BASIN, SHORT),
            variables=stepped(Descent, cases.descents(), cases.started_right),
            conclusion=cases.RATE,
            siblings={
                "95% of the rate": changed(share=Fraction(95, 100)),
                "105% of the rate": changed(share=Fraction(105, 100)),
                "half of the rate": changed(share=Fraction(1, 2)),
            },
            cost=12,
        ),
    },
)
