"""Local convergence: started in the cone of a locally-optimal direction, descent follows it.

"Theorem (local conv): For locally-optimal alpha, if GD is initialized in the local cone with large
||W_0|| then W_k/||W_k||_F -> W^mm(alpha)/||W^mm(alpha)||_F." Neither the cone nor "large" is given.
Locally optimal is read with the support indices T_i, the tokens of margin 1 under W^mm(alpha): they
score below alpha (`tf/definition-2:literal-2`). With all tokens only the optimal ones would be.

Write W* = W^mm(alpha). `literal-1` falls at every norm. Take one input, tokens 0, (-1, 0) and (-2,
1), head (1, 3), query (1, 0), so scores 0, -1, 1. For alpha = the first token, W* = (1, 0) has
margins 1 and 2. From w = (R, 2R - 1) the third token, whose logit is 1 below, has the largest
coefficient in the gradient and is selected for ever; R enters only through exp(-R).

amended asks for l' < 0 at the scores of alpha. The strictly decreasing and smooth loss l(u) = -u^3
shows why: take keys (1, 0), 0 of scores 1, 0 and (0, 1), 0 of scores 0, -1. From starts near W* =
(1, 1) at every norm, the gradient of the second input is like the cube of that of the first. The
direction then tends to (3, 1). The angle, the norm and how sharp they are:
`symbolic.tf.local_convergence`.

If a support token scores higher, angle and norm still exist, but the direction is approached from
no start: tokens 0, -1 with scores 0, 1.

The talk names no step. Here it is any constant step, and the radius depends on it. No radius serves
all steps, since one long first step leaves any cone that does not contain the gradient. From 12 W*,
beyond the radius of the step 1/L, one step of 2^19/L takes the second of two inputs to its worse
token for ever (tokens (1, 0), 0 and (-2, 1), 0 with scores 1, 0, the loss -u).
"""

from attsvm.primitives.hypotheses import LINEAR_HEAD
from attsvm.primitives.loss_hypotheses import STRICT_LOSS
from attsvm.primitives.steps import ITERATED
from attsvm.theory import Hypothesis, Reading, Records, Statement, changed
from properties._support import cone_starts as starts
from properties._support import cones
from properties._support.cone_starts import ON_RAY
from properties._support.cones import CONE, LARGE, LONG, NEAR, OPTIMAL, OTHER, Local
from properties.tf import SOURCE
from properties.tf.local_convergence import weakened as near

SELECTS = Hypothesis(
    "the start selects alpha",
    cones.selects,
    says="at W_0 alpha_i alone has the largest logit in every input",
    checked="fact(min(margins_of(data, alpha, flat(start))) > 0)",
)
FAR = Hypothesis(
    "the norm of the start is large",
    cones.is_far,
    says="||W_0|| >= 1024 ||W^mm(alpha)||",
    checked="fact(own is not None and inner(flat(start), flat(start)) >= 2**20 * inner(own, own))",
)

THEOREM = Statement(
    "tf/local-convergence",
    rests_on=("tf/definition-2",),
    source=SOURCE,
    place="Main results (simplified), local convergence",
    printed="For locally-optimal alpha, if GD is initialized in the local cone with large ||W_0|| "
    "then W_k/||W_k||_F -> W^mm(alpha)/||W^mm(alpha)||_F",
    variables=Records(Local, starts.started(0.5).map(starts.lengthened)),
    conclusion=cones.DIRECTION,
    cost=8,
    violating={OPTIMAL: [starts.BETTER_SUPPORT], NEAR: [starts.escaping_start(2, 1024.0)]},
    readings={
        "literal-1": Reading(
            "refuted",
            fairness="strained",
            read={
                "the local cone": "the W_0 at which alpha_i has the largest logit in every input",
                "large": "at least 1024 ||W^mm(alpha)||",
            },
            under=(LINEAR_HEAD, STRICT_LOSS, OPTIMAL, SELECTS, FAR),
            variables=Records(Local, starts.started(0.875, 0.5).map(starts.far_out), lets=ITERATED),
            examples=(starts.escaping_start(2, 1024.0), starts.escaping_start(2, 2.0**20)),
            siblings={
                "at any norm": changed(drop=[FAR], examples=[starts.escaping_start(2, 2.0)]),
                "alpha need not be locally optimal": changed(
                    drop=[OPTIMAL], examples=[starts.escaping_start(1, 1024.0)]
                ),
            },
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.tf.local_convergence:prove",
            under=(OPTIMAL, NEAR, LONG),
            variables=Records(
                Local,
                starts.started(0.5).map(starts.lengthened),
                lambda generator: starts.lengthened(starts.started_larger(0.5)(generator)),
                fixed=("share",),
                lets=ITERATED,
            ),
            examples=ON_RAY,
            siblings={
                **OTHER,
                "four fifths of the radius": changed(
                    drop=[LONG],
                    under=[near.NEARLY_LONG],
                    examples=[starts.FALLS_BACK],
                ),
                "the radius of the step 1/L": changed(
                    drop=[LONG],
                    under=[near.LONG_FOR_SHORT],
                    examples=[starts.LEAPS],
                ),
            },
        ),
        "sharp": Reading(
            "proved",
            strength="best known",
            proof="symbolic.tf.local_convergence:prove_sharp",
            under=(OPTIMAL, CONE, LARGE),
            conclusion=cones.IN_OWN_CONE,
            variables=Records(  # the claim is sharpest if s is nearly 1
                Local,
                starts.started(0.5, 0.25, 0.875, 0.984375),
                starts.started_larger(0.5, 0.25, 0.9375, 0.984375),
                lets=ITERATED,
            ),
            examples=ON_RAY,
            siblings={
                **OTHER,
                "17/16 of the cone": changed(
                    drop=[CONE],
                    under=[near.WIDER],
                    examples=[
                        starts.escaping_start(33, 2.0**power, share=0.984375) for power in (13, 20)
                    ],
                ),
                "four fifths of the radius": changed(
                    drop=[LARGE],
                    under=[near.NEARLY_LARGE],
                    examples=[starts.FALLS_BACK],
                ),
                "the radius of the step 1/L": changed(
                    drop=[LARGE],
                    under=[near.LARGE_FOR_SHORT],
                    examples=[starts.LEAPS],
                ),
            },
        ),
    },
)
