"""Theorem 2: the joint regularisation path, of the head v and the prompt p in balls of their own.

"(v_r, p_R) = argmin of L(v, p) over ||v|| <= r, ||p|| <= R. Under Assumptions A and B lim v_r/r =
v(alpha)/||v(alpha)|| as r -> infinity and lim p_R/R = p(alpha)/||p(alpha)|| as R -> infinity."

The pair depends on both radii, and the sentence does not say how one moves while the other tends to
infinity. `literal-1` fixes R. With one input of two tokens attention keeps a share of the other
token, so that v_r points to a mixture of both for all r. `literal-2` lets both radii tend to
infinity, in any way. Assumption A admits the loss -x: its risk is -<v, sum_i Y_i x_i^p>/n, and v_r
turns to the sum of the labelled tokens, not to the max-margin head. Assumption B needs "some nu >
0", and the talk has neither a nu nor a way to find one. Here nu = Gamma - max ||sum_i w_i Y_i
x_i,beta_i|| is used, which `mm/assumption-b` proves to suffice if it is positive. The maximum is
over all choices beta other than alpha, and w are multipliers of v(alpha) of sum 1.

`amended` is the part that is true of v. The nearer the label margin of a pair is to Gamma, the
nearer its head is to v(alpha). The label margin of v(alpha) with long prompts along p(alpha) tends
to Gamma. For exp(-x) that of (v_r, p_R) is at least that of the two SVM directions less (ln n)/r.
So it tends to Gamma if r and R tend to infinity, in any way. If W = 0 no prompt has an effect,
there is no p(alpha), and v_r/r tends to the head of the mean tokens (`MIXED_FOR_EVER`).

The limits of the prompt are in docs/proofs/joint_path.md.
"""

import numpy as np

from attsvm.theory import Hypothesis, Reading, Records, Statement, changed
from properties.mm import SOURCE
from properties.mm._support import label_margins as margins
from properties.mm._support.attended import PARALLEL, TANGENT, Attended, attended, doubted
from properties.mm._support.max_margin import P_EXISTS
from properties.mm._support.token_selections import (
    ONE_TOKEN,
    PUBLISHED,
    SELECTED,
    WITH_Q,
    Rival,
    Selection,
    chosen,
    select,
)
from properties.mm.theorem_2 import head_limits
from properties.mm.theorem_2.head_limits import (
    for_every_radius,
    for_linear_loss,
    single,
    steered,
    turned_and_reached,
    with_fixed_prompt,
)
from properties.mm.theorem_2.prompt_limits import (
    Tilted,
    below,
    by_multipliers,
    meets,
    nearest_along,
    prompts,
    to_second_order_along,
    weighted,
)

ALONE = Hypothesis(
    "every choice but alpha has a smaller label margin", lambda case: margins.alone(case.chosen)
)
SINGLE = Hypothesis(
    "there is one input of two tokens, and R > 0",
    lambda case: case.chosen.X.shape[:2] == (1, 2) and bool(case.p.any()),
    checked="fact(len(X) == 1 and len(X[0]) == 2 and any(prompt))",
)
POSITIVE = head_limits.POSITIVE
SEVERAL = Hypothesis("T > 1", lambda case: case.chosen.X.shape[1] > 1)
BELOW = Hypothesis("v(alpha) exists, and other tokens score below 1 under it", below)
WEIGHTED = Hypothesis(
    "multipliers w of v(alpha) of sum 1 are positive on all tight inputs and have "
    "||sum_i w_i Y_i x_i,beta_i|| < Gamma for all beta that differ from alpha in a tight input",
    weighted,
)
MEETS = Hypothesis(
    "q has logit margins of at least max(0, 1 - tau (m_i - 1)) in every input i", meets
)

PATH = Statement(
    "mm/theorem-2",
    rests_on=("mm/joint-svm", "mm/assumption-b"),
    source=SOURCE,
    place="Theorem II, convergence of RP",
    printed="Consider the regularized path solutions (v_r, p_R) of (ERM) defined as (v_r, p_R) = "
    "argmin_{||v|| <= r, ||p|| <= R} L(v, p). Under Assumptions A and B, we have lim_{r -> "
    "infinity} v_r/r = v(alpha)/||v(alpha)||; and lim_{R -> infinity} p_R/R = "
    "p(alpha)/||p(alpha)||",
    variables=Records(Attended, attended(), lets=SELECTED),
    conclusion=steered,
    cost=3,
    readings={
        "literal-1": Reading(
            "refuted, certified",
            under=(SINGLE, POSITIVE),
            variables=Records(Attended, single(), lets=SELECTED),
            conclusion=with_fixed_prompt,
            examples=(
                Attended(PARALLEL, np.ones(1), np.ones(1)),
                Attended(head_limits.MIXED, np.ones(2), np.ones(2)),
            ),
            siblings={
                "towards the other token": changed(
                    towards="other", examples=[Attended(head_limits.MIXED, np.ones(2), np.ones(2))]
                )
            },
        ),
        "literal-2": Reading(
            "refuted, certified",
            under=(POSITIVE,),
            variables=Records(Selection, attended().map(chosen), lets=SELECTED),
            conclusion=for_linear_loss,
            examples=(PARALLEL, head_limits.UNBALANCED),
            siblings={"half of the right side": changed(share="0.5", examples=[PARALLEL])},
        ),
        "amended": Reading(
            "holds",
            proof="symbolic.mm.theorem_2:prove",
            under=(POSITIVE, P_EXISTS),
            conclusion=turned_and_reached,
            examples=(
                Attended(PARALLEL, np.ones(1), np.ones(1)),
                Attended(head_limits.MIXED, np.array([1.0, -1.0]), np.array([2.0, 1.0])),
            ),
            siblings={
                "half of the right side": changed(share="0.5"),
                "D counted as 0": changed(spread=0),
            },
        ),
        "literal-3": Reading(
            "refuted, certified",
            under=(POSITIVE,),
            variables=Records(
                Rival, attended().map(lambda case: Rival(case.chosen, case.h)), lets=WITH_Q
            ),
            conclusion=for_every_radius,
            examples=(
                Rival(PARALLEL, np.ones(1)),
                Rival(head_limits.LOPSIDED, np.array([0.03125, -0.09375])),
                Rival(head_limits.MIXED_FOR_EVER, np.ones(2)),
                Rival(ONE_TOKEN, np.ones(1)),
            ),
            siblings={"half of the length": changed(share="0.5")},
        ),
        "sharp-1": Reading(
            "holds",
            strength="better",
            proof="symbolic.mm.joint_path:prove_prompt",
            under=(POSITIVE, P_EXISTS, SEVERAL),
            conclusion=to_second_order_along,
            examples=(
                Attended(PARALLEL, np.ones(1), np.ones(1)),
                Attended(head_limits.ACROSS, np.zeros(2), np.array([2.0, 1.0])),
            ),
            siblings={"twice delta": changed(lead=2), "D counted as 0": changed(bend=0)},
        ),
        "sharp-2": Reading(
            "holds",
            strength="best known",
            proof="symbolic.mm.joint_path:prove_ratio",
            under=(P_EXISTS, SEVERAL, BELOW, WEIGHTED, MEETS),
            variables=Records(Tilted, prompts(), lets=WITH_Q),
            conclusion=nearest_along,
            examples=(
                Tilted(Rival(PUBLISHED[1], np.array([1.0, 0.0])), 1.0),
                Tilted(Rival(PUBLISHED[1], np.array([1.125, 0.125])), 0.5),
            ),
            siblings={
                "twice the left side": changed(share=2),
                "p(alpha) without relaxation": changed(tau="0"),
            },
        ),
        "sharp-3": Reading(
            "holds",
            strength="better",
            proof="symbolic.mm.zero_multipliers:prove",
            under=(ALONE, P_EXISTS, SEVERAL),
            variables=Records(
                Attended, doubted().map(lambda c: Attended(c.chosen, c.p, c.h)), lets=SELECTED
            ),
            conclusion=by_multipliers,
            examples=(
                Attended(PARALLEL, np.array([2.0]), np.ones(1)),
                Attended(head_limits.SLOW, np.array([4.0, -1.0]), np.array([1.0, 0.0])),
                Attended(TANGENT, np.array([64.0, -62.0]), np.array([1.0, 0.125])),
            ),
            siblings={
                "2 q_i in place of q_i": changed(share=2),
                "tight idle inputs at first order": changed(root=0),
            },
        ),
    },
    violating={
        P_EXISTS: [
            Attended(head_limits.MIXED_FOR_EVER, np.ones(2), np.ones(2)),
            Tilted(Rival(head_limits.INDISTINCT, np.array([-1.0, 0.0])), 1.0),
        ],
        SEVERAL: [
            Attended(ONE_TOKEN, np.ones(1), np.ones(1)),
            Tilted(Rival(ONE_TOKEN, np.ones(1)), 1.0),
        ],
        BELOW: [Tilted(Rival(head_limits.HIGHER, np.array([1.0, 1.0])), 0.5)],
        WEIGHTED: [Tilted(Rival(head_limits.RIVALLED, np.array([0.5, -0.5])), 1.0)],
        MEETS: [Tilted(Rival(PUBLISHED[1], np.array([1.0, 0.0])), 0.5)],
        ALONE: [Attended(select([[[1.0], [2.0]]], [1], [0]), np.zeros(1), np.ones(1))],
    },
)
