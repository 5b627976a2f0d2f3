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

from attsvm.theory import Reading, Statement, changed
from properties.mm import SOURCE
from properties.mm._support.max_margin import P_EXISTS
from properties.mm.theorem_2 import head_limits as heads
from properties.mm.theorem_2 import prompt_limits as prompts
from properties.mm.theorem_2.head_limits import POSITIVE
from properties.mm.theorem_2.prompt_limits import ALONE, BELOW, MEETS, SEVERAL, WEIGHTED

PATH = Statement(
    "mm/theorem-2",
    rests_on=("mm/joint-svm", "mm/assumption-b"),
    source=SOURCE,
    place="Theorem II, convergence of RP",
    printed="Consider the regularized path solutions (v_r, p_R) of (ERM) defined as (v_r, p_R) = "
    "argmin_{||v|| <= r, ||p|| <= R} L(v, p). Under Assumptions A and B, we have lim_{r -> "
    "infinity} v_r/r = v(alpha)/||v(alpha)||; and lim_{R -> infinity} p_R/R = "
    "p(alpha)/||p(alpha)||",
    variables=heads.PAIRS,
    conclusion=heads.steered,
    cost=3,
    readings={
        "literal-1": Reading(
            "refuted, certified",
            under=(heads.SINGLE, POSITIVE),
            variables=heads.OF_TWO_TOKENS,
            conclusion=heads.with_fixed_prompt,
            examples=(heads.LONGER, heads.TURNED),
            siblings={"towards the other token": changed(towards="other", examples=[heads.TURNED])},
        ),
        "literal-2": Reading(
            "refuted, certified",
            under=(POSITIVE,),
            variables=heads.SELECTIONS,
            conclusion=heads.for_linear_loss,
            examples=heads.SUMMED,
            siblings={"half of the right side": changed(share="0.5", examples=heads.SUMMED[:1])},
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.mm.theorem_2:prove",
            under=(POSITIVE, P_EXISTS),
            conclusion=heads.turned_and_reached,
            examples=(heads.LONGER, heads.AWAY),
            siblings={
                "half of the right side": changed(share="0.5"),
                "D counted as 0": changed(spread=0),
            },
        ),
        "literal-3": Reading(
            "refuted, certified",
            under=(POSITIVE,),
            variables=heads.HEADS,
            conclusion=heads.for_every_radius,
            examples=heads.RADII,
            siblings={"half of the length": changed(share="0.5")},
        ),
        "sharp-1": Reading(
            "proved",
            strength="better",
            proof="symbolic.mm.joint_path:prove_prompt",
            under=(POSITIVE, P_EXISTS, SEVERAL),
            conclusion=prompts.to_second_order_along,
            examples=(heads.LONGER, prompts.SHORTER),
            siblings={"twice delta": changed(lead=2), "D counted as 0": changed(bend=0)},
        ),
        "sharp-2": Reading(
            "proved",
            strength="best known",
            proof="symbolic.mm.tilted_prompt:prove_ratio",
            under=(P_EXISTS, SEVERAL, BELOW, WEIGHTED, MEETS),
            variables=prompts.TILTED,
            conclusion=prompts.nearest_along,
            examples=(prompts.AT_ONE, prompts.AT_HALF),
            siblings={
                "twice the left side": changed(share=2),
                "p(alpha) without relaxation": changed(tau="0"),
            },
        ),
        "sharp-3": Reading(
            "proved",
            strength="better",
            proof="symbolic.mm.zero_multipliers:prove",
            under=(ALONE, P_EXISTS, SEVERAL),
            variables=prompts.DOUBTED,
            conclusion=prompts.by_multipliers,
            examples=prompts.IDLE,
            siblings={
                "2 q_i in place of q_i": changed(share=2),
                "tight idle inputs at first order": changed(root=0),
                "logit margins of 1/3 in tight idle inputs": changed(
                    part=3, examples=[prompts.LONG]
                ),
            },
        ),
    },
    violating={P_EXISTS: [heads.FOR_EVER, prompts.WITHOUT_PROMPT], **prompts.OUTSIDE},
)
