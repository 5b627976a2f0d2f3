"""Theorem 1, first half: the norm of descent on p diverges.

"... the gradient descent iterates ... with proper eta and p(0) satisfies lim ||p(k)|| = infinity".

As in `theorem_1_direction` v is constant, alpha are optimal tokens, eta is at most 1/L where it
matters, and the basin is the set of p whose risk exceeds its infimum by less than
min_i [l(second) - l(best)]/n.

This half names no alpha, so that the literal readings ask nothing of it. `literal-1` falls from
zero: for keys 1, 0, -2 of scores 1, -4, 0 p(alpha) is 1, but the gradient is 0 at p = 0, for every
loss. `literal-2` falls with head 0, where nothing ever moves.

`amended-1` holds for every step as well. <p(k), p(alpha)> grows at each step by at least eta times
sum_i |l'| s_alpha sum_t s_t (gamma_alpha - gamma_t) m_t / n, where the margins m_t are at least 1,
and that is bounded below on every ball.

`sharp`: as the direction converges, the least margin is (1 + o(1)) ||p(k)|| / ||p(alpha)||, and the
gradient is the exponential of minus that, up to factors that do not matter. Other starts may have
another rate: for keys 1, 0, -2 of scores 1, -5, 0 p(alpha) is 1 too, and from zero the rate is 1/2,
that of the worse key.

With steps of 256/L `sharp` fails (`LEAPING`), and with 2^22/L `amended-2` (`CAUGHT`). Where an
input leaps to a worse key the norm diverges all the same, unless there is a minimum of finite norm
whose curvature is so small that steps which leap so far stay there. Along one axis there is none,
as -grad L points outwards from the proper start on. In the plane one input leaps away from its far
key (-1, 0) to the key (1, -2), about which three keys that score less lie so near that the
gradient is 0 at (22.2, 0).
"""

from attsvm.primitives.descent import Descent
from attsvm.primitives.hypotheses import (
    BASIN,
    EITHER_PART,
    EXISTS,
    UNIQUE,
)
from attsvm.primitives.loss_hypotheses import SLOPED_LOSS, STRICT_LOSS
from attsvm.primitives.steps import ANY, SHORT, flattened, stepped
from attsvm.theory import Reading, Records, Statement, changed
from properties.mm import SOURCE
from properties.mm._support import prompt_instances as cases
from properties.mm._support.prompt_limits import (
    DIVERGENCE,
    DIVERGENCE_FROM_PROPER,
    DIVERGENCE_FROM_SOME,
    RATE,
)

THEOREM = Statement(
    "mm/theorem-1-norm",
    rests_on=("mm/optimal-tokens", "mm/p-svm"),
    source=SOURCE,
    place="Theorem I, convergence of GD, first item",
    printed="... the gradient descent iterates ... with proper eta and p(0) satisfies "
    "lim ||p(k)|| = infinity",
    variables=stepped(Descent, cases.comparable(0, 2)),
    conclusion=DIVERGENCE,
    cost=10,
    violating={
        SLOPED_LOSS: [cases.FLAT, cases.ENCLOSED],
        EXISTS: [cases.ONE_KEY, cases.ONE_TOKEN],
        UNIQUE: [cases.TIED],
        EITHER_PART: [cases.STUCK],
        SHORT: [cases.LEAPING, cases.CAUGHT],
    },
    readings={
        "literal-1": Reading(
            "refuted",
            says=(
                "v(k) read as constant, 'proper' as any p(0) and any step of at most one over a "
                "Lipschitz constant of grad_p L: descent on a loss of Assumption A has ||p(k)|| -> "
                "infinity"
            ),
            under=(STRICT_LOSS, SHORT),
            variables=stepped(Descent, flattened(cases.comparable(0, 2))),
            examples=(cases.STUCK, cases.TIED, cases.ONE_KEY),
            siblings={
                "on an increasing loss": changed(drop=[STRICT_LOSS], examples=[cases.ENCLOSED])
            },
        ),
        "literal-2": Reading(
            "refuted",
            says=(
                "v(k) read as constant, 'proper' as some p(0) and some step of at most one over a "
                "Lipschitz constant of grad_p L: with them descent on a loss of Assumption A has "
                "||p(k)|| -> infinity"
            ),
            under=(STRICT_LOSS, SHORT),
            variables=Records(Descent, flattened(cases.comparable(0)), fixed=("step",)),
            conclusion=DIVERGENCE_FROM_SOME,
            examples=(cases.TIED,),
            siblings={"from p(0) = 0": changed(start="zero", examples=[cases.STUCK])},
        ),
        "amended-1": Reading(
            "proved",
            says=(
                "l' < 0 everywhere and continuous, p(alpha) of the unique optimal tokens exists "
                "and is not 0, and the other tokens of each input score the same, or all keys are "
                "on the margin of p(alpha): descent from any p(0) with any constant step has "
                "||p(k)|| -> infinity"
            ),
            proof="symbolic.divergence:prove_of_unique",
            under=(SLOPED_LOSS, EXISTS, UNIQUE, EITHER_PART),
            variables=stepped(Descent, cases.comparable(0, 2), cases.on_axes, steps=ANY),
            examples=(cases.SECOND_TRAPPED, cases.TWO_KEYS),
        ),
        "amended-2": Reading(
            "proved",
            says=(
                "l' < 0 everywhere and continuous, l'' continuous, p(alpha) of the unique optimal "
                "tokens exists and is not 0: from p(0) = r p(alpha), r = R + 1 with R = max(0, ln "
                "[M sum_i (T_i - 1) D_i / (m min_i gap_i)]), D_i the range and gap_i the lead of "
                "the scores of input i, m and M the least and the largest |l'| between all scores, "
                "descent with a step of at most one over a Lipschitz constant of grad_p L has "
                "||p(k)|| -> infinity"
            ),
            proof="symbolic.basins:prove_from_proper_start",
            under=(SLOPED_LOSS, EXISTS, UNIQUE, SHORT),
            variables=stepped(Descent, cases.comparable(0) | cases.unevenly(), cases.gaussian),
            conclusion=DIVERGENCE_FROM_PROPER,
            examples=(cases.TRAPPED, cases.STUCK, cases.SECOND_TRAPPED, cases.TWO_KEYS),
        ),
        "sharp": Reading(
            "proved",
            says=(
                "l' < 0 everywhere and continuous, l'' continuous, p(alpha) of the unique optimal "
                "tokens exists and is not 0, risk gap of p(0) below min_i [l(second) - l(best)]/n, "
                "a step of at most one over a Lipschitz constant of grad_p L: ||p(k)|| / ln k "
                "tends to ||p(alpha)||"
            ),
            proof="symbolic.growth_rates:prove_rate",
            under=(SLOPED_LOSS, EXISTS, UNIQUE, BASIN, SHORT),
            variables=stepped(Descent, cases.comparable(0, 1), cases.larger),
            constants={"share": 1},
            conclusion=RATE,
            cost=15,
            examples=(cases.UNEVEN, cases.TWO_KEYS),
            siblings={
                "any start": changed(
                    drop=[BASIN],
                    variables=stepped(Descent, cases.comparable(0) | cases.unevenly()),
                    examples=[cases.TRAPPED, cases.STUCK],
                ),
                "tied optimal tokens": changed(drop=[UNIQUE], examples=[cases.ASIDE]),
                "95% of the rate": changed(share="0.95"),
                "105% of the rate": changed(share="1.05"),
                "half of the rate": changed(share="0.5"),
            },
        ),
    },
)
