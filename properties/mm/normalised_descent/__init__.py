"""Normalised descent on p follows the same direction as plain descent, faster.

Normalised descent is p(k+1) = p(k) - s grad L / ||grad L||. The talk shows it beside plain steps of
size 1/L, L being the Lipschitz constant of the gradient, and names no size s.

`literal-1` is refuted by a start at 0. There are two inputs with the tokens (-1, 3), 0 and (0, -1),
0, the scores 1, 0 and 3, 0, and the loss -x. Plain descent tends to the direction of p(alpha) =
(-4, -1). With s = 2 the first step takes the first input to its worse token, and it stays there.
`literal-2` is refuted if gradients are longer than 1: for keys 3 and 0, scores 2 and 0 and s = 1,
plain descent is at 3/2 after one step.

By `amended-1`, for one input whose rivals have the same score, every s leads to p(alpha). 1 - cos
falls like ln k / k; for plain descent like 1 / (ln k)^2. By `sharp`, with several such inputs and
any start and s, <p(k) - p(0), p(alpha)> is at least k s / max ||k_alpha - k_t||. This is linear in
k; plain descent grows like ln k. Both sides are equal if all differences of keys are one vector.
The proofs are in docs/proofs/normalised_descent.md.
"""

from dataclasses import replace

import numpy as np

from attsvm.primitives.hypotheses import EXISTS, LOWER_RIVALS, ONE_INPUT, ZERO_START
from attsvm.primitives.loss_hypotheses import SLOPED_LOSS, STRICT_LOSS
from attsvm.theory import Reading, Records, Statement, changed
from properties.mm import SOURCE
from properties.mm._support import prompt_instances as cases
from properties.mm.normalised_descent import conclusion
from properties.mm.normalised_descent.paced_runs import AHEAD, OVERSTEPPED, Paced, levelled, paced

STARTED = "the start and the length s of normalised steps be arbitrary"
"""The definition of two runs, for the sentence of a reading."""

DESCENT = Statement(
    "mm/normalised-descent",
    rests_on=("mm/theorem-1-direction",),
    source=SOURCE,
    place="Convergence of GD on p, normalised descent",
    read_off="experiments",
    printed="Normalised descent on p follows the same direction as plain descent, faster",
    variables=Records(Paced, paced(), fixed=("case.step",), lets=STARTED),
    conclusion=conclusion.SAME_LIMIT,
    cost=4,
    violating={
        SLOPED_LOSS: [Paced(cases.RISING, 1.0)],
        EXISTS: [Paced(cases.ONE_KEY, 1.0)],
        LOWER_RIVALS: [Paced(cases.TRAPPED, 1.0)],
        ONE_INPUT: [Paced(cases.SECOND_TRAPPED, 4.0)],
        ZERO_START: [Paced(replace(cases.TWO_KEYS, start=np.array([-24.0])), 1.0)],
    },
    readings={
        "literal-1": Reading(
            "refuted",
            fairness="strained",
            under=(STRICT_LOSS,),
            examples=(OVERSTEPPED,),
            siblings={
                "the direction of the worst tokens in place of p(alpha)": changed(towards="worst")
            },
        ),
        "literal-2": Reading(
            "refuted",
            fairness="strained",
            read={"faster": "at least as far from zero after 1, 2, 3, and 4 steps"},
            under=(STRICT_LOSS, ZERO_START),
            variables=Records(
                Paced, paced(zero=True), fixed=("case.start", "case.step"), lets=STARTED
            ),
            conclusion=conclusion.ahead,
            examples=(AHEAD,),
            siblings={
                "||p_k|| >= 2 ||p'_k||": changed(share=2),
                "||p_k|| >= 1.05 ||p'_k||": changed(share="1.05"),
            },
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.mm.normalised_descent:prove_close",
            under=(SLOPED_LOSS, EXISTS, LOWER_RIVALS, ONE_INPUT, ZERO_START),
            variables=Records(
                Paced,
                paced(zero=True),
                lambda generator: levelled(generator, most=1),
                fixed=("case.start", "case.step"),
                lets=STARTED,
            ),
            conclusion=conclusion.close,
            cost=8,
            examples=(
                Paced(cases.TWO_KEYS, 1.0),
                *(Paced(replace(cases.UNEVEN, start=np.zeros(2)), s) for s in (1.0, 8.0)),
            ),
            siblings={
                "the worst tokens' direction": changed(towards="worst"),
                "the mean of the constraints": changed(towards="mean"),
            },
        ),
        "sharp": Reading(
            "proved",
            strength="least",
            proof="symbolic.mm.paced_descent:prove",
            under=(SLOPED_LOSS, EXISTS, LOWER_RIVALS),
            variables=Records(Paced, paced(), levelled, fixed=("case.step",), lets=STARTED),
            conclusion=conclusion.progress,
            examples=(Paced(cases.TWO_KEYS, 1.0), OVERSTEPPED),
            siblings={
                "1.05 times the right side": changed(share="1.05"),
                "1.001 times as much": changed(share="1.001"),
                "plain descent with that step": changed(pace="plain"),
            },
        ),
    },
)
