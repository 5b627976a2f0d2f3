"""Theorem 1, first half: the norm of descent on p diverges.

"... the gradient descent iterates ... with proper eta and p(0) satisfies lim ||p(k)|| = infinity".

This half names no alpha, so the literal readings suppose nothing of it. `literal-1` falls from
zero, for every loss: two inputs of opposite labels may have gradients that cancel, for W = I
(`MIRRORED`). Keys are W x and scores Y_i <v, x>, so that for a W that drops a coordinate scores may
have any values: keys 1, 0, -2 of scores 1, -4, 0 are at rest at p = 0, and p(alpha) is 1.
`literal-2` falls with head 0, as nothing ever moves then.

One input with an invertible W does not rest, nor do several of one label: `amended-3` is
`tf/linear-head-landscape:sharp-2` for queries e_1. If v = W^T q and all labels are Y, <-grad L, Y
q> is the mean of |l'| v^T C_i v > 0.

`amended-1` holds for every step as well: <p(k), p(alpha)> grows at each step by an amount that is
bounded below on every ball. `sharp` gives the rate of starts in the basin of the optimal tokens;
other starts may have another rate. For keys 1, 0, -2 of scores 1, -5, 0 p(alpha) is 1 too, but from
zero p grows at the rate 1/2, towards the worse key -2.

With steps of 256/L `sharp` fails (`LEAPING`), and with 2^22/L `amended-2` (`CAUGHT`). The norm
usually diverges even if an input leaps to a worse key. It does not if there is a minimum of finite
norm of so small a curvature that such large steps stay near it. In one dimension there is none, as
-grad L points outwards from the proper start on. In the plane one input leaps from the key (-1, 0)
to the key (1, -2). Three other keys of lower scores are so near to it that the gradient is 0 at
(22.2, 0).
"""

from attsvm.primitives.descent import Descent
from attsvm.primitives.hypotheses import BASIN, EITHER_PART, EXISTS, TWO_SCORES, UNIQUE
from attsvm.primitives.loss_hypotheses import SLOPED_LOSS, STRICT_LOSS
from attsvm.primitives.steps import ANY, SHORT, SHORT_STEPS, flattened, stepped
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
    printed="... the gradient descent iterates p(k+1) = p(k) - eta grad_p L(v(k), p(k)) with "
    "proper eta and p(0) satisfies lim ||p(k)|| = infinity",
    variables=stepped(Descent, cases.comparable(0, 2)),
    conclusion=DIVERGENCE,
    cost=10,
    violating={
        SLOPED_LOSS: [cases.FLAT, cases.ENCLOSED],
        EXISTS: [cases.ONE_KEY, cases.ONE_TOKEN],
        UNIQUE: [cases.TIED],
        EITHER_PART: [cases.STUCK],
        SHORT: [cases.LEAPING, cases.CAUGHT],
        TWO_SCORES: [cases.TIED],
        cases.ONE_HEAD: [cases.MIRRORED, cases.STUCK],
    },
    readings={
        "literal-1": Reading(
            "refuted",
            fairness="strained",
            read={
                "v(k)": "constant",
                "proper": f"any p(0), and any step of {SHORT_STEPS}",
            },
            under=(STRICT_LOSS, SHORT),
            variables=stepped(Descent, flattened(cases.comparable(0, 2))),
            examples=(cases.MIRRORED, cases.STUCK, cases.TIED, cases.ONE_KEY),
            siblings={
                "on an increasing loss": changed(drop=[STRICT_LOSS], examples=[cases.ENCLOSED])
            },
        ),
        "literal-2": Reading(
            "refuted",
            fairness="degenerate",
            read={
                "v(k)": "constant",
                "proper": f"some p(0), and some step of {SHORT_STEPS}",
            },
            under=(STRICT_LOSS, SHORT),
            variables=Records(Descent, flattened(cases.comparable(0)), fixed=("step",)),
            conclusion=DIVERGENCE_FROM_SOME,
            examples=(cases.TIED,),
            siblings={"from p(0) = 0": changed(start="zero", examples=[cases.STUCK])},
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.divergence_facts:prove_tight_or_level",
            under=(SLOPED_LOSS, EXISTS, UNIQUE, EITHER_PART),
            variables=stepped(Descent, cases.comparable(0, 2), cases.on_axes, steps=ANY),
            examples=(cases.SECOND_TRAPPED, cases.TWO_KEYS),
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.basins:prove_from_proper_start",
            under=(SLOPED_LOSS, EXISTS, UNIQUE, SHORT),
            variables=stepped(Descent, cases.comparable(0) | cases.unevenly(), cases.gaussian),
            conclusion=DIVERGENCE_FROM_PROPER,
            examples=(cases.TRAPPED, cases.STUCK, cases.SECOND_TRAPPED, cases.TWO_KEYS),
        ),
        "amended-3": Reading(
            "proved",
            proof="symbolic.mm.theorem_1_norm:prove_linear",
            under=(SLOPED_LOSS, TWO_SCORES, cases.ONE_HEAD),
            variables=stepped(Descent, cases.linear_keys(), steps=ANY),
            examples=(cases.ALONG, cases.TWO_KEYS),
        ),
        "sharp": Reading(
            "proved",
            strength="exact",
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
